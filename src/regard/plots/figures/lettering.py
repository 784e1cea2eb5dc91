"""Which installed fonts can write a text.

In: strings in any script. Out: a list of font families for matplotlib, which tries them character by
character; the strings with what no font can write replaced, so that no warning about a missing glyph is
ever due; how wide they come out.

Words written on a page that counts in inches.

In: strings in any script, places. Out: letters on matplotlib axes, boxes round them, a legend of shades. Which
fonts write them is found once for all the words of a picture.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from regard.plots.figures.canvas import FILE_DOTS_PER_INCH, SCREEN_DOTS_PER_INCH, new_figure
from regard.plots.style import FAINT, INK, JOINERS, REPLACEMENT, SOFT, shade, visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# The first of these that is installed sets the face; DejaVu Sans comes with matplotlib.
_FACES = ("Source Sans 3", "Source Sans Pro", "Helvetica Neue", "Arial", "Liberation Sans", "Noto Sans")
_ALWAYS_THERE = "DejaVu Sans"
# Where several fonts write what is missing, families made for reading on a page come first.
_TRUSTED = (
    "Noto Sans CJK SC",
    "Noto Sans CJK",
    "Noto Sans",
    "Source Han Sans",
    "Hiragino",
    "PingFang",
    "Noto",
)


def families_for(texts: Iterable[str]) -> tuple[str, ...]:
    """Choose families that together write as much of the texts as the installed fonts can.

    Args:
        texts: what is to be written.

    Returns:
        the text face, then what the other scripts need.
    """
    installed = _installed()
    face = next((face for face in _FACES if face in installed), _ALWAYS_THERE)
    chosen = list(dict.fromkeys((face, _ALWAYS_THERE)))
    missing = set(visible("".join(texts))).difference(JOINERS)
    for family in chosen:
        missing -= _covered(family, missing)
    while missing:
        covered = {family: _covered(family, missing) for family in installed}
        best = min(installed, key=lambda family: (-len(covered[family]), _trust(family), family))
        if not covered[best]:
            break
        chosen.append(best)
        missing -= covered[best]
    return tuple(chosen)


def writable(text: str, families: Sequence[str]) -> str:
    """Make a text visible, with U+FFFD for what none of the families can write.

    Args:
        text: one line.
        families: as `families_for` gives them.
    """
    shown = visible(text)
    known = {character for family in families for character in _covered(family, set(shown))}
    return "".join(c if c in known else "" if c in JOINERS else REPLACEMENT for c in shown)


def text_width(text: str, size: float, families: Sequence[str], *, bold: bool = False) -> float:
    """Measure a line of text in inches: as wide as it gets, on a screen or in a file, whose pixels it is fitted to.

    Args:
        text: one line.
        size: of the letters, in points.
        families: as `families_for` gives them.
        bold: whether it is set in bold.
    """
    from matplotlib.font_manager import FontProperties

    font = FontProperties(family=list(families), size=size, weight="bold" if bold else "normal")
    shown = writable(text, families)
    widths = []
    for dots_per_inch in (SCREEN_DOTS_PER_INCH, FILE_DOTS_PER_INCH):
        figure = new_figure(1, 1)
        figure.set_dpi(dots_per_inch)
        canvas: Any = figure.canvas
        width, _, _ = canvas.get_renderer().get_text_width_height_descent(shown, font, ismath=False)
        widths.append(float(width / dots_per_inch))
    return max(widths)


@lru_cache(maxsize=1)
def _installed() -> dict[str, str]:
    """The file of each family's upright face, the one nearest to regular weight."""
    from matplotlib.font_manager import fontManager

    files: dict[str, str] = {}
    for entry in sorted(fontManager.ttflist, key=lambda entry: (abs(int(entry.weight) - 400), entry.fname)):
        if entry.style == "normal" and not entry.name.startswith("Last Resort"):
            files.setdefault(entry.name, entry.fname)
    return files


def _covered(family: str, characters: Iterable[str]) -> set[str]:
    """Those of the characters that the family has a glyph for."""
    from matplotlib.ft2font import FT2Font

    font = FT2Font(_installed()[family])
    return {character for character in characters if font.get_char_index(ord(character))}


