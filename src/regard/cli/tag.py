"""``regard tag``: one tag out for each word in."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from regard.cli.console import PlotWriter, output_file, print_json, print_line, refuse_same_file, results
from regard.cli.options import Device, JsonLines, Output, Weights
from regard.cli.progress import LinesDisplay
from regard.errors import ConfigError

if TYPE_CHECKING:
    from regard.tasks.tag.result import Tagging


def tag(
    model: Annotated[Path, typer.Argument(help="A model folder.")],
    files: Annotated[
        list[str] | None, typer.Argument(help="Files to tag; none, or -, for standard input.")
    ] = None,
    vertical: Annotated[
        bool,
        typer.Option(
            "--vertical",
            help="Print one word and its tag per line, separated by a tab, and a blank line after each sentence.",
        ),
    ] = False,
    json: JsonLines = False,
    show: Annotated[
        bool, typer.Option("--show", help="Show each sentence in the terminal, its tags below its words.")
    ] = False,
    plot: Annotated[
        Path | None, typer.Option(help="Plot each sentence into this folder, or a single one into this file.")
    ] = None,
    output: Output = None,
    max_length: Annotated[int, typer.Option(help="Refuse lines with more words than this.", min=1)] = 1000,
    batch: Annotated[int, typer.Option(help="Maximum sentences per batch.")] = 32,
    weights: Weights = "best",
    device: Device = "auto",
) -> None:
    """Tag the words of lines: one line of tags out for each line in, blank ones too.

    Words are separated by spaces; each gets one tag.

    [bold]Examples[/]

      echo "the old man sleeps ." | regard tag model

      regard tag model test.txt --vertical -o test.tags
    """
    from regard.tasks.predictor import CHUNK
    from regard.tasks.tag.predictor import Tagger
    from regard.text.formats import STDIN, is_typed, shown

    sources = files or [STDIN]
    if sum([vertical, json, show]) > 1:
        raise ConfigError("--vertical, --json and --show print different things; choose one")
    if show and output is not None:
        raise ConfigError("--show draws in the terminal; leave out --output, or draw files with --plot")
    refuse_same_file(output, sources)
    tagger = Tagger.load(model, weights=weights, device=device, max_length=max_length)
    typed = is_typed(sources)
    number = 0
    with (
        PlotWriter(plot) as plots,
        output_file(output) as file,
        LinesDisplay("tagging", files=sources, to_file=output is not None and not typed) as display,
    ):
        for path in sources:
            stream = tagger.tag_stream(
                _read(path, tagger.labels.names),
                chunk=1 if typed else CHUNK,
                name=f"{shown(path)}:",
                batch_sentences=batch,
            )
            for tagging in stream:
                number += 1
                if show:
                    _show(tagging, first=number == 1)
                elif json:
                    print_json(tagging.to_json(), file)
                else:
                    _print(tagging, file, vertical)
                if tagging.words:
                    plots.add(tagging, number)
                display.count(len(tagging.words))


def _read(path: str, tags: Sequence[str]) -> Iterator[str]:
    """The lines of a file, whose words are not all tags."""
    from regard.text.formats import read_plain
    from regard.text.labelled import refuse_labels

    remedy = f"give one sentence per line, such as one column: cut -f 1 {path}"
    return read_plain(path, remedy, lambda first: refuse_labels(path, first, tags))


def _print(tagging: "Tagging", file: TextIO | None, vertical: bool) -> None:
    if not vertical:
        print_line(str(tagging), file)
        return
    for word, name in zip(tagging.words, tagging.tags, strict=True):
        print_line(f"{word}\t{name}", file)
    print_line("", file)


def _show(tagging: "Tagging", *, first: bool) -> None:
    """Show a sentence with its tags, a blank line before each but the first."""
    from regard.plots import TerminalTagging

    if not first:
        results.print()
    if tagging.words:
        results.print(TerminalTagging(tagging))
