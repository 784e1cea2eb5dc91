"""Ways of writing a date: each a pattern of one locale, with its names looked up once.

In: patterns from the CLDR and from `locales`. Out: `Form`s that write any date, letter for letter as Babel
would except that every year has four digits, blanks are plain ones and text is in NFC. Babel is met here
alone.
"""

import datetime
import unicodedata
from dataclasses import dataclass
from functools import cache
from typing import Any

from regard.errors import MissingExtraError
from regard.worlds.dates.locales import ORDINAL_PATTERNS, PATTERNS, ordinal

_WIDTHS = {1: "abbreviated", 2: "abbreviated", 3: "abbreviated", 4: "wide"}
_LISTED = ("full", "long", "medium", "short")


@dataclass(frozen=True, slots=True)
class Form:
    """One pattern of one locale.

    Attributes:
        locale: such as ``en_US``.
        pattern: in the CLDR's notation.
        counted: whether the day is an ordinal.
        template: the pattern for `str.format`, with fields d, m, y and w.
        days: the days of the month as written, the first at 1.
        months: the months as written, the first at 1.
        weekdays: as written, from Monday at 0; empty where the pattern has none.
    """

    locale: str
    pattern: str
    counted: bool
    template: str
    days: tuple[str, ...]
    months: tuple[str, ...]
    weekdays: tuple[str, ...]

    def write(self, date: datetime.date) -> str:
        """Write a date."""
        return self.fill(date.year, date.month, date.day, date.weekday())

    def fill(self, year: int, month: int, day: int, weekday: int) -> str:
        """Write the parts of a date, whether or not there is such a day."""
        name = self.weekdays[weekday] if self.weekdays else ""
        return self.template.format(y=year, m=self.months[month], d=self.days[day], w=name)


@cache
def all_forms() -> dict[str, tuple[Form, ...]]:
    """Return the forms of every locale, no two of a locale alike.

    Raises:
        MissingExtraError: Babel is not installed.
    """
    try:
        from babel import Locale
    except ImportError:
        raise MissingExtraError("the dates world", "babel", "worlds") from None
    forms = {}
    for name, patterns in PATTERNS.items():
        locale = Locale.parse(name)
        listed = (locale.date_formats[length].pattern.replace("yy", "y") for length in _LISTED)
        plain = [_form(locale, name, pattern, counted=False) for pattern in (*listed, *patterns)]
        counted = [_form(locale, name, pattern, counted=True) for pattern in ORDINAL_PATTERNS.get(name, ())]
        forms[name] = tuple(dict.fromkeys([*plain, *counted]))
    return forms


def _form(locale: Any, name: str, pattern: str, *, counted: bool) -> Form:
    from babel.dates import tokenize_pattern

    template = ""
    days = [str(day) for day in range(32)]
    months = [str(month) for month in range(13)]
    weekdays: list[str] = []
    for _, value in tokenize_pattern(pattern):
        if isinstance(value, str):
            template += _clean(value).replace("{", "{{").replace("}", "}}")
            continue
        letter, width = value
        match letter:
            case "y":
                template += "{y}"
            case "G":
                template += _clean(locale.eras[_WIDTHS[width]][1])
            case "d":
                template += "{d}"
                days = [ordinal(name, day) if counted else f"{day:0{width}}" for day in range(32)]
            case "M" | "L" if width <= 2:
                template += "{m}"
                months = [f"{month:0{width}}" for month in range(13)]
            case "M" | "L":
                template += "{m}"
                names = locale.months["format" if letter == "M" else "stand-alone"][_WIDTHS[width]]
                months = ["", *(_clean(names[month]) for month in range(1, 13))]
            case "E" | "c":
                template += "{w}"
                names = locale.days["format" if letter == "E" else "stand-alone"][_WIDTHS[width]]
                weekdays = [_clean(names[day]) for day in range(7)]
            case _:
                raise AssertionError(f"{name}: the pattern {pattern!r} has a field {letter!r}, unknown here")
    return Form(name, pattern, counted, template, tuple(days), tuple(months), tuple(weekdays))


def _clean(text: str) -> str:
    composed = unicodedata.normalize("NFC", text)
    return "".join(" " if character.isspace() else character for character in composed)
