"""Phrases that must appear, for the whole batch: each row's progress, and the choice among their candidates."""

from collections.abc import Sequence

import numpy as np

from regard.errors import ConfigError
from regard.search.columns import Ids
from regard.search.phrases import Phrases, Progress, take_turns
from regard.search.record import Floats
from regard.search.request import Request
from regard.search.rules import Flags
from regard.text.specials import EOS


def check_room(requests: Sequence[Request], limits: Ids) -> None:
    """Raise a ConfigError where a sentence's prefix and phrases do not fit into its limit."""
    for b, request in enumerate(requests):
        phrases = Phrases(request.include)
        progress = phrases.start
        for word in request.prefix:
            progress = phrases.after(progress, word)
        least = len(request.prefix) + phrases.needed(progress) + 1
        if least > limits[b]:
            raise ConfigError(
                f"{request.name or f'sentence {b + 1}'}: its prefix and phrases need {least} tokens with the end mark, "
                f"and its limit is {limits[b]}; ask for less, or raise the limit"
            )


class Inclusion:
    """The phrases of each sentence and the progress of each row with those of its sentence.

    Args:
        requests: one for each sentence.
        limits: (B,), the most tokens, the end mark counted.
    """

    def __init__(self, requests: Sequence[Request], limits: Ids) -> None:
        self._phrases = [Phrases(request.include) for request in requests]
        self._limits: list[int] = limits.tolist()
        self._progress: list[Progress] = [phrases.start for phrases in self._phrases]

    @classmethod
    def of(cls, requests: Sequence[Request] | None, limits: Ids) -> "Inclusion | None":
        """None where no sentence has phrases."""
        return cls(requests, limits) if requests and any(each.include for each in requests) else None

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
