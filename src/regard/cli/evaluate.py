"""``regard evaluate``: the scores of a model on a test set, as its task computes them."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.table import Table

from regard.cli.console import COLUMN_HELP, command_line, notes, print_json, results, score_table
from regard.cli.options import (
    ColumnPair,
    Device,
    Features,
    Gold,
    GoldFormat,
    Header,
    MaxLength,
    SecondColumn,
    Separator,
    Vertical,
    Weights,
    option_flags,
)
from regard.cli.progress import LinesDisplay
from regard.errors import ConfigError
from regard.search.options import DEFAULT_SEARCH, SearchOptions
from regard.tasks import TASKS

if TYPE_CHECKING:
    from regard.tasks.evaluation import ScoreTable


@option_flags(SearchOptions, "search", panel="Search", omit=("n_best",))
def evaluate(
    context: typer.Context,
    model: Annotated[Path, typer.Argument(help="A model folder.")],
    source: Annotated[
        Path,
        typer.Argument(
            help="The test file: source lines, words, features, labelled texts, plain text, or both sides in one file."
        ),
    ],
    reference: Annotated[
        Path | None,
        typer.Argument(help="The references (or the tags), line by line, if they are in a second file."),
    ] = None,
    columns: ColumnPair = None,
    features: Features = None,
    column: Annotated[str | None, typer.Option(help=COLUMN_HELP)] = None,
    second_column: SecondColumn = None,
    separator: Separator = "tab",
    header: Header = False,
    vertical: Vertical = False,
    continuous: Annotated[
        bool,
        typer.Option(
            "--continuous",
            help="Read the lines as one text: the language model's state is carried from line to line.",
        ),
    ] = False,
    gold: Gold = None,
    gold_format: GoldFormat = "",
    search: SearchOptions = DEFAULT_SEARCH,
    tokenize: Annotated[
        str,
        typer.Option(help="sacrebleu's tokenizer for BLEU: 13a, intl, char, zh, or none for tokenised text."),
    ] = "13a",
    lowercase: Annotated[bool, typer.Option("--lowercase", help="Ignore case.")] = False,
    any_reference: Annotated[
        bool,
        typer.Option(
            "--any-reference",
            help="Lines of one source are one example with several references; the nearest to the output counts.",
        ),
    ] = False,
    replace_unknowns: Annotated[
        bool,
        typer.Option(
            "--replace-unknowns",
            help="Replace each unknown word of the output by the source word with the most attention first.",
        ),
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Write report.json, the model's output, and an HTML page or a figure to this folder."
        ),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print all scores as JSON.")] = False,
    max_length: MaxLength = 1000,
    weights: Weights = "best",
    device: Device = "auto",
) -> None:
    """Score a model on a test set.

    Translators: BLEU, chrF and TER (sacrebleu, with its signature), exact
    match and error rates of the output, WER and PER first where a line is a
    word in phones or characters; perplexity, and with gold links the
    alignment error rate, of the references by forced decoding. Captioners: the
    same without alignments. Classifiers and taggers: accuracy, F1, the scores
    of each label, and with --out the confusion matrix. Language models:
    perplexity per token and per word, bits per character.

    [bold]Examples[/]

      regard evaluate model test.de test.en --gold test.links --out report

      regard evaluate model test.tsv --beam 10 --tokenize none --json

      regard evaluate tagger test.conllu --vertical --columns 2 4
    """
    from regard.checkpoint import ModelFolder
    from regard.tasks.evaluation import EvaluationOptions, ReportContext

    task = ModelFolder(model).task
    refuse_foreign_options(context, model, task)
    options = EvaluationOptions(
        model=model,
        source=source,
        reference=reference,
        columns=columns,
        features=features,
        column=column,
        second_column=second_column,
        separator=separator,
        header=header,
        vertical=vertical,
        continuous=continuous,
        gold=gold,
        gold_format=gold_format,
        search=search,
        tokenize=tokenize,
        lowercase=lowercase,
        max_length=max_length,
        weights=weights,
        device=device,
        any_reference=any_reference,
        replace_unknowns=replace_unknowns,
    )
    evaluation = TASKS[task].evaluate(options)
    with LinesDisplay(evaluation.doing, evaluation.size) as display:
        report = evaluation.run(display)
    for note in report.notes:
        notes.print(note, markup=False)
    if out is not None:
        command = command_line(context)
        written = report.write(out, ReportContext(options.title, command, facts={"command": command}))
        notes.print(", ".join(f"{what}: {path}" for what, path in written.items()), markup=False)
    if json:
        print_json(dict(report.json))
        return
    results.print(score_table(dict(report.scores)))
    for table in report.tables:
        results.print()
        results.print(table_of_scores(table))
    for name, signature in report.signatures.items():
        results.print(f"[dim]{name}: {signature}[/]")


def table_of_scores(scores: "ScoreTable") -> Table:
    """A table to print."""
    table = Table(box=None, pad_edge=False, title=scores.title, title_justify="left", title_style="bold")
    table.add_column(scores.columns[0], style="dim")
    for name in scores.columns[1:]:
        table.add_column(name, justify="right")
    for row in scores.rows:
        table.add_row(*map(escape, row))
    return table


def refuse_foreign_options(context: typer.Context, model: Path, task: str) -> None:
    """Raise where the model's task has no evaluation, or an option is given that belongs to another task."""
    purpose = TASKS[task].purpose
    if not TASKS[task].evaluation:
        known = ", ".join(spec.purpose for spec in TASKS.values() if spec.evaluation)
        raise ConfigError(
            f"{model}: a model for {purpose}, which `regard evaluate` does not score; name one for {known}"
        )
    options = {name: spec.evaluation_options for name, spec in TASKS.items()}
    foreign = frozenset().union(*options.values()) - options[task]
    for parameter in context.command.params:
        name = str(parameter.name)
        given = context.params.get(name)
        if name not in foreign or given is None or given == parameter.get_default(context):
            continue
        shown = parameter.opts[0] if parameter.param_type_name == "option" else f"a second file ({given})"
        owners = " or ".join(TASKS[other].purpose for other in options if name in options[other])
        raise ConfigError(
            f"{shown} applies to a model for {owners}, and {model} is one for {purpose}; leave it out"
        )
