import datetime
import hashlib
import re
import subprocess
import sys
import time
import unicodedata
from collections import defaultdict
from dataclasses import replace
from itertools import chain
from random import Random

import pytest
from babel import Locale
from babel.dates import format_date

from regard.datasets.dates import (
    CASINGS,
    PATTERNS,
    DateParser,
    Dates,
    all_forms,
    as_written,
    lower_case,
    ordinal,
    shape,
    title_case,
    upper_case,
)
from regard.errors import ConfigError, MissingExtraError


@pytest.fixture(scope="module")
def splits():
    return Dates().splits(train=40_000, valid=1_000, test=2_000, seed=7)


@pytest.fixture(scope="module")
def examples(splits):
    return [*splits.train, *splits.valid, *splits.test, *splits.extra["unseen"]]


def orders_by_separators():
    """Which orders of y, M and d go with which marks between them, straight from the patterns."""
    orders = defaultdict(set)
    patterns = [form.pattern for form in chain.from_iterable(all_forms().values())]
    for locale in PATTERNS:
        patterns += [Locale.parse(locale).date_formats[n].pattern for n in ("short", "medium")]
    for pattern in patterns:
        marks = re.sub("[yMd]+", "#", pattern)
        if not re.search("[^\\W\\d_]", marks) and "MMM" not in pattern:
            orders[re.sub("\u200f", "", marks)].add("".join(re.findall("([yMd])\\1*", pattern)))
    return orders


def test_no_figures_are_read_as_two_dates_by_two_locales(examples):
    orders = orders_by_separators()
    assert {"dMy", "Mdy", "yMd"} <= orders["#/#/#"]
    figures = 0
    for example in examples:
        numbers = re.findall(r"\d+", example.source)
        if len(numbers) < 3 or re.search(r"[^\W\d_]", example.source):
            continue
        figures += 1
        marks = re.sub("\u200f", "", re.sub(r"\d+", "#", example.source))
        read = set()
        for order in orders[marks]:
            parts = dict(zip(order, numbers, strict=True))
            if len(parts["y"]) == 4:
                try:
                    read.add(datetime.date(int(parts["y"]), int(parts["M"]), int(parts["d"])).isoformat())
                except ValueError:
                    continue
        assert read == {example.target}, example.source
    assert figures > 5_000


def test_both_orders_of_figures_occur(examples):
    slashed = [e for e in examples if re.fullmatch(r"\d\d?/\d\d?/\d{4}", e.source)]
    assert any(int(e.source.split("/")[0]) > 12 for e in slashed)
    assert any(int(e.source.split("/")[1]) > 12 for e in slashed)


def test_no_month_name_means_two_months(examples):
    """Whatever the digits, one wording has one month; case and blanks make no difference."""
    months = defaultdict(set)
    for example in examples:
        numbers = re.findall(r"\d+", example.source)
        if len(numbers) == 2:
            wording = re.sub(r"\d+", "#", example.source).casefold()
            months[wording].add(example.target[5:7])
            assert sorted(map(int, numbers)) == [int(example.target[8:]), int(example.target[:4])]
    assert len(months) > 2_000
    assert all(len(found) == 1 for found in months.values())


def test_targets_are_iso_dates_of_the_two_centuries(examples):
    for example in examples:
        date = datetime.date.fromisoformat(example.target)
        assert date.isoformat() == example.target
        assert 1900 <= date.year <= 2099
        assert example.gold is None
        assert unicodedata.is_normalized("NFC", example.source)
        assert example.source == " ".join(example.source.split())


def test_sizes_and_no_text_twice(splits, examples):
    assert [len(splits.train), len(splits.valid), len(splits.test)] == [40_000, 1_000, 2_000]
    assert {name: len(part) for name, part in splits.extra.items()} == {"unseen": 2_000}
    assert len({example.source for example in examples}) == len(examples)
    assert len({example.source.casefold() for example in examples}) > 0.99 * len(examples)


