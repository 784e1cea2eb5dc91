"""``regard studio`` and ``regard explain``: what they open, write and refuse."""

import re
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from regard.cli.app import app
from regard.errors import RegardError

pytest.importorskip("fastapi", reason="the extra serve is not installed")
MODELS = Path(__file__).parents[1] / "fixtures" / "format-2"


def invoke(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)))


@pytest.fixture
def served(monkeypatch):
    """What would be served, instead of serving it; and what would be opened in a browser."""
    calls = {"opened": []}

    def run(service, *, app, on_listening):
        calls["service"] = service
        on_listening("http://127.0.0.1:8080")

    monkeypatch.setattr("regard.server.run.run", run)
    monkeypatch.setattr("regard.server.run.prepare_process", lambda: None)
    monkeypatch.setattr("webbrowser.open", calls["opened"].append)
    return calls


def test_the_models_that_are_named_are_served_to_this_machine_alone(served):
    result = invoke("studio", f"a={MODELS / 'translate'}", MODELS / "lm", "--port", "9123")
    assert result.exit_code == 0, result.output
    assert served["service"].registry.names() == ["a", "lm"]
    assert (served["service"].config.host, served["service"].config.port) == ("127.0.0.1", 9123)
    assert served["opened"] == ["http://127.0.0.1:8080/"]


def test_a_lab_that_is_not_there(served, tmp_path):
    result = invoke("studio", MODELS / "tag", "--lab", tmp_path / "none")
    assert "no such folder" in str(result.exception)


def test_no_browser_is_opened_where_none_is_wanted(served):
    assert invoke("studio", MODELS / "tag", "--no-browser").exit_code == 0
    assert served["opened"] == []


def test_without_a_model_it_opens_the_demos_and_trains_it_once(served, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    trained = []

    def train_demo(dataset):
        trained.append(dataset)
        folder = tmp_path / "runs" / f"demo-{dataset}"
        folder.parent.mkdir()
        folder.symlink_to(MODELS / "translate", target_is_directory=True)
        return type("Run", (), {"folder": folder})

    monkeypatch.setattr("regard.cli.studio.train_demo", train_demo)
    for _ in range(2):
        assert invoke("studio").exit_code == 0
        assert served["service"].registry.names() == ["demo"]
    assert trained == ["microworld"]
    assert all(url.startswith("http://127.0.0.1:8080/?q=") for url in served["opened"])


def test_a_demo_whose_training_was_stopped_is_not_opened(served, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    half = tmp_path / "runs" / "demo-microworld"
    half.mkdir(parents=True)
    (half / "regard.json").write_text("{}")
    again = tmp_path / "runs" / "demo-microworld-2"
    monkeypatch.setattr(
        "regard.cli.studio.train_demo",
        lambda dataset: type("Run", (), {"folder": shutil.copytree(MODELS / "translate", again)}),
    )
    for _ in range(2):  # the second time it is there
        result = invoke("studio")
        assert result.exit_code == 0, result.output
        assert served["service"].registry["demo"].entry.folder.endswith("demo-microworld-2")


def test_a_training_that_has_only_begun_is_waited_for(served, tmp_path, monkeypatch):
    folder = shutil.copytree(MODELS / "translate", tmp_path / "run")
    weights = (folder / "last.safetensors").read_bytes()
    for name in ("best", "last"):
        (folder / f"{name}.safetensors").unlink()
    (folder / ".lock").touch()
    waited = []

    def sleep(seconds):
        waited.append(seconds)
        if len(waited) == 3:
            (folder / "last.safetensors").write_bytes(weights)

    monkeypatch.setattr("regard.cli.studio.time", type("Time", (), {"sleep": staticmethod(sleep)}))
    result = invoke("studio", folder)
    assert result.exit_code == 0, result.output
    assert "no weights yet" in result.output
    assert len(waited) == 3
    assert served["service"].registry["run"].entry.weights == "last"
    (folder / "last.safetensors").unlink()
    (folder / ".lock").unlink()
    result = invoke("studio", folder)  # nobody trains: an error at once
    assert "no such weights" in str(result.exception)


def test_a_page_is_written(tmp_path):
    page = tmp_path / "page.html"
    result = invoke("explain", MODELS / "translate", "der Hund schläft .", "-o", page, "--beam", "2")
    assert result.exit_code == 0, result.output
    text = page.read_text(encoding="utf-8")
    assert re.search(r'"text": ?"der Hund schläft \."', text)
    assert '"beam": 2' in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none", "a"], "none"),
        ([MODELS / "translate", " "], "the text is blank"),
        ([MODELS / "translate", "a", "--beam", "99"], "--beam: 99 is out of range"),
        ([MODELS / "translate", "a", "--letters", "greek"], "--letters"),
    ],
)
def test_what_explain_refuses(arguments, message, tmp_path):
    result = invoke("explain", *arguments, "-o", tmp_path / "page.html")
    assert isinstance(result.exception, RegardError), result.output
    assert message in str(result.exception)
    assert not (tmp_path / "page.html").exists()
