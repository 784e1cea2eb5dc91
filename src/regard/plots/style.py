"""How dark a word's ground is for the attention it gets, and the inks that stay legible on it.

In: a weight from 0 to 1. Out: a colour, as ``#rrggbb``: white for 0, blue for 1, in proportion between; or,
where there is no colour, a block. The blue is light enough for black letters and, in grey, dark enough to be told
from white.

Text made safe to draw: nothing in it moves a cursor, turns the line round or hides.

In: any string. Out: one line of the same text, for labels of pictures.

Words set in lines, as a paragraph is.

In: how wide each word is and how much room there is, in inches or in columns of a terminal. Out: `Flow`, the place
of each word. Knows nothing of fonts or figures.
"""

import math
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

INK = "#1b1b1a"
SOFT = "#6a6a66"  # what may be overlooked: numbers of rows, legends
FAINT = "#dedcd6"  # rules, and the empty part of a bar
NEWEST = "#b3121d"  # always with bold letters, so that it is told apart in grey too
FULL = "#4a90d9"
_DEEPEST_FOR_RED = 0.3  # a contrast of 5 to 1

BLOCKS = "·░▒▓█"
ASCII_BLOCKS = ".-+*#"


def shade(weight: float) -> str:
    """Mix white with the full shade in proportion to the weight; beyond 0 and 1, as at them.

    Args:
        weight: from 0 to 1; what is not a number counts as 0.
    """
    part = _bounded(weight)
    full = (int(FULL[k : k + 2], 16) for k in (1, 3, 5))
    return "#" + "".join(f"{round(255 + part * (colour - 255)):02x}" for colour in full)


def red_is_legible(weight: float) -> bool:
    """Say whether letters in `NEWEST` stand out on the shade of a weight; where not, they are `INK`.

    Args:
        weight: from 0 to 1.
    """
    return _bounded(weight) <= _DEEPEST_FOR_RED


def block(weight: float, blocks: str = BLOCKS) -> str:
    """Give the character nearest in darkness.

    Args:
        weight: from 0 to 1; what is not a number counts as 0.
        blocks: from the lightest to the darkest.
    """
    return blocks[round(_bounded(weight) * (len(blocks) - 1))]


def scale_end(greatest: float) -> float:
    """Say where a scale that begins at 0 ends, so that the greatest weight is well visible: 0.1, 0.2, … or 1.

    Args:
        greatest: the greatest weight to be shown.
    """
    return min(1.0, max(1, math.ceil(round(10 * _bounded(greatest), 6))) / 10)


def _bounded(weight: float) -> float:
    return 0.0 if math.isnan(weight) else min(max(float(weight), 0.0), 1.0)


REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
JOINERS = "\N{ZERO WIDTH NON-JOINER}\N{ZERO WIDTH JOINER}"  # they shape the letters beside them
_LONGEST_WORD = 24


def visible(text: str) -> str:
    """Turn every kind of blank into a plain one, drop format characters, and mark what has no shape.

    Args:
        text: as it came from a corpus.
    """
    return "".join(map(_shown, text))


def shortened(word: str) -> str:
    """Cut a word that is longer than any picture has room for, its loss marked.

    Args:
        word: of any length.
    """
    return word if len(word) <= _LONGEST_WORD else word[: _LONGEST_WORD - 1] + "…"


def _shown(character: str) -> str:
    if character.isprintable() or character in JOINERS:
        return character
    kind = unicodedata.category(character)
    if kind == "Zs":
        return " "
    return "" if kind == "Cf" else REPLACEMENT


@dataclass(frozen=True)
class Place:
    """Where a word stands: its line counted from 0, its left edge and its width."""

    line: int
    left: float
    width: float


@dataclass(frozen=True)
class Flow:
    """A paragraph.

    Attributes:
        places: one for each word.
        width: of its widest line.
        num_lines: at least one, also of no words.
    """

    places: tuple[Place, ...]
    width: float
    num_lines: int

    def lines(self) -> list[list[int]]:
        """Return the words of each line, by their numbers."""
        found: list[list[int]] = [[] for _ in range(self.num_lines)]
        for number, place in enumerate(self.places):
            found[place.line].append(number)
        return found


def flow(widths: Sequence[float], room: float, gap: float, *, right_to_left: bool = False) -> Flow:
    """Set words side by side while there is room, then begin a new line.

    Args:
        widths: of the words.
        room: the width of a line; a word that is wider has one to itself.
        gap: between two words.
        right_to_left: whether lines begin at the right.
    """
    places: list[Place] = []
    line, left = 0, 0.0
    for width in widths:
        if left > 0 and left + width > room + 1e-9:
            line, left = line + 1, 0.0
        places.append(Place(line, left, width))
        left += width + gap
    widest = max((place.left + place.width for place in places), default=0.0)
    if right_to_left:
        places = [Place(p.line, widest - p.left - p.width, p.width) for p in places]
    return Flow(tuple(places), widest, line + 1)


def runs_right_to_left(texts: Iterable[str]) -> bool:
    """Say whether the first letter with a direction of its own runs to the left, as Unicode's rule P2 has it.

    Args:
        texts: words in their order; marks such as ``<s>`` have no direction.
    """
    for text in texts:
        if text.startswith("<") and text.endswith(">"):
            continue
        for character in text:
            direction = unicodedata.bidirectional(character)
            if direction in ("L", "R", "AL"):
                return direction != "L"
    return False
