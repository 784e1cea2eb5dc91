"""The modules joined into one, and the page of a text that needs no service."""

import json
import re

import pytest

pytest.importorskip("fastapi", reason="the extra serve is not installed")
from regard.errors import ConfigError, DataError
from regard.studio.offline import PAGE, explain, join_modules, offline_page

_TOP = re.compile(r"^(?:export )?(?:async )?(?:function|const|let|class) (\w+)", re.MULTILINE)


def recorded(page):
    return json.loads(re.search(r'id="recorded">(.*?)</script>', page, re.DOTALL)[1])


def test_a_name_at_the_top_of_a_module_is_unique_in_the_folder():
    names = [name for path in PAGE.glob("*.js") for name in _TOP.findall(path.read_text(encoding="utf-8"))]
    assert len(names) > 80
    assert sorted(names) == sorted(set(names))


def test_every_module_is_joined_once_and_nothing_is_imported():
    joined = join_modules()
    assert not re.search(r"^(import|export) ", joined, re.MULTILINE)
    assert "</script" not in joined  # it would end the element that it stands in
    for path in PAGE.glob("*.js"):
        first = path.read_text(encoding="utf-8").split("\n", 1)[0]
        assert joined.count(first) == 1, path.name


def test_the_page_loads_nothing():
    page = offline_page()
    assert not re.search(r"<(link|script)[^>]*(href|src)=", page)
    assert "default-src 'none'" in page


def test_everything_that_the_views_ask_for_is_recorded(service):
    data = recorded(explain(service.registry["translate"], "der Hund schläft .", beam=3))
    operations = [operation for operation, _, _ in data["recordings"]]
    assert {"models", "translate", "tree", "align", "trace", "nearest", "what-if"} == set(operations)
    swaps = [body["swap"] for name, body, _ in data["recordings"] if name == "what-if" and body["swap"]]
    assert {"1": service.registry["translate"].predictor.nearest_words("Hund", 1)[0][0]} in swaps


@pytest.mark.parametrize(("model", "operation"), [("lm", "sample"), ("classify", "classify"), ("tag", "tag")])
def test_a_text_of_every_task(service, model, operation):
    data = recorded(explain(service.registry[model], "the dog sleeps </script><b>"))
    assert {"models", operation, "trace"} == {name for name, _, _ in data["recordings"]}
    assert data["state"]["text"] == "the dog sleeps </script><b>"


def test_a_blank_text_is_refused(service):
    with pytest.raises((ConfigError, DataError), match="blank"):
        explain(service.registry["translate"], " ")


def test_a_page_shows_itself_without_a_service(service, browser, tmp_path):
    file = tmp_path / "page.html"
    file.write_text(explain(service.registry["translate"], "der Hund schläft .", beam=3), encoding="utf-8")
    context = browser.new_context(offline=True)
    page = context.new_page()
    problems = []
    page.on("console", lambda message: message.type == "error" and problems.append(message.text))
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.goto(file.as_uri())
    page.wait_for_selector("body[data-ready]")
    for view in ("beam", "states", "neighbours", "align", "attention", "steps", "whatif"):
        page.locator(f"#tab-{view}").click()
        page.wait_for_selector("#panel figure, #panel .side")
        assert page.locator("#panel .error").count() == 0, view
        assert page.get_by_role("radio", name="Slides").count() == 0  # those letters were not recorded
    page.get_by_role("group", name="Source words").get_by_role("button").nth(1).click()
    page.locator(".menu .bars button:not(:disabled)").first.click()
    page.wait_for_function("() => document.querySelectorAll('.side').length === 2")
    context.close()
    assert problems == []
