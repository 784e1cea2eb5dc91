"""Phrases that an output must contain: the progress of each hypothesis, and how the beam's places are shared.

Partial hypotheses that lack the same number of words form a bank, and the banks take turns at the places of the beam
(Post & Vilar 2018; Hu et al. 2019): otherwise a hypothesis that contains its phrases, improbable as they may be, would
lose to those that put them off. A hypothesis that could not contain them all within the limit is never taken, so every
output contains them. Knows ids and log-probabilities, no decoder.
"""

from collections import Counter
from collections.abc import Sequence
from functools import cache

import numpy as np

from regard.errors import ConfigError
from regard.search.constraints import Phrase, TokenConstraints, contains
from regard.search.hypotheses import NEVER, Flags, Floats, Ids
from regard.text.specials import EOS

Progress = tuple[int, ...]
"""How many words of each phrase a partial hypothesis ends with; a phrase that has appeared stays at its length."""

_MOST_OVERLAPS = 8  # with more phrases than this, overlaps that could save words are not searched


class SentencePhrases:
    """The required phrases of one sentence; one that is part of another is not tracked by itself."""

    def __init__(self, phrases: Sequence[Phrase]) -> None:
        distinct = tuple(dict.fromkeys(phrases))
        self.phrases = tuple(
            phrase
            for phrase in distinct
            if not any(phrase != other and contains(other, phrase) for other in distinct)
        )
        self.start: Progress = (0,) * len(self.phrases)
        # computed for every candidate at every step, mostly of the same progress
        self.needed = cache(self._needed)
        self.after = cache(self._after)
        self._needed_after = cache(self._shortest_rest)

    def _after(self, progress: Progress, word: int) -> Progress:
        """The progress once a word is added."""
        return tuple(
            done if done == len(phrase) else _overlap((*phrase[:done], word), phrase)
            for phrase, done in zip(self.phrases, progress, strict=True)
        )

    def next_words(self, progress: Progress) -> tuple[int, ...]:
        """The words that continue a phrase."""
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
        return min(len(self.phrases[k]) - progress[k] + self._needed_after(k, missing - {k}) for k in missing)

    def _shortest_rest(self, last: int, missing: frozenset[int]) -> int:
        """The fewest words for the phrases that are missing when `last` has just appeared."""
        if len(missing) > _MOST_OVERLAPS:
            return sum(len(self.phrases[k]) for k in missing)
        ways = (
            len(self.phrases[k])
            - _overlap(self.phrases[last], self.phrases[k])
            + self._needed_after(k, missing - {k})
            for k in missing
        )
        return min(ways, default=0)


def _overlap(end: Phrase, phrase: Phrase) -> int:
    """The size of the longest prefix of a phrase that `end` ends with."""
    sizes = range(min(len(end), len(phrase)), 0, -1)
    return next((size for size in sizes if end[-size:] == phrase[:size]), 0)


def choose_by_bank(totals: Sequence[float], lacking: Sequence[int], places: int) -> list[int]:
    """Choose among candidates: the best of each bank, least lacking first, then the second best of each.

    Args:
        totals: log p of each candidate.
        lacking: how many words of its phrases it lacks.
        places: how many may be chosen.

    Returns:
        The indices of those chosen, best first.
    """
    by_total = sorted(range(len(totals)), key=lambda k: -totals[k])
    rank_in_bank: Counter[int] = Counter()
    turns = []
    for k in by_total:
        turns.append((rank_in_bank[lacking[k]], lacking[k], k))
        rank_in_bank[lacking[k]] += 1
    return sorted((k for _, _, k in sorted(turns)[:places]), key=lambda k: -totals[k])


def check_limits(constraints: Sequence[TokenConstraints], limits: Ids) -> None:
    """Raise a ConfigError where a sentence's prefix and phrases do not fit into its limit."""
    for b, each in enumerate(constraints):
        phrases = SentencePhrases(each.include)
        progress = phrases.start
        for word in each.prefix:
            progress = phrases.after(progress, word)
        least = len(each.prefix) + phrases.needed(progress) + 1
        if least > limits[b]:
            raise ConfigError(
                f"{each.name or f'sentence {b + 1}'}: its prefix and phrases need {least} tokens with </s>, "
                f"and its limit is {limits[b]}; drop some, or raise the limit"
            )


class RequiredPhrases:
    """The required phrases of each sentence, and the progress of each row with those of its sentence.

    Args:
        constraints: one for each sentence.
        limits: (B,), the most tokens, EOS counted.
    """

    def __init__(self, constraints: Sequence[TokenConstraints], limits: Ids) -> None:
        self._phrases = [SentencePhrases(each.include) for each in constraints]
        self._limits: list[int] = limits.tolist()
        self._progress: list[Progress] = [phrases.start for phrases in self._phrases]

    def unfinished(self, sentences: Ids) -> Flags:
        """Whether each row lacks phrases, (R,)."""
        slots = len(self._progress) // len(sentences)
        return np.array(
            [
                self._phrases[sentences[row // slots]].needed(progress) > 0
                for row, progress in enumerate(self._progress)
            ]
        )

    def next_tokens(self, sentences: Ids) -> list[tuple[int, int]]:
        """(row, id) of the words that continue a phrase."""
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
            candidates: (B, slots · k), log p of each partial hypothesis with its new word.
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
            allowed, lacking = [], []
            for column, word in enumerate(ids[k].tolist()):
                if candidates[k, column] == NEVER:
                    continue
                progress = self._progress[k * slots + column // width]
                needed = 0 if word == EOS else phrases.needed(phrases.after(progress, word))
                if word == EOS or step + 1 + needed < self._limits[b]:
                    allowed.append(column)
                    lacking.append(needed)
            taken = choose_by_bank(candidates[k, allowed].tolist(), lacking, int(places[k]))
            chosen[k] = [allowed[place] for place in taken]
        return chosen

    def advance(self, sentences: Ids, parents: Ids, tokens: Ids) -> None:
        """Continue with the next step's rows, (R′,), of these sentences."""
        slots = len(parents) // len(sentences)
        self._progress = [
            self._phrases[sentences[row // slots]].after(self._progress[parent], token)
            for row, (parent, token) in enumerate(zip(parents.tolist(), tokens.tolist(), strict=True))
        ]
