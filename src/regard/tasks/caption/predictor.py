"""A trained describer in use: vectors of features in, `Caption`s out.

Knows a tokenizer, search and output, and nothing of training or of files. Features are given raw, in the units the
model was trained on; what brings them to one scale is the model's own.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from regard.batches import batch_by_length, pad_captioned
from regard.checkpoint import ModelFolder
from regard.device import find_device
from regard.errors import DataError
from regard.models import CaptionerNetwork
from regard.search.beam import search
from regard.search.forced import decode_forced
from regard.search.hypotheses import Hypothesis
from regard.search.options import SearchOptions
from regard.tasks.caption.result import Caption
from regard.text import Tokenizer, as_numbers

Features = npt.NDArray[Any] | Sequence[Sequence[float]]
"""A matrix (N, f), a row for each thing to be described."""


class Captioner:
    """A model with its tokenizer.

    Args:
        model: in evaluation mode; it is moved to `device`.
        tokenizer: ids → text.
        device: where to compute: ``cpu``, ``cuda``, or ``auto``.
        max_length: the most tokens a description may have, the end mark counted.
        facts: what is known of the weights.
    """

    def __init__(
        self,
        model: CaptionerNetwork,
        tokenizer: Tokenizer,
        *,
        device: str = "cpu",
        max_length: int = 200,
        facts: dict[str, Any] | None = None,
    ) -> None:
        self.device = find_device(device)
        self.model = model.to(self.device)
        self.tokenizer = tokenizer
        self.max_length = max_length
        self.facts = facts or {}

    @classmethod
    def load(
        cls, folder: str | Path, *, weights: str = "best", device: str = "cpu", max_length: int = 200
    ) -> "Captioner":
        """Load a trained model.

        Args:
            folder: what `regard train --task caption` wrote.
            weights: ``best`` or ``last``.
            device: where to compute.
            max_length: the most tokens a description may have.

        Raises:
            FolderError: the folder is missing, damaged, foreign, for another task, or newer than this package.
            ConfigError: no such weights, or no such device on this machine.
        """
        loaded = ModelFolder(folder).load(weights, task="caption")
        return cls(
            loaded.model,
            loaded.tokenizers["text"],
            device=device,
            max_length=max_length,
            facts=loaded.facts,
        )

    @property
    def feature_size(self) -> int:
        """How many features a vector must have."""
        return self.model.standardize.mean.shape[0]

    def caption(
        self,
        features: Features,
        *,
        beam: int = 5,
        n_best: int = 1,
        length_power: float = 1.0,
        batch_sentences: int = 32,
    ) -> list[Caption]:
        """Describe vectors, one `Caption` for each.

        Args:
            features: raw, (N, f).
            beam: how many hypotheses are kept at each step; 1 is greedy search.
            n_best: how many of them to return, the first as the description, the rest as its alternatives.
            length_power: k of the score log p / lengthᵏ: 0 ranks by probability, 1 by its mean a token.
            batch_sentences: the most vectors searched at a time.

        Raises:
            DataError: no matrix, rows of another width than the model was trained on, or a number that is not finite.
        """
        rows = self._matrix(features)
        descriptions: list[Caption] = []
        for start in range(0, len(rows), batch_sentences):
            found = self._search(rows[start : start + batch_sentences], beam, n_best, length_power)
            descriptions.extend(map(self._description, found))
        return descriptions

    def read(
        self,
        features: Features,
        texts: Sequence[str],
        *,
        batch_sentences: int = 32,
        batch_tokens: int = 4000,
    ) -> list[Caption]:
        """Read given descriptions by forced decoding: the model's probability of these very words.

        Args:
            features: raw, (N, f).
            texts: one for each row, in the same order.
            batch_sentences: the most of them read at a time.
            batch_tokens: the most tokens read at a time, padding counted.

        Raises:
            DataError: rows and texts differ in number, or the features cannot be used (see `describe`).
        """
        rows = self._matrix(features)
        if len(rows) != len(texts):
            raise DataError(f"{len(rows)} rows of features and {len(texts)} texts: give one of each")
        encoded = self.tokenizer.encode_batch(texts)
        found: list[Caption | None] = [None] * len(texts)
        lengths = [len(ids) + 1 for ids in encoded]
        for members in batch_by_length(lengths, batch_sentences, batch_tokens):
            batch = pad_captioned([rows[k] for k in members], [encoded[k] for k in members]).to(self.device)
            for k, hypothesis in zip(members, decode_forced(self.model, batch), strict=True):
                found[k] = self._description([hypothesis])
        return [each for each in found if each is not None]

    def _matrix(self, features: Features) -> npt.NDArray[np.float32]:
        matrix = as_numbers(features, "features")
        if matrix.size == 0:
            return matrix.reshape(0, self.feature_size)
        if matrix.ndim != 2:
            raise DataError(
                f"features of shape {matrix.shape}: give a matrix, a row for each thing to be described"
            )
        if matrix.shape[1] != self.feature_size:
            raise DataError(
                f"{matrix.shape[1]} features in a row, and the model was trained on {self.feature_size}; make them "
                "alike"
            )
        if not np.isfinite(matrix).all():
            row, place = np.argwhere(~np.isfinite(matrix))[0]
            raise DataError(
                f"feature {place + 1} of row {row + 1} is {matrix[row, place]}; each must be finite"
            )
        return matrix

    @torch.inference_mode()
    def _search(
        self, rows: npt.NDArray[np.float32], width: int, n_best: int, length_power: float
    ) -> list[list[Hypothesis]]:
        encoded = self.model.encode(torch.tensor(rows, device=self.device))
        options = SearchOptions(width, n_best, length_power=length_power, max_extra=self.max_length)
        return [list(each.hypotheses) for each in search(self.model.decoder, encoded, options)]

    def _description(self, hypotheses: Sequence[Hypothesis]) -> Caption:
        best, *others = [
            Caption(
                self.tokenizer.decode(h.ids),
                tuple(self.tokenizer.tokens(h.ids)),
                h.score,
                h.log_prob,
                h.token_log_probs,
            )
            for h in hypotheses
        ]
        return replace(best, alternatives=tuple(others))
