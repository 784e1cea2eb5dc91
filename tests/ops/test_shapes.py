"""The shapes in signatures are checked at every call of a test run, and cost nothing elsewhere."""

import runpy
import sys

import pytest
import torch
from jaxtyping import TypeCheckError

from regard.layers import GRU, Bilinear
from regard.ops import shapes
from regard.ops.attention import additive_energies, masked_softmax
from regard.ops.gru import gru_sequence, gru_step
from regard.ops.lstm import lstm_sequence
from regard.ops.maxout import maxout


def _gru_weights(rows: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    return torch.zeros(rows, 5), torch.zeros(rows, 4), torch.zeros(rows)


INPUTS, MASK, START = torch.zeros(2, 3, 5), torch.ones(2, 3, dtype=torch.bool), (torch.zeros(2, 4),)

WRONG = {
    "two batches": lambda: additive_energies(torch.zeros(2, 1, 3), torch.zeros(1, 4, 3), torch.zeros(3)),
    "a mask of numbers": lambda: masked_softmax(torch.zeros(2, 1, 3), torch.ones(2, 3)),
    "ids for floats": lambda: maxout(torch.zeros(2, 4, dtype=torch.long)),
    "four gates for a GRU": lambda: gru_sequence(INPUTS, MASK, START, *_gru_weights(16)),
    "three gates for an LSTM": lambda: lstm_sequence(INPUTS, MASK, START * 2, *_gru_weights(12)),
    "a state of another batch": lambda: gru_sequence(INPUTS, MASK, (torch.zeros(1, 4),), *_gru_weights(12)),
    "a wide state, stepping": lambda: gru_step(torch.zeros(2, 12), (torch.zeros(2, 5),), torch.zeros(12, 4)),
    "a mask for other states": lambda: gru_sequence(
        INPUTS, MASK, START, *_gru_weights(12), state_mask=torch.ones(2, 5)
    ),
    "a layer's keys": lambda: Bilinear(4, 6).energies(torch.zeros(2, 1, 4), torch.zeros(2, 3, 6)),
    "a layer's mask": lambda: GRU(5, 4)(INPUTS, MASK[:, :2], START),
}


@pytest.mark.parametrize("call", WRONG.values(), ids=WRONG.keys())
def test_a_wrong_shape_is_refused_at_the_door(call):
    with pytest.raises(TypeCheckError):
        call()


def test_without_jaxtyping_an_annotation_is_the_plain_tensor(monkeypatch):
    monkeypatch.setitem(sys.modules, "jaxtyping", None)
    alone = runpy.run_path(shapes.__file__)
    for kind in ("Float", "Bool", "Int"):
        assert alone[kind][torch.Tensor, "B T"] is torch.Tensor
