"""What stands before every route, as ASGI middleware: security headers, keys, limits, and errors without internals.

In: any request. Out: an answer within the limits: a body that is too large, slow or not JSON is refused before it is
parsed, a key is compared in constant time, an exception becomes a 500 whose details are in the log alone. Every answer
has the security headers. Knows nothing of models.
"""

import asyncio
import hashlib
import hmac
import json
import logging
import time
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from regard.server.config import Limits
from regard.server.metrics import Metrics

log = logging.getLogger("regard.server")

API = ("/v1/", "/healthz", "/readyz", "/metrics", "/openapi.json")
"""Paths of the API; others are pages."""
OPEN = ("/healthz", "/readyz", "/openapi.json")
"""What needs no key: it shows nothing of models or texts."""

_API_POLICY = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
_PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; "
    "connect-src 'self'; manifest-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
)
_HEADERS = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}


def error_response(
    status: int, code: str, message: str, headers: Mapping[str, str] | None = None
) -> Response:
    """An error as every route answers it.

    Args:
        status: of HTTP.
        code: one word for programs.
        message: a sentence for people.
        headers: such as Retry-After.
    """
    return json_response({"error": {"code": code, "message": message}}, status, headers)


def json_response(value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """A JSON answer; a number that is not finite, which JSON lacks, is null."""
    content = to_json_text(value).encode("utf-8", "replace")  # a wrong key may be half of a surrogate pair
    return Response(content, status, headers, media_type="application/json")


def to_json_text(value: Any) -> str:
    """A value on one line of JSON, with null for numbers that are not finite."""
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    except ValueError:
        return json.dumps(_finite(value), ensure_ascii=False, allow_nan=False)


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if abs(value) < float("inf") else None
    if isinstance(value, dict):
        return {key: _finite(each) for key, each in value.items()}
    return [_finite(each) for each in value] if isinstance(value, list | tuple) else value


def is_api(path: str) -> bool:
    """Whether a path belongs to the API."""
    return path.startswith(API)


class SecurityHeaders:
    """Adds the security headers to every answer."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        api = is_api(scope["path"])

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
                headers.setdefault("content-security-policy", _API_POLICY if api else _PAGE_POLICY)
                if api:
                    headers.setdefault("cache-control", "no-store")
            await send(message)

        await self._app(scope, receive, send_with_headers)


class Keys:
    """API keys, compared in constant time: each with every one, as hashes of equal length.

    Args:
        keys: what clients may send; none where every client is let in.
    """

    def __init__(self, keys: Sequence[str]) -> None:
        self._hashes = [self._hash(key.encode()) for key in keys]

    def __bool__(self) -> bool:
        return bool(self._hashes)

    @staticmethod
    def _hash(key: bytes) -> bytes:
        return hashlib.sha256(key).digest()

    def allow(self, headers: Headers) -> bool:
        """Whether a request has one of them, as ``Authorization: Bearer KEY``."""
        scheme, _, key = headers.get("authorization", "").partition(" ")
        given = self._hash(key.strip().encode("latin-1", "replace"))
        equal = [hmac.compare_digest(given, known) for known in self._hashes]
        return scheme.lower() == "bearer" and any(equal)


class Guard:
    """Refuses what is beyond the limits or has no key, reads the body, and counts answers.

    Args:
        app: what answers.
        limits: of the service.
        metrics: where answers are counted.
        keys: of clients; operators' keys open everything that they do.
        admin_keys: of operators.
    """

    def __init__(
        self, app: ASGIApp, *, limits: Limits, metrics: Metrics, keys: Keys, admin_keys: Keys
    ) -> None:
        self._app, self._limits, self._metrics = app, limits, metrics
        self._keys, self._admin_keys = keys, admin_keys
        self._in_progress = 0
        metrics.gauge("regard_requests_in_progress", lambda: {(): self._in_progress})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started, status = time.monotonic(), 0

        async def send_and_note(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        self._in_progress += 1
        try:
            refusal, body = await self._check(scope, receive)
            if refusal is not None:
                await refusal(scope, receive, send_and_note)
                return
            try:
                await self._app(scope, _replay(body, receive), send_and_note)
            except Exception:
                number = uuid.uuid4().hex[:12]
                log.exception("error %s at %s %s", number, scope["method"], _route(scope))
                if status:  # too late to say it
                    raise
                message = f"internal error {number}; the log of the service has its details"
                await error_response(500, "internal", message)(scope, receive, send_and_note)
        finally:
            self._in_progress -= 1
            route = _route(scope)
            self._metrics.count("regard_requests_total", route=route, status=str(status or 499))
            self._metrics.observe("regard_request_seconds", time.monotonic() - started, route=route)

    async def _check(self, scope: Scope, receive: Receive) -> tuple[Response | None, bytes]:
        """An error, or the whole body."""
        limits, headers, path = self._limits, Headers(scope=scope), scope["path"]
        if self._in_progress > limits.connections and path not in OPEN:
            message = f"{limits.connections} requests are being answered; try again later"
            return self._refuse("connections", 503, "overloaded", message, {"Retry-After": "1"}), b""
        if self._keys and is_api(path) and path not in OPEN and not self._has_key(headers):
            message = "no valid API key; send it as: Authorization: Bearer KEY"
            return self._refuse("key", 401, "unauthorized", message, {"WWW-Authenticate": "Bearer"}), b""
        too_large = f"a body of more than {limits.body_bytes} bytes; send fewer texts at a time"
        length = headers.get("content-length", "0")
        if not length.isdecimal() or len(length) > 18 or int(length) > limits.body_bytes:
            return self._refuse("body", 413, "too_large", too_large, {"Connection": "close"}), b""
        body = bytearray()
        try:
            async with asyncio.timeout(limits.read_seconds):
                while True:
                    part = await receive()
                    body += part.get("body", b"")
                    if len(body) > limits.body_bytes:
                        return self._refuse("body", 413, "too_large", too_large, {"Connection": "close"}), b""
                    if not part.get("more_body", False):
                        break
        except TimeoutError:
            sentence = f"the body did not arrive within {limits.read_seconds:g} s"
            return self._refuse("slow", 408, "timeout", sentence, {"Connection": "close"}), b""
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        if body and kind != "application/json":
            message = "the body must be JSON; send the header Content-Type: application/json"
            return self._refuse("content_type", 415, "not_json", message), b""
        return None, bytes(body)

    def _has_key(self, headers: Headers) -> bool:
        allowed = [keys.allow(headers) for keys in (self._keys, self._admin_keys)]
        return any(allowed)

    def _refuse(
        self, reason: str, status: int, code: str, message: str, headers: Mapping[str, str] | None = None
    ) -> Response:
        self._metrics.count("regard_rejected_total", reason=reason)
        return error_response(status, code, message, headers)


def _replay(body: bytes, receive: Receive) -> Receive:
    """A channel that gives a body that was read before, and then what comes."""
    sent = False

    async def replay() -> Message:
        nonlocal sent
        if sent:
            return await receive()
        sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay


def _route(scope: Scope) -> str:
    """The path of the route that answered; not what a client typed, of which there is no end."""
    route: str = getattr(scope.get("route"), "path", "other")
    return route
