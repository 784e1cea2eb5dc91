"""A trained classifier in use: lines in, `Classification`s out.

Knows a tokenizer, batches, the model and output, and nothing of training. A blank line gives a blank classification.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import torch

from regard.batches import pad_texts
from regard.errors import DataError
from regard.models import Classified, ClassifierNetwork
from regard.tasks.classify.result import Classification
from regard.tasks.predictor import (
    CHUNK,
    LabelPredictor,
    predict_by_length,
    predict_stream,
    refuse_text,
    refuse_too_long,
)
from regard.tasks.trace import Trace
from regard.tasks.tracing import trace_classification, traced_model
from regard.text.specials import EOS

Texts = str | Sequence[str]
"""What is classified: one text, or the two of a pair."""


class Classifier(LabelPredictor):
    """A model with its tokenizer and its labels; `max_length` is in tokens of a text."""

    task = "classify"
    model: ClassifierNetwork

    @property
    def num_texts(self) -> int:
        """How many texts are classified together: 1, or 2 for pairs."""
        return self.model.config.num_texts

    @property
    def attends(self) -> bool:
        """Whether its pooling gives words weights."""
        return self.model.config.pooling in ("attention", "max")

    def classify(
        self,
        lines: Iterable[Texts],
        *,
        batch_sentences: int = 32,
        batch_tokens: int = 4000,
        first_line: int = 1,
        name: str = "line ",
    ) -> list[Classification]:
        """Classify texts or pairs of texts, one `Classification` each.

        Args:
            lines: the texts, or pairs of them where the model reads two; a blank one, or a pair with a blank side,
                gives a blank classification.
            batch_sentences: the most texts in a batch.
            batch_tokens: the most tokens in a batch, padding counted.
            first_line: the number of the first line, for messages about a part of a longer text.
            name: what precedes a line's number in messages, such as ``file.txt:``.

        Raises:
            DataError: a line has another number of texts than the model reads, or one of more than `max_length`
                tokens.
        """
        refuse_text(lines, "classify")
        rows = [self._texts(texts, f"{name}{number}") for number, texts in enumerate(lines, first_line)]
        encoded = [
            self.tokenizer.encode_batch(texts) if all(text.strip() for text in texts) else []
            for texts in rows
        ]
        lengths = [max(map(len, ids)) + 1 if ids else 0 for ids in encoded]
        refuse_too_long(
            list(map(" / ".join, rows)),
            [length - 1 for length in lengths],  # without EOS
            self.max_length,
            first_line=first_line,
            name=name,
        )

        def predict(members: list[int]) -> Iterator[Classification]:
            output = self._run([encoded[k] for k in members])
            return (self._classification(rows[k], encoded[k], output, row) for row, k in enumerate(members))

        return predict_by_length(
            predict,
            lengths,
            [Classification.blank(texts) for texts in rows],
            batch_sentences=batch_sentences,
            batch_tokens=batch_tokens,
        )

    def classify_stream(
        self, lines: Iterable[Texts], *, chunk: int = CHUNK, **options: Any
    ) -> Iterator[Classification]:
        """Classify an endless stream in constant memory, `chunk` lines at a time; options as for `classify`."""
        return predict_stream(
            lambda part, first_line: self.classify(part, first_line=first_line, **options), lines, chunk
        )

    def trace(self, line: Texts, *, letters: str = "papers", dtype: str = "float32") -> Trace:
        """Everything that the model computes for a text or a pair, step by step: gates, states, alpha, probabilities.

        Args:
            line: as `classify` takes it.
            letters: whose letters the equations have, ``papers`` or ``slides``.
            dtype: ``float32``, or ``float64`` for a computation in double precision.

        Raises:
            ConfigError: the model is an ensemble.
            DataError: a text is blank or has more than `max_length` tokens, or there is another number of them.
        """
        (classification,) = self.classify([line])
        if not classification.label:
            raise DataError("trace: a text is blank; give it a word")
        with traced_model(self.single_model(), dtype) as traced:
            sections = trace_classification(
                traced,
                self.tokenizer.encode_batch(classification.texts),
                classification.tokens,
                list(self.labels),
            )
        return Trace(
            task=self.task,
            text=" / ".join(classification.texts),
            tokens=tuple(token for tokens in classification.tokens for token in tokens),
            output=classification.label,
            output_tokens=(classification.label,),
            sections=tuple(sections),
            dtype=dtype,
            letters=letters,
        )

    def _texts(self, texts: Texts, place: str) -> tuple[str, ...]:
        given = (texts,) if isinstance(texts, str) else tuple(texts)
        if len(given) != self.num_texts:
            expected = "one text" if self.num_texts == 1 else "pairs of texts"
            raise DataError(f"{place} has {len(given)} texts, and this model classifies {expected}")
        return given

    @torch.inference_mode()
    def _run(self, rows: Sequence[Sequence[Sequence[int]]]) -> Classified:
        output: Classified = self.model(pad_texts(rows).to(self.device))
        return output

    def _classification(
        self, texts: tuple[str, ...], encoded: Sequence[Sequence[int]], output: Classified, row: int
    ) -> Classification:
        probabilities = output.logits[row].double().softmax(dim=-1).tolist()
        with_end = [[*ids, EOS] for ids in encoded]
        alpha = None
        if self.attends:
            alpha = tuple(
                weights[row, : len(ids)].cpu().numpy()
                for weights, ids in zip(output.alphas, with_end, strict=True)
                if weights is not None
            )
        return Classification(
            texts,
            self.labels.name_of(int(output.logits[row].argmax())),
            dict(zip(self.labels, probabilities, strict=True)),
            tuple(tuple(self.tokenizer.tokens(ids)) for ids in with_end),
            tuple(tuple(self.tokenizer.words(ids)) for ids in with_end),
            alpha,
            characters=self.tokenizer.kind == "char",
        )
