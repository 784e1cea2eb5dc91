"""Which dates a text could stand for: the proof that every text this world writes has one meaning.

In: a text. Out: all the dates that any form, of any locale and in any casing, writes so. A text's shape is
the text without its digits; every form's shapes are listed with what their numbers mean, so that ``#/#/#``
is known to be read day first in London and month first in Boston.
"""

import datetime
import re
from collections.abc import Iterable
from dataclasses import dataclass

from regard.worlds.dates.casing import CASINGS
from regard.worlds.dates.forms import Form

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
