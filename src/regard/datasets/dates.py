"""Which languages write dates here, and the ways people have that the CLDR does not list.

Patterns are in the CLDR's own notation: y year, M month (MMM short, MMMM full), d day, E weekday (EEE short,
EEEE full), text in quotes. Data alone: how a pattern is written out is `forms`.

How people treat capitals in a date: as the language has it, none, nothing else, or one a word.

In: a text in NFC and the locale it is written in. Out: the text recased, in NFC. Turkish parts i, İ from ı, I;
Greek writes capitals without the accent. Scripts without capitals come out as they went in.

Ways of writing a date: each a pattern of one locale, with its names looked up once.

In: patterns from the CLDR and from `locales`. Out: `Form`s that write any date, letter for letter as Babel
would except that every year has four digits, blanks are plain ones and text is in NFC. Babel is met here
alone.

Which dates a text could stand for: the proof that every text this world writes has one meaning.

In: a text. Out: all the dates that any form, of any locale and in any casing, writes so. A text's shape is
the text without its digits; every form's shapes are listed with what their numbers mean, so that ``#/#/#``
is known to be read day first in London and month first in Boston.

The world of dates: what people write → ISO 8601, one character at a time.

In: sizes and a seed. Out: splits of examples such as ``mercredi 5 mars 1997`` → ``1997-03-05``. Every text
has one meaning: one that two forms would read as different dates is never written. Equal on every machine
with the same release of Babel, whose names and patterns these are.
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
"""Each locale, with its patterns beside the CLDR's own."""

ORDINAL_PATTERNS: dict[str, tuple[str, ...]] = {
    "en_US": ("MMMM d, y", "MMM d, y", "EEEE, MMMM d, y", "d 'of' MMMM, y"),
    "en_GB": ("d MMMM y", "EEEE d MMMM y", "'the' d 'of' MMMM y"),
    "fr": ("d MMMM y", "'le' d MMMM y", "EEEE d MMMM y"),
    "it": ("d MMMM y", "EEEE d MMMM y"),
}
"""Patterns whose day is counted out, as in 5th; the CLDR's notation has no letter for that."""


def ordinal(locale: str, day: int) -> str:
    """Write the day of the month as it is counted out: 1st and 2nd, but only 1er and 1º."""
    if locale.startswith("en"):
        ending = "th" if 10 < day < 20 else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
        return f"{day}{ending}"
    first = {"fr": "1er", "it": "1º"}[locale]
    return first if day == 1 else str(day)


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


_NUMBER = re.compile(r"\d+")
_DOT_ABOVE = "\u0307"
# direction marks and the like: nothing a reader sees
_UNSEEN = dict.fromkeys([*range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x206A), 0xFEFF])


@dataclass(frozen=True, slots=True)
class Reading:
    """What a shape says.

    Attributes:
        month: the month, where it is named and not numbered.
        order: what the numbers are, in turn: y, m or d.
    """

    month: int | None
    order: str


class Readings:
    """The shapes of all forms."""

    def __init__(self, forms: Iterable[Form]) -> None:
        """List every shape the forms can write.

        Args:
            forms: all that are used, of all locales.
        """
        self._by_shape: dict[str, set[Reading]] = {}
        for form in forms:
            self._add(form)

    def read(self, text: str) -> set[datetime.date]:
        """Return every date some form writes as this text."""
        numbers = _NUMBER.findall(text)
        dates = set()
        for reading in self._by_shape.get(shape(text), ()):
            parts = dict(zip(reading.order, numbers, strict=True))
            widths = [len(parts["y"]) == 4, len(parts["d"]) <= 2, len(parts.get("m", "")) <= 2]
            month = reading.month or int(parts["m"])
            if all(widths) and _exists(int(parts["y"]), month, int(parts["d"])):
                dates.add(datetime.date(int(parts["y"]), month, int(parts["d"])))
        return dates

    def _add(self, form: Form) -> None:
        numbered = _NUMBER.search(form.months[1]) is not None
        fields = re.findall(r"{([ymd])}", form.template)
        order = "".join(field for field in fields if field != "m" or numbered)
        # one day for each way its number is dressed, as 1st, 2nd, 3rd, 4th
        days = {shape(form.days[day]): day for day in range(31, 0, -1)}.values()
        for month in (1,) if numbered else range(1, 13):
            reading = Reading(None if numbered else month, order)
            for weekday in range(len(form.weekdays) or 1):
                for day in days:
                    text = form.fill(2000, month, day, weekday)
                    for recased in {casing(text, form.locale) for casing in CASINGS}:
                        self._by_shape.setdefault(shape(recased), set()).add(reading)


def shape(text: str) -> str:
    """Return a text with # for each number, without regard to case or to what cannot be seen.

    The Turkish İ folds to an i with a dot above, which goes too: what is left is the i of NISAN and nisan.
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
# each locale writes every day in ways enough of its own; far fewer than there are, so that drawing stays quick
_MOST_EXAMPLES = 1_000_000


class Dates:
    """Dates of the years 1900 to 2099 in thirty locales, spelt out and in figures."""

    name = "dates"
    task = "translate"
    describes = "Dates as people write them in 30 locales, to ISO 8601, character by character."

    def splits(self, *, train: int, valid: int, test: int, seed: int) -> Splits:
        """Generate the corpus.

        Valid and test do not depend on how much there is to train on. The further test set ``unseen``, as
        large as test, has days of the calendar that occur in no other split.

        Args:
            train: how many examples to train on.
            valid: how many to validate with.
            test: how many to test with.
            seed: equal seeds give equal splits.

        Raises:
            ConfigError: a size below 0, or more examples than there are distinct texts to draw with ease.
            MissingExtraError: Babel is not installed.
        """
        if min(train, valid, test) < 0 or train + valid + 2 * test > _MOST_EXAMPLES:
            raise ConfigError(
                f"the dates world cannot give {train} examples to train on, {valid} to validate and twice "
                f"{test} to test; none may be below 0, and all together {_MOST_EXAMPLES:,} at most"
            )
        random = Random(seed)
        unseen = set(random.sample(range(_NUM_DAYS), _NUM_UNSEEN_DAYS))
        seen = [day for day in range(_NUM_DAYS) if day not in unseen]
        writer = _Writer(random)
        rare = writer.draw(test, sorted(unseen))
        tested, validated = writer.draw(test, seen), writer.draw(valid, seen)
        return Splits(writer.draw(train, seen), validated, tested, {"unseen": rare})


class _Writer:
    """Draws examples, no text twice."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._forms = list(all_forms().values())
        self._readings = Readings(chain.from_iterable(self._forms))
        self._written: set[str] = set()

    def draw(self, number: int, days: list[int]) -> list[Example]:
        """Return so many new examples of the given days, counted from `FIRST`."""
        examples: list[Example] = []
        casings, weights = list(CASINGS), list(CASINGS.values())
        while len(examples) < number:
            form = self._random.choice(self._random.choice(self._forms))
            date = FIRST + datetime.timedelta(days=self._random.choice(days))
            [casing] = self._random.choices(casings, weights)
            text = casing(form.write(date), form.locale)
            if text not in self._written and self._readings.read(text) == {date}:
                self._written.add(text)
                examples.append(Example(text, date.isoformat()))
        return examples
