import datetime
import sys
import unicodedata
from itertools import chain
from random import Random

import pytest
from babel.dates import format_date

from regard.datasets.dates import PATTERNS, all_forms, ordinal
from regard.errors import MissingExtraError

FORMS = list(chain.from_iterable(all_forms().values()))


def some_dates(number):
    random = Random(5)
    ends = [datetime.date(1900, 1, 1), datetime.date(2000, 2, 29), datetime.date(2099, 12, 31)]
    every_month = [datetime.date(1996 + month, month, month) for month in range(1, 13)]
    drawn = [
        datetime.date(1900, 1, 1) + datetime.timedelta(days=random.randrange(73049)) for _ in range(number)
    ]
    return ends + every_month + drawn


def as_plain_text(text):
    return "".join(" " if c.isspace() else c for c in unicodedata.normalize("NFC", text))


@pytest.mark.parametrize("locale", PATTERNS)
def test_forms_write_what_babel_writes(locale):
    dates = some_dates(25)
    for form in all_forms()[locale]:
        assert form.locale == locale
        if not form.counted:
            for date in dates:
                assert form.write(date) == as_plain_text(format_date(date, form.pattern, locale=locale))


@pytest.mark.parametrize("locale", PATTERNS)
def test_the_listed_formats_are_among_them(locale):
    date = datetime.date(2031, 12, 21)
    written = {form.write(date) for form in all_forms()[locale]}
    for length in ("full", "long", "medium"):
        listed = as_plain_text(format_date(date, length, locale=locale))
        assert listed in written or listed.replace("31", "2031") in written
    short = as_plain_text(format_date(date, "short", locale=locale))
    assert (short if "2031" in short else short.replace("31", "2031")) in written


def test_counted_days():
    form = next(f for f in all_forms()["en_US"] if f.counted and f.pattern == "MMMM d, y")
    assert form.write(datetime.date(1997, 3, 5)) == "March 5th, 1997"
    endings = {day: ordinal("en_GB", day).removeprefix(str(day)) for day in range(1, 32)}
    assert {day for day, ending in endings.items() if ending == "st"} == {1, 21, 31}
    assert {day for day, ending in endings.items() if ending == "nd"} == {2, 22}
    assert {day for day, ending in endings.items() if ending == "rd"} == {3, 23}
    assert set(endings.values()) == {"st", "nd", "rd", "th"}
    assert [ordinal("fr", 1), ordinal("fr", 21), ordinal("it", 1), ordinal("it", 2)] == [
        "1er",
        "21",
        "1º",
        "2",
    ]


def test_every_date_has_its_year_in_four_digits_and_no_odd_blanks():
    for form in FORMS:
        for date in some_dates(3):
            text = form.write(date)
            assert f"{date.year}" in text
            assert text == " ".join(text.split())
            assert unicodedata.is_normalized("NFC", text)


def test_locales_are_many_and_scripts_too():
    assert len(PATTERNS) >= 20
    text = "".join(form.write(date) for form in FORMS for date in some_dates(0))
    scripts = {unicodedata.name(c).split()[0] for c in text if c.isalpha()}
    assert scripts >= {
        "LATIN",
        "CYRILLIC",
        "GREEK",
        "CJK",
        "HANGUL",
        "DEVANAGARI",
        "ARABIC",
        "HEBREW",
        "THAI",
    }


def test_without_babel_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "babel", None)
    with pytest.raises(MissingExtraError, match=r"the dates world needs babel, .* extra 'worlds'"):
        all_forms.__wrapped__()


def test_no_form_stands_twice():
    assert len(FORMS) == len(set(FORMS)) == len({(f.locale, f.pattern, f.counted) for f in FORMS})
