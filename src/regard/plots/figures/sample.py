"""A sampled sentence as a figure: one column per step, the candidates below the token that was sampled.

In: a sample. Out: a matplotlib `Figure`. A candidate's bar is its sampling probability; where temperature or
truncation changed it, a tick shows the model's own. The sampled token is bold and red. Long samples continue in
further bands.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from regard.plots.colours import ACCENT, FAINT, HIGHLIGHT, INK, MUTED
from regard.plots.figures.fonts import MARGIN, Font, fill_rectangle, new_page
from regard.plots.text import WrappedWords, is_right_to_left, percent, truncate, wrap

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from regard.tasks.language_model.result import Candidate, Sample, SampleStep

_LINE_WIDTH = 9.0  # inches of a band of columns
_SIZE = 11.0
_NARROWEST = 0.85  # inches, of a column
_WORD, _ROW, _GAP = 1.75, 1.95, 1.2  # ems: the token, a candidate, between bands
_TICK = 0.018  # inches
_SAME_BELOW = 1e-4  # a difference of probabilities that is not visible
_PLAIN_KEY = "bar, %: probability    bold: sampled"
_CHANGED_KEY = "bar, %: sampling probability    tick: model probability    bold: sampled"


def draw_sample(sample: Sample, *, most: int = 5, title: str | None = None) -> Figure:
    """Draw a sample with its alternatives.

    Args:
        sample: the sample.
        most: how many candidates of each step are shown, the sampled one among them.
        title: a line above it.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    columns = [step.ranked(most) for step in sample.steps]
    written = [one.token for column in columns for one in column]
    font = Font.covering([*written, sample.prompt, title or "", _CHANGED_KEY], _SIZE)
    small = font.smaller(0.82)
    key = _CHANGED_KEY if differs_from_model(sample.steps) else _PLAIN_KEY
    right_to_left = is_right_to_left([sample.text])
    bands = wrap(
        [_width(step, column, font) for step, column in zip(sample.steps, columns, strict=True)],
        _LINE_WIDTH,
        0.7 * font.em,
        right_to_left=right_to_left,
    )
    prompt = _lines(sample.prompt, font, max(bands.width, 3.0))
    heights = [
        (_WORD + _ROW * max((len(columns[k]) for k in band), default=0) + _GAP) * font.em
        for band in bands.lines()
    ]
    width = max(bands.width, small.width(key), *map(font.width, prompt))
    head = (1.6 * len(prompt) + 0.4 * bool(prompt)) * font.em
    page = new_page(font, width, head + sum(heights) + 1.2 * small.em, title=title)
    axes, top = page.axes, page.top
    for line in prompt:
        start = (MARGIN + page.width, "right") if right_to_left else (MARGIN, "left")
        font.write(axes, start[0], top + font.em, line, colour=MUTED, align=start[1])
        top += 1.6 * font.em
    top = page.top + head
    _draw_bands(axes, font, sample.steps, columns, bands, (top, heights))
    small.write(axes, MARGIN, top + sum(heights) + 0.9 * small.em, key, colour=MUTED)
    return page.figure


def differs_from_model(steps: Sequence[SampleStep]) -> bool:
    """Whether temperature or truncation changed the distribution that was sampled from."""
    return any(
        abs(one.sampling_probability - one.model_probability) > _SAME_BELOW
        for step in steps
        for one in (step.chosen, *step.alternatives)
    )


def _lines(text: str, font: Font, line_width: float) -> list[str]:
    """Wrap a prompt."""
    words = text.split()
    wrapped = wrap([font.width(word) for word in words], line_width, font.width(" "))
    return [" ".join(words[k] for k in line) for line in wrapped.lines() if line]


def _width(step: SampleStep, column: Sequence[Candidate], font: Font) -> float:
    small = font.smaller(0.82)
    numbers = small.width("99.9")
    tokens = max(small.width(truncate(one.token), bold=True) for one in column)
    word = font.width(truncate(step.chosen.token), bold=True)
    return max(_NARROWEST, word, tokens + numbers + 1.2 * small.em)


def _draw_bands(
    axes: Axes,
    font: Font,
    steps: Sequence[SampleStep],
    columns: Sequence[Sequence[Candidate]],
    bands: WrappedWords,
    rows: tuple[float, Sequence[float]],
) -> None:
    top, heights = rows
    changed = differs_from_model(steps)
    for step, column, place in zip(steps, columns, bands.positions, strict=True):
        left, upper = MARGIN + place.left, top + sum(heights[: place.line])
        font.write(axes, left, upper + font.em, truncate(step.chosen.token), bold=True)
        for number, one in enumerate(column):
            row = upper + (_WORD + number * _ROW) * font.em
            _draw_candidate(axes, font, one, (left, row, place.width), one is step.chosen, changed)


def _draw_candidate(
    axes: Axes,
    font: Font,
    one: Candidate,
    place: tuple[float, float, float],
    chosen: bool,
    changed: bool,
) -> None:
    """Write the token and its number, and the bar below them."""
    left, top, width = place
    small, height = font.smaller(0.82), 0.24 * font.em
    baseline, bar = top + font.em, top + 1.32 * font.em
    colour = HIGHLIGHT if chosen else MUTED if one.sampling_probability <= 0 else INK
    small.write(axes, left, baseline, truncate(one.token), colour=colour, bold=chosen)
    number = percent(one.sampling_probability)
    small.write(axes, left + width, baseline, number, colour=colour, bold=chosen, align="right")
    fill_rectangle(axes, left, bar, width, height, FAINT)
    fill_rectangle(axes, left, bar, width * one.sampling_probability, height, HIGHLIGHT if chosen else ACCENT)
    if changed:
        tick = left + width * one.model_probability - _TICK / 2
        fill_rectangle(axes, tick, bar - 0.5 * height, _TICK, 2 * height, INK)
