"""``regard evaluate`` of a classifier: accuracy, F1, and each label by itself."""

from regard.cli.evaluations.arguments import EvaluateArguments
from regard.cli.evaluations.labels import tell
from regard.cli.progress import LinesDisplay
from regard.errors import ConfigError, DataError


def evaluate_classifier(arguments: EvaluateArguments) -> None:
    """Score a classifier on a file of labelled texts."""
    from regard.tasks.classify.predictor import Classifier
    from regard.tasks.labels import evaluate_classifier as run
    from regard.text import read_labelled

    classifier = Classifier.load(
        arguments.model, weights=arguments.weights, device=arguments.device, max_length=arguments.max_length
    )
    examples = list(
        read_labelled(
            arguments.source,
            num_texts=classifier.num_texts,
            columns=_columns(arguments, classifier.num_texts),
            separator=arguments.separator,
            header=arguments.header,
        )
    )
    if not examples:
        raise DataError(f"{arguments.source}: an empty test set; give at least one labelled text")
    with LinesDisplay("classifying", len(examples)) as display:
        evaluation = run(classifier, examples, listener=lambda one: display.count(sum(map(len, one.tokens))))
    tell(arguments, evaluation)


def _columns(arguments: EvaluateArguments, num_texts: int) -> tuple[int, ...] | None:
    """Where the label and each text stand."""
    if arguments.second_column is not None and num_texts == 1:
        raise ConfigError(
            f"--second-column {arguments.second_column}: {arguments.model} classifies one text at a time; leave it out"
        )
    if num_texts == 1:
        return arguments.columns
    if (arguments.columns is None) != (arguments.second_column is None):
        raise ConfigError(
            f"{arguments.model} classifies pairs: name the columns of label and first text with --columns, that of the "
            "second with --second-column, as --columns 1 2 --second-column 3, or leave out both"
        )
    if arguments.columns is None or arguments.second_column is None:
        return None
    return (*arguments.columns, arguments.second_column)
