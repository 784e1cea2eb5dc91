"""A model's parameters by depth, from the head down, for rates that fall with depth and for gradual thawing.

In: any model of ours. Out: named groups that hold every parameter once: what is neither embedding nor recurrence (the
head), then the layers from the top one down, then the embeddings. Howard & Ruder 2018 (§3.2, §3.3) want them so.
"""

from dataclasses import dataclass

from torch import nn

from regard.layers import BidirectionalStack, Embedding, RecurrentStack


@dataclass(frozen=True)
class DepthGroup:
    """Parameters of one depth.

    Attributes:
        name: ``head``, ``layer 2``, ``layer 1``, ``embedding``; layers are counted from the bottom.
        parameters: each of them in no other group.
    """

    name: str
    parameters: tuple[nn.Parameter, ...]


def groups_by_depth(model: nn.Module) -> tuple[DepthGroup, ...]:
    """Part a model's parameters by depth.

    Encoder and decoder of a translator share groups: the k-th layer of each stands in ``layer k``. A matrix shared
    by embedding and output belongs to the embedding.
    """
    embeddings = [module for module in model.modules() if isinstance(module, Embedding)]
    layers: list[list[nn.Module]] = []
    for stack in _stacks(model):
        for k, parts in enumerate(_layers(stack)):
            if k == len(layers):
                layers.append([])
            layers[k].extend(parts)
    seen: set[nn.Parameter] = set()
    groups = [DepthGroup("embedding", _unseen(embeddings, seen))]
    groups += [DepthGroup(f"layer {k}", _unseen(parts, seen)) for k, parts in enumerate(layers, start=1)]
    groups.append(DepthGroup("head", _unseen([model], seen)))
    return tuple(group for group in reversed(groups) if group.parameters)


def _stacks(module: nn.Module) -> list[nn.Module]:
    """The outermost stacks; one inside another is part of it."""
    if isinstance(module, RecurrentStack | BidirectionalStack):
        return [module]
    return [stack for child in module.children() for stack in _stacks(child)]


def _layers(stack: nn.Module) -> list[list[nn.Module]]:
    """What each layer of a stack is made of, bottom first."""
    if isinstance(stack, BidirectionalStack):
        pairs = zip(stack.forward_layers, stack.backward_layers, strict=True)
        return [list(pair) for pair in pairs]
    assert isinstance(stack, RecurrentStack)
    return [[cell] for cell in stack.layers]


def _unseen(modules: list[nn.Module] | list[Embedding], seen: set[nn.Parameter]) -> tuple[nn.Parameter, ...]:
    found = []
    for module in modules:
        for parameter in module.parameters():
            if parameter not in seen:
                seen.add(parameter)
                found.append(parameter)
    return tuple(found)
