"""Encoders that start from a language model: its shape, its weights; a bidirectional one takes one direction."""

import pytest
import torch

from regard.checkpoint import ModelFolder
from regard.errors import ConfigError, FolderError
from regard.layers import Embedding
from regard.models import EncoderConfig, LanguageModelConfig
from regard.models.encoder import Encoder
from regard.tasks import prepare_task
from regard.tasks.pretrained import initialize_encoder, match_shape
from regard.training.configure import configure

OWN = {"dropout": 0.2, "recurrent_dropout": 0.1, "variational": True}
DATA = {
    "classify": [("x", "a b"), ("y", "c d"), ("x", "e f")],
    "tag": [("a b", "x y"), ("c d", "y x")],
}


def test_the_shape_is_taken_and_the_rest_kept():
    trained = LanguageModelConfig(cell="gru", embedding_size=3, state_size=5, num_layers=2, residual=True)
    encoder = match_shape(EncoderConfig(cell="rnn", bidirectional=False, **OWN), trained)
    wanted = EncoderConfig(
        cell="gru", embedding_size=3, state_size=5, num_layers=2, residual=True, bidirectional=False, **OWN
    )
    assert encoder == wanted


def test_the_memory_is_part_of_the_shape():
    memory = {"energy": "dot", "span": 3}
    trained = LanguageModelConfig.from_mapping({"cell": "lstmn", "memory": memory}, "model")
    assert match_shape(EncoderConfig(), trained).memory == trained.memory
    assert (
        match_shape(EncoderConfig(cell="lstmn", memory=trained.memory), LanguageModelConfig()).memory is None
    )


@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("num_layers", [1, 2])
def test_weights_that_are_taken_and_weights_that_are_not(language_model, bidirectional, num_layers):
    folder = str(language_model(num_layers=num_layers))
    trained = ModelFolder(folder).load()
    config = match_shape(EncoderConfig(bidirectional=bidirectional), trained.model.config)
    encoder = Encoder(config, Embedding(trained.tokenizers["text"].size, config.embedding_size))
    before = {name: value.clone() for name, value in encoder.named_parameters()}
    note = initialize_encoder(encoder, config, trained, folder)
    changed = {name for name, value in encoder.named_parameters() if not torch.equal(value, before[name])}
    assert note.startswith(f"the encoder takes the shape of {folder} (")
    assert "of lstm, 6 units, embeddings of 5" in note
    assert ("in the forward direction" in note) == bidirectional
    assert ("of its bottom layer only" in note) == (bidirectional and num_layers == 2)
    if bidirectional:
        assert changed
        assert all("forward_layers.0" in name for name in changed - {"embedding.E"})
    else:
        assert all(any(f"cells.{k}." in name for name in changed) for k in range(num_layers))
    theirs = dict(trained.model.named_parameters())
    assert torch.equal(encoder.embedding.E, theirs["embedding.E"])


@pytest.mark.parametrize("task", ["classify", "tag"])
def test_a_task_takes_tokenizer_shape_and_weights(language_model, task):
    folder = language_model()
    over = {"model": {"encoder": {"bidirectional": False}}, "pretrained": {"encoder": str(folder)}}
    run = configure({"task": task, **over})
    prepared = prepare_task(run, DATA[task], DATA[task])
    model = prepared.build()
    loaded = ModelFolder(folder).load()
    assert prepared.tokenizers["text"].size == loaded.tokenizers["text"].size == 12
    assert prepared.tokenizers["text"].encode("g h") == loaded.tokenizers["text"].encode("g h")
    assert torch.equal(model.encoder.embedding.E, loaded.model.embedding.E)
    ours, theirs = dict(model.encoder.stack.named_parameters()), dict(loaded.model.stack.named_parameters())
    assert ours.keys() == theirs.keys()
    assert all(torch.equal(ours[name], theirs[name]) for name in ours)
    assert model.config.encoder.state_size == 6
    assert any(note.startswith("the encoder takes the shape of") for note in prepared.notes)


def test_what_an_encoder_cannot_start_from(language_model, tmp_path):
    with pytest.raises(ConfigError, match="reads from the last word to the first"):
        configure(
            {
                "task": "tag",
                "model": {"encoder": {"reverse": True, "bidirectional": False}},
                "pretrained": {"encoder": "language_model"},
            }
        )
    run = configure({"task": "tag", "pretrained": {"encoder": str(language_model("char"))}})
    with pytest.raises(ConfigError, match="kind 'char' splits words into pieces"):
        prepare_task(run, DATA["tag"], DATA["tag"])
    run = configure({"task": "classify", "pretrained": {"encoder": str(tmp_path / "none")}})
    with pytest.raises(FolderError, match="no such model folder"):
        prepare_task(run, DATA["classify"], None)


@pytest.mark.parametrize("task", ["classify", "tag"])
def test_a_note_counts_unknown_words(language_model, task):
    folder = str(language_model())
    over = {"model": {"encoder": {"bidirectional": False}}, "pretrained": {"encoder": folder}}
    strange = {"classify": [("x", "a new"), ("y", "b c")], "tag": [("a new", "x y"), ("b c", "x y")]}
    for data, wanted in (
        (DATA[task], []),
        (strange[task], ["25\N{NO-BREAK SPACE}% of the words are unknown to "]),
    ):
        prepared = prepare_task(configure({"task": task, **over}), data, data)
        prepared.build()
        notes = [note for note in prepared.notes if "unknown word" in note]
        assert notes == [f"{start}{folder} and read as one unknown word" for start in wanted]


def test_what_is_no_language_model_names_the_option(tmp_path):
    run = configure({"task": "classify", "pretrained": {"encoder": str(tmp_path / "none")}})
    with pytest.raises(FolderError, match=r"^pretrained.encoder: .*none.*no such model folder"):
        prepare_task(run, DATA["classify"], None)
