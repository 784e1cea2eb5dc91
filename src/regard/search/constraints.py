"""What one sentence's output must and may not hold; ids, not text.

What each hypothesis may choose at a step, apart from what the model thinks of it.

In: the step's number, whose slots the rows are, and the words so far. Out: the words that are banned, and the one
word where there is no choice. Padding and the begin mark never may be chosen; at a sentence's last step nothing but
the end mark may. A constraints's own words, its prefix and what it includes, are asked no further questions.

Where the decoder is told to look, step by step.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch

from regard.errors import ConfigError
from regard.models.state import EncodedSource
from regard.search.options import SearchOptions
from regard.search.vocabulary_map import Ids, VocabularyMap
from regard.text.specials import BOS, CONTROLS, EOS, PAD, UNK

Phrase = tuple[int, ...]


@dataclass(frozen=True)
class TokenConstraints:
    """What is asked of one sentence's output.

    Attributes:
        prefix: the words it begins with.
        include: phrases that must appear, each somewhere; they may overlap.
        exclude: phrases that may not appear.
        attend: target step → source position whose alpha is forced to 1; both counted from 0.
        name: what the sentence is called in messages; by default its number in the batch.
    """

    prefix: Phrase = ()
    include: tuple[Phrase, ...] = ()
    exclude: tuple[Phrase, ...] = ()
    attend: Mapping[int, int] = field(default_factory=dict)
    name: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        for name, phrases in (("include", self.include), ("exclude", self.exclude)):
            if () in phrases:
                raise ConfigError(f"{name}: a phrase without words; leave it out")
        for name, phrases in (
            ("prefix", (self.prefix,)),
            ("include", self.include),
            ("exclude", self.exclude),
        ):
            for phrase in phrases:
                if controls := sorted(CONTROLS & set(phrase)):
                    raise ConfigError(
                        f"{name}: {phrase} holds the id {controls[0]}, which stands for no word"
                    )
        for wanted in (self.prefix, *self.include):
            for unwanted in self.exclude:
                if contains(wanted, unwanted):
                    raise ConfigError(
                        f"exclude: {unwanted} is part of {wanted}, which is asked for; drop one of them"
                    )
        for step, position in self.attend.items():
            if step < 0 or position < 0:
                raise ConfigError(f"attend: step {step} at position {position}; both are counted from 0")

    @property
    def asks_of_words(self) -> bool:
        """Whether it asks anything of the words, not only of the attention."""
        return bool(self.prefix or self.include or self.exclude)


def contains(ids: Sequence[int], phrase: Phrase) -> bool:
    """Whether the words of a phrase stand next to each other somewhere in `ids`."""
    size = len(phrase)
    return any(tuple(ids[k : k + size]) == phrase for k in range(len(ids) - size + 1))


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
        constraints: what holds for each; None for nothing.
        source_words: (B,), without the end mark.
        limits: (B,), the most tokens, the end mark counted.
        columns: where words stand among the logits.
    """

    def __init__(
        self,
        options: SearchOptions,
        constraints: Sequence[TokenConstraints] | None,
        source_words: Ids,
        limits: Ids,
        columns: VocabularyMap,
    ) -> None:
        # a product's rounding must not ask for one word more
        fewest = np.maximum(np.ceil(source_words * options.min_ratio - 1e-9), options.min_length)
        self._fewest = np.minimum(fewest, limits - 1)  # (B,)
        self._limits, self._columns = limits, columns
        self._prefixes = [constraints.prefix for constraints in constraints or ()]
        self._exclude = [constraints.exclude for constraints in constraints or ()]
        self._block = options.block_ngrams
        self.end = columns.of(EOS)
        never = (PAD, BOS) if options.unknowns else (PAD, BOS, UNK)
        self.never = [column for word in never if (column := columns.column_or_none(word)) is not None]
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
        columns = [self._columns.column_or_none(word) for word in words.tolist()]
        number = self._columns.number
        places = [
            row * number + column
            for row, column in zip(rows.tolist(), columns, strict=True)
            if column is not None
        ]
        return np.array(places, dtype=np.int64)


class ForcedAttention:
    """The forced attention of each sentence.

    Args:
        constraints: one for each sentence, or None.
        source_lengths: (B,), real tokens.

    Attributes:
        steps: at which some sentence is told where to look.

    Raises:
        ConfigError: a position is past the end of its source.
    """

    def __init__(self, constraints: Sequence[TokenConstraints] | None, source_lengths: Ids) -> None:
        self._attend = [constraints.attend for constraints in constraints or ()]
        for b, attend in enumerate(self._attend):
            for step, position in attend.items():
                if position >= source_lengths[b]:
                    raise ConfigError(
                        f"attend: step {step} of sentence {b + 1} at position {position}, and its source has "
                        f"{source_lengths[b]} tokens, counted from 0"
                    )
        self.steps = {step for attend in self._attend for step in attend}

    def at(self, step: int, encoded: EncodedSource, sentences: Ids) -> EncodedSource:
        """The sources of these sentences as this step sees them."""
        if step not in self.steps:
            return encoded
        positions = [self._attend[b].get(step, -1) for b in sentences.tolist()]
        return encoded.with_forced_attention(torch.tensor(positions, device=encoded.mask.device))
