"""From a trained language model into an encoder or a decoder: embedding and recurrent weights carried over.

In: the language model, the part that shall start from it, and which of their ids mean the same. Out: the part, changed
in place, and the names of what was copied. All shapes are checked first: nothing is copied in halves.
"""

from collections.abc import Iterator, Mapping, Sequence

import torch
from torch import nn

from regard.errors import ConfigError
from regard.layers import BidirectionalStack, RecurrentStack
from regard.models.decoders import Decoder
from regard.models.encoder import Encoder
from regard.models.language_model import LanguageModel

Copy = tuple[str, nn.Parameter, nn.Parameter]
"""The name in the part, the part's own parameter, the language model's."""


def equal_tokens(part_tokens: Sequence[str], model_tokens: Sequence[str]) -> dict[int, int]:
    """The part's id → the language model's, for the tokens both know, by their text.

    Args:
        part_tokens: the part's vocabulary, by id.
        model_tokens: the language model's, by id.
    """
    ids = {token: i for i, token in enumerate(model_tokens)}
    return {i: ids[token] for i, token in enumerate(part_tokens) if token in ids}


def carry_over(
    language_model: LanguageModel,
    part: Encoder | Decoder,
    *,
    backward: LanguageModel | None = None,
    rows: Mapping[int, int] | None = None,
    num_layers: int | None = None,
) -> tuple[str, ...]:
    """Start a part from a trained language model.

    A bidirectional encoder takes its forward direction from `language_model`, and its backward direction from
    `backward` if given; its layers above the bottom one read both directions and fit no language model, so carry
    over the bottom one alone (``num_layers=1``).

    Args:
        language_model: trained; its weights are copied, not shared.
        part: an encoder or a decoder, changed in place.
        backward: a language model of text read from its end, for a bidirectional encoder.
        rows: the part's id → the language model's (`equal_tokens`), where the vocabularies differ: the rows of other
            ids stay as they are. None where they are the same, which is for the caller to know.
        num_layers: how many layers to carry over, from the bottom; all if None.

    Returns:
        The names of the part's parameters that were copied, as its `named_parameters` has them.

    Raises:
        ConfigError: two shapes do not fit, or `backward` is given for a part that reads one way.
    """
    if backward is not None and not isinstance(part.stack, BidirectionalStack):
        raise ConfigError(
            "a backward language model is for a bidirectional encoder, and this part reads one way"
        )
    copies = list(_recurrent(part.stack, language_model, backward, num_layers))
    for name, ours, theirs in copies:
        if ours.shape != theirs.shape:
            raise _misfit(name, ours, theirs)
    E, trained = part.embedding.E, language_model.embedding.E
    if E.shape[1] != trained.shape[1] or (rows is None and E.shape != trained.shape):
        raise _misfit("embedding.E", E, trained)
    with torch.no_grad():
        for _, ours, theirs in copies:
            ours.copy_(theirs)
        if rows is None:
            E.copy_(trained)
        elif rows:
            ids = torch.tensor(list(rows.items()), device=E.device)
            E[ids[:, 0]] = trained[ids[:, 1]].to(E)
    return ("embedding.E", *(name for name, _, _ in copies))


def _recurrent(
    stack: nn.Module, ahead: LanguageModel, back: LanguageModel | None, num_layers: int | None
) -> Iterator[Copy]:
    """What is to be copied of the recurrence."""
    if isinstance(stack, BidirectionalStack):
        yield from _cells("stack.forward_layers.{}.cells.0", stack.forward_layers, ahead, num_layers)
        if back is not None:
            yield from _cells("stack.backward_layers.{}.cells.0", stack.backward_layers, back, num_layers)
    else:
        assert isinstance(stack, RecurrentStack)
        yield from _cells("stack.cells.{}", stack.cells, ahead, num_layers)


def _cells(name: str, layers: nn.ModuleList, model: LanguageModel, num_layers: int | None) -> Iterator[Copy]:
    """The parameters of each layer's cell, a direction of a bidirectional layer being a stack of one."""
    cells = [layer.layers[0] if isinstance(layer, RecurrentStack) else layer for layer in layers]
    trained = model.stack.layers
    wanted = len(cells) if num_layers is None else num_layers
    if wanted > min(len(cells), len(trained)):
        raise ConfigError(
            f"{wanted} layers cannot be carried over from a language model of {len(trained)} into {len(cells)}; "
            f"carry over {min(len(cells), len(trained))}, or make the models equally deep"
        )
    for k in range(wanted):
        if type(cells[k]) is not type(trained[k]):
            raise ConfigError(
                f"{name.format(k)} is a {type(cells[k]).__name__} and the language model's layer {k + 1} a "
                f"{type(trained[k]).__name__}; use the same cell in both"
            )
        theirs = dict(trained[k].named_parameters())
        for key, ours in cells[k].named_parameters():
            if key not in theirs:
                raise ConfigError(
                    f"{name.format(k)}.{key} has no counterpart in the language model; use the same cell in both, with "
                    "the same memory"
                )
            yield f"{name.format(k)}.{key}", ours, theirs[key]


def _misfit(name: str, ours: nn.Parameter, theirs: nn.Parameter) -> ConfigError:
    return ConfigError(
        f"{name}: {tuple(ours.shape)} here and {tuple(theirs.shape)} in the language model; make the sizes equal "
        "(embedding_size, state_size, vocabulary), carry over fewer layers, or match the vocabularies by token"
    )
