"""The dates dataset: dates as people write them → ISO 8601, one character at a time.

In: sizes and a seed. Out: splits of examples such as ``mercredi 5 mars 1997`` → ``1997-03-05``, equal on every machine
with the same release of Babel. A date is written by a `DateForm`, a pattern of one locale from the CLDR or from
`PATTERNS` (y year, M month, MMM short, MMMM full, d day, E weekday, text in quotes), letter for letter as Babel would
except that every year has four digits, blanks are plain and text is in NFC; then it is recased by the rules of its
language. Every text has one meaning: `DateParser` knows all forms, of all locales and in any casing, and a text that
two of them read as different dates is never generated.
"""

import datetime
import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from itertools import chain
from random import Random
from typing import Any

from regard.datasets.dataset import Example, Splits
from regard.errors import ConfigError, MissingExtraError

PATTERNS: dict[str, tuple[str, ...]] = {
    "en_US": ("MMMM d y", "EEE, MMM d, y", "d MMM y", "MM/dd/y", "M-d-y"),
    "en_GB": ("EEE d MMM y", "EEEE d MMMM y", "d-MMM-y", "d/M/y"),
    "fr": ("EEE d MMM y", "'le' d MMMM y", "'le' EEEE d MMMM y", "d/M/y"),
    "de": ("EEE, d. MMM y", "d. MMM y", "EEEE, 'den' d. MMMM y", "d.M.y"),
    "es": ("EEEE d 'de' MMMM 'de' y", "d 'de' MMM 'de' y", "EEE d MMM y", "dd/MM/y", "d-M-y"),
    "it": ("EEE d MMM y", "d/M/y", "d-M-y"),
    "pt": ("EEE, d 'de' MMMM 'de' y", "d MMM y", "d/M/y"),
    "nl": ("EEE d MMM y", "d-M-y"),
    "sv": ("'den' d MMMM y", "EEE d MMM y", "d/M y"),
    "da": ("'den' d. MMMM y", "EEE d. MMM y", "d/M/y"),
    "nb": ("EEE d. MMM y", "d.M.y"),
    "fi": ("EEE d.M.y", "EEE d. MMMM y", "dd.MM.y"),
    "pl": ("d MMMM y 'r'.", "EEEE, d MMMM y 'r'.", "EEE, d MMM y", "dd.MM.y"),
    "cs": ("EEE d. M. y", "EEE d. MMMM y", "d.M.y"),
    "hu": ("y. MMM d., EEE", "y. M. d.", "y.MM.dd."),
    "ro": ("EEE, d MMM y", "d.M.y", "d/M/y"),
    "tr": ("d MMM y EEE", "dd.MM.y", "d/M/y"),
    "ru": ("d MMMM y", "d MMMM y 'года'", "EEE, d MMM y", "d.M.y"),
    "uk": ("d MMMM y", "d MMMM y 'року'", "EEE, d MMM y", "d.M.y"),
    "bg": ("d MMMM y", "EEE, d MMMM y", "dd.MM.y"),
    "el": ("EEE d MMM y", "EEEE, d MMMM y", "dd/MM/y"),
    "ja": ("y年MM月dd日", "y年M月d日(EEE)", "y.M.d", "y-MM-dd"),
    "zh": ("y年MM月dd日", "y年M月d日 EEE", "y-M-d", "y.MM.dd"),
    "ko": ("y년 M월 d일 (EEE)", "y.MM.dd", "y-MM-dd"),
    "hi": ("EEE, d MMM y", "d MMMM, y", "dd/MM/y", "dd-MM-y"),
    "ar": ("EEEE d MMMM y", "d MMMM، y", "dd/MM/y"),
    "he": ("d MMM y", "EEE, d בMMM y", "dd/MM/y"),
    "th": ("'วันที่' d MMMM y", "EEE d MMM y", "d MMMM y", "dd/MM/y"),
    "vi": ("'ngày' d 'tháng' M 'năm' y", "EEEE, 'ngày' d 'tháng' M 'năm' y", "dd/MM/y"),
    "id": ("EEE, d MMM y", "d MMMM y", "dd-MM-y"),
}
"""The patterns of each locale in addition to the CLDR's."""

ORDINAL_PATTERNS: dict[str, tuple[str, ...]] = {
    "en_US": ("MMMM d, y", "MMM d, y", "EEEE, MMMM d, y", "d 'of' MMMM, y"),
    "en_GB": ("d MMMM y", "EEEE d MMMM y", "'the' d 'of' MMMM y"),
    "fr": ("d MMMM y", "'le' d MMMM y", "EEEE d MMMM y"),
    "it": ("d MMMM y", "EEEE d MMMM y"),
}
"""Patterns whose day is an ordinal number, as in 5th; the CLDR's notation has no letter for that."""


def ordinal(locale: str, day: int) -> str:
    """The day of the month as an ordinal number: 1st and 2nd, but in French and Italian only 1er and 1º."""
    if locale.startswith("en"):
        ending = "th" if 10 < day < 20 else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
        return f"{day}{ending}"
    first = {"fr": "1er", "it": "1º"}[locale]
    return first if day == 1 else str(day)


