"""``regard serve``: models as an HTTP service."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from regard.cli.console import notes
from regard.cli.options import DEVICE_HELP
from regard.config import merge, read_toml, set_option
from regard.errors import ConfigError, MissingExtraError

_EXTRA = ("fastapi", "starlette", "uvicorn", "pydantic", "h11")
_LISTENING, _BATCHES, _ACCESS = "Address", "Batches and speed", "Access and limits"


def serve(
    models: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="MODEL",
            help="Model folders, each as FOLDER, NAME=FOLDER, or NAME=FOLDER,int8,shortlist.",
        ),
    ] = None,
    host: Annotated[
        str | None,
        typer.Option(
            help="Address to listen on; by default 127.0.0.1, this machine alone.", rich_help_panel=_LISTENING
        ),
    ] = None,
    port: Annotated[
        int | None, typer.Option(help="Port to listen on; by default 8000.", rich_help_panel=_LISTENING)
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(help="A TOML file with models, limits and batching; see docs/serving.md."),
    ] = None,
    set: Annotated[
        list[str] | None,
        typer.Option("--set", help="Set any option of that file: --set limits.beam=10. Repeatable."),
    ] = None,
    batch: Annotated[
        int | None,
        typer.Option(help="Most texts in a batch; by default 32.", min=1, rich_help_panel=_BATCHES),
    ] = None,
    delay: Annotated[
        float | None,
        typer.Option(
            help="Milliseconds that a text waits for others to share its batch; by default 5.",
            min=0,
            rich_help_panel=_BATCHES,
        ),
    ] = None,
    threads: Annotated[
        int | None,
        typer.Option(
            help="Threads; by default as many as this process may use.", min=1, rich_help_panel=_BATCHES
        ),
    ] = None,
    device: Annotated[str | None, typer.Option(help=DEVICE_HELP, rich_help_panel=_BATCHES)] = None,
    api_keys: Annotated[
        Path | None,
        typer.Option(
            help="A file with API keys, one per line; by default those of the variable REGARD_API_KEYS.",
            rich_help_panel=_ACCESS,
        ),
    ] = None,
    admin_keys: Annotated[
        Path | None,
        typer.Option(
            help="A file with operators' keys, which may replace models; by default REGARD_ADMIN_KEYS.",
            rich_help_panel=_ACCESS,
        ),
    ] = None,
    allow_origin: Annotated[
        list[str] | None,
        typer.Option(
            help="Origin whose pages may call it from a browser, as https://example.org. Repeatable.",
            rich_help_panel=_ACCESS,
        ),
    ] = None,
    access_log: Annotated[
        bool,
        typer.Option("--access-log", help="Log a line per request, without texts.", rich_help_panel=_ACCESS),
    ] = False,
) -> None:
    """Serve models over HTTP: translate, align, sample, score, classify, tag.

    Texts of many clients share batches. SIGHUP replaces the models by what their
    folders hold now, without losing a request; SIGTERM and Ctrl-C answer what has
    arrived, and end.

    [bold]Examples[/]

      regard serve model

      regard serve en-fr=models/en-fr,int8 lm=models/lm --port 9000

      curl localhost:8000/v1/translate -H 'Content-Type: application/json' -d '{"texts": "the house ."}'
    """
    from regard.server.config import ADMIN_VARIABLE, KEYS_VARIABLE, read_config, read_keys

    flags: dict[str, Any] = {
        "host": host,
        "port": port,
        "device": device,
        "threads": threads,
        "allow_origins": allow_origin,
        "batching": {
            name: value for name, value in (("texts", batch), ("milliseconds", delay)) if value is not None
        },
    }
    mapping = read_toml(config) if config is not None else {}
    mapping = merge(mapping, {name: value for name, value in flags.items() if value not in (None, [], {})})
    for assignment in set or ():
        set_option(mapping, assignment)
    options, entries = read_config(mapping, models or ())
    if not entries:
        raise ConfigError(
            "no model to serve; name a folder, as in regard serve model, or a file with --config"
        )
    keys = read_keys(api_keys, KEYS_VARIABLE)
    operators = read_keys(admin_keys, ADMIN_VARIABLE)
    with missing_extra("regard serve"):
        from regard.server.app import Service
        from regard.server.run import prepare_process, run
    prepare_process()
    service = Service(options, keys, operators)
    service.load(entries)
    for name in service.registry.names():
        facts = service.registry[name].to_json()
        routes = ", ".join(f"/v1/{operation}" for operation in facts["operations"])
        notes.print(f"{name}: {facts['num_parameters']:,} parameters, {routes}", markup=False)
    if not options.local and not keys:
        notes.print(
            f"anyone who reaches {options.host}:{options.port} can use it: there are no API keys; name a file with "
            "--api-keys",
            style="yellow",
            markup=False,
        )
    run(service, access_log=access_log)


@contextmanager
def missing_extra(command: str) -> Iterator[None]:
    """Where the service's packages are imported: without them, an error that names the extra.

    Args:
        command: that needs them, for the message.

    Raises:
        MissingExtraError: one of them is not installed.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] not in _EXTRA:
            raise
        raise MissingExtraError(command, "regard[serve]", "serve") from None