def test_unseen_days_are_nowhere_else(splits):
    unseen = {example.target for example in splits.extra["unseen"]}
    others = {example.target for example in [*splits.train, *splits.valid, *splits.test]}
    assert len(unseen) > 1_000
    assert not unseen & others


def test_all_locales_and_casings_take_part(splits):
    by_text = {}
    for form in chain.from_iterable(all_forms().values()):
        for example in splits.train[:3_000]:
            date = datetime.date.fromisoformat(example.target)
            if form.write(date).casefold() == example.source.casefold():
                by_text.setdefault(example.source, set()).add(form.locale)
    # nearly all are found: a few casings do not fold back
    assert len(by_text) > 0.99 * 3_000
    shares = defaultdict(int)
    for locales in by_text.values():
        for locale in locales:
            shares[locale] += 1
    assert set(shares) == set(PATTERNS)
    assert min(shares.values()) > 3_000 / len(PATTERNS) / 2
    upper = sum(e.source.isupper() for e in splits.train)
    assert 0.05 < upper / len(splits.train) < 0.15


def test_tests_do_not_depend_on_the_amount_to_train_on(splits):
    small = Dates().splits(train=300, valid=1_000, test=2_000, seed=7)
    assert small.test == splits.test
    assert small.valid == splits.valid
    assert small.extra == splits.extra
    assert small.train == splits.train[:300]


def digest(seed):
    splits = Dates().splits(train=500, valid=50, test=50, seed=seed)
    parts = [splits.train, splits.valid, splits.test, splits.extra["unseen"]]
    return hashlib.sha256(repr(parts).encode()).hexdigest()


PROGRAM = """
import hashlib
from regard.datasets.dates import Dates
splits = Dates().splits(train=500, valid=50, test=50, seed=3)
parts = [splits.train, splits.valid, splits.test, splits.extra["unseen"]]
print(hashlib.sha256(repr(parts).encode()).hexdigest())
"""


def test_equal_seeds_give_equal_splits_in_every_process(monkeypatch):
    assert digest(3) == digest(3) != digest(4)
    monkeypatch.setenv("PYTHONHASHSEED", "11")
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == digest(3)


def test_forty_thousand_examples_take_seconds():
    Dates().splits(train=0, valid=0, test=1, seed=1)
    started = time.process_time()
    Dates().splits(train=40_000, valid=0, test=0, seed=1)
    assert time.process_time() - started < 6


@pytest.mark.parametrize("sizes", [(-1, 0, 0), (0, -1, 0), (0, 0, -1), (999_999, 0, 1)])
def test_impossible_sizes(sizes):
    train, valid, test = sizes
    with pytest.raises(ConfigError, match=rf"dates: {train} training.* cannot be had; .* 1,000,000 at most"):
        Dates().splits(train=train, valid=valid, test=test, seed=0)


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
        if not form.has_ordinal:
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
    form = next(f for f in all_forms()["en_US"] if f.has_ordinal and f.pattern == "MMMM d, y")
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
    with pytest.raises(MissingExtraError, match=r"the dates dataset needs babel, .* extra 'datasets'"):
        all_forms.__wrapped__()


def test_no_form_occurs_twice():
    assert len(FORMS) == len(set(FORMS)) == len({(f.locale, f.pattern, f.has_ordinal) for f in FORMS})


@pytest.mark.parametrize(
    ("locale", "text", "large"),
    [
        ("tr", "12 Nisan 1997 Cumartesi", "12 NİSAN 1997 CUMARTESİ"),
        ("tr", "4 Kasım 1997 Salı", "4 KASIM 1997 SALI"),
        ("en_GB", "Friday 1st April 1997", "FRIDAY 1ST APRIL 1997"),
        ("el", "12 Απριλίου 1997", "12 ΑΠΡΙΛΙΟΥ 1997"),
        ("el", "Δευτέρα, 5 Μαΐου 1997", "ΔΕΥΤΕΡΑ, 5 ΜΑΪΟΥ 1997"),
        ("el", "Μάιος", "ΜΑΪΟΣ"),
        ("fr", "5 février 1997", "5 FÉVRIER 1997"),
        ("uk", "понеділок", "ПОНЕДІЛОК"),
        ("ja", "1997年3月5日", "1997年3月5日"),
    ],
)
def test_capitals_are_those_of_the_language(locale, text, large):
    assert upper_case(text, locale) == large


