import json
import shutil

import pytest

from regard.config import merge
from regard.inference.shortlist import Shortlist
from regard.tasks.translate.predictor import Translator
from regard.training.configure import configure
from regard.training.run import run_training


@pytest.fixture
def listed(model, tmp_path):
    """A copy of the model to learn a shortlist for."""
    return shutil.copytree(model, tmp_path / "listed")


def test_is_made_and_used(regard, listed, data):
    ended = regard("shortlist", listed, "--train", data / "test.src", "--train", data / "test.tgt")
    assert (ended.status, ended.err) == (0, "")
    first, second = ended.out.splitlines()
    assert first == f"{listed}/shortlist.safetensors, made from 12 pairs"
    assert second.startswith("a sentence chooses among ")
    assert second.endswith("they cover 100.00 % of the tokens of 12 references, and all of 100.0 % of these")
    text = (data / "test.src").read_text()
    found = Translator.load(listed, shortlist=True).translate(text.splitlines())
    assert regard("translate", listed, "--shortlist", stdin=text).out.splitlines() == [
        each.text for each in found
    ]


def test_nothing_else_is_chosen(regard, listed, data):
    """One target word per source word, and no others: nothing else is ever chosen."""
    regard("shortlist", listed, "--train", data / "test.tsv", "--per-word", "1", "--frequent", "0")
    translator = Translator.load(listed, shortlist=True)
    for line in ("a", "b b c", "e d"):
        allowed = translator.shortlist.words_for(translator.source_tokenizer.encode(line))
        (found,) = translator.translate([line], n_best=5)
        for each in (found, *found.alternatives):
            ids = [translator.target_tokenizer.token_to_id(token) for token in each.tokens]
            assert set(ids) <= set(allowed.tolist())
    assert len(allowed) < translator.target_tokenizer.size


def test_required_words_are_added_to_it(regard, listed, data):
    regard("shortlist", listed, "--train", data / "test.tsv", "--per-word", "1", "--frequent", "0")
    ended = regard("translate", listed, "--shortlist", "--include", "E D", "--prefix", "B", stdin="a\nc\n")
    assert ended.status == 0
    for line in ended.out.splitlines():
        assert line.startswith("B")
        assert "E D" in line


def test_a_model_that_copies_has_none(regard, tiny, data, tmp_path):
    copying = merge(
        tiny, {"model": {"decoder": {"copy": True}}, "training": {"max_updates": 1, "validate_every": 1}}
    )
    run_training(
        tmp_path / "copying", configure(copying), train=[("a b", "b"), ("b c", "c"), ("c a", "a")] * 10
    )
    ended = regard("shortlist", tmp_path / "copying", "--train", data / "test.tsv")
    assert ended.status == 2
    assert "the decoder copies from the source" in ended.err
    assert "leave the shortlist out" in ended.err


def test_json_and_a_test_set(regard, listed, data):
    (data / "hard.tsv").write_text("a\tA zebra\n")
    flags = [
        "--train",
        data / "test.tsv",
        "--test",
        data / "hard.tsv",
        "--frequent",
        "0",
        "--per-word",
        "1",
        "--json",
    ]
    coverage = json.loads(regard("shortlist", listed, *flags).out)
    assert coverage["num_pairs"] == 1
    assert coverage["pairs"] == 12
    assert 0 <= coverage["covered_tokens"] <= 1
    assert coverage["mean_size"] < coverage["target_size"] == 9
    assert Shortlist.load(listed, 9, 9).facts == {"pairs": 12, "per_word": 1, "frequent": 0}


def test_bad_input(regard, listed, fixed_model, data):
    ended = regard("shortlist", fixed_model, "--train", data / "test.tsv")
    assert (ended.status, "this model has no attention" in ended.err) == (2, True)
    ended = regard("shortlist", listed, *["--train", data / "test.tsv"] * 3)
    assert (ended.status, "--train: 3 files; give one tab-separated file" in ended.err) == (2, True)
    assert not (listed / "shortlist.safetensors").exists()
