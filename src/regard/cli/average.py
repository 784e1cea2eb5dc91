"""``regard average``: one model from several checkpoints."""

from pathlib import Path
from typing import Annotated

import typer

from regard.cli.console import print_json, results


def average(
    out: Annotated[Path, typer.Argument(help="The folder to write the averaged model to.")],
    folders: Annotated[list[Path], typer.Argument(help="Model folders of one architecture and vocabulary.")],
    weights: Annotated[
        list[str] | None,
        typer.Option(
            help="Checkpoint of each folder: best or last; give the option twice for both. The default is best.",
            show_default=False,
        ),
    ] = None,
    json: Annotated[
        bool, typer.Option("--json", help="Print the checkpoints that were averaged as JSON.")
    ] = False,
) -> None:
    """Average the weights of several models into one.

    Each parameter becomes the mean over the models. Average checkpoints of
    one run, or of runs that started from the same weights. Models that
    started from different weights have no useful mean: use them as
    an ensemble, by giving several model folders to the command translate.

    [bold]Examples[/]

      regard average mean run --weights best --weights last

      regard average mean run-1 run-2 run-3
    """
    from regard.inference.ensemble import average_folders

    averaged = average_folders(out, folders, weights=weights or ["best"])
    if json:
        print_json({"folder": str(averaged.folder), "averaged": list(averaged.sources)})
        return
    for source in averaged.sources:
        update = "" if source["update"] is None else f", of update {source['update']:,}"
        results.print(f"{source['folder']}: {source['weights']}{update}", style="dim", markup=False)
    results.print(
        f"{averaged.folder}: the mean of {len(averaged.sources)} checkpoints of {averaged.num_parameters:,} parameters",
        markup=False,
    )
