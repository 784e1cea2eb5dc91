"""The description of a recurrence: a value, with a name, and a state by its parts."""

from dataclasses import FrozenInstanceError, replace

import pytest
import torch

from regard.layers import CELLS
from regard.ops import Read, Recurrence, definitions
from regard.ops.by_hand import steps as by_hand
from regard.ops.recurrence import BLOCKS, parts_of

SOURCE = Read("additive", "previous state", "gates")
FEEDING = Read("dot", "new state", "readout")
PAST = Read("additive", "last read", "state")
NAMES = {
    "lstm": Recurrence("lstm"),
    "attending gru": Recurrence("gru", SOURCE),
    "input feeding lstm": Recurrence("lstm", FEEDING),
    "lstmn": Recurrence("lstm-plain", past=PAST),
    "self-attentive rnn, read": Recurrence("rnn", past=PAST),
    "self-attentive rnn, sum": Recurrence("rnn", past=replace(PAST, asks="new state")),
    "self-attentive rnn, sum-keep": Recurrence("rnn", past=replace(PAST, asks="new state"), keeps=True),
    "deep fusion": Recurrence("lstm", Read("dot", "last read", "memory"), PAST),
}


@pytest.mark.parametrize("name", NAMES)
def test_what_it_is_called(name):
    assert NAMES[name].name == name


def test_it_is_a_value():
    assert len({Recurrence("gru", SOURCE), Recurrence("gru", replace(SOURCE)), Recurrence("gru")}) == 2
    with pytest.raises(FrozenInstanceError):
        Recurrence("gru").cell = "lstm"


def test_a_state_by_its_parts():
    h, c, s, reading, fed, keys, values, memories = (torch.full((1, 1), float(k)) for k in range(8))
    valid = torch.ones(1, 1, dtype=torch.bool)
    given = {
        "lstm": (h, c),
        "attending gru": (h,),
        "input feeding lstm": (h, c, fed),
        "lstmn": (h, c, s, keys, values, memories, valid),
        "self-attentive rnn, sum": (h, s, keys, values, valid),
        "deep fusion": (h, c, s, reading, keys, values, memories, valid),
    }
    wanted = {"c": c, "summary": s, "reading": reading, "fed": fed, "valid": valid}
    for name, state in given.items():
        parts = parts_of(NAMES[name], state)
        assert parts.h is h
        for part, tensor in wanted.items():
            there = any(each is tensor for each in state)
            assert getattr(parts, part) is (tensor if there else None), (name, part)
        assert parts.tapes == tuple(
            each for each in state if any(each is tape for tape in (keys, values, memories))
        )


def test_every_cell_has_a_definition_and_a_layer():
    """``lstm-plain`` is a form of the LSTMN alone."""
    plain = set(BLOCKS) - {"lstm-plain"}
    assert set(definitions.STEPS) == plain
    assert set(by_hand.CELLS) <= set(BLOCKS)
    assert {cell(2, 3).recurrence.cell for cell in CELLS.values()} == plain
    for cell in CELLS.values():
        assert BLOCKS[cell(2, 3).recurrence.cell] == cell.num_gates


def test_a_cell_without_a_derivative_says_so():
    assert by_hand.supports(Recurrence("mut1")) == "it has no derivative of the cell mut1"
    assert by_hand.supports(Recurrence("rnn", replace(SOURCE, energy="other"))) != ""
