"""A sampled sentence as it grew: a column a step, the candidates of each hanging from the word that was drawn.

In: a sample. Out: a matplotlib `Figure`. A candidate's bar is the probability it was drawn with; where temperature or
truncation made it another than the model's, a stroke across shows the model's own. The one drawn is bold and
red. Long samples continue in further bands.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from regard.plots.figures.canvas import new_figure, require_matplotlib, whole_page
from regard.plots.figures.lettering import Lettering, fill
from regard.plots.style import FAINT, FULL, INK, NEWEST, SOFT, Flow, flow, runs_right_to_left, shortened

if TYPE_CHECKING:
    from regard.tasks.language_model.result import Candidate, Sample, SampleStep


if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MARGIN = 0.15  # inches
_ROOM = 9.0  # inches for a band of columns
_SIZE = 11.0
_NARROWEST = 0.85  # inches, of a column
_WORD, _ROW, _GAP = 1.75, 1.95, 1.2  # ems of the large letters: the word, a candidate, between bands
_STROKE = 0.018  # inches
_ALIKE = 1e-4  # two probabilities that no eye tells apart
_PLAIN_KEY = "bar, %: probability    bold: drawn"
_TEMPERED_KEY = "bar, %: probability of being drawn    stroke: the model's own    bold: drawn"


def draw_growth(sample: "Sample", *, most: int = 5, title: str | None = None) -> Figure:
    """Draw a sample with its alternatives.

    Args:
        sample: what to draw.
        most: how many candidates of each step are shown, the drawn one among them.
        title: a line above it.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    require_matplotlib()
    columns = [step.ranked(most) for step in sample.steps]
    written = [one.token for column in columns for one in column]
    letters = Lettering.of([*written, sample.prompt, title or "", _TEMPERED_KEY], _SIZE)
    small = letters.smaller(0.82)
    key = _TEMPERED_KEY if is_tempered(sample.steps) else _PLAIN_KEY
    leftwards = runs_right_to_left([sample.text])
    bands = flow(
        [_width(step, column, letters) for step, column in zip(sample.steps, columns, strict=True)],
        _ROOM,
        0.7 * letters.em,
        right_to_left=leftwards,
    )
    prompt = _lines(sample.prompt, letters, max(bands.width, 3.0))
    heights = [
        (_WORD + _ROW * max((len(columns[k]) for k in band), default=0) + _GAP) * letters.em
        for band in bands.lines()
    ]
    texts = ((title or "", True), *((line, False) for line in prompt))
    inner = max(bands.width, small.width(key), *(letters.width(line, bold=bold) for line, bold in texts))
    head = 2 * letters.em * bool(title) + (1.6 * len(prompt) + 0.4 * bool(prompt)) * letters.em
    figure = new_figure(inner + 2 * _MARGIN, head + sum(heights) + 1.2 * small.em + 2 * _MARGIN)
    axes = whole_page(figure)
    top = _MARGIN
    if title:
        letters.write(axes, _MARGIN, top + letters.em, title, bold=True)
        top += 2 * letters.em
    for line in prompt:
        start = (_MARGIN + inner, "right") if leftwards else (_MARGIN, "left")
        letters.write(axes, start[0], top + letters.em, line, colour=SOFT, align=start[1])
        top += 1.6 * letters.em
    top = _MARGIN + head
    _draw_bands(axes, letters, sample.steps, columns, bands, (top, heights))
    small.write(axes, _MARGIN, top + sum(heights) + 0.9 * small.em, key, colour=SOFT)
    return figure


def is_tempered(steps: "Sequence[SampleStep]") -> bool:
    """Say whether anything was drawn from another distribution than the model's."""
    return any(
        abs(one.sampling_probability - one.model_probability) > _ALIKE
        for step in steps
        for one in (step.chosen, *step.alternatives)
    )


def per_cent(probability: float) -> str:
    """Write a probability in two digits or so: 62, 4.1, 0.3; 0 is for what could not be drawn."""
    if probability <= 0:
        return "0"
    return f"{100 * probability:.0f}" if probability >= 0.0995 else f"{100 * probability:.1f}"


def _lines(text: str, letters: Lettering, room: float) -> list[str]:
    """Break a prompt into lines."""
    words = text.split()
    broken = flow([letters.width(word) for word in words], room, letters.width(" "))
    return [" ".join(words[k] for k in line) for line in broken.lines() if line]


def _width(step: "SampleStep", column: "Sequence[Candidate]", letters: Lettering) -> float:
    small = letters.smaller(0.82)
    numbers = small.width("99.9")
    tokens = max(small.width(shortened(one.token), bold=True) for one in column)
    word = letters.width(shortened(step.chosen.token), bold=True)
    return max(_NARROWEST, word, tokens + numbers + 1.2 * small.em)


def _draw_bands(
    axes: Axes,
    letters: Lettering,
    steps: "Sequence[SampleStep]",
    columns: "Sequence[Sequence[Candidate]]",
    bands: Flow,
    rows: tuple[float, Sequence[float]],
) -> None:
    top, heights = rows
    tempered = is_tempered(steps)
    for step, column, place in zip(steps, columns, bands.places, strict=True):
        left, upper = _MARGIN + place.left, top + sum(heights[: place.line])
        letters.write(axes, left, upper + letters.em, shortened(step.chosen.token), bold=True)
        for number, one in enumerate(column):
            row = upper + (_WORD + number * _ROW) * letters.em
            _draw_candidate(axes, letters, one, (left, row, place.width), one is step.chosen, tempered)


def _draw_candidate(
    axes: Axes,
    letters: Lettering,
    one: "Candidate",
    place: tuple[float, float, float],
    chosen: bool,
    tempered: bool,
) -> None:
    """Write the token and its number, and beneath them the bar."""
    left, top, width = place
    small, height = letters.smaller(0.82), 0.24 * letters.em
    baseline, bar = top + letters.em, top + 1.32 * letters.em
    colour = NEWEST if chosen else SOFT if one.sampling_probability <= 0 else INK
    small.write(axes, left, baseline, shortened(one.token), colour=colour, bold=chosen)
    number = per_cent(one.sampling_probability)
    small.write(axes, left + width, baseline, number, colour=colour, bold=chosen, align="right")
    fill(axes, left, bar, width, height, FAINT)
    fill(axes, left, bar, width * one.sampling_probability, height, NEWEST if chosen else FULL)
    if tempered:
        stroke = left + width * one.model_probability - _STROKE / 2
        fill(axes, stroke, bar - 0.5 * height, _STROKE, 2 * height, INK)
