"""Which parts can be combined: every cell in every role, and every attention on every decoder, found by trying.

In: the tables of the package (`CELLS`, `ENERGIES`, …), read at each call. Out: one `Combination` per configuration:
allowed if the class that checks it accepts it, else with the reason. So the grid cannot disagree with the code. The
paper of a part is the first that its docstring names.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from regard.config import Config, merge
from regard.errors import ConfigError
from regard.layers import CELLS, ENERGIES, NORMALIZERS, POOLINGS, WINDOWS, PointerGenerator
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
"""The configuration of the network of each task."""

OWN_PAST = "own past"
"""The group of a cell's attention to its own past, beside the decoders."""


@dataclass(frozen=True)
class Combination:
    """A configuration that was tried.

    Attributes:
        row: the cell or the energy.
        column: the role, or the other option of the attention.
        group: the decoder whose attention it is, or `OWN_PAST`; empty for a cell in a role.
        refusal: why it is not allowed; empty if it is.
    """

    row: str
    column: str
    group: str
    refusal: str

    @property
    def legal(self) -> bool:
        """Whether the configuration was accepted."""
        return not self.refusal

    def to_json(self) -> dict[str, Any]:
        """As a JSON object: cell and role, or energy, decoder and option."""
        where = {"energy": self.row, "on": self.group, "with": self.column} if self.group else {}
        return {
            **(where or {"cell": self.row, "role": self.column}),
            "legal": self.legal,
            "refusal": self.refusal,
        }


def roles() -> dict[str, Callable[[str], Mapping[str, Any]]]:
    """The roles of a cell by name: cell → {task: model}, as in a configuration file."""
    part = {"embedding_size": _SIZE, "state_size": _SIZE}
    by_name: dict[str, Callable[[str], Mapping[str, Any]]] = {
        "encoder": lambda cell: _translator({"cell": cell}, {"kind": "bahdanau"})
    }
    for kind in DecoderConfig.variants:
        by_name[kind] = lambda cell, kind=kind: _translator({"cell": cell}, {"kind": kind, "cell": cell})  # type: ignore[misc]
    by_name["language model"] = lambda cell: {"language_model": {**part, "cell": cell}}
    by_name["classifier"] = lambda cell: {"classify": {"encoder": {**part, "cell": cell}}}
    by_name["tagger"] = lambda cell: {"tag": {"encoder": {**part, "cell": cell}}}
    by_name["captioner"] = lambda cell: {"caption": {"decoder": {**part, "kind": "cho", "cell": cell}}}
    return by_name


def _translator(encoder: Mapping[str, Any], decoder: Mapping[str, Any]) -> dict[str, Any]:
    """Encoder and decoder of equal widths, the encoder unidirectional, as every decoder allows."""
    part = {"embedding_size": _SIZE, "state_size": _SIZE}
    return {
        "translate": {"encoder": {**part, "bidirectional": False, **encoder}, "decoder": {**part, **decoder}}
    }


def cell_combinations() -> Iterator[Combination]:
    """Every cell in every role."""
    for cell in CELLS:
        for role, configured in roles().items():
            yield Combination(cell, role, "", refusal(configured(cell)))


def attention_options() -> dict[str, dict[str, Any]]:
    """The options of an attention other than its energy, by name, and of a decoder what it does with alpha."""
    return {
        "plain": {},
        "heads": {"heads": 2},
        **{window: {"window": window} for window in WINDOWS if window != "global"},
        "coverage": {"coverage": True},
        "copy": {"copy": True},
        **{name: {"normalizer": name} for name in NORMALIZERS if name != "softmax"},
    }


def attention_combinations() -> Iterator[Combination]:
    """Every energy with every other option, on every decoder that attends and on a cell's own past."""
    for group, configured in attention_groups().items():
        for energy in ENERGIES:
            for option, table in attention_options().items():
                yield Combination(energy, option, group, refusal(configured({"energy": energy, **table})))


def attention_groups() -> dict[str, Callable[[Mapping[str, Any]], Mapping[str, Any]]]:
    """By decoder, and for `OWN_PAST`: a table of attention → {task: model}, with the first cell allowed there."""

    def on(kind: str, cell: str) -> Callable[[Mapping[str, Any]], Mapping[str, Any]]:
        def configured(table: Mapping[str, Any]) -> Mapping[str, Any]:
            attention = {name: value for name, value in table.items() if name != "copy"}
            copying = {"copy": table["copy"]} if "copy" in table else {}
            decoder = {"kind": kind, "cell": cell, "attention": attention, **copying}
            return _translator({"cell": cell}, decoder)

        return configured

    groups = {}
    for kind, variant in DecoderConfig.variants.items():
        if "attention" in variant.__dataclass_fields__:
            fitting = [cell for cell in CELLS if not refusal(roles()[kind](cell))]
            groups[kind] = on(kind, fitting[0])
    self_attentive = next(cell for cell in CELLS if not refusal(_with_memory(cell, {})))
    groups[OWN_PAST] = lambda table: _with_memory(self_attentive, table)
    return groups


def _with_memory(cell: str, memory: Mapping[str, Any]) -> Mapping[str, Any]:
    return merge(roles()["language model"](cell), {"language_model": {"memory": dict(memory)}})


def refusal(configured: Mapping[str, Any]) -> str:
    """Why the configuration {task: model} is refused; empty if it is accepted."""
    ((task, model),) = configured.items()
    try:
        CONFIGS[task].from_mapping(model, "model")
    except ConfigError as error:
        return str(error)
    return ""


def papers() -> dict[str, dict[str, str]]:
    """The paper of each part, by kind of part and by name; empty if its docstring names none."""
    return {
        "cells": {name: paper_of(cell) for name, cell in CELLS.items()},
        "decoders": {name: paper_of(variant) for name, variant in DecoderConfig.variants.items()},
        "energies": {name: paper_of(attention) for name, attention in ENERGIES.items()},
        "windows": {name: paper_of(make(_SIZE, 1)) for name, make in WINDOWS.items()},
        "normalizers": {name: paper_of(normalize) for name, normalize in NORMALIZERS.items()},
        "copying": {"copy": paper_of(PointerGenerator)},
        "poolings": {name: paper_of(make(_SIZE, _SIZE)) for name, make in POOLINGS.items()},
    }


def paper_of(part: object) -> str:
    """The first paper in the docstring of a part or of its base classes, such as "Cho et al. 2014"."""
    is_function = hasattr(part, "__code__")
    kind = part if isinstance(part, type) else type(part)
    documented = [part] if is_function else [base for base in kind.__mro__ if base.__module__ not in _FOREIGN]
    for base in documented:
        if paper := _PAPER.search(base.__doc__ or ""):
            return paper[0]
    return ""
