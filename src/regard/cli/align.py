"""``regard align``: where a model looks while it reads given translations."""

from itertools import islice
from pathlib import Path
from typing import Annotated

import typer

from regard.cli.console import print_json, print_line
from regard.cli.lines import LinesDisplay
from regard.errors import ConfigError
from regard.text import format_pharaoh, read_pairs
from regard.whole_file import make_folder

_CHUNK = 256  # pairs read together


def align(
    model: Annotated[Path, typer.Argument(help="A model folder.")],
    source: Annotated[Path, typer.Argument(help="Source lines, or one tab-separated file with both sides.")],
    target: Annotated[Path | None, typer.Argument(help="Their translations, line by line.")] = None,
    columns: Annotated[
        tuple[int, int] | None,
        typer.Option(help="Where source and target stand in a tab-separated file, as --columns 1 2."),
    ] = None,
    json: Annotated[
        bool, typer.Option("--json", help="Print attention, scores and links, one JSON object a line.")
    ] = False,
    heatmaps: Annotated[
        Path | None, typer.Option(help="Draw each pair's attention into this folder.")
    ] = None,
    max_length: Annotated[int, typer.Option(help="The most tokens a source may have.")] = 1000,
    weights: Annotated[str, typer.Option(help="best or last.")] = "best",
    device: Annotated[str, typer.Option(help="cpu, cuda or auto.")] = "cpu",
) -> None:
    """Align given pairs by forced decoding.

    Prints one line for each pair: links between words, source-target counted
    from 0 (Pharaoh). Pieces of words are merged: attention is summed over a
    source word's pieces and averaged over a target word's.

    [bold]Examples[/]

      regard align model test.de test.en > test.links

      regard align model pairs.tsv --columns 2 1 --heatmaps pictures
    """
    from regard.translator import Translator

    translator = Translator.load(model, weights=weights, device=device, max_length=max_length)
    if not translator.attends:
        raise ConfigError(
            f"{model}: this model has no attention, so it cannot align; train one of kind bahdanau or luong"
        )
    if heatmaps is not None:
        make_folder(heatmaps)
    number = 0
    waiting = read_pairs(source, target, columns=columns)
    with LinesDisplay("aligning", aside=False) as display:
        while part := list(islice(waiting, _CHUNK)):
            for read in translator.align(
                [pair.source for pair in part], [pair.target for pair in part], first_line=number + 1
            ):
                number += 1
                if json:
                    print_json(read.to_json())
                else:
                    print_line(format_pharaoh(read.links))
                if heatmaps is not None and read.alpha is not None:
                    read.plot(heatmaps / f"{number:06d}.png")
                display(read)
