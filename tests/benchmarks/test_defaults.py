"""The comparison of the default command with configurations made by hand: splits, shortfall, choice."""

import pytest
from benchmarks.defaults import DEFAULT, KINDS, PARTS, Run, compare, shortfall, split, table, write_files


def test_a_split_shares_no_line_and_repeats_none():
    lines = [f"line {k % 50}" for k in range(100)]
    train, valid, test = split(lines, 10, 5)
    assert (len(train), len(valid), len(test)) == (35, 10, 5)
    assert len({*train, *valid, *test}) == 50
    assert split(lines, 10, 5, train=7)[0] == train[:7]


def test_shortfall_of_scores_and_of_perplexities():
    assert shortfall("dates", 0.9, 1.0) == pytest.approx(0.1)
    assert shortfall("plain text", 110.0, 100.0) == pytest.approx(0.1)
    assert shortfall("plain text", 90.0, 100.0) < 0


def test_the_validation_set_chooses_the_configuration_by_hand():
    runs = [
        Run("dates", DEFAULT, 0.5, 0.5, 1.0),
        Run("dates", "a", valid=0.9, test=0.1, minutes=1.0),
        Run("dates", "b", valid=0.8, test=0.2, minutes=1.0),
    ]
    assert compare("dates", runs)[1].name == "a"
    assert table(runs).rows[0][3].startswith("0.1 (a)")
    worse = [Run("plain text", name, value, value, 1.0) for name, value in ((DEFAULT, 9), ("a", 8), ("b", 7))]
    assert compare("plain text", worse)[1].name == "b"
    assert table(worse).rows[0][5] == "no"  # 9 is more than 3 % above 7


@pytest.mark.parametrize("kind", ["dates", "tagged words", "100 pairs"])
def test_generated_files(kind, tmp_path):
    write_files(kind, tmp_path, tmp_path / "absent")
    assert all((tmp_path / part).read_text(encoding="utf-8").strip() for part in PARTS)


def test_every_kind_has_something_to_compare_with():
    assert len(KINDS) == 10
    assert all(kind.by_hand and DEFAULT not in kind.by_hand for kind in KINDS.values())
