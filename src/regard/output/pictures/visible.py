"""Text made safe to draw: nothing in it moves a cursor, turns the line round or hides.

In: any string. Out: one line of the same text, for labels of pictures.
"""

import unicodedata

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
JOINERS = "\N{ZERO WIDTH NON-JOINER}\N{ZERO WIDTH JOINER}"  # they shape the letters beside them


def visible(text: str) -> str:
    """Turn every kind of blank into a plain one, drop format characters, and mark what has no shape.

    Args:
        text: as it came from a corpus.
    """
    return "".join(map(_shown, text))


def _shown(character: str) -> str:
    if character.isprintable() or character in JOINERS:
        return character
    kind = unicodedata.category(character)
    if kind == "Zs":
        return " "
    return "" if kind == "Cf" else REPLACEMENT
