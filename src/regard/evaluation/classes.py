"""Scores of predicted labels, of texts or of the words of sentences.

In: gold and predicted labels. Out: `ClassScores`: accuracy, the confusion matrix, and precision, recall and F1 of each
class. Knows nothing of models.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from regard.errors import DataError, nearest
from regard.evaluation.text import check_parallel


@dataclass(frozen=True)
class ClassScore:
    """The scores of one class.

    Attributes:
        precision: the fraction of predictions of this label that are correct; 0 without predictions.
        recall: the fraction of gold labels of this class that were predicted; 0 without gold labels.
        f1: their harmonic mean; 0 where both are 0.
        support: the number of gold labels of this class.
        num_predicted: the number of predictions of it.
    """

    precision: float
    recall: float
    f1: float
    support: int
    num_predicted: int


@dataclass(frozen=True)
class ClassScores:
    """The scores of a corpus of labels.

    Attributes:
        labels: the classes, in their order.
        confusion: counts, a row per gold label and a column per predicted label.
        sentence_accuracy: the fraction of sentences with every label correct; None for labels of whole texts.
    """

    labels: tuple[str, ...]
    confusion: tuple[tuple[int, ...], ...]
    sentence_accuracy: float | None = None

    @property
    def num_scored(self) -> int:
        """The number of labels."""
        return sum(map(sum, self.confusion))

    @property
    def accuracy(self) -> float:
        """The fraction of correct labels."""
        return sum(self.confusion[k][k] for k in range(len(self.labels))) / self.num_scored

    @cached_property
    def classes(self) -> dict[str, ClassScore]:
        """The scores of each class, in the order of `labels`."""
        scores = {}
        for k, label in enumerate(self.labels):
            correct, support = self.confusion[k][k], sum(self.confusion[k])
            predicted = sum(row[k] for row in self.confusion)
            scores[label] = ClassScore(
                precision=correct / predicted if predicted else 0.0,
                recall=correct / support if support else 0.0,
                f1=2 * correct / (support + predicted) if support + predicted else 0.0,
                support=support,
                num_predicted=predicted,
            )
        return scores

    @property
    def macro_f1(self) -> float:
        """The mean F1 over the classes that occur among the gold labels or the predictions."""
        f1s = [score.f1 for score in self.classes.values() if score.support or score.num_predicted]
        return sum(f1s) / len(f1s)

    def to_json(self) -> dict[str, Any]:
        """Labels, scores by class and confusion matrix as a JSON object."""
        classes = {label: asdict(score) for label, score in self.classes.items()}
        confusion = list(map(list, self.confusion))
        return {"labels": list(self.labels), "classes": classes, "confusion": confusion}


def score_classes(
    gold: Sequence[str], predicted: Sequence[str], labels: Sequence[str] | None = None
) -> ClassScores:
    """Score the labels of texts.

    Args:
        gold: one per text.
        predicted: one per text, in the same order.
        labels: the classes, in their order; by default all that occur, sorted.

    Raises:
        DataError: no labels, different numbers of gold and predicted ones, or one that is not among `labels`.
    """
    check_parallel(gold=gold, predicted=predicted)
    return _count(gold, predicted, labels, None)


def score_tags(
    gold: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]], labels: Sequence[str] | None = None
) -> ClassScores:
    """Score the tags of words, sentence by sentence.

    Args:
        gold: for each sentence the tags of its words.
        predicted: the predicted tags, in the same order.
        labels: the tags, in their order; by default all that occur, sorted.

    Raises:
        DataError: no sentences or no words, different numbers of gold and predicted tags, or a tag that is not among
            `labels`.
    """
    if len(gold) != len(predicted):
        raise DataError(f"cannot score {len(predicted)} tagged sentences against {len(gold)}; give one each")
    for number, (expected, tags) in enumerate(zip(gold, predicted, strict=True)):
        if len(expected) != len(tags):
            raise DataError(
                f"sentence {number}: {len(tags)} predicted tags for {len(expected)} gold ones; give one per word"
            )
    flat = [tag for tags in gold for tag in tags], [tag for tags in predicted for tag in tags]
    check_parallel(gold=flat[0], predicted=flat[1])
    correct = sum(list(expected) == list(tags) for expected, tags in zip(gold, predicted, strict=True))
    return _count(*flat, labels, correct / len(gold))


def _count(
    gold: Sequence[str],
    predicted: Sequence[str],
    labels: Sequence[str] | None,
    sentence_accuracy: float | None,
) -> ClassScores:
    occurring = {*gold, *predicted}
    order = tuple(sorted(occurring)) if labels is None else tuple(labels)
    for unknown in sorted(occurring.difference(order)):
        raise DataError(f"{unknown!r} is none of the labels; {nearest(unknown, order)}")
    counts = Counter(zip(gold, predicted, strict=True))
    confusion = tuple(tuple(counts[row, column] for column in order) for row in order)
    return ClassScores(order, confusion, sentence_accuracy)
