"""What is served, where, and within which limits: from ``--config`` and flags.

In: a TOML file with the tables ``models.NAME``, ``limits`` and ``batching``; models as the command line names them.
Out: `ServeConfig`. API keys are not options: `read_keys` reads them from a file or from the environment, so that no
list of processes and no shell history has them.
"""

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from regard.config import Config, in_range, one_of
from regard.errors import ConfigError
from regard.io import read_whole

_MAX_KEYS_BYTES = 1 << 20
_SHORTEST_KEY = 16
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_PRECISIONS = ("float32", "bfloat16", "int8")

KEYS_VARIABLE, ADMIN_VARIABLE = "REGARD_API_KEYS", "REGARD_ADMIN_KEYS"
"""The environment variables with keys, blanks or commas between them: of clients, and of operators."""


@dataclass(frozen=True)
class ModelEntry(Config):
    """One model of the service."""

    folder: str
    """The folder of the model; it is read again when the model is replaced, and requests cannot name another."""
    weights: str = "best"
    """Checkpoint: best or last."""
    precision: str = "float32"
    """Of a translator's matrices: float32, bfloat16 or int8."""
    shortlist: bool = False
    """Whether a translator chooses from the folder's shortlist instead of the whole vocabulary."""

    def __post_init__(self) -> None:
        one_of("precision", self.precision, _PRECISIONS)


@dataclass(frozen=True)
class Limits(Config):
    """What one request, and all of them together, may use; beyond it the answer is an error, not a slow service."""

    body_bytes: int = 1 << 20
    """Bytes of a request's body."""
    texts: int = 128
    """Texts of a request, or lines to sample."""
    characters: int = 10_000
    """Characters of a text, a prompt or a constraint."""
    length: int = 250
    """Tokens of a text; tokens that an option can demand of an output."""
    beam: int = 20
    """Width of the beam, and samples per text."""
    ratio: float = 4.0
    """Tokens of a translation per source token; the largest max_ratio and min_ratio."""
    queue: int = 1024
    """Texts that wait; when more would, the answer is 429 with Retry-After."""
    connections: int = 512
    """Requests that are read or answered at the same time; beyond it the answer is 503 with Retry-After."""
    seconds: float = 60.0
    """From a request's arrival to its answer; after that the answer is 504."""
    read_seconds: float = 10.0
    """For a client to send its headers, and again for its body; and to take what is sent to it."""

    def __post_init__(self) -> None:
        for name in ("body_bytes", "texts", "characters", "length", "beam", "queue", "connections"):
            in_range(f"limits.{name}", getattr(self, name), 1)
        for name in ("ratio", "seconds", "read_seconds"):
            in_range(f"limits.{name}", getattr(self, name), 0.01, 1e6)
        if self.queue < self.texts:
            raise ConfigError(
                f"limits.queue: {self.queue} is less than the texts of one request, {self.texts}; raise queue, or "
                "lower limits.texts"
            )


@dataclass(frozen=True)
class Batching(Config):
    """How texts of many requests share a batch."""

    texts: int = 64
    """The most texts in a batch; 1 computes them one at a time."""
    milliseconds: float = 5.0
    """How long a text waits for as many others as the batch before had, when nothing else is being computed."""

    def __post_init__(self) -> None:
        in_range("batching.texts", self.texts, 1, 10_000)
        in_range("batching.milliseconds", self.milliseconds, 0, 60_000)


@dataclass(frozen=True)
class ServeConfig(Config):
    """A whole service but its models."""

    host: str = "127.0.0.1"
    """The address to listen on; 127.0.0.1 is this machine alone, 0.0.0.0 every network it is in."""
    port: int = 8000
    """The port to listen on; 0 for any that is free."""
    allow_origins: tuple[str, ...] = ()
    """Origins of web pages that may call the service from a browser (CORS), such as https://example.org."""
    allow_hosts: tuple[str, ...] = ()
    """Host names by which it may be called; by default those of this machine if it listens there, else any."""
    device: str = "cpu"
    """cpu, cuda, or auto."""
    threads: int = 0
    """Threads that compute; 0 for as many as this process may use."""
    limits: Limits = field(default_factory=Limits)
    """See the table of limits."""
    batching: Batching = field(default_factory=Batching)
    """See the table of batching."""

    def __post_init__(self) -> None:
        in_range("port", self.port, 0, 65_535)
        in_range("threads", self.threads, 0, 1024)
        for origin in self.allow_origins:
            if not re.fullmatch(r"https?://[^/\s*]+", origin):
                raise ConfigError(
                    f"allow_origins: {origin!r} is not an origin; write scheme and host, as https://example.org"
                )

    @property
    def local(self) -> bool:
        """Whether only this machine can reach it."""
        return self.host in ("127.0.0.1", "localhost", "::1")


