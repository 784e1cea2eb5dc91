"""`create_app`: the routes of the service over its models, batches and guards.

    POST /v1/translate, /v1/align, /v1/sample, /v1/score, /v1/classify, /v1/tag
    GET  /v1/models, POST /v1/models/NAME/reload (with an operator's key)
    GET  /healthz, /readyz, /metrics, /openapi.json

In: a `Service`. Out: an ASGI app, with a folder of pages at ``/`` where one is given. A route checks its body, queues
its texts and answers with their results, as one JSON object or as server-sent events. A client that goes away, or waits
longer than the limit, takes its texts out of the queue.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from fastapi import FastAPI, Request
from fastapi import Path as PathParameter
from fastapi.exceptions import RequestValidationError
from fastapi.middleware.cors import CORSMiddleware
from fastapi.openapi.utils import get_openapi
from fastapi.params import Body as BodyParameter
from pydantic import BaseModel, Field, create_model
from starlette.exceptions import HTTPException
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.staticfiles import StaticFiles

from regard.errors import RegardError
from regard.server.batching import Batcher, Done, OverloadedError, Work
from regard.server.config import ModelEntry, ServeConfig
from regard.server.guards import (
    Guard,
    Keys,
    SecurityHeaders,
    error_response,
    json_response,
    log,
    to_json_text,
)
from regard.server.metrics import Metrics
from regard.server.operations import Operation, operations
from regard.server.operations.operation import Body, LimitError, Strict
from regard.server.registry import ModelNotFoundError, Registry
from regard.tasks.predictor import TooLongError
from regard.version import __version__

_HEARTBEAT = 10.0  # seconds without an event after which a comment keeps the connection
_FOR_COMMAND_LINE = ", or raise the limit (--max-length)"  # the end of a message for another reader
_MOST_PARTIALS = 256  # that wait for a slow client
_MOST_PROBLEMS = 5  # of a body, in one message
_LOCAL_HOSTS = ("localhost", "127.0.0.1", "[::1]")


class Service:
    """Models, their work and its numbers.

    Args:
        config: where and within which limits.
        keys: of clients; every client is let in where there are none.
        admin_keys: of operators, who may replace models by a route; without them there is no such route.

    Attributes:
        registry: the models.
        batcher: what computes.
        metrics: what Prometheus reads.
        draining: whether it is about to end.
    """

    def __init__(self, config: ServeConfig, keys: Sequence[str] = (), admin_keys: Sequence[str] = ()) -> None:
        self.config, self.keys, self.admin_keys = config, Keys(keys), Keys(admin_keys)
        self.metrics = Metrics()
        self.registry = Registry(config.limits, self.metrics, config.device)
        self.batcher = Batcher(config.batching, config.limits.queue, self.metrics, config.threads)
        self.draining = False
        self.metrics.gauge("regard_queue_texts", lambda: {(): self.batcher.waiting})
        self.metrics.gauge("regard_model_version", self._versions)

    def _versions(self) -> dict[tuple[tuple[str, str], ...], float]:
        return {(("model", name),): self.registry[name].version for name in self.registry.names()}

    def load(self, entries: dict[str, ModelEntry]) -> None:
        """Open the models of the configuration.

        Raises:
            RegardError: one cannot be opened.
        """
        for name, entry in entries.items():
            self.registry.load(name, entry)

    @property
    def ready(self) -> bool:
        """Whether it answers: there is a model, and it is not about to end."""
        return bool(len(self.registry)) and self.batcher.running and not self.draining


@dataclass(frozen=True)
class _Outcome:
    """What became of a request's work: its results, or an answer without them."""

    results: list[Any]
    answer: Response | None = None


class ErrorText(BaseModel):
    """An error."""

    code: str = Field(description="One word for programs.", examples=["invalid"])
    message: str = Field(description="A sentence for people.")


class ErrorAnswer(BaseModel):
    """Every answer that is not a success."""

    error: ErrorText


class ModelAnswer(Strict):
    """A model of the service."""

    name: str
    task: str
    operations: list[str]
    version: int = Field(description="1 for the first, and one more whenever it was replaced.")
    num_parameters: int
    num_models: int = Field(description="More than 1 for an ensemble.")
    precision: str
    shortlist: bool
    labels: list[str]
    features: list[str]
    attends_past: bool = Field(description="Whether its cells attend to what they read before.")
    update: int | None = Field(
        None, description="The update of the training after which its weights were written."
    )


