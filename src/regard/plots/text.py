"""Text for plots: control characters escaped, long words cut, words wrapped into lines.

In: strings from a corpus; widths in inches or terminal columns. Out: one line of safe text; `WrappedWords`, the
position of each word. Knows nothing of fonts or figures.
"""

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
LEFT_TO_RIGHT = "\N{LEFT-TO-RIGHT MARK}"
INVISIBLE = f"\N{ZERO WIDTH NON-JOINER}\N{ZERO WIDTH JOINER}{LEFT_TO_RIGHT}"
"""Characters that shape or order the letters beside them."""
_LONGEST_WORD = 24


def printable(text: str) -> str:
    """Make a text one safe line: plain blanks, no format characters, U+FFFD for control characters.

    Args:
        text: from a corpus.
    """
    return "".join(map(_printable_character, text))


def truncate(word: str) -> str:
    """Cut a long word and mark the cut with an ellipsis.

    Args:
        word: of any length.
    """
    return word if len(word) <= _LONGEST_WORD else word[: _LONGEST_WORD - 1] + "…"


def is_character(label: str) -> bool:
    """Whether a label is a single character, perhaps with marks on it, which is never turned on its side.

    Args:
        label: of a row or column.
    """
    return sum(not unicodedata.category(character).startswith("M") for character in label.lstrip("◌")) <= 1


def _printable_character(character: str) -> str:
    if character.isprintable() or character in INVISIBLE:
        return character
    kind = unicodedata.category(character)
    if kind == "Zs":
        return " "
    return "" if kind == "Cf" else REPLACEMENT


@dataclass(frozen=True)
class WordPosition:
    """The line of a word, counted from 0, its left edge and its width."""

    line: int
    left: float
    width: float


@dataclass(frozen=True)
class WrappedWords:
    """A paragraph.

    Attributes:
        positions: one per word.
        width: of the widest line.
        num_lines: at least one, even without words.
    """

    positions: tuple[WordPosition, ...]
    width: float
    num_lines: int

    def lines(self) -> list[list[int]]:
        """The indices of the words of each line."""
        lines: list[list[int]] = [[] for _ in range(self.num_lines)]
        for index, position in enumerate(self.positions):
            lines[position.line].append(index)
        return lines


def wrap(
    widths: Sequence[float], line_width: float, gap: float, *, right_to_left: bool = False
) -> WrappedWords:
    """Place words side by side, and start a new line where the next does not fit.

    Args:
        widths: of the words.
        line_width: of a line; a wider word gets a line of its own.
        gap: between two words.
        right_to_left: whether lines start at the right.
    """
    positions: list[WordPosition] = []
    line, left = 0, 0.0
    for width in widths:
        if left > 0 and left + width > line_width + 1e-9:
            line, left = line + 1, 0.0
        positions.append(WordPosition(line, left, width))
        left += width + gap
    widest = max((place.left + place.width for place in positions), default=0.0)
    if right_to_left:
        positions = [WordPosition(p.line, widest - p.left - p.width, p.width) for p in positions]
    return WrappedWords(tuple(positions), widest, line + 1)


def is_right_to_left(texts: Iterable[str]) -> bool:
    """Whether the first character with a strong direction is right-to-left (rule P2 of the Unicode algorithm).

    Args:
        texts: words in their order; special tokens such as ``<s>`` have no direction.
    """
    for text in texts:
        if text.startswith("<") and text.endswith(">"):
            continue
        for character in text:
            direction = unicodedata.bidirectional(character)
            if direction in ("L", "R", "AL"):
                return direction != "L"
    return False


def before_and_after(before: str, after: str) -> str:
    """Two texts with an arrow between them that points from the first, on the left, to the second in every script.

    Args:
        before: the text at the left.
        after: the text at the right.
    """
    if not _has_right_to_left(before + after):
        return f"{before} → {after}"
    arrow = f"{LEFT_TO_RIGHT}→{LEFT_TO_RIGHT}"
    return f"{LEFT_TO_RIGHT}{before} {arrow} {after}{LEFT_TO_RIGHT}"


def in_place(label: str) -> str:
    """A label of a line of labels; where it is right-to-left, a mark keeps it from changing places with the next.

    Args:
        label: of a row or column.
    """
    return LEFT_TO_RIGHT + label if _has_right_to_left(label) else label


def _has_right_to_left(text: str) -> bool:
    return any(unicodedata.bidirectional(character) in ("R", "AL", "AN") for character in text)


def percent(probability: float) -> str:
    """Format a probability in per cent with about two digits: 62, 4.1, 0.3; 0 only for an impossible token."""
    if probability <= 0:
        return "0"
    return f"{100 * probability:.0f}" if probability >= 0.0995 else f"{100 * probability:.1f}"
