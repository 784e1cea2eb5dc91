"""A translation as it unfolds, as one SVG file: the encoder reads, each step of the decoder attends and writes.

In: a `Trace` with an encoder and a decoder. Out: an SVG that moves by CSS alone, for slides and web pages, light and
dark; its states are the first units of the model's own, its lines as thick as alpha. A viewer who prefers reduced
motion sees the last step, and `frame` gives the picture of one moment.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from regard.config import in_range
from regard.errors import ConfigError
from regard.plots.equations import split_equation
from regard.plots.html import Markup, element
from regard.plots.text import printable, truncate

if TYPE_CHECKING:
    from regard.tasks.trace import Trace, TracedSection

WIDTH, HEIGHT = 1280, 720
MAX_COLUMNS = 40
_MARGIN = 56
_WORDS, _FORWARD, _BACKWARD = 672, 590, 542  # of the source: its words, its states
_CONTEXT, _STATE, _OUTPUT = 352, 246, 150  # of the decoder
_ATTENTIONAL, _LOWER_STATE = 208, 272  # where a state and its context meet above the state
_PHASES = {"alpha": 7, "context": 4, "state": 4, "attentional_state": 3, "probabilities": 5}
"""What a step shows, in the order in which its model computes it, and its share of the step's time."""
_UNITS, _TALL = 7, 20  # of a state: how many are drawn, and how tall
_RAMP = 0.3  # seconds in which something appears
_HOLD = 3.0  # seconds at the end
_READ = 0.45  # of a decoder's step: the time to read a source word
_FAINT, _LINK = 0.12, 0.6  # opacities of a line of an earlier step, and of all strong ones at the end
_FAINTEST, _STRONG = 0.02, 0.3  # alphas: below the first there is no line, from the second on it stays

_STYLE = """
svg { --paper: #ffffff; --ink: #1b1b1a; --soft: #85857f; --line: #d4d3cd; --accent: #2f7fd0; background: var(--paper); }
@media (prefers-color-scheme: dark) {
  svg { --paper: #161615; --ink: #ecebe6; --soft: #96958e; --line: #45443f; --accent: #62abee; }
}
.paper { fill: var(--paper); }
text { fill: var(--ink); font-family: system-ui, -apple-system, "Segoe UI", "Noto Sans", "DejaVu Sans", sans-serif; }
text { text-anchor: middle; }
.math { font-family: "STIX Two Text", "Cambria Math", Cambria, Georgia, "DejaVu Serif", serif; }
.letter { font-style: italic; }
.soft { fill: var(--soft); }
.output { font-weight: 650; }
.weight { fill: var(--accent); font-variant-numeric: tabular-nums; }
.frame { fill: none; stroke: var(--line); }
.ring { fill: none; stroke: var(--accent); stroke-width: 2.5; }
.more { fill: var(--accent); }
.less { fill: var(--ink); }
.arrow { fill: none; stroke: var(--line); stroke-width: 1.6; marker-end: url(#head); }
.word { stroke-dasharray: 2 4; }
.attend { fill: none; stroke: var(--accent); stroke-linecap: round; }
#head path { fill: var(--line); }
"""

Track = Sequence[tuple[float, float]]
"""Moments and the opacity at each; between two of them it changes evenly."""


def opacity_at(track: Track, moment: float) -> float:
    """The opacity at a moment; before the first and after the last of a track it stays."""
    return float(np.interp(moment, [time for time, _ in track], [value for _, value in track]))


