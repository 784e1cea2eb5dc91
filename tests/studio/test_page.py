"""The studio's page, used as a person would: every view, at three widths, light and dark, by mouse and keyboard."""

import json
import re
import shutil
from pathlib import Path
from urllib.parse import parse_qs, quote, urlparse

import pytest
import torch

pytest.importorskip("fastapi", reason="the extra serve is not installed")
pytest.importorskip("playwright", reason="playwright is not installed")

from regard import Translator
from regard.inference.ensemble import Ensemble
from regard.server.config import ModelEntry

FIXTURES = Path(__file__).parents[1] / "fixtures"
TEXT = "der Hund schläft ."
TRANSLATE = ("attention", "steps", "beam", "whatif", "states", "neighbours", "training", "lab")
VIEWS = {
    "translate": TRANSLATE,
    "lm": ("sample", "steps", "states", "neighbours", "training"),
    "classify": ("labels", "steps", "states", "neighbours", "training"),
    "tag": ("labels", "steps", "states", "neighbours", "training"),
}


def open_studio(page, url, model="translate", text=TEXT, view=None):
    chosen = f"&view={view}" if view else ""
    page.goto(f"{url}?model={model}&q={quote(text)}{chosen}")
    page.wait_for_selector("body[data-ready]")


def expected(service, text=TEXT, **options):
    return service.registry["translate"].predictor.translate([text], **{"beam": 5, "n_best": 5, **options})[0]


def test_typing_translates_and_the_address_holds_the_text(page, url, service):
    page.goto(f"{url}?model=translate")
    page.wait_for_selector("body[data-ready]")
    assert page.locator("#tabs").is_hidden()
    page.get_by_role("textbox", name="Translate").press_sequentially(TEXT, delay=5)
    page.wait_for_function(
        "text => document.querySelector('#answer').textContent === text", arg=expected(service).text
    )
    assert parse_qs(urlparse(page.url).query)["q"] == [TEXT]
    page.reload()
    page.wait_for_function(
        "text => document.querySelector('#answer').textContent === text", arg=expected(service).text
    )


def test_partial_translations_arrive_before_the_last(page, url):
    page.goto(f"{url}?model=translate")
    page.wait_for_selector("body[data-ready]")
    page.evaluate(
        """() => { window.seen = [];
        new MutationObserver(() => seen.push(document.querySelector('#answer').className)).observe(
            document.querySelector('#answer'), {childList: true, attributes: true}); }"""
    )
    page.locator("#text").fill(TEXT)
    page.locator("#text").press("Enter")
    page.wait_for_selector("#panel svg")
    assert "partial" in page.evaluate("seen")
    assert page.locator("#answer").get_attribute("class") == ""


def test_the_n_best_list_has_scores_and_each_has_its_attention(page, url, service):
    open_studio(page, url)
    best = page.locator("#best button")
    wanted = [expected(service), *expected(service).alternatives]
    assert best.count() == len(wanted)
    for k, each in enumerate(wanted):
        assert best.nth(k).inner_text().split("\n")[-1] == f"{each.score:.2f}".replace("-", "−")
    best.nth(1).click()
    page.wait_for_function("n => document.querySelectorAll('.heatmap .cell').length === n",
                           arg=wanted[1].alpha.size)  # fmt: skip
    assert best.nth(1).get_attribute("aria-pressed") == "true"


def test_a_word_that_is_touched_lights_up_its_partners_with_their_weights(page, url, service):
    open_studio(page, url)
    alpha, words = expected(service).alpha, expected(service).source_tokens
    page.locator(".links [data-side=target]").first.hover()
    readout = page.locator(".attention .readout").inner_text()
    assert f"{words[alpha[0].argmax()]} {alpha[0].max():.2f}" in readout
    shown = page.locator(".links [data-side=source] .weight").all_text_contents()
    assert [float(text) for text in shown if text] == pytest.approx(
        [value for value in alpha[0] if value >= 0.01], abs=0.006
    )
    page.locator(".links [data-side=source]").first.focus()
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.dataset.k") == "1"
    assert page.locator(".attention .readout").inner_text().startswith(words[1])
    page.get_by_label("Hard links").check()
    page.wait_for_selector(".heatmap .ring")
    assert page.locator(".heatmap .ring").count() == len(alpha) - 1


