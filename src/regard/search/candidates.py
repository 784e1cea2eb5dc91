"""Logits → the K most probable tokens that each hypothesis may choose, on the host; the logits stay on the device.

`VocabularyMap` says which token a column of the logits stands for, `TokenRules` which tokens are banned or forced at
a step, and `TopK` takes the best of the rest. Padding and BOS are always banned; at a sentence's last step
only EOS is allowed. A forced prefix and required phrases are exempt from the other rules. Knows no
probabilities of whole hypotheses.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from regard.errors import ConfigError
from regard.ops.best_words import best_words
from regard.search.constraints import TokenConstraints
from regard.search.hypotheses import NEVER, Flags, Floats, Ids
from regard.search.options import SearchOptions
from regard.text.specials import BOS, EOS, PAD, UNK

RequiredTokens = Sequence[tuple[int, int]]
"""(row, id) of tokens that are candidates however improbable they are."""

_NONE: Ids = np.empty(0, dtype=np.int64)


class VocabularyMap:
    """Columns of the logits ↔ ids.

    Args:
        words: (V,), the shortlist's ids in the order of the columns; None where column and id are the same.
        size: V, the number of columns.

    Raises:
        ConfigError: EOS is not in the shortlist.
    """

    def __init__(self, words: Tensor | None, size: int) -> None:
        self.size = size
        self._words: Ids | None = None if words is None else words.cpu().numpy()
        self._columns = None if words is None else {int(word): k for k, word in enumerate(words.tolist())}
        if self._columns is not None and EOS not in self._columns:
            raise ConfigError("the shortlist has no </s>, so no output could end; add it")

    def ids(self, columns: Ids) -> Ids:
        """The ids of some columns."""
        return columns if self._words is None else self._words[columns]

    def column_or_none(self, word: int) -> int | None:
        """The column of an id; None where there is none."""
        if self._columns is not None:
            return self._columns.get(word)
        return word if 0 <= word < self.size else None

    def column(self, word: int) -> int:
        """The column of an id that is required.

        Raises:
            ConfigError: there is none.
        """
        column = self.column_or_none(word)
        if column is None:
            where = "vocabulary" if self._columns is None else "shortlist"
            raise ConfigError(
                f"the word with id {word} is required and is not in the {where}; drop it, or add it there"
            )
        return column


def fewest_tokens(source_words: Ids, limits: Ids, options: SearchOptions) -> Ids:
    """The fewest tokens of each output, EOS not counted, (B,); fewer than its limit.

    Args:
        source_words: (B,), source tokens without EOS.
        limits: (B,), the most tokens, EOS counted.
        options: `min_length`, and `min_ratio` × source tokens.
    """
    # the rounding of a product must not require one word more
    minimum = np.maximum(np.ceil(source_words * options.min_ratio - 1e-9), options.min_length)
    fewest: Ids = np.minimum(minimum, limits - 1).astype(np.int64)
    return fewest


class StepRules(NamedTuple):
    """One step's rules for R rows.

    Attributes:
        banned: row · V + column of what may not be chosen, besides what is always banned.
        excluded: those of them that would end an excluded phrase.
        forced: (R,), the id that a row must choose; −1 where it may choose. None where all may.
    """

    banned: Ids
    excluded: Ids
    forced: Ids | None


class TokenRules:
    """The rules of one search.

    Args:
        options: what holds for every sentence.
        constraints: what holds for each; None for nothing.
        source_words: (B,), source tokens without EOS.
        limits: (B,), the most tokens, EOS counted.
        vocabulary: which token each column of the logits stands for.

    Attributes:
        end: the EOS column.
        always_banned: columns that may never be chosen.
        needs_tokens: whether the rules depend on the tokens so far.
    """

    def __init__(
        self,
        options: SearchOptions,
        constraints: Sequence[TokenConstraints] | None,
        source_words: Ids,
        limits: Ids,
        vocabulary: VocabularyMap,
    ) -> None:
        self._minimum = fewest_tokens(source_words, limits, options)  # (B,)
        self._limits, self._vocabulary = limits, vocabulary
        self._prefixes = [each.prefix for each in constraints or ()]
        self._exclude = [each.exclude for each in constraints or ()]
        self._block = options.block_ngrams
        self.end = vocabulary.column(EOS)
        banned = (PAD, BOS) if options.unknowns else (PAD, BOS, UNK)
        self.always_banned = [
            column for word in banned if (column := vocabulary.column_or_none(word)) is not None
        ]
        self.needs_tokens = self._block > 0 or any(self._exclude)
        by_row = self.needs_tokens or any(self._prefixes)
        self._trivial_from, self._trivial_to = (
            int(self._minimum.max()),
            0 if by_row else int(limits.min()) - 1,
        )
        has_words = vocabulary.size > len(self.always_banned) + 1  # besides EOS
        self._endless_to = int(self._minimum.min()) if has_words and not by_row else 0

    def only_always_banned(self, step: int) -> bool:
        """Whether this step bans nothing but what is always banned."""
        return self._trivial_from <= step < self._trivial_to

    def only_end_banned(self, step: int) -> bool:
        """Whether this step bans EOS for every row, and nothing else besides what is always banned."""
        return step < self._endless_to

    def for_step(self, step: int, sentences: Ids, tokens_so_far: Ids, unfinished: Flags | None) -> StepRules:
        """The rules of one step.

        Args:
            step: how many words there are so far.
            sentences: (B,), whose slots the rows are.
            tokens_so_far: (R, step); (R, 0) will do where the rules do not need them.
            unfinished: (R,), whether a row lacks required phrases and may not end; None where none does.
        """
        slots = len(tokens_so_far) // len(sentences)
        excluded = self._excluded(sentences, tokens_so_far, slots)
        banned = np.concatenate([excluded, self._repeated(tokens_so_far)])
        too_short = np.repeat(self._minimum[sentences] > step, slots)  # (R,)
        if too_short.any():
            too_short &= self._has_allowed_words(banned, len(tokens_so_far))
        may_not_end = too_short if unfinished is None else too_short | unfinished
        ends = np.flatnonzero(may_not_end) * self._vocabulary.size + self.end
        return StepRules(np.concatenate([banned, ends]), excluded, self._forced(step, sentences, slots))

    def _has_allowed_words(self, banned: Ids, num_rows: int) -> Flags:
        """Whether a row has a word that it may choose, EOS not counted, (R,)."""
        never = len(self.always_banned) + 1
        if len(banned) < self._vocabulary.size - never:
            return np.ones(num_rows, dtype=bool)
        allowed = np.ones((num_rows, self._vocabulary.size), dtype=bool)
        allowed.reshape(-1)[banned] = False
        allowed[:, [*self.always_banned, self.end]] = False
        return np.asarray(allowed.any(axis=1))

    def _forced(self, step: int, sentences: Ids, slots: int) -> Ids | None:
        words = np.where(self._limits[sentences] == step + 1, EOS, -1)
        for k, b in enumerate(sentences if any(self._prefixes) else ()):
            if step < len(self._prefixes[b]):
                words[k] = self._prefixes[b][step]
        return np.repeat(words, slots) if (words >= 0).any() else None

    def _repeated(self, tokens_so_far: Ids) -> Ids:
        """The places of the words that would end an n-gram for the second time."""
        n = self._block
        if n == 0 or tokens_so_far.shape[1] < n:
            return _NONE
        ngrams = np.lib.stride_tricks.sliding_window_view(tokens_so_far, n, axis=1)  # (R, step − n + 1, n)
        last = tokens_so_far[:, tokens_so_far.shape[1] - n + 1 :]  # (R, n − 1)
        rows, starts = (ngrams[..., :-1] == last[:, None]).all(axis=-1).nonzero()
        return self._places(rows, ngrams[rows, starts, -1])

    def _excluded(self, sentences: Ids, tokens_so_far: Ids, slots: int) -> Ids:
        """The places of the words that would end an excluded phrase."""
        places = [_NONE]
        for k, b in enumerate(sentences if any(self._exclude) else ()):
            tokens = tokens_so_far[k * slots : (k + 1) * slots]
            for *head, last in self._exclude[b]:
                if len(head) <= tokens.shape[1]:
                    begun = (tokens[:, tokens.shape[1] - len(head) :] == head).all(axis=1)
                    rows = k * slots + np.flatnonzero(begun)
                    places.append(self._places(rows, np.full(len(rows), last)))
        return np.concatenate(places)

    def _places(self, rows: Ids, words: Ids) -> Ids:
        """Row · V + column of each word that has a column."""
        columns = [self._vocabulary.column_or_none(word) for word in words.tolist()]
        size = self._vocabulary.size
        places = [
            row * size + column
            for row, column in zip(rows.tolist(), columns, strict=True)
            if column is not None
        ]
        return np.array(places, dtype=np.int64)


class TopK:
    """The most probable allowed tokens of each row.

    Args:
        vocabulary: which token each column of the logits stands for.
        rules: what may be chosen.
        width: K, how many tokens of a row are needed.
    """

    def __init__(self, vocabulary: VocabularyMap, rules: TokenRules, width: int) -> None:
        self._vocabulary = vocabulary
        always, end = rules.always_banned, rules.end
        self._banned = {ending: np.array([*always, *([] if ending else [end])]) for ending in (False, True)}
        self._k = min(width, vocabulary.size)
        self._banned_places: dict[tuple[int, bool], Tensor] = {}

    def select(self, logits: Tensor, *, ending: bool = True) -> tuple[Floats, Ids]:
        """Log-probabilities and ids (R, k), best first, −∞ where a row has fewer; overwrites the logits.

        Args:
            logits: (R, V).
            ending: whether EOS may be chosen.
        """
        return self._best(logits, self._always_banned(logits, ending))

    def select_under(self, logits: Tensor, rules: StepRules, required: RequiredTokens) -> tuple[Floats, Ids]:
        """As `select`, under a step's rules; required tokens follow the others, (R, k + …)."""
        num_rows = logits.shape[0]
        forced = np.full(num_rows, -1) if rules.forced is None else rules.forced
        forced_rows = np.flatnonzero(forced >= 0)
        excluded = set(rules.excluded.tolist())
        size = self._vocabulary.size
        pairs = [(row, word) for row, word in required if forced[row] < 0]
        pairs = [
            (row, word) for row, word in pairs if row * size + self._vocabulary.column(word) not in excluded
        ]
        rows = np.array([*forced_rows.tolist(), *(row for row, _ in pairs)], dtype=np.int64)
        words = np.array([*forced[forced_rows].tolist(), *(word for _, word in pairs)], dtype=np.int64)
        values = self._log_probs_at(logits, rows, words)
        if len(forced_rows) == num_rows:
            return values[:, None], words[:, None]
        banned = torch.from_numpy(rules.banned).to(logits.device)
        log_probs, ids = self._best(logits, torch.cat([self._always_banned(logits), banned]))
        log_probs[forced_rows] = NEVER
        count = len(forced_rows)
        log_probs[forced_rows, 0], ids[forced_rows, 0] = values[:count], words[:count]
        return self._append(log_probs, ids, pairs, values[count:])

    def _always_banned(self, logits: Tensor, ending: bool = True) -> Tensor:
        key = num_rows, _ = logits.shape[0], ending
        if key not in self._banned_places:
            places = np.arange(num_rows)[:, None] * self._vocabulary.size + self._banned[ending]
            self._banned_places[key] = torch.from_numpy(places.astype(np.int64).reshape(-1)).to(logits.device)
        return self._banned_places[key]

    def _best(self, logits: Tensor, banned: Tensor) -> tuple[Floats, Ids]:
        log_probs, columns = best_words(logits, self._k, banned)
        if log_probs.is_cuda:  # side by side, so that the host waits for the device once
            both = torch.cat([log_probs.double(), columns.double()], dim=1).cpu().numpy()
            return both[:, : self._k], self._vocabulary.ids(both[:, self._k :].astype(np.int64))
        return log_probs.numpy(), self._vocabulary.ids(columns.numpy())

    def _log_probs_at(self, logits: Tensor, rows: Ids, words: Ids) -> Floats:
        """Log p of some rows' words, (n,)."""
        if len(rows) == 0:
            return np.empty(0)
        columns = np.array([self._vocabulary.column(word) for word in words.tolist()], dtype=np.int64)
        distinct, places = np.unique(rows, return_inverse=True)
        selected = logits.index_select(0, torch.from_numpy(distinct).to(logits.device))
        log_probs = selected.to(torch.promote_types(logits.dtype, torch.float32)).log_softmax(dim=-1)
        values: Floats = log_probs[torch.from_numpy(places), torch.from_numpy(columns)].cpu().numpy()
        return values

    @staticmethod
    def _append(log_probs: Floats, ids: Ids, pairs: RequiredTokens, values: Floats) -> tuple[Floats, Ids]:
        """Add columns with the required tokens that are not among a row's best already."""
        new: dict[int, list[tuple[int, float]]] = {}
        for (row, word), value in zip(pairs, values.tolist(), strict=True):
            if not (log_probs[row][ids[row] == word] > NEVER).any():
                new.setdefault(row, []).append((word, value))
        width = max(map(len, new.values()), default=0)
        new_log_probs = np.full((len(ids), width), NEVER, dtype=log_probs.dtype)
        new_ids = np.zeros((len(ids), width), dtype=np.int64)
        for row, entries in new.items():
            for place, (word, value) in enumerate(entries):
                new_ids[row, place], new_log_probs[row, place] = word, value
        return np.concatenate([log_probs, new_log_probs], axis=1), np.concatenate([ids, new_ids], axis=1)
