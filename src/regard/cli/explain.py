"""``regard explain``: one text and what a model makes of it, as a page that needs no service."""

from pathlib import Path
from typing import Annotated

import typer

from regard.cli.console import notes
from regard.cli.options import Device, Weights
from regard.cli.serve import missing_extra
from regard.config import in_range, one_of
from regard.io import write_whole_text


def explain(
    model: Annotated[Path, typer.Argument(help="A model folder.")],
    text: Annotated[str, typer.Argument(help='What the model reads, in quotes; a pair as "one | other".')],
    output: Annotated[Path, typer.Option("--output", "-o", help="The HTML file to write.")],
    beam: Annotated[int, typer.Option(help="Width of a translator's beam.")] = 5,
    letters: Annotated[str, typer.Option(help="Letters of the equations: papers or slides.")] = "papers",
    weights: Weights = "best",
    device: Device = "auto",
) -> None:
    """Write the studio's page for one text into one file, which stays interactive.

    It holds the translation, attention, every step, the beam search, states,
    and what-ifs for the most probable other words; it loads nothing else, and
    opens in any browser.

    [bold]Examples[/]

      regard explain model "ein kleines haus ." -o page.html
    """
    from regard.ops.record import LETTERS

    one_of("--letters", letters, LETTERS)
    with missing_extra("regard explain"):
        from regard.server.config import Limits, ModelEntry
        from regard.server.metrics import Metrics
        from regard.server.registry import Registry
        from regard.studio.offline import explain as render
    limits = Limits()
    in_range("--beam", beam, 1, limits.beam)
    registry = Registry(limits, Metrics(), device)
    served = registry.load(model.resolve().name or "model", ModelEntry(str(model), weights))
    page = render(served, text, beam=beam, letters=letters)
    write_whole_text(output, page)
    notes.print(f"{output}: {len(page.encode()) / 1e6:.1f} MB, opens in any browser", markup=False)
