"""Text made safe to draw: nothing in it moves a cursor, turns the line round or hides.

In: any string. Out: one line of the same text, for labels of pictures.
"""

import unicodedata

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