def test_lower_case_follows_the_language():
    assert lower_case("12 NİSAN 1997 SALI", "tr") == "12 nisan 1997 salı"
    assert lower_case("FRIDAY 12 APRIL 1997", "en_GB") == "friday 12 april 1997"


def test_the_first_letter_alone():
    assert title_case("le mercredi 5 mars, 5th 1997", "fr") == "Le Mercredi 5 Mars, 5th 1997"
    assert title_case("ilk ışık", "tr") == "İlk Işık"
    assert title_case("άνοιξη", "el") == "Άνοιξη"


def test_every_casing_keeps_nfc_and_applied_twice_changes_nothing():
    assert sum(CASINGS.values()) == 100
    for form in chain.from_iterable(all_forms().values()):
        for month in range(1, 13):
            text = form.write(datetime.date(1997, month, month))
            assert as_written(text, form.locale) == text
            for casing in CASINGS:
                once = casing(text, form.locale)
                assert unicodedata.is_normalized("NFC", once)
                assert casing(once, form.locale) == once


PARSER = DateParser(FORMS)


def date(text):
    return datetime.date.fromisoformat(text)


@pytest.mark.parametrize(
    ("text", "dates"),
    [
        ("03/05/1997", {"1997-05-03", "1997-03-05"}),
        ("3-5-1997", {"1997-05-03", "1997-03-05"}),
        ("13/05/1997", {"1997-05-13"}),
        ("05/13/1997", {"1997-05-13"}),
        ("5/5/1997", {"1997-05-05"}),
        ("31/31/1997", set()),
        ("1997/03/05", {"1997-03-05"}),
        ("03.05.1997", {"1997-05-03"}),
        ("1997.03.05", {"1997-03-05"}),
        ("3.5.97", set()),
        ("30 February 1997", set()),
        ("MERCREDI 5 MARS 1997", {"1997-03-05"}),
        ("12 NİSAN 1997 CUMARTESİ", {"1997-04-12"}),
        ("12 ΑΠΡΙΛΙΟΥ 1997", {"1997-04-12"}),
        ("5 listopada 1997", {"1997-11-05"}),
        ("3\u200f/5\u200f/1997", {"1997-05-03", "1997-03-05"}),
        ("no date at all", set()),
        ("", set()),
    ],
)
def test_every_date_a_text_could_mean(text, dates):
    assert PARSER.parse(text) == {date(iso) for iso in dates}


def test_every_form_in_every_casing_can_be_read():
    days = [datetime.date(2000, 1, 1) + datetime.timedelta(days=29 * n) for n in range(40)]
    for form in FORMS:
        for day in days:
            for casing in CASINGS:
                assert day in PARSER.parse(casing(form.write(day), form.locale))


def test_a_month_name_two_locales_read_differently_has_two_meanings():
    """Croatian lip. is June and Polish lip is July, so both are parsed."""
    polish = next(form for form in all_forms()["pl"] if form.pattern == "d MMM y")
    months = list(polish.months)
    months[6], months[7] = "lip", "srp"
    croatian = replace(polish, locale="hr", months=tuple(months))
    both = DateParser([polish, croatian])
    assert both.parse("5 lip 1997") == {date("1997-06-05"), date("1997-07-05")}
    assert both.parse("5 maj 1997") == {date("1997-05-05")}


def test_shapes():
    assert shape("5. MÄRZ 1997") == shape("15. märz 2001") == "#. märz #"
    assert shape("5\u200f/3\u200f/1997") == "#/#/#"
    assert shape("12 NİSAN 1997") == shape("12 NISAN 1997") == shape("12 nisan 1997") == "# nisan #"
