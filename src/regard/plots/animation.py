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
from numpy.typing import NDArray

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
    encoder, decoder = list(trace.find("encoder")), list(trace.find("decoder"))
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
        letters, of = self.trace.letters, {part.name: part for part in self.decoder.parts}
        rows = [
            (section.parts[-1].symbol(letters), y)
            for section, y in zip(self.encoder, self._rows(), strict=True)
        ]
        for name, y in (("context", _CONTEXT), ("reading", _CONTEXT), ("state", _STATE)):
            if name in of:
                rows.append((of[name].symbol(letters), y))
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
            for count, (j, step) in enumerate(zip(places, section.steps, strict=True)):
                strip = _strip(step.values["state"], self.source.x(j), y, self.source.strip)
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
        start = next(iter(self.trace.find("start")), None)
        if start is None:
            return []
        key = next(part.key for part in reversed(start.parts) if part.name == "state")
        x = self.target.x(0)
        strip = _strip(start.steps[0].values[key], x, _STATE, self.target.strip)
        letter = start.parts[0].symbol(self.trace.letters)
        pieces = [strip, _equation(letter, x, _STATE + 36, 17, "soft")]
        if self.alpha is None:  # all that the decoder knows of the source
            last = self.encoder[-1].steps[-1].position
            from_x, top = self.source.x(last), _BACKWARD - 18
            path = (
                f"M{from_x:.1f} {top}C{from_x:.1f} {top - 130} {x:.1f} {_STATE + 190} {x:.1f} {_STATE + 50}"
            )
            pieces.append(element("path", d=path, class_="attend", stroke_width=4))
        return [self.timeline.group(self.timeline.from_(self.read - 0.5), *pieces)]

    # a step of the decoder

    def _step(self, i: int) -> list[Markup]:
        step, x = self.decoder.steps[i], self.target.x(i + 1)
        begin = self.read + i * self.seconds
        middle, late = begin + 0.4 * self.seconds, begin + 0.6 * self.seconds
        end = begin + 0.94 * self.seconds
        pieces = self._attention(i, x, begin, end)
        context = next((part.key for part in self.decoder.parts if part.name in ("context", "reading")), None)
        if context is not None:
            strip = _strip(step.values[context], x, _CONTEXT, self.target.strip)
            up = _arrow(x, _CONTEXT - 14, x, _STATE + 14)
            outline = _outline(x, _CONTEXT, self.target.strip)
            pieces.append(self.timeline.group(self.timeline.from_(begin), outline))
            pieces.append(self.timeline.group(self.timeline.from_(middle), strip, up))
        key = next(part.key for part in reversed(self.decoder.parts) if part.name == "state")
        state = _strip(step.values[key], x, _STATE, self.target.strip)
        across = self._across(self.target, i, i + 1, _STATE)
        fed = [] if i == 0 else [self._word_arrow(i)]
        pieces.append(self.timeline.group(self.timeline.from_(late), state, across, *fed))
        words = [truncate(printable(each.output or "")) for each in self.decoder.steps]
        size = self.target.size(words, 28)
        chance = dict(step.candidates).get(step.output or "", 0.0)
        word = _text(words[i], x, _OUTPUT, size, "output")
        small = _text(f"{chance:.2f}", x, _OUTPUT - 1.15 * size, 0.6 * size, "soft")
        up = _arrow(x, _STATE - 14, x, _OUTPUT + 12)
        pieces.append(self.timeline.group(self.timeline.from_(late + 0.15 * self.seconds), word, small, up))
        return pieces

    def _word_arrow(self, i: int) -> Markup:
        """From the word before to the state that reads it."""
        start, end = self.target.x(i), self.target.x(i + 1)
        first, second = f"{start + 20:.1f} {_STATE - 40}", f"{end - 30:.1f} {_STATE - 50}"
        path = f"M{start + 8:.1f} {_OUTPUT + 12}C{first} {second} {end - 8:.1f} {_STATE - 16}"
        return element("path", d=path, class_="arrow word")

    def _attention(self, i: int, x: float, begin: float, end: float) -> list[Markup]:
        if self.alpha is None:
            return []
        lines, kept, weights = [], [], []
        top = min(self._rows()) - 16
        size = min(16.0, 0.2 * self.source.width + 3)
        for j, weight in enumerate(self.alpha[i].tolist()):
            if weight < _FAINTEST:
                continue
            start = self.source.x(j)
            path = f"M{start:.1f} {top - 26}C{start:.1f} {top - 90} {x:.1f} {_CONTEXT + 90} {x:.1f} {_CONTEXT + 15}"
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
        """Around the state that attends, the one before or the step's own."""
        energies = next((part for part in self.decoder.parts if part.name == "energies"), None)
        if energies is None:
            return []
        before = "−1}" in energies.equations["papers"]
        width = self.target.strip + 14
        x = self.target.x(i if before else i + 1)
        return [
            element(
                "rect",
                x=round(x - width / 2, 1),
                y=_STATE - 18,
                width=round(width, 1),
                height=36,
                rx=8,
                class_="ring",
            )
        ]

    # the equations of what is happening

    def _captions(self) -> list[Markup]:
        letters, pieces = self.trace.letters, []
        state = next(part for part in reversed(self.encoder[0].parts) if part.name == "state")
        reading = self.timeline.during(0.1, self.read - 0.6)
        pieces.append(self.timeline.group(reading, _equation(state.equations[letters], WIDTH / 2, 62, 27)))
        of = {part.name: part.equations[letters] for part in self.decoder.parts}
        shown = [
            of[name]
            for name in ("energies", "alpha", "context", "reading", "state", "probabilities")
            if name in of
        ]
        if "alpha" in of:
            shown = [each for each in shown if each != of.get("energies")]
        moments = {1: (0.0,), 2: (0.0, 0.5), 3: (0.0, 0.4, 0.6), 4: (0.0, 0.35, 0.55, 0.78)}
        shares = moments.get(len(shown), tuple(k / len(shown) for k in range(len(shown))))
        for text, (share, until) in zip(shown, pairwise((*shares, 1.0)), strict=True):
            track: list[tuple[float, float]] = [(0, 0)]
            ramp = min(0.12 * self.seconds, _RAMP)
            for i in range(len(self.decoder.steps)):
                start = self.read + (i + share) * self.seconds
                end = self.read + (i + until) * self.seconds
                track += [(start, 0), (start + ramp, 1), (end - ramp / 2, 1), (end, 0)]
            track.append((self.timeline.total, 0))
            pieces.append(self.timeline.group(track, _equation(text, WIDTH / 2, 62, 27)))
        return pieces


def _text(text: str, x: float, y: float, size: float, name: str | None = None, **more: float) -> Markup:
    return element("text", text, x=round(x, 1), y=round(y, 1), font_size=round(size, 1), class_=name, **more)


def _arrow(x: float, y: float, to_x: float, to_y: float) -> Markup:
    return element("path", d=f"M{x:.1f} {y:.1f}L{to_x:.1f} {to_y:.1f}", class_="arrow")


def _strip(values: NDArray[np.floating], x: float, y: float, width: float) -> Markup:
    """A state: its first units, the deeper the greater; blue where positive, grey where negative."""
    units = values[:_UNITS].tolist()
    cell = width / len(units)
    greatest = max(1.0, float(np.abs(values[:_UNITS]).max()))
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
