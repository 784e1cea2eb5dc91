"""``regard compare``: two models, or two files of outputs, on one test set, and whether their difference is chance."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

from regard.cli import options as shared
from regard.cli.console import command_line, notes, print_json, results
from regard.cli.evaluate import refuse_foreign_options
from regard.cli.progress import LinesDisplay
from regard.config import in_range
from regard.errors import ConfigError, DataError
from regard.search.options import DEFAULT_SEARCH, SearchOptions
from regard.tasks import TASKS
from regard.terminal import wrap_line

if TYPE_CHECKING:
    from regard.tasks.comparison import Comparison, Outputs
    from regard.tasks.evaluation import EvaluationOptions

_MOST = 100_000  # a number is kept for each sentence of each resample


@shared.option_flags(SearchOptions, "search", panel="Search", omit=("n_best",))
def compare(
    context: typer.Context,
    first: Annotated[
        Path, typer.Argument(metavar="A", help="A model folder, or a file of outputs, one line per sentence.")
    ],
    second: Annotated[Path, typer.Argument(metavar="B", help="Another one.")],
    source: Annotated[
        Path,
        typer.Argument(
            help="The test file, as for regard evaluate; with two files of outputs, the references suffice."
        ),
    ],
    reference: Annotated[
        Path | None, typer.Argument(help="The references, or the tags of the words, line by line.")
    ] = None,
    columns: shared.ColumnPair = None,
    features: shared.Features = None,
    second_column: shared.SecondColumn = None,
    separator: shared.Separator = "tab",
    header: shared.Header = False,
    vertical: shared.Vertical = False,
    gold: shared.Gold = None,
    gold_format: shared.GoldFormat = "",
    search: SearchOptions = DEFAULT_SEARCH,
    tokenize: Annotated[
        str, typer.Option(help="BLEU's tokenizer: 13a, intl, char, zh, or none for tokenised text.")
    ] = "13a",
    lowercase: Annotated[bool, typer.Option("--lowercase", help="Ignore case.")] = False,
    resamples: Annotated[int, typer.Option(help="Test sets that the paired bootstrap samples.")] = 1_000,
    shuffles: Annotated[int, typer.Option(help="Shuffles of approximate randomisation.")] = 10_000,
    differences: Annotated[
        int, typer.Option(help="Show this number of sentences, those that differ most.")
    ] = 5,
    out: Annotated[
        Path | None, typer.Option(help="Write report.json, both outputs, and a page here.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
    max_length: shared.MaxLength = 1000,
    weights: shared.Weights = "best",
    device: shared.Device = "auto",
) -> None:
    """Compare two models, or two files of outputs, on one test set.

    Prints the scores side by side; for those of the output the 95 %
    confidence interval, and the p-values of paired bootstrap resampling
    (Koehn 2004) and approximate randomisation (Riezler & Maxwell 2005); for
    classifiers McNemar's test too. Then the sentences that differ most, with
    what is not in the reference marked, and the links of both.

    [bold]Examples[/]

      regard compare small large test.de test.en

      regard compare small large test.tsv --beam 10 --out comparison

      regard compare model theirs.txt test.tsv --json

      regard compare ours.txt theirs.txt references.txt
    """
    from regard.tasks.comparison import compare as compare_outputs
    from regard.tasks.evaluation import EvaluationOptions

    in_range("--resamples", resamples, 40, _MOST)
    in_range("--shuffles", shuffles, 1, _MOST)
    in_range("--differences", differences, 0)
    options = [
        EvaluationOptions(
            model=system,
            source=source,
            reference=reference,
            columns=columns,
            features=features,
            column=None,
            second_column=second_column,
            separator=separator,
            header=header,
            vertical=vertical,
            continuous=False,
            gold=gold,
            gold_format=gold_format,
            search=search,
            tokenize=tokenize,
            lowercase=lowercase,
            max_length=max_length,
            weights=weights,
            device=device,
        )
        for system in (first, second)
    ]
    systems = _run(context, options)
    comparison = compare_outputs(
        (str(first), str(second)), *systems, num_resamples=resamples, num_shuffles=shuffles
    )
    if out is not None:
        page = comparison.write(out, command_line(context), max(differences, 1))
        notes.print(f"report: {page}", markup=False)
    if json:
        print_json(comparison.to_json(differences))
        return
    _print(comparison, differences)


def _run(context: typer.Context, options: "Sequence[EvaluationOptions]") -> "tuple[Outputs, Outputs]":
    """The outputs of both systems: models first, since they know what their outputs consist of."""
    folders = [each.model.is_dir() for each in options]
    for each, is_folder in zip(options, folders, strict=True):
        if not is_folder and not each.model.exists():
            raise DataError(f"{each.model}: neither a model folder nor a file of outputs; check the name")
    tasks = {
        each.model: _task(context, each.model)
        for each, folder in zip(options, folders, strict=True)
        if folder
    }
    if len(set(tasks.values())) > 1:
        (one, its_task), (other, other_task) = tasks.items()
        raise ConfigError(
            f"{one} is a model for {TASKS[its_task].purpose} and {other} one for {TASKS[other_task].purpose}; "
            "compare models of one task"
        )
    outputs: dict[int, Outputs] = {}
    for k in sorted(range(2), key=lambda k: not folders[k]):
        if folders[k]:
            outputs[k] = _run_model(options[k], tasks[options[k].model])
        else:
            outputs[k] = _read_file(options[k], next(iter(outputs.values()), None))
    return outputs[0], outputs[1]


def _task(context: typer.Context, model: Path) -> str:
    """The task of a model whose outputs can be compared."""
    from regard.checkpoint import ModelFolder

    task = ModelFolder(model).task
    refuse_foreign_options(context, model, task)
    return task


def _run_model(options: "EvaluationOptions", task: str) -> "Outputs":
    evaluation = TASKS[task].evaluate(options)
    with LinesDisplay(f"{evaluation.doing} with {options.model}", evaluation.size) as display:
        report = evaluation.run(display)
    if report.outputs is None:
        raise ConfigError(
            f"{options.model}: a model for {TASKS[task].purpose}, which has no outputs to compare; compare its scores "
            "with `regard evaluate`"
        )
    for note in report.notes:
        notes.print(note, markup=False)
    return report.outputs()


def _read_file(options: "EvaluationOptions", other: "Outputs | None") -> "Outputs":
    """A file of outputs, compared in the way of the other system where that is a model."""
    from regard.evaluation.text import TextOptions
    from regard.tasks.comparison import read_outputs
    from regard.tasks.generation import unit_of_lines
    from regard.text.formats import read_file

    if other is not None:
        if other.kind != "text":
            raise ConfigError(
                f"{options.model}: a file of outputs is compared as text, and the other system predicts labels; name "
                "two model folders"
            )
        sources, references, text = other.sources, other.references, other.text
    else:
        sources, references = _read_test_set(options)
        text = TextOptions(options.tokenize, options.lowercase, unit_of_lines(references))
    return read_outputs(options.model, list(read_file(options.model)), sources, references, text)


def _read_test_set(options: "EvaluationOptions") -> tuple[list[str], list[str]]:
    """Sources and references; of one file without tabs, references only."""
    from itertools import islice

    from regard.text import read_pairs
    from regard.text.formats import read_file

    if options.gold is not None:
        raise ConfigError(f"--gold {options.gold}: files of outputs have no alignments; leave it out")
    one_file = options.reference is None and options.columns is None
    if one_file and not any("\t" in line for line in islice(read_file(options.source), 1)):
        references = list(read_file(options.source))
        return [""] * len(references), references
    pairs = list(read_pairs(options.source, options.reference, columns=options.columns))
    if not pairs:
        raise DataError(f"{options.source}: an empty test set; give at least one pair")
    return [pair.source for pair in pairs], [pair.target for pair in pairs]


def _print(comparison: "Comparison", num_differences: int) -> None:
    from regard.plots.page.comparison import format_p_value, score_rows
    from regard.tasks.comparison import explain_tests

    for letter, name in zip("AB", comparison.names, strict=True):
        results.print(f"{letter}  {name}", markup=False)
    table = Table(
        box=None,
        pad_edge=False,
        title=f"\n{comparison.num_sentences:,} sentences",
        title_justify="left",
        title_style="bold",
    )
    table.add_column("", style="dim", no_wrap=True)
    for name in ("A", "B", "B \N{MINUS SIGN} A"):
        table.add_column(name, justify="right", no_wrap=True)
    for name in ("p,\nbootstrap", "p,\nshuffles"):
        table.add_column(name, justify="right")
    table.add_column("", style="bold", no_wrap=True)
    first, second = comparison.systems
    scores = {key: (first.scores[key], second.scores[key]) for key in comparison.keys}
    for row in score_rows(scores, comparison.tests):  # type: ignore[arg-type]  # keys have both
        table.add_row(*row)
    results.print(table)
    if comparison.mcnemar is not None:
        results.print(f"McNemar's test: p = {format_p_value(comparison.mcnemar)}")
    explained = explain_tests(comparison.num_resamples, comparison.num_shuffles)
    results.print(wrap_line(results, explained), style="dim", markup=False)
    for name, signature in (first.signatures or second.signatures).items():
        results.print(f"{name}: {signature}", style="dim", markup=False)
    shown = comparison.differences[:num_differences]
    count = f"{len(comparison.differences):,} of {comparison.num_sentences:,} outputs differ"
    if not shown:
        results.print(f"\n{count}", markup=False)
        return
    results.print(f"\n{count}; those whose {comparison.difference_score} differs most:", markup=False)
    for each in shown:
        results.print(
            f"\n{each.index + 1:,}  {comparison.difference_score} {each.scores[0]:.1f} → {each.scores[1]:.1f}",
            style="bold",
            markup=False,
        )
        if first.sources[each.index]:
            results.print(f"  source     {first.sources[each.index]}", style="dim", markup=False)
        results.print(f"  reference  {first.references[each.index]}", style="dim", markup=False)
        for letter, pieces in zip("AB", comparison.marked(each.index), strict=True):
            results.print(Text(f"  {letter}          ") + _marked(pieces, comparison.joint))
        for letter, links in zip("AB", comparison.links(each.index), strict=True):
            if links is not None:
                results.print(f"  links {letter}    {links}", style="dim", markup=False)


def _marked(pieces: Sequence[tuple[str, bool]], joint: str) -> Text:
    """An output with what is not in its reference marked: by colour on a terminal, else between asterisks."""
    marked = Text()
    for number, (text, differs) in enumerate(pieces):
        if number:
            marked.append(joint)
        if differs and not results.is_terminal:
            text = f"*{text}*"
        marked.append(text, style="bold red underline" if differs else "")
    return marked