@dataclass
class _Timeline:
    """Gives groups their opacity over time: keyframes of CSS, or the one of a moment."""

    total: float
    frame: float | None
    rules: dict[str, str] = field(default_factory=dict)

    def group(self, track: Track, *children: str) -> Markup:
        """A group that appears and disappears."""
        if self.frame is not None:
            return element("g", *children, opacity=round(opacity_at(track, self.frame), 3))
        stops = ";".join(f"{100 * time / self.total:.2f}%{{opacity:{value:g}}}" for time, value in track)
        name = self.rules.setdefault(stops.replace(";", ""), f"k{len(self.rules)}")
        return element("g", *children, class_=name, opacity=track[-1][1])

    def style(self) -> str:
        """The rules of all groups; none where the viewer prefers reduced motion."""
        rules = [f"@keyframes {name}{{{stops}}}" for stops, name in self.rules.items()]
        names = ",".join(f".{name}" for name in self.rules.values())
        moving = "".join(
            f".{name}{{animation:{name} {self.total:g}s linear infinite}}" for name in self.rules.values()
        )
        still = f"@media (prefers-reduced-motion: reduce){{{names}{{animation:none}}}}" if names else ""
        return "\n".join([*rules, moving, still])

    def from_(self, start: float) -> Track:
        """Appears, and stays."""
        return ((0, 0), (start, 0), (min(start + _RAMP, self.total), 1), (self.total, 1))

    def during(self, start: float, end: float) -> Track:
        """Appears, and disappears."""
        gone = min(end + _RAMP, self.total)
        return ((0, 0), (start, 0), (start + _RAMP, 1), (end, 1), (gone, 0), (self.total, 0))

    def returning(self, start: float, end: float, last: float) -> Track:
        """Appears, fades, and is there again from `last` on."""
        faint = ((end, 1), (end + _RAMP, _FAINT), (last, _FAINT)) if end + _RAMP < last else ()
        return ((0, 0), (start, 0), (start + _RAMP, 1), *faint, (last + _RAMP, _LINK), (self.total, _LINK))


@dataclass(frozen=True)
class _Columns:
    """Places from left to right.

    Attributes:
        count: how many.
        widest: of a column.
    """

    count: int
    widest: float

    @property
    def width(self) -> float:
        return min(self.widest, (WIDTH - 2 * _MARGIN) / self.count)

    def x(self, k: int) -> float:
        return WIDTH / 2 + (k - (self.count - 1) / 2) * self.width

    @property
    def strip(self) -> float:
        """The width of a state."""
        return min(0.66 * self.width, 84)

    def size(self, words: Sequence[str], largest: float) -> float:
        """The font size at which the longest of some words fits its column."""
        longest = max(map(len, words))
        return max(7.0, min(largest, 0.95 * self.width / (0.58 * longest)))


def draw_unrolling(trace: "Trace", *, seconds: float = 1.6, frame: float | None = None) -> str:
    """The animated picture.

    Args:
        trace: of a translation.
        seconds: per step of the decoder.
        frame: a still picture of this moment, in seconds from the start; None moves.

    Raises:
        ConfigError: no encoder or decoder, too many tokens, or a number out of range.
    """
    in_range("seconds", seconds, 0.1, 60)
    encoder, decoder = list(trace.sections_of("encoder")), list(trace.sections_of("decoder"))
    if not encoder or not decoder:
        raise ConfigError(
            f"an animation shows an encoder and a decoder, and a trace of the task {trace.task!r} does not have both; "
            "give a translator"
        )
    num_columns = max(len(trace.tokens), len(trace.output_tokens) + 1)
    if num_columns > MAX_COLUMNS:
        raise ConfigError(
            f"{num_columns} tokens side by side, and at most {MAX_COLUMNS} can be read; give a shorter line"
        )
    return _Unrolling(trace, encoder, decoder[0], seconds, frame).draw()


