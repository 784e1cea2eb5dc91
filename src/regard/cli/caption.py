"""``regard caption``: one line out for each row of features in."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from regard.cli.console import COLUMN_HELP, output_file, print_json, print_line, refuse_same_file
from regard.cli.options import Device, JsonLines, Output, Weights, option_flags
from regard.cli.progress import LinesDisplay
from regard.errors import ConfigError
from regard.search.options import DEFAULT_SEARCH, NEED_A_SOURCE, SearchOptions

if TYPE_CHECKING:
    from regard.tasks.caption.result import Caption


@option_flags(SearchOptions, "search", panel="Search", omit=NEED_A_SOURCE)
def caption(
    model: Annotated[Path, typer.Argument(help="A model folder.")],
    features: Annotated[
        Path,
        typer.Argument(
            help="A matrix of raw features, one row per caption: .npy, .arrow, .feather, .parquet."
        ),
    ],
    column: Annotated[str | None, typer.Option(help=COLUMN_HELP)] = None,
    search: SearchOptions = DEFAULT_SEARCH,
    scores: Annotated[
        bool, typer.Option("--scores", help="Print each caption's score before it, separated by a tab.")
    ] = False,
    json: JsonLines = False,
    output: Output = None,
    max_length: Annotated[int, typer.Option(help="Maximum number of tokens in a caption.", min=1)] = 200,
    batch: Annotated[int, typer.Option(help="Maximum rows per batch.")] = 32,
    weights: Weights = "best",
    device: Device = "auto",
) -> None:
    """Caption feature vectors: one line out for each row in.

    Pass raw features, in the order and units of the training data. With
    --n-best N, each row gives up to N lines; each begins with the number of
    its row and a tab.

    [bold]Examples[/]

      regard caption model images.npy

      regard caption model images.arrow --column pooled --n-best 3 --scores
    """
    from regard.tasks.caption.predictor import Captioner
    from regard.tasks.predictor import CHUNK
    from regard.text import read_features

    if json and scores:
        raise ConfigError("--json: it holds the scores already; leave out --scores")
    refuse_same_file(output, [str(features)])
    captioner = Captioner.load(model, weights=weights, device=device, max_length=max_length)
    rows = read_features(features, column=column, size=captioner.feature_size)
    to_file = output is not None
    with output_file(output) as file, LinesDisplay("captioning", len(rows), to_file=to_file) as display:
        for start in range(0, len(rows), CHUNK):
            captions = captioner.caption(rows[start : start + CHUNK], search, batch_sentences=batch)
            for number, result in enumerate(captions, start=start + 1):
                if json:
                    print_json(result.to_json(), file)
                else:
                    _print(result, file, number if search.n_best > 1 else None, scores)
                display(result)


def _print(result: "Caption", file: TextIO | None, number: int | None, scores: bool) -> None:
    """Print the caption and each of its alternatives."""
    for each in (result, *result.alternatives):
        fields = [] if number is None else [str(number)]
        if scores:
            fields.append(f"{each.score:.4f}")
        print_line("\t".join([*fields, each.text]), file)
