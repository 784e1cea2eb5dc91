"""Words set in lines, as a paragraph is.

In: how wide each word is and how much room there is, in inches or in columns of a terminal. Out: `Flow`, the place
of each word. Knows nothing of fonts or figures.
"""

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


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
