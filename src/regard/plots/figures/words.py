"""Words with weights or tags as figures: classifications, tagged sentences, readings.

In: classifications, taggings, or words and the attention of each over the words before it. Out: a matplotlib `Figure`.
A classification has its words on the colour of their pooling weight and its labels with their probabilities; the scale
ends at the next tenth above the greatest weight and says so, because weights among twenty words would be pale on a
scale to 1. A tagged word has its tag below it, always written, and a bar as long as the tag is probable. A reading, as
in Figure 1 of Cheng, Dong & Lapata (2016), has one row per step: the sentence so far, its newest word red, bold and
underlined, the attended words on blue, on the same scale from 0 to 1 in every figure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from regard.errors import DataError
from regard.plots.colours import (
    FAINT,
    HIGHLIGHT,
    INK,
    MUTED,
    highlight_is_legible,
    scale_end,
    tag_colours,
    weight_colour,
)
from regard.plots.figures.fonts import MARGIN, Font, draw_scale, fill_rectangle, new_page, scale_width
from regard.plots.text import WrappedWords, is_right_to_left, truncate, wrap

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from regard.tasks.classify.result import Classification
    from regard.tasks.tag.result import Tagging

_SIZE = 11.0
_PADDING = 0.22  # of an em, between a word and the edge of its background
_LINE = 1.75  # ems from line to line

_POOLING_WIDTH = 6.0  # inches of a line of words
_PROBABILITY_BAR = 0.9  # inches: a probability of 1
_TEXT_GAP = 1.0  # ems, the extra space between texts
_MOST_LABELS = 4
_CERTAIN = "100 %"
_POOLING_SCALE = "pooling weight"


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
    written = [word for one in classifications for units in one.units for word in units.labels]
    font = Font.covering([*written, *classifications[0].probabilities, title or "", _POOLING_SCALE], _SIZE)
    small = font.smaller()
    entries = [_lay_out_entry(one, font) for one in classifications]
    end = pooling_scale_end(classifications)
    names = max(small.width(label, bold=True) for entry in entries for label, _ in entry.labels)
    words_width = max(paragraph.width for entry in entries for paragraph in entry.paragraphs)
    width = max(
        words_width
        + 2 * font.em
        + names
        + _PROBABILITY_BAR
        + 1.1 * small.em
        + small.width(_CERTAIN, bold=True),
        scale_width(small, _POOLING_SCALE, end=end or 1),
    )
    height = sum((entry.num_lines * _LINE + _TEXT_GAP) * font.em for entry in entries) - _TEXT_GAP * font.em
    height += 2.4 * small.em if end else 0.0
    page = new_page(font, width, height, title=title)
    axes, top = page.axes, page.top
    for number, entry in enumerate(entries):
        if number:
            fill_rectangle(axes, MARGIN, top - (_TEXT_GAP / 2 + 0.12) * font.em, page.width, 0.008, FAINT)
        _draw_words(axes, font, entry, top, end or 1.0)
        _draw_labels(axes, font, entry, MARGIN + words_width + 2 * font.em + names, top)
        top += (entry.num_lines * _LINE + _TEXT_GAP) * font.em
    if end:
        draw_scale(axes, small, MARGIN, page.top + height - 0.4 * small.em, _POOLING_SCALE, end=end)
    return page.figure


def pooling_scale_end(classifications: Iterable[Classification]) -> float | None:
    """The weight of the darkest colour, for several classifications together; None without weights."""
    weights = [w for one in classifications for alpha in one.word_alpha or () for w in alpha.tolist()]
    return scale_end(max(weights)) if weights else None


def leading_labels(one: Classification, most: int = _MOST_LABELS) -> tuple[tuple[str, float], ...]:
    """The labels shown: all in their order, or the most probable if there are more than `most`."""
    ranked = sorted(one.probabilities.items(), key=lambda item: (item[0] != one.label, -item[1]))[:most]
    return tuple(item for item in one.probabilities.items() if item in ranked)


def _lay_out_entry(one: Classification, font: Font) -> _Entry:
    words = tuple(tuple(map(truncate, units.labels)) for units in one.units)
    padding = _PADDING * font.em
    paragraphs = tuple(
        wrap(
            [font.width(word) + 2 * padding for word in sentence],
            _POOLING_WIDTH,
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
            left, line = MARGIN + place.left, baseline + place.line * _LINE * font.em
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
        fill_rectangle(axes, bar, baseline - 0.62 * small.em, _PROBABILITY_BAR, 0.5 * small.em, FAINT)
        fill_rectangle(
            axes, bar, baseline - 0.62 * small.em, _PROBABILITY_BAR * probability, 0.5 * small.em, colour
        )
        after = bar + _PROBABILITY_BAR + 0.5 * small.em + small.width(_CERTAIN, bold=True)
        small.write(
            axes, after, baseline, f"{100 * probability:.0f} %", colour=colour, bold=chosen, align="right"
        )


_TAGS_WIDTH = 8.0  # inches of a line of words
_WORD, _TAG, _BAR = 1.55, 1.25, 0.22  # ems: heights of the parts of a cell
_TAGS_LINE = _WORD + _TAG + _BAR + 0.75  # ems from line to line
_SENTENCE_GAP = 0.7  # ems between two sentences
_TAGS_KEY = "bar: probability of the tag"


def draw_tags(taggings: Sequence[Tagging], *, title: str | None = None) -> Figure:
    """Draw tagged sentences, one below the other; a tag has one colour in all of them.

    Args:
        taggings: at least one.
        title: a line above them.

    Raises:
        DataError: no sentences.
        MissingExtraError: matplotlib is not installed.
    """
    if not taggings:
        raise DataError("a figure of tags needs at least one sentence; pass one or more taggings")
    written = [text for one in taggings for text in (*one.words, *one.tags)]
    font = Font.covering([*written, title or "", _TAGS_KEY], _SIZE)
    small = font.smaller(0.75)
    colours = tag_colours(tag for one in taggings for tag in one.tags)
    paragraphs = [_lay_out_tagging(one, font) for one in taggings]
    width = max(*(paragraph.width for paragraph in paragraphs), small.width(_TAGS_KEY))
    lines = sum(paragraph.num_lines for paragraph in paragraphs)
    height = (lines * _TAGS_LINE + len(taggings) * _SENTENCE_GAP) * font.em + 1.6 * small.em
    page = new_page(font, width, height, title=title)
    top = page.top
    for one, paragraph in zip(taggings, paragraphs, strict=True):
        _draw_tagged(page.axes, font, one, paragraph, top, colours)
        top += (paragraph.num_lines * _TAGS_LINE + _SENTENCE_GAP) * font.em
    small.write(page.axes, MARGIN, top + 0.9 * small.em, _TAGS_KEY, colour=MUTED)
    return page.figure


def _lay_out_tagging(one: Tagging, font: Font) -> WrappedWords:
    small = font.smaller(0.75)
    widths = [
        max(font.width(truncate(word)), small.width(truncate(tag), bold=True)) + 0.7 * font.em
        for word, tag in zip(one.words, one.tags, strict=True)
    ]
    return wrap(widths, _TAGS_WIDTH, 0.25 * font.em, right_to_left=is_right_to_left(one.words))


def _draw_tagged(
    axes: Axes, font: Font, one: Tagging, paragraph: WrappedWords, top: float, colours: Mapping[str, str]
) -> None:
    small, em = font.smaller(0.75), font.em
    for word, tag, probability, place in zip(
        one.words, one.tags, one.probabilities, paragraph.positions, strict=True
    ):
        left, middle = MARGIN + place.left, MARGIN + place.left + place.width / 2
        upper = top + place.line * _TAGS_LINE * em
        font.write(axes, middle, upper + 1.1 * em, truncate(word), align="center")
        fill_rectangle(axes, left, upper + _WORD * em, place.width, _TAG * em, colours[tag])
        small.write(
            axes, middle, upper + (_WORD + 0.88) * em, truncate(tag), colour=INK, bold=True, align="center"
        )
        bar = upper + (_WORD + _TAG + 0.1) * em
        fill_rectangle(axes, left, bar, place.width, _BAR * em, FAINT)
        fill_rectangle(axes, left, bar, place.width * probability, _BAR * em, INK)


_READING_WIDTH = 9.0  # inches of a line of words
_ROW_GAP = 0.35  # ems, the extra space between rows
_NEWEST_KEY = "newest word"
_ATTENTION_SCALE = "attention"


def draw_reading(labels: Sequence[str], alpha: NDArray[np.floating], *, title: str | None = None) -> Figure:
    """Draw the sentence as it was read, step by step.

    Args:
        labels: U words in their order.
        alpha: (U, U) from 0 to 1: row t is the attention of word t.
        title: a line above it.

    Raises:
        DataError: the labels do not fit alpha.
        MissingExtraError: matplotlib is not installed.
    """
    check_square(labels, alpha)
    labels = [truncate(label) for label in labels]
    font = Font.covering(
        [*labels, title or "", _NEWEST_KEY], float(np.interp(len(labels), [12, 40], [12.0, 9.0]))
    )
    small = font.smaller(0.75)
    padding = _PADDING * font.em
    # bold text is wider; a word has the same position in every row
    widths = [max(font.width(word), font.width(word, bold=True)) + 2 * padding for word in labels]
    right_to_left = is_right_to_left(labels)
    paragraph = wrap(widths, _READING_WIDTH, 0.12 * font.em, right_to_left=right_to_left)
    gutter = small.width(str(len(labels))) + 0.8 * font.em
    tops = _tops(paragraph, font)
    foot = 2.2 * small.em if labels else 0.0
    least = scale_width(small, _ATTENTION_SCALE) + small.width(_NEWEST_KEY, bold=True) + 2 * small.em
    page = new_page(font, max(gutter + paragraph.width, least), tops[-1] + foot, title=title)
    axes = page.axes
    # rows are numbered at their start
    words_at = MARGIN + (0.0 if right_to_left else gutter)
    number_at = MARGIN + gutter + (paragraph.width if right_to_left else -0.7 * font.em)
    for step, row in enumerate(alpha.tolist()):
        baseline = page.top + tops[step] + font.em
        small.write(axes, number_at, baseline, str(step + 1), colour=MUTED, align="right")
        _draw_row(axes, font, labels[: step + 1], row, paragraph, (words_at, baseline))
    if labels:
        baseline = page.top + tops[-1] + foot - 0.4 * small.em
        end = draw_scale(axes, small, MARGIN, baseline, _ATTENTION_SCALE)
        _write_newest(
            axes, small, end + 2 * small.em, baseline, _NEWEST_KEY, small.width(_NEWEST_KEY, bold=True)
        )
    return page.figure


def check_square(labels: Sequence[str], alpha: NDArray[np.floating]) -> None:
    """Check that alpha has one row and one column per word.

    Raises:
        DataError: it has not.
    """
    if alpha.shape != (len(labels), len(labels)):
        raise DataError(
            f"reading: alpha has shape {alpha.shape}, but there are {len(labels)} labels; "
            "give one row and one column per label"
        )


def _tops(paragraph: WrappedWords, font: Font) -> list[float]:
    """The top of each row in inches, and the end of the last."""
    tops = [0.0]
    for place in paragraph.positions:
        lines = place.line + 1
        tops.append(tops[-1] + (lines * _LINE + (_ROW_GAP if paragraph.num_lines > 1 else 0)) * font.em)
    return tops


def _draw_row(
    axes: Axes,
    font: Font,
    words: Sequence[str],
    weights: Sequence[float],
    paragraph: WrappedWords,
    corner: tuple[float, float],
) -> None:
    """Write the sentence so far on the colours of its weights, the last word highlighted."""
    padding = _PADDING * font.em
    for number, (word, weight) in enumerate(zip(words, weights, strict=False)):
        place = paragraph.positions[number]
        left, baseline = corner[0] + place.left, corner[1] + place.line * _LINE * font.em
        if weight_colour(weight) != weight_colour(0):
            font.fill_background(axes, left, baseline, place.width, weight_colour(weight))
        middle = left + place.width / 2
        if number < len(words) - 1:
            font.write(axes, middle, baseline, word, align="center")
        else:
            _write_newest(axes, font, left + padding, baseline, word, place.width - 2 * padding, weight)


def _write_newest(
    axes: Axes, font: Font, left: float, baseline: float, word: str, width: float, weight: float = 0.0
) -> None:
    """Write the newest word bold, underlined and red; black where its background is too dark for red."""
    colour = HIGHLIGHT if highlight_is_legible(weight) else INK
    font.write(axes, left + width / 2, baseline, word, colour=colour, bold=True, align="center")
    fill_rectangle(axes, left, baseline + 0.2 * font.em, width, 0.11 * font.em, HIGHLIGHT)
