"""What begins as a trained language model: the models loaded, and an encoder with one's shape and weights.

In: the folders a run names; an encoder's configuration or the encoder, and a loaded language model. Out: the loaded
models; the configuration with that model's shape; the encoder with its weights, and a sentence for the user. Knows no
task.
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


def load_trained(pretrained: PretrainedEncoderConfig) -> dict[str, LoadedModel]:
    """Load the language models that a run names, each folder once.

    Returns:
        By the half that is to begin as one: encoder and, of a translator, decoder.

    Raises:
        FolderError: a folder holds no language model; the message names the option.
    """
    named = {half.name: getattr(pretrained, half.name) for half in fields(pretrained)}
    loaded: dict[str, LoadedModel] = {}
    for half, folder in named.items():
        if folder and folder not in loaded:
            try:
                loaded[folder] = ModelFolder(folder).load(task="language_model")
            except FolderError as error:
                raise FolderError(f"pretrained.{half}: {error}") from error
    return {half: loaded[folder] for half, folder in named.items() if folder}


def shaped_as(encoder: EncoderConfig, language_model: LanguageModelConfig) -> EncoderConfig:
    """An encoder's configuration with a language model's shape; dropout and directions stay its own."""
    return replace(encoder, **{name: getattr(language_model, name) for name in _SHAPE})


def begin_as(encoder: Encoder, config: EncoderConfig, trained: LoadedModel, folder: str) -> str:
    """Give an encoder a language model's weights.

    A bidirectional encoder reads a sentence backwards too, which the language model never did, and its upper layers
    read both ways at once: it takes the forward direction of the bottom layer, and learns the rest from nothing.

    Args:
        encoder: changed in place.
        config: its configuration, from `shaped_as`.
        trained: the language model.
        folder: where it was read, for the sentence.

    Returns:
        What was taken over, in a sentence.

    Raises:
        ConfigError: a shape does not fit.
    """
    carry_over(trained.model, encoder, num_layers=1 if config.bidirectional else None)
    layers = "1 layer" if config.num_layers == 1 else f"{config.num_layers} layers"
    shape = f"{layers} of {config.cell} with {config.state_size} units, words {config.embedding_size} wide"
    taken = "begins with its weights"
    if config.bidirectional:
        bottom = "" if config.num_layers == 1 else " of its bottom layer"
        taken = f"begins, in the forward direction{bottom} only, with its weights"
    return f"the encoder takes the shape of {folder} ({shape}) and its vocabulary, and {taken}"


def unknown_to(folder: str, texts: Iterable[Sequence[int]]) -> tuple[str, ...]:
    """A sentence about the words that a language model's vocabulary lacks; none where it lacks none.

    Args:
        folder: of the language model, for the sentence.
        texts: the ids of what is learnt from.
    """
    unknown, count = 0, 0
    for ids in texts:
        unknown += sum(one == UNK for one in ids)
        count += len(ids)
    if not unknown:
        return ()
    share = f"{100 * unknown / count:.3g}\N{NO-BREAK SPACE}%"
    return (f"{share} of the words are unknown to {folder} and read as one unknown word",)
