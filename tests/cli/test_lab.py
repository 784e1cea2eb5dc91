"""``regard lab``: the list, one experiment, all of them, and what is refused. The experiments here are made up."""

import json
import re
from dataclasses import replace

import pytest

import regard.lab
import regard.lab.runner.run as regard_run
from regard.errors import DataError
from regard.lab.runner import Bench, Check, Drawing, Experiment, Finding, Verdict
from regard.lab.runner.run import Heard, run_experiment
from regard.plots.figures.curves import Curve, Panel, draw_curves


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


def run_in_turn(experiments, bench, command, ear):
    """All of them in this process, since another could not import this module."""
    results = []
    for each in experiments:
        own = replace(bench, folder=bench.folder / each.name, jobs=1)
        try:
            results.append(run_experiment(each, own, command(each.name)))
        except DataError as error:
            ear(Heard(each.name, "failed", failed=str(error)))
        else:
            ear(Heard(each.name, results[-1].verdict["word"], results[-1]))
    return results


def test_all_of_them(regard, tmp_path, monkeypatch):
    monkeypatch.setattr(regard_run, "run_all", run_in_turn)
    ended = regard("lab", "all", "--full", "--seed", "4", "--out", "here", "--jobs", "3")
    assert ended.status == 1  # one could not be done
    assert "broken could not be done:" in ended.err
    assert "no room here: make some" in ended.err
    assert "plain: held" in ended.err
    for name in ("plain", "texty"):
        assert re.search(rf"^{name} +● held +It came to 2\.0", ended.out, flags=re.MULTILINE)
        found = json.loads((tmp_path / "here" / name / "result.json").read_text())
        assert found["command"] == f"regard lab {name} --full --seed 4"
    assert str(tmp_path / "here" / "report.html") in ended.out


def test_a_run_that_was_interrupted_is_not_written_over(regard, tmp_path):
    (tmp_path / "runs" / "lab-plain" / "models" / "half").mkdir(parents=True)
    assert regard("lab", "plain").status == 0
    assert not (tmp_path / "runs" / "lab-plain" / "result.json").exists()
    assert (tmp_path / "runs" / "lab-plain-2" / "result.json").exists()


def test_a_folder_that_is_taken_is_refused(regard, tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    for out in (".", "notes.txt"):
        ended = regard("lab", "plain", "--out", out)
        assert ended.status == 2
        assert f"--out {out}: something is there already" in ended.err
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_what_is_no_experiment_no_seed_and_no_text(regard):
    ended = regard("lab", "al")
    assert ended.status == 2
    assert "did you mean 'all'?" in ended.err
    assert regard("lab", "plain", "--seed", str(2**64)).status == 2
    for text in ("", "  ", "caf\udce9"):
        ended = regard("lab", "texty", text)
        assert ended.status == 2
        assert "is no line of text; give a sentence" in ended.err
