"""The grid agrees with the code: what it calls legal can be built, and a refusal has the message of the check."""

import pytest
import torch

from regard.layers import CELLS, ENERGIES, GRU, PointerGenerator
from regard.models import DecoderConfig
from regard.models.grid import (
    OWN_PAST,
    Combination,
    attention_combinations,
    attention_groups,
    attention_options,
    cell_combinations,
    paper_of,
    papers,
    roles,
)
from regard.tasks import TASKS

SIZES = {"source": 9, "target": 9, "text": 9, "labels": 3, "features": 2}


def built(configured):
    ((task, mapping),) = configured.items()
    return TASKS[task].build(TASKS[task].model_config().from_mapping(mapping, "model"), SIZES)


def test_every_combination_is_there_once():
    cells = [(tried.row, tried.column) for tried in cell_combinations()]
    assert len(set(cells)) == len(cells) == len(CELLS) * len(roles())
    assert set(DecoderConfig.variants) < set(roles())
    attentions = [(tried.group, tried.row, tried.column) for tried in attention_combinations()]
    assert len(set(attentions)) == len(attentions)
    assert {group for group, _, _ in attentions} == {
        "bahdanau",
        "luong",
        "deep-fusion",
        "hard-monotonic",
        OWN_PAST,
    }


@pytest.mark.parametrize("cell", CELLS)
def test_what_is_legal_can_be_built(cell):
    for tried in cell_combinations():
        if tried.row == cell and tried.legal:
            model = built(roles()[tried.column](cell))
            assert any(type(module) is CELLS[cell] for module in model.modules()), tried


@pytest.mark.parametrize("energy", ENERGIES)
def test_every_legal_attention_can_be_built(energy):
    kind, places = ENERGIES[energy], attention_groups()
    for tried in attention_combinations():
        if tried.row == energy and tried.legal:
            table = {"energy": energy, **attention_options()[tried.column]}
            model = built(places[tried.group](table))
            assert any(type(module) is kind for module in model.modules()), tried
            assert any(isinstance(module, PointerGenerator) for module in model.modules()) == (
                tried.column == "copy"
            )


def test_known_combinations():
    refusals = {(tried.group, tried.row, tried.column): tried.refusal for tried in attention_combinations()}
    assert refusals["bahdanau", "additive", "coverage"] == ""
    assert "cannot include coverage" in refusals["luong", "dot", "coverage"]
    assert "has one head" in refusals["bahdanau", "bilinear", "heads"]
    assert refusals["luong", "qkv", "heads"] == ""
    for group in ("bahdanau", "luong", "deep-fusion", "hard-monotonic", OWN_PAST):
        for option in attention_options():
            general, bilinear = (refusals[group, name, option] for name in ("general", "bilinear"))
            assert general.replace("general", "bilinear") == bilinear
    assert refusals["bahdanau", "additive", "copy"] == refusals["luong", "dot", "copy"] == ""
    assert "no option 'copy'" in refusals["hard-monotonic", "additive", "copy"]
    assert "passed" in refusals["hard-monotonic", "additive", "local-m"]
    assert "not their projections" in refusals["hard-monotonic", "qkv", "plain"]
    in_roles = {(tried.row, tried.column): tried.refusal for tried in cell_combinations()}
    assert in_roles["lstmn", "deep-fusion"] == ""
    assert "lstmn" in in_roles["gru", "deep-fusion"]


def test_an_added_cell_is_in_the_grid(monkeypatch):
    class Own(GRU):
        """A cell (Smith & Jones 2031)."""

    monkeypatch.setitem(CELLS, "own", Own)
    assert all(
        tried.legal for tried in cell_combinations() if tried.row == "own" and tried.column != "deep-fusion"
    )
    assert papers()["cells"]["own"] == "Smith & Jones 2031"


def test_every_named_part_has_its_paper():
    named = papers()
    for kind in ("cells", "decoders", "energies"):
        assert all(named[kind].values()), named[kind]
    assert named["cells"]["lstm"] == "Hochreiter & Schmidhuber 1997"
    assert named["cells"]["rnn-sum"] == "Cheng et al. 2016"  # from its base class
    assert named["windows"] == {"global": "", "local-m": "Luong et al. 2015", "local-p": "Luong et al. 2015"}
    assert named["copying"] == {"copy": "See et al. 2017"}
    assert named["decoders"]["hard-monotonic"] == "Wu & Cotterell 2019"
    assert named["normalizers"]["sparsemax"] == "Martins & Astudillo 2016"
    assert paper_of(torch.nn.Linear(1, 1)) == ""


def test_json():
    assert Combination("gru", "tagger", "", "").to_json() == {
        "cell": "gru",
        "role": "tagger",
        "legal": True,
        "refusal": "",
    }
    assert Combination("dot", "heads", "luong", "no").to_json() == {
        "energy": "dot",
        "on": "luong",
        "with": "heads",
        "legal": False,
        "refusal": "no",
    }
