"""Phrases that an output must hold: how far a beginning has come with them, and which beginnings get the beam's places.

Beginnings that lack the same number of words form a bank, and the banks take turns at the beam (Post & Vilar 2018;
Hu et al. 2019): else one that holds its phrases, unlikely as they may be, would lose to those that put them off.
A beginning that could not hold them all within the limit is never taken, so that every output holds them.

Phrases that must appear, for the whole batch: each row's progress, and the choice among their candidates.
"""

from collections import Counter
from collections.abc import Sequence
from functools import cache

import numpy as np

from regard.errors import ConfigError
from regard.search.constraints import Flags, Phrase, TokenConstraints, contains
from regard.search.hypotheses import Floats
from regard.search.vocabulary_map import Ids
from regard.text.specials import EOS

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


def check_room(constraints: Sequence[TokenConstraints], limits: Ids) -> None:
    """Raise a ConfigError where a sentence's prefix and phrases do not fit into its limit."""
    for b, each in enumerate(constraints):
        phrases = Phrases(each.include)
        progress = phrases.start
        for word in each.prefix:
            progress = phrases.after(progress, word)
        least = len(each.prefix) + phrases.needed(progress) + 1
        if least > limits[b]:
            raise ConfigError(
                f"{each.name or f'sentence {b + 1}'}: its prefix and phrases need {least} tokens with the end mark, "
                f"and its limit is {limits[b]}; ask for less, or raise the limit"
            )


class Inclusion:
    """The phrases of each sentence and the progress of each row with those of its sentence.

    Args:
        constraints: one for each sentence.
        limits: (B,), the most tokens, the end mark counted.
    """

    def __init__(self, constraints: Sequence[TokenConstraints], limits: Ids) -> None:
        self._phrases = [Phrases(constraints.include) for constraints in constraints]
        self._limits: list[int] = limits.tolist()
        self._progress: list[Progress] = [phrases.start for phrases in self._phrases]

    @classmethod
    def of(cls, constraints: Sequence[TokenConstraints] | None, limits: Ids) -> "Inclusion | None":
        """None where no sentence has phrases."""
        return cls(constraints, limits) if constraints and any(each.include for each in constraints) else None

    def unfinished(self, sentences: Ids) -> Flags:
        """Whether each row lacks phrases, (R,)."""
        slots = len(self._progress) // len(sentences)
        return np.array(
            [
                self._phrases[sentences[row // slots]].needed(progress) > 0
                for row, progress in enumerate(self._progress)
            ]
        )

    def wanted(self, sentences: Ids) -> list[tuple[int, int]]:
        """(row, id) of the words that go on with a phrase."""
        slots = len(self._progress) // len(sentences)
        return [
            (row, word)
            for row, progress in enumerate(self._progress)
            for word in self._phrases[sentences[row // slots]].next_words(progress)
        ]

    def choose(
        self, step: int, sentences: Ids, candidates: Floats, ids: Ids, places: Ids
    ) -> dict[int, list[int]]:
        """Choose among the candidates of the sentences that have phrases.

        Args:
            step: how many words there are so far.
            sentences: (B,).
            candidates: (B, slots · k), log p of each beginning with its new word.
            ids: (B, slots · k), the new words.
            places: (B,), how many of a sentence may be chosen.

        Returns:
            For each row of `candidates` that has phrases, the columns chosen, best first.
        """
        slots = len(self._progress) // len(sentences)
        width = candidates.shape[1] // slots
        chosen = {}
        for k, b in enumerate(sentences.tolist()):
            phrases = self._phrases[b]
            if not phrases.phrases:
                continue
            legal, lacking = [], []
            for column, word in enumerate(ids[k].tolist()):
                if candidates[k, column] == float("-inf"):
                    continue
                progress = self._progress[k * slots + column // width]
                needed = 0 if word == EOS else phrases.needed(phrases.after(progress, word))
                if word == EOS or step + 1 + needed < self._limits[b]:
                    legal.append(column)
                    lacking.append(needed)
            turns = take_turns(candidates[k, legal].tolist(), lacking, int(places[k]))
            chosen[k] = [legal[place] for place in turns]
        return chosen

    def go_on(self, sentences: Ids, parents: Ids, tokens: Ids) -> None:
        """The next step's rows, (R′,), of these sentences."""
        slots = len(parents) // len(sentences)
        self._progress = [
            self._phrases[sentences[row // slots]].after(self._progress[parent], token)
            for row, (parent, token) in enumerate(zip(parents.tolist(), tokens.tolist(), strict=True))
        ]
