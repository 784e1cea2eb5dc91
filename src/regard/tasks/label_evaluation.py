"""The evaluation of predicted labels, one per text or one per word: scores, tables, files.

In: what a classifier or a tagger predicted, and the correct labels. Out: a `LabelEvaluation`, whose numbers are those
printed and those of ``report.json``; a folder with ``report.json``, ``predictions.txt`` and ``confusion.png``.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from regard.evaluation import ClassScores
from regard.evaluation.metrics import label_scores
from regard.plots import draw_confusion, save
from regard.tasks.comparison import Kind, Outputs
from regard.tasks.evaluation import (
    DemoView,
    EvaluationReport,
    EvaluationRun,
    ProgressCounter,
    ReportContext,
    ScoreTable,
    write_lines,
    write_report_json,
)

if TYPE_CHECKING:
    from rich.console import RenderableType

Prediction = TypeVar("Prediction")

NUM_SHOWN = 6
"""Examples that a demonstration shows."""


@dataclass(frozen=True)
class LabelEvaluation:
    """The scores of one test set.

    Attributes:
        classes: accuracy, F1, the scores of each label, and the confusion matrix.
        predictions: the model's output per text: a `Classification` or a `Tagging`.
        seconds: how long the model took.
    """

    classes: ClassScores
    predictions: tuple[Any, ...]
    seconds: float

    def scores(self) -> dict[str, float | int]:
        """The main scores by key, in the order they are printed."""
        num_sentences = len(self.predictions)
        return {
            **label_scores(self.classes),
            "num_labels_scored": self.classes.num_scored,
            "num_sentences": num_sentences,
            "sentences_per_second": num_sentences / self.seconds,
        }

    def to_json(self) -> dict[str, Any]:
        """All scores as a JSON object."""
        return {**self.classes.to_json(), **self.scores()}

    def table(self) -> ScoreTable:
        """The scores of each label."""
        rows = []
        for label, scores in self.classes.classes.items():
            shares = [
                f"{100 * value:.1f}\N{NO-BREAK SPACE}%"
                for value in (scores.precision, scores.recall, scores.f1)
            ]
            rows.append((label, *shares, f"{scores.support:,}", f"{scores.num_predicted:,}"))
        columns = ("label", "precision", "recall", "f1", "support", "predicted")
        return ScoreTable("by label", columns, tuple(rows))

    def write(self, folder: Path, context: ReportContext) -> dict[str, Path]:
        """Write scores, predictions and the confusion matrix.

        Raises:
            DataError: the folder cannot be written.
            MissingExtraError: matplotlib is not installed; all but the picture is written.
        """
        report = write_report_json(folder, context.report(self.to_json()))
        write_lines(folder / "predictions.txt", list(map(str, self.predictions)))
        picture = folder / "confusion.png"
        save(draw_confusion(self.classes, title=context.title), picture)
        return {"report": report, "confusion matrix": picture}

    def report(self) -> EvaluationReport:
        """The evaluation as the command line prints and writes it."""
        return EvaluationReport(self, self.scores(), self.to_json(), self.write, tables=(self.table(),))


def evaluate_labels(
    predictions: Iterable[Prediction],
    score: Callable[[Sequence[Prediction]], ClassScores],
    listener: Callable[[Prediction], None],
) -> LabelEvaluation:
    """Time the predictions of a test set and score them.

    Args:
        predictions: made as they are read.
        score: compares all of them with the correct labels.
        listener: is given each prediction as it is made.
    """
    started = time.perf_counter()
    made = []
    for prediction in predictions:
        made.append(prediction)
        listener(prediction)
    seconds = time.perf_counter() - started
    return LabelEvaluation(score(made), tuple(made), seconds)


def label_run(
    doing: str,
    sources: Sequence[str],
    references: Sequence[str],
    kind: Kind,
    num_tokens: Callable[[Any], int],
    evaluate: Callable[[Callable[[Any], None]], LabelEvaluation],
) -> EvaluationRun:
    """An evaluation for the command line.

    Args:
        doing: for the progress bar.
        sources: what is labelled, one line per example.
        references: the correct labels of each.
        kind: whether an example has one label, or one tag per word.
        num_tokens: of a prediction.
        evaluate: a listener → the evaluation.
    """

    def run(counter: ProgressCounter) -> EvaluationReport:
        evaluation = evaluate(lambda prediction: counter.count(num_tokens(prediction)))
        outputs = [
            prediction.label if kind == "label" else " ".join(prediction.tags)
            for prediction in evaluation.predictions
        ]
        return replace(
            evaluation.report(),
            outputs=lambda: Outputs(kind, sources, references, outputs, evaluation.scores()),
        )

    return EvaluationRun(doing, len(references), run)


def label_view(shown: "Sequence[RenderableType]", command: str, picture: Path) -> DemoView:
    """What a demonstration of labels shows."""
    return DemoView(("accuracy",), shown, (command,), picture, hidden=frozenset({"num_labels_scored"}))
