"""Which installed fonts can write a text.

In: strings in any script. Out: a list of font families for matplotlib, which tries them character by
character; the strings with what no font can write replaced, so that no warning about a missing glyph is
ever due; how wide they come out.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

from regard.output.pictures.canvas import FILE_DOTS_PER_INCH, SCREEN_DOTS_PER_INCH, new_figure
from regard.output.pictures.visible import JOINERS, REPLACEMENT, visible

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
