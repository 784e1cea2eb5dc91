"""A service in this process: models of a few units, called through its ASGI app."""

import asyncio
from contextlib import asynccontextmanager
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest

from regard.checkpoint import ModelFolder
from regard.config import merge
from regard.server.config import ServeConfig
from regard.tasks import TASKS

if find_spec("fastapi") is None or find_spec("httpx") is None:
    collect_ignore_glob = ["test_*.py"]  # the extra serve is not installed
else:
    import httpx

    from regard.server.app import Service, create_app

MODELS = Path(__file__).parents[1] / "fixtures" / "format-2"


@cache
def _predictor(folder):
    kind = TASKS[ModelFolder(folder).task].predictor()
    options = {} if kind.task == "language_model" else {"max_length": 250}
    return kind.load(folder, **options)


def _service(models=("translate", "lm", "classify", "tag"), keys=(), admin_keys=(), **config):
    """A service of trained models; `config` as a file has it."""
    fast = {"batching": {"milliseconds": 1.0}, "threads": 1}
    service = Service(ServeConfig.from_mapping(merge(fast, config), ""), keys, admin_keys)
    for name in models:
        service.registry.add(name, _predictor(MODELS / name))
    return service


@pytest.fixture
def models():
    """The folder with a trained model of each task: translate, lm, classify, tag."""
    return MODELS


@pytest.fixture
def predictor():
    """A trained model, opened once: its name → its predictor."""
    return lambda name: _predictor(MODELS / name)


@pytest.fixture
def make_service():
    """Make a service without a server."""
    return _service


@asynccontextmanager
async def _client(service, **options):
    app = create_app(service, **options)
    async with app.router.lifespan_context(app):
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost", timeout=60) as client:
            yield client


@pytest.fixture
def client_of():
    """An httpx client of a service, as an asynchronous context."""
    return _client


@pytest.fixture
def run():
    """Run a scenario, an asynchronous function of a client and its service, and return its result."""

    def run_scenario(scenario, service=None, pages=None, **config):
        made = service or _service(**config)

        async def body():
            async with _client(made, pages=pages) as client:
                return await scenario(client, made)

        return asyncio.run(asyncio.wait_for(body(), 120))

    return run_scenario


@pytest.fixture
def post(run):
    """Post one body and return the answer."""

    def post_one(path, body, headers=None, **config):
        async def scenario(client, _):
            return await client.post(path, json=body, headers=headers)

        return run(scenario, **config)

    return post_one
