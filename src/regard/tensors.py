"""Tensors in a file that shows when it is damaged: safetensors with a SHA-256 of its content.

In: tensors by name, and plain values (facts) to keep with them. Out: one file, written whole or not at all, equal for
equal content. Knows no models: weights and the state of an optimizer are stored alike.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import safetensors
import torch
from torch import Tensor

from regard.errors import CheckpointError, DataError, FolderError
from regard.io import check_safetensors, parse_json, write_whole

_CHECKSUM = "sha256"


def write_tensors(path: Path, tensors: Mapping[str, Tensor], facts: Mapping[str, Any]) -> None:
    """Write tensors with their checksum; the file before it stays until this one is complete.

    Args:
        path: a safetensors file.
        tensors: by name, on any device.
        facts: plain values to keep with them.

    Raises:
        CheckpointError: it cannot be written.
    """
    stored = {key: value.detach().cpu().contiguous() for key, value in tensors.items()}
    metadata = {"facts": json.dumps({**facts, _CHECKSUM: _digest(stored, facts)})}
    try:
        write_whole(path, lambda file: _fill(file, stored, metadata))
    except DataError as error:
        raise CheckpointError(
            f"checkpoint not saved: {error}; an earlier one, if there is one, is untouched"
        ) from error


_DTYPES = {
    torch.float32: "F32",
    torch.float64: "F64",
    torch.float16: "F16",
    torch.bfloat16: "BF16",
    torch.int64: "I64",
    torch.int32: "I32",
    torch.uint8: "U8",
    torch.bool: "BOOL",
}
"""The types by their names in a safetensors file."""


def _fill(file: BinaryIO, tensors: Mapping[str, Tensor], metadata: Mapping[str, str]) -> None:
    """Write a safetensors file: the size of its header (8 bytes), the header (JSON), the tensors' bytes.

    As the library would, but without a second copy of everything in memory, which takes most of its time, and with
    equal files for equal content, where the library writes metadata in an arbitrary order. The widest types are first,
    so that each tensor begins at a multiple of its own.
    """
    ordered = sorted(tensors.items(), key=lambda item: (-item[1].element_size(), item[0]))
    header: dict[str, Any] = {"__metadata__": dict(metadata)}
    end = 0
    for name, tensor in ordered:
        start, end = end, end + tensor.nbytes
        header[name] = {
            "dtype": _DTYPES[tensor.dtype],
            "shape": list(tensor.shape),
            "data_offsets": [start, end],
        }
    written = json.dumps(header, separators=(",", ":")).encode()
    written += b" " * (-len(written) % 8)
    file.write(len(written).to_bytes(8, "little") + written)
    for _, tensor in ordered:
        file.write(_bytes(tensor))


def _bytes(tensor: Tensor) -> memoryview:
    """The bytes of a contiguous tensor, without a copy."""
    return tensor.flatten().view(torch.uint8).numpy().data


def read_tensors(path: Path, *, checked: bool = True) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Read what `write_tensors` wrote: the tensors by name, and the facts.

    Args:
        path: a safetensors file.
        checked: whether there must be a checksum; without, one that is there still has to be right.

    Raises:
        FolderError: it is damaged.
        FileNotFoundError: there is none.
    """
    with open_tensors(path) as file:
        facts = _parse_facts(file)
        tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
    checksum = facts.pop(_CHECKSUM, None)
    if checksum is None and not checked:
        return tensors, facts
    if checksum != _digest(tensors, facts):
        raise FolderError(
            f"{path}: damaged: its content is not what its checksum (SHA-256) was computed of; copy or train it again"
        )
    return tensors, facts


def read_facts(path: Path) -> dict[str, Any]:
    """The facts of what `write_tensors` wrote; the tensors are not read, and the checksum is not checked.

    Raises:
        FolderError: it is damaged.
        FileNotFoundError: there is none.
    """
    with open_tensors(path) as file:
        return {name: value for name, value in _parse_facts(file).items() if name != _CHECKSUM}


def _parse_facts(file: Any) -> dict[str, Any]:
    facts = parse_json((file.metadata() or {}).get("facts", "{}"))
    if not isinstance(facts, dict):
        raise ValueError(f"its facts are {facts!r:.60}")
    return facts


@contextmanager
def open_tensors(path: Path) -> Iterator[Any]:
    """Open a safetensors file, whose header is checked first.

    Raises:
        FolderError: it is damaged, or damage is found while it is open.
        FileNotFoundError: there is none.
    """
    try:
        check_safetensors(path)
        with safetensors.safe_open(path, framework="pt") as file:
            yield file
    except FileNotFoundError:
        raise
    except (safetensors.SafetensorError, OSError, ValueError, MemoryError) as error:
        raise FolderError(f"{path}: damaged: {error}; copy or train it again") from error


def _digest(tensors: Mapping[str, Tensor], facts: Mapping[str, Any]) -> str:
    """SHA-256 of facts and tensors: each tensor's name, type and shape, then its bytes."""
    digest = hashlib.sha256(json.dumps(facts).encode())
    for name, tensor in sorted(tensors.items()):
        digest.update(f"\n{name} {tensor.dtype} {tuple(tensor.shape)}\n".encode())
        digest.update(_bytes(tensor.contiguous()))
    return digest.hexdigest()
