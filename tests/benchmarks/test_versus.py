"""Two checkouts side by side, the second of them this one again."""

import json
from pathlib import Path

import pytest
from benchmarks.interleave import Spread
from benchmarks.versus import Checkout, Rounds, compare, ratio, versus_section

from benchmarks import __main__ as command
from regard.errors import RegardError

ROOT = Path(__file__).resolve().parents[2]


def result(update, batch=1.0, single=0.5, translations=("a b",)):
    return {
        "update_seconds": [9 * update, update, update],
        "batch_seconds": [batch],
        "single_seconds": [single],
        "translations": [*translations],
    }


def test_a_ratio_is_the_median_of_the_ratios_within_a_round():
    rounds = Rounds([result(1), result(4), result(6)], [result(2), result(4), result(2)])
    assert ratio(rounds, "update_seconds") == Spread(1, 0.5, 3)
    section = versus_section({"toy": rounds}, Checkout(ROOT), Checkout(ROOT))
    (table,) = section.tables
    assert table.caption == "toy: 3 rounds; all translations are equal."
    assert table.rows[0][1:] == [
        "4,000.0 (1,000.0–6,000.0)",
        "2,000.0 (2,000.0–4,000.0)",
        "1.000 (0.500–3.000)",
    ]
    assert table.rows[2][1:] == ["500.0", "500.0", "1.000"]
    assert section.numbers["toy"]["ratio"]["update_seconds"] == 1


def test_each_update_is_compared_with_its_own_counterpart():
    """Updates differ in size: what delays one of them would make the median that of another batch."""
    first, second = result(1), result(1)
    first["update_seconds"], second["update_seconds"] = [0.9, 1.8, 2.7, 9.0, 0.45], [1.0, 2.0, 3.0, 1.0, 0.5]
    assert ratio(Rounds([first], [second]), "update_seconds").median == pytest.approx(0.9)


def test_other_translations_are_counted():
    rounds = Rounds([result(1, translations=("a", "b"))], [result(1, translations=("a", "c"))])
    (table,) = versus_section({"toy": rounds}, Checkout(ROOT), Checkout(ROOT)).tables
    assert table.caption == "toy: 1 rounds; 1 of 2 translations are equal."


def test_a_checkout_compared_with_itself_gives_the_same_translations(toy, monkeypatch):
    monkeypatch.setattr("benchmarks.versus.BATCH", 2)
    logged = []
    this, other = Checkout(ROOT, ["training.label_smoothing=0"]), Checkout(ROOT)
    rounds = compare(toy, this, other, rounds=1, threads=1, search_batches=1, single=2, log=logged.append)
    assert logged == [f"toy, round 1 of 1: {name} ({ROOT})" for name in ("this", "other")]
    (first,), (second,) = rounds.this, rounds.other
    assert len(first["update_seconds"]) == toy.updates - toy.warmup - 1
    assert (len(first["batch_seconds"]), len(first["single_seconds"])) == (1, 2)
    assert first["translations"] == second["translations"]
    assert len(first["translations"]) == 4
    json.dumps(versus_section({"toy": rounds}, this, other).numbers)


def test_a_folder_that_is_not_a_checkout_is_named(toy, tmp_path):
    with pytest.raises(RegardError, match=f"{tmp_path}: not a checkout of Regard"):
        compare(toy, Checkout(ROOT), Checkout(tmp_path), rounds=1, threads=1, log=str)


def test_the_error_of_a_checkout_is_quoted(toy):
    this = Checkout(ROOT, ["training.no_such_option=1"])
    with pytest.raises(RegardError, match="no_such_option"):
        compare(toy, this, Checkout(ROOT), rounds=1, threads=1, log=str)


def test_the_command_needs_the_other_checkout(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["benchmarks", "versus"])
    with pytest.raises(SystemExit, match="2"):
        command.main()
    assert "name its folder: versus CHECKOUT" in capsys.readouterr().err


def test_the_command_line_has_options_for_each_checkout():
    arguments = [
        "versus",
        "/other",
        "--other-option",
        "training.rate=0.1",
        "--this-option",
        "training.seed=2",
    ]
    options = command.read_options(command.build_parser().parse_args(arguments))
    assert options.other == Checkout(Path("/other"), ["training.rate=0.1"])
    assert options.this == Checkout(ROOT, ["training.seed=2"])
    assert options.rounds == 5
