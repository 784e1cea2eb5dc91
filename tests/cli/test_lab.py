"""``regard lab``: the list, one experiment, all of them, and what is refused. The experiments here are made up."""

import json

import pytest

import regard.cli.lab.verb
import regard.lab
from regard.errors import DataError
from regard.lab.bench import Bench, Check, Drawing, Experiment, Finding, Verdict
from regard.output.pictures.curves import Curve, Panel, draw_curves


def seen(bench: Bench) -> Finding:
    bench.voice("looking")
    figure = draw_curves([Panel([Curve("a", [0, 1], [0, bench.seed])], "x", "y")])
    value = 2.0 if bench.full else 1.0
    checks = [Check("the number", value, "at least", 1.5, " m")]
    said = f"It came to {value} with {bench.text or 'nothing'}."
    return Finding({"seed": bench.seed}, Verdict(checks, said), [Drawing("line", "A line.", figure)])


def broken(bench: Bench) -> Finding:
    raise DataError("no room here: make some")


def experiment(name: str, run=seen, **more) -> Experiment:
    return Experiment(name, f"On {name}", f"{name} holds", "Lecture 1", "So.", "This.", run, 61, **more)


MADE = {
    "plain": experiment("plain"),
    "texty": experiment("texty", text="a sentence"),
    "broken": experiment("broken", broken),
}


@pytest.fixture(autouse=True)
def made_up(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(regard.lab, "EXPERIMENTS", tuple(MADE))
    monkeypatch.setattr(regard.lab, "find_experiment", MADE.__getitem__)


def test_without_a_name_they_are_listed(regard):
    ended = regard("lab")
    assert ended.status == 0
    for name in MADE:
        assert f"{name} holds" in ended.out
    assert "1:01" in ended.out
    assert "3:03 in all" in ended.out
    listed = json.loads(regard("lab", "--json").out)
    assert [each["name"] for each in listed] == list(MADE)
    assert listed[0]["claim"] == "plain holds"


def test_one_is_run_and_all_it_found_is_written(regard, tmp_path):
    ended = regard("lab", "plain", "--seed", "3")
    assert ended.status == 0
    folder = tmp_path / "runs" / "lab-plain"
    assert {"result.json", "page.html", "line.png", "line.svg"} <= {path.name for path in folder.iterdir()}
    found = json.loads((folder / "result.json").read_text())
    assert found["numbers"] == {"seed": 3}
    assert found["command"] == "regard lab plain --seed 3"
    assert found["versions"]["torch"]
    assert "not seen here. It came to 1.0 with nothing." in ended.out
    assert "at least 1.5 m" in ended.out
    assert str(folder / "page.html") in ended.out


def test_a_second_run_takes_nothing_from_the_first(regard, tmp_path):
    regard("lab", "plain")
    regard("lab", "plain", "--full")
    runs = tmp_path / "runs"
    assert json.loads((runs / "lab-plain" / "result.json").read_text())["full"] is False
    assert json.loads((runs / "lab-plain-2" / "result.json").read_text())["full"] is True


def test_as_json(regard):
    found = json.loads(regard("lab", "plain", "--full", "--json").out)
    assert found["verdict"]["word"] == "held"


def test_a_text_of_ones_own(regard):
    assert "with a dog barks" in regard("lab", "texty", "a dog barks").out
    ended = regard("lab", "plain", "a dog barks")
    assert ended.status == 2
    assert "'a dog barks': plain takes no text of yours; these do: texty" in ended.err


def test_an_error_of_one_experiment_is_a_message(regard):
    ended = regard("lab", "broken")
    assert ended.status == 2
    assert "no room here: make some" in ended.err
    assert "Traceback" not in ended.err