class ModelsAnswer(Strict):
    """The models, and what a request may contain."""

    models: list[ModelAnswer]
    limits: dict[str, float]
    regard: str = Field(description="The version of the package.")


_ERRORS: dict[int | str, dict[str, Any]] = {
    status: {"model": ErrorAnswer, "description": sentence}
    for status, sentence in (
        (400, "The request cannot be read."),
        (401, "No valid API key."),
        (404, "No such model."),
        (408, "The body arrived too slowly."),
        (413, "The body is too large."),
        (415, "The body is not JSON."),
        (422, "The body is not as described, or beyond a limit."),
        (429, "The queue is full; see Retry-After."),
        (500, "An error of the service."),
        (503, "The service is overloaded or about to end; see Retry-After."),
        (504, "The answer took too long."),
    )
}


_EVENT = {
    "type": "object",
    "description": "Where `stream` is true. Each event's data is a JSON object: of `partial` and `result` with the "
    "`index` of a text, of `error` with an `error` as other answers have it.",
    "properties": {
        "event": {"type": "string", "enum": ["partial", "result", "end", "error"]},
        "data": {"type": "string"},
    },
    "required": ["event", "data"],
}


def create_app(
    service: Service, *, pages: Path | None = None, more: Sequence[Operation[Any]] = ()
) -> FastAPI:
    """The app.

    Args:
        service: whose batcher starts and stops with the app.
        pages: a folder of static pages to serve at ``/``; None for the API alone.
        more: operations beside those of the tasks.
    """

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        service.batcher.start()
        yield
        service.draining = True
        await service.batcher.stop()

    app = FastAPI(
        title="Regard",
        version=__version__,
        summary="Recurrent sequence-to-sequence models with attention, as a service.",
        docs_url=None,  # it loads scripts from elsewhere
        redoc_url=None,
        lifespan=lifespan,
    )
    app.state.service = service
    _add_errors(app, service)
    for operation in (*operations().values(), *more):
        _add_operation(app, service, operation)
    _add_models(app, service)
    _add_probes(app, service)
    if pages is not None:
        app.mount("/", StaticFiles(directory=pages, html=True), name="pages")
    if service.keys:
        app.openapi = partial(_openapi_with_keys, app)  # type: ignore[method-assign]
    config = service.config
    app.add_middleware(
        Guard,
        limits=config.limits,
        metrics=service.metrics,
        keys=service.keys,
        admin_keys=service.admin_keys,
    )
    hosts = config.allow_hosts or (_LOCAL_HOSTS if config.local else ("*",))
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=list(hosts), www_redirect=False)
    if config.allow_origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=list(config.allow_origins),
            allow_methods=["GET", "POST"],
            allow_headers=["authorization", "content-type"],
            expose_headers=["retry-after"],
        )
    app.add_middleware(SecurityHeaders)  # the outermost: every answer has them
    return app


