"""``regard evaluate`` of a tagger: accuracy of words and of sentences, and each tag by itself."""

from regard.cli.evaluations.arguments import Asked
from regard.cli.evaluations.labels import tell
from regard.cli.progress import LinesDisplay
from regard.errors import ConfigError, DataError


def evaluate_tagger(asked: Asked) -> None:
    """Score a tagger on tagged sentences."""
    from regard.tasks.labels import evaluate_tagger as run
    from regard.tasks.tag.predictor import TextTagger
    from regard.text import read_tagged, read_vertical

    if asked.vertical and asked.reference is not None:
        raise ConfigError(
            f"--vertical: words and tags stand in one file; leave out {asked.reference}, or --vertical"
        )
    tagger = TextTagger.load(
        asked.model, weights=asked.weights, device=asked.device, max_length=asked.max_length
    )
    if asked.vertical:
        sentences = list(read_vertical(asked.source, columns=asked.columns))
    else:
        sentences = list(read_tagged(asked.source, asked.reference, columns=asked.columns))
    if not sentences:
        raise DataError(f"{asked.source}: an empty test set; give at least one tagged sentence")
    with LinesDisplay("tagging", len(sentences)) as display:
        evaluation = run(tagger, sentences, listener=lambda one: display.count(len(one.words)))
    tell(asked, evaluation)
