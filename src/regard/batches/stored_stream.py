"""Continuous text from a store, in parallel streams: `Stream` without the text in memory.

In: a store of lines. Out: windows, `LineBatch`es, equal to those of `Stream`. A window reads the few lines it is made
of; what is kept is where every thousandth line begins.
"""

from typing import Protocol

import numpy as np

from regard.batches.pad import LineBatch, cut_streams, pad
from regard.batches.store import Store
from regard.errors import DataError
from regard.text.specials import BOS, EOS

_BLOCK = 1000  # lines


class Line(Protocol):
    """A line of a store."""

    @property
    def ids(self) -> list[int]:
        """Without special symbols."""
        ...


class StoredStream:
    """Continuous text in parallel streams, cut into windows of time; see `Stream`.

    Args:
        store: the lines, in their order.
        num_streams: B, how many are read side by side.
        steps: T, the tokens of each stream in a window.

    Raises:
        ConfigError: there are fewer than one stream or step.
        DataError: there are more streams than tokens.
    """

    def __init__(self, store: Store[Line], num_streams: int, steps: int) -> None:
        self._store, self._steps = store, steps
        sums = np.add.reduceat(store.lengths, np.arange(0, len(store), _BLOCK), dtype=np.int64)
        self._starts = np.concatenate([[0], np.cumsum(sums)])  # of each block, in tokens
        self._spans, self._num_windows = cut_streams(int(self._starts[-1]), num_streams, steps)

    def __len__(self) -> int:
        return self._num_windows

    def __getitem__(self, index: int) -> LineBatch:
        """One window, by number.

        Raises:
            DataError: the store is damaged.
        """
        k = range(self._num_windows)[index]
        before, targets = [], []
        for start, end in self._spans:
            first = start + k * self._steps
            last = end if k == self._num_windows - 1 else first + self._steps
            # the token before the window is the first that is read
            tokens = self._read(first - 1, last) if first else [EOS, *self._read(0, last)]
            before.append([BOS if token == EOS else token for token in tokens[:-1]])
            targets.append(tokens[1:])
        previous_ids, mask = pad(before)
        target_ids, _ = pad(targets)
        return LineBatch(previous_ids, target_ids, mask, continues=k > 0)

    def _read(self, start: int, end: int) -> list[int]:
        """Tokens of the text, by their place in it."""
        block = int(np.searchsorted(self._starts, start, side="right")) - 1
        lengths = self._store.lengths[block * _BLOCK : (block + 1) * _BLOCK]
        ends = self._starts[block] + np.cumsum(lengths, dtype=np.int64)
        in_block = int(np.searchsorted(ends, start, side="right"))
        line = block * _BLOCK + in_block
        skipped = start - int(ends[in_block] - lengths[in_block])
        tokens: list[int] = []
        while len(tokens) < skipped + end - start:
            ids = self._store[line].ids
            if len(ids) + 1 != self._store.lengths[line]:
                raise DataError(
                    f"{self._store.path}: line {line:,} has another length; prepare the store again"
                )
            tokens += [*ids, EOS]
            line += 1
        return tokens[skipped : skipped + end - start]
