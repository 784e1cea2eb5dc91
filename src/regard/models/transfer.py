"""Transfer learning: weights copied from a language model, and layer groups for fine-tuning.

`copy_pretrained` initialises the embedding and the recurrent layers of an encoder or a decoder from a trained language
model of the same vocabulary (Dai & Le 2015; Ramachandran et al. 2017). All shapes are checked before anything is
copied. `layer_groups` splits a network's parameters by depth, for discriminative learning rates and gradual unfreezing
(Howard & Ruder 2018, §3.2, §3.3).
"""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from regard.errors import ConfigError
from regard.layers import BidirectionalStack, Embedding, RecurrentStack
from regard.models.decoders import Decoder
from regard.models.encoder import Encoder
from regard.models.language_model import LanguageModelNetwork


@dataclass(frozen=True)
class LayerGroup:
    """The parameters of one depth.

    Attributes:
        name: ``head``, ``layer 2``, ``layer 1``, ``embedding``; layers are counted from the bottom.
        parameters: each is in one group only.
    """

    name: str
    parameters: tuple[nn.Parameter, ...]


def layer_groups(model: nn.Module) -> tuple[LayerGroup, ...]:
    """A network's parameters by depth: the head, the layers from the top down, the embeddings.

    The head is all that is neither embedding nor recurrence. Encoder and decoder of a translator share groups: the
    k-th layer of each is in ``layer k``. A matrix shared by embedding and output belongs to the embedding.
    """
    embeddings = [module for module in model.modules() if isinstance(module, Embedding)]
    layers: list[list[nn.Module]] = []
    for stack in _stacks(model):
        for k, parts in enumerate(_layers(stack)):
            if k == len(layers):
                layers.append([])
            layers[k].extend(parts)
    seen: set[nn.Parameter] = set()
    groups = [LayerGroup("embedding", _unseen(embeddings, seen))]
    groups += [LayerGroup(f"layer {k}", _unseen(parts, seen)) for k, parts in enumerate(layers, start=1)]
    groups.append(LayerGroup("head", _unseen([model], seen)))
    return tuple(group for group in reversed(groups) if group.parameters)


def _stacks(module: nn.Module) -> list[nn.Module]:
    """The outermost stacks; one inside another is part of it."""
    if isinstance(module, RecurrentStack | BidirectionalStack):
        return [module]
    return [stack for child in module.children() for stack in _stacks(child)]


def _layers(stack: nn.Module) -> list[list[nn.Module]]:
    """The modules of each layer of a stack, bottom first."""
    if isinstance(stack, BidirectionalStack):
        pairs = zip(stack.forward_layers, stack.backward_layers, strict=True)
        return [list(pair) for pair in pairs]
    assert isinstance(stack, RecurrentStack)
    return [[cell] for cell in stack.layers]


def _unseen(modules: list[nn.Module] | list[Embedding], seen: set[nn.Parameter]) -> tuple[nn.Parameter, ...]:
    unseen = []
    for module in modules:
        for parameter in module.parameters():
            if parameter not in seen:
                seen.add(parameter)
                unseen.append(parameter)
    return tuple(unseen)


def copy_trained(trained: nn.Module, model: nn.Module) -> None:
    """Copy a trained model's weights into one of the same architecture, whose vocabularies or labels may have grown.

    What has grown has new rows at its end; they keep their sampled weights. What is copied from the source follows the
    vocabularies (`Seq2Seq.copy_map`) and is left as it is.

    Args:
        trained: its weights are copied, not shared.
        model: changed in place.

    Raises:
        ConfigError: another architecture.
    """
    ours, theirs = (_saved(each) for each in (model, trained))
    for name in {**ours, **theirs}:
        new, old = (tuple(each[name].shape) if name in each else None for each in (ours, theirs))
        if new is None or old is None or new[1:] != old[1:] or new[:1] < old[:1]:
            raise ConfigError(
                f"model: {name} is {new or 'missing'}, and {old or 'missing'} in the model to start from; leave out "
                "the options that change its size or its parts"
            )
    with torch.no_grad():
        for name, tensor in theirs.items():
            if name != "copy_map":
                ours[name][: len(tensor)].copy_(tensor) if tensor.ndim else ours[name].copy_(tensor)


