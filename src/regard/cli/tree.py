"""``regard tree``: the beam search for a line, as a tree."""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from regard.cli.console import PlotWriter, print_json, results
from regard.cli.options import Device, MaxLength, Weights, option_flags
from regard.search.options import DEFAULT_SEARCH, SearchOptions


@option_flags(SearchOptions, "search", panel="Search")
def tree(
    model: Annotated[Path, typer.Argument(help="The model folder of a translator.")],
    texts: Annotated[
        list[str] | None,
        typer.Argument(help="Lines to translate, each in quotes; none for standard input."),
    ] = None,
    search: SearchOptions = DEFAULT_SEARCH,
    pruned: Annotated[
        bool, typer.Option("--pruned", help="Print pruned hypotheses too; figures always show them.")
    ] = False,
    plot: Annotated[
        Path | None, typer.Option(help="Plot the tree into this file, or one tree per line into this folder.")
    ] = None,
    json: Annotated[
        bool,
        typer.Option("--json", help="Print a JSON object per line: every step with scores and attention."),
    ] = False,
    max_length: MaxLength = 1000,
    weights: Weights = "best",
    device: Device = "auto",
) -> None:
    """Show the beam search for each line as a tree of partial hypotheses.

    Tokens without alternatives share a line; alternatives are listed below
    each other. ■ marks a finished hypothesis, with its score; ✂ a dead end,
    with the log p of its tokens. The best hypothesis is bold.

    [bold]Examples[/]

      regard tree model "ein kleines haus ." --plot tree.png

      regard tree model --beam 10 --json < test.de > trees.jsonl
    """
    from regard.plots import TerminalTree
    from regard.tasks.translate.predictor import Translator
    from regard.text import read_lines
    from regard.text.formats import STDIN, read_file

    translator = Translator.load(model, weights=weights, device=device, max_length=max_length)
    # the lines of a model with features have two columns
    read = read_file(STDIN) if translator.features else read_lines([STDIN])
    lines: Iterable[str] = texts if texts else read
    with PlotWriter(plot) as plots:
        for number, line in enumerate(lines, start=1):
            tree = translator.tree(line, search)
            if json:
                print_json(tree.to_json())
            else:
                if number > 1:
                    results.print()
                results.print(line, style="dim", markup=False)
                results.print(TerminalTree([node for step in tree.steps for node in step], pruned))
            plots.add(tree, number)
