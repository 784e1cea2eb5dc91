"""Fine-tuning: a run that starts from the weights and the vocabulary of a trained model."""

import pytest
import torch

import regard
from regard.checkpoint import ModelFolder
from regard.errors import ConfigError, DataError, FolderError
from regard.text import train_tokenizer

PAIRS = [(f"{a} {b}", f"{b} {a}".upper()) for a in "abcd" for b in "abcd"]
NEWS = [("a z", "Z A"), ("z b", "B Z"), ("b c z", "Z C B"), ("d z", "Z D")] * 2
TEXTS = [("good", "fine film"), ("bad", "poor film"), ("good", "fine plot"), ("bad", "poor plot")] * 2
TAGGED = [("a dog barks", "D N V"), ("the cat sleeps", "D N V")] * 3
SIZES = {"encoder": {"embedding_size": 3, "state_size": 4}}
WORDS = {"tokenizer": {"source": "word", "target": "word"}}
MODEL = {**SIZES, "decoder": {"embedding_size": 3, "state_size": 4, "attention": {"size": 3}}}
STILL = {"training": {"max_updates": 1, "max_epochs": 0, "learning_rate": 0.0, "device": "cpu"}}


def train(folder, examples, config=None, **options):
    """A run that moves no weights; one that starts from a model would sample others than that did."""
    seed = {"seed": 2 if "start_from" in options else 1}
    layers = {**(config or {}), "training": {**STILL["training"], **seed}}
    return regard.train(folder, examples, examples[:2], config=layers, progress=False, **options).folder


def parameters(folder):
    return dict(ModelFolder(folder).load().model.named_parameters())


@pytest.fixture
def translator(tmp_path):
    return train(tmp_path / "old", PAIRS, {**WORDS, "model": MODEL, "preset": "rnnsearch-small"})


def test_a_translator_keeps_its_vocabulary_and_its_shape(tmp_path, translator):
    new = train(tmp_path / "new", NEWS, start_from=translator)
    one, other = parameters(translator), parameters(new)
    assert all(torch.equal(one[name], other[name]) for name in one)
    assert (
        ModelFolder(new)
        .load()
        .tokenizers["source"]
        .difference(ModelFolder(translator).load().tokenizers["source"])
        == ""
    )


def test_a_translator_learns_new_words(tmp_path, translator):
    new = train(tmp_path / "new", NEWS, start_from=translator, options=["training.extend_vocabulary=true"])
    old, grown = ModelFolder(translator).load(), ModelFolder(new).load()
    for side in ("source", "target"):
        before, after = old.tokenizers[side], grown.tokenizers[side]
        assert after.tokens(range(after.size)) == [
            *before.tokens(range(before.size)),
            {"source": "z", "target": "Z"}[side],
        ]
        assert after.decode(after.encode("a z b".upper() if side == "target" else "a z b")).split()[1] in "zZ"
    one, other = parameters(translator), parameters(new)
    for name, tensor in one.items():
        assert torch.equal(other[name][: len(tensor)], tensor)
    assert len(other["encoder.embedding.E"]) == len(one["encoder.embedding.E"]) + 1
    assert other["encoder.embedding.E"][-1].abs().sum() > 0


def test_it_can_be_resumed_without_the_first_model(tmp_path, translator):
    import shutil

    new = train(tmp_path / "new", NEWS, start_from=translator, options=["training.extend_vocabulary=true"])
    shutil.rmtree(translator)
    again = regard.train(new, NEWS, NEWS[:2], resume=True, options=["training.max_updates=3"], progress=False)
    assert again.result.updates == 3


def test_a_classifier_keeps_and_extends_its_labels(tmp_path):
    old = train(tmp_path / "old", TEXTS, {"task": "classify", "model": SIZES, "preset": "classifier"})
    kept = train(tmp_path / "kept", TEXTS[:2], start_from=old)
    assert ModelFolder(kept).load().labels == ("bad", "good")
    with pytest.raises(DataError, match="awful"):
        train(tmp_path / "no", [*TEXTS, ("awful", "dull film")], start_from=old)
    more = train(
        tmp_path / "more",
        [*TEXTS, ("awful", "dull film")],
        start_from=old,
        options=["training.extend_vocabulary=true"],
    )
    assert ModelFolder(more).load().labels == ("bad", "good", "awful")
    one, other = parameters(old), parameters(more)
    assert all(torch.equal(other[name][: len(tensor)], tensor) for name, tensor in one.items())


def test_a_tagger(tmp_path):
    old = train(tmp_path / "old", TAGGED, {"task": "tag", "model": SIZES, "preset": "tagger"})
    new = train(tmp_path / "new", TAGGED[:2], start_from=old)
    one, other = parameters(old), parameters(new)
    assert all(torch.equal(one[name], other[name]) for name in one)


class TestRefused:
    def test_another_size(self, tmp_path, translator):
        with pytest.raises(ConfigError, match=r"model: .* in the model to start from; leave out the options"):
            train(tmp_path / "new", NEWS, start_from=translator, options=["model.encoder.state_size=8"])

    def test_another_task(self, tmp_path, translator):
        with pytest.raises(
            FolderError, match=r"training.start_from: .* a model for translating; name one for"
        ):
            train(tmp_path / "new", TEXTS, start_from=translator, task="classify", preset="classifier")

    def test_no_such_folder(self, tmp_path):
        with pytest.raises(FolderError, match="no such model folder"):
            train(tmp_path / "new", NEWS, start_from=tmp_path / "none")

    def test_nothing_to_extend(self, tmp_path):
        with pytest.raises(ConfigError, match="adds to the vocabulary of a trained model; name its folder"):
            train(tmp_path / "new", NEWS, WORDS, options=["training.extend_vocabulary=true"])

    def test_pieces_of_words(self):
        pieces = train_tokenizer("bpe", ["ab abc"], size=20)
        with pytest.raises(ConfigError, match=r"a vocabulary of pieces of words \(bpe\) cannot be extended"):
            pieces.extended(["xyz"])


def test_characters():
    known = train_tokenizer("char", ["ab"], size=20)
    grown = known.extended(["a cc b d"])
    assert grown.tokens(range(known.size, grown.size)) == ["c", "d"]
    assert grown.decode(grown.encode("a dc")) == "a dc"
