"""How people treat capitals in a date: as the language has it, none, nothing else, or one a word.

In and out: a text in NFC. Scripts without capitals come out as they went in.
"""

import unicodedata
from collections.abc import Callable


def as_written(text: str) -> str:
    """Leave a text as it is."""
    return text


def capitals(text: str) -> str:
    """Write a text in capitals; the Greek ΐ has none of its own and must be put together again."""
    return unicodedata.normalize("NFC", text.upper())


def capitalised(text: str) -> str:
    """Begin every word with a capital and leave the rest, so that 5th stays 5th."""
    return " ".join(word[:1].upper() + word[1:] for word in text.split(" "))


CASINGS: dict[Callable[[str], str], int] = {as_written: 70, str.lower: 10, capitals: 10, capitalised: 10}
"""The casings, with how many in a hundred texts have them."""
