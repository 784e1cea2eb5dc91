"""A trained tagger as programs use it: lines in, `Tagging`s out.

Knows the tokenizer, batches, the model and output, and nothing of training. Words are what blanks part, and each gets
one tag. Sentences are sorted by length behind the scenes and come back in order; a blank line gives no words and no
tags.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import torch

from regard.batches import batch_by_length, pad_words
from regard.checkpoint import ModelFolder
from regard.device import find_device
from regard.errors import DataError
from regard.models import TaggerNetwork
from regard.tasks.tag.result import Tagging
from regard.text import Labels, Tokenizer, encode_words


class Tagger:
    """A model with its tokenizer and its tags.

    Args:
        model: in evaluation mode; it is moved to `device`.
        tokenizer: of the kind ``word``.
        labels: the tags, by id.
        device: where to compute: ``cpu``, ``cuda``, or ``auto``.
        max_length: the most words a sentence may have.
        facts: what is known of the weights.
    """

    def __init__(
        self,
        model: TaggerNetwork,
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
    ) -> "Tagger":
        """Load a trained model.

        Args:
            folder: what `regard train --task tag` wrote.
            weights: ``best`` or ``last``.
            device: where to compute.
            max_length: the most words a sentence may have.

        Raises:
            FolderError: the folder is missing, damaged, foreign, for another task or newer than this package.
            ConfigError: no such weights, or no such device on this machine.
        """
        loaded = ModelFolder(folder).load(weights, task="tag")
        return cls(
            loaded.model,
            loaded.tokenizers["text"],
            loaded.labels,
            device=device,
            max_length=max_length,
            facts=loaded.facts,
        )

    def tag(
        self,
        lines: Iterable[str],
        *,
        batch_sentences: int = 32,
        batch_tokens: int = 4000,
        first_line: int = 1,
        name: str = "line ",
    ) -> list[Tagging]:
        """Tag the words of lines, one `Tagging` for each line.

        Args:
            lines: sentences whose words are parted by blanks; a blank one has none.
            batch_sentences: the most sentences read at a time.
            batch_tokens: the most words read at a time, padding counted.
            first_line: the number of the first line, for messages about a part of a longer text.
            name: what stands before a line's number in messages, such as ``file.txt:``.

        Raises:
            DataError: a line has more than `max_length` words.
        """
        if isinstance(lines, str):
            raise DataError(f"tag takes a list of lines, not one text: tag([{lines[:40]!r}])")
        sentences = [line.split() for line in lines]
        for number, words in enumerate(sentences, first_line):
            if len(words) > self.max_length:
                raise DataError(
                    f"{name}{number} ({' '.join(words)[:60]!r} …) has {len(words)} words, above the limit of "
                    f"{self.max_length}; split it into sentences, or raise the limit (--max-length)"
                )
        encoded = [encode_words(words, self.tokenizer) for words in sentences]
        results = [Tagging((), (), ())] * len(sentences)
        real = [k for k, ids in enumerate(encoded) if ids]
        lengths = [len(encoded[k]) + 1 for k in real]
        for members in batch_by_length(lengths, batch_sentences, batch_tokens):
            chosen = [real[k] for k in members]
            for k, found in zip(chosen, self._read([encoded[k] for k in chosen]), strict=True):
                best, tags = found.max(dim=-1)
                names = tuple(map(self.labels.name_of, tags.tolist()))
                results[k] = Tagging(tuple(sentences[k]), names, tuple(best.tolist()))
        return results

    def tag_stream(self, lines: Iterable[str], *, chunk: int = 256, **options: Any) -> Iterator[Tagging]:
        """Tag an endless stream in constant memory, `chunk` lines at a time; options as for `tag`."""
        waiting = iter(lines)
        first_line = 1
        while part := list(islice(waiting, chunk)):
            yield from self.tag(part, first_line=first_line, **options)
            first_line += len(part)

    @torch.inference_mode()
    def _read(self, sentences: Sequence[Sequence[int]]) -> Sequence[torch.Tensor]:
        """The probability of each tag (words, tags), for each sentence."""
        probabilities = self.model(pad_words(sentences).to(self.device)).double().softmax(dim=-1)
        parts: Sequence[torch.Tensor] = probabilities.split([len(ids) for ids in sentences])
        return parts