_TONOS = "\u0301"
_DIALYTIKA = "\u0308"
# an accent on the first of two vowels separates them; without it, a dialytika on the second has to
_SEPARATED = re.compile(f"([ΑΕΟΥ]){_TONOS}([ΙΥ])(?!{_DIALYTIKA})")


def as_written(text: str, locale: str) -> str:
    """The text unchanged."""
    return text


def lower_case(text: str, locale: str) -> str:
    """The text in lower case; Turkish has ı for I and i for İ."""
    if locale == "tr":
        text = text.replace("İ", "i").replace("I", "ı")
    return unicodedata.normalize("NFC", text.lower())


def upper_case(text: str, locale: str) -> str:
    """The text in capitals: 12 nisan → 12 NİSAN in Turkish, Μαΐου → ΜΑΪΟΥ, without the accent, in Greek."""
    text = _upper(text, locale)
    if locale == "el":
        separated = _SEPARATED.sub(rf"\1\2{_DIALYTIKA}", unicodedata.normalize("NFD", text))
        text = unicodedata.normalize("NFC", separated.replace(_TONOS, ""))
    return text


def title_case(text: str, locale: str) -> str:
    """Every word with a capital first letter, the rest unchanged: 5th stays 5th, and Άνοιξη keeps its accent."""
    return " ".join(_upper(word[:1], locale) + word[1:] for word in text.split(" "))


def _upper(text: str, locale: str) -> str:
    if locale == "tr":
        text = text.replace("i", "İ")
    return unicodedata.normalize("NFC", text.upper())


CASINGS: dict[Callable[[str, str], str], int] = {
    as_written: 70,
    lower_case: 10,
    upper_case: 10,
    title_case: 10,
}
"""The casings and their weights, in per cent."""


_WIDTHS = {1: "abbreviated", 2: "abbreviated", 3: "abbreviated", 4: "wide"}
_LISTED = ("full", "long", "medium", "short")


@dataclass(frozen=True, slots=True)
class DateForm:
    """One pattern of one locale.

    Attributes:
        locale: such as ``en_US``.
        pattern: in the CLDR's notation.
        has_ordinal: whether the day is an ordinal number.
        template: the pattern for `str.format`, with fields d, m, y and w.
        days: the days of the month as written, the first at 1.
        months: the months as written, the first at 1.
        weekdays: as written, from Monday at 0; empty where the pattern has none.
    """

    locale: str
    pattern: str
    has_ordinal: bool
    template: str
    days: tuple[str, ...]
    months: tuple[str, ...]
    weekdays: tuple[str, ...]

    def write(self, date: datetime.date) -> str:
        """Write a date."""
        return self.fill(date.year, date.month, date.day, date.weekday())

    def fill(self, year: int, month: int, day: int, weekday: int) -> str:
        """Write the parts of a date, whether or not it exists."""
        name = self.weekdays[weekday] if self.weekdays else ""
        return self.template.format(y=year, m=self.months[month], d=self.days[day], w=name)


@cache
def all_forms() -> dict[str, tuple[DateForm, ...]]:
    """The forms of every locale, without duplicates.

    Raises:
        MissingExtraError: Babel is not installed.
    """
    try:
        from babel import Locale
    except ImportError:
        raise MissingExtraError("the dates dataset", "babel", "datasets") from None
    forms = {}
    for name, patterns in PATTERNS.items():
        locale = Locale.parse(name)
        listed = (locale.date_formats[length].pattern.replace("yy", "y") for length in _LISTED)
        plain = [_form(locale, name, pattern, has_ordinal=False) for pattern in (*listed, *patterns)]
        ordinals = [
            _form(locale, name, pattern, has_ordinal=True) for pattern in ORDINAL_PATTERNS.get(name, ())
        ]
        forms[name] = tuple(dict.fromkeys([*plain, *ordinals]))
    return forms


def _form(locale: Any, name: str, pattern: str, *, has_ordinal: bool) -> DateForm:
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
                days = [ordinal(name, day) if has_ordinal else f"{day:0{width}}" for day in range(32)]
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
                raise AssertionError(f"{name}: the pattern {pattern!r} has an unknown field {letter!r}")
    return DateForm(name, pattern, has_ordinal, template, tuple(days), tuple(months), tuple(weekdays))


def _clean(text: str) -> str:
    composed = unicodedata.normalize("NFC", text)
    return "".join(" " if character.isspace() else character for character in composed)


_NUMBER = re.compile(r"\d+")
_DOT_ABOVE = "\u0307"
# direction marks and other invisible characters
_UNSEEN = dict.fromkeys([*range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x206A), 0xFEFF])


@dataclass(frozen=True, slots=True)
class DateLayout:
    """The meaning of a shape.

    Attributes:
        month: the month, where it is named and not a number.
        order: the meaning of the numbers in their order: y, m or d.
    """

    month: int | None
    order: str


