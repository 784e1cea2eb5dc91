"""``regard evaluate`` of a language model: perplexity and bits per character of a text."""

from regard.cli.console import notes, print_json, results, score_table
from regard.cli.evaluations.arguments import Asked
from regard.cli.progress import LinesDisplay
from regard.errors import DataError


def evaluate_language_model(asked: Asked) -> None:
    """Score a language model on a text."""
    from regard.tasks.language_model.predictor import Writer
    from regard.tasks.language_model.result import TextScore
    from regard.text import read_lines

    writer = Writer.load(asked.model, weights=asked.weights, device=asked.device)
    mode = "continuous" if asked.continuous else "sentences"
    total = TextScore()
    with LinesDisplay("scoring") as display:
        for one in writer.score(read_lines([str(asked.source)]), mode=mode):
            total = total.with_line(one)
            display(one)
    if not total.num_tokens:
        raise DataError(f"{asked.source}: an empty test set; give at least one line of text")
    if total.unknown:
        notes.print(
            f"{total.unknown} to {asked.model}, and each is read as the one unknown word",
            markup=False,
        )
    if asked.out is not None:
        from regard.io import make_folder
        from regard.tasks.translate.evaluation import write_json

        make_folder(asked.out)
        write_json(asked.out, {**total.to_json(), "mode": mode, "command": asked.command})
        notes.print(f"report: {asked.out / 'report.json'}", markup=False)
    if asked.json:
        print_json(total.to_json())
        return
    results.print(score_table(total.to_json()))
