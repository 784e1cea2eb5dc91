"""The comparison of the default command with configurations made by hand: splits, shortfall, choice, results."""

import json
import lzma
import subprocess
import sys

import pytest
from benchmarks.defaults import (
    DEFAULT,
    KINDS,
    MISSING,
    PARTS,
    RESULTS,
    Kind,
    Run,
    best_by_hand,
    device_of,
    shortfall,
    split,
    table,
    write_files,
)
from benchmarks.process import ROOT

from benchmarks import defaults
from regard.errors import DataError, RegardError


def test_a_split_shares_no_line_and_repeats_none():
    lines = [f"line {k % 50}" for k in range(100)]
    train, valid, test = split(lines, 10, 5)
    assert (len(train), len(valid), len(test)) == (35, 10, 5)
    assert len({*train, *valid, *test}) == 50
    assert split(lines, 10, 5, train=7)[0] == train[:7]


def test_shortfall_is_relative_to_the_score_or_to_the_error():
    assert shortfall("exact_match", 0.9, 1.0) == pytest.approx(0.1)
    assert shortfall("exact_match", 0.78, 0.8) == pytest.approx(0.025)  # within 3 %
    assert shortfall("wer", 0.22, 0.2) == pytest.approx(0.1)  # the same outputs, and not within 3 %
    assert shortfall("perplexity", 90.0, 100.0) < 0
    assert shortfall("wer", 0.0, 0.0) == 0
    assert shortfall("wer", 0.1, 0.0) == float("inf")


def _run(kind: str, name: str, valid: float, test: float) -> Run:
    metrics = KINDS[kind].metrics
    return Run(kind, name, dict.fromkeys(metrics, valid), dict.fromkeys(metrics, test), 1.0)


def test_the_validation_set_chooses_the_configuration_by_hand():
    runs = [_run("dates", DEFAULT, 0.95, 0.5), _run("dates", "a", 0.9, 0.1), _run("dates", "b", 0.8, 0.2)]
    best = best_by_hand("dates", runs)
    assert best is not None
    assert best.name == "a"
    assert table(runs, ["dates"]).rows[0][3].startswith("10.0\N{NO-BREAK SPACE}% (a)")
    worse = [_run("plain text", name, value, value) for name, value in ((DEFAULT, 9), ("a", 8), ("b", 7))]
    best = best_by_hand("plain text", worse)
    assert best is not None
    assert best.name == "b"
    assert table(worse, ["plain text"]).rows[0][5] == "no"  # 9 is more than 3 % above 7


def test_words_have_a_row_for_each_measure():
    kind = "spelling to phones"
    right = {"exact_match": 0.78, "wer": 0.22, "per": 0.05}
    better = {"exact_match": 0.8, "wer": 0.2, "per": 0.05}
    runs = [Run(kind, DEFAULT, right, right, 1.0), Run(kind, "twice the width", better, better, 1.0)]
    assert [row[1] for row in table(runs, [kind]).rows] == ["exact match", "WER", "PER"]
    assert [row[5] for row in table(runs, [kind]).rows] == ["yes", "no", "yes"]


def test_what_is_not_measured_yet_is_marked():
    runs = [_run("dates", DEFAULT, 0.9, 0.9), _run("100 pairs", "characters", 0.9, 0.9)]
    dates, pairs, text = table(runs, ["dates", "100 pairs", "plain text"]).rows
    assert dates[2:] == ("90.0\N{NO-BREAK SPACE}%", MISSING, MISSING, MISSING, "1.0", MISSING)
    assert pairs[2] == pairs[4] == MISSING
    assert pairs[3] == "90.0\N{NO-BREAK SPACE}% (characters); missing: without renaming"
    assert set(text[2:]) == {MISSING}


@pytest.mark.parametrize("kind", ["dates", "tagged words", "100 pairs"])
def test_generated_files(kind, tmp_path):
    write_files(kind, tmp_path, tmp_path / "absent")
    assert all((tmp_path / part).read_text(encoding="utf-8").strip() for part in PARTS)


def test_only_the_files_of_a_kind_are_read(tmp_path):
    (tmp_path / "sigmorphon2020-g2p").mkdir()
    for part in ("train", "dev", "test"):
        with lzma.open(
            tmp_path / "sigmorphon2020-g2p" / f"dut_{part}.tsv.xz", "wt", encoding="utf-8"
        ) as file:
            file.write(f"{part}\tp a r t\n")
    write_files("spelling to phones", tmp_path / "made", tmp_path)
    assert (tmp_path / "made" / "valid").read_text(encoding="utf-8") == "dev\tp a r t\n"
    with pytest.raises(DataError, match=r"TREC.*needed for 'labelled texts'.*--data"):
        write_files("labelled texts", tmp_path / "texts", tmp_path)


def test_models_are_evaluated_on_the_device_of_training():
    assert device_of([]) == "auto"
    assert device_of(["training.seed=2", "training.device=cuda", "training.device=cpu"]) == "cpu"


def test_a_training_goes_on_and_is_evaluated_on_its_device(tmp_path, monkeypatch):
    commands = []

    def run_regard(arguments, threads):
        commands.append([*arguments])
        return json.dumps({"train_seconds": 90.0, "accuracy": 0.5, "macro_f1": 0.4})

    monkeypatch.setattr(defaults, "run_regard", run_regard)
    run = defaults.measure("tagged words", DEFAULT, tmp_path, ["training.device=cuda"], 1)
    assert run == Run("tagged words", DEFAULT, {"accuracy": 0.5}, {"accuracy": 0.5}, 1.5)
    train, valid, test = commands
    assert "--resume" in train
    assert train[-2:] == ["--set", "training.device=cuda"]
    for evaluate, part in ((valid, "valid"), (test, "test")):
        assert evaluate[2] == f"{tmp_path}/{part}"
        assert evaluate[evaluate.index("--device") + 1] == "cuda"


def test_a_failed_run_does_not_stop_the_others_and_finished_ones_stay(tmp_path, monkeypatch, capsys):
    measured = []

    def measure(kind, name, folder, options, threads):
        measured.append(name)
        if name == "b":
            raise RegardError("out of memory")
        return Run(kind, name, {"bleu": 20.0}, {"bleu": 21.0}, 1.0)

    monkeypatch.setitem(KINDS, "dates", Kind(KINDS["dates"].read, ("bleu",), {"a": (), "b": ()}))
    monkeypatch.setattr(defaults, "measure", measure)
    monkeypatch.setattr(sys, "argv", ["defaults", str(tmp_path), "--kinds", "dates", "--workers", "2"])
    with pytest.raises(SystemExit, match="1"):
        defaults.main()
    captured = capsys.readouterr()
    assert "dates, b: out of memory" in captured.err
    assert "| 21.0 | 21.0 (a); missing: b | +0.0 % | yes |" in captured.out
    assert sorted(measured) == ["a", "b", DEFAULT]
    assert len((tmp_path / RESULTS).read_text().splitlines()) == 2
    with pytest.raises(SystemExit, match="1"):
        defaults.main()
    assert measured[3:] == ["b"]


def test_the_table_of_nothing_yet(tmp_path):
    command = [sys.executable, "-m", "benchmarks.defaults", str(tmp_path), "--table", "--kinds", "dates"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr
    assert "| dates | exact match | missing |" in done.stdout


def test_every_kind_has_something_to_compare_with():
    assert len(KINDS) == 10
    assert all(kind.by_hand and DEFAULT not in kind.by_hand for kind in KINDS.values())
