"""``regard animate``: encoder, attention and decoder as an animated SVG."""

from pathlib import Path
from typing import Annotated

import typer

from regard.cli.options import Device, Weights
from regard.cli.trace import Beam, Letters, Target, trace_model
from regard.config import one_of
from regard.errors import ConfigError


def animate(
    model: Annotated[Path, typer.Argument(help="The model folder of a translator.")],
    line: Annotated[str, typer.Argument(help="What it translates, in quotes.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The SVG file to write.")],
    target: Target = None,
    beam: Beam = 1,
    letters: Letters = "papers",
    seconds: Annotated[float, typer.Option(help="Per step of the decoder.", min=0.1, max=60)] = 1.6,
    frame: Annotated[
        float | None,
        typer.Option(help="Write a still picture of this moment, in seconds from the start.", min=0),
    ] = None,
    weights: Weights = "best",
    device: Device = "auto",
) -> None:
    """Draw a translation as it unfolds: the encoder reads, the decoder attends and writes.

    The picture is one SVG file that moves without a script, for slides and
    web pages; where a viewer prefers reduced motion, it shows the last step.
    Every shade and every number is the model's own.

    [bold]Examples[/]

      regard animate model "ein kleines haus ." -o unrolling.svg

      regard animate model "ein kleines haus ." -o step.svg --frame 6
    """
    from regard.ops.record import LETTERS

    one_of("--letters", letters, LETTERS)
    if output.suffix.lower() != ".svg":
        raise ConfigError(
            f"--output {output}: an animation is an SVG file; name it {output.with_suffix('.svg')}"
        )
    traced = trace_model([str(model), line], target, beam, letters, "float32", weights, device)
    traced.animate(output, seconds=seconds, frame=frame)
