"""How good labels are: of texts, or of the words of sentences.

In: gold and predicted labels. Out: `ClassScores`: accuracy, F1, precision and recall of each class, the confusion
matrix. Knows nothing of models or of how the labels were found.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from regard.errors import DataError, nearest
from regard.evaluation.text import check_parallel


@dataclass(frozen=True)
class ClassScore:
    """The scores of one class.

    Attributes:
        precision: of what was given this label, the fraction that is right; 0 where nothing was.
        recall: of what has this label, the fraction that was given it; 0 where nothing has.
        f1: their harmonic mean; 0 where both are.
        support: how many have this label.
        num_predicted: how many were given it.
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
        confusion: how often each gold label, a row, was given each label, a column.
        sentence_accuracy: the fraction of sentences with every label right; None where labels are of whole texts.
    """

    labels: tuple[str, ...]
    confusion: tuple[tuple[int, ...], ...]
    sentence_accuracy: float | None = None

    @property
    def num_scored(self) -> int:
        """How many labels were scored."""
        return sum(map(sum, self.confusion))

    @property
    def accuracy(self) -> float:
        """The fraction of labels that are right."""
        return sum(self.confusion[k][k] for k in range(len(self.labels))) / self.num_scored

    @cached_property
    def classes(self) -> dict[str, ClassScore]:
        """The scores of each class, in the order of `labels`."""
        scores = {}
        for k, label in enumerate(self.labels):
            right, support = self.confusion[k][k], sum(self.confusion[k])
            predicted = sum(row[k] for row in self.confusion)
            scores[label] = ClassScore(
                precision=right / predicted if predicted else 0.0,
                recall=right / support if support else 0.0,
                f1=2 * right / (support + predicted) if support + predicted else 0.0,
                support=support,
                num_predicted=predicted,
            )
        return scores

    @property
    def macro_f1(self) -> float:
        """The mean F1 over the classes that were met, in the gold labels or in the predicted ones."""
        met = [one.f1 for one in self.classes.values() if one.support or one.num_predicted]
        return sum(met) / len(met)

    def to_json(self) -> dict[str, Any]:
        """Give everything as a JSON object."""
        classes = {
            label: {
                "precision": one.precision,
                "recall": one.recall,
                "f1": one.f1,
                "support": one.support,
                "num_predicted": one.num_predicted,
            }
            for label, one in self.classes.items()
        }
        confusion = list(map(list, self.confusion))
        return {"labels": list(self.labels), "classes": classes, "confusion": confusion}


def score_classes(
    gold: Sequence[str], predicted: Sequence[str], labels: Sequence[str] | None = None
) -> ClassScores:
    """Score the labels of texts.

    Args:
        gold: what they should be, one a text.
        predicted: what they were found to be, in the same order.
        labels: the classes, in their order; by default all that are met, by name.

    Raises:
        DataError: no labels, not as many of one as of the other, or one that is not among `labels`.
    """
    check_parallel(gold=gold, predicted=predicted)
    return _counted(gold, predicted, labels, None)


def score_tags(
    gold: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]], labels: Sequence[str] | None = None
) -> ClassScores:
    """Score the tags of words, sentence by sentence.

    Args:
        gold: for each sentence the tags of its words.
        predicted: the tags found, in the same order.
        labels: the tags, in their order; by default all that are met, by name.

    Raises:
        DataError: no sentences or no words, not as many of one as of the other, or a tag that is not among `labels`.
    """
    if len(gold) != len(predicted):
        raise DataError(f"cannot score {len(predicted)} tagged sentences against {len(gold)}; give one each")
    for number, (wanted, found) in enumerate(zip(gold, predicted, strict=True)):
        if len(wanted) != len(found):
            raise DataError(
                f"sentence {number}: {len(found)} predicted tags for {len(wanted)} gold ones; give one a word"
            )
    flat = [tag for tags in gold for tag in tags], [tag for tags in predicted for tag in tags]
    check_parallel(gold=flat[0], predicted=flat[1])
    right = sum(list(wanted) == list(found) for wanted, found in zip(gold, predicted, strict=True))
    return _counted(*flat, labels, right / len(gold))


def _counted(
    gold: Sequence[str],
    predicted: Sequence[str],
    labels: Sequence[str] | None,
    sentence_accuracy: float | None,
) -> ClassScores:
    met = {*gold, *predicted}
    order = tuple(sorted(met)) if labels is None else tuple(labels)
    for unknown in sorted(met.difference(order)):
        raise DataError(f"{unknown!r} is none of the labels; {nearest(unknown, order)}")
    counts = Counter(zip(gold, predicted, strict=True))
    confusion = tuple(tuple(counts[row, column] for column in order) for row in order)
    return ClassScores(order, confusion, sentence_accuracy)
