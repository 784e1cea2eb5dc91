"""`run`: listen with uvicorn until a signal ends it.

SIGTERM and Ctrl-C drain: no new connection is accepted, requests that have arrived are answered, and then the process
ends. SIGHUP replaces every model by what its folder holds now. A signal, and not a watch on the folders: a training or
a copy writes several files and many checkpoints, and the operator knows which of them shall be used. Clients that are
slow to send their headers, or to take an answer, are cut off.
"""

import asyncio
import logging
import signal
import socket
import sys
from asyncio import Transport
from collections.abc import Callable
from typing import Any

import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.h11_impl import H11Protocol

from regard.errors import ConfigError, RegardError
from regard.server.app import Service, create_app
from regard.server.guards import log

_HEADER_BYTES = 16_384
_SWITCH = (
    0.0005  # seconds after which the thread that computes lets the one that answers run; 0.005 by default
)
_BACKLOG = 1024  # connections that wait to be accepted


class TimedProtocol(H11Protocol):
    """HTTP/1.1 with limits on the time for a request's headers and for taking an answer."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._seconds: float = self.config.read_seconds  # type: ignore[attr-defined]
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        """Begin to wait for headers."""
        super().connection_made(transport)
        self._start_timer()

    def handle_events(self) -> None:
        """Stop the clock while a request is answered, and start it when one has begun to arrive."""
        super().handle_events()
        if self._is_waiting() and self._timer is None and self.conn.trailing_data[0]:
            self._start_timer()
        elif not self._is_waiting():
            self._stop_timer()

    def _is_waiting(self) -> bool:
        """Whether no request is being answered."""
        return self.cycle is None or self.cycle.response_complete

    def pause_writing(self) -> None:
        """The client does not take what is sent: begin to wait for it."""
        super().pause_writing()
        self._start_timer()

    def resume_writing(self) -> None:
        """The client goes on."""
        super().resume_writing()
        self._stop_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the clock."""
        self._stop_timer()
        super().connection_lost(exc)

    def _start_timer(self) -> None:
        self._stop_timer()
        self._timer = self.loop.call_later(self._seconds, self.transport.abort)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


class _Config(uvicorn.Config):
    """Uvicorn's configuration, and the time for headers and answers, which its protocol reads."""

    read_seconds: float


class _Server(uvicorn.Server):
    """Uvicorn's server, which marks the service as draining when a signal arrives."""

    def __init__(self, config: uvicorn.Config, service: Service) -> None:
        super().__init__(config)
        self._service = service

    def handle_exit(self, sig: int, frame: Any) -> None:
        """End after the requests that have arrived, with status 0; at once after a second Ctrl-C."""
        self._service.draining = True
        self.force_exit = self.should_exit and sig == signal.SIGINT
        self.should_exit = True


def run(
    service: Service,
    *,
    app: FastAPI | None = None,
    on_listening: Callable[[str], None] | None = None,
    access_log: bool = False,
) -> None:
    """Serve until a signal ends it.

    Args:
        service: with its models loaded.
        app: over the service; by default its routes alone.
        on_listening: called with the address once connections are accepted.
        access_log: whether to log a line per request; texts are never logged.

    Raises:
        ConfigError: the address cannot be listened on.
    """
    asyncio.run(_serve(service, app or create_app(service), on_listening, access_log))


async def _serve(
    service: Service, app: FastAPI, on_listening: Callable[[str], None] | None, access_log: bool
) -> None:
    config, limits = service.config, service.config.limits
    options = _Config(
        app,
        host=config.host,
        port=config.port,
        http=TimedProtocol,
        ws="none",
        loop="asyncio",
        lifespan="on",
        log_level="info" if access_log else "warning",
        access_log=access_log,
        server_header=False,
        proxy_headers=False,
        h11_max_incomplete_event_size=_HEADER_BYTES,
        limit_concurrency=2 * limits.connections,
        timeout_keep_alive=max(1, round(limits.read_seconds)),
        timeout_graceful_shutdown=max(1, round(limits.seconds)),
    )
    options.read_seconds = limits.read_seconds
    server = _Server(options, service)
    listener = listen(config.host, config.port)
    address, port = listener.getsockname()[:2]
    url = f"http://{f'[{address}]' if ':' in address else address}:{port}"
    log.info("listening on %s", url)
    if on_listening is not None:
        on_listening(url)
    reloads: set[asyncio.Task[None]] = set()

    def reload() -> None:
        task = asyncio.get_running_loop().create_task(reload_models(service))
        reloads.add(task)
        task.add_done_callback(reloads.discard)

    if hasattr(signal, "SIGHUP"):
        asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, reload)
    await server.serve(sockets=[listener])


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens.

    Its protocol is named, because asyncio only then sends small packets at once: an answer is a header and a body, and
    the second would wait 40 ms for the first to be acknowledged.

    Raises:
        ConfigError: the address cannot be used.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        raise ConfigError(
            f"cannot listen on {host}, port {port} ({error.strerror or error}); name another with --host and --port"
        ) from None
    return listener


async def reload_models(service: Service) -> None:
    """Replace every model by what its folder holds now; one that cannot be opened stays."""
    for name in service.registry.names():
        try:
            served = await service.registry.reload(name)
        except RegardError as error:
            log.error("model %s was not replaced: %s", name, error)
        else:
            log.info("model %s was replaced: version %d", name, served.version)


def prepare_process() -> None:
    """Before models are loaded: log to standard error, and wait with SIGHUP, whose default would end the process."""
    if hasattr(signal, "SIGHUP"):
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
    sys.setswitchinterval(_SWITCH)
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    log.addHandler(handler)
    log.setLevel(logging.INFO)