class _Unrolling:
    """The places, the moments and the pieces of one picture."""

    def __init__(
        self,
        trace: "Trace",
        encoder: Sequence["TracedSection"],
        decoder: "TracedSection",
        seconds: float,
        frame: float | None,
    ) -> None:
        self.trace, self.decoder, self.seconds = trace, decoder, seconds
        directions = {section.key.rpartition(".")[2]: section for section in encoder}  # the top layer's
        self.encoder = [directions[name] for name in ("forward", "backward") if name in directions] or [
            encoder[-1]
        ]
        self.reading = _READ * seconds
        self.read = 0.4 + self.reading * len(trace.tokens) + 0.5
        self.timeline = _Timeline(round(self.read + seconds * len(decoder.steps) + _HOLD, 3), frame)
        self.source = _Columns(len(trace.tokens), 150)
        self.target = _Columns(len(decoder.steps) + 1, 150)
        self.alpha = trace.alpha
        self.parts = {
            _shown_name(part.name): part for part in decoder.parts if not part.key.endswith("past.alpha")
        }
        order = [name for name in self.parts if name in _PHASES]
        ends = np.cumsum([_PHASES[name] for name in order])
        self.moments = {
            name: float(end - _PHASES[name]) / ends[-1] for name, end in zip(order, ends, strict=True)
        }
        self.state_y = _LOWER_STATE if "attentional_state" in self.parts else _STATE

    def draw(self) -> str:
        pieces = [*self._letters(), *self._read(), *self._start()]
        for i in range(len(self.decoder.steps)):
            pieces += self._step(i)
        pieces += self._captions()
        arrow = element(
            "marker", element("path", d="M0 0L6 3L0 6z"), id="head", viewBox="0 0 6 6", refX=5, refY=3,
            markerWidth=6, markerHeight=6, orient="auto",
        )  # fmt: skip
        style = element("style", Markup(_STYLE + self.timeline.style()))
        picture = element(
            "svg",
            element("title", f"{printable(self.trace.text)} → {printable(self.trace.output)}"),
            element(
                "desc",
                "The encoder reads the source; each step of the decoder attends to it and writes a word.",
            ),
            style,
            element("defs", arrow),
            element("rect", class_="paper", width=WIDTH, height=HEIGHT),
            *pieces,
            xmlns="http://www.w3.org/2000/svg",
            viewBox=f"0 0 {WIDTH} {HEIGHT}",
            role="img",
        )
        return f"{picture}\n"

    def _letters(self) -> list[Markup]:
        """What the rows are called, at the left."""
        letters = self.trace.letters
        rows = [
            (section.parts[-1].symbol(letters), y)
            for section, y in zip(self.encoder, self._rows(), strict=True)
        ]
        places = {"context": _CONTEXT, "state": self.state_y, "attentional_state": _ATTENTIONAL}
        rows += [(self.parts[name].symbol(letters), y) for name, y in places.items() if name in self.parts]
        return [_equation(letter, _MARGIN / 2, y + 6, 18, "soft") for letter, y in rows]

    def _rows(self) -> tuple[float, ...]:
        """Where the states of the encoder's directions are."""
        return (_FORWARD, _BACKWARD) if len(self.encoder) > 1 else ((_FORWARD + _BACKWARD) / 2,)

    # the encoder

    def _read(self) -> list[Markup]:
        tokens = [truncate(printable(token)) for token in self.trace.tokens]
        size = self.source.size(tokens, 25)
        pieces = [_text(token, self.source.x(j), _WORDS, size) for j, token in enumerate(tokens)]
        for row, (section, y) in enumerate(zip(self.encoder, self._rows(), strict=True)):
            places = [step.position for step in section.steps]
            for count, j in enumerate(places):
                strip = _strip(section, "state", count, self.source.x(j), y, self.source.strip)
                arrows = []
                if count:
                    arrows.append(self._across(self.source, places[count - 1], j, y))
                if row == 0:
                    arrows.append(_arrow(self.source.x(j), _WORDS - size, self.source.x(j), y + 13))
                moment = 0.4 + count * self.reading
                pieces.append(self.timeline.group(self.timeline.from_(moment), strip, *arrows))
        return pieces

    def _across(self, columns: _Columns, before: int, after: int, y: float) -> Markup:
        half = columns.strip / 2 + 5
        sign = 1 if after > before else -1
        return _arrow(columns.x(before) + sign * half, y, columns.x(after) - sign * half, y)

    def _start(self) -> list[Markup]:
        start = next(iter(self.trace.sections_of("start")), None)
        if start is None:
            return []
        key = next(part.key for part in reversed(start.parts) if part.name == "state")
        x, y = self.target.x(0), self.state_y
        strip = _strip(start, key, 0, x, y, self.target.strip)
        letter = start.parts[0].symbol(self.trace.letters)
        pieces = [strip, _equation(letter, x, y + 36, 17, "soft")]
        if self.alpha is None:  # all that the decoder knows of the source
            last = self.encoder[-1].steps[-1].position
            from_x, top = self.source.x(last), min(self._rows()) - 18
            path = f"M{from_x:.1f} {top}C{from_x:.1f} {top - 130} {x:.1f} {y + 190} {x:.1f} {y + 50}"
            pieces.append(element("path", d=path, class_="attend", stroke_width=4))
        return [self.timeline.group(self.timeline.from_(self.read - 0.5), *pieces)]

    # a step of the decoder

    def _moment(self, i: int, name: str) -> float:
        """When step i computes a part."""
        return self.read + (i + self.moments[name]) * self.seconds

    def _step(self, i: int) -> list[Markup]:
        step, x, y = self.decoder.steps[i], self.target.x(i + 1), self.state_y
        pieces = self._attention(i, x)
        if "context" in self.parts:
            outline = _outline(x, _CONTEXT, self.target.strip)
            pieces.append(self.timeline.group(self.timeline.from_(self._moment(i, "alpha")), outline))
            if self.moments["context"] < self.moments["state"]:
                up = _arrow(x, _CONTEXT - 14, x, y + 14)
            else:
                up = self._around(x)
            pieces.append(self._appear(i, "context", _CONTEXT, up))
        fed = [] if i == 0 else [self._word_arrow(i)]
        pieces.append(self._appear(i, "state", y, self._across(self.target, i, i + 1, y), *fed))
        top = y
        if "attentional_state" in self.parts:
            top = _ATTENTIONAL
            pieces.append(self._appear(i, "attentional_state", top, _arrow(x, y - 14, x, top + 14)))
        words = [truncate(printable(each.output or "")) for each in self.decoder.steps]
        size = self.target.size(words, 28)
        chance = dict(step.candidates).get(step.output or "", 0.0)
        word = _text(words[i], x, _OUTPUT, size, "output")
        small = _text(f"{chance:.2f}", x, _OUTPUT - 1.15 * size, 0.6 * size, "soft")
        up = _arrow(x, top - 14, x, _OUTPUT + 12)
        appear = self.timeline.from_(self._moment(i, "probabilities"))
        return [*pieces, self.timeline.group(appear, word, small, up)]

    def _appear(self, i: int, name: str, y: float, *arrows: Markup) -> Markup:
        """A part of step i, and the arrows that come with it."""
        strip = _strip(self.decoder, self.parts[name].key, i, self.target.x(i + 1), y, self.target.strip)
        return self.timeline.group(self.timeline.from_(self._moment(i, name)), strip, *arrows)

    def _around(self, x: float) -> Markup:
        """From the context past the state, to where both meet."""
        side = x + self.target.strip / 2
        path = f"M{side - 8:.1f} {_CONTEXT - 14}C{side + 16:.1f} {_CONTEXT - 50} {side + 16:.1f} {_ATTENTIONAL + 50}"
        return element("path", d=f"{path} {side - 10:.1f} {_ATTENTIONAL + 16}", class_="arrow")

    def _word_arrow(self, i: int) -> Markup:
        """From the word before to the state that reads it."""
        start, end, y = self.target.x(i), self.target.x(i + 1), self.state_y
        first, second = f"{start + 20:.1f} {y - 40}", f"{end - 30:.1f} {y - 50}"
        path = f"M{start + 8:.1f} {_OUTPUT + 12}C{first} {second} {end - 8:.1f} {y - 16}"
        return element("path", d=path, class_="arrow word")

    def _attention(self, i: int, x: float) -> list[Markup]:
        if self.alpha is None:
            return []
        begin, end = self._moment(i, "alpha"), self.read + (i + 0.94) * self.seconds
        goal = (_CONTEXT if "context" in self.parts else self.state_y) + 15
        lines, kept, weights = [], [], []
        top = min(self._rows()) - 16
        size = min(16.0, 0.2 * self.source.width + 3)
        for j, weight in enumerate(self.alpha[i].tolist()):
            if weight < _FAINTEST:
                continue
            start = self.source.x(j)
            path = f"M{start:.1f} {top - 26}C{start:.1f} {top - 90} {x:.1f} {goal + 75} {x:.1f} {goal}"
            line = element(
                "path", d=path, class_="attend", stroke_width=round(1 + 9 * weight, 2),
                opacity=round(0.15 + 0.75 * weight, 3),
            )  # fmt: skip
            (kept if weight >= _STRONG else lines).append(line)
            shown = round(0.35 + 0.65 * weight, 2)
            weights.append(_text(f"{weight:.2f}", start, top - 4, size, "weight", opacity=shown))
        during = self.timeline.during(begin, end)
        ring = self._ring(i)
        return [
            self.timeline.group(self.timeline.returning(begin, end, self.timeline.total - _HOLD), *kept),
            self.timeline.group(during, *lines, *weights, *ring),
        ]

    def _ring(self, i: int) -> list[Markup]:
        """Around the state that attends: the one before, or the step's own where that comes first."""
        if "energies" not in self.parts:
            return []
        width = self.target.strip + 14
        x = self.target.x(i if self.moments["alpha"] < self.moments["state"] else i + 1)
        return [
            element(
                "rect", x=round(x - width / 2, 1), y=self.state_y - 18, width=round(width, 1), height=36, rx=8,
                class_="ring",
            )
        ]  # fmt: skip

    # the equations of what is happening

    def _captions(self) -> list[Markup]:
        letters = self.trace.letters
        state = next(part for part in reversed(self.encoder[0].parts) if part.name == "state")
        reading = self.timeline.during(0.1, self.read - 0.6)
        pieces = [self.timeline.group(reading, _equation(state.equations[letters], WIDTH / 2, 62, 27))]
        ramp = min(0.1 * self.seconds, _RAMP)
        for name, (share, until) in zip(self.moments, pairwise((*self.moments.values(), 1.0)), strict=True):
            track: list[tuple[float, float]] = [(0, 0)]
            for i in range(len(self.decoder.steps)):
                start, end = (self.read + (i + part) * self.seconds for part in (share, until))
                track += [(start, 0), (start + ramp, 1), (end - ramp / 2, 1), (end, 0)]
            track.append((self.timeline.total, 0))
            text = _equation(self.parts[name].equations[letters], WIDTH / 2, 62, 27)
            pieces.append(self.timeline.group(track, text))
        return pieces


