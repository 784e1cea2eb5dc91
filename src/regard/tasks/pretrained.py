"""Encoders that start from a trained language model: its shape, its vocabulary and its weights.

In: the folders a run names; an encoder's configuration, or the encoder. Out: the loaded language models; the
configuration in their shape; the encoder with their weights, and a note for the user. Knows no task.
"""

from collections.abc import Iterable, Sequence
from dataclasses import fields, replace

from regard.checkpoint import LoadedModel, ModelFolder
from regard.errors import FolderError
from regard.models import EncoderConfig, LanguageModelConfig, carry_over
from regard.models.encoder import Encoder
from regard.tasks.config import PretrainedEncoderConfig
from regard.text.specials import UNK

_SHAPE = ("cell", "embedding_size", "state_size", "num_layers", "residual", "memory")


def load_pretrained(pretrained: PretrainedEncoderConfig) -> dict[str, LoadedModel]:
    """Load the language models that a run names, each folder once.

    Returns:
        By the part that starts from it: encoder and, for a translator, decoder.

    Raises:
        FolderError: a folder holds no language model; the message names the option.
    """
    named = {part.name: getattr(pretrained, part.name) for part in fields(pretrained)}
    loaded: dict[str, LoadedModel] = {}
    for part, folder in named.items():
        if folder and folder not in loaded:
            try:
                loaded[folder] = ModelFolder(folder).load(task="language_model")
            except FolderError as error:
                raise FolderError(f"pretrained.{part}: {error}") from error
    return {part: loaded[folder] for part, folder in named.items() if folder}


def match_shape(encoder: EncoderConfig, language_model: LanguageModelConfig) -> EncoderConfig:
    """An encoder's configuration with a language model's shape; dropout and directions stay the encoder's."""
    return replace(encoder, **{name: getattr(language_model, name) for name in _SHAPE})


def initialize_encoder(
    encoder: Encoder, config: EncoderConfig, language_model: LoadedModel, folder: str
) -> str:
    """Copy a language model's weights into an encoder.

    A language model reads forwards only, and the upper layers of a bidirectional encoder read both directions: such
    an encoder takes the forward direction of its bottom layer, and trains the rest from scratch.

    Args:
        encoder: changed in place.
        config: its configuration, from `match_shape`.
        language_model: the trained one.
        folder: its folder, for the note.

    Returns:
        A note for the user: what was copied.

    Raises:
        ConfigError: a shape does not fit.
    """
    carry_over(language_model.model, encoder, num_layers=1 if config.bidirectional else None)
    layers = "1 layer" if config.num_layers == 1 else f"{config.num_layers} layers"
    shape = f"{layers} of {config.cell}, {config.state_size} units, embeddings of {config.embedding_size}"
    copied = "starts from its weights"
    if config.bidirectional:
        bottom = "" if config.num_layers == 1 else " of its bottom layer"
        copied = f"starts, in the forward direction{bottom} only, from its weights"
    return f"the encoder takes the shape of {folder} ({shape}) and its vocabulary, and {copied}"


def note_unknown_words(folder: str, texts: Iterable[Sequence[int]]) -> tuple[str, ...]:
    """A note about the words that a language model's vocabulary lacks; none where it has them all.

    Args:
        folder: of the language model, for the note.
        texts: the ids of the training texts.
    """
    num_unknown, num_words = 0, 0
    for ids in texts:
        num_unknown += sum(token_id == UNK for token_id in ids)
        num_words += len(ids)
    if not num_unknown:
        return ()
    share = f"{100 * num_unknown / num_words:.3g}\N{NO-BREAK SPACE}%"
    return (f"{share} of the words are unknown to {folder} and read as one unknown word",)
