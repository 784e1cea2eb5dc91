"""``regard tag``: one tag out for each word in."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

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
    from regard.tasks.tag.result import Tagging

_CHUNK = 256  # lines tagged together


def tag(
    model: Annotated[Path, typer.Argument(help="A model folder.")],
    files: Annotated[
        list[str] | None, typer.Argument(help="Files to tag; none, or -, for standard input.")
    ] = None,
    vertical: Annotated[
        bool,
        typer.Option(
            "--vertical",
            help="Print a word and its tag a line, with a tab, and a blank line after each sentence.",
        ),
    ] = False,
    json: Annotated[
        bool, typer.Option("--json", help="Print all there is to know, one JSON object a line.")
    ] = False,
    show: Annotated[
        bool, typer.Option("--show", help="Draw each sentence here, its tags below its words.")
    ] = False,
    plot: Annotated[
        Path | None, typer.Option(help="Draw each sentence into this folder, or one into this file.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write here instead of standard output.")
    ] = None,
    max_length: Annotated[int, typer.Option(help="The most words a line may have.")] = 1000,
    batch: Annotated[int, typer.Option(help="Sentences read at a time.")] = 32,
    weights: Annotated[str, typer.Option(help=WEIGHTS_HELP)] = "best",
    device: Annotated[str, typer.Option(help=DEVICE_HELP)] = "auto",
) -> None:
    """Tag the words of lines: one line of tags out for each line in, blank ones too.

    Words are what blanks part; each gets one tag.

    [bold]Examples[/]

      echo "the old man sleeps ." | regard tag model

      regard tag model test.txt --vertical -o test.tags
    """
    from regard.tasks.tag.predictor import Tagger
    from regard.text.formats import STDIN, read_file, shown

    sources = files or [STDIN]
    if sum([vertical, json, show]) > 1:
        raise ConfigError("--vertical, --json and --show each print in their own way; choose one")
    if show and output is not None:
        raise ConfigError("--show draws in the terminal; leave out --output, or draw files with --plot")
    refuse_same_file(output, sources)
    tagger = Tagger.load(model, weights=weights, device=device, max_length=max_length)
    typed = STDIN in sources and sys.stdin.isatty()
    number = 0
    with (
        PlotWriter(plot) as plots,
        output_file(output) as file,
        LinesDisplay("tagging", to_file=output is not None and not typed) as display,
    ):
        for path in sources:
            stream = tagger.tag_stream(
                read_file(path),
                chunk=1 if typed else _CHUNK,
                name=f"{shown(path)}:",
                batch_sentences=batch,
            )
            for one in stream:
                number += 1
                if show:
                    _draw(one, first=number == 1)
                elif json:
                    print_json(one.to_json(), file)
                else:
                    _print(one, file, vertical)
                if one.words:
                    plots.add(one, number)
                display.count(len(one.words))


def _print(one: "Tagging", file: TextIO | None, vertical: bool) -> None:
    if not vertical:
        print_line(str(one), file)
        return
    for word, name in zip(one.words, one.tags, strict=True):
        print_line(f"{word}\t{name}", file)
    print_line("", file)


def _draw(one: "Tagging", *, first: bool) -> None:
    """Draw a sentence, a blank line before each but the first."""
    from regard.plots import TerminalTagging

    if not first:
        results.print()
    if one.words:
        results.print(TerminalTagging(one))
