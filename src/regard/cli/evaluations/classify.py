"""``regard evaluate`` of a classifier: accuracy, F1, and each label by itself."""

from regard.cli.evaluations.arguments import Asked
from regard.cli.evaluations.labels import tell
from regard.cli.progress import LinesDisplay
from regard.errors import ConfigError, DataError


def evaluate_classifier(asked: Asked) -> None:
    """Score a classifier on a file of labelled texts."""
    from regard.tasks.classify.predictor import TextClassifier
    from regard.tasks.labels import evaluate_classifier as run
    from regard.text import read_labelled

    classifier = TextClassifier.load(
        asked.model, weights=asked.weights, device=asked.device, max_length=asked.max_length
    )
    examples = list(
        read_labelled(
            asked.source,
            num_texts=classifier.num_texts,
            columns=_columns(asked, classifier.num_texts),
            separator=asked.separator,
            header=asked.header,
        )
    )
    if not examples:
        raise DataError(f"{asked.source}: an empty test set; give at least one labelled text")
    with LinesDisplay("classifying", len(examples)) as display:
        evaluation = run(classifier, examples, listener=lambda one: display.count(sum(map(len, one.tokens))))
    tell(asked, evaluation)


def _columns(asked: Asked, num_texts: int) -> tuple[int, ...] | None:
    """Where the label and each text stand."""
    if asked.second_column is not None and num_texts == 1:
        raise ConfigError(
            f"--second-column {asked.second_column}: {asked.model} classifies one text at a time; leave it out"
        )
    if num_texts == 1:
        return asked.columns
    if (asked.columns is None) != (asked.second_column is None):
        raise ConfigError(
            f"{asked.model} classifies pairs: name the columns of label and first text with --columns and that of the "
            "second with --second-column, as --columns 1 2 --second-column 3, or leave out both"
        )
    if asked.columns is None or asked.second_column is None:
        return None
    return (*asked.columns, asked.second_column)