def test_every_member_of_an_ensemble_has_its_attention_and_its_steps(page, url, service):
    pair = [Translator.load(FIXTURES / "format-2" / "translate") for _ in range(2)]
    with torch.no_grad():
        pair[1].model.encoder.embedding.E.mul_(0.3)
    both = Translator(
        Ensemble([each.model for each in pair]), pair[0].source_tokenizer, pair[0].target_tokenizer
    )
    service.registry.add("both", both)
    try:
        open_studio(page, url, model="both")
        shown = {}
        for name in ("Mean", "Seed 1", "Seed 2"):
            page.get_by_role("radio", name=name).click()
            page.wait_for_selector(f"[role=radio][aria-checked=true]:text-is('{name}')")
            cells = page.locator(".heatmap .cell").evaluate_all(
                "all => all.map(cell => cell.getAttribute('fill-opacity'))"
            )
            shown[name] = [float(cell) for cell in cells]
        tokens = both.translate([TEXT], beam=5)[0].text
        for member, one in enumerate(pair):
            alpha = one.trace(TEXT, tokens).alpha
            assert shown[f"Seed {member + 1}"] == pytest.approx(alpha.flatten().tolist(), abs=0.002)
        assert shown["Seed 1"] != shown["Seed 2"]
        page.get_by_role("tab", name="Step by step").click()
        page.get_by_role("radio", name="Seed 2").click()
        page.wait_for_selector(".steps .worked")
    finally:
        del service.registry._models["both"]


def test_steps_are_played_and_have_the_numbers_of_the_trace(page, url, service):
    open_studio(page, url, view="steps")
    trace = service.registry["translate"].predictor.trace(TEXT, beam=5)
    assert "Decoder 1/" in page.locator(".steps h2").inner_text()
    first = trace["decoder"].steps[0].values["alpha"]
    row = page.locator(".part", has=page.locator(".name", has_text=re.compile("^alpha$"))).locator(
        ".cells > span"
    )
    assert [float(text.split("\n")[-1].replace("−", "-")) for text in row.all_inner_texts()] == pytest.approx(
        first.tolist(), abs=0.0006
    )
    page.get_by_role("button", name="Next step").click()
    assert "Decoder 2/" in page.locator(".steps h2").inner_text()
    page.get_by_role("slider", name="Step").press("Home")
    assert page.locator(".steps h2").inner_text().startswith("Encoder")
    page.get_by_role("button", name="Play").click()
    page.wait_for_function("() => document.querySelector('.steps h2').textContent.includes('2/')")
    page.get_by_role("button", name="Pause").click()
    page.get_by_role("radio", name="Slides").click()
    page.wait_for_selector(".steps [role=radio][data-value=slides][aria-checked=true]")


def test_the_beam_grows_and_a_node_shows_its_attention_and_its_words(page, url, service):
    open_studio(page, url, view="beam")
    tree = service.registry["translate"].predictor.tree(TEXT, beam=5, n_best=5)
    number = sum(map(len, tree.steps))
    assert page.locator(".tree .node").count() == number
    page.get_by_role("slider", name="Steps of the search").press("Home")
    assert page.locator(".tree .node").count() == len(tree.steps[0])
    page.get_by_role("button", name="Grow").click()
    page.wait_for_function("n => document.querySelectorAll('.tree .node').length > n", arg=len(tree.steps[0]))
    page.get_by_role("slider", name="Steps of the search").press("End")
    page.get_by_label("Pruned hypotheses").uncheck()
    kept = sum(node.fate != "pruned" for step in tree.steps for node in step)
    assert page.locator(".tree .node").count() == kept
    node = tree.steps[0][1]
    page.locator(f".tree .node[data-id='{node.id}']").click()
    assert page.locator(".nodepanel h2").inner_text().endswith(node.token)
    tokens = page.locator(".nodepanel .bars .name").all_inner_texts()
    assert tokens == [token for token, _ in node.alternatives][:8]
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    assert page.locator(".tree .node.chosen").get_attribute("data-t") == "1"


