"""What each hypothesis may choose at a step, apart from what the model thinks of it.

In: the step's number, whose slots the rows are, and the words so far. Out: the words that are banned, and the one
word where there is no choice. Padding and the begin mark never may be chosen; at a sentence's last step nothing but
the end mark may. A request's own words, its prefix and what it includes, are asked no further questions.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from regard.search.columns import Columns, Ids
from regard.search.options import SearchOptions
from regard.search.request import Request
from regard.text.specials import BOS, EOS, PAD, UNK

Flags = npt.NDArray[np.bool_]

_NONE: Ids = np.empty(0, dtype=np.int64)


class Ruling(NamedTuple):
    """One step's rules for R rows.

    Attributes:
        banned: row · V + column of what may not be chosen, besides what never may.
        excluded: those of them that would end an excluded phrase.
        forced: (R,), the id that a row must choose; −1 where it may choose. None where all may.
    """

    banned: Ids
    excluded: Ids
    forced: Ids | None


class Rules:
    """The rules of one search.

    Args:
        options: what holds for every sentence.
        requests: what holds for each; None for nothing.
        source_words: (B,), without the end mark.
        limits: (B,), the most tokens, the end mark counted.
        columns: where words stand among the logits.
    """

    def __init__(
        self,
        options: SearchOptions,
        requests: Sequence[Request] | None,
        source_words: Ids,
        limits: Ids,
        columns: Columns,
    ) -> None:
        # a product's rounding must not ask for one word more
        fewest = np.maximum(np.ceil(source_words * options.min_ratio - 1e-9), options.min_length)
        self._fewest = np.minimum(fewest, limits - 1)  # (B,)
        self._limits, self._columns = limits, columns
        self._prefixes = [request.prefix for request in requests or ()]
        self._exclude = [request.exclude for request in requests or ()]
        self._block = options.block_ngrams
        self.end = columns.of(EOS)
        never = (PAD, BOS) if options.unknowns else (PAD, BOS, UNK)
        self.never = [column for word in never if (column := columns.find(word)) is not None]
        self.remembers = self._block > 0 or any(self._exclude)
        """Whether the words so far are needed."""
        speaks = self.remembers or any(self._prefixes)
        self._silent_from, self._silent_to = int(self._fewest.max()), 0 if speaks else int(limits.min()) - 1
        some = columns.number > len(self.never) + 1  # words besides the end mark
        self._unending_to = int(self._fewest.min()) if some and not speaks else 0

    def silent(self, step: int) -> bool:
        """Whether there is nothing to say at this step but what never may be chosen."""
        return self._silent_from <= step < self._silent_to

    def unending(self, step: int) -> bool:
        """Whether all there is to say besides is that no row may end yet."""
        return step < self._unending_to

    def at(self, step: int, sentences: Ids, written: Ids, unfinished: Flags | None) -> Ruling:
        """Rule on one step.

        Args:
            step: how many words there are so far.
            sentences: (B,), whose slots the rows are.
            written: (R, step), the words so far; (R, 0) will do where they are not remembered.
            unfinished: (R,), whether a row lacks phrases and may not end; None where none does.
        """
        slots = len(written) // len(sentences)
        excluded = self._excluded(sentences, written, slots)
        banned = np.concatenate([excluded, self._repeated(written)])
        early = np.repeat(self._fewest[sentences] > step, slots)  # (R,)
        if early.any():
            early &= self._some_left(banned, len(written))
        late = early if unfinished is None else early | unfinished
        ends = np.flatnonzero(late) * self._columns.number + self.end
        return Ruling(np.concatenate([banned, ends]), excluded, self._forced(step, sentences, slots))

    def _some_left(self, banned: Ids, num_rows: int) -> Flags:
        """Whether a row has a word that it may choose, the end mark not counted, (R,)."""
        never = len(self.never) + 1
        if len(banned) < self._columns.number - never:
            return np.ones(num_rows, dtype=bool)
        left = np.ones((num_rows, self._columns.number), dtype=bool)
        left.reshape(-1)[banned] = False
        left[:, [*self.never, self.end]] = False
        return np.asarray(left.any(axis=1))

    def _forced(self, step: int, sentences: Ids, slots: int) -> Ids | None:
        words = np.where(self._limits[sentences] == step + 1, EOS, -1)
        for k, b in enumerate(sentences if any(self._prefixes) else ()):
            if step < len(self._prefixes[b]):
                words[k] = self._prefixes[b][step]
        return np.repeat(words, slots) if (words >= 0).any() else None

    def _repeated(self, written: Ids) -> Ids:
        """Where the words stand that would end a group of n for the second time."""
        n = self._block
        if n == 0 or written.shape[1] < n:
            return _NONE
        groups = np.lib.stride_tricks.sliding_window_view(written, n, axis=1)  # (R, step − n + 1, n)
        last = written[:, written.shape[1] - n + 1 :]  # (R, n − 1)
        rows, places = (groups[..., :-1] == last[:, None]).all(axis=-1).nonzero()
        return self._places(rows, groups[rows, places, -1])

    def _excluded(self, sentences: Ids, written: Ids, slots: int) -> Ids:
        """Where the words stand that would end an excluded phrase."""
        found = [_NONE]
        for k, b in enumerate(sentences if any(self._exclude) else ()):
            mine = written[k * slots : (k + 1) * slots]
            for *head, last in self._exclude[b]:
                if len(head) <= mine.shape[1]:
                    begun = (mine[:, mine.shape[1] - len(head) :] == head).all(axis=1)
                    rows = k * slots + np.flatnonzero(begun)
                    found.append(self._places(rows, np.full(len(rows), last)))
        return np.concatenate(found)

    def _places(self, rows: Ids, words: Ids) -> Ids:
        """Row · V + column of each word that has a column."""
        columns = [self._columns.find(word) for word in words.tolist()]
        number = self._columns.number
        places = [
            row * number + column
            for row, column in zip(rows.tolist(), columns, strict=True)
            if column is not None
        ]
        return np.array(places, dtype=np.int64)
