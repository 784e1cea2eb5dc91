"""``regard classify``: one label out for each line in."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from regard.cli.console import PlotWriter, output_file, print_json, print_line, refuse_same_file, results
from regard.cli.options import Device, JsonLines, Output, Weights
from regard.cli.progress import LinesDisplay
from regard.errors import ConfigError

if TYPE_CHECKING:
    from regard.tasks.classify.result import Classification


def classify(
    model: Annotated[Path, typer.Argument(help="A model folder.")],
    files: Annotated[
        list[str] | None, typer.Argument(help="Files to classify; none, or -, for standard input.")
    ] = None,
    probabilities: Annotated[
        bool,
        typer.Option(
            "--probabilities", help="Print every label's probability after the label, separated by tabs."
        ),
    ] = False,
    json: JsonLines = False,
    show: Annotated[
        bool,
        typer.Option(
            "--show", help="Show each text in the terminal, its words shaded by their pooling weights."
        ),
    ] = False,
    plot: Annotated[
        Path | None, typer.Option(help="Plot each text into this folder, or a single one into this file.")
    ] = None,
    column: Annotated[
        int | None,
        typer.Option(
            help="The column of the text in tab-separated lines; by default the whole line, or 1 for a pair."
        ),
    ] = None,
    second_column: Annotated[
        int | None, typer.Option(help="The column of the second text of a pair; by default 2.")
    ] = None,
    output: Output = None,
    max_length: Annotated[int, typer.Option(help="Refuse texts with more tokens than this.", min=1)] = 1000,
    batch: Annotated[int, typer.Option(help="Maximum texts per batch.")] = 32,
    weights: Weights = "best",
    device: Device = "auto",
) -> None:
    """Classify lines of text: one label out for each line in, blank ones too.

    A model of pairs takes two texts per line, separated by a tab.

    [bold]Examples[/]

      echo "a bore from start to finish ." | regard classify model --show

      regard classify model test.txt --probabilities -o test.labels
    """
    from regard.tasks.classify.predictor import Classifier
    from regard.tasks.predictor import CHUNK
    from regard.text import read_texts
    from regard.text.formats import STDIN, is_typed, shown

    sources = files or [STDIN]
    if sum([probabilities, json, show]) > 1:
        raise ConfigError("--probabilities, --json and --show print different things; choose one")
    if show and output is not None:
        raise ConfigError("--show draws in the terminal; leave out --output, or draw files with --plot")
    refuse_same_file(output, sources)
    classifier = Classifier.load(model, weights=weights, device=device, max_length=max_length)
    columns = _columns(model, classifier.num_texts, column, second_column)
    typed = is_typed(sources)
    number = 0
    with (
        PlotWriter(plot) as plots,
        output_file(output) as file,
        LinesDisplay("classifying", files=sources, to_file=output is not None and not typed) as display,
    ):
        for path in sources:
            texts = read_texts(
                path, num_texts=classifier.num_texts, columns=columns, labels=classifier.labels.names
            )
            stream = classifier.classify_stream(
                texts, chunk=1 if typed else CHUNK, name=f"{shown(path)}:", batch_sentences=batch
            )
            for classification in stream:
                number += 1
                if show:
                    _show(classification, first=number == 1)
                elif json:
                    print_json(classification.to_json(), file)
                else:
                    print_line(_line(classification, probabilities), file)
                if classification.label:
                    plots.add(classification, number)
                display.count(sum(map(len, classification.tokens)))


def _columns(
    model: Path, num_texts: int, column: int | None, second_column: int | None
) -> tuple[int, ...] | None:
    """The columns of the texts; None for the default ones."""
    if num_texts == 2 and column is None and second_column is None:
        return None
    if num_texts == 2:
        return (1 if column is None else column, 2 if second_column is None else second_column)
    if second_column is not None:
        raise ConfigError(
            f"--second-column {second_column}: {model} classifies one text at a time; leave it out"
        )
    return None if column is None else (column,)


def _line(classification: "Classification", probabilities: bool) -> str:
    if not probabilities:
        return classification.label
    shares = (f"{label}={value:.4f}" for label, value in classification.probabilities.items())
    return "\t".join([classification.label, *shares])


def _show(classification: "Classification", *, first: bool) -> None:
    """Show a text with its weights, a blank line before each but the first."""
    from regard.plots import TerminalPooling

    if not first:
        results.print()
    if classification.label:
        results.print(TerminalPooling([classification]))
