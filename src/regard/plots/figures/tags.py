"""Sentences with a tag beneath each word.

In: taggings. Out: a matplotlib `Figure`: each word in a box, its tag below it on the tag's own colour, and under that a
bar as long as the tag is probable. The tag is always written, so that nothing is lost in grey.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from regard.errors import DataError
from regard.plots.figures.canvas import new_figure, require_matplotlib, whole_page
from regard.plots.figures.lettering import Lettering, fill
from regard.plots.style import FAINT, INK, SOFT, Flow, flow, runs_right_to_left, shortened

if TYPE_CHECKING:
    from regard.tasks.tag.result import Tagging


if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TINTS = (
    *("#bcd9f0", "#f8d3b0", "#b9e4cf", "#efc9df", "#f5e7a3", "#d6cff0", "#dad6c6", "#c9e6ec", "#edc6c2"),
    *("#79b4e2", "#ee9f5e", "#6fc39f", "#dc8fbb", "#dcc24a", "#a797dc", "#aea78c", "#7fc3d1", "#d98d87"),
)
"""Grounds for black letters, pale ones and then deeper ones; from the nineteenth tag on they come round again."""

_MARGIN = 0.15  # inches
_ROOM = 8.0  # inches for a line of words
_SIZE = 11.0
_WORD, _TAG, _BAR = 1.55, 1.25, 0.22  # ems: heights of the parts of a cell
_LINE = _WORD + _TAG + _BAR + 0.75  # ems from line to line
_GAP = 0.7  # ems, more from sentence to sentence
_KEY = "bar: probability of the tag"


def draw_tags(taggings: "Sequence[Tagging]", *, title: str | None = None) -> Figure:
    """Draw tagged sentences, one below the other; a tag has one colour in all of them.

    Args:
        taggings: at least one.
        title: a line above them.

    Raises:
        DataError: there is none.
        MissingExtraError: matplotlib is not installed.
    """
    if not taggings:
        raise DataError("a picture of tags needs at least one sentence; give it some")
    require_matplotlib()
    written = [text for one in taggings for text in (*one.words, *one.tags)]
    letters = Lettering.of([*written, title or "", _KEY], _SIZE)
    small = letters.smaller(0.75)
    colours = tints(taggings)
    paragraphs = [_lay_out(one, letters) for one in taggings]
    inner = max(
        *(paragraph.width for paragraph in paragraphs),
        small.width(_KEY),
        letters.width(title or "", bold=True),
    )
    head, foot = (2 * letters.em if title else 0.0), 1.6 * small.em
    lines = sum(paragraph.num_lines for paragraph in paragraphs)
    height = (lines * _LINE + len(taggings) * _GAP) * letters.em
    figure = new_figure(inner + 2 * _MARGIN, head + height + foot + 2 * _MARGIN)
    axes = whole_page(figure)
    if title:
        letters.write(axes, _MARGIN, _MARGIN + letters.em, title, bold=True)
    top = _MARGIN + head
    for one, paragraph in zip(taggings, paragraphs, strict=True):
        _draw(axes, letters, one, paragraph, top, colours)
        top += (paragraph.num_lines * _LINE + _GAP) * letters.em
    small.write(axes, _MARGIN, top + 0.9 * small.em, _KEY, colour=SOFT)
    return figure


def tints(taggings: "Iterable[Tagging]") -> dict[str, str]:
    """Give each tag its colour: in the order of their names, so that equal sets of tags look alike."""
    tags = sorted({tag for one in taggings for tag in one.tags})
    return {tag: TINTS[number % len(TINTS)] for number, tag in enumerate(tags)}


def _lay_out(one: "Tagging", letters: Lettering) -> Flow:
    small = letters.smaller(0.75)
    widths = [
        max(letters.width(shortened(word)), small.width(shortened(tag), bold=True)) + 0.7 * letters.em
        for word, tag in zip(one.words, one.tags, strict=True)
    ]
    return flow(widths, _ROOM, 0.25 * letters.em, right_to_left=runs_right_to_left(one.words))


def _draw(
    axes: Axes, letters: Lettering, one: "Tagging", paragraph: Flow, top: float, colours: Mapping[str, str]
) -> None:
    small, em = letters.smaller(0.75), letters.em
    for word, tag, probability, place in zip(
        one.words, one.tags, one.probabilities, paragraph.places, strict=True
    ):
        left, middle = _MARGIN + place.left, _MARGIN + place.left + place.width / 2
        upper = top + place.line * _LINE * em
        letters.write(axes, middle, upper + 1.1 * em, shortened(word), align="center")
        fill(axes, left, upper + _WORD * em, place.width, _TAG * em, colours[tag])
        small.write(
            axes, middle, upper + (_WORD + 0.88) * em, shortened(tag), colour=INK, bold=True, align="center"
        )
        bar = upper + (_WORD + _TAG + 0.1) * em
        fill(axes, left, bar, place.width, _BAR * em, FAINT)
        fill(axes, left, bar, place.width * probability, _BAR * em, INK)
