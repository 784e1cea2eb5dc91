"""The studio in a thread of this process, and a browser that uses it as a person would."""

import gzip
import json
import os
import re
import shutil
import socket
import threading
import time
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

import pytest

from regard.checkpoint import ModelFolder
from regard.lab.runner.experiment import Result
from regard.server.config import ModelEntry, ServeConfig
from regard.tasks import TASKS

FIXTURES = Path(__file__).parents[1] / "fixtures"
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


_NOUNS = {"der Hund": "the dog", "die Katze": "the cat", "das Kind": "the child", "der Vogel": "the bird"}
_ACTIONS = {"schläft": "sleeps", "singt": "sings", "läuft": "runs"}
_WHEN = {"": "", "heute": "today"}
PAIRS = [
    (
        " ".join(f"{noun} {action} {when} .".split()),
        " ".join(f"{_NOUNS[noun]} {_ACTIONS[action]} {_WHEN[when]} .".split()),
    )
    for noun in _NOUNS
    for action in _ACTIONS
    for when in _WHEN
]
"""What the fixtures' translator knows."""

DATA = {
    "translate": {"pairs.tsv": [f"{source}\t{target}" for source, target in PAIRS]},
    "lm": {"text.txt": [target for _, target in PAIRS]},
    "classify": {
        "labelled.tsv": [
            f"{label}\ta {word} {thing} ."
            for label, word in (("good", "clever"), ("bad", "dull"), ("neutral", "long"))
            for thing in ("book", "film", "play", "song")
        ]
    },
    "tag": {
        "words.txt": [
            f"the {noun} {action} ." for noun in ("cat", "bird") for action in ("sees", "sleeps", "sings")
        ],
        "tags.txt": ["DET NOUN VERB PUNCT"] * 6,
    },
}
"""The files of the fixtures' runs, by name."""


def make_run(folder, name):
    """A model folder whose ``train.toml`` names data that are there; validated on the same."""
    shutil.copytree(FIXTURES / "format-2" / name, folder)
    options = (folder / "train.toml").read_text(encoding="utf-8")
    for file, lines in DATA[name].items():
        (folder / file).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        stem, suffix = file.split(".")
        for each in (file, f"{stem}.valid.{suffix}"):
            options = options.replace(f'"{each}"', json.dumps(str(folder / file)))
    (folder / "train.toml").write_text(options, encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def service(tmp_path_factory):
    """Trained models of a few units, one of each task, beside their data."""
    from regard.server.app import Service

    service = Service(ServeConfig.from_mapping({"threads": 1, "batching": {"milliseconds": 0.0}}, ""))
    runs = tmp_path_factory.mktemp("runs")
    for name in DATA:
        folder = make_run(runs / name, name)
        predictor = TASKS[ModelFolder(folder).task].predictor().load(folder)
        service.registry.add(name, predictor, ModelEntry(str(folder)))
    return service


@pytest.fixture(scope="session")
def lab(tmp_path_factory):
    """A folder of the lab with one result, and one that is not complete."""
    folder = tmp_path_factory.mktemp("lab")
    texts = dict.fromkeys(("method", "decides", "command", "settings"), "")
    result = Result(
        name="lag",
        title="How long a lag",
        claim="Gates bridge it.",
        source="A lecture",
        verdict={"word": "held", "because": "They did at 20 steps.", "undecided": [], "checks": []},
        full=False,
        seed=1,
        seconds=1.0,
        deciding=False,
        versions={},
        numbers={},
        figures=[{"name": "lags", "caption": "Accuracy by lag"}],
        tables=[],
        remarks=[],
        **texts,
    )
    (folder / "lag").mkdir()
    (folder / "lag" / "result.json").write_text(json.dumps(asdict(result)))
    (folder / "lag" / "lags.svg").write_text(
        '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="20"><path d="M0 0L40 20"/></svg>'
    )
    (folder / "half").mkdir()
    (folder / "half" / "result.json").write_text("{")
    return folder


@contextmanager
def listening(app):
    """An app on a port of this machine, as its address."""
    import uvicorn

    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning", ws="none"))
        thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.01)
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/"
        server.should_exit = True
        thread.join(10)


@pytest.fixture(scope="session")
def url(service, lab):
    """The studio, listening."""
    from regard.studio.app import create_studio

    with listening(create_studio(service, lab)) as address:
        yield address


@pytest.fixture(scope="module")  # while it is open, no other test can run an event loop
def browser():
    """Debian's Chromium, or another of this machine."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("no chromium on this machine")
    with playwright.sync_playwright() as driver:
        sandbox = [] if os.geteuid() else ["--no-sandbox"]
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=sandbox)
        yield browser
        browser.close()


@pytest.fixture
def page(browser):
    """A page of its own; any error in its console fails the test."""
    context = browser.new_context(viewport={"width": 1200, "height": 900}, accept_downloads=True)
    context.set_default_timeout(20_000)
    page = context.new_page()
    problems = []

    def note(message):
        refused = re.search("status of (422|503)", message.text)  # the page says why
        if message.type in ("error", "warning") and not refused:
            problems.append(message.text)

    page.on("console", note)
    page.on("pageerror", lambda error: problems.append(str(error)))
    yield page
    context.close()
    assert problems == []


@pytest.fixture(scope="session")
def axe():
    """The source of axe-core, which finds faults of accessibility."""
    return gzip.decompress((FIXTURES / "axe-core" / "axe.min.js.gz").read_bytes()).decode()
