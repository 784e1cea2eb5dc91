"""The studio's app: the service's routes, training logs, results of the lab, and the page at ``/``.

A request names models, experiments and figures that are there; no path in it reaches the file system.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from fastapi import FastAPI
from fastapi import Path as PathParameter
from starlette.exceptions import HTTPException
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.staticfiles import StaticFiles

from regard.checkpoint import ModelFolder, read_log
from regard.errors import RegardError
from regard.server.app import Service, create_app
from regard.server.guards import json_response
from regard.server.operations.operation import Strict
from regard.studio.offline import PAGE, offline_page
from regard.studio.operations import STUDIO

if TYPE_CHECKING:
    from regard.lab.runner.experiment import Result

Name = Annotated[str, PathParameter(max_length=64)]


def create_studio(service: Service, lab: Path | None = None) -> FastAPI:
    """The app.

    Args:
        service: with its models loaded.
        lab: a folder that `regard lab` wrote, of one experiment or of several; None for none.
    """
    app = create_app(service, more=STUDIO)

    @app.get("/v1/models/{name}/log", include_in_schema=False)
    def log(name: Name) -> Response:
        """The training log of a model's folder as it is now; of an ensemble, its first member's."""
        entry = service.registry[name].entry
        rows = [] if entry is None else read_log(ModelFolder(entry.folder).members[0].path)
        return json_response({"rows": [row for row in rows if row["event"] != "start"]})

    @app.post("/v1/models/{name}/renew", include_in_schema=False)
    async def renew(name: Name, body: Strict) -> Response:
        """Replace a model by what its folder holds now; the body is JSON, which no page of another site can send."""
        return json_response((await service.registry.reload(name)).to_json())

    @app.get("/v1/lab", include_in_schema=False)
    def results() -> Response:
        """The results of the lab, as its folder has them now."""
        shown = ("name", "title", "claim", "source", "verdict", "figures", "unregistered")
        found = [{key: getattr(result, key) for key in shown} for _, result in _read_lab(lab)]
        return json_response({"results": found})

    @app.get("/lab/{name}/{figure}.svg", include_in_schema=False)
    def picture(name: Name, figure: Name) -> Response:
        """A figure of a result."""
        for folder, result in _read_lab(lab):
            if result.name == name and figure in [each["name"] for each in result.figures]:
                return FileResponse(folder / f"{figure}.svg", media_type="image/svg+xml")
        raise HTTPException(404, "no such figure")

    @app.get("/offline.html", include_in_schema=False)
    async def offline() -> Response:
        """The page that a browser fills with what was answered, to save it."""
        return HTMLResponse(offline_page())

    app.mount("/", StaticFiles(directory=PAGE, html=True), name="studio")
    return app


def _read_lab(lab: Path | None) -> "Iterator[tuple[Path, Result]]":
    """Every complete result of a folder and of those in it."""
    if lab is None:
        return
    from regard.lab.runner.experiment import RESULT, read_result

    for path in sorted([*lab.glob(RESULT), *lab.glob(f"*/{RESULT}")]):
        try:
            yield path.parent, read_result(path.parent)
        except RegardError:
            continue  # of another version, or being written
