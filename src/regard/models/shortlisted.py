"""A model that chooses among few words: those of each sentence's own list.

In: a model and a list of target ids for each sentence of one batch. Out: a model for that batch, with `encode` and
`decoder` as search needs them. The output layer has a row for each word on any of the lists; a sentence still sees no
word that is not on its own, so that its company changes nothing. Probabilities are among the words of the list.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from regard.models.ensemble import Ensemble
from regard.models.state import StepOutput


@dataclass(frozen=True)
class ShortlistedSource:
    """A source, and which words its translation may have.

    Attributes:
        source: as the model read it.
        forbidden: (B, S), True where a word is on another sentence's list only; None where none is.
    """

    source: Any
    forbidden: Tensor | None

    @property
    def mask(self) -> Tensor:
        """True where a real word stands, (B, Tx)."""
        mask: Tensor = self.source.mask
        return mask

    def select(self, rows: Tensor) -> "ShortlistedSource":
        """The sentences at `rows`, in that order."""
        forbidden = None if self.forbidden is None else self.forbidden.index_select(0, rows)
        return ShortlistedSource(self.source.select(rows), forbidden)

    def looking_at(self, positions: Tensor | None) -> "ShortlistedSource":
        """The same source for a step whose attention is told where to look."""
        return replace(self, source=self.source.looking_at(positions))


class ShortlistedDecoder:
    """A decoder's steps among few words.

    Args:
        decoder: of the model.
        words: (S,), the ids of the logits' columns.
    """

    def __init__(self, decoder: Any, words: Tensor) -> None:
        self.words = words
        self._decoder = decoder.shortlist(words)

    def initial_state(self, encoded: Any) -> Any:
        """The state before the first word."""
        return self._decoder.initial_state(encoded.source)

    def step(self, previous_ids: Tensor, state: Any, encoded: Any) -> StepOutput:
        """One step for R rows; logits (R, S), −∞ at words that are not the sentence's."""
        output: StepOutput = self._decoder.step(previous_ids, state, encoded.source)
        if encoded.forbidden is not None:
            by_sentence = output.logits.view(len(encoded.forbidden), -1, len(self.words))  # (B, K, S)
            by_sentence.masked_fill_(encoded.forbidden.unsqueeze(1), float("-inf"))
        return output


class Shortlisted:
    """A model for one batch.

    Args:
        model: whose decoder can be cut down to a shortlist.
        words: (S,), all words of the batch's lists.
        forbidden: (B, S); see `ShortlistedSource`.
    """

    def __init__(self, model: Any, words: Tensor, forbidden: Tensor | None) -> None:
        self._model, self._forbidden = model, forbidden
        self.decoder = ShortlistedDecoder(model.decoder, words)

    def encode(self, source_ids: Tensor, source_mask: Tensor) -> ShortlistedSource:
        """Read the batch that the lists are of."""
        return ShortlistedSource(self._model.encode(source_ids, source_mask), self._forbidden)


def shortlisted(model: Any, lists: Sequence[npt.NDArray[np.int64]], device: str) -> Any:
    """A model, or an ensemble, for a batch with these lists.

    Args:
        model: to be asked.
        lists: for each sentence the ids it may choose from, in rising order.
        device: where the model is.
    """
    words = np.unique(np.concatenate(lists))  # (S,)
    allowed = torch.from_numpy(np.stack([np.isin(words, own, assume_unique=True) for own in lists]))
    forbidden = None if bool(allowed.all()) else ~allowed.to(device)
    ids = torch.from_numpy(words).to(device)
    if isinstance(model, Ensemble):
        return Ensemble([Shortlisted(each, ids, forbidden) for each in model.models], model.combination)
    return Shortlisted(model, ids, forbidden)
