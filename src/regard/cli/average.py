"""``regard average``: one model out of several checkpoints."""

from pathlib import Path
from typing import Annotated

import typer

from regard.cli.console import print_json, results


def average(
    out: Annotated[Path, typer.Argument(help="The folder of the model to make.")],
    folders: Annotated[list[Path], typer.Argument(help="Model folders of one architecture and vocabulary.")],
    weights: Annotated[
        list[str] | None,
        typer.Option(
            help="Which checkpoint of each folder: best or last; twice for both. By default best.",
            show_default=False,
        ),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print what went into it as JSON.")] = False,
) -> None:
    """Average the weights of several models into one.

    Every parameter is the mean of theirs. It is for checkpoints of one run,
    or of runs that began alike: models trained apart from the start have no
    useful mean; ask them together, as the verb translate does with several.

    [bold]Examples[/]

      regard average mean run --weights best --weights last

      regard average mean run-1 run-2 run-3
    """
    from regard.inference.averaging import average_folders

    made = average_folders(out, folders, weights=weights or ["best"])
    if json:
        print_json({"folder": str(made.folder), "averaged": list(made.made_of)})
        return
    for each in made.made_of:
        update = "" if each["update"] is None else f", of update {each['update']:,}"
        results.print(f"{each['folder']}: {each['weights']}{update}", style="dim", markup=False)
    results.print(
        f"{made.folder}: the mean of {len(made.made_of)} checkpoints of {made.num_parameters:,} parameters",
        markup=False,
    )
