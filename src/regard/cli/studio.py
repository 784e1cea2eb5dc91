"""``regard studio``: models in a browser."""

import time
import webbrowser
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlencode

import typer

from regard.cli.console import notes
from regard.cli.demo import train_demo
from regard.cli.options import DEVICE_HELP
from regard.cli.serve import missing_extra
from regard.errors import ConfigError
from regard.io import LOCK

if TYPE_CHECKING:
    from regard.server.config import ModelEntry

_DEMO = "microworld"
_LAB = Path("runs") / "lab"
_EXAMPLE = "does she want the red carrot ?"
_EVERY = 0.5  # seconds between two looks at a training that has only begun


def studio(
    models: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[MODEL]…",
            help="Model folders, each as FOLDER or NAME=FOLDER; by default the demo's, which is trained if need be.",
        ),
    ] = None,
    port: Annotated[int, typer.Option(help="Port to listen on; 0 for any that is free.")] = 8080,
    lab: Annotated[
        Path | None,
        typer.Option(
            help="A folder that regard lab wrote, to show its results; by default runs/lab if it exists."
        ),
    ] = None,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Do not open a browser.")] = False,
    device: Annotated[str, typer.Option(help=DEVICE_HELP)] = "auto",
) -> None:
    """Look inside models from a browser: type, and see what they compute.

    The translation as it is decoded, attention, every step with its equations
    and numbers, the beam search as a tree, what-ifs, states; for language
    models sampling with branches, for classifiers and taggers probabilities.
    Only this machine can reach it. Ctrl-C ends it.

    [bold]Examples[/]

      regard studio

      regard studio en-fr=models/en-fr lm=models/lm --port 9000
    """
    from regard.server.config import read_config

    if lab is not None and not lab.is_dir():
        raise ConfigError(f"--lab {lab}: no such folder; regard lab all makes runs/lab")
    if lab is None and _LAB.is_dir():
        lab = _LAB
    given, query = list(models or ()), ""
    if not given:
        trained = sorted(Path("runs").glob(f"demo-{_DEMO}*/best.safetensors"))
        folder = trained[0].parent if trained else None
        if folder is None:
            notes.print(
                "no model is named: training the demo's in runs, about two minutes; then the studio opens",
                markup=False,
            )
            folder = train_demo(_DEMO).folder
        given, query = [f"demo={folder}"], "?" + urlencode({"q": _EXAMPLE})
    values: dict[str, Any] = {"port": port, "device": device, "batching": {"milliseconds": 0.0}}
    options, entries = read_config(values, given)
    with missing_extra("regard studio"):
        from regard.server.app import Service
        from regard.server.run import prepare_process, run
        from regard.studio.app import create_studio
    prepare_process()
    service = Service(options)
    service.load({name: _with_weights(entry) for name, entry in entries.items()})

    def show(url: str) -> None:
        notes.print(f"the studio is at {url}/{query}", markup=False)
        if not no_browser:
            webbrowser.open(f"{url}/{query}")

    run(service, app=create_studio(service, lab), on_listening=show)


def _with_weights(entry: "ModelEntry") -> "ModelEntry":
    """An entry whose weights are there: of a training that has only begun, its first checkpoint, once it is written."""
    folder = Path(entry.folder)
    if not (folder / LOCK).exists():
        return entry
    if not (folder / "last.safetensors").exists():
        notes.print(
            f"{folder} is being trained and has no weights yet; the studio opens with its first checkpoint",
            markup=False,
        )
        while (folder / LOCK).exists() and not (folder / "last.safetensors").exists():
            time.sleep(_EVERY)
    return entry if (folder / "best.safetensors").exists() else replace(entry, weights="last")
