"""``regard evaluate`` of a describer: a file of features, and what should be said of each row."""

from regard.cli.console import notes, print_json, results, score_table
from regard.cli.evaluations.arguments import EvaluateArguments
from regard.cli.progress import LinesDisplay
from regard.errors import ConfigError, DataError


def evaluate_captioner(arguments: EvaluateArguments) -> None:
    """Score a describer on features and the text that describes them."""
    from regard.tasks.caption.evaluation import evaluate_captions
    from regard.tasks.caption.predictor import Captioner
    from regard.text import read_features
    from regard.text.formats import read_file

    if arguments.reference is None:
        raise ConfigError(
            f"{arguments.model} describes feature vectors: name their file, then the references, as "
            f"`regard evaluate {arguments.model} {arguments.source} references.txt`"
        )
    captioner = Captioner.load(arguments.model, weights=arguments.weights, device=arguments.device)
    features = read_features(arguments.source, column=arguments.column, size=captioner.feature_size)
    references = list(read_file(arguments.reference))
    if len(features) != len(references):
        raise DataError(
            f"{arguments.source} has {len(features)} rows and {arguments.reference} has {len(references)} lines; give "
            "one line for each row"
        )
    with LinesDisplay("describing", len(features)) as display:
        evaluation = evaluate_captions(
            captioner,
            features,
            references,
            beam=arguments.beam,
            length_power=arguments.length_power,
            tokenize=arguments.tokenize,
            lowercase=arguments.lowercase,
            listener=display,
        )
    if arguments.out is not None:
        from regard.tasks.caption.evaluation import write_caption_evaluation

        write_caption_evaluation(arguments.out, evaluation, facts={"command": arguments.command})
        notes.print(f"report: {arguments.out / 'report.json'}", markup=False)
    if arguments.json:
        print_json(evaluation.to_json())
        return
    results.print(score_table(evaluation.scores()))
    for name, signature in evaluation.quality.signatures.items():
        results.print(f"[dim]{name}: {signature}[/]")
