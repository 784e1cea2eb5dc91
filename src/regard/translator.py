"""The one object that command line, notebooks and services share: lines in, `Translation`s out.

Knows tokenizers, batches, search and output, and nothing of training. Sentences are sorted by length behind the
scenes and come back in order; a blank line gives a blank translation.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import torch

from regard.batches import in_order_of_length, pad_pairs, pad_sources
from regard.device import find_device
from regard.errors import DataError
from regard.folder import ModelFolder
from regard.models import Seq2Seq
from regard.output.translation import Translation
from regard.search import Hypothesis, LengthLimit, beam, forced, greedy
from regard.text import EncodedPair, Tokenizer
from regard.text.specials import EOS


class Translator:
    """A model with its two tokenizers.

    Args:
        model: in evaluation mode; it is moved to `device`.
        source_tokenizer: lines → source ids.
        target_tokenizer: target ids → lines.
        device: where to compute: ``cpu``, ``cuda``, or ``auto``.
        max_length: the most source tokens a line may have.
        facts: what is known of the weights.
    """

    def __init__(
        self,
        model: Seq2Seq,
        source_tokenizer: Tokenizer,
        target_tokenizer: Tokenizer,
        *,
        device: str = "cpu",
        max_length: int = 1000,
        facts: dict[str, Any] | None = None,
    ) -> None:
        self.device = find_device(device)
        self.model = model.to(self.device)
        self.source_tokenizer = source_tokenizer
        self.target_tokenizer = target_tokenizer
        self.max_length = max_length
        self.facts = facts or {}

    @classmethod
    def load(
        cls, folder: str | Path, *, weights: str = "best", device: str = "cpu", max_length: int = 1000
    ) -> "Translator":
        """Load a trained model.

        Args:
            folder: what `regard train` wrote.
            weights: ``best`` or ``last``.
            device: where to compute.
            max_length: the most source tokens a line may have.

        Raises:
            FolderError: the folder is missing, damaged, foreign or newer than this package.
            ConfigError: no such weights, or no such device on this machine.
        """
        loaded = ModelFolder(folder).load(weights, task="translate")
        return cls(
            loaded.model,
            loaded.tokenizers["source"],
            loaded.tokenizers["target"],
            device=device,
            max_length=max_length,
            facts=loaded.facts,
        )

    @property
    def attends(self) -> bool:
        """Whether the model has attention; one that has none cannot align."""
        return self.model.decoder.attention is not None

    def translate(
        self,
        lines: Iterable[str],
        *,
        beam: int = 5,
        n_best: int = 1,
        length_power: float = 1.0,
        limit: LengthLimit | None = None,
        batch_sentences: int = 32,
        batch_tokens: int = 4000,
        first_line: int = 1,
        name: str = "line ",
    ) -> list[Translation]:
        """Translate lines, one `Translation` for each.

        Args:
            lines: the sources; blank ones give blank translations.
            beam: how many hypotheses are kept at each step; 1 is greedy search.
            n_best: how many of them to return, the first as the translation, the rest as its alternatives.
            length_power: k of the score log p / lengthᵏ: 0 ranks by probability, 1 by its mean a token.
            limit: how long outputs may grow.
            batch_sentences: the most sentences searched at a time.
            batch_tokens: the most source tokens searched at a time, padding counted.
            first_line: the number of the first line, for messages about a part of a longer text.
            name: what stands before a line's number in messages, such as ``file.txt:``.

        Raises:
            DataError: a line is longer than `max_length` tokens.
        """
        if isinstance(lines, str):
            raise DataError(f"translate takes a list of lines, not one text: translate([{lines[:40]!r}])")
        sources = list(lines)
        encoded = self._encode(sources, first_line, name)
        translations = [Translation.blank(line) for line in sources]
        real = [k for k, ids in enumerate(encoded) if ids]
        lengths = [len(encoded[k]) + 1 for k in real]
        for batch in in_order_of_length(lengths, batch_sentences, batch_tokens):
            chosen = [real[k] for k in batch]
            found = self._search([encoded[k] for k in chosen], beam, n_best, length_power, limit)
            for k, hypotheses in zip(chosen, found, strict=True):
                translations[k] = self._translation(sources[k], encoded[k], hypotheses)
        return translations

    def translate_stream(
        self, lines: Iterable[str], *, chunk: int = 256, **options: Any
    ) -> Iterator[Translation]:
        """Translate an endless stream in constant memory, `chunk` lines at a time; options as for `translate`."""
        waiting = iter(lines)
        first_line = 1
        while part := list(islice(waiting, chunk)):
            yield from self.translate(part, first_line=first_line, **options)
            first_line += len(part)

    def align(
        self,
        sources: Sequence[str],
        targets: Sequence[str],
        *,
        batch_sentences: int = 32,
        batch_tokens: int = 4000,
        first_line: int = 1,
        name: str = "line ",
    ) -> list[Translation]:
        """Read given pairs by forced decoding: the model's probability and attention for these very words.

        Args:
            sources: one line a sentence.
            targets: their translations, in the same order; a pair with a blank side gives a blank result.
            batch_sentences: the most sentences read at a time.
            batch_tokens: the most tokens of a side read at a time, padding counted.
            first_line: the number of the first pair, for messages about a part of a longer text.
            name: what stands before a line's number in messages, such as ``file.txt:``.

        Raises:
            DataError: the sides differ in number, or a source is longer than `max_length` tokens.
        """
        if len(sources) != len(targets):
            raise DataError(
                f"{len(sources)} source lines and {len(targets)} target lines: give one of each for every sentence"
            )
        pairs = [
            EncodedPair(source_ids, target_ids)
            for source_ids, target_ids in zip(
                self._encode(sources, first_line, name), _encoded(targets, self.target_tokenizer), strict=True
            )
        ]
        results = [Translation.blank(line) for line in sources]
        real = [k for k, pair in enumerate(pairs) if pair.source_ids and pair.target_ids]
        lengths = [pairs[k].length for k in real]
        for batch in in_order_of_length(lengths, batch_sentences, batch_tokens):
            chosen = [real[k] for k in batch]
            padded = pad_pairs([pairs[k] for k in chosen]).to(self.device)
            for k, hypothesis in zip(chosen, forced(self.model, padded), strict=True):
                results[k] = self._translation(sources[k], pairs[k].source_ids, [hypothesis])
        return results

    def _encode(self, lines: Sequence[str], first_line: int, name: str) -> list[list[int]]:
        encoded = _encoded(lines, self.source_tokenizer)
        for number, (line, ids) in enumerate(zip(lines, encoded, strict=True), start=first_line):
            if len(ids) > self.max_length:
                raise DataError(
                    f"{name}{number} ({line[:60]!r} …) has {len(ids)} tokens, above the limit of "
                    f"{self.max_length}; split it into sentences, or raise the limit (--max-length)"
                )
        return encoded

    @torch.inference_mode()
    def _search(
        self,
        sources: Sequence[Sequence[int]],
        width: int,
        n_best: int,
        length_power: float,
        limit: LengthLimit | None,
    ) -> list[list[Hypothesis]]:
        batch = pad_sources(sources).to(self.device)
        encoded = self.model.encode(batch.source_ids, batch.source_mask)
        decoder = self.model.decoder
        if width == 1 and n_best == 1:
            return [[h] for h in greedy(decoder, encoded, limit=limit, length_power=length_power)]
        return beam(decoder, encoded, width=width, n_best=n_best, limit=limit, length_power=length_power)

    def _translation(
        self, source: str, source_ids: Sequence[int], hypotheses: Sequence[Hypothesis]
    ) -> Translation:
        whole_source = [*source_ids, EOS]
        source_tokens = tuple(self.source_tokenizer.tokens(whole_source))
        source_words = tuple(self.source_tokenizer.words(whole_source))
        best, *others = [
            Translation(
                source=source,
                text=self.target_tokenizer.decode(h.ids),
                source_tokens=source_tokens,
                tokens=tuple(self.target_tokenizer.tokens(h.ids)),
                score=h.score,
                log_prob=h.log_prob,
                token_log_probs=h.token_log_probs,
                alpha=h.alpha,
                source_words=source_words,
                target_words=tuple(self.target_tokenizer.words(h.ids)),
            )
            for h in hypotheses
        ]
        return replace(best, alternatives=tuple(others))


def _encoded(lines: Sequence[str], tokenizer: Tokenizer) -> list[list[int]]:
    """The ids of each line; none of a line of blanks, though a character model has a token for each of them."""
    return [
        ids if line.strip() else [] for line, ids in zip(lines, tokenizer.encode_batch(lines), strict=True)
    ]
