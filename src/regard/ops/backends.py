"""Which backend computes an op, and why not a faster one: the one table that recurrences and losses ask.

An op describes what it is about to compute as a `Question`; each of `BACKENDS`, fastest first, says whether it
`supports` that, and the first that does computes it. `explain` collects the answers of a block of code.

    with regard.ops.explain() as choices:
        model(batch)
    for choice in choices:
        print(choice)
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Literal, Protocol

import torch
from torch import Tensor

from regard.ops.kernels.choose import kernels_refuse
from regard.ops.native.choose import native_refuses
from regard.ops.paths import fused_refused

Name = Literal["Triton", "C", "torch", "naive"]

Reasons = Mapping[Name, str] | Mapping[str, str]
"""By the name of a path that was not taken, why not."""


@dataclass(frozen=True)
class Question:
    """What an op is about to compute, as far as backends differ in it.

    Attributes:
        op: its name.
        weight: one of its matrices, in the precision of the parameters.
        tensors: what comes in beside it.
        slots: how many words or slots attention reads; 0 without attention.
        widths: of states, keys and annotations.
        dtype: what Triton kernels would compute in, where it is not that of the first tensor.
        lacks: why this op, with these options, has no form for a backend.
    """

    op: str
    weight: Tensor
    tensors: tuple[Tensor, ...]
    slots: int = 0
    widths: tuple[int, ...] = (0,)
    dtype: torch.dtype | None = None
    lacks: Mapping[Name, str] = field(default_factory=dict)


class Backend(Protocol):
    """One way to compute ops."""

    name: Name
    means: str

    def supports(self, question: Question) -> str:
        """Why it does not compute this, a clause; empty if it does."""


class _Triton:
    name: Name = "Triton"
    means = "all steps in one launch on a GPU"

    def supports(self, question: Question) -> str:
        like, sizes = question.tensors[0], (question.slots, *question.widths)
        return (
            fused_refused()
            or kernels_refuse(like, *sizes, dtype=question.dtype)
            or question.lacks.get(self.name, "")
        )


class _C:
    name: Name = "C"
    means = "all steps in C on a CPU"

    def supports(self, question: Question) -> str:
        return question.lacks.get(self.name, "") or native_refuses(
            question.weight, *question.tensors, op=question.op
        )


class _Torch:
    name: Name = "torch"
    means = "torch's kernel, or a backward pass derived by hand"

    def supports(self, question: Question) -> str:
        return question.lacks.get(self.name, "") or fused_refused()


class _Naive:
    name: Name = "naive"
    means = "step by step, as the equations are printed"

    def supports(self, question: Question) -> str:
        return ""


BACKENDS: tuple[Backend, ...] = (_Triton(), _C(), _Torch(), _Naive())
"""Fastest first; the last computes everything."""


@dataclass(frozen=True)
class Choice:
    """Which backend computed an op.

    Attributes:
        op: its name.
        backend: the name of one of `BACKENDS`; of what is no op, such as a search, that of one of its own paths.
        reasons: of each faster backend, why it did not.
    """

    op: str
    backend: str
    reasons: Reasons

    def __str__(self) -> str:
        """One line."""
        why = "; ".join(f"not {name}: {reason}" for name, reason in self.reasons.items())
        return f"{self.op}: {self.backend}" + (f" ({why})" if why else "")


_heard: ContextVar[list[Choice] | None] = ContextVar("explained", default=None)


@contextmanager
def explain() -> Iterator[list[Choice]]:
    """Collect which backend computed each op of the block, in order, and why not a faster one."""
    choices: list[Choice] = []
    token = _heard.set(choices)
    try:
        yield choices
    finally:
        _heard.reset(token)


def choose(question: Question) -> Name:
    """The fastest backend that supports a question."""
    reasons: dict[Name, str] = {}
    for backend in BACKENDS:
        reason = backend.supports(question)
        if not reason:
            tell(question.op, backend.name, reasons)
            return backend.name
        reasons[backend.name] = reason
    raise AssertionError("the naive backend supports everything")


def tell(op: str, backend: str, reasons: Reasons) -> None:
    """Note a choice that was made elsewhere, for callers of `explain`."""
    heard = _heard.get()
    if heard is not None:
        heard.append(Choice(op, backend, reasons))


def tell_looped(op: str, reason: str) -> None:
    """Note that a caller loops over the steps of what would be one op, and why."""
    tell(op, "naive", without(reason, "Triton", "C", "torch"))


def without(reason: str, *names: Name) -> dict[Name, str]:
    """`Question.lacks` for some backends; nothing if the reason is empty."""
    return dict.fromkeys(names, reason) if reason else {}


NO_KERNEL = "it has no kernel for this op"
NO_DROPOUT = "it has no dropout of states"
ONE_LAYER = "it has one layer"
OTHER_ENERGY = "its energy is neither additive nor a dot product"