def parse_model(argument: str) -> tuple[str, ModelEntry]:
    """A model as the command line names it: ``FOLDER``, ``NAME=FOLDER`` or ``NAME=FOLDER,int8,shortlist``.

    Returns:
        Its name, by default that of the folder, and its entry.

    Raises:
        ConfigError: an option is unknown, or the name cannot be used.
    """
    path, *options = argument.split(",")
    name, equals, folder = path.partition("=")
    if not equals:
        folder, name = path, Path(path).resolve().name
    values: dict[str, Any] = {"folder": folder}
    for option in options:
        if option == "shortlist":
            values["shortlist"] = True
        elif option in ("best", "last"):
            values["weights"] = option
        else:
            one_of(f"model {argument}", option, (*_PRECISIONS, "shortlist", "best", "last"))
            values["precision"] = option
    check_name(name, argument)
    return name, ModelEntry.from_mapping(values, f"model {argument}")


def check_name(name: str, place: str) -> None:
    """Raise unless a model's name can be part of an address.

    Raises:
        ConfigError: it cannot.
    """
    if not _NAME.fullmatch(name):
        raise ConfigError(
            f"{place}: {name!r} cannot name a model; use letters, digits, dots and hyphens, as in NAME=FOLDER"
        )


def read_config(
    mapping: Mapping[str, Any], arguments: Iterable[str]
) -> tuple[ServeConfig, dict[str, ModelEntry]]:
    """The service and its models.

    Args:
        mapping: of a TOML file, with flags laid over it.
        arguments: the models that the command line names.

    Raises:
        ConfigError: an option is unknown or out of range; two models have one name; there is no model.
    """
    rest = dict(mapping)
    tables = rest.pop("models", {})
    if not isinstance(tables, Mapping) or not all(isinstance(table, Mapping) for table in tables.values()):
        raise ConfigError('models: expected tables such as [models.en-fr] with folder = "…"')
    entries: dict[str, ModelEntry] = {}
    for name, table in tables.items():
        check_name(name, f"models.{name}")
        if "folder" not in table:
            raise ConfigError(f'models.{name}: no folder; add folder = "…"')
        entries[name] = ModelEntry.from_mapping(table, f"models.{name}")
    for argument in arguments:
        name, entry = parse_model(argument)
        if name in entries:
            raise ConfigError(f"model {argument}: there is another {name!r}; name them, as in NAME=FOLDER")
        entries[name] = entry
    return ServeConfig.from_mapping(rest, ""), entries


def read_keys(path: Path | None, variable: str) -> tuple[str, ...]:
    """Read API keys: from a file, one per line, or from an environment variable.

    Args:
        path: the file; None reads the variable.
        variable: its name.

    Raises:
        ConfigError: the file cannot be read or has no key, or a key is short or has blanks.
    """
    if path is None:
        keys = tuple(os.environ.get(variable, "").replace(",", " ").split())
    else:
        try:
            lines = read_whole(path, _MAX_KEYS_BYTES).decode("utf-8").splitlines()
        except (OSError, ValueError) as error:
            raise ConfigError(
                f"{path}: cannot be read ({error}); name a file with one key per line"
            ) from None
        keys = tuple(line.strip() for line in lines if line.strip() and not line.startswith("#"))
        if not keys:
            raise ConfigError(f"{path}: no key in it; write one per line")
    for number, key in enumerate(keys, start=1):
        if len(key) < _SHORTEST_KEY or not re.fullmatch(r"[\x21-\x7e]+", key):
            raise ConfigError(
                f"{path or variable}: key {number} is shorter than {_SHORTEST_KEY} characters, or has blanks or others "
                "than ASCII; make one with: python -c 'import secrets; print(secrets.token_urlsafe(32))'"
            )
    return keys
