"""The studio's app: the service's routes, the training logs of its models, and the page at ``/``."""

from typing import Annotated

from fastapi import FastAPI
from fastapi import Path as PathParameter
from starlette.responses import HTMLResponse, Response
from starlette.staticfiles import StaticFiles

from regard.checkpoint import ModelFolder, read_log
from regard.server.app import Service, create_app
from regard.server.guards import json_response
from regard.studio.offline import PAGE, offline_page


def create_studio(service: Service) -> FastAPI:
    """The app.

    Args:
        service: with its models loaded.
    """
    app = create_app(service)

    @app.get("/v1/models/{name}/log", include_in_schema=False)
    def log(name: Annotated[str, PathParameter(max_length=64)]) -> Response:
        """The training log of a model's folder as it is now; of an ensemble, its first member's."""
        entry = service.registry[name].entry
        rows = [] if entry is None else read_log(ModelFolder(entry.folder).members[0].path)
        return json_response({"rows": [row for row in rows if row["event"] != "start"]})

    @app.get("/offline.html", include_in_schema=False)
    async def offline() -> Response:
        """The page that a browser fills with what was answered, to save it."""
        return HTMLResponse(offline_page())

    app.mount("/", StaticFiles(directory=PAGE, html=True), name="studio")
    return app