def _openapi_with_keys(app: FastAPI) -> dict[str, Any]:
    """The OpenAPI document, which says that a key is needed."""
    if app.openapi_schema is None:
        schema = get_openapi(title=app.title, version=app.version, summary=app.summary, routes=app.routes)
        schema["components"]["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
        schema["security"] = [{"key": []}]
        app.openapi_schema = schema
    return app.openapi_schema


def _add_operation(app: FastAPI, service: Service, operation: Operation[Any]) -> None:
    """A route for an operation."""

    async def answer(request: Request, body: Any) -> Response:
        limits = service.config.limits
        model = service.registry.choose(body.model, operation)
        prepared = operation.prepare(body, limits)
        key = (model, operation.name, prepared.options)
        compute = partial(operation.compute, model.predictor, prepared.options)
        work = Work(model.name, operation.name, key, compute, prepared.items)
        streams = operation.streams and body.stream
        events = _Events(work, operation, body) if streams else None
        if prepared.items:
            _refuse_draining(service)
            service.batcher.submit(work)
        else:
            work.ended.set_result([])
        if events is not None:
            return StreamingResponse(
                events.generate(limits.seconds),
                media_type="text/event-stream",
                headers={"X-Accel-Buffering": "no"},
            )
        outcome = await _await_results(work, request, limits.seconds)
        if outcome.answer is not None:
            return outcome.answer
        results = [operation.to_json(result, body) for result in outcome.results]
        return json_response({"model": model.name, "version": model.version, operation.results: results})

    example: dict[str, Any] = {name: {"value": value} for name, value in operation.examples.items()}
    answer.__annotations__["body"] = Annotated[operation.body, BodyParameter(openapi_examples=example)]
    fields: dict[str, Any] = {
        "model": (str, Field(description="The model that answered.")),
        "version": (int, Field(description="Its version; see /v1/models.")),
        operation.results: (list[operation.result], Field(description="One for each text, in order.")),  # type: ignore[name-defined]
    }
    success: dict[str, Any] = {
        "model": create_model(f"{type(operation).__name__}Answer", __base__=Strict, **fields),
        "description": "The results.",
    }
    if operation.streams:
        success["content"] = {"text/event-stream": {"schema": _EVENT}}
    app.post(
        f"/v1/{operation.name}",
        summary=operation.summary,
        tags=["models"],
        operation_id=operation.name,
        response_model=None,
        responses={200: success, **_ERRORS},
    )(answer)


class DrainingError(RegardError):
    """The service is about to end."""


def _refuse_draining(service: Service) -> None:
    if service.draining:
        raise DrainingError("the service is about to end; try again in 1 s")


async def _await_results(work: Work, request: Request, seconds: float) -> _Outcome:
    """Wait for results; where the client goes away or the time is over, take the work out of the queue."""
    gone = asyncio.ensure_future(
        request.receive()
    )  # the body was read: the next message is the client's leaving
    try:
        futures: set[asyncio.Future[Any]] = {work.ended, gone}
        await asyncio.wait(futures, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        gone.cancel()
        ended = work.ended.done()
        if not ended:
            work.ended.cancel()
    if ended:
        return _Outcome(work.ended.result())
    if gone.done() and not gone.cancelled():
        return _Outcome([], error_response(499, "gone", "the client has gone"))
    return _Outcome([], error_response(504, "timeout", _too_slow(seconds)))


def _too_slow(seconds: float) -> str:
    return f"no result within {seconds:g} s; send fewer texts at a time, or a smaller beam"


class _Events:
    """Server-sent events of some work; for a slow client only the newest partial results are kept."""

    def __init__(self, work: Work, operation: Operation[Any], body: Body) -> None:
        self._work, self._operation, self._body = work, operation, body
        self._partials: deque[tuple[int, Any]] = deque(maxlen=_MOST_PARTIALS)
        self._results: deque[tuple[int, Any]] = deque()
        self._news = asyncio.Event()
        work.watch = self._add
        work.ended.add_done_callback(lambda _: self._news.set())

    def _add(self, index: int, value: Any) -> None:
        if isinstance(value, Done):
            self._results.append((index, value.result))
        else:
            self._partials.append((index, value))
        self._news.set()

    async def generate(self, seconds: float) -> AsyncIterator[str]:
        """The events as text, until all results are sent, or an error ends them."""
        work, operation = self._work, self._operation
        try:
            async with asyncio.timeout(seconds):
                while True:
                    self._news.clear()
                    while self._partials:
                        index, part = self._partials.popleft()
                        yield _event("partial", {"index": index, **operation.partial_json(part)})
                    while self._results:
                        index, result = self._results.popleft()
                        yield _event("result", {"index": index, **operation.to_json(result, self._body)})
                    if work.ended.done() and not self._news.is_set():
                        work.ended.result()
                        break
                    try:
                        await asyncio.wait_for(self._news.wait(), _HEARTBEAT)
                    except TimeoutError:
                        yield ": waiting\n\n"
            yield _event("end", {})
        except TimeoutError:
            yield _error_event("timeout", _too_slow(seconds))
        except RegardError as error:
            yield _error_event(*_explain(error)[1:])
        except Exception:
            log.exception("error in a stream of %s", operation.name)
            yield _error_event("internal", "internal error; the log of the service has its details")
        finally:
            if not work.ended.done():
                work.ended.cancel()


def _event(name: str, value: Any) -> str:
    return f"event: {name}\ndata: {to_json_text(value)}\n\n"


def _error_event(code: str, message: str) -> str:
    return _event("error", {"error": {"code": code, "message": message}})


def _explain(error: RegardError) -> tuple[int, str, str]:
    """Status, code and message of an error that the client can fix."""
    message = str(error).removesuffix(_FOR_COMMAND_LINE)
    match error:
        case OverloadedError():
            return 429, "overloaded", message
        case DrainingError():
            return 503, "draining", message
        case ModelNotFoundError():
            return 404, "no_model", message
        case TooLongError():
            return 422, "too_long", message
        case LimitError():
            return 422, "limit", message
    return 422, "invalid", message


def _place(location: Sequence[str | int]) -> str:
    """Where in the body an error is; alternatives, which pydantic names by their types, as list[…], are left out."""
    parts = [str(part) for part in location[1:]]
    return ".".join(part for part in parts if not part.endswith("]")) or "body"


def _add_errors(app: FastAPI, service: Service) -> None:
    """Every error as one kind of JSON object, which names the place in the body and repeats none of its texts."""

    @app.exception_handler(RegardError)
    async def explain(request: Request, error: RegardError) -> Response:
        status, code, message = _explain(error)
        headers = {}
        if isinstance(error, OverloadedError | DrainingError):
            headers["Retry-After"] = str(getattr(error, "retry_after", 1))
        if status in (429, 503) or isinstance(error, LimitError | TooLongError):
            service.metrics.count("regard_rejected_total", reason=code)
        return error_response(status, code, message, headers)

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> Response:
        found = error.errors()[:_MOST_PROBLEMS]
        if found and found[0]["type"] == "json_invalid":
            message = f"the body is not JSON: an error at character {found[0]['loc'][-1]}"
            return error_response(422, "invalid", message)
        problems = [f"{_place(each['loc'])}: {each['msg']}"[:200] for each in found]
        return error_response(422, "invalid", "; ".join(problems))

    @app.exception_handler(HTTPException)
    async def other(request: Request, error: HTTPException) -> Response:
        words = {404: "not_found", 405: "method_not_allowed"}
        code = words.get(error.status_code, "invalid")
        message = "no such route; see /openapi.json" if error.detail == "Not Found" else str(error.detail)
        return error_response(error.status_code, code, message, error.headers)


def _add_models(app: FastAPI, service: Service) -> None:
    """The routes of the models themselves."""
    registry = service.registry

    @app.get(
        "/v1/models",
        tags=["models"],
        summary="The models, what each can be used for, and the limits of a request.",
        operation_id="models",
        response_model=None,
        responses={200: {"model": ModelsAnswer, "description": "All models."}, **_ERRORS},
    )
    async def models() -> Response:
        return json_response(
            {
                "models": [registry[name].to_json() for name in registry.names()],
                "limits": asdict(service.config.limits),
                "regard": __version__,
            }
        )

    if not service.admin_keys:
        return

    @app.post(
        "/v1/models/{name}/reload",
        tags=["operators"],
        summary="Replace a model by what its configured folder holds now; needs an operator's key.",
        operation_id="reload",
        response_model=None,
        responses={200: {"model": ModelAnswer, "description": "The new version."}, **_ERRORS},
    )
    async def reload(
        request: Request, name: Annotated[str, PathParameter(max_length=64, pattern=r"^[A-Za-z0-9._-]+$")]
    ) -> Response:
        if not service.admin_keys.allow(request.headers):
            return error_response(403, "forbidden", "this needs an operator's key")
        try:
            return json_response((await registry.reload(name)).to_json())
        except ModelNotFoundError:
            raise
        except RegardError as error:
            log.error("model %s was not replaced: %s", name, error)
            message = "the folder cannot be opened, and the old model stays; the log of the service says why"
            return error_response(409, "not_replaced", message)


def _add_probes(app: FastAPI, service: Service) -> None:
    """What machines ask: whether it lives, whether it answers, and its numbers."""

    @app.get("/healthz", tags=["probes"], summary="Whether the process lives.", operation_id="healthz")
    async def health() -> dict[str, str]:
        return {"status": "ok"}

    @app.get(
        "/readyz",
        tags=["probes"],
        summary="Whether requests are answered: 503 before the models are loaded, and before the end.",
        operation_id="readyz",
        response_model=None,
        responses={
            200: {"description": "Ready.", "content": {"application/json": {}}},
            503: {"model": ErrorAnswer, "description": "Not ready."},
        },
    )
    async def ready() -> Response:
        if service.ready:
            return json_response({"status": "ready"})
        return error_response(503, "not_ready", "no models yet, or about to end", {"Retry-After": "1"})

    @app.get(
        "/metrics",
        tags=["probes"],
        summary="Counters and histograms for Prometheus.",
        operation_id="metrics",
        response_class=PlainTextResponse,
        responses={401: _ERRORS[401]},
    )
    async def metrics() -> Response:
        return Response(service.metrics.render(), media_type="text/plain; version=0.0.4")
