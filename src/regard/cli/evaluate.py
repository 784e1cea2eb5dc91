"""``regard evaluate``: a test set's scores, as a whole and by sentence length."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from regard.cli.console import (
    DEVICE_HELP,
    POWER_HELP,
    WEIGHTS_HELP,
    command_line,
    no_attention,
    notes,
    print_json,
    results,
    score_table,
)
from regard.cli.lines import LinesDisplay
from regard.errors import DataError
from regard.output.wording import written

if TYPE_CHECKING:
    from collections.abc import Sequence

    from regard.text import GoldLinks, SentencePair


def evaluate(
    context: typer.Context,
    model: Annotated[Path, typer.Argument(help="A model folder.")],
    source: Annotated[
        Path, typer.Argument(help="The test sources, or one tab-separated file with both sides.")
    ],
    reference: Annotated[Path | None, typer.Argument(help="The references, line by line.")] = None,
    columns: Annotated[
        tuple[int, int] | None,
        typer.Option(help="Where source and reference stand in a tab-separated file, as --columns 1 2."),
    ] = None,
    gold: Annotated[
        Path | None,
        typer.Option(help="Gold word links, one line a sentence (Pharaoh: 0-0 sure, 1?2 possible)."),
    ] = None,
    beam: Annotated[int, typer.Option(help="Hypotheses kept at each step; 1 is greedy search.")] = 5,
    length_power: Annotated[
        float,
        typer.Option(help=POWER_HELP),
    ] = 1.0,
    tokenize: Annotated[
        str, typer.Option(help="BLEU's tokenizer: 13a, intl, char, zh, or none for tokenised text.")
    ] = "13a",
    lowercase: Annotated[bool, typer.Option("--lowercase", help="Overlook case.")] = False,
    out: Annotated[
        Path | None, typer.Option(help="Write report.json, report.html and the translations here.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print all scores as JSON.")] = False,
    max_length: Annotated[int, typer.Option(help="The most tokens a source may have.")] = 1000,
    weights: Annotated[str, typer.Option(help=WEIGHTS_HELP)] = "best",
    device: Annotated[str, typer.Option(help=DEVICE_HELP)] = "auto",
) -> None:
    """Score a model on a test set.

    BLEU, chrF and TER (sacrebleu, with its signature), exact match and error
    rates of what the model writes; perplexity, and the alignment error rate
    where gold links are given, of the references by forced decoding.

    [bold]Examples[/]

      regard evaluate model test.de test.en --gold test.links --out report

      regard evaluate model test.tsv --beam 10 --tokenize none --json
    """
    from regard.evaluation import evaluate as run
    from regard.report import write_evaluation
    from regard.text import read_pairs
    from regard.translator import Translator

    pairs = list(read_pairs(source, reference, columns=columns))
    if not pairs:
        raise DataError(f"{source}: an empty test set; give at least one pair")
    links = None
    if gold is not None:
        links = _gold_links(gold, pairs)
    translator = Translator.load(model, weights=weights, device=device, max_length=max_length)
    if links is not None and not translator.attends:
        raise no_attention(model)
    with LinesDisplay("translating", len(pairs)) as display:
        evaluation = run(
            translator,
            [pair.source for pair in pairs],
            [pair.target for pair in pairs],
            links,
            beam=beam,
            length_power=length_power,
            tokenize=tokenize,
            lowercase=lowercase,
            listener=display,
        )
    if out is not None:
        page = write_evaluation(
            out,
            evaluation,
            [pair.target for pair in pairs],
            links,
            translator=translator,
            title=f"{model.name} on {source.name}",
            subtitle=f"{len(pairs):,} sentences, beam {beam}",
            command=command_line(context),
        )
        notes.print(f"report: {page}", markup=False)
    if json:
        print_json(evaluation.to_json())
        return
    results.print(score_table(evaluation.scores()))
    results.print()
    results.print(by_length_table({band.name: band.scores() for band in evaluation.bands}))
    for name, signature in evaluation.quality.signatures.items():
        results.print(f"[dim]{name}: {signature}[/]")


def _gold_links(path: Path, pairs: "Sequence[SentencePair]") -> "list[GoldLinks]":
    """The gold links of each pair, checked against its words."""
    from regard.text import parse_pharaoh
    from regard.text.formats import read_file

    gold = []
    for number, line in enumerate(read_file(path), start=1):
        links = parse_pharaoh(line, f"{path}:{number}")
        gold.append(links)
        if number > len(pairs):
            continue
        words = len(pairs[number - 1].source.split()), len(pairs[number - 1].target.split())
        for j, i in sorted(links.possible):
            if j >= words[0] or i >= words[1]:
                raise DataError(
                    f"{path}:{number}: the link {j}-{i} points beyond its sentences of {words[0]} and {words[1]} "
                    "words; links count from 0, source first"
                )
    if len(gold) != len(pairs):
        raise DataError(f"{path}: {len(gold)} lines of links for {len(pairs)} pairs; give one line for each")
    return gold


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
        table.add_row(lengths, *[written(name, scores.get(name)) for name in columns])
    return table
