"""``regard evaluate`` of a describer: a file of features, and what should be said of each row."""

from regard.cli.console import notes, print_json, results, score_table
from regard.cli.evaluations.arguments import Asked
from regard.cli.progress import LinesDisplay
from regard.errors import ConfigError, DataError


def evaluate_describer(asked: Asked) -> None:
    """Score a describer on features and the text that describes them."""
    from regard.tasks.caption.evaluation import evaluate_descriptions
    from regard.tasks.caption.predictor import Captioner
    from regard.text import read_features
    from regard.text.formats import read_file

    if asked.reference is None:
        raise ConfigError(
            f"{asked.model} describes feature vectors: name their file and then that of the references, as "
            f"`regard evaluate {asked.model} {asked.source} references.txt`"
        )
    captioner = Captioner.load(asked.model, weights=asked.weights, device=asked.device)
    features = read_features(asked.source, column=asked.column, size=captioner.feature_size)
    references = list(read_file(asked.reference))
    if len(features) != len(references):
        raise DataError(
            f"{asked.source} has {len(features)} rows and {asked.reference} has {len(references)} lines; give one "
            "line for each row"
        )
    with LinesDisplay("describing", len(features)) as display:
        evaluation = evaluate_descriptions(
            captioner,
            features,
            references,
            beam=asked.beam,
            length_power=asked.length_power,
            tokenize=asked.tokenize,
            lowercase=asked.lowercase,
            listener=display,
        )
    if asked.out is not None:
        from regard.tasks.caption.evaluation import write_description_evaluation

        write_description_evaluation(asked.out, evaluation, facts={"command": asked.command})
        notes.print(f"report: {asked.out / 'report.json'}", markup=False)
    if asked.json:
        print_json(evaluation.to_json())
        return
    results.print(score_table(evaluation.scores()))
    for name, signature in evaluation.quality.signatures.items():
        results.print(f"[dim]{name}: {signature}[/]")
