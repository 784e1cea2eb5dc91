"""``regard evaluate`` of a tagger: accuracy of words and of sentences, and each tag by itself."""

from regard.cli.evaluations.arguments import EvaluateArguments
from regard.cli.evaluations.labels import tell
from regard.cli.progress import LinesDisplay
from regard.errors import ConfigError, DataError


def evaluate_tagger(arguments: EvaluateArguments) -> None:
    """Score a tagger on tagged sentences."""
    from regard.tasks.labels import evaluate_tagger as run
    from regard.tasks.tag.predictor import Tagger
    from regard.text import read_tagged, read_vertical

    if arguments.vertical and arguments.reference is not None:
        raise ConfigError(
            f"--vertical: words and tags stand in one file; leave out {arguments.reference}, or --vertical"
        )
    tagger = Tagger.load(
        arguments.model, weights=arguments.weights, device=arguments.device, max_length=arguments.max_length
    )
    if arguments.vertical:
        sentences = list(read_vertical(arguments.source, columns=arguments.columns))
    else:
        sentences = list(read_tagged(arguments.source, arguments.reference, columns=arguments.columns))
    if not sentences:
        raise DataError(f"{arguments.source}: an empty test set; give at least one tagged sentence")
    with LinesDisplay("tagging", len(sentences)) as display:
        evaluation = run(tagger, sentences, listener=lambda one: display.count(len(one.words)))
    tell(arguments, evaluation)
