import importlib
import json
import lzma
import sys

import pytest
from benchmarks.decoding import trained_model
from benchmarks.interleave import REGARD, Trial
from benchmarks.quality import VARIANTS, QualityResult, data_file, main, quality_section

from benchmarks import quality
from regard.inference.shortlist import FILE

REFERENCES = ["a b c d e", "f g h i j"]


def trial(name, seconds, single, beam=REFERENCES, greedy=REFERENCES):
    return Trial(name, QualityResult(beam, greedy, seconds, [single, single], 10, 7))


def test_differences_and_ratios_are_to_float32():
    wrong = ["a b c d e", "x x x x x"]
    trials = [trial(REGARD, 2.0, 0.2), trial("int8", 1.0, 0.05, beam=wrong), trial(REGARD, 2.0, 0.2)]
    section = quality_section(trials, REFERENCES, {"mean_size": 12.5, "vocabulary": 4000})
    float32, int8 = section.tables[0].rows
    assert float32 == [REGARD, "100.00 (+0.00)", "100.00 (+0.00)", "100.0%", "1", "1", "200.0", "1"]
    assert int8[0] == "int8"
    assert float(int8[1].split()[0]) < 80
    assert "(-" in int8[1]
    assert int8[2:] == ["100.00 (+0.00)", "50.0%", "2", "2.00", "50.0", "4.00"]
    assert "mean size 12.5, vocabulary 4,000" in section.paragraphs[1]


def test_the_command_trains_the_shortlist_and_measures_every_variant(toy, tmp_path, monkeypatch, capsys):
    data, model = tmp_path / "data", trained_model(toy, tmp_path, threads=1)
    (model / FILE).unlink()
    (model / "best.safetensors").write_bytes((model / "last.safetensors").read_bytes())
    train, valid = toy.corpus.pairs()
    for part, pairs in (("train", train), ("test_2016_flickr", valid)):
        for side, language in enumerate(("de", "en")):
            path = data_file(data, part, language)
            path.parent.mkdir(parents=True, exist_ok=True)
            with lzma.open(path, "wt", encoding="utf-8") as file:
                file.writelines(f"{pair[side]}\n" for pair in pairs)

    def in_process(function, arguments, *, threads):
        module, name = function.split(":")
        result = getattr(importlib.import_module(module), name)(**json.loads(json.dumps(arguments)))
        return {**result, "peak_bytes": 1} if result else {}

    monkeypatch.setattr(quality, "run_in_subprocess", in_process)
    out = tmp_path / "out"
    monkeypatch.setattr(sys, "argv", ["quality", str(model), "--data", str(data), "--out", str(out)])
    main()
    assert (model / FILE).exists()
    printed = capsys.readouterr()
    assert [line.split(" | ")[0][2:] for line in printed.out.splitlines()[-5:]] == [*VARIANTS]
    assert printed.err.splitlines().count(REGARD) == 5
    numbers = json.loads((out / "quality.json").read_text())["numbers"]
    assert numbers["coverage"]["num_pairs"] == toy.corpus.valid
    assert set(numbers["bleu"]) == set(VARIANTS)


def test_a_missing_model_is_one_line_of_error(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["quality", str(tmp_path / "none"), "--data", str(tmp_path)])
    with pytest.raises(SystemExit, match="2"):
        main()
    assert "no such model folder" in capsys.readouterr().err
