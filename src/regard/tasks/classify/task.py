"""The task of classifying: labelled texts, one or two per label, and a classifier of them."""

from collections.abc import Iterable, Sequence
from typing import Any

from torch import Tensor

from regard.batches import LabelledBatch, pad_labelled
from regard.errors import DataError
from regard.evaluation import ClassScores, score_classes
from regard.models import ClassifierNetwork
from regard.plots.page import ShownResult
from regard.tasks.base import spread_by_length
from regard.tasks.classify.config import LabelledDataConfig
from regard.tasks.classify.predictor import Classifier
from regard.tasks.labels import LabelTask
from regard.text import EncodedLabelled, LabelledText, Labels, Tokenizer, encode_labelled, read_labelled


class ClassifyTask(LabelTask[LabelledText, EncodedLabelled]):
    """Labelled texts, a tokenizer, a classifier; examples may be given as tuples of a label and its texts."""

    name = "classify"
    examples = "texts"
    network = ClassifierNetwork
    files_option = "name their file with --train labelled.tsv, one label and text per line"
    stratified = True

    def read(self, files: Sequence[str]) -> list[LabelledText]:
        """Read the labelled texts of the file."""
        return read_labelled_texts(files[0], self.config.data, self.config.model.num_texts)

    def parse(self, given: Iterable[Any]) -> list[LabelledText]:
        """Labelled texts, or tuples of a label and its texts, as labelled texts."""
        return parse_labelled_texts(given, self.config.model.num_texts)

    def texts(self, example: LabelledText) -> tuple[str, ...]:
        """One text, or the two of a pair."""
        return example.texts

    def names(self, example: LabelledText) -> tuple[str, ...]:
        """The label."""
        return (example.label,)

    def encode(
        self, examples: Iterable[LabelledText], tokenizer: Tokenizer, labels: Labels
    ) -> Iterable[EncodedLabelled]:
        """Texts and labels as ids."""
        return encode_labelled(examples, tokenizer, labels)

    def token_ids(self, example: EncodedLabelled) -> Sequence[Sequence[int]]:
        """The ids of each text."""
        return example.text_ids

    def pad(self, examples: Sequence[EncodedLabelled]) -> LabelledBatch:
        """Texts, padded."""
        return pad_labelled(examples)

    @staticmethod
    def predict(model: ClassifierNetwork, batch: LabelledBatch) -> tuple[Tensor, Tensor]:
        """Logits (B, labels), and the correct labels (B,)."""
        return model(batch).logits, batch.label_ids

    def score(
        self, examples: Sequence[EncodedLabelled], gold: Sequence[str], predicted: Sequence[str]
    ) -> ClassScores:
        """Score one label per text."""
        return score_classes(gold, predicted, self.labels)

    def show(self, predictor: Classifier) -> list[ShownResult]:
        """Texts with their labels, and the pooling weights of their words, all to one scale."""
        from regard.plots.figures.words import pooling_scale_end

        chosen = spread_by_length([example.length for example in self.prepared.valid])
        examples: list[LabelledText] = [self.prepared.valid_examples[k] for k in chosen]
        classified = predictor.classify([example.texts for example in examples])
        end = pooling_scale_end(classified) or 1.0
        return [
            ShownResult(
                {"predicted": classification.label, "reference": example.label},
                classification.html(end),
                classification.label == example.label,
            )
            for example, classification in zip(examples, classified, strict=True)
        ]


def read_labelled_texts(file: str, data: LabelledDataConfig, num_texts: int) -> list[LabelledText]:
    """Read the labelled texts of a file.

    Raises:
        ConfigError: columns, texts and separator do not go together.
        DataError: the file or a line cannot be used, or there is none.
    """
    examples = list(
        read_labelled(
            file,
            num_texts=num_texts,
            columns=data.columns or None,
            separator=data.separator,
            header=data.header,
        )
    )
    if not examples:
        raise DataError(f"{file}: an empty corpus, without a line; give one label and text per line")
    return examples


def parse_labelled_texts(
    given: Iterable[LabelledText | tuple[str, ...]], num_texts: int
) -> list[LabelledText]:
    """Labelled texts, or tuples of a label and its texts, as labelled texts.

    Raises:
        DataError: an example has another number of texts than the model reads, or a blank one.
    """
    examples = []
    for number, item in enumerate(given, start=1):
        example = item if isinstance(item, LabelledText) else LabelledText(item[0], tuple(item[1:]))
        place = f"example {number} ({example.label!r})"
        if len(example.texts) != num_texts:
            raise DataError(
                f"{place} has {len(example.texts)} texts where model.num_texts is {num_texts}; give the label and then "
                f"{num_texts}"
            )
        if not all(text.strip() for text in example.texts):
            raise DataError(f"{place} has a blank text, which teaches nothing; leave it out")
        examples.append(example)
    return examples
