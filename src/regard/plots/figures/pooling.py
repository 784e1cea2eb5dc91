"""What a classifier read most: words on the shade of their weight, labels with their probabilities beside them.

In: classifications. Out: a matplotlib `Figure`, one below the other, all to one scale, which ends at the
next tenth above the greatest weight and says so: a weight among twenty words would be pale on a scale to 1. Without
weights the words stand on white.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from regard.errors import DataError
from regard.plots.figures.canvas import new_figure, require_matplotlib, whole_page
from regard.plots.figures.lettering import Lettering, fill, scale, scale_width
from regard.plots.style import FAINT, INK, SOFT, Flow, flow, runs_right_to_left, scale_end, shade, shortened

if TYPE_CHECKING:
    from regard.tasks.classify.result import Classification


if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MARGIN = 0.15  # inches
_ROOM = 6.0  # inches for a line of words
_BAR = 0.9  # inches: a probability of 1
_SIZE = 11.0
_LINE, _GAP = 1.75, 1.0  # ems: from line to line, and more from text to text
_PADDING = 0.22  # of an em, between a word and the edge of its ground
_MOST_LABELS = 4
_SHADES = "pooling weight"


@dataclass(frozen=True)
class _Entry:
    """One classification, laid out."""

    words: tuple[tuple[str, ...], ...]
    weights: tuple[tuple[float, ...], ...]
    paragraphs: tuple[Flow, ...]
    labels: tuple[tuple[str, float], ...]
    chosen: str

    @property
    def num_lines(self) -> int:
        return max(sum(paragraph.num_lines for paragraph in self.paragraphs), len(self.labels))


def draw_pooling(classifications: "Sequence[Classification]", *, title: str | None = None) -> Figure:
    """Draw classifications, one below the other.

    Args:
        classifications: at least one.
        title: a line above them.

    Raises:
        DataError: there is none.
        MissingExtraError: matplotlib is not installed.
    """
    if not classifications:
        raise DataError("a picture of classifications needs at least one; give it some texts")
    require_matplotlib()
    written = [word for one in classifications for units in one.units for word in units.labels]
    letters = Lettering.of([*written, *classifications[0].probabilities, title or "", _SHADES], _SIZE)
    small = letters.smaller()
    entries = [_lay_out(one, letters) for one in classifications]
    end = end_of_scale(classifications)
    names = max(small.width(label, bold=True) for entry in entries for label, _ in entry.labels)
    words_width = max(paragraph.width for entry in entries for paragraph in entry.paragraphs)
    inner = max(
        words_width + 2 * letters.em + names + _BAR + 4 * small.em,
        scale_width(small, _SHADES, end=end or 1),
        letters.width(title or "", bold=True),
    )
    head, foot = (2 * letters.em if title else 0.0), (2.4 * small.em if end else 0.0)
    height = sum((entry.num_lines * _LINE + _GAP) * letters.em for entry in entries) - _GAP * letters.em
    figure = new_figure(inner + 2 * _MARGIN, head + height + foot + 2 * _MARGIN)
    axes = whole_page(figure)
    if title:
        letters.write(axes, _MARGIN, _MARGIN + letters.em, title, bold=True)
    top = _MARGIN + head
    for number, entry in enumerate(entries):
        if number:
            fill(axes, _MARGIN, top - (_GAP / 2 + 0.12) * letters.em, inner, 0.008, FAINT)
        _draw_words(axes, letters, entry, top, end or 1.0)
        _draw_labels(axes, letters, entry, _MARGIN + words_width + 2 * letters.em + names, top)
        top += (entry.num_lines * _LINE + _GAP) * letters.em
    if end:
        scale(axes, small, _MARGIN, _MARGIN + head + height + foot - 0.4 * small.em, _SHADES, end=end)
    return figure


def end_of_scale(classifications: "Iterable[Classification]") -> float | None:
    """Find the weight that has the full shade, for several classifications together; None without weights."""
    weights = [w for one in classifications for alpha in one.word_alpha or () for w in alpha.tolist()]
    return scale_end(max(weights)) if weights else None


def leading_labels(one: "Classification", most: int = _MOST_LABELS) -> tuple[tuple[str, float], ...]:
    """Choose the labels that are shown: all in their order, or the likeliest where there are too many."""
    ranked = sorted(one.probabilities.items(), key=lambda item: (item[0] != one.label, -item[1]))[:most]
    return tuple(item for item in one.probabilities.items() if item in ranked)


def _lay_out(one: "Classification", letters: Lettering) -> _Entry:
    words = tuple(tuple(map(shortened, units.labels)) for units in one.units)
    padding = _PADDING * letters.em
    paragraphs = tuple(
        flow(
            [letters.width(word) + 2 * padding for word in sentence],
            _ROOM,
            0.12 * letters.em,
            right_to_left=runs_right_to_left(sentence),
        )
        for sentence in words
    )
    alpha = one.word_alpha
    weights = tuple(
        tuple(alpha[k].tolist()) if alpha else (0.0,) * len(sentence) for k, sentence in enumerate(words)
    )
    return _Entry(words, weights, paragraphs, leading_labels(one), one.label)


def _draw_words(axes: Axes, letters: Lettering, entry: _Entry, top: float, end: float) -> None:
    baseline = top + letters.em
    for words, weights, paragraph in zip(entry.words, entry.weights, entry.paragraphs, strict=True):
        for word, weight, place in zip(words, weights, paragraph.places, strict=True):
            left, line = _MARGIN + place.left, baseline + place.line * _LINE * letters.em
            if shade(weight / end) != shade(0):
                letters.box(axes, left, line, place.width, shade(weight / end))
            letters.write(axes, left + place.width / 2, line, word, align="center")
        baseline += paragraph.num_lines * _LINE * letters.em


def _draw_labels(axes: Axes, letters: Lettering, entry: _Entry, left: float, top: float) -> None:
    """Write a label a line: its name up to `left`, then its bar and its probability."""
    small = letters.smaller()
    for number, (label, probability) in enumerate(entry.labels):
        chosen = label == entry.chosen
        baseline = top + (1 + number * _LINE) * letters.em
        colour = INK if chosen else SOFT
        small.write(axes, left, baseline, label, colour=colour, bold=chosen, align="right")
        bar = left + 0.6 * small.em
        fill(axes, bar, baseline - 0.62 * small.em, _BAR, 0.5 * small.em, FAINT)
        fill(axes, bar, baseline - 0.62 * small.em, _BAR * probability, 0.5 * small.em, colour)
        after = bar + _BAR + 3 * small.em
        small.write(
            axes, after, baseline, f"{100 * probability:.0f} %", colour=colour, bold=chosen, align="right"
        )
