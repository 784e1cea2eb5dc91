"""The parts of an equation, kept as they are computed for a caller that wants to see them.

An equation's function names what it computes on its way, such as gates, a candidate or energies, with `record`. Inside
`recording` these values are collected, each with its equation as text; elsewhere `record` does nothing. No value
depends on it. Only naive functions record, so a caller that wants every part computes within `paths.naive_only`.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Literal

from torch import Tensor

Axis = Literal["units", "source", "past", "words", "number"]
"""What the numbers of a part stand for: units of a layer, words of the source, slots of a tape, words of the
vocabulary, or a single number."""

LETTERS = ("papers", "slides")
"""Whose letters an equation can be written in: those of the papers, or those of the lectures' slides."""


@dataclass(frozen=True)
class Equation:
    """An equation as text, subscripts as in ``h_t`` and ``h_{t−1}``; what is left of its = is its symbol.

    Written for a cell that reads x_t: state h, memory c. Attention and readout are written as in RNNsearch: state s,
    annotations h_j, context c_t. `Letters` rewrites both for other decoders.

    Attributes:
        papers: as the paper prints it.
        slides: as the lectures' slides print it; as the paper if empty.
        axis: what its numbers stand for.
    """

    papers: str
    slides: str = ""
    axis: Axis = "units"


Equations = Mapping[str, Equation]
"""By the name of the part: in the order of computation."""


@dataclass(frozen=True)
class Letters:
    """How a decoder's paper, or the slides, write what `Equation` writes in one way.

    Attributes:
        state: the letter of the decoder's state.
        index: of the step.
        source: the annotation of a source word, with its index.
        alpha: the letter of the attention weights.
        query: what attends.
        word: the vector of the previous word.
        context: the vector that the decoder reads of the source.
        term: what the recurrence reads beside the word, such as ``C c_t``; empty for nothing.
        readout: what the output matrix reads.
        start: what the initial state is made of.
        memory: the letter of an LSTM's memory, where c is the context.
    """

    state: str = "s"
    index: str = "t"
    source: str = "h_j"
    alpha: str = "α"
    query: str = "s_{t−1}"
    word: str = "E y_{t−1}"
    context: str = "c_t"
    term: str = ""
    readout: str = "s_t"
    start: str = "h_{T_x}"
    memory: str = "c"

    def write_cell(self, text: str) -> str:
        """An equation of a decoder's cell."""
        if self.memory != "c":
            text = text.replace("ĉ", f"{self.memory}\u0302")
            text = re.sub(r"(?<!\w)c(?=[\u0303′]?_(t|i|0|\{t−1\}))", self.memory, text)
        text = re.sub(r"(?<!\w)h(?=\u0303?_(t|\{t−1\}))", self.state, text)
        if self.term:
            matrix, _, vector = self.term.partition(" ")
            text = re.sub(r"W(_\w)? x_t", rf"W\1 x_t + {matrix}\1 {vector}", text)
            text = text.replace("[x_t; ", f"[x_t; {vector}; ")
        return self._write_index(re.sub(r"\bx_t", self.word, text))

    def write(self, text: str) -> str:
        """An equation of a decoder's attention, readout or output."""
        text = text.replace("s_{t−1}", self.query).replace("E y_{t−1}", self.word)
        text = re.sub(r"(?<!\w)s(?=_(t|0)\b)", self.state, text)
        text = re.sub(r"(?<!\w)c_t\b", self.context, text)
        text = text.replace("⟨readout⟩", self.readout).replace("⟨start⟩", self.start)
        letter, _, index = self.source.partition("_")
        text = re.sub(r"(?<!\w)h_j", f"{letter}_j", text)
        both = r"_{\1,\2}" if self.index == "t" else r"_\1\2"
        text = re.sub(r"_([tk])([jk])\b", both, text)
        text = re.sub(r"(?<=[_,tk(={ ])j\b", index, text)
        return self._write_index(text.replace("α", self.alpha))

    def _write_index(self, text: str) -> str:
        return re.sub(r"(?<=[_{<])t(?=\b|ᵀ|[a-z]\b)", self.index, text)


Place = tuple[tuple[str, int], ...]
"""Where a part was computed, from the outside in: ("layer", 0), ("backward", 0), ("step", 3)."""


@dataclass(frozen=True, eq=False)
class Recorded:
    """A part as it was computed.

    Attributes:
        place: the scopes around it.
        name: of the part.
        equation: which computes it.
        value: batch first.
    """

    place: Place
    name: str
    equation: Equation
    value: Tensor


@dataclass(eq=False)
class _Recorder:
    parts: list[Recorded] = field(default_factory=list)
    known: set[tuple[Place, str]] = field(default_factory=set)
    place: Place = ()

    @contextmanager
    def scope(self, name: str, index: int) -> Iterator[None]:
        outer = self.place
        self.place = (*outer, (name, index))
        try:
            yield
        finally:
            self.place = outer


_recorder: ContextVar[_Recorder | None] = ContextVar("recorder", default=None)
_NOWHERE = nullcontext()


@contextmanager
def recording() -> Iterator[list[Recorded]]:
    """Collect the parts that are computed inside the block, in the order of computation."""
    recorder = _Recorder()
    token = _recorder.set(recorder)
    try:
        yield recorder.parts
    finally:
        _recorder.reset(token)


def scope(name: str, index: int = 0) -> AbstractContextManager[None]:
    """Say where the parts inside a block belong: a layer, a direction, a step."""
    recorder = _recorder.get()
    return _NOWHERE if recorder is None else recorder.scope(name, index)


def record(equations: Equations, **parts: Tensor) -> None:
    """Name parts of an equation, if somebody records them; a part that is already there is kept.

    Args:
        equations: of the parts, by name.
        parts: batch first, by name.
    """
    recorder = _recorder.get()
    if recorder is None:
        return
    for name, value in parts.items():
        if (recorder.place, name) not in recorder.known:
            recorder.known.add((recorder.place, name))
            recorder.parts.append(Recorded(recorder.place, name, equations[name], value.detach().clone()))
