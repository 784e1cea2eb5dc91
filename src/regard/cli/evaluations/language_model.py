"""``regard evaluate`` of a language model: perplexity and bits per character of a text."""

from regard.cli.console import notes, print_json, results, score_table
from regard.cli.evaluations.arguments import EvaluateArguments
from regard.cli.progress import LinesDisplay
from regard.errors import DataError


def evaluate_language_model(arguments: EvaluateArguments) -> None:
    """Score a language model on a text."""
    from regard.tasks.language_model.predictor import LanguageModel
    from regard.tasks.language_model.result import TextScore
    from regard.text import read_lines

    language_model = LanguageModel.load(arguments.model, weights=arguments.weights, device=arguments.device)
    mode = "continuous" if arguments.continuous else "sentences"
    total = TextScore()
    with LinesDisplay("scoring") as display:
        for one in language_model.score(read_lines([str(arguments.source)]), mode=mode):
            total = total.with_line(one)
            display(one)
    if not total.num_tokens:
        raise DataError(f"{arguments.source}: an empty test set; give at least one line of text")
    if total.unknown:
        notes.print(
            f"{total.unknown} to {arguments.model}, and each is read as the one unknown word",
            markup=False,
        )
    if arguments.out is not None:
        from regard.io import make_folder
        from regard.tasks.translate.evaluation import write_json

        make_folder(arguments.out)
        write_json(arguments.out, {**total.to_json(), "mode": mode, "command": arguments.command})
        notes.print(f"report: {arguments.out / 'report.json'}", markup=False)
    if arguments.json:
        print_json(total.to_json())
        return
    results.print(score_table(total.to_json()))