def _saved(model: nn.Module) -> dict[str, Tensor]:
    """The parameters and those buffers that are saved with them; the zero biases of cells without bias are not."""
    buffers = {name: buffer for name, buffer in model.named_buffers() if name in model.state_dict()}
    return {**dict(model.named_parameters()), **buffers}


Copy = tuple[str, nn.Parameter, nn.Parameter]
"""The parameter's name in the part, the part's parameter, the language model's."""


def copy_pretrained(
    language_model: LanguageModelNetwork, part: Encoder | Decoder, *, num_layers: int | None = None
) -> tuple[str, ...]:
    """Copy the embedding and the recurrent weights of a trained language model into an encoder or a decoder.

    A bidirectional encoder takes its forward direction from the language model and keeps its backward direction. Its
    layers above the bottom one read both directions and fit no language model, so copy the bottom one only
    (``num_layers=1``).

    Args:
        language_model: trained; its weights are copied, not shared.
        part: an encoder or a decoder, changed in place; the caller ensures that the vocabulary is the same.
        num_layers: how many layers to copy, from the bottom; None for all.

    Returns:
        The names of the part's parameters that were copied, as its `named_parameters` has them.

    Raises:
        ConfigError: two shapes or two cells do not fit.
    """
    recurrent = _recurrent(part.stack, language_model, num_layers)
    copies = [("embedding.E", part.embedding.E, language_model.embedding.E), *recurrent]
    for name, ours, theirs in copies:
        if ours.shape != theirs.shape:
            raise _misfit(name, ours, theirs)
    with torch.no_grad():
        for _, ours, theirs in copies:
            ours.copy_(theirs)
    return tuple(name for name, _, _ in copies)


def _recurrent(stack: nn.Module, model: LanguageModelNetwork, num_layers: int | None) -> Iterator[Copy]:
    """The parameters of the recurrent layers to copy."""
    if isinstance(stack, BidirectionalStack):
        yield from _cells("stack.forward_layers.{}.cells.0", stack.forward_layers, model, num_layers)
    else:
        assert isinstance(stack, RecurrentStack)
        yield from _cells("stack.cells.{}", stack.cells, model, num_layers)


def _cells(
    name: str, layers: nn.ModuleList, model: LanguageModelNetwork, num_layers: int | None
) -> Iterator[Copy]:
    """The parameters of each layer's cell; a direction of a bidirectional layer is a stack of one cell."""
    cells = [layer.layers[0] if isinstance(layer, RecurrentStack) else layer for layer in layers]
    trained = model.stack.layers
    wanted = len(cells) if num_layers is None else num_layers
    if wanted > min(len(cells), len(trained)):
        raise ConfigError(
            f"{wanted} layers cannot be copied from a language model of {len(trained)} into {len(cells)}; "
            f"copy {min(len(cells), len(trained))}, or make the models equally deep"
        )
    for k in range(wanted):
        if type(cells[k]) is not type(trained[k]):
            raise ConfigError(
                f"{name.format(k)} is a {type(cells[k]).__name__} and the language model's layer {k + 1} a "
                f"{type(trained[k]).__name__}; use the same cell in both"
            )
        theirs, ours = (dict(each.named_parameters()) for each in (trained[k], cells[k]))
        for key in ours.keys() ^ theirs.keys():
            which = "the language model" if key in ours else "the model to train"
            raise ConfigError(
                f"{name.format(k)}.{key} has no counterpart in {which}; use the same cell in both, with the same bias "
                "and memory"
            )
        for key, parameter in ours.items():
            yield f"{name.format(k)}.{key}", parameter, theirs[key]


def _misfit(name: str, ours: nn.Parameter, theirs: nn.Parameter) -> ConfigError:
    return ConfigError(
        f"{name}: {tuple(ours.shape)} here and {tuple(theirs.shape)} in the language model; make the sizes equal "
        "(embedding_size, state_size, vocabulary), or copy fewer layers"
    )
