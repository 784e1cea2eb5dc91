"""Texts for a classifier: one or two of them to a row, and the label they share."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from regard.batches.pad import pad
from regard.text.labelled import EncodedLabelled
from regard.text.specials import EOS


@dataclass(frozen=True)
class TextBatch:
    """Texts to classify.

    Attributes:
        ids: one tensor (B, T) for each text of a row, one or two, each padded to a width of its own; every
            text is ended by the end mark.
        masks: (B, T) likewise, True where a real token stands.
    """

    ids: tuple[Tensor, ...]
    masks: tuple[Tensor, ...]

    def to(self, device: torch.device | str) -> "TextBatch":
        """The same batch on another device."""
        return TextBatch(_moved(self.ids, device), _moved(self.masks, device))


@dataclass(frozen=True)
class LabelledBatch(TextBatch):
    """Texts to learn from or to score.

    Attributes:
        label_ids: (B,).
    """

    label_ids: Tensor

    def to(self, device: torch.device | str) -> "LabelledBatch":
        """The same batch on another device."""
        return LabelledBatch(_moved(self.ids, device), _moved(self.masks, device), self.label_ids.to(device))


def _moved(tensors: tuple[Tensor, ...], device: torch.device | str) -> tuple[Tensor, ...]:
    return tuple(tensor.to(device) for tensor in tensors)


def pad_texts(rows: Sequence[Sequence[Sequence[int]]]) -> TextBatch:
    """Rows of one or two texts without specials → a batch to classify."""
    padded = [pad([[*ids, EOS] for ids in texts]) for texts in zip(*rows, strict=True)]
    return TextBatch(tuple(ids for ids, _ in padded), tuple(mask for _, mask in padded))


def pad_labelled(examples: Sequence[EncodedLabelled]) -> LabelledBatch:
    """Labelled texts without specials → a batch to learn from or to score."""
    texts = pad_texts([example.text_ids for example in examples])
    label_ids = torch.tensor([example.label_id for example in examples], dtype=torch.long)
    return LabelledBatch(texts.ids, texts.masks, label_ids)
