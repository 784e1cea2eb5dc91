"""A trained aligner in use: sentence pairs in, `AlignedPair`s out.

Knows two tokenizers, batches, the model and output, and nothing of training. Words are separated by blanks; a pair with
a blank side has no links.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import torch

from regard.batches import pad_word_pairs
from regard.errors import DataError
from regard.models import AlignerNetwork
from regard.tasks.align.result import SYMMETRIZATION, AlignedPair
from regard.tasks.predictor import (
    CHUNK,
    Predictor,
    predict_by_length,
    predict_stream,
    refuse_text,
    refuse_too_long,
)
from regard.text import SentencePair, Tokenizer
from regard.text.word_pairs import encode_word_pairs

__all__ = ["SYMMETRIZATION", "AlignedPair", "Aligner"]


class Aligner(Predictor):
    """A model with its two vocabularies.

    Args:
        model: in evaluation mode; it is moved to `device`.
        source_tokenizer: words → ids.
        target_tokenizer: words → ids.
        device: where to compute: ``cpu``, ``cuda``, or ``auto``.
        max_length: in words of a side, the longest allowed.
        facts: what is known of the weights.
    """

    task = "align"
    model: AlignerNetwork

    def __init__(
        self,
        model: AlignerNetwork,
        source_tokenizer: Tokenizer,
        target_tokenizer: Tokenizer,
        *,
        device: str = "cpu",
        max_length: int = 1000,
        facts: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(model, device=device, facts=facts)
        self.source_tokenizer, self.target_tokenizer = source_tokenizer, target_tokenizer
        self.max_length = max_length

    def align(
        self,
        sources: Iterable[str],
        targets: Iterable[str],
        *,
        batch_sentences: int = 64,
        batch_tokens: int = 4000,
        first_line: int = 1,
        name: str = "line ",
        target_name: str = "target ",
    ) -> list[AlignedPair]:
        """Align the words of sentence pairs, in both directions.

        Args:
            sources: lines whose words are separated by blanks.
            targets: their translations, as many.
            batch_sentences: the most pairs in a batch.
            batch_tokens: the most words in a batch, of the longer side, padding counted.
            first_line: the number of the first line, for messages about a part of a longer text.
            name: what precedes a source's number in messages, such as ``file.txt:``.
            target_name: the same for a target.

        Raises:
            DataError: there are more of one side, or a line has more than `max_length` words.
        """
        refuse_text(sources, "align")
        refuse_text(targets, "align")
        sources, targets = list(sources), list(targets)
        if len(sources) != len(targets):
            raise DataError(f"align: {len(sources)} sources and {len(targets)} targets; give one of each")
        for lines, called in ((sources, name), (targets, target_name)):
            lengths = [len(line.split()) for line in lines]
            refuse_too_long(lines, lengths, self.max_length, first_line=first_line, name=called, unit="words")
        pairs = [SentencePair(*pair) for pair in zip(sources, targets, strict=True)]
        encoded = list(encode_word_pairs(pairs, self.source_tokenizer, self.target_tokenizer))
        words = [(tuple(pair.source.split()), tuple(pair.target.split())) for pair in pairs]

        def predict(members: list[int]) -> Iterator[AlignedPair]:
            batch = pad_word_pairs([encoded[k] for k in members], self.model.config.affixes)
            for k, forward, backward in zip(members, *self._run(batch), strict=True):
                source, target = words[k]
                kept = slice(len(target)), slice(len(source))
                yield AlignedPair(source, target, forward[kept], backward[kept])

        blank = [AlignedPair(source, target, *_nothing(source, target)) for source, target in words]
        return predict_by_length(
            predict,
            [pair.length if pair.source_ids and pair.target_ids else 0 for pair in encoded],
            blank,
            batch_sentences=batch_sentences,
            batch_tokens=batch_tokens,
        )

    def align_stream(
        self, pairs: Iterable[tuple[str, str]], *, chunk: int = CHUNK, **options: Any
    ) -> Iterator[AlignedPair]:
        """Align an endless stream of (source, target) in constant memory; options as for `align`."""

        def predict(part: list[tuple[str, str]], first_line: int) -> list[AlignedPair]:
            sources, targets = [pair[0] for pair in part], [pair[1] for pair in part]
            return self.align(sources, targets, first_line=first_line, **options)

        return predict_stream(predict, pairs, chunk)

    @torch.inference_mode()
    def _run(self, batch: Any) -> tuple[np.ndarray, np.ndarray]:
        alphas = self.model(batch.to(self.device))
        forward, backward = (alpha.double().cpu().numpy() for alpha in alphas)
        return forward, backward


def _nothing(source: Sequence[str], target: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """No attention at all, in both directions."""
    return np.zeros((len(target), len(source))), np.zeros((len(target), len(source)))
