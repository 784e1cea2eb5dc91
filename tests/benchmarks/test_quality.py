import importlib
import json
import lzma
import sys

import pytest
from benchmarks.contest import OURS, Turn
from benchmarks.quality import VARIANTS, Rated, file_of, main, quality_section
from benchmarks.translating import model_of

from benchmarks import quality
from regard.inference.shortlist import FILE

REFERENCES = ["a b c d e", "f g h i j"]


def turn(name, seconds, alone, beam=REFERENCES, greedy=REFERENCES):
    return Turn(name, Rated(beam, greedy, seconds, [alone, alone], 10, 7))


def test_differences_and_ratios_are_to_float32():
    wrong = ["a b c d e", "x x x x x"]
    turns = [turn(OURS, 2.0, 0.2), turn("int8", 1.0, 0.05, beam=wrong), turn(OURS, 2.0, 0.2)]
    section = quality_section(turns, REFERENCES, {"mean_size": 12.5, "vocabulary": 4000})
    ours, int8 = section.tables[0].rows
    assert ours == [OURS, "100.00 (+0.00)", "100.00 (+0.00)", "100.0%", "1", "1", "200.0", "1"]
    assert int8[0] == "int8"
    assert float(int8[1].split()[0]) < 80
    assert "(-" in int8[1]
    assert int8[2:] == ["100.00 (+0.00)", "50.0%", "2", "2.00", "50.0", "4.00"]
    assert "mean size 12.5, vocabulary 4,000" in section.words[1]


def test_the_command_learns_the_shortlist_and_tries_every_variant(toy, tmp_path, monkeypatch, capsys):
    data, model = tmp_path / "data", model_of(toy, tmp_path, threads=1)
    (model / FILE).unlink()
    (model / "best.safetensors").write_bytes((model / "last.safetensors").read_bytes())
    train, valid = toy.corpus.pairs()
    for part, pairs in (("train", train), ("test_2016_flickr", valid)):
        for side, language in enumerate(("de", "en")):
            path = file_of(data, part, language)
            path.parent.mkdir(parents=True, exist_ok=True)
            with lzma.open(path, "wt", encoding="utf-8") as file:
                file.writelines(f"{pair[side]}\n" for pair in pairs)

    def here(function, arguments, *, threads):
        module, name = function.split(":")
        found = getattr(importlib.import_module(module), name)(**json.loads(json.dumps(arguments)))
        return {**found, "peak_bytes": 1} if found else {}

    monkeypatch.setattr(quality, "in_own_process", here)
    out = tmp_path / "out"
    monkeypatch.setattr(sys, "argv", ["quality", str(model), "--data", str(data), "--out", str(out)])
    main()
    assert (model / FILE).exists()
    said = capsys.readouterr()
    assert [line.split(" | ")[0][2:] for line in said.out.splitlines()[-5:]] == [*VARIANTS]
    assert said.err.splitlines().count(OURS) == 5
    numbers = json.loads((out / "quality.json").read_text())["numbers"]
    assert numbers["coverage"]["num_pairs"] == toy.corpus.valid
    assert set(numbers["bleu"]) == set(VARIANTS)


def test_a_model_that_is_not_there_is_said_in_a_line(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["quality", str(tmp_path / "none"), "--data", str(tmp_path)])
    with pytest.raises(SystemExit, match="2"):
        main()
    assert "no such model folder" in capsys.readouterr().err
