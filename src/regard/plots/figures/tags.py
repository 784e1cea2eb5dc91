"""Tagged sentences as a figure.

In: taggings. Out: a matplotlib `Figure`: below each word its tag on the tag's colour, and a bar as long as the tag is
probable. The tag is always written, so that nothing is lost in grey print.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from regard.errors import DataError
from regard.plots.colours import FAINT, INK, MUTED, tag_colours
from regard.plots.figures.canvas import new_figure, page_axes, require_matplotlib
from regard.plots.figures.fonts import Font, fill_rectangle
from regard.plots.text import WrappedWords, is_right_to_left, truncate, wrap

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from regard.tasks.tag.result import Tagging

_MARGIN = 0.15  # inches
_LINE_WIDTH = 8.0  # inches of a line of words
_SIZE = 11.0
_WORD, _TAG, _BAR = 1.55, 1.25, 0.22  # ems: heights of the parts of a cell
_LINE = _WORD + _TAG + _BAR + 0.75  # ems from line to line
_GAP = 0.7  # ems between two sentences
_KEY = "bar: probability of the tag"


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
    require_matplotlib()
    written = [text for one in taggings for text in (*one.words, *one.tags)]
    font = Font.covering([*written, title or "", _KEY], _SIZE)
    small = font.smaller(0.75)
    colours = tag_colours(tag for one in taggings for tag in one.tags)
    paragraphs = [_lay_out(one, font) for one in taggings]
    inner = max(
        *(paragraph.width for paragraph in paragraphs),
        small.width(_KEY),
        font.width(title or "", bold=True),
    )
    head, foot = (2 * font.em if title else 0.0), 1.6 * small.em
    lines = sum(paragraph.num_lines for paragraph in paragraphs)
    height = (lines * _LINE + len(taggings) * _GAP) * font.em
    figure = new_figure(inner + 2 * _MARGIN, head + height + foot + 2 * _MARGIN)
    axes = page_axes(figure)
    if title:
        font.write(axes, _MARGIN, _MARGIN + font.em, title, bold=True)
    top = _MARGIN + head
    for one, paragraph in zip(taggings, paragraphs, strict=True):
        _draw(axes, font, one, paragraph, top, colours)
        top += (paragraph.num_lines * _LINE + _GAP) * font.em
    small.write(axes, _MARGIN, top + 0.9 * small.em, _KEY, colour=MUTED)
    return figure


def _lay_out(one: Tagging, font: Font) -> WrappedWords:
    small = font.smaller(0.75)
    widths = [
        max(font.width(truncate(word)), small.width(truncate(tag), bold=True)) + 0.7 * font.em
        for word, tag in zip(one.words, one.tags, strict=True)
    ]
    return wrap(widths, _LINE_WIDTH, 0.25 * font.em, right_to_left=is_right_to_left(one.words))


def _draw(
    axes: Axes, font: Font, one: Tagging, paragraph: WrappedWords, top: float, colours: Mapping[str, str]
) -> None:
    small, em = font.smaller(0.75), font.em
    for word, tag, probability, place in zip(
        one.words, one.tags, one.probabilities, paragraph.positions, strict=True
    ):
        left, middle = _MARGIN + place.left, _MARGIN + place.left + place.width / 2
        upper = top + place.line * _LINE * em
        font.write(axes, middle, upper + 1.1 * em, truncate(word), align="center")
        fill_rectangle(axes, left, upper + _WORD * em, place.width, _TAG * em, colours[tag])
        small.write(
            axes, middle, upper + (_WORD + 0.88) * em, truncate(tag), colour=INK, bold=True, align="center"
        )
        bar = upper + (_WORD + _TAG + 0.1) * em
        fill_rectangle(axes, left, bar, place.width, _BAR * em, FAINT)
        fill_rectangle(axes, left, bar, place.width * probability, _BAR * em, INK)
