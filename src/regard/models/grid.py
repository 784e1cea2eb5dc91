"""What goes with what: every cell in every role, and every attention on every decoder, found by trying.

In: nothing but the tables of the package, read when asked. Out: `Square`s, each a configuration that was given to the
class that checks it: legal if it was accepted, and otherwise with the reason it was refused for. So the grid cannot
disagree with the code. The papers are those that the docstrings of the parts name first.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from regard.config import Config, merge
from regard.errors import ConfigError
from regard.layers import CELLS, ENERGIES, NORMALIZERS, POOLINGS, WINDOWS
from regard.models.captioner import CaptionerConfig
from regard.models.classifier import ClassifierConfig
from regard.models.decoders.config import DecoderConfig
from regard.models.language_model import LanguageModelConfig
from regard.models.seq2seq import ModelConfig
from regard.models.tagger import TaggerConfig

_SIZE = 8
_FOREIGN = ("builtins", "abc", "torch.nn.modules.module", "regard.config")
_PAPER = re.compile(r"(?:[A-Z][\w’-]+(?:, | & | et al\. | ))+\d{4}\b")

CONFIGS: dict[str, type[Config]] = {
    "translate": ModelConfig,
    "language_model": LanguageModelConfig,
    "classify": ClassifierConfig,
    "tag": TaggerConfig,
    "caption": CaptionerConfig,
}
"""The configurations in which a role can be tried, by task."""

OWN_PAST = "own past"
"""Where a cell's attention to its own past stands among the decoders."""


@dataclass(frozen=True)
class Square:
    """One configuration that was tried.

    Attributes:
        row: the cell or the energy.
        column: the role, or what else is asked of the attention.
        group: the decoder whose attention it is, or `OWN_PAST`; empty for a cell in a role.
        refusal: why it is illegal; empty where it is legal.
    """

    row: str
    column: str
    group: str
    refusal: str

    @property
    def legal(self) -> bool:
        """Whether its configuration was accepted."""
        return not self.refusal

    def to_json(self) -> dict[str, Any]:
        """Give it as a JSON object."""
        where = {"energy": self.row, "on": self.group, "with": self.column} if self.group else {}
        return {
            **(where or {"cell": self.row, "role": self.column}),
            "legal": self.legal,
            "refusal": self.refusal,
        }


def roles() -> dict[str, Callable[[str], Mapping[str, Any]]]:
    """By name: a cell → (task, model) as a configuration file would have them."""
    part = {"embedding_size": _SIZE, "state_size": _SIZE}
    found: dict[str, Callable[[str], Mapping[str, Any]]] = {
        "encoder": lambda cell: _translator({"cell": cell}, {"kind": "bahdanau"})
    }
    for kind in DecoderConfig.variants:
        found[kind] = lambda cell, kind=kind: _translator({"cell": cell}, {"kind": kind, "cell": cell})  # type: ignore[misc]
    found["language model"] = lambda cell: {"language_model": {**part, "cell": cell}}
    found["classifier"] = lambda cell: {"classify": {"encoder": {**part, "cell": cell}}}
    found["tagger"] = lambda cell: {"tag": {"encoder": {**part, "cell": cell}}}
    found["captioner"] = lambda cell: {"caption": {"decoder": {**part, "kind": "cho", "cell": cell}}}
    return found


def _translator(encoder: Mapping[str, Any], decoder: Mapping[str, Any]) -> dict[str, Any]:
    """Two parts of equal widths, the encoder reading one way, as any decoder can follow it."""
    part = {"embedding_size": _SIZE, "state_size": _SIZE}
    return {
        "translate": {"encoder": {**part, "bidirectional": False, **encoder}, "decoder": {**part, **decoder}}
    }


def cell_squares() -> Iterator[Square]:
    """Every cell in every role."""
    for cell in CELLS:
        for role, configured in roles().items():
            yield Square(cell, role, "", refusal(configured(cell)))


def attention_options() -> dict[str, dict[str, Any]]:
    """What can be asked of an attention beside its energy, by name."""
    return {
        "plain": {},
        "heads": {"heads": 2},
        **{window: {"window": window} for window in WINDOWS if window != "global"},
        "coverage": {"coverage": True},
        **{name: {"normalizer": name} for name in NORMALIZERS if name != "softmax"},
    }


def attention_squares() -> Iterator[Square]:
    """Every energy, with all that can be asked beside it, on every decoder that attends and on a cell's own past."""
    for group, place in attending().items():
        for energy in ENERGIES:
            for option, table in attention_options().items():
                yield Square(energy, option, group, refusal(place({"energy": energy, **table})))


def attending() -> dict[str, Callable[[Mapping[str, Any]], Mapping[str, Any]]]:
    """By name: a table of attention → the model that has it, with the first cell that can bear it."""

    def on(kind: str, cell: str) -> Callable[[Mapping[str, Any]], Mapping[str, Any]]:
        return lambda table: _translator(
            {"cell": cell}, {"kind": kind, "cell": cell, "attention": dict(table)}
        )

    found = {}
    for kind, variant in DecoderConfig.variants.items():
        if "attention" in variant.__dataclass_fields__:
            fitting = [cell for cell in CELLS if not refusal(roles()[kind](cell))]
            found[kind] = on(kind, fitting[0])
    remembering = next(cell for cell in CELLS if not refusal(_remembering(cell, {})))
    found[OWN_PAST] = lambda table: _remembering(remembering, table)
    return found


def _remembering(cell: str, memory: Mapping[str, Any]) -> Mapping[str, Any]:
    return merge(roles()["language model"](cell), {"language_model": {"memory": dict(memory)}})


def refusal(configured: Mapping[str, Any]) -> str:
    """Why a model's configuration is refused; empty where it is accepted."""
    ((task, model),) = configured.items()
    try:
        CONFIGS[task].from_mapping(model, "model")
    except ConfigError as error:
        return str(error)
    return ""


def papers() -> dict[str, dict[str, str]]:
    """The paper of each part, by kind of part and by name; empty where its docstring names none."""
    return {
        "cells": {name: paper_of(cell) for name, cell in CELLS.items()},
        "decoders": {name: paper_of(variant) for name, variant in DecoderConfig.variants.items()},
        "energies": {name: paper_of(attention) for name, attention in ENERGIES.items()},
        "windows": {name: paper_of(make(_SIZE, 1)) for name, make in WINDOWS.items()},
        "normalizers": {name: paper_of(normalize) for name, normalize in NORMALIZERS.items()},
        "poolings": {name: paper_of(make(_SIZE, _SIZE)) for name, make in POOLINGS.items()},
    }


def paper_of(part: object) -> str:
    """The first paper that the docstring of a part, or of what it inherits from, names: "Cho et al. 2014"."""
    is_function = hasattr(part, "__code__")
    kind = part if isinstance(part, type) else type(part)
    documented = [part] if is_function else [base for base in kind.__mro__ if base.__module__ not in _FOREIGN]
    for each in documented:
        if found := _PAPER.search(each.__doc__ or ""):
            return found[0]
    return ""
