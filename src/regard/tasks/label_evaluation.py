"""How good a classifier or a tagger is on a test set.

In: a `Classifier` with labelled texts, or a `Tagger` with tagged sentences. Out: a `LabelEvaluation`, whose
numbers are the printed tables' and ``report.json``'s.

The evaluation of labels as files: scores for programs, predictions as text, which label was taken for which.

In: a `LabelEvaluation`. Out: a folder with ``report.json``, ``predictions.txt`` and ``confusion.png``.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regard.errors import DataError
from regard.evaluation import ClassScores, score_classes, score_tags
from regard.evaluation.metrics import label_scores
from regard.io import make_folder, write_whole_text
from regard.plots import draw_confusion, save
from regard.tasks.classify.predictor import Classifier
from regard.tasks.classify.result import Classification
from regard.tasks.tag.predictor import Tagger
from regard.tasks.tag.result import Tagging
from regard.tasks.translate.evaluation import write_json
from regard.text import LabelledText, TaggedSentence

_CHUNK = 1024  # texts sorted by length together


@dataclass(frozen=True)
class LabelEvaluation:
    """All scores of one test set.

    Attributes:
        classes: accuracy, F1, the scores of each label, and which was taken for which.
        predictions: what the model said, text by text: a label, or the tags of its words.
        num_sentences: how many texts or sentences were scored.
        seconds: how long the model took.
    """

    classes: ClassScores
    predictions: tuple[Classification | Tagging, ...]
    num_sentences: int
    seconds: float

    def scores(self) -> dict[str, float | int]:
        """The headline numbers by name, in the order they are printed."""
        return {
            **label_scores(self.classes),
            "num_labels_scored": self.classes.num_scored,
            "num_sentences": self.num_sentences,
            "sentences_per_second": self.num_sentences / self.seconds,
        }

    def to_json(self) -> dict[str, Any]:
        """Give all scores as a JSON object."""
        return {**self.classes.to_json(), **self.scores()}


def evaluate_classifier(
    classifier: Classifier,
    examples: Sequence[LabelledText],
    *,
    listener: Callable[[Classification], None] = lambda classification: None,
) -> LabelEvaluation:
    """Classify a test set and score it.

    Args:
        classifier: what to evaluate.
        examples: at least one; none of their texts is blank.
        listener: is given each classification as it is made, to show how far the work is.

    Raises:
        DataError: there is none, a label is not one of the model's, or a text is too long.
    """
    if not examples:
        raise DataError("cannot score an empty test set; give at least one labelled text")
    for example in examples:
        classifier.labels.id_of(example.label, example.place)
    started = time.perf_counter()
    found = []
    for classification in classifier.classify_stream((example.texts for example in examples), chunk=_CHUNK):
        found.append(classification)
        listener(classification)
    seconds = time.perf_counter() - started
    gold = [example.label for example in examples]
    scores = score_classes(gold, [one.label for one in found], classifier.labels.names)
    return LabelEvaluation(scores, tuple(found), len(found), seconds)


def evaluate_tagger(
    tagger: Tagger,
    sentences: Sequence[TaggedSentence],
    *,
    listener: Callable[[Tagging], None] = lambda tagging: None,
) -> LabelEvaluation:
    """Tag a test set and score it.

    Args:
        tagger: what to evaluate.
        sentences: at least one.
        listener: is given each tagging as it is made, to show how far the work is.

    Raises:
        DataError: there is none, a tag is not one of the model's, or a sentence is too long.
    """
    if not sentences:
        raise DataError("cannot score an empty test set; give at least one tagged sentence")
    for sentence in sentences:
        for tag in sentence.tags:
            tagger.labels.id_of(tag, sentence.place)
    started = time.perf_counter()
    found = []
    for tagging in tagger.tag_stream((" ".join(sentence.words) for sentence in sentences), chunk=_CHUNK):
        found.append(tagging)
        listener(tagging)
    seconds = time.perf_counter() - started
    gold = [sentence.tags for sentence in sentences]
    scores = score_tags(gold, [one.tags for one in found], tagger.labels.names)
    return LabelEvaluation(scores, tuple(found), len(found), seconds)


def write_label_evaluation(
    folder: Path, evaluation: LabelEvaluation, *, title: str, facts: Mapping[str, Any] | None = None
) -> Path:
    """Write all that an evaluation of labels found.

    Args:
        folder: where to; made if it is not there.
        evaluation: of the test set.
        title: a line above the picture.
        facts: more for ``report.json``, such as ``train_seconds``.

    Returns:
        The path of the picture.

    Raises:
        DataError: the folder cannot be written.
        MissingExtraError: matplotlib is not installed; all but the picture is written.
    """
    make_folder(folder)
    write_json(folder, {**evaluation.to_json(), **(facts or {})})
    write_whole_text(folder / "predictions.txt", "".join(f"{one}\n" for one in evaluation.predictions))
    picture = folder / "confusion.png"
    save(draw_confusion(evaluation.classes, title=title), picture)
    return picture
