"""For each source word the target words that it becomes, and the words that any sentence may need.

In: a sentence's source ids. Out: the ids its translation is chosen from, a few hundred of many thousand; the output
layer then has that many rows. A shortlist lies in the model's folder and belongs to its vocabularies.

A model that chooses among few words: those of each sentence's own list.

In: a model and a list of target ids for each sentence of one batch. Out: a model for that batch, with `encode` and
`decoder` as search needs them. The output layer has a row for each word on any of the lists; a sentence still sees no
word that is not on its own, so that its company changes nothing. Probabilities are among the words of the list.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import safetensors
import safetensors.numpy
import torch
from torch import Tensor

from regard.errors import FolderError
from regard.inference.ensemble import Ensemble
from regard.io import write_whole
from regard.models.state import StepOutput
from regard.text.specials import EOS, UNK

Ids = npt.NDArray[np.int64]

FILE = "shortlist.safetensors"
_NAMES = ("offsets", "words", "frequent")


@dataclass(frozen=True, eq=False)
class Shortlist:
    """What source words become.

    Attributes:
        offsets: (Vx + 1,), where each source word's own words begin in `words`.
        words: target ids, source word after source word.
        frequent: target ids that every sentence gets.
        target_size: Vy, of the vocabulary it belongs to.
        facts: what it was learnt from, for people.
    """

    offsets: Ids
    words: Ids
    frequent: Ids
    target_size: int
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def source_size(self) -> int:
        """Vx, of the vocabulary it belongs to."""
        return len(self.offsets) - 1

    def of(self, source_ids: Iterable[int], asked: Sequence[Iterable[int]] = ()) -> Ids:
        """The target words of one sentence, in rising order; the end mark and the unknown word always among them.

        Args:
            source_ids: of the sentence.
            asked: phrases that are asked of its translation, which must be possible.
        """
        own = [self.words[self.offsets[i] : self.offsets[i + 1]] for i in {*source_ids, EOS}]
        phrases = [np.array(list(phrase), dtype=np.int64) for phrase in asked]
        return np.unique(np.concatenate([*own, *phrases, self.frequent, np.array([UNK, EOS])]))

    def save(self, folder: str | Path) -> Path:
        """Write it into a model folder, whole or not at all.

        Raises:
            DataError: the folder cannot be written.
        """
        arrays = {name: getattr(self, name) for name in _NAMES}
        about = {"target_size": str(self.target_size), "facts": json.dumps(self.facts)}
        content = safetensors.numpy.save(arrays, about)
        path = Path(folder) / FILE
        write_whole(path, lambda file: file.write(content))
        return path

    @classmethod
    def load(cls, folder: str | Path, source_size: int, target_size: int) -> "Shortlist":
        """Read what `save` wrote.

        Args:
            folder: the model's.
            source_size: Vx, of the model.
            target_size: Vy, of the model.

        Raises:
            FolderError: there is none, it is damaged, or it belongs to other vocabularies.
        """
        path = Path(folder) / FILE
        try:
            with safetensors.safe_open(path, framework="np") as file:
                about = file.metadata() or {}
                arrays = {name: file.get_tensor(name).astype(np.int64) for name in _NAMES}
            made = cls(**arrays, target_size=int(about["target_size"]), facts=json.loads(about["facts"]))
        except FileNotFoundError:
            raise FolderError(f"{folder}: it has no shortlist yet; `regard shortlist` learns one") from None
        except (safetensors.SafetensorError, OSError, KeyError, ValueError) as error:
            raise FolderError(f"{path}: damaged: {error}; learn it again with `regard shortlist`") from error
        if (made.source_size, made.target_size) != (source_size, target_size):
            raise FolderError(
                f"{path}: made for vocabularies of {made.source_size:,} and {made.target_size:,} words, and the model "
                f"has {source_size:,} and {target_size:,}; learn it again with `regard shortlist`"
            )
        return made


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

    def with_forced_attention(self, positions: Tensor | None) -> "ShortlistedSource":
        """The same source for a step whose attention is told where to look."""
        return replace(self, source=self.source.with_forced_attention(positions))


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
