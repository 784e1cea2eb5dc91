"""The world of dates: what people write → ISO 8601, one character at a time.

In: sizes and a seed. Out: splits of examples such as ``mercredi 5 mars 1997`` → ``1997-03-05``. Every text
has one meaning: one that two forms would read as different dates is never written. Equal on every machine
with the same release of Babel, whose names and patterns these are.
"""

import datetime
from itertools import chain
from random import Random

from regard.errors import ConfigError
from regard.worlds.dates.casing import CASINGS
from regard.worlds.dates.forms import all_forms
from regard.worlds.dates.readings import Readings
from regard.worlds.world import Example, Splits

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
