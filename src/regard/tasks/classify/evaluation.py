"""The evaluation of a classifier: on texts, on files for ``regard evaluate``, on datasets for ``regard demo``."""

import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from regard.errors import ConfigError, DataError
from regard.evaluation import score_classes
from regard.tasks.classify.predictor import Classifier
from regard.tasks.classify.result import Classification
from regard.tasks.evaluation import (
    CHUNK,
    DemoRun,
    DemoView,
    EvaluationOptions,
    EvaluationRun,
    show_answer,
    write_lines,
)
from regard.tasks.label_evaluation import NUM_SHOWN, LabelEvaluation, evaluate_labels, label_run, label_view
from regard.text import LabelledText, read_labelled
from regard.text.formats.layout import Column

if TYPE_CHECKING:
    from rich.console import RenderableType

    from regard.datasets import Example


def evaluate_classifier(
    classifier: Classifier,
    examples: Sequence[LabelledText],
    *,
    listener: Callable[[Classification], None] = lambda classification: None,
) -> LabelEvaluation:
    """Classify a test set and score it.

    Args:
        classifier: the model.
        examples: at least one; none of their texts is blank.
        listener: is given each classification as it is made.

    Raises:
        DataError: there is none, a label is unknown to the model, or a text is too long.
    """
    if not examples:
        raise DataError("cannot score an empty test set; give at least one labelled text")
    for example in examples:
        classifier.labels.id_of(example.label, example.place)
    gold = [example.label for example in examples]
    return evaluate_labels(
        classifier.classify_stream((example.texts for example in examples), chunk=CHUNK),
        lambda made: score_classes(gold, [one.label for one in made], classifier.labels.names),
        listener,
    )


def evaluate_files(options: EvaluationOptions) -> EvaluationRun:
    """A classifier and a file of labelled texts."""
    classifier = Classifier.load(
        options.model, weights=options.weights, device=options.device, max_length=options.max_length
    )
    examples = list(
        read_labelled(
            options.source,
            num_texts=classifier.num_texts,
            columns=_columns(options, classifier.num_texts),
            separator=options.separator,
            header=options.header,
        )
    )
    if not examples:
        raise DataError(f"{options.source}: an empty test set; give at least one labelled text")
    return _run(classifier, examples)


def _run(classifier: Classifier, examples: Sequence[LabelledText]) -> EvaluationRun:
    return label_run(
        "classifying",
        [" / ".join(example.texts) for example in examples],
        [example.label for example in examples],
        "label",
        lambda classification: sum(map(len, classification.tokens)),
        lambda listener: evaluate_classifier(classifier, examples, listener=listener),
    )


def _columns(options: EvaluationOptions, num_texts: int) -> tuple[Column, ...] | None:
    """The columns of the label and of each text."""
    if options.second_column is not None and num_texts == 1:
        raise ConfigError(
            f"--second-column {options.second_column}: {options.model} classifies one text at a time; leave it out"
        )
    if num_texts == 1:
        return options.columns
    if (options.columns is None) != (options.second_column is None):
        raise ConfigError(
            f"{options.model} classifies pairs: name the columns of label and first text with --columns, that of the "
            "second with --second-column, as --columns 1 2 --second-column 3, or leave out both"
        )
    if options.columns is None or options.second_column is None:
        return None
    return (*options.columns, options.second_column)


def write_examples(stem: Path, examples: "Sequence[Example]") -> list[str]:
    """Write label and text, tab-separated."""
    lines = [f"{example.target}\t{example.source}" for example in examples]
    return [write_lines(stem.with_suffix(".tsv"), lines)]


def evaluate_examples(classifier: Classifier, examples: "Sequence[Example]", demo: DemoRun) -> EvaluationRun:
    """A classifier and generated texts."""
    return _run(classifier, [LabelledText(example.target, (example.source,)) for example in examples])


def show_demo(classifier: Classifier, evaluation: LabelEvaluation, demo: DemoRun) -> DemoView:
    """Some test texts with their pooling weights."""
    from rich.padding import Padding
    from rich.text import Text

    from regard.plots import draw_pooling, save
    from regard.plots.terminal.words import TerminalPooling

    classifications: list[Classification] = list(evaluation.predictions[:NUM_SHOWN])
    shown: list[RenderableType] = [
        Text("\npooling weights\n" if classifier.attends else "\nexamples\n", style="bold")
    ]
    for classification, example in zip(classifications, demo.splits.test, strict=False):
        if classification.alpha is not None:
            shown.append(Padding(TerminalPooling([classification]), (0, 0, 0, 2), expand=False))
        else:
            shown.append(Text(f"  {example.source}", style="dim"))
        shown += [show_answer(classification.label, example.target), Text("")]
    picture = demo.folder / "confusion.png"
    if classifier.attends:
        picture = demo.folder / "weights.png"
        save(draw_pooling(classifications, title=demo.title), picture)
    sentence = shlex.quote(demo.splits.test[0].source)
    return label_view(shown, f"echo {sentence} | {{regard}} classify {{folder}} --show", picture)