class DateParser:
    """Parses a text by all forms: ``#/#/#`` is day first in London and month first in Boston."""

    def __init__(self, forms: Iterable[DateForm]) -> None:
        """List the layouts of every shape.

        Args:
            forms: of all locales.
        """
        self._by_shape: dict[str, set[DateLayout]] = {}
        for form in forms:
            self._add(form)

    def parse(self, text: str) -> set[datetime.date]:
        """Every date that some form writes as this text."""
        numbers = _NUMBER.findall(text)
        dates = set()
        for layout in self._by_shape.get(shape(text), ()):
            parts = dict(zip(layout.order, numbers, strict=True))
            widths = [len(parts["y"]) == 4, len(parts["d"]) <= 2, len(parts.get("m", "")) <= 2]
            month = layout.month or int(parts["m"])
            if all(widths) and _exists(int(parts["y"]), month, int(parts["d"])):
                dates.add(datetime.date(int(parts["y"]), month, int(parts["d"])))
        return dates

    def _add(self, form: DateForm) -> None:
        numbered = _NUMBER.search(form.months[1]) is not None
        fields = re.findall(r"{([ymd])}", form.template)
        order = "".join(field for field in fields if field != "m" or numbered)
        # one day for each form of its number, as 1st, 2nd, 3rd, 4th
        days = {shape(form.days[day]): day for day in range(31, 0, -1)}.values()
        for month in (1,) if numbered else range(1, 13):
            layout = DateLayout(None if numbered else month, order)
            for weekday in range(len(form.weekdays) or 1):
                for day in days:
                    text = form.fill(2000, month, day, weekday)
                    for recased in {casing(text, form.locale) for casing in CASINGS}:
                        self._by_shape.setdefault(shape(recased), set()).add(layout)


def shape(text: str) -> str:
    """A text with # for each number, case-folded and without invisible characters.

    The Turkish İ folds to an i with a dot above; the dot is removed, so that NİSAN, NISAN and nisan have one shape.
    """
    return _NUMBER.sub("#", text).translate(_UNSEEN).casefold().replace(_DOT_ABOVE, "")


def _exists(year: int, month: int, day: int) -> bool:
    try:
        datetime.date(year, month, day)
    except ValueError:
        return False
    return True


FIRST = datetime.date(1900, 1, 1)
LAST = datetime.date(2099, 12, 31)

_NUM_DAYS = (LAST - FIRST).days + 1
_NUM_UNSEEN_DAYS = _NUM_DAYS // 20
# far fewer than there are texts, so that sampling new ones stays fast
_MOST_EXAMPLES = 1_000_000


class Dates:
    """Dates of the years 1900 to 2099 in thirty locales, in words and in figures."""

    name = "dates"
    task = "translate"
    summary = "Dates as people write them in 30 locales, to ISO 8601, character by character."

    def splits(self, *, train: int, valid: int, test: int, seed: int) -> Splits:
        """Generate the corpus.

        Valid and test do not depend on the size of train. The extra split ``unseen``, as large as test, has days of
        the calendar that occur in no other split.

        Args:
            train: number of training examples.
            valid: number of validation examples.
            test: number of test examples.
            seed: equal seeds give equal splits.

        Raises:
            ConfigError: a size below 0, or more examples than there are distinct texts to sample.
            MissingExtraError: Babel is not installed.
        """
        if min(train, valid, test) < 0 or train + valid + 2 * test > _MOST_EXAMPLES:
            raise ConfigError(
                f"dates: {train} training, {valid} validation and twice {test} test examples cannot be had; ask for 0 "
                f"or more of each, and for {_MOST_EXAMPLES:,} at most in all"
            )
        random = Random(seed)
        unseen = set(random.sample(range(_NUM_DAYS), _NUM_UNSEEN_DAYS))
        seen = [day for day in range(_NUM_DAYS) if day not in unseen]
        sampler = _DateSampler(random)
        unseen_examples = sampler.sample(test, sorted(unseen))
        test_examples, valid_examples = sampler.sample(test, seen), sampler.sample(valid, seen)
        return Splits(sampler.sample(train, seen), valid_examples, test_examples, {"unseen": unseen_examples})


class _DateSampler:
    """Samples examples, no text twice."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._forms = list(all_forms().values())
        self._parser = DateParser(chain.from_iterable(self._forms))
        self._written: set[str] = set()

    def sample(self, number: int, days: list[int]) -> list[Example]:
        """Sample `number` new examples of the given days, numbered from `FIRST`."""
        examples: list[Example] = []
        casings, weights = list(CASINGS), list(CASINGS.values())
        while len(examples) < number:
            form = self._random.choice(self._random.choice(self._forms))
            date = FIRST + datetime.timedelta(days=self._random.choice(days))
            [casing] = self._random.choices(casings, weights)
            text = casing(form.write(date), form.locale)
            if text not in self._written and self._parser.parse(text) == {date}:
                self._written.add(text)
                examples.append(Example(text, date.isoformat()))
        return examples
