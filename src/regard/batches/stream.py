"""Continuous text for a language model: the whole corpus in parallel streams, seen through windows of time.

In: lines of ids, how many streams, how many steps a window. Out: windows in order, any of them at any time; the
reader carries its state from one to the next and lets no gradient through (truncated back-propagation).

Lines are joined by end marks: w … w </s> w … w </s>. The tokens are cut into streams of equal length, the first few one
token longer where they do not divide. Every token of the corpus is predicted once in a pass, after the token before
it in the corpus; the first of a stream from a zero state. An end mark is predicted and never read: as for lines
by themselves, what is read before a line's first word is the begin mark, so that a model of either kind can start one.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

import torch

from regard.batches.pad import LineBatch, pad
from regard.config import in_range
from regard.errors import DataError
from regard.text.specials import BOS, EOS


class Stream:
    """The windows of a corpus, in order and by number; row b of each is the same stream.

    The last window holds what is left: fewer steps than the others, or one more, so that no row of it is empty.

    Args:
        lines: ids without specials, one list for each line.
        num_streams: B, how many are read side by side.
        steps: T, how many tokens of each a window holds.

    Attributes:
        num_tokens: the corpus's tokens, end marks counted: the predictions of one pass.

    Raises:
        ConfigError: there are fewer than one stream or step.
        DataError: there are more streams than tokens.
    """

    def __init__(self, lines: Iterable[Sequence[int]], num_streams: int, steps: int) -> None:
        in_range("the number of streams", num_streams, 1)
        in_range("the steps of a window", steps, 1)
        tokens = list(chain.from_iterable((*ids, EOS) for ids in lines))
        if len(tokens) < num_streams:
            raise DataError(
                f"{len(tokens)} tokens, end marks counted, cannot be cut into {num_streams} streams; give more text, "
                "or set fewer streams"
            )
        self.num_tokens = len(tokens)
        shortest, longer = divmod(len(tokens), num_streams)
        lengths = [shortest + (b < longer) for b in range(num_streams)]
        ends = torch.tensor(lengths).cumsum(0).tolist()
        starts = [end - length for end, length in zip(ends, lengths, strict=True)]
        before = [BOS, *(BOS if token == EOS else token for token in tokens)]
        spans = list(zip(starts, ends, strict=True))
        self._previous_ids, self._mask = pad([before[start:end] for start, end in spans])
        self._target_ids, _ = pad([tokens[start:end] for start, end in spans])
        self._steps = steps
        self._num_windows = -(-shortest // steps)

    def __len__(self) -> int:
        return self._num_windows

    def __iter__(self) -> Iterator[LineBatch]:
        return (self[k] for k in range(self._num_windows))

    def __getitem__(self, index: int) -> LineBatch:
        """One window, so that a reader can go on where it stopped."""
        k = range(self._num_windows)[index]
        last = k == self._num_windows - 1
        part = slice(k * self._steps, None if last else (k + 1) * self._steps)
        return LineBatch(self._previous_ids[:, part], self._target_ids[:, part], self._mask[:, part])
