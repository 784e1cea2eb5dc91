"""A translator's halves begin as language models: their weights, their tokenizers, and what does not fit."""

import pytest
import torch

from regard.checkpoint import ModelFolder
from regard.config import merge
from regard.errors import ConfigError, FolderError
from regard.models import Seq2Seq
from regard.tasks import prepare_task
from regard.training.configure import configure
from regard.training.run import run_training


@pytest.fixture(scope="module")
def lms(tmp_path_factory):
    """A language model of each side."""
    folder = tmp_path_factory.mktemp("lms")
    lines = ["a b c d e", "b a", "e d c", "c c a b", "x e x"] * 5  # x is in no pair
    config = {
        "task": "language_model",
        "model": {"cell": "gru", "embedding_size": 4, "state_size": 4, "dropout": 0.0},
        "training": {"max_updates": 3, "max_epochs": 0.0, "device": "cpu", "batch_sentences": 8},
    }
    for name, text in (("source", lines), ("target", [line.upper() for line in lines])):
        run_training(folder / name, configure(config), train=text, valid=text[:4])
    return folder


@pytest.fixture
def task(run_config, pairs):
    def build(pretrained, **over):
        plain = {"encoder": {"bidirectional": False}, "decoder": {"state_size": 4}}
        config = run_config(pretrained=pretrained, model=merge(plain, over))
        made = prepare_task(config, pairs(40), pairs(10, seed=1))
        torch.manual_seed(1)
        made.build()
        return made

    return build


def same(module, trained, names):
    return all(torch.equal(module.get_parameter(name), trained.get_parameter(name)) for name in names)


def test_both_halves_begin_as_language_models(task, lms):
    folders = {"encoder": str(lms / "source"), "decoder": str(lms / "target")}
    made = task(folders)
    names = ["embedding.E", *(f"stack.cells.0.{name}" for name in "WUb")]
    for part, side in (("encoder", "source"), ("decoder", "target")):
        loaded = ModelFolder(folders[part]).load(task="language_model")
        assert same(getattr(made.model, part), loaded.model, names)
        # ids mean what they meant to the language model
        assert made.tokenizers[side].size == 10
        assert made.tokenizers[side].tokens(range(10)) == loaded.tokenizers["text"].tokens(range(10))
    assert made.notes[-2:] == (
        f"the encoder begins as {lms / 'source'}: its embedding and recurrent layers",
        f"the decoder begins as {lms / 'target'}: its embedding and recurrent layers",
    )


def test_one_folder_is_loaded_once(task, lms, monkeypatch):
    """For both halves, its tokenizer and its weights; the halves then share nothing but where they began."""
    read = []
    real = ModelFolder.load
    monkeypatch.setattr(
        ModelFolder, "load", lambda self, *a, **k: read.append(self.path) or real(self, *a, **k)
    )
    made = task({"encoder": str(lms / "source"), "decoder": str(lms / "source")})
    assert read == [lms / "source"]
    assert made.tokenizers["source"] is made.tokenizers["target"]
    assert torch.equal(made.model.encoder.embedding.E, made.model.decoder.embedding.E)
    assert made.model.encoder.embedding.E.data_ptr() != made.model.decoder.embedding.E.data_ptr()


def test_one_half_leaves_the_other_as_it_was_drawn(task, lms):
    plain, made = task({}), task({"decoder": str(lms / "target")})
    torch.manual_seed(1)
    drawn = Seq2Seq(made.config.model, made.sizes["source"], made.sizes["target"])
    for name, parameter in drawn.encoder.named_parameters():
        assert torch.equal(parameter, made.model.encoder.get_parameter(name))
    assert not torch.equal(drawn.decoder.embedding.E, made.model.decoder.embedding.E)
    # its tokenizer is taken over, the other one learnt
    trained = ModelFolder(str(lms / "target")).load(task="language_model").tokenizers["text"].tokens(range(9))
    assert made.tokenizers["target"].tokens(range(9)) == trained
    assert plain.tokenizers["target"].tokens(range(9)) != trained
    assert made.tokenizers["source"].tokens(range(9)) == plain.tokenizers["source"].tokens(range(9))
    assert plain.notes == ()
    assert len(made.notes) == 1


def test_a_bidirectional_encoder_takes_its_forward_direction(task, lms):
    made = task({"encoder": str(lms / "source")}, encoder={"bidirectional": True, "num_layers": 2})
    trained = ModelFolder(str(lms / "source")).load(task="language_model").model
    forward = made.model.encoder.stack.forward_layers[0].layers[0]
    assert torch.equal(forward.W, trained.stack.layers[0].W)
    assert "bottom layer's forward direction" in made.notes[-1]


def test_misfits_say_what_to_set(task, lms, tmp_path):
    source = {"encoder": str(lms / "source")}
    wrong = {"cell": "lstm", "state_size": 6, "num_layers": 2}
    with pytest.raises(ConfigError) as told:
        task(source, encoder=wrong)
    for option in (
        'model.encoder.cell = "gru"',
        "model.encoder.state_size = 4",
        "model.encoder.num_layers = 1",
    ):
        assert option in str(told.value)
    assert "embedding_size" not in str(told.value)
    with pytest.raises(
        ConfigError, match=r"pretrained.decoder: .* other sizes .*set model.decoder.state_size = 4"
    ):
        task({"decoder": str(lms / "target")}, decoder={"state_size": 8})
    with pytest.raises(ConfigError, match=r"model.encoder.reverse .*read the other way"):
        task(source, encoder={"reverse": True})
    sizes = {"embedding_size": 4, "state_size": 4}
    halves = {"encoder": sizes, "decoder": {**sizes, "kind": "sutskever"}}
    shared = {"tokenizer": {"shared": True}, "model": {"tie": "all", **halves}}
    with pytest.raises(ConfigError, match=r"model.tie = .all. .*name the same one"):
        configure({**shared, "pretrained": {"encoder": "language_model"}}, preset="sutskever-small")
    with pytest.raises(ConfigError, match=r"a cho decoder reads .*choose bahdanau, luong or sutskever"):
        configure({"model": {"decoder": {"kind": "cho"}}, "pretrained": {"decoder": "language_model"}})
    with pytest.raises(
        ConfigError, match=r"set model.encoder.num_layers = 1, model.encoder.residual = false"
    ):
        task(source, encoder={"num_layers": 2, "residual": True})
    with pytest.raises(FolderError, match="no such model folder"):
        task({"encoder": str(tmp_path / "none")})