def test_another_target_word_another_source_word_and_attention_that_is_moved(page, url, service):
    open_studio(page, url, view="whatif")
    predictor = service.registry["translate"].predictor
    before = expected(service)
    words = before.text.split()
    page.get_by_role("group", name="Target words").get_by_role("button").nth(1).click()
    offered = page.locator(".menu .bars button:not(:disabled)")
    other = next(
        word for word in page.locator(".menu .bars .name").all_inner_texts() if word not in (words[1], ".")
    )
    offered.filter(has_text=other).first.click()
    after = predictor.what_if(TEXT, beam=5, prefix=f"{words[0]} {other}").after
    page.wait_for_function("n => document.querySelectorAll('.side').length === n", arg=2)
    assert page.locator(".side").nth(1).locator(".plain").nth(1).inner_text().strip() == after.text
    assert other in page.locator(".side").nth(1).locator("mark").all_inner_texts()
    page.locator(".chip.removable").click()
    page.wait_for_function("n => document.querySelectorAll('.side').length === n", arg=1)
    page.get_by_role("group", name="Source words").get_by_role("button").nth(1).click()
    page.wait_for_selector(".menu .bars button")
    nearest = predictor.nearest_words("Hund", 6)
    assert page.locator(".menu .bars .name").all_inner_texts() == [word for word, _ in nearest]
    page.locator(".menu .bars button").first.click()
    page.wait_for_function("n => document.querySelectorAll('.side').length === n", arg=2)
    assert page.locator(".side").nth(1).locator("mark").first.inner_text() == nearest[0][0]
    page.locator(".chip.removable").click()
    page.wait_for_function("n => document.querySelectorAll('.side').length === n", arg=1)
    source, target = (page.locator(f".side [data-side={side}]").first for side in ("source", "target"))
    target.hover()
    page.mouse.down()
    box = source.bounding_box()
    page.mouse.move(box["x"] + box["width"] - 20, box["y"] + box["height"] / 2, steps=4)
    page.mouse.up()
    page.wait_for_function("n => document.querySelectorAll('.side').length === n", arg=2)
    forced = predictor.what_if(TEXT, beam=5, attend={0: 0}).after
    assert page.locator(".side").nth(1).locator(".plain").nth(1).inner_text().strip() == forced.text
    page.locator(".side").nth(1).locator("[data-side=target]").first.hover()
    assert page.locator(".side").nth(1).locator(".readout").inner_text().endswith("der 1.00")


def test_a_word_that_the_vocabulary_lacks_is_an_error_that_says_so(page, url):
    open_studio(page, url, view="whatif")
    page.get_by_role("group", name="Target words").get_by_role("button").first.click()
    page.get_by_role("textbox", name="Another target word").fill("xyzzy")
    page.get_by_role("button", name="Use", exact=True).click()
    assert "xyzzy" in page.get_by_role("alert").last.inner_text()
    page.wait_for_timeout(50)


def test_units_of_a_state_and_those_that_behave_alike(page, url):
    open_studio(page, url, view="states")
    page.get_by_role("spinbutton", name="Unit").fill("3")
    page.get_by_role("spinbutton", name="Unit").press("Enter")
    assert page.locator("#panel h2").first.inner_text() == "Unit 3"
    page.locator("#panel .chip").first.click()
    assert page.locator("#panel h2").first.inner_text() != "Unit 3"
    page.get_by_label("Quantity").select_option("update")
    page.wait_for_selector("figure[data-name='Decoder: update']")


