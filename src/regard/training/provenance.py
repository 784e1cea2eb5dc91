"""What a run was made of, as ``run.json`` has it: checksums of its data; versions, threads and command of each session.

In: a configuration and the examples given in Python. Out: plain values. A session is one process that trained,
or several that trained together; a run that was resumed has several sessions.
"""

import hashlib
import json
import os
import platform
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
import torch

from regard.batches.store import MANIFEST, digest_of, is_store
from regard.device import MAX_THREADS
from regard.errors import DataError, FolderError
from regard.io import parse_json, read_whole, write_whole_text
from regard.version import __version__

RUN = "run.json"
_MAX_RUN_BYTES = 1 << 26
_PACKAGES = ("torch", "lightning", "numpy", "safetensors", "tokenizers")


def fingerprint(
    data: Mapping[str, Any], train: Sequence[Any] | None = None, valid: Sequence[Any] | None = None
) -> dict[str, Any]:
    """SHA-256 of everything a run learns from.

    Args:
        data: the table ``data`` of the configuration; every option that names files is read.
        train: the training examples, if they are not in files.
        valid: the validation examples, in the same way.

    Returns:
        By option: of each file its name, size and checksum; of examples their number and checksum. What can be read
        only once, standard input or a pipe, has no checksum.
    """
    found: dict[str, Any] = {}
    for option, value in data.items():
        names = value if isinstance(value, list) else [value]
        if names and all(isinstance(name, str) and (name == "-" or os.path.exists(name)) for name in names):
            found[option] = [_file(Path(name)) for name in names]
    for option, examples in (("train", train), ("valid", valid)):
        if examples is not None:
            digest = hashlib.sha256()
            for example in examples:
                digest.update(_plain(example))
            found[option] = {"examples": len(examples), "sha256": digest.hexdigest()}
    return found


def _file(path: Path) -> dict[str, Any]:
    if is_store(path):  # which has the checksums of its parts
        return _file(path / MANIFEST)
    if not path.is_file():
        return {"file": str(path), "bytes": None, "sha256": None}
    return {"file": str(path), "bytes": path.stat().st_size, "sha256": digest_of(path)}


def _plain(value: Any) -> bytes:
    """An example as bytes that are the same in every process."""
    if isinstance(value, np.ndarray):
        return f"{value.dtype} {value.shape}\n".encode() + value.tobytes()
    if isinstance(value, frozenset):
        return b"{" + b"".join(sorted(map(_plain, value))) + b"}"
    if is_dataclass(value):
        value = [getattr(value, each.name) for each in fields(value)]
    if isinstance(value, list | tuple):
        return b"(" + b"".join(map(_plain, value)) + b")"
    return repr(value).encode("utf-8", "surrogatepass") + b"\n"


def refuse_other_data(folder: Path, now: Mapping[str, Any]) -> None:
    """Raise where a run's data are not those that it began with.

    Args:
        folder: of the run.
        now: from `fingerprint`.

    Raises:
        DataError: they differ; the message names the first file.
        FolderError: ``run.json`` is damaged.
    """
    before = read_run(folder)["data"]
    for option in {**before, **now}:
        then, here = (_checksums(each.get(option)) for each in (before, now))
        if then != here:
            files = ", ".join(each["file"] for each in _listed(now.get(option)) if "file" in each)
            raise DataError(
                f"data.{option}: {files or 'the examples'}: not the data that the run in {folder} began with; restore "
                f"them, or start a new run from its weights, as regard train NEW --from {folder}"
            )


def _listed(found: Any) -> list[dict[str, Any]]:
    return found if isinstance(found, list) else [found] if found else []


def _checksums(found: Any) -> list[str | None]:
    return [each["sha256"] for each in _listed(found)]


def read_run(folder: Path) -> dict[str, Any]:
    """Read ``run.json``.

    Raises:
        FolderError: it is missing or damaged.
    """
    path = folder / RUN
    try:
        run: dict[str, Any] = parse_json(read_whole(path, _MAX_RUN_BYTES))
        for found in run["data"].values():
            _checksums(found)
        last = run["sessions"][-1]
        differences(last, last)
        if type(last["threads"]) is not int or not 1 <= last["threads"] <= MAX_THREADS:
            raise ValueError(f"{last['threads']!r:.60} threads")
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise FolderError(f"{path}: damaged: {error}; copy the folder again") from error
    return run


def refuse_unlike_data(found: Sequence[Mapping[str, Any]]) -> None:
    """Raise where the processes that train together read different data.

    Args:
        found: from `fingerprint`, by rank.

    Raises:
        DataError: they do; the message names the first process that differs.
    """
    for rank, other in enumerate(found):
        for option in {**found[0], **other}:
            first, here = (_checksums(each.get(option)) for each in (found[0], other))
            if first != here:
                raise DataError(
                    f"data.{option}: process {rank} reads other data than process 0; give all of them the same files"
                )


def describe_session(update: int, device: torch.device, threads: int, world_size: int = 1) -> dict[str, Any]:
    """What the processes that train are made of; the first of them speaks for all.

    Args:
        update: the number of updates it begins with.
        device: where it trains.
        threads: that each trains with.
        world_size: the number of processes.
    """
    versions = {"python": platform.python_version(), "regard": __version__}
    for package in _PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:  # installed under another name
            continue
    return {
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "update": update,
        "command": _command(),
        "machine": platform.platform(),
        "device": torch.cuda.get_device_name(device) if device.type == "cuda" else "cpu",
        "threads": threads,
        "processes": world_size,
        "versions": versions,
    }


def _command() -> str:
    """The command line of this process; a package run with ``python -m`` by its name."""
    program = Path(sys.argv[0])
    name = program.parent.name if program.name == "__main__.py" else program.name
    return shlex.join([name, *sys.argv[1:]])


def differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """What differs between two sessions and may change the last bits of a result."""
    old, new = (
        {**each["versions"], **{key: each[key] for key in ("machine", "device", "threads")}}
        for each in (before, now)
    )
    return [
        f"{name} {old[name]} before, {new[name]} now" for name in new if old.get(name, new[name]) != new[name]
    ]


def write_run(folder: Path, data: Mapping[str, Any], sessions: Sequence[Mapping[str, Any]]) -> None:
    """Write ``run.json``.

    Raises:
        DataError: it cannot be written.
    """
    content = {"data": data, "sessions": sessions}
    write_whole_text(folder / RUN, json.dumps(content, indent=2, ensure_ascii=False) + "\n")
