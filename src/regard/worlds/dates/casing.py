"""How people treat capitals in a date: as the language has it, none, nothing else, or one a word.

In: a text in NFC and the locale it is written in. Out: the text recased, in NFC. Turkish parts i, İ from ı, I;
Greek writes capitals without the accent. Scripts without capitals come out as they went in.
"""

import re
import unicodedata
from collections.abc import Callable

_TONOS = "\u0301"
_DIALYTIKA = "\u0308"
# an accent on the first of two vowels parts them; once it is gone, a dialytika on the second has to
_PARTED = re.compile(f"([ΑΕΟΥ]){_TONOS}([ΙΥ])(?!{_DIALYTIKA})")


def as_written(text: str, locale: str) -> str:
    """Leave a text as it is."""
    return text


def small(text: str, locale: str) -> str:
    """Write a text without capitals."""
    if locale == "tr":
        text = text.replace("İ", "i").replace("I", "ı")
    return unicodedata.normalize("NFC", text.lower())


def capitals(text: str, locale: str) -> str:
    """Write a text in capitals: 12 nisan → 12 NİSAN in Turkish, Μαΐου → ΜΑΪΟΥ in Greek."""
    text = _upper(text, locale)
    if locale == "el":
        parted = _PARTED.sub(rf"\1\2{_DIALYTIKA}", unicodedata.normalize("NFD", text))
        text = unicodedata.normalize("NFC", parted.replace(_TONOS, ""))
    return text


def capitalised(text: str, locale: str) -> str:
    """Begin every word with a capital and leave the rest, so that 5th stays 5th and Άνοιξη its accent."""
    return " ".join(_upper(word[:1], locale) + word[1:] for word in text.split(" "))


def _upper(text: str, locale: str) -> str:
    if locale == "tr":
        text = text.replace("i", "İ")
    return unicodedata.normalize("NFC", text.upper())


CASINGS: dict[Callable[[str, str], str], int] = {as_written: 70, small: 10, capitals: 10, capitalised: 10}
"""The casings, with how many in a hundred texts have them."""
