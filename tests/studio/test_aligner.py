"""The studio with an aligner: both sides are typed, its links are drawn, and the page can be saved."""

import re
from urllib.parse import quote

import pytest
from tests.studio.conftest import PAIRS, listening

from regard.errors import ConfigError
from regard.server.config import ModelEntry, ServeConfig
from regard.tasks.align.predictor import Aligner
from regard.training.run import train

SOURCE, TARGET = "die Katze singt heute .", "the cat sings today ."


@pytest.fixture(scope="module")
def aligned(tmp_path_factory):
    from regard.server.app import Service

    folder = tmp_path_factory.mktemp("aligner") / "model"
    options = ["training.max_updates=20", "training.validate_every=10", "model.encoder.state_size=16"]
    train(folder, PAIRS * 4, PAIRS, task="align", options=options, progress=False)
    service = Service(ServeConfig.from_mapping({"threads": 1, "batching": {"milliseconds": 0.0}}, ""))
    service.registry.add("aligner", Aligner.load(folder), ModelEntry(str(folder)))
    return service


@pytest.fixture(scope="module")
def url_of_aligner(aligned):
    from regard.studio.app import create_studio

    with listening(create_studio(aligned, None)) as address:
        yield address


def test_both_sides_are_typed_and_aligned(page, url_of_aligner, axe):
    page.goto(f"{url_of_aligner}?q={quote(SOURCE)}")
    page.wait_for_selector("body[data-ready]")
    page.get_by_label("Its translation").fill(TARGET)
    page.wait_for_selector(".aligned figure svg")
    assert "target=" in page.url
    for word in (*SOURCE.split(), *TARGET.split()):
        assert page.locator(".aligned figure", has_text=word).count()
    page.evaluate(axe)
    assert page.evaluate("axe.run().then((found) => found.violations.map(({ id }) => id))") == []
    page.reload()
    page.wait_for_selector(".aligned figure svg")
    assert page.get_by_label("Its translation").input_value() == TARGET
    page.get_by_label("Its translation").fill("")
    page.get_by_text("see which words go together").wait_for()
    page.get_by_role("tab", name="Training").click()
    page.get_by_text("20 updates are done").wait_for()


def test_a_page_without_a_server(page, aligned, tmp_path):
    from regard.studio.offline import explain

    model = aligned.registry["aligner"]
    file = tmp_path / "page.html"
    file.write_text(explain(model, f"{SOURCE} | {TARGET}"), encoding="utf-8")
    page.goto(file.as_uri())
    page.wait_for_selector(".aligned figure svg")
    assert page.get_by_label("Its translation").input_value() == TARGET
    with pytest.raises(ConfigError, match=re.escape("a house | une maison")):
        explain(model, SOURCE)
