"""A trained classifier as programs use it: lines in, `Classification`s out.

Knows the tokenizer, batches, the model and output, and nothing of training. Texts are sorted by length behind the
scenes and come back in order; a blank line gives a blank classification.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import torch

from regard.batches import batch_by_length, pad_texts
from regard.checkpoint import ModelFolder
from regard.device import find_device
from regard.errors import DataError
from regard.models import Classified, ClassifierNetwork
from regard.tasks.classify.result import Classification
from regard.text import Labels, Tokenizer
from regard.text.specials import EOS

Texts = str | Sequence[str]
"""What is classified: a line, or the two of a pair."""


class Classifier:
    """A model with its tokenizer and its labels.

    Args:
        model: in evaluation mode; it is moved to `device`.
        tokenizer: lines → ids.
        labels: by id.
        device: where to compute: ``cpu``, ``cuda``, or ``auto``.
        max_length: the most tokens a text may have.
        facts: what is known of the weights.
    """

    def __init__(
        self,
        model: ClassifierNetwork,
        tokenizer: Tokenizer,
        labels: Sequence[str],
        *,
        device: str = "cpu",
        max_length: int = 1000,
        facts: dict[str, Any] | None = None,
    ) -> None:
        self.device = find_device(device)
        self.model = model.to(self.device)
        self.tokenizer = tokenizer
        self.labels = Labels(labels)
        self.max_length = max_length
        self.facts = facts or {}

    @classmethod
    def load(
        cls, folder: str | Path, *, weights: str = "best", device: str = "cpu", max_length: int = 1000
    ) -> "Classifier":
        """Load a trained model.

        Args:
            folder: what `regard train --task classify` wrote.
            weights: ``best`` or ``last``.
            device: where to compute.
            max_length: the most tokens a text may have.

        Raises:
            FolderError: the folder is missing, damaged, foreign, for another task or newer than this package.
            ConfigError: no such weights, or no such device on this machine.
        """
        loaded = ModelFolder(folder).load(weights, task="classify")
        return cls(
            loaded.model,
            loaded.tokenizers["text"],
            loaded.labels,
            device=device,
            max_length=max_length,
            facts=loaded.facts,
        )

    @property
    def num_texts(self) -> int:
        """How many texts are classified together: 1, or 2 for pairs."""
        return self.model.config.num_texts

    @property
    def attends(self) -> bool:
        """Whether it pools by attention, so that words have weights."""
        return self.model.config.pooling == "attention"

    def classify(
        self,
        lines: Iterable[Texts],
        *,
        batch_sentences: int = 32,
        batch_tokens: int = 4000,
        first_line: int = 1,
        name: str = "line ",
    ) -> list[Classification]:
        """Classify lines or pairs of lines, one `Classification` for each.

        Args:
            lines: the texts, or pairs of them where the model reads two; a blank one, or a pair with a blank side,
                gives a blank classification.
            batch_sentences: the most texts read at a time.
            batch_tokens: the most tokens read at a time, padding counted.
            first_line: the number of the first line, for messages about a part of a longer text.
            name: what stands before a line's number in messages, such as ``file.txt:``.

        Raises:
            DataError: there are not as many texts to a line as the model reads, or one is longer than `max_length`
                tokens.
        """
        if isinstance(lines, str):
            raise DataError(f"classify takes a list of lines, not one text: classify([{lines[:40]!r}])")
        rows = [self._texts(texts, f"{name}{number}") for number, texts in enumerate(lines, first_line)]
        encoded = [
            self._encode(texts, f"{name}{number}") if all(text.strip() for text in texts) else None
            for number, texts in enumerate(rows, first_line)
        ]
        results = [Classification.blank(texts) for texts in rows]
        real = [(k, ids) for k, ids in enumerate(encoded) if ids is not None]
        lengths = [max(map(len, ids)) + 1 for _, ids in real]
        for members in batch_by_length(lengths, batch_sentences, batch_tokens):
            chosen = [real[k] for k in members]
            read = self._read([ids for _, ids in chosen])
            for row, (k, ids) in enumerate(chosen):
                results[k] = self._classification(rows[k], ids, read, row)
        return results

    def classify_stream(
        self, lines: Iterable[Texts], *, chunk: int = 256, **options: Any
    ) -> Iterator[Classification]:
        """Classify an endless stream in constant memory, `chunk` lines at a time; options as for `classify`."""
        waiting = iter(lines)
        first_line = 1
        while part := list(islice(waiting, chunk)):
            yield from self.classify(part, first_line=first_line, **options)
            first_line += len(part)

    def _texts(self, texts: Texts, place: str) -> tuple[str, ...]:
        given = (texts,) if isinstance(texts, str) else tuple(texts)
        if len(given) != self.num_texts:
            wanted = "one text" if self.num_texts == 1 else "pairs of texts"
            raise DataError(
                f"{place} has {len(given)} texts, and this model classifies {wanted}; give it those"
            )
        return given

    def _encode(self, texts: Sequence[str], place: str) -> list[list[int]]:
        encoded = self.tokenizer.encode_batch(texts)
        for text, ids in zip(texts, encoded, strict=True):
            if len(ids) > self.max_length:
                raise DataError(
                    f"{place} ({text[:60]!r} …) has {len(ids)} tokens, above the limit of {self.max_length}; shorten "
                    "it, or raise the limit (--max-length)"
                )
        return encoded

    @torch.inference_mode()
    def _read(self, rows: Sequence[Sequence[Sequence[int]]]) -> Classified:
        read: Classified = self.model(pad_texts(rows).to(self.device))
        return read

    def _classification(
        self, texts: tuple[str, ...], encoded: Sequence[Sequence[int]], read: Classified, row: int
    ) -> Classification:
        probabilities = read.logits[row].double().softmax(dim=-1).tolist()
        whole = [[*ids, EOS] for ids in encoded]
        alpha = None
        if self.attends:
            alpha = tuple(
                weights[row, : len(ids)].cpu().numpy()
                for weights, ids in zip(read.alphas, whole, strict=True)
                if weights is not None
            )
        return Classification(
            texts,
            self.labels.name_of(int(read.logits[row].argmax())),
            dict(zip(self.labels, probabilities, strict=True)),
            tuple(tuple(self.tokenizer.tokens(ids)) for ids in whole),
            tuple(tuple(self.tokenizer.words(ids)) for ids in whole),
            alpha,
        )
