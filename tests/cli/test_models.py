"""``regard models``: the grid as it is printed."""

import json

from regard.cli.models import presets_by_part
from regard.layers import CELLS


def test_everything(regard):
    ended = regard("models")
    assert ended.status == 0
    for name in CELLS:
        assert f"\n{name} " in ended.out
    row = next(line for line in ended.out.splitlines() if line.startswith("qkv "))
    assert row.split() == ["qkv", "✓", "✓", "✓", "✓", "·", "✓", "✓"]
    assert "attention: bahdanau, luong\n" in ended.out
    assert "Hochreiter & Schmidhuber 1997" in ended.out


def test_one_alone_with_the_reasons(regard):
    ended = regard("models", "--cell", "gru", "--decoder", "deep-fusion")
    assert ended.status == 0
    assert "· model.decoder.cell = 'gru': deep-fusion is one layer of the cell lstmn" in ended.out
    assert "bahdanau, luong" not in ended.out


def test_as_json(regard):
    found = json.loads(regard("models", "--json").out)
    assert found["parts"]["decoders"]["luong"]["paper"] == "Luong et al. 2015"
    assert "luong-small" in found["parts"]["decoders"]["luong"]["presets"]
    assert {"cell": "gru", "role": "tagger", "legal": True, "refusal": ""} in found["cells"]
    assert any(square["on"] == "own past" and not square["legal"] for square in found["attention"])


def test_no_such_part(regard):
    for option in ("--cell", "--decoder"):
        ended = regard("models", option, "grue")
        assert ended.status == 2
        assert f"{option}: no 'grue'" in ended.err


def test_presets_by_part():
    shown = presets_by_part()
    assert "captioner" in shown["decoders", "cho"]
    assert "rnnsearch-50" in shown["energies", "additive"]
    assert shown["copying", "copy"] == ["pointer-small"]
    assert shown["decoders", "hard-monotonic"] == ["hard-monotonic-small"]
    assert all(len(set(names)) == len(names) for names in shown.values())