def _shown_name(name: str) -> str:
    """Deep fusion reads the source where others have a context."""
    return "context" if name == "reading" else name


def _text(text: str, x: float, y: float, size: float, name: str | None = None, **more: float) -> Markup:
    return element("text", text, x=round(x, 1), y=round(y, 1), font_size=round(size, 1), class_=name, **more)


def _arrow(x: float, y: float, to_x: float, to_y: float) -> Markup:
    return element("path", d=f"M{x:.1f} {y:.1f}L{to_x:.1f} {to_y:.1f}", class_="arrow")


def _strip(section: "TracedSection", key: str, step: int, x: float, y: float, width: float) -> Markup:
    """A state: its first units, the deeper the greater in the section; blue where positive, grey where negative."""
    rows = section.values(key)[:, :_UNITS]
    units, greatest = rows[step].tolist(), float(np.abs(rows).max(initial=1e-9))
    cell = width / len(units)
    left, top = x - width / 2, y - _TALL / 2
    cells = [
        element(
            "rect", x=round(left + k * cell, 2), y=top, width=round(cell, 2), height=_TALL,
            class_="more" if value >= 0 else "less",
            fill_opacity=round((0.9 if value >= 0 else 0.55) * abs(value) / greatest, 3),
        )
        for k, value in enumerate(units)
    ]  # fmt: skip
    return element("g", *cells, _outline(x, y, width))


def _outline(x: float, y: float, width: float) -> Markup:
    """The frame of a state."""
    return element(
        "rect", x=round(x - width / 2 - 2, 2), y=y - _TALL / 2 - 2, width=round(width + 4, 2), height=_TALL + 4,
        rx=5, class_="frame",
    )  # fmt: skip


def _equation(text: str, x: float, y: float, size: float, name: str = "") -> Markup:
    """An equation with its sub- and superscripts, centred on x unless its class says otherwise."""
    pieces, shift = [], 0.0
    for run in split_equation(text):
        offset = {0: 0.0, -1: 0.24, 1: -0.34}[run.level] * size
        pieces.append(
            element(
                "tspan", run.text, dy=round(offset - shift, 2),
                font_size=round(size * (0.68 if run.level else 1), 1), class_="letter" if run.italic else None,
            )
        )  # fmt: skip
        shift = offset
    return element("text", *pieces, x=round(x, 1), y=y, class_=f"math {name}".strip(), xml_space="preserve")
