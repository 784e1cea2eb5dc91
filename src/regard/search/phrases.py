"""Phrases that an output must hold: how far a beginning has come with them, and which beginnings get the beam's places.

Beginnings that lack the same number of words form a bank, and the banks take turns at the beam (Post & Vilar 2018;
Hu et al. 2019): else one that holds its phrases, unlikely as they may be, would lose to those that put them off.
A beginning that could not hold them all within the limit is never taken, so that every output holds them.
"""

from collections import Counter
from collections.abc import Sequence
from functools import cache

from regard.search.request import Phrase, contains

Progress = tuple[int, ...]
"""How many words of each phrase the end of a beginning has; a phrase that has appeared stays at its length."""

_MANY = 8  # with more phrases than this, which overlaps could save words is not looked into


class Phrases:
    """The phrases of one sentence; one that is part of another need not be watched."""

    def __init__(self, phrases: Sequence[Phrase]) -> None:
        distinct = tuple(dict.fromkeys(phrases))
        self.phrases = tuple(
            one for one in distinct if not any(one != other and contains(other, one) for other in distinct)
        )
        self.start: Progress = (0,) * len(self.phrases)
        # progress comes back at every step, for every candidate
        self.needed = cache(self._needed)
        self.after = cache(self._after)
        self._rest = cache(self._rest_after)

    def _after(self, progress: Progress, word: int) -> Progress:
        """The progress once a word is added."""
        return tuple(
            done if done == len(phrase) else _longest((*phrase[:done], word), phrase)
            for phrase, done in zip(self.phrases, progress, strict=True)
        )

    def next_words(self, progress: Progress) -> tuple[int, ...]:
        """The words that go on with a phrase."""
        return tuple(
            dict.fromkeys(
                phrase[done]
                for phrase, done in zip(self.phrases, progress, strict=True)
                if done < len(phrase)
            )
        )

    def _needed(self, progress: Progress) -> int:
        """The fewest words after which all phrases have appeared."""
        missing = frozenset(k for k, phrase in enumerate(self.phrases) if progress[k] < len(phrase))
        if not missing:
            return 0
        return min(len(self.phrases[k]) - progress[k] + self._rest(k, missing - {k}) for k in missing)

    def _rest_after(self, last: int, missing: frozenset[int]) -> int:
        """The fewest words for the phrases that are missing when `last` has just appeared."""
        if len(missing) > _MANY:
            return sum(len(self.phrases[k]) for k in missing)
        ways = (
            len(self.phrases[k])
            - _longest(self.phrases[last], self.phrases[k])
            + self._rest(k, missing - {k})
            for k in missing
        )
        return min(ways, default=0)


def _longest(end: Phrase, phrase: Phrase) -> int:
    """The size of the longest beginning of a phrase that `end` ends with."""
    sizes = range(min(len(end), len(phrase)), 0, -1)
    return next((size for size in sizes if end[-size:] == phrase[:size]), 0)


def take_turns(totals: Sequence[float], lacking: Sequence[int], places: int) -> list[int]:
    """Choose among candidates: the best of each bank, least lacking first, then each one's second best.

    Args:
        totals: log p of each candidate.
        lacking: how many words of its phrases it lacks.
        places: how many may be chosen.

    Returns:
        The chosen ones, best first.
    """
    by_total = sorted(range(len(totals)), key=lambda k: -totals[k])
    seen: Counter[int] = Counter()
    turns = []
    for k in by_total:
        turns.append((seen[lacking[k]], lacking[k], k))
        seen[lacking[k]] += 1
    return sorted((k for _, _, k in sorted(turns)[:places]), key=lambda k: -totals[k])
