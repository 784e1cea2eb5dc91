"""A trained captioner in use: feature vectors in, `Caption`s out.

Knows a tokenizer, search and output, and nothing of training or of files. Features are given raw, in the units of the
training data; the model standardizes them itself.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from regard.batches import pad_captioned
from regard.errors import DataError
from regard.models import CaptionerNetwork
from regard.search.beam import search
from regard.search.forced import decode_forced
from regard.search.hypotheses import Hypothesis
from regard.search.options import DEFAULT_SEARCH, SearchOptions, takes_options
from regard.tasks.caption.result import Caption
from regard.tasks.predictor import Predictor, predict_by_length
from regard.tasks.trace import Trace
from regard.tasks.tracing import trace_caption, traced_model
from regard.text import Tokenizer, as_numbers

Features = npt.NDArray[Any] | Sequence[Sequence[float]]
"""A matrix (N, f), one row per caption."""

_EMPTY = Caption("", (), 0.0, 0.0, ())


class Captioner(Predictor):
    """A model with its tokenizer.

    Args:
        model: in evaluation mode; it is moved to `device`.
        tokenizer: ids → text.
        device: where to compute: ``cpu``, ``cuda``, or ``auto``.
        max_length: the most tokens of a caption, EOS counted.
        facts: what is known of the weights.
    """

    task = "caption"
    model: CaptionerNetwork

    def __init__(
        self,
        model: CaptionerNetwork,
        tokenizer: Tokenizer,
        *,
        device: str = "cpu",
        max_length: int = 200,
        facts: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(model, device=device, facts=facts)
        self.tokenizer = tokenizer
        self.max_length = max_length

    @property
    def feature_size(self) -> int:
        """The number of features of a vector."""
        return self.model.standardize.mean.shape[0]

    @takes_options(SearchOptions)
    def caption(
        self,
        features: Features,
        options: SearchOptions = DEFAULT_SEARCH,
        *,
        batch_sentences: int = 32,
        **changes: Any,
    ) -> list[Caption]:
        """Caption vectors, one `Caption` each.

        Args:
            features: raw, (N, f).
            options: how to search; `max_length` of the captioner limits the length.
            batch_sentences: the most vectors searched together.
            changes: single search options, such as ``beam=10``; see `SearchOptions`.

        Raises:
            ConfigError: an option is unknown or out of range.
            DataError: not a matrix, rows of another width than in training, or a number that is not finite.
        """
        rows = self._matrix(features)
        options = options.change(**changes, max_extra=self.max_length)
        captions: list[Caption] = []
        for start in range(0, len(rows), batch_sentences):
            hypotheses = self._search(rows[start : start + batch_sentences], options)
            captions.extend(map(self._caption, hypotheses))
        return captions

    def score(
        self,
        features: Features,
        texts: Sequence[str],
        *,
        batch_sentences: int = 32,
        batch_tokens: int = 4000,
    ) -> list[Caption]:
        """Score given captions by forced decoding: the model's probability of each token.

        Args:
            features: raw, (N, f).
            texts: one caption per row, in the same order.
            batch_sentences: the most captions in a batch.
            batch_tokens: the most tokens in a batch, padding counted.

        Raises:
            DataError: rows and texts differ in number, or the features cannot be used (see `caption`).
        """
        rows = self._matrix(features)
        if len(rows) != len(texts):
            raise DataError(f"{len(rows)} rows of features and {len(texts)} texts: give one of each")
        encoded = self.tokenizer.encode_batch(texts)

        def score(members: list[int]) -> list[Caption]:
            batch = pad_captioned([rows[k] for k in members], [encoded[k] for k in members]).to(self.device)
            return [self._caption([hypothesis]) for hypothesis in decode_forced(self.model, batch)]

        return predict_by_length(
            score,
            [len(ids) + 1 for ids in encoded],
            [_EMPTY] * len(texts),
            batch_sentences=batch_sentences,
            batch_tokens=batch_tokens,
        )

    def trace(
        self,
        features: Sequence[float] | npt.NDArray[Any],
        target: str | None = None,
        *,
        letters: str = "papers",
        dtype: str = "float32",
    ) -> Trace:
        """Everything that the model computes for a vector, step by step: gates, states, probabilities.

        Args:
            features: raw, (f,).
            target: the caption whose words the decoder reads; None for the one that greedy search finds.
            letters: whose letters the equations have, ``papers`` or ``slides``.
            dtype: ``float32``, or ``float64`` for a computation in double precision.

        Raises:
            DataError: another number of features, one that is not finite, or a blank target.
        """
        rows = self._matrix([features])  # type: ignore[list-item]
        if target is None:
            ((hypothesis, *_),) = self._search(rows, SearchOptions(beam=1, max_extra=self.max_length))
        else:
            if not target.strip():
                raise DataError("trace: the target is blank; give it a word, or leave it out")
            batch = pad_captioned([rows[0]], [self.tokenizer.encode(target)]).to(self.device)
            (hypothesis,) = decode_forced(self.model, batch)
        caption = self._caption([hypothesis])
        with traced_model(self.single_model(), dtype) as traced:
            given = torch.tensor(rows, device=self.device, dtype=getattr(torch, dtype))
            sections = trace_caption(traced, given, hypothesis.ids, self.tokenizer.tokens)
        text = " ".join(f"{value:g}" for value in rows[0])
        return Trace(
            self.task, text, (), caption.text, caption.tokens, tuple(sections), dtype, letters=letters
        )

    def _matrix(self, features: Features) -> npt.NDArray[np.float32]:
        matrix = as_numbers(features, "features")
        if matrix.size == 0:
            return matrix.reshape(0, self.feature_size)
        if matrix.ndim != 2:
            raise DataError(f"features of shape {matrix.shape}: give a matrix, one row per caption")
        if matrix.shape[1] != self.feature_size:
            raise DataError(
                f"{matrix.shape[1]} features in a row, and the model was trained on {self.feature_size}; make them "
                "equal"
            )
        if not np.isfinite(matrix).all():
            row, column = np.argwhere(~np.isfinite(matrix))[0]
            raise DataError(
                f"feature {column + 1} of row {row + 1} is {matrix[row, column]}; each must be finite"
            )
        return matrix

    @torch.inference_mode()
    def _search(self, rows: npt.NDArray[np.float32], options: SearchOptions) -> list[Sequence[Hypothesis]]:
        encoded = self.model.encode(torch.tensor(rows, device=self.device))
        return [result.hypotheses for result in search(self.model.decoder, encoded, options)]

    def _caption(self, hypotheses: Sequence[Hypothesis]) -> Caption:
        best, *others = [
            Caption(
                self.tokenizer.decode(hypothesis.ids),
                tuple(self.tokenizer.tokens(hypothesis.ids)),
                hypothesis.score,
                hypothesis.log_prob,
                hypothesis.token_log_probs,
            )
            for hypothesis in hypotheses
        ]
        return replace(best, alternatives=tuple(others))
