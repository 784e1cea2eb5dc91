"""The grid says what the code does: what it calls legal can be built, and what it refuses has the code's own reason."""

import pytest
import torch

from regard.layers import CELLS, ENERGIES, GRU
from regard.models import DecoderConfig
from regard.models.grid import (
    OWN_PAST,
    Square,
    attending,
    attention_options,
    attention_squares,
    cell_squares,
    paper_of,
    papers,
    roles,
)
from regard.tasks import TASKS

SIZES = {"source": 9, "target": 9, "text": 9, "labels": 3, "features": 2}


def built(configured):
    ((task, mapping),) = configured.items()
    return TASKS[task].build(TASKS[task].model_config().from_mapping(mapping, "model"), SIZES)


def test_every_square_is_there_once():
    cells = [(square.row, square.column) for square in cell_squares()]
    assert len(set(cells)) == len(cells) == len(CELLS) * len(roles())
    assert set(DecoderConfig.variants) < set(roles())
    attentions = [(square.group, square.row, square.column) for square in attention_squares()]
    assert len(set(attentions)) == len(attentions)
    assert {group for group, _, _ in attentions} == {"bahdanau", "luong", "deep-fusion", OWN_PAST}


@pytest.mark.parametrize("cell", CELLS)
def test_what_is_legal_can_be_built(cell):
    for square in cell_squares():
        if square.row == cell and square.legal:
            model = built(roles()[square.column](cell))
            assert any(type(module) is CELLS[cell] for module in model.modules()), square


@pytest.mark.parametrize("energy", ENERGIES)
def test_every_legal_attention_can_be_built(energy):
    kind, places = ENERGIES[energy], attending()
    for square in attention_squares():
        if square.row == energy and square.legal:
            table = {"energy": energy, **attention_options()[square.column]}
            model = built(places[square.group](table))
            assert any(type(module) is kind for module in model.modules()), square


def test_what_is_known_of_some():
    found = {(square.group, square.row, square.column): square.refusal for square in attention_squares()}
    assert found["bahdanau", "additive", "coverage"] == ""
    assert "has no tanh for it to join" in found["luong", "dot", "coverage"]
    assert "has one head" in found["bahdanau", "bilinear", "heads"]
    assert found["luong", "qkv", "heads"] == ""
    in_roles = {(square.row, square.column): square.refusal for square in cell_squares()}
    assert in_roles["lstmn", "deep-fusion"] == ""
    assert "lstmn" in in_roles["gru", "deep-fusion"]


def test_a_cell_of_one_s_own_is_met(monkeypatch):
    class Own(GRU):
        """Mine (Nobody & Noone 2031)."""

    monkeypatch.setitem(CELLS, "own", Own)
    assert all(
        square.legal for square in cell_squares() if square.row == "own" and square.column != "deep-fusion"
    )
    assert papers()["cells"]["own"] == "Nobody & Noone 2031"


def test_every_named_part_has_its_paper():
    named = papers()
    for kind in ("cells", "decoders", "energies"):
        assert all(named[kind].values()), named[kind]
    assert named["cells"]["lstm"] == "Hochreiter & Schmidhuber 1997"
    assert named["cells"]["rnn-sum"] == "Cheng et al. 2016"  # from what it inherits from
    assert named["windows"] == {"global": "", "local-m": "Luong et al. 2015", "local-p": "Luong et al. 2015"}
    assert named["normalizers"]["sparsemax"] == "Martins & Astudillo 2016"
    assert paper_of(torch.nn.Linear(1, 1)) == ""


def test_json():
    assert Square("gru", "tagger", "", "").to_json() == {
        "cell": "gru",
        "role": "tagger",
        "legal": True,
        "refusal": "",
    }
    assert Square("dot", "heads", "luong", "no").to_json() == {
        "energy": "dot",
        "on": "luong",
        "with": "heads",
        "legal": False,
        "refusal": "no",
    }
