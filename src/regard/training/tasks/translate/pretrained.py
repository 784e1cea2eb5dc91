"""The two halves of a translator begin as trained language models (Ramachandran et al. 2017).

In: a translator with fresh weights, and the loaded language models. Out: the translator with their embeddings and
recurrent layers, and what to tell the user. The tokenizers were taken over before, for the weights know those ids.
Attention, the decoder's start and its output stay as they were drawn. Where a half is made otherwise than its language
model this says what to set, and changes nothing; the tasks of one text take that model's shape, see
`tasks.pretrained`.
"""

from collections.abc import Mapping

from regard.configuration import toml_value
from regard.errors import ConfigError
from regard.folder import LoadedModel
from regard.layers import BidirectionalStack
from regard.models import LanguageModelConfig, Seq2Seq, StackConfig, carry_over
from regard.training.config import PretrainedConfig

_SHARED = ("cell", "embedding_size", "state_size")


def begin_as(
    model: Seq2Seq, trained: Mapping[str, LoadedModel], pretrained: PretrainedConfig
) -> tuple[str, ...]:
    """Start the encoder, the decoder or both from trained language models.

    A bidirectional encoder takes its forward direction alone, and of its bottom layer: the layers above read both
    directions, which no language model did.

    Args:
        model: changed in place.
        trained: the language models by half, encoder and decoder; a half without one stays as it is.
        pretrained: where they were read, for the sentences.

    Returns:
        A sentence for the user for each half.

    Raises:
        ConfigError: cells or sizes do not fit.
    """
    notes = []
    for name, loaded in trained.items():
        folder = getattr(pretrained, name)
        part, config = getattr(model, name), getattr(model.config, name)
        bidirectional = isinstance(part.stack, BidirectionalStack)
        _check(name, folder, config, loaded.model.config, all_layers=not bidirectional)
        carry_over(loaded.model, part, num_layers=1 if bidirectional else None)
        layers = "bottom layer's forward direction" if bidirectional else "recurrent layers"
        notes.append(f"the {name} begins as {folder}: its embedding and {layers}")
    return tuple(notes)


def _check(
    name: str, folder: str, config: StackConfig, trained: LanguageModelConfig, *, all_layers: bool
) -> None:
    """Raise with what to set where a half is not made as the language model is."""
    options = (*_SHARED, "num_layers", "residual") if all_layers else _SHARED
    wrong = [option for option in options if getattr(config, option) != getattr(trained, option)]
    if wrong:
        told = ", ".join(
            f"model.{name}.{option} = {toml_value(getattr(trained, option))}" for option in wrong
        )
        raise ConfigError(
            f"pretrained.{name}: {folder} is a language model of other {'cells' if 'cell' in wrong else 'sizes'} than "
            f"the {name}; set {told}"
        )
    if trained.attends and config.memory != trained.memory:
        raise ConfigError(
            f"pretrained.{name}: {folder} has another memory than the {name}; give model.{name}.memory the options of "
            "its model.memory"
        )
