"""A trained tagger in use: lines in, `Tagging`s out.

Knows a tokenizer, batches, the model and output, and nothing of training. Words are separated by blanks; a blank line
has no words and no tags.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import torch

from regard.batches import pad_words
from regard.errors import DataError
from regard.models import TaggerNetwork
from regard.tasks.predictor import (
    CHUNK,
    LabelPredictor,
    predict_by_length,
    predict_stream,
    refuse_text,
    refuse_too_long,
)
from regard.tasks.tag.result import Tagging
from regard.tasks.trace import Trace
from regard.tasks.tracing import trace_tags, traced_model
from regard.text import encode_words
from regard.text.specials import EOS


class Tagger(LabelPredictor):
    """A model with its tokenizer of words and its tags; `max_length` is in words of a line."""

    task = "tag"
    model: TaggerNetwork

    def tag(
        self,
        lines: Iterable[str],
        *,
        batch_sentences: int = 32,
        batch_tokens: int = 4000,
        first_line: int = 1,
        name: str = "line ",
    ) -> list[Tagging]:
        """Tag the words of lines, one `Tagging` per line.

        Args:
            lines: sentences whose words are separated by blanks; a blank line has none.
            batch_sentences: the most sentences in a batch.
            batch_tokens: the most words in a batch, padding counted.
            first_line: the number of the first line, for messages about a part of a longer text.
            name: what precedes a line's number in messages, such as ``file.txt:``.

        Raises:
            DataError: a line has more than `max_length` words.
        """
        refuse_text(lines, "tag")
        sentences = [line.split() for line in lines]
        refuse_too_long(
            list(map(" ".join, sentences)),
            list(map(len, sentences)),
            self.max_length,
            first_line=first_line,
            name=name,
            unit="words",
        )
        encoded = [encode_words(words, self.tokenizer) for words in sentences]

        def predict(members: list[int]) -> Iterator[Tagging]:
            for k, probabilities in zip(members, self._run([encoded[k] for k in members]), strict=True):
                best, tags = probabilities.max(dim=-1)
                names = tuple(map(self.labels.name_of, tags.tolist()))
                yield Tagging(tuple(sentences[k]), names, tuple(best.tolist()))

        return predict_by_length(
            predict,
            [len(ids) + 1 if ids else 0 for ids in encoded],
            [Tagging((), (), ())] * len(sentences),
            batch_sentences=batch_sentences,
            batch_tokens=batch_tokens,
        )

    def tag_stream(self, lines: Iterable[str], *, chunk: int = CHUNK, **options: Any) -> Iterator[Tagging]:
        """Tag an endless stream in constant memory, `chunk` lines at a time; options as for `tag`."""
        return predict_stream(
            lambda part, first_line: self.tag(part, first_line=first_line, **options), lines, chunk
        )

    def trace(self, line: str, *, letters: str = "papers", dtype: str = "float32") -> Trace:
        """Everything that the model computes for a sentence, step by step: gates, states, probabilities.

        Args:
            line: words separated by blanks.
            letters: whose letters the equations have, ``papers`` or ``slides``.
            dtype: ``float32``, or ``float64`` for a computation in double precision.

        Raises:
            ConfigError: the model is an ensemble.
            DataError: the line is blank, or has more than `max_length` words.
        """
        (tagging,) = self.tag([line])
        if not tagging.words:
            raise DataError("trace: the line is blank; give it a word")
        tokens = (*tagging.words, *self.tokenizer.tokens([EOS]))
        with traced_model(self.single_model(), dtype) as traced:
            ids = encode_words(tagging.words, self.tokenizer)
            sections = trace_tags(traced, ids, tokens, list(self.labels))
        return Trace(
            task=self.task,
            text=line,
            tokens=tokens,
            output=" ".join(tagging.tags),
            output_tokens=tagging.tags,
            sections=tuple(sections),
            dtype=dtype,
            letters=letters,
        )

    @torch.inference_mode()
    def _run(self, sentences: Sequence[Sequence[int]]) -> Sequence[torch.Tensor]:
        """The probability of each tag, (words, tags) per sentence."""
        probabilities = self.model(pad_words(sentences).to(self.device)).double().softmax(dim=-1)
        parts: Sequence[torch.Tensor] = probabilities.split([len(ids) for ids in sentences])
        return parts
