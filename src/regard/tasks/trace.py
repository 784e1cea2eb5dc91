"""`Trace`: everything that a model computed for one line, step by step, each number with its equation.

In: the sections that `tasks/tracing.py` makes. Out: tables in a terminal and on a page, JSON and npz. A section is one
recurrence, or what lies between two of them; its parts are named once, and each of its steps has a value for them.
Knows nothing of models or tensors; arrays are numpy's.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.config import one_of
from regard.errors import ConfigError
from regard.io import write_whole
from regard.ops.record import LETTERS, Axis

FORMAT = 1
"""Of the JSON; docs/trace.md describes it."""

SUFFIXES = (".html", ".json", ".npz")

Numbers = NDArray[np.floating]


@dataclass(frozen=True)
class TracedPart:
    """A quantity of a section: its name and its equation, once for all steps.

    Attributes:
        key: unique in its section, such as ``update`` or ``layer2.update``.
        name: such as ``update``, ``energies``, ``state``.
        layer: counted from 1; None for a part of no layer.
        axis: what its numbers stand for: ``units`` of a layer, words of the ``source``, slots of the ``past``,
            ``words`` of the vocabulary, or a single ``number``.
        equations: the equation by whose letters it has, ``papers`` and ``slides``.
    """

    key: str
    name: str
    layer: int | None
    axis: Axis
    equations: Mapping[str, str]

    def symbol(self, letters: str) -> str:
        """What is left of the equation's =, such as ``z_t``."""
        return self.equations[letters].partition(" = ")[0].partition(" ∝ ")[0]


@dataclass(frozen=True, eq=False)
class TracedStep:
    """A step of a section.

    Attributes:
        position: of the token in the line it belongs to, from 0; steps are in the order of computation.
        token: that is read.
        values: by the key of the part, without batch: (units,), (Tx,); with several heads (heads, Tx).
        past: the tokens of the slots that it can attend to, of a cell with a tape.
        output: that is predicted; None where nothing is.
        probability: of the output.
        candidates: the most probable outputs and their probabilities, best first.
    """

    position: int
    token: str
    values: Mapping[str, Numbers]
    past: tuple[str, ...] = ()
    output: str | None = None
    probability: float | None = None
    candidates: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, eq=False)
class TracedSection:
    """Steps that have the same parts.

    Attributes:
        key: unique in the trace, such as ``encoder.1.backward`` or ``decoder``.
        title: for people.
        parts: in the order of computation.
        steps: in the order of computation.
        source: the tokens that parts of the axis ``source`` are over.
    """

    key: str
    title: str
    parts: tuple[TracedPart, ...]
    steps: tuple[TracedStep, ...]
    source: tuple[str, ...] = ()

    def labels(self, part: TracedPart, step: TracedStep) -> tuple[str, ...]:
        """The tokens that a part's numbers stand for; none where they are units."""
        return {"source": self.source, "past": step.past}.get(part.axis, ())

    def candidates(self, part: TracedPart, step: TracedStep) -> tuple[tuple[str, float], ...]:
        """The numbers of a part over the vocabulary, at the most probable outputs: probabilities, or their logits.

        None where the probabilities are not the softmax of the part.
        """
        if part.name == "probabilities":
            return step.candidates
        own = next((each for each in self.parts if each.name == "probabilities"), None)
        if own is None or f"softmax({part.symbol('papers')})" not in own.equations["papers"]:
            return ()
        greatest = np.sort(step.values[part.key])[::-1].tolist()
        return tuple((token, value) for (token, _), value in zip(step.candidates, greatest, strict=False))

    def values(self, key: str) -> Numbers:
        """A part at all steps, (steps, …); slots of a past that were not yet written are NaN."""
        rows = [step.values[key] for step in self.steps if key in step.values]
        width = max((row.shape[-1] for row in rows), default=0)
        wide = [
            np.pad(row, [(0, 0)] * (row.ndim - 1) + [(0, width - row.shape[-1])], constant_values=np.nan)
            for row in rows
        ]
        return np.stack(wide) if wide else np.zeros((0, 0))

    def to_json(self) -> dict[str, Any]:
        """As a JSON object; numbers over the vocabulary are left to the candidates."""
        shown = [part for part in self.parts if part.axis != "words"]
        return {
            "key": self.key,
            "title": self.title,
            "source": list(self.source),
            "parts": [
                {
                    "key": part.key,
                    "name": part.name,
                    "layer": part.layer,
                    "axis": part.axis,
                    "symbol": {letters: part.symbol(letters) for letters in LETTERS},
                    "equation": dict(part.equations),
                }
                for part in self.parts
            ],
            "steps": [
                {
                    "position": step.position,
                    "token": step.token,
                    "output": step.output,
                    "probability": None if step.probability is None else round(step.probability, 6),
                    "past": list(step.past),
                    "values": {
                        part.key: _rounded(step.values[part.key]) for part in shown if part.key in step.values
                    },
                    "candidates": [
                        {"token": token, "probability": round(probability, 6)}
                        for token, probability in step.candidates
                    ],
                }
                for step in self.steps
            ],
        }

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> TracedSection:
        """Read what `to_json` gives."""
        parts = (
            TracedPart(each["key"], each["name"], each["layer"], each["axis"], dict(each["equation"]))
            for each in values["parts"]
        )
        steps = (
            TracedStep(
                position=each["position"],
                token=each["token"],
                values={key: _numbers(value) for key, value in each["values"].items()},
                past=tuple(each["past"]),
                output=each["output"],
                probability=each["probability"],
                candidates=tuple((other["token"], other["probability"]) for other in each["candidates"]),
            )
            for each in values["steps"]
        )
        return cls(values["key"], values["title"], tuple(parts), tuple(steps), tuple(values["source"]))


