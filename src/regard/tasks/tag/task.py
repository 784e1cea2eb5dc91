"""The task of tagging: sentences with one tag per word, and a tagger of words."""

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any

from torch import Tensor

from regard.batches import TaggedBatch, pad_tagged
from regard.errors import DataError
from regard.evaluation import ClassScores, score_tags
from regard.models import TaggerNetwork
from regard.plots.page import ShownResult
from regard.tasks.base import spread_by_length
from regard.tasks.labels import LabelTask
from regard.tasks.tag.predictor import Tagger
from regard.text import (
    EncodedTagged,
    Labels,
    TaggedSentence,
    Tokenizer,
    encode_tagged,
    read_tagged,
    read_vertical,
)
from regard.text.formats.layout import Column

Words = str | Sequence[str]
"""Words, or tags: separated by blanks, or as a list."""


class TagTask(LabelTask[TaggedSentence, EncodedTagged]):
    """Sentences with one tag per word, a tokenizer of words, a tagger; examples may be given as (words, tags)."""

    name = "tag"
    examples = "sentences"
    network = TaggerNetwork
    files_option = "name them with --train tagged.tsv, or --train words --train tags"
    unit = "words"

    def read(self, files: Sequence[str]) -> list[TaggedSentence]:
        """Read the tagged sentences of one file or of two."""
        return read_tagged_sentences(files, self.config.data.layout, self.config.data.columns)

    def parse(self, given: Iterable[Any]) -> list[TaggedSentence]:
        """Tagged sentences, or tuples of words and tags, as tagged sentences."""
        return parse_tagged_sentences(given)

    def texts(self, example: TaggedSentence) -> tuple[str, ...]:
        """The sentence."""
        return (" ".join(example.words),)

    def names(self, example: TaggedSentence) -> tuple[str, ...]:
        """The tags."""
        return example.tags

    def encode(
        self, examples: Iterable[TaggedSentence], tokenizer: Tokenizer, labels: Labels
    ) -> Iterable[EncodedTagged]:
        """Words and tags as ids."""
        return encode_tagged(examples, tokenizer, labels)

    def token_ids(self, example: EncodedTagged) -> Sequence[Sequence[int]]:
        """The ids of the words."""
        return (example.word_ids,)

    def pad(self, examples: Sequence[EncodedTagged]) -> TaggedBatch:
        """Sentences, padded."""
        return pad_tagged(examples)

    @staticmethod
    def predict(model: TaggerNetwork, batch: TaggedBatch) -> tuple[Tensor, Tensor]:
        """Logits (N, tags) of the N words, and their correct tags (N,)."""
        return model(batch), batch.tag_ids[batch.word_mask]

    def score(
        self, examples: Sequence[EncodedTagged], gold: Sequence[str], predicted: Sequence[str]
    ) -> ClassScores:
        """Score one tag per word, sentence by sentence."""

        def by_sentence(tags: Sequence[str]) -> list[list[str]]:
            remaining = iter(tags)
            return [list(islice(remaining, len(example.tag_ids))) for example in examples]

        return score_tags(by_sentence(gold), by_sentence(predicted), self.labels)

    def show(self, predictor: Tagger) -> list[ShownResult]:
        """Sentences with a tag below each word, and the words that are tagged wrong."""
        chosen = spread_by_length([example.length for example in self.prepared.valid])
        sentences: list[TaggedSentence] = [self.prepared.valid_examples[k] for k in chosen]
        shown = []
        for sentence, tagging in zip(
            sentences, predictor.tag([" ".join(sentence.words) for sentence in sentences]), strict=True
        ):
            wrong = [
                f"{word}: {tag}, not {predicted}"
                for word, tag, predicted in zip(sentence.words, sentence.tags, tagging.tags, strict=True)
                if tag != predicted
            ]
            lines = {
                "sentence": " ".join(sentence.words),
                **({"reference": "; ".join(wrong)} if wrong else {}),
            }
            shown.append(ShownResult(lines, tagging._repr_html_(), not wrong))
        return shown


def read_tagged_sentences(
    files: Sequence[str], layout: str, columns: Sequence[Column]
) -> list[TaggedSentence]:
    """Read tagged sentences.

    Args:
        files: two parallel ones, or one.
        layout: ``lines`` or ``vertical``.
        columns: of words and tags in one file, numbers from 1 or names of its header row; empty for the first two.

    Raises:
        ConfigError: columns are named for two parallel files, or are impossible.
        DataError: a file or a line cannot be used, or there is none.
    """
    chosen = (columns[0], columns[1]) if columns else None
    if layout == "vertical":
        sentences = list(read_vertical(files[0], columns=chosen))
    else:
        sentences = list(read_tagged(*files, columns=chosen))
    if not sentences:
        raise DataError(
            f"{' and '.join(files)}: an empty corpus, without a sentence; give one tag for each word"
        )
    return sentences


def parse_tagged_sentences(given: Iterable[TaggedSentence | tuple[Words, Words]]) -> list[TaggedSentence]:
    """Tagged sentences, or tuples of words and tags, as tagged sentences.

    Raises:
        DataError: an example has no words, or another number of tags than words.
    """
    sentences = []
    for number, item in enumerate(given, start=1):
        sentence = (
            item if isinstance(item, TaggedSentence) else TaggedSentence(_split(item[0]), _split(item[1]))
        )
        if not sentence.words or len(sentence.words) != len(sentence.tags):
            raise DataError(
                f"example {number} has {len(sentence.words)} words and {len(sentence.tags)} tags; give one tag for "
                "each word, and at least one word"
            )
        sentences.append(sentence)
    return sentences


def _split(words: Words) -> tuple[str, ...]:
    return tuple(words.split() if isinstance(words, str) else words)
