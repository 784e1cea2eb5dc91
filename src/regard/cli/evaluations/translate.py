"""``regard evaluate`` of a translator: a test set's scores, as a whole and by sentence length."""

from collections.abc import Mapping

from rich.table import Table

from regard.cli.console import no_attention, notes, print_json, results, score_table
from regard.cli.evaluations.arguments import EvaluateArguments
from regard.cli.progress import LinesDisplay
from regard.errors import DataError
from regard.evaluation.metrics import format_score


def evaluate_translator(arguments: EvaluateArguments) -> None:
    """Score a translator on pairs of lines."""
    from regard.tasks.translate.evaluation import evaluate as run
    from regard.tasks.translate.evaluation import write_evaluation
    from regard.tasks.translate.predictor import Translator
    from regard.text import read_gold_links, read_pairs

    pairs = list(read_pairs(arguments.source, arguments.reference, columns=arguments.columns))
    if not pairs:
        raise DataError(f"{arguments.source}: an empty test set; give at least one pair")
    links = None
    if arguments.gold is not None:
        links = read_gold_links(arguments.gold, [(pair.source, pair.target) for pair in pairs])
    translator = Translator.load(
        arguments.model, weights=arguments.weights, device=arguments.device, max_length=arguments.max_length
    )
    if links is not None and not translator.attends:
        raise no_attention(arguments.model)
    with LinesDisplay("translating", len(pairs)) as display:
        evaluation = run(
            translator,
            [pair.source for pair in pairs],
            [pair.target for pair in pairs],
            links,
            beam=arguments.beam,
            length_power=arguments.length_power,
            tokenize=arguments.tokenize,
            lowercase=arguments.lowercase,
            listener=display,
        )
    if arguments.out is not None:
        page = write_evaluation(
            arguments.out,
            evaluation,
            [pair.target for pair in pairs],
            links,
            translator=translator,
            title=arguments.title,
            subtitle=f"{len(pairs):,} sentences, beam {arguments.beam}",
            command=arguments.command,
        )
        notes.print(f"report: {page}", markup=False)
    if arguments.json:
        print_json(evaluation.to_json())
        return
    results.print(score_table(evaluation.scores()))
    results.print()
    results.print(by_length_table({band.name: band.scores() for band in evaluation.bands}))
    for name, signature in evaluation.quality.signatures.items():
        results.print(f"[dim]{name}: {signature}[/]")


def by_length_table(bands: Mapping[str, Mapping[str, float]]) -> Table:
    """The bands of source length as a table."""
    columns = list(dict.fromkeys(name for scores in bands.values() for name in scores))
    table = Table(
        box=None, pad_edge=False, title="by source length in words", title_justify="left", title_style="bold"
    )
    table.add_column("words", style="dim")
    for name in columns:
        table.add_column(name.replace("num_", ""), justify="right")
    for lengths, scores in bands.items():
        table.add_row(lengths, *[format_score(name, scores.get(name)) for name in columns])
    return table
