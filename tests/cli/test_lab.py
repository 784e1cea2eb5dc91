"""``regard lab``: the list, one experiment, all of them, and what is refused. The experiments are made up."""

import json
import re
from dataclasses import replace

import pytest

import regard.lab
import regard.lab.runner.run as regard_run
from regard.errors import DataError
from regard.lab.runner import Bench, CaptionedFigure, Check, Experiment, Finding, Verdict
from regard.lab.runner.run import Status, run_experiment
from regard.plots.figures.curves import Curve, Panel, draw_curves


def measure(bench: Bench, sizes: float) -> Finding:
    bench.report("measuring")
    figure = draw_curves([Panel([Curve("a", [0, 1], [0, bench.seed])], "x", "y")])
    checks = [Check("the number", sizes, "at least", 1.5, " m")]
    because = f"It came to {sizes} with {bench.text or 'nothing'}."
    return Finding(
        {"seed": bench.seed}, Verdict(checks, because), [CaptionedFigure("line", "A line.", figure)]
    )


def fail(bench: Bench, sizes: float) -> Finding:
    raise DataError("no space here: make some")


def experiment(name: str, measure=measure, **options) -> Experiment[float]:
    return Experiment(
        name, f"On {name}", f"{name} holds", "Lecture 1", "So.", "This.", measure, 1.0, 2.0, 61, **options
    )


MADE = {
    "plain": experiment("plain"),
    "texty": experiment("texty", text="a sentence"),
    "broken": experiment("broken", fail),
}


@pytest.fixture(autouse=True)
def made_up(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(regard.lab, "EXPERIMENTS", dict.fromkeys(MADE, "made.up"))
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
    assert set(listed[0]) == {
        "name",
        "title",
        "claim",
        "source",
        "method",
        "decides",
        "seconds",
        "text",
        "seed",
    }
    assert listed[0]["claim"] == "plain holds"


def test_one_is_run_and_its_result_is_written(regard, tmp_path):
    ended = regard("lab", "plain", "--seed", "3")
    assert ended.status == 0
    folder = tmp_path / "runs" / "lab-plain"
    assert {"result.json", "page.html", "line.png", "line.svg"} <= {path.name for path in folder.iterdir()}
    result = json.loads((folder / "result.json").read_text())
    assert result["numbers"] == {"seed": 3}
    assert result["command"] == "regard lab plain --seed 3"
    assert result["versions"]["torch"]
    assert "not registered (not seen here). It came to 1.0 with nothing." in ended.out
    assert "no settings are registered; this run decides nothing" in ended.out
    assert "plain: about 1 min on" in ended.err
    assert "at least 1.5 m" in ended.out
    assert str(folder / "page.html") in ended.out


def test_a_second_run_leaves_the_first_alone(regard, tmp_path):
    regard("lab", "plain")
    regard("lab", "plain", "--full")
    runs = tmp_path / "runs"
    assert json.loads((runs / "lab-plain" / "result.json").read_text())["full"] is False
    assert json.loads((runs / "lab-plain-2" / "result.json").read_text())["full"] is True


def test_as_json(regard):
    result = json.loads(regard("lab", "plain", "--full", "--json").out)
    assert result["verdict"]["word"] == "held"


def test_a_text_of_the_users(regard):
    assert "with a dog barks" in regard("lab", "texty", "a dog barks").out
    ended = regard("lab", "plain", "a dog barks")
    assert ended.status == 2
    assert "'a dog barks': plain takes no text; these do: texty" in ended.err


def test_an_error_of_one_experiment_is_a_message(regard):
    ended = regard("lab", "broken")
    assert ended.status == 2
    assert "no space here: make some" in ended.err
    assert "Traceback" not in ended.err


def run_in_turn(experiments, bench, command, listener, *, seed=None):
    """All of them in this process, since another could not import this module."""
    results = []
    for each in experiments:
        own = replace(bench, folder=bench.folder / each.name, seed=seed, jobs=1)
        try:
            results.append(run_experiment(each, own, command(each.name)))
        except DataError as error:
            listener(Status(each.name, "failed", failed=str(error)))
        else:
            listener(Status(each.name, results[-1].verdict["word"], results[-1]))
    return results


def test_all_of_them(regard, tmp_path, monkeypatch):
    monkeypatch.setattr(regard_run, "run_all", run_in_turn)
    ended = regard("lab", "all", "--full", "--seed", "4", "--out", "here", "--jobs", "3")
    assert ended.status == 1  # one could not be done
    assert "broken failed:" in ended.err
    assert "no space here: make some" in ended.err
    assert "plain: held" in ended.err
    for name in ("plain", "texty"):
        assert re.search(
            rf"^{name} +◌ not registered \(held\) +It came to 2\.0", ended.out, flags=re.MULTILINE
        )
        result = json.loads((tmp_path / "here" / name / "result.json").read_text())
        assert result["command"] == f"regard lab {name} --full --seed 4"
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


def test_unknown_experiments_bad_seeds_and_bad_texts_are_refused(regard):
    ended = regard("lab", "al")
    assert ended.status == 2
    assert "did you mean 'all'?" in ended.err
    assert regard("lab", "plain", "--seed", str(2**64)).status == 2
    for text in ("", "  "):
        ended = regard("lab", "texty", text)
        assert ended.status == 2
        assert "is not a line of text; give a sentence" in ended.err
    assert "it is not UTF-8" in regard("lab", "texty", "caf\udce9").err


def test_all_of_them_are_continued_in_the_same_folder(regard, tmp_path, monkeypatch):
    monkeypatch.setattr(regard_run, "run_all", run_in_turn)
    for _ in range(2):
        assert regard("lab", "all", "--seed", "4").status == 1
    assert [path.name for path in (tmp_path / "runs").iterdir()] == ["lab"]
    # results of another seed are left alone
    assert regard("lab", "all", "--seed", "5").status == 1
    assert (tmp_path / "runs" / "lab-2" / "plain" / "result.json").exists()
    ended = regard("lab", "all", "--seed", "5", "--out", "runs/lab")
    assert ended.status == 2
    assert "--out runs/lab: something else is there already, or results of other settings" in ended.err
    assert "choose another folder" in regard("lab", "all", "--out", "runs").err