def _trust(family: str) -> int:
    return next((rank for rank, start in enumerate(_TRUSTED) if family.startswith(start)), len(_TRUSTED))


POINTS_PER_INCH = 72
_SCALE_WIDTH, _SCALE_HEIGHT = 0.9, 0.1  # inches, of a legend of shades

_cached_width = lru_cache(maxsize=4096)(text_width)
_cached_form = lru_cache(maxsize=4096)(writable)


@dataclass(frozen=True)
class Lettering:
    """Letters of one size, in the families that can write the words of a picture.

    Attributes:
        families: as `families_for` gives them.
        size: in points.
    """

    families: tuple[str, ...]
    size: float

    @classmethod
    def of(cls, texts: Iterable[str], size: float) -> Lettering:
        """Choose the families for all that is to be written."""
        return cls(families_for(texts), size)

    @property
    def em(self) -> float:
        """The size in inches."""
        return self.size / POINTS_PER_INCH

    def smaller(self, by: float = 0.8) -> Lettering:
        """The same letters, smaller."""
        return Lettering(self.families, self.size * by)

    def width(self, text: str, *, bold: bool = False) -> float:
        """Measure a word as it will be written, in inches."""
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
        """Write a line of text, as it is: nothing is read as mathematics; turned, it runs upwards from there."""
        style: dict[str, Any] = {"size": self.size, "family": self.families, "color": colour}
        form, weight = _cached_form(text, self.families), "bold" if bold else "normal"
        if turned:
            style |= {"rotation": 90, "ha": "center", "va": "bottom"}
        else:
            style |= {"ha": align, "va": "baseline"}
        axes.text(x, baseline, form, weight=weight, parse_math=False, zorder=3, **style)

    def box(self, axes: Axes, left: float, baseline: float, width: float, colour: str) -> None:
        """Fill the ground of a word: as wide as told, from above its tallest letter to below its lowest."""
        fill(axes, left, baseline - 1.02 * self.em, width, 1.42 * self.em, colour)


def fill(axes: Axes, left: float, top: float, width: float, height: float, colour: str) -> None:
    """Fill a rectangle."""
    from matplotlib.patches import Rectangle

    axes.add_patch(Rectangle((left, top), width, height, facecolor=colour, edgecolor="none", linewidth=0))


def scale(
    axes: Axes, lettering: Lettering, left: float, baseline: float, name: str, *, end: float = 1.0
) -> float:
    """Draw the legend of shades: its name, 0, a strip from white to the full shade, and where it ends.

    Args:
        axes: counting in inches.
        lettering: of name and numbers.
        left: where it begins.
        baseline: of name and numbers.
        name: what the shades mean.
        end: the weight that has the full shade.

    Returns:
        where it ends, in inches from the left.
    """
    from matplotlib.colors import ListedColormap

    gap = 0.5 * lettering.em
    after = left
    for text in (name, "0"):
        lettering.write(axes, after, baseline, text, colour=SOFT)
        after += lettering.width(text) + gap
    top = baseline - 0.36 * lettering.em - _SCALE_HEIGHT / 2
    edges = (after, after + _SCALE_WIDTH, top + _SCALE_HEIGHT, top)
    shades = ListedColormap([shade(k / 255) for k in range(256)])
    axes.imshow([list(range(256))], cmap=shades, extent=edges, aspect="auto", interpolation="nearest")
    axes.plot(
        [edges[0], edges[1], edges[1], edges[0], edges[0]],
        [top, top, edges[2], edges[2], top],
        color=FAINT,
        linewidth=0.6,
    )
    number = f"{end:g}"
    lettering.write(axes, edges[1] + gap, baseline, number, colour=SOFT)
    return edges[1] + gap + lettering.width(number)


def scale_width(lettering: Lettering, name: str, *, end: float = 1.0) -> float:
    """Measure the legend of shades, in inches."""
    return sum(map(lettering.width, (name, "0", f"{end:g}"))) + _SCALE_WIDTH + 1.5 * lettering.em
