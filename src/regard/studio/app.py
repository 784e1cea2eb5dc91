"""The studio's app: the service's routes, and the page at ``/``."""

from fastapi import FastAPI
from starlette.responses import HTMLResponse, Response
from starlette.staticfiles import StaticFiles

from regard.server.app import Service, create_app
from regard.studio.offline import PAGE, offline_page


def create_studio(service: Service) -> FastAPI:
    """The app.

    Args:
        service: with its models loaded.
    """
    app = create_app(service)

    @app.get("/offline.html", include_in_schema=False)
    async def offline() -> Response:
        """The page that a browser fills with what was answered, to save it."""
        return HTMLResponse(offline_page())

    app.mount("/", StaticFiles(directory=PAGE, html=True), name="studio")
    return app
