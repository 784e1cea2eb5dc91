"""Fonts: which installed families cover a text, how wide it is, and writing it on a page in inches.

In: strings in any script, coordinates. Out: font families for matplotlib, which tries them per character; text with
U+FFFD for what no font covers, so that matplotlib never warns of a missing glyph; pages with a title; text, backgrounds
and colour scales on axes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from regard.plots.colours import FAINT, INK, MUTED, weight_colour
from regard.plots.figures.canvas import (
    FILE_DOTS_PER_INCH,
    SCREEN_DOTS_PER_INCH,
    new_figure,
    page_axes,
    require_matplotlib,
)
from regard.plots.text import INVISIBLE, REPLACEMENT, printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


# The first installed family is used for Latin text; DejaVu Sans comes with matplotlib.
_PREFERRED = ("Source Sans 3", "Source Sans Pro", "Helvetica Neue", "Arial", "Liberation Sans", "Noto Sans")
_FALLBACK = "DejaVu Sans"
# Where several families cover a missing script, these come first.
_TRUSTED = (
    "Noto Sans CJK SC",
    "Noto Sans CJK",
    "Noto Sans",
    "Source Han Sans",
    "Hiragino",
    "PingFang",
    "Noto",
)

_uncovered: set[str] = set()


def uncovered() -> str:
    """The characters that no installed font has, of all texts for which families were chosen in this process."""
    return "".join(sorted(_uncovered))


def families_for(texts: Iterable[str]) -> tuple[str, ...]:
    """Choose font families that together cover as much of the texts as possible.

    Args:
        texts: all text of a figure.

    Returns:
        the main family, then those the other scripts need.
    """
    installed = _installed()
    main = next((family for family in _PREFERRED if family in installed), _FALLBACK)
    chosen = list(dict.fromkeys((main, _FALLBACK)))
    missing = set(printable("".join(texts))).difference(INVISIBLE)
    for family in chosen:
        missing -= _covered(family, missing)
    while missing:
        covered = {family: _covered(family, missing) for family in installed}
        best = min(installed, key=lambda family: (-len(covered[family]), _trust(family), family))
        if not covered[best]:
            _uncovered.update(missing)
            break
        chosen.append(best)
        missing -= covered[best]
    return tuple(chosen)


def renderable(text: str, families: Sequence[str]) -> str:
    """Make a text printable, with U+FFFD for characters that no family covers.

    Args:
        text: one line.
        families: from `families_for`.
    """
    shown = printable(text)
    known = {character for family in families for character in _covered(family, set(shown))}
    return "".join(c if c in known else "" if c in INVISIBLE else REPLACEMENT for c in shown)


def text_width(text: str, size: float, families: Sequence[str], *, bold: bool = False) -> float:
    """The width of a line of text in inches: the larger of its widths on a screen and in a file, which round to pixels.

    Args:
        text: one line.
        size: in points.
        families: from `families_for`.
        bold: whether it is bold.
    """
    from matplotlib.font_manager import FontProperties

    font = FontProperties(family=list(families), size=size, weight="bold" if bold else "normal")
    rendered = renderable(text, families)
    widths = []
    for dots_per_inch in (SCREEN_DOTS_PER_INCH, FILE_DOTS_PER_INCH):
        figure = new_figure(1, 1)
        figure.set_dpi(dots_per_inch)
        canvas: Any = figure.canvas
        width, _, _ = canvas.get_renderer().get_text_width_height_descent(rendered, font, ismath=False)
        widths.append(float(width / dots_per_inch))
    return max(widths)


@lru_cache(maxsize=1)
def _installed() -> dict[str, str]:
    """The font file of each family: upright, nearest to regular weight."""
    from matplotlib.font_manager import fontManager

    files: dict[str, str] = {}
    for entry in sorted(fontManager.ttflist, key=lambda entry: (abs(int(entry.weight) - 400), entry.fname)):
        if entry.style == "normal" and not entry.name.startswith("Last Resort"):
            files.setdefault(entry.name, entry.fname)
    return files


def _covered(family: str, characters: Iterable[str]) -> set[str]:
    """The characters that a family has a glyph for."""
    from matplotlib.ft2font import FT2Font

    font = FT2Font(_installed()[family])
    return {character for character in characters if font.get_char_index(ord(character))}


def _trust(family: str) -> int:
    return next((rank for rank, start in enumerate(_TRUSTED) if family.startswith(start)), len(_TRUSTED))


POINTS_PER_INCH = 72
_SCALE_WIDTH, _SCALE_HEIGHT = 0.9, 0.1  # inches, of a colour scale

_cached_width = lru_cache(maxsize=4096)(text_width)
_cached_text = lru_cache(maxsize=4096)(renderable)


@dataclass(frozen=True)
class Font:
    """Font families and a size.

    Attributes:
        families: from `families_for`.
        size: in points.
    """

    families: tuple[str, ...]
    size: float

    @classmethod
    def covering(cls, texts: Iterable[str], size: float) -> Font:
        """Choose the families for all text of a figure.

        Raises:
            MissingExtraError: matplotlib is not installed.
        """
        require_matplotlib()
        return cls(families_for(texts), size)

    @property
    def em(self) -> float:
        """The size in inches."""
        return self.size / POINTS_PER_INCH

    def smaller(self, by: float = 0.8) -> Font:
        """The same families in a smaller size."""
        return Font(self.families, self.size * by)

    def width(self, text: str, *, bold: bool = False) -> float:
        """The width of a text in inches."""
        return _cached_width(text, self.size, self.families, bold=bold)

    def write(
        self,
        axes: Axes,
        x: float,
        baseline: float,
        text: str,
        *,
        colour: str = INK,
        bold: bool = False,
        align: str = "left",
        turned: bool = False,
    ) -> None:
        """Write a line of text, never parsed as mathematics; with `turned` it runs upwards from the point."""
        style: dict[str, Any] = {"size": self.size, "family": self.families, "color": colour}
        rendered, weight = _cached_text(text, self.families), "bold" if bold else "normal"
        if turned:
            style |= {"rotation": 90, "ha": "center", "va": "bottom"}
        else:
            style |= {"ha": align, "va": "baseline"}
        axes.text(x, baseline, rendered, weight=weight, parse_math=False, zorder=3, **style)

    def fill_background(self, axes: Axes, left: float, baseline: float, width: float, colour: str) -> None:
        """Fill a rectangle behind a word, from above its ascenders to below its descenders."""
        fill_rectangle(axes, left, baseline - 1.02 * self.em, width, 1.42 * self.em, colour)


MARGIN = 0.15  # inches around a page


@dataclass(frozen=True)
class Page:
    """A figure of text.

    Attributes:
        figure: the figure.
        axes: over the whole figure, in inches.
        top: where the contents start, below the title.
        width: of the contents, or of the title if that is wider.
    """

    figure: Figure
    axes: Axes
    top: float
    width: float


def new_page(font: Font, width: float, height: float, *, title: str | None = None) -> Page:
    """Make a page with a margin of `MARGIN` inches and write its title.

    Args:
        font: of the title, which is bold.
        width: of the contents, in inches.
        height: of the contents, in inches.
        title: a line above them.
    """
    head = 2 * font.em if title else 0.0
    inner = max(width, font.width(title or "", bold=True))
    figure = new_figure(inner + 2 * MARGIN, head + height + 2 * MARGIN)
    axes = page_axes(figure)
    if title:
        font.write(axes, MARGIN, MARGIN + font.em, title, bold=True)
    return Page(figure, axes, MARGIN + head, inner)


def fill_rectangle(axes: Axes, left: float, top: float, width: float, height: float, colour: str) -> None:
    """Fill a rectangle."""
    from matplotlib.patches import Rectangle

    axes.add_patch(Rectangle((left, top), width, height, facecolor=colour, edgecolor="none", linewidth=0))


def draw_scale(
    axes: Axes,
    font: Font,
    left: float,
    baseline: float,
    name: str,
    *,
    start: float = 0.0,
    end: float = 1.0,
    colour: Callable[[float], Any] = weight_colour,
) -> float:
    """Draw a colour scale: its name, the weight at its start, a strip of its colours, and the weight at its end.

    Args:
        axes: in inches.
        font: of name and numbers.
        left: its left edge.
        baseline: of name and numbers.
        name: of the weight.
        start: the weight of the first colour.
        end: the weight of the last colour.
        colour: of a place on the strip, from 0 to 1; by default from white to `ACCENT`.

    Returns:
        its right edge.
    """
    from matplotlib.colors import ListedColormap

    gap = 0.5 * font.em
    after = left
    for text in (name, _plain(start)):
        font.write(axes, after, baseline, text, colour=MUTED)
        after += font.width(text) + gap
    top = baseline - 0.36 * font.em - _SCALE_HEIGHT / 2
    edges = (after, after + _SCALE_WIDTH, top + _SCALE_HEIGHT, top)
    colours = ListedColormap([colour(k / 255) for k in range(256)])
    axes.imshow([list(range(256))], cmap=colours, extent=edges, aspect="auto", interpolation="nearest")
    axes.plot(
        [edges[0], edges[1], edges[1], edges[0], edges[0]],
        [top, top, edges[2], edges[2], top],
        color=FAINT,
        linewidth=0.6,
    )
    number = _plain(end)
    font.write(axes, edges[1] + gap, baseline, number, colour=MUTED)
    return edges[1] + gap + font.width(number)


def scale_width(font: Font, name: str, *, start: float = 0.0, end: float = 1.0) -> float:
    """The width of a colour scale in inches."""
    return sum(map(font.width, (name, _plain(start), _plain(end)))) + _SCALE_WIDTH + 1.5 * font.em


def _plain(weight: float) -> str:
    return f"{weight:g}".replace("-", "\N{MINUS SIGN}")
