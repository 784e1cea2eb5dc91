import pytest
import torch
from benchmarks.recurrences import TIMED, Timing, measure, passes, table

from benchmarks import recurrences
from regard.errors import RegardError


@pytest.mark.parametrize("cell", TIMED)
def test_each_cell_is_timed_by_both_paths(cell):
    found = measure(cell, (3, 4, 5), rounds=1)
    assert found.cell == cell
    assert min(found.torch, found.native, found.ratio) > 0


def test_paths_that_do_not_agree_are_not_timed(monkeypatch):
    wrong = iter(([torch.zeros(2)], [torch.ones(2)]))
    monkeypatch.setattr(recurrences, "passes", lambda *_: lambda: next(wrong))
    with pytest.raises(RegardError, match="rnn at"):
        measure("rnn", (3, 4, 5), rounds=1)


def test_every_parameter_has_a_gradient():
    assert len(passes("lstmn", (3, 4, 5))()) == 1 + 6  # inputs; W, U, b, S, U_a, v_a


def test_the_table():
    (row,) = table([Timing("rnn", (1, 2, 3), 4.04, 2.0, 2.02)]).rows
    assert row == ["rnn", "1", "2", "3", "4.0", "2.0", "2.02"]
