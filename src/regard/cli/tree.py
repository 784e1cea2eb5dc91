"""``regard tree``: all that a search went through for a line."""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from regard.cli.console import DEVICE_HELP, POWER_HELP, WEIGHTS_HELP, PlotWriter, print_json, results


def tree(
    model: Annotated[Path, typer.Argument(help="A folder of a translator.")],
    texts: Annotated[
        list[str] | None,
        typer.Argument(help="Lines to translate, each in quotes; none for standard input, line by line."),
    ] = None,
    beam: Annotated[int, typer.Option(help="Hypotheses kept at each step; 1 is greedy search.")] = 5,
    length_power: Annotated[float, typer.Option(help=POWER_HELP)] = 1.0,
    pruned: Annotated[
        bool, typer.Option("--pruned", help="Show what was weighed and not kept, too; pictures always do.")
    ] = False,
    plot: Annotated[
        Path | None, typer.Option(help="Draw the tree into this file, or each line's into this folder.")
    ] = None,
    json: Annotated[
        bool,
        typer.Option("--json", help="Print every step with scores and attention, one JSON object a line."),
    ] = False,
    max_length: Annotated[int, typer.Option(help="The most tokens a line may have.")] = 1000,
    weights: Annotated[str, typer.Option(help=WEIGHTS_HELP)] = "best",
    device: Annotated[str, typer.Option(help=DEVICE_HELP)] = "auto",
) -> None:
    """Show how translations are found: every beginning that the beam kept.

    Words that follow without a choice stand on one line, choices below each
    other. ■ is an end with its score, ✂ a way that was lost, with the log p
    it had. The best is bold.

    [bold]Examples[/]

      regard tree model "ein kleines haus ." --plot tree.png

      regard tree model --beam 10 --json < test.de > trees.jsonl
    """
    from regard.plots import TerminalTree
    from regard.tasks.translate.predictor import Translator
    from regard.text import read_lines
    from regard.text.formats import STDIN

    translator = Translator.load(model, weights=weights, device=device, max_length=max_length)
    given: Iterable[str] = texts if texts else read_lines([STDIN])
    with PlotWriter(plot) as plots:
        for number, line in enumerate(given, start=1):
            grown = translator.tree(line, beam=beam, length_power=length_power)
            if json:
                print_json(grown.to_json())
            else:
                if number > 1:
                    results.print()
                results.print(line, style="dim", markup=False)
                results.print(TerminalTree([node for step in grown.steps for node in step], pruned))
            plots.add(grown, number)
