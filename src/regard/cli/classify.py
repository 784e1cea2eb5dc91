"""``regard classify``: one label out for each line in."""

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from regard.cli.console import (
    DEVICE_HELP,
    WEIGHTS_HELP,
    PlotWriter,
    output_file,
    print_json,
    print_line,
    refuse_same_file,
    results,
)
from regard.cli.progress import LinesDisplay
from regard.errors import ConfigError

if TYPE_CHECKING:
    from regard.tasks.classify.result import Classification

_CHUNK = 256  # lines classified together


def classify(
    model: Annotated[Path, typer.Argument(help="A model folder.")],
    files: Annotated[
        list[str] | None, typer.Argument(help="Files to classify; none, or -, for standard input.")
    ] = None,
    probabilities: Annotated[
        bool,
        typer.Option("--probabilities", help="Print every label's probability after the label, with tabs."),
    ] = False,
    json: Annotated[
        bool, typer.Option("--json", help="Print all there is to know, one JSON object a line.")
    ] = False,
    show: Annotated[
        bool,
        typer.Option("--show", help="Draw each text here, its words on the weight they were read with."),
    ] = False,
    plot: Annotated[
        Path | None, typer.Option(help="Draw each text into this folder, or one into this file.")
    ] = None,
    column: Annotated[
        int | None,
        typer.Option(help="Where the text stands between tabs; by default the whole line, or 1 of a pair."),
    ] = None,
    second_column: Annotated[
        int | None, typer.Option(help="Where the second text of a pair stands; by default 2.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write here instead of standard output.")
    ] = None,
    max_length: Annotated[int, typer.Option(help="The most tokens a text may have.")] = 1000,
    batch: Annotated[int, typer.Option(help="Texts read at a time.")] = 32,
    weights: Annotated[str, typer.Option(help=WEIGHTS_HELP)] = "best",
    device: Annotated[str, typer.Option(help=DEVICE_HELP)] = "auto",
) -> None:
    """Classify lines of text: one label out for each line in, blank ones too.

    A model of pairs takes two texts a line, with a tab between them.

    [bold]Examples[/]

      echo "a bore from start to finish ." | regard classify model --show

      regard classify model test.txt --probabilities -o test.labels
    """
    from regard.tasks.classify.predictor import Classifier
    from regard.text import read_texts
    from regard.text.formats import STDIN, shown

    sources = files or [STDIN]
    if sum([probabilities, json, show]) > 1:
        raise ConfigError("--probabilities, --json and --show each print in their own way; choose one")
    if show and output is not None:
        raise ConfigError("--show draws in the terminal; leave out --output, or draw files with --plot")
    refuse_same_file(output, sources)
    classifier = Classifier.load(model, weights=weights, device=device, max_length=max_length)
    columns = _columns(model, classifier.num_texts, column, second_column)
    typed = STDIN in sources and sys.stdin.isatty()
    number = 0
    with (
        PlotWriter(plot) as plots,
        output_file(output) as file,
        LinesDisplay("classifying", to_file=output is not None and not typed) as display,
    ):
        for path in sources:
            texts = read_texts(path, num_texts=classifier.num_texts, columns=columns)
            stream = classifier.classify_stream(
                texts, chunk=1 if typed else _CHUNK, name=f"{shown(path)}:", batch_sentences=batch
            )
            for one in _drawn(stream) if show else stream:
                number += 1
                if json:
                    print_json(one.to_json(), file)
                elif not show:
                    print_line(_line(one, probabilities), file)
                if one.label:
                    plots.add(one, number)
                display.count(sum(map(len, one.tokens)))


def _columns(
    model: Path, num_texts: int, column: int | None, second_column: int | None
) -> tuple[int, ...] | None:
    """Where the texts stand on a line; None for the places they have by default."""
    if num_texts == 2 and column is None and second_column is None:
        return None
    if num_texts == 2:
        return (1 if column is None else column, 2 if second_column is None else second_column)
    if second_column is not None:
        raise ConfigError(
            f"--second-column {second_column}: {model} classifies one text at a time; leave it out"
        )
    return None if column is None else (column,)


def _line(one: "Classification", probabilities: bool) -> str:
    if not probabilities:
        return one.label
    return "\t".join([one.label, *(f"{label}={value:.4f}" for label, value in one.probabilities.items())])


def _drawn(stream: "Iterable[Classification]") -> "Iterator[Classification]":
    """Draw each as it passes, a blank line between them."""
    from regard.plots import TerminalPooling

    for number, one in enumerate(stream):
        if number:
            results.print()
        if one.label:
            results.print(TerminalPooling([one]))
        yield one
