"""``/v1/classify`` and ``/v1/tag``: the operations of classifiers and taggers."""

from collections.abc import Sequence
from typing import Any, ClassVar

from pydantic import Field

from regard.server.batching import Watch
from regard.server.config import Limits
from regard.server.operations.operation import (
    Body,
    Operation,
    PreparedBody,
    Strict,
    Text,
    listed,
    refuse_large,
)
from regard.tasks.classify.predictor import Classifier
from regard.tasks.classify.result import Classification
from regard.tasks.tag.predictor import Tagger
from regard.tasks.tag.result import Tagging


class ClassifyBody(Body):
    """Texts to classify."""

    texts: Text | list[Text | list[Text]] = Field(
        description="One text or several; for a model that reads two texts, a list of pairs."
    )


class ClassificationAnswer(Strict):
    """A text and its label; see `regard.Classification`."""

    texts: list[str]
    label: str = Field(description="Empty for a blank text.")
    probabilities: dict[str, float]
    tokens: list[list[str]]
    words: list[list[int | None]]
    alpha: list[list[float]] | None = Field(
        description="The pooling weight of each token, where it has some."
    )
    characters: bool


class Classify(Operation[ClassifyBody]):
    """Classify texts."""

    name = "classify"
    summary = "Classify texts, or pairs of texts: label, probabilities, and the weights of the words."
    body = ClassifyBody
    results = "classifications"
    result = ClassificationAnswer
    examples: ClassVar = {
        "two texts": {"texts": ["a fine film .", "a dull film ."]},
        "a pair": {"texts": [["a man sleeps .", "nobody is awake ."]]},
    }

    def prepare(self, body: ClassifyBody, limits: Limits) -> PreparedBody:
        """Check a body; an item is a text or a pair."""
        texts = [body.texts] if isinstance(body.texts, str) else body.texts
        refuse_large(texts, limits)
        return PreparedBody(None, [text if isinstance(text, str) else tuple(text) for text in texts])

    def compute(
        self,
        predictor: Classifier,
        options: None,
        items: Sequence[Any],
        numbers: Sequence[int],
        watch: Watch | None,
    ) -> Sequence[Classification]:
        """Classify a batch."""
        return predictor.classify(items, batch_sentences=len(items), first_line=numbers[0], name="text ")


class TagBody(Body):
    """Sentences to tag."""

    texts: Text | list[Text] = Field(description="One sentence or several, their words separated by blanks.")


class TaggingAnswer(Strict):
    """A sentence and its tags; see `regard.Tagging`."""

    words: list[str]
    tags: list[str]
    probabilities: list[float]


class Tag(Operation[TagBody]):
    """Tag the words of sentences."""

    name = "tag"
    summary = "Tag the words of sentences."
    body = TagBody
    results = "taggings"
    result = TaggingAnswer
    examples: ClassVar = {"one sentence": {"texts": "the cat sleeps ."}}

    def prepare(self, body: TagBody, limits: Limits) -> PreparedBody:
        """Check a body; an item is a sentence."""
        texts = listed(body.texts)
        refuse_large(texts, limits)
        return PreparedBody(None, texts)

    def compute(
        self,
        predictor: Tagger,
        options: None,
        items: Sequence[str],
        numbers: Sequence[int],
        watch: Watch | None,
    ) -> Sequence[Tagging]:
        """Tag a batch."""
        return predictor.tag(items, batch_sentences=len(items), first_line=numbers[0], name="text ")


CLASSIFY, TAG = Classify(), Tag()