@dataclass(frozen=True, eq=False)
class Trace:
    """What a model computed for a line.

    Attributes:
        task: the model's, or ``cell`` for a cell by itself.
        text: the line.
        tokens: as they were read, EOS last; the words of a language model begin with BOS.
        output: the translation, the caption, the label, the tags; empty for a language model.
        output_tokens: what was predicted, step by step.
        sections: in the order of computation.
        dtype: of the computation: ``float32`` or ``float64``.
        parameters: the matrices of a cell by itself, by name; empty for a model.
        letters: whose letters are shown: ``papers`` or ``slides``; JSON has both.
    """

    task: str
    text: str
    tokens: tuple[str, ...]
    output: str
    output_tokens: tuple[str, ...]
    sections: tuple[TracedSection, ...]
    dtype: str = "float32"
    parameters: Mapping[str, Numbers] = field(default_factory=dict)
    letters: str = "papers"

    def __post_init__(self) -> None:
        one_of("letters", self.letters, LETTERS)

    def __repr__(self) -> str:
        return f"Trace({self.text!r} → {self.output!r}, {', '.join(each.key for each in self.sections)})"

    def __getitem__(self, key: str) -> TracedSection:
        """A section by its key, such as ``decoder``.

        Raises:
            ConfigError: there is none of this key; the message lists them.
        """
        for section in self.sections:
            if section.key == key:
                return section
        raise ConfigError(
            f"no section {key!r}; this trace has {', '.join(each.key for each in self.sections)}"
        )

    def sections_of(self, start: str) -> Iterator[TracedSection]:
        """The sections whose keys are, or begin with, a name, such as ``encoder``."""
        return (each for each in self.sections if each.key == start or each.key.startswith(f"{start}."))

    @property
    def alpha(self) -> Numbers | None:
        """The decoder's attention (Ty, Tx), the mean over its heads; None without one."""
        for section in self.sections_of("decoder"):
            for part in section.parts:
                if part.name == "alpha" and part.axis == "source":
                    values = section.values(part.key)
                    return values.mean(axis=1) if values.ndim == 3 else values
        return None

    def to_json(self) -> dict[str, Any]:
        """Everything as a JSON object, numbers to six decimals; docs/trace.md describes it."""
        return {
            "format": FORMAT,
            "task": self.task,
            "text": self.text,
            "tokens": list(self.tokens),
            "output": self.output,
            "output_tokens": list(self.output_tokens),
            "dtype": self.dtype,
            "letters": self.letters,
            "parameters": {name: _rounded(value) for name, value in self.parameters.items()},
            "sections": [section.to_json() for section in self.sections],
        }

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Trace:
        """Read what `to_json` gives; numbers over the vocabulary are not in it."""
        return cls(
            task=values["task"],
            text=values["text"],
            tokens=tuple(values["tokens"]),
            output=values["output"],
            output_tokens=tuple(values["output_tokens"]),
            sections=tuple(map(TracedSection.from_json, values["sections"])),
            dtype=values["dtype"],
            parameters={name: _numbers(value) for name, value in values["parameters"].items()},
            letters=values["letters"],
        )

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Every part as an array over the steps of its section, in full precision, as ``decoder/alpha``."""
        named: dict[str, NDArray[Any]] = {
            "tokens": np.array(self.tokens, dtype=np.str_),
            "output_tokens": np.array(self.output_tokens, dtype=np.str_),
            **{f"parameters/{name}": value for name, value in self.parameters.items()},
        }
        for section in self.sections:
            for part in section.parts:
                named[f"{section.key}/{part.key}"] = section.values(part.key)
        return named

    def save(self, path: str | PathLike[str], *, components: int = 6) -> None:
        """Write the trace, in the format of the suffix: a page (.html), JSON (.json) or arrays (.npz).

        Args:
            path: the file.
            components: how many units of a layer a page shows; 0 for all.

        Raises:
            ConfigError: another suffix.
            DataError: the file cannot be written.
        """
        suffix = Path(path).suffix.lower()
        if suffix == ".html":
            from regard.plots.page.trace import render_trace

            page = render_trace(self, components).encode("utf-8", errors="replace")
            write_whole(path, lambda file: file.write(page))
        elif suffix == ".json":
            text = json.dumps(self.to_json(), ensure_ascii=False)
            write_whole(path, lambda file: file.write(text.encode("utf-8", errors="replace")))
        elif suffix == ".npz":
            write_whole(path, lambda file: np.savez_compressed(file, **self.arrays()))  # type: ignore[arg-type]
        else:
            raise ConfigError(f"{path}: no format for the suffix {suffix!r}; use {', '.join(SUFFIXES)}")

    def animate(self, path: str | PathLike[str], *, seconds: float = 1.6, frame: float | None = None) -> None:
        """Write an animated SVG of encoder, attention and decoder; see `plots.animation`.

        Args:
            path: the file.
            seconds: per step of the decoder.
            frame: a still picture of this moment, in seconds from the start; None moves.

        Raises:
            ConfigError: the trace has no encoder and decoder, or a number is out of range.
            DataError: the file cannot be written.
        """
        from regard.plots.animation import draw_unrolling

        picture = draw_unrolling(self, seconds=seconds, frame=frame).encode("utf-8", errors="replace")
        write_whole(path, lambda file: file.write(picture))

    def _repr_html_(self) -> str:
        from regard.plots.page.trace import trace_html

        return trace_html(self)


def _rounded(value: Numbers) -> Any:
    return [None if np.isnan(each) else round(float(each), 6) for each in value] if value.ndim == 1 else [
        _rounded(row) for row in value
    ]  # fmt: skip


def _numbers(values: Any) -> Numbers:
    """What `_rounded` gave, null as NaN."""
    return np.array(values, dtype=np.float64)
