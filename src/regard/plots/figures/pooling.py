"""Classifications as a figure: words on the colour of their pooling weight, labels with their probabilities.

In: classifications. Out: a matplotlib `Figure`, one below the other, all to one scale. The scale ends at the next
tenth above the greatest weight and says so: weights among twenty words would be pale on a scale to 1. Without weights
the words are on white.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from regard.errors import DataError
from regard.plots.colours import FAINT, INK, MUTED, scale_end, weight_colour
from regard.plots.figures.canvas import new_figure, page_axes, require_matplotlib
from regard.plots.figures.fonts import Font, draw_scale, fill_rectangle, scale_width
from regard.plots.text import WrappedWords, is_right_to_left, truncate, wrap

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from regard.tasks.classify.result import Classification

_MARGIN = 0.15  # inches
_LINE_WIDTH = 6.0  # inches of a line of words
_BAR = 0.9  # inches: a probability of 1
_SIZE = 11.0
_LINE, _GAP = 1.75, 1.0  # ems from line to line, and the extra space between texts
_PADDING = 0.22  # of an em, between a word and the edge of its background
_MOST_LABELS = 4
_SCALE = "pooling weight"


@dataclass(frozen=True)
class _Entry:
    """One classification, laid out."""

    words: tuple[tuple[str, ...], ...]
    weights: tuple[tuple[float, ...], ...]
    paragraphs: tuple[WrappedWords, ...]
    labels: tuple[tuple[str, float], ...]
    chosen: str

    @property
    def num_lines(self) -> int:
        return max(sum(paragraph.num_lines for paragraph in self.paragraphs), len(self.labels))


def draw_pooling(classifications: Sequence[Classification], *, title: str | None = None) -> Figure:
    """Draw classifications, one below the other.

    Args:
        classifications: at least one.
        title: a line above them.

    Raises:
        DataError: no classifications.
        MissingExtraError: matplotlib is not installed.
    """
    if not classifications:
        raise DataError("a figure of classifications needs at least one; pass one or more texts")
    require_matplotlib()
    written = [word for one in classifications for units in one.units for word in units.labels]
    font = Font.covering([*written, *classifications[0].probabilities, title or "", _SCALE], _SIZE)
    small = font.smaller()
    entries = [_lay_out(one, font) for one in classifications]
    end = pooling_scale_end(classifications)
    names = max(small.width(label, bold=True) for entry in entries for label, _ in entry.labels)
    words_width = max(paragraph.width for entry in entries for paragraph in entry.paragraphs)
    inner = max(
        words_width + 2 * font.em + names + _BAR + 4 * small.em,
        scale_width(small, _SCALE, end=end or 1),
        font.width(title or "", bold=True),
    )
    head, foot = (2 * font.em if title else 0.0), (2.4 * small.em if end else 0.0)
    height = sum((entry.num_lines * _LINE + _GAP) * font.em for entry in entries) - _GAP * font.em
    figure = new_figure(inner + 2 * _MARGIN, head + height + foot + 2 * _MARGIN)
    axes = page_axes(figure)
    if title:
        font.write(axes, _MARGIN, _MARGIN + font.em, title, bold=True)
    top = _MARGIN + head
    for number, entry in enumerate(entries):
        if number:
            fill_rectangle(axes, _MARGIN, top - (_GAP / 2 + 0.12) * font.em, inner, 0.008, FAINT)
        _draw_words(axes, font, entry, top, end or 1.0)
        _draw_labels(axes, font, entry, _MARGIN + words_width + 2 * font.em + names, top)
        top += (entry.num_lines * _LINE + _GAP) * font.em
    if end:
        draw_scale(axes, small, _MARGIN, _MARGIN + head + height + foot - 0.4 * small.em, _SCALE, end=end)
    return figure


def pooling_scale_end(classifications: Iterable[Classification]) -> float | None:
    """The weight of the darkest colour, for several classifications together; None without weights."""
    weights = [w for one in classifications for alpha in one.word_alpha or () for w in alpha.tolist()]
    return scale_end(max(weights)) if weights else None


def leading_labels(one: Classification, most: int = _MOST_LABELS) -> tuple[tuple[str, float], ...]:
    """The labels shown: all in their order, or the most probable if there are more than `most`."""
    ranked = sorted(one.probabilities.items(), key=lambda item: (item[0] != one.label, -item[1]))[:most]
    return tuple(item for item in one.probabilities.items() if item in ranked)


def _lay_out(one: Classification, font: Font) -> _Entry:
    words = tuple(tuple(map(truncate, units.labels)) for units in one.units)
    padding = _PADDING * font.em
    paragraphs = tuple(
        wrap(
            [font.width(word) + 2 * padding for word in sentence],
            _LINE_WIDTH,
            0.12 * font.em,
            right_to_left=is_right_to_left(sentence),
        )
        for sentence in words
    )
    alpha = one.word_alpha
    weights = tuple(
        tuple(alpha[k].tolist()) if alpha else (0.0,) * len(sentence) for k, sentence in enumerate(words)
    )
    return _Entry(words, weights, paragraphs, leading_labels(one), one.label)


def _draw_words(axes: Axes, font: Font, entry: _Entry, top: float, end: float) -> None:
    baseline = top + font.em
    for words, weights, paragraph in zip(entry.words, entry.weights, entry.paragraphs, strict=True):
        for word, weight, place in zip(words, weights, paragraph.positions, strict=True):
            left, line = _MARGIN + place.left, baseline + place.line * _LINE * font.em
            if weight_colour(weight / end) != weight_colour(0):
                font.fill_background(axes, left, line, place.width, weight_colour(weight / end))
            font.write(axes, left + place.width / 2, line, word, align="center")
        baseline += paragraph.num_lines * _LINE * font.em


def _draw_labels(axes: Axes, font: Font, entry: _Entry, left: float, top: float) -> None:
    """Write one label per line: its name up to `left`, then its bar and its probability."""
    small = font.smaller()
    for number, (label, probability) in enumerate(entry.labels):
        chosen = label == entry.chosen
        baseline = top + (1 + number * _LINE) * font.em
        colour = INK if chosen else MUTED
        small.write(axes, left, baseline, label, colour=colour, bold=chosen, align="right")
        bar = left + 0.6 * small.em
        fill_rectangle(axes, bar, baseline - 0.62 * small.em, _BAR, 0.5 * small.em, FAINT)
        fill_rectangle(axes, bar, baseline - 0.62 * small.em, _BAR * probability, 0.5 * small.em, colour)
        after = bar + _BAR + 3 * small.em
        small.write(
            axes, after, baseline, f"{100 * probability:.0f} %", colour=colour, bold=chosen, align="right"
        )