def test_curves_follow_a_run_that_goes_on(page, url, service, tmp_path):
    folder = tmp_path / "run"
    shutil.copytree(FIXTURES / "format-2" / "translate", folder)
    predictor = service.registry["translate"].predictor
    rows = [{"event": "train", "update": 10 * k, "loss": 5.0 / k, "seconds": k} for k in range(1, 4)]
    (folder / "journal.jsonl").unlink()
    (folder / "log.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    service.registry.add("growing", predictor, ModelEntry(str(folder)))
    try:
        open_studio(page, url, model="growing", view="training")
        curve = "figure[data-name^='Training loss'] .curve.now path"
        before = page.locator(curve).get_attribute("d")
        assert before.count("L") == 2
        assert "30 updates" in page.locator(".training .facts").inner_text()
        more = {"event": "train", "update": 40, "loss": 1.0, "seconds": 4}
        with (folder / "log.jsonl").open("a") as file:
            file.write(f"{json.dumps(more)}\n")
        page.wait_for_function(
            "() => document.querySelector('.training .facts').textContent.includes('40 updates')"
        )
        assert page.locator(curve).get_attribute("d").count("L") == 3
    finally:
        del service.registry._models["growing"]


def test_the_lab_shows_its_verdicts_and_figures_and_no_other_file(page, url):
    open_studio(page, url, view="lab")
    section = page.get_by_role("region", name="How long a lag")
    assert "held" in section.inner_text()
    page.wait_for_function("() => document.querySelector('.lab img').naturalWidth === 40")
    assert section.get_by_role("img").get_attribute("alt") == "Accuracy by lag"
    for path in (
        "lab/lag/result.svg",
        "lab/half/lags.svg",
        "lab/lag/..%2f..%2flags.svg",
        "lab/..%2flag/lags.svg",
    ):
        assert page.request.get(url + path).status == 404, path
    for path in ("lab/lag/result.json", "..%2fapp.py", "%2e%2e/app.py"):
        assert page.request.get(url + path).status == 404, path


def test_principal_components_are_those_of_the_singular_values(page, url):
    import numpy as np

    open_studio(page, url)
    rows = np.random.default_rng(1).normal(size=(7, 5))
    found = page.evaluate("async rows => (await import('./states.js')).principal(rows)", rows.tolist())
    _, values, _ = np.linalg.svd(rows - rows.mean(axis=0))
    assert found["shares"] == pytest.approx((values**2 / (values**2).sum())[:2].tolist(), abs=1e-6)


def test_sentences_are_sampled_word_by_word_and_branch_at_any(page, url):
    open_studio(page, url, model="lm", text="the")
    page.wait_for_selector(".lines li .facts")
    first = page.locator(".lines li").first.inner_text()
    assert first.startswith("the")
    page.get_by_role("slider", name="Temperature").press("Home")
    page.get_by_role("button", name="Sample", exact=True).click()
    page.wait_for_function("() => document.querySelectorAll('.lines li .facts').length === 2")
    page.locator(".lines li").first.locator(".token").first.click()
    choices = page.locator(".menu .bars button:not(:disabled)")
    word = choices.nth(1).locator(".name").inner_text()
    choices.nth(1).click()
    page.wait_for_function("() => document.querySelectorAll('.lines li .facts').length === 3")
    assert page.locator(".lines li .prompt").first.inner_text().strip() == f"the {word}"
    assert (
        page.evaluate(
            "performance.getEntriesByType('resource').filter(e => e.name.endsWith('v1/sample')).length"
        )
        == 3
    )


def test_a_classifier_shows_probabilities_and_a_tagger_tags(page, url, service):
    open_studio(page, url, model="classify", text="a fine film .")
    (result,) = service.registry["classify"].predictor.classify(["a fine film ."])
    assert page.locator(".bars .name").first.inner_text() == result.label
    page.get_by_label("Model").select_option("tag")
    page.wait_for_selector(".tags")
    (tagging,) = service.registry["tag"].predictor.tag(["a fine film ."])
    assert page.locator(".tags .tag").all_inner_texts() == list(tagging.tags)


def saved(page, name):
    page.locator("#save summary").click()
    with page.expect_download() as download:
        page.get_by_role("button", name=name, exact=True).click()
    return download.value.path().read_bytes()


def test_what_is_seen_is_saved_and_the_saved_page_works_without_a_server(
    page, url, service, tmp_path, browser
):
    open_studio(page, url)
    picture = saved(page, "Heat map, SVG").decode()
    assert picture.startswith("<svg")
    assert "var(" not in picture
    assert ">schläft<" in picture
    assert saved(page, "Links, PNG").startswith(b"\x89PNG")
    answers = json.loads(saved(page, "All answers, JSON"))
    assert {"translate", "models"} <= {each["operation"] for each in answers}
    page.get_by_role("tab", name="Beam search").click()
    page.wait_for_selector(".tree")
    file = tmp_path / "page.html"
    file.write_bytes(saved(page, "This page, HTML"))
    context = browser.new_context(offline=True)
    other = context.new_page()
    addresses = []
    other.on("request", lambda request: addresses.append(request.url))
    other.goto(file.as_uri())
    other.wait_for_selector(".tree")
    other.get_by_role("tab", name="Attention").click()
    other.locator(".links [data-side=target]").first.hover()
    assert other.locator("#answer").inner_text() == expected(service).text
    assert "←" in other.locator(".attention .readout").inner_text()
    assert [each for each in addresses if not each.startswith(("file:", "data:", "blob:"))] == []
    context.close()


def test_what_is_typed_is_text_and_an_error_is_said(page, url):
    markup = "<img src=x onerror=document.title=1><b>der</b> hund"
    open_studio(page, url, text=markup)
    assert page.locator("main img").count() == 0
    assert page.title() == f"{markup} · Regard"
    page.locator("#text").fill("x" * 10_001)
    page.locator("#text").press("Enter")
    page.wait_for_selector("#problem:not([hidden])")
    assert "10000" in page.locator("#problem").inner_text()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("model", VIEWS)
def test_every_view_fits_every_width_and_is_accessible(page, url, axe, model, scheme):
    page.emulate_media(color_scheme=scheme)
    open_studio(page, url, model, TEXT)
    page.evaluate(axe)
    for view in VIEWS[model]:
        page.locator(f"#tab-{view}").click()
        page.wait_for_selector("#panel figure, #panel .lines .facts, #panel .whatif .side")
        if view == "beam":
            page.locator(".tree .node").first.click()
        if view == "whatif":
            page.locator(".whatif .token").first.click()
        for width in (390, 900, 1600):
            page.set_viewport_size({"width": width, "height": 900})
            overflow = page.evaluate("document.documentElement.scrollWidth - innerWidth")
            assert overflow <= 0, (view, width)
        assert page.locator("#panel .error, #problem:visible").count() == 0, view
        if model in ("translate", "lm") or view == "labels":
            found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
            assert [(each["id"], [n["html"][:120] for n in each["nodes"][:3]]) for each in found] == [], view


def test_the_page_is_light_and_of_one_origin(page, url):
    sizes, origins = [], set()
    page.on(
        "response",
        lambda response: (sizes.append(len(response.body())), origins.add(urlparse(response.url).netloc)),
    )
    open_studio(page, url)
    assert origins == {urlparse(url).netloc}
    assert sum(sizes) < 500_000
    policy = page.request.get(url).headers["content-security-policy"]
    assert "script-src 'self';" in policy
    assert page.evaluate("document.querySelectorAll('script:not([src]), style, [style]').length") < 3
