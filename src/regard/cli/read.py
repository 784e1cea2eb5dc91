"""``regard read``: the attention of a language model to its own past, as it reads."""

from pathlib import Path
from typing import Annotated

import typer

from regard.cli.console import print_json, results
from regard.cli.options import Device, Weights
from regard.errors import ConfigError


def read(
    model: Annotated[Path, typer.Argument(help="The folder of a language model.")],
    texts: Annotated[
        list[str] | None,
        typer.Argument(help="Texts to read, each in quotes; none for standard input, line by line."),
    ] = None,
    layer: Annotated[
        int, typer.Option(help="The layer whose attention to show, counted from 0; -1 is the top layer.")
    ] = -1,
    plot: Annotated[
        Path | None,
        typer.Option(help="Plot the sentence, one row per word read, into this file; needs a single text."),
    ] = None,
    json: Annotated[
        bool,
        typer.Option(
            "--json", help="Print tokens and the attention of all layers, one JSON object per text."
        ),
    ] = False,
    weights: Weights = "best",
    device: Device = "auto",
) -> None:
    """Read texts and show which earlier words each new word attends to.

    Each row is the sentence so far: the newest word is marked, and the words
    it attends to are shaded by their weight. For models with the cell lstmn,
    rnn-read, rnn-sum or rnn-sum-keep.

    [bold]Examples[/]

      regard read model "The FBI is chasing a criminal on the run ." --plot reading.png

      regard read model < test.txt
    """
    from regard.plots import TerminalReading
    from regard.tasks.language_model.predictor import LanguageModel
    from regard.text import read_lines
    from regard.text.formats import STDIN

    language_model = LanguageModel.load(model, weights=weights, device=device)
    given = texts if texts else list(read_lines([STDIN]))
    if plot is not None and len(given) != 1:
        raise ConfigError(f"--plot {plot}: one picture, and there are {len(given)} texts; give one")
    for number, reading in enumerate(language_model.read(given)):
        alpha = reading.word_alpha(layer)
        if json:
            print_json(reading.to_json())
        else:
            if number:
                results.print()
            results.print(TerminalReading(reading.labels, alpha))
        if plot is not None:
            reading.plot(plot, layer=layer)
