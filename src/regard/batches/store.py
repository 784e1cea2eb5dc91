"""A corpus as ids on disk, mapped into memory: it is never read whole, and memory does not grow with it.

A store is a folder. ``store.json`` names its parts, the files beside them, and what the ids are; it is written last, so
a folder without it is not a store yet. A part is an Arrow file of one record batch: a column of ids for each text of an
example (as list<int32>) and a column of checksums. ``lengths.arrow`` has the length of every example. Examples have
numbers, 0 … n−1 over all parts, so a share of a store is a range of numbers.

A part is described by its size and SHA-256; small files are checked when a store is opened, and an example by its
CRC-32 when it is read: training begins at once, and damage is found before it is learned from. Nothing in a store is
trusted: sizes are bounded, types and ranges are checked. Knows nothing of tokenizers and tasks.
"""

import hashlib
import json
import mmap
import os
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from itertools import accumulate, chain
from pathlib import Path
from typing import Any, BinaryIO, Generic, TypeVar, overload
from zlib import crc32

import numpy as np
import numpy.typing as npt

from regard.errors import DataError, MissingExtraError
from regard.io import build_dataclass, check_regular, parse_json, read_whole, write_whole, write_whole_text

MANIFEST = "store.json"
"""The file that makes a folder a store."""
FORMAT = 1
_LENGTHS = "lengths.arrow"
_CHECKSUMS = "crc32"
_MAX_MANIFEST_BYTES = 1 << 26
_RELEASE_EVERY = 32  # examples read; with each, Linux maps about 1 MB of what is in its cache

Example = TypeVar("Example")
Ids = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Part:
    """A file of a store.

    Attributes:
        file: its name in the folder.
        records: the number of its examples.
        tokens: the number of its ids, in all columns.
        bytes: its size.
        sha256: of its content.
    """

    file: str
    records: int
    tokens: int
    bytes: int
    sha256: str


@dataclass(frozen=True)
class _File:
    """The size and the SHA-256 of a file that belongs to a store."""

    bytes: int
    sha256: str


def _describe_file(path: Path) -> _File:
    return _File(path.stat().st_size, digest_of(path))


def _check_size(path: Path, written: int) -> None:
    """Raise where a file has another size; reading it could take for ever."""
    if (size := path.stat().st_size) != written:
        raise ValueError(f"{size:,} bytes, and it was written with {written:,}")


def is_store(path: str | os.PathLike[str]) -> bool:
    """Whether a path leads to a store."""
    return (Path(path) / MANIFEST).is_file()


def write_part(path: Path, columns: Mapping[str, Sequence[Sequence[int]]]) -> Part:
    """Write a part of a store; all of it is in memory.

    Args:
        path: the file.
        columns: the ids of each text, by name; as many rows in each.

    Raises:
        DataError: it cannot be written.
        MissingExtraError: pyarrow is not installed.
    """
    pyarrow = _import_pyarrow(f"writing {path}")
    arrays, sides = [], []
    for rows in columns.values():
        offsets = np.zeros(len(rows) + 1, np.int32)
        np.cumsum([len(row) for row in rows], out=offsets[1:])
        values = np.fromiter(chain.from_iterable(rows), "<i4", count=int(offsets[-1]))
        arrays.append(pyarrow.ListArray.from_arrays(offsets, values))
        sides.append((offsets, values))
    num_records = len(arrays[0])
    checksums = np.array([_checksum(sides, row) for row in range(num_records)], np.uint32)
    _write_arrow(path, _schema(tuple(columns)), [*arrays, checksums])
    num_tokens = sum(len(values) for _, values in sides)
    return Part(path.name, num_records, num_tokens, path.stat().st_size, digest_of(path))


def _checksum(sides: Sequence[tuple[Ids, Ids]], row: int) -> int:
    """CRC-32 of an example: of each column, the number of its ids and the ids."""
    checksum = 0
    for offsets, values in sides:
        start, end = int(offsets[row]), int(offsets[row + 1])
        checksum = crc32(
            values[start:end].tobytes(), crc32((end - start).to_bytes(8, "little", signed=True), checksum)
        )
    return checksum


def _schema(names: Sequence[str]) -> Any:
    pyarrow = _import_pyarrow("a store")
    ids = pyarrow.list_(pyarrow.int32())
    return pyarrow.schema([*((name, ids) for name in names), (_CHECKSUMS, pyarrow.uint32())])


def _write_arrow(path: Path, schema: Any, columns: Sequence[Any]) -> None:
    """Write an Arrow file of one record batch."""
    import pyarrow

    arrays = [
        column.cast(field.type) if isinstance(column, pyarrow.Array) else pyarrow.array(column, field.type)
        for column, field in zip(columns, schema, strict=True)
    ]

    def fill(file: BinaryIO) -> None:
        with pyarrow.ipc.new_file(file, schema) as writer:
            writer.write_batch(pyarrow.record_batch(arrays, schema=schema))

    write_whole(path, fill)


def digest_of(path: Path) -> str:
    """SHA-256 of a file's content.

    Raises:
        OSError: it cannot be read.
    """
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_manifest(
    folder: Path,
    parts: Sequence[Part],
    vocabularies: Mapping[str, int],
    facts: Mapping[str, Any],
    files: Sequence[str] = (),
) -> None:
    """Make a folder with parts a store: write the lengths of all examples, then ``store.json``.

    Args:
        folder: which has the parts.
        parts: in the order of their examples.
        vocabularies: the size of the vocabulary of each column; ids are below it.
        facts: plain values to keep with the store.
        files: the names of other files in the folder that belong to the store, whose checksums it keeps.

    Raises:
        DataError: something cannot be written, or a part is damaged.
    """
    import pyarrow

    lengths = np.empty(sum(part.records for part in parts), np.int32)
    start = 0
    for part in parts:
        opened = _MappedPart(folder, part, vocabularies)
        lengths[start : start + part.records] = opened.lengths()
        start += part.records
    _write_arrow(folder / _LENGTHS, pyarrow.schema([("length", pyarrow.int32())]), [lengths])
    content = {
        "format": FORMAT,
        "vocabularies": dict(vocabularies),
        "files": {name: asdict(_describe_file(folder / name)) for name in (*files, _LENGTHS)},
        "parts": [asdict(part) for part in parts],
        "facts": dict(facts),
    }
    write_whole_text(folder / MANIFEST, json.dumps(content, indent=1, ensure_ascii=False) + "\n")


class _Mapped:
    """An Arrow file of one record batch, mapped into memory.

    Raises:
        OSError: it cannot be read, or is not an ordinary file.
        ValueError: it is not such a file, of these columns and rows.
    """

    def __init__(self, path: Path, schema: Any, num_rows: int) -> None:
        import pyarrow

        check_regular(path)
        with path.open("rb") as file:
            self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        if hasattr(mmap, "MADV_RANDOM"):
            self._map.madvise(mmap.MADV_RANDOM)
        try:
            reader = pyarrow.ipc.open_file(pyarrow.py_buffer(self._map))
            if not reader.schema.equals(schema):
                raise ValueError(f"its columns are {', '.join(map(str, reader.schema))}")
            if reader.num_record_batches != 1:
                raise ValueError(f"{reader.num_record_batches} record batches")
            self.batch = reader.get_batch(0)
            self.batch.validate()
        except pyarrow.ArrowException as error:
            raise ValueError(str(error)) from error
        if self.batch.num_rows != num_rows or any(column.null_count for column in self.batch.columns):
            raise ValueError(f"{self.batch.num_rows:,} rows, of which {num_rows:,} are said to be complete")

    def release(self) -> None:
        """Let the system take back the pages that were read; they are read again when they are needed."""
        if hasattr(mmap, "MADV_DONTNEED"):
            self._map.madvise(mmap.MADV_DONTNEED)


class _MappedPart(_Mapped):
    """A part of a store, mapped into memory.

    Raises:
        DataError: it is missing, damaged or of another store.
    """

    def __init__(self, folder: Path, part: Part, vocabularies: Mapping[str, int]) -> None:
        self._path, self._sizes = folder / part.file, tuple(vocabularies.values())
        with _damage_at(self._path):
            _check_size(self._path, part.bytes)
            super().__init__(self._path, _schema(tuple(vocabularies)), part.records)
            *texts, checksums = self.batch.columns
            self._sides = [(each.offsets.to_numpy(), each.values.to_numpy()) for each in texts]
            self._checksums = checksums.to_numpy()
        self.release()

    def lengths(self) -> Ids:
        """The length of each example: the ids of its longest text and one more, its EOS."""
        longest: Ids = np.max([np.diff(offsets) for offsets, _ in self._sides], axis=0)
        return longest + 1

    def read(self, row: int) -> tuple[list[int], ...]:
        """The ids of an example, checked."""
        texts = [values[offsets[row] : offsets[row + 1]].tolist() for offsets, values in self._sides]
        if _checksum(self._sides, row) != self._checksums[row] or not all(
            0 <= min(ids) <= max(ids) < size for ids, size in zip(texts, self._sizes, strict=True) if ids
        ):
            raise DataError(f"{self._path}: example {row:,} in it is damaged; {_REMEDY}")
        return tuple(texts)


_REMEDY = "make the store again with regard prepare, or copy it again"


@contextmanager
def _damage_at(path: Path) -> Iterator[None]:
    """What cannot be read at a path, as an error for the user."""
    try:
        yield
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror or error}); {_REMEDY}") from error
    except (ValueError, KeyError, TypeError, OverflowError) as error:
        raise DataError(f"{path}: damaged: {error}; {_REMEDY}") from error


class Store(Sequence[Example], Generic[Example]):
    """The examples of a store, read when they are needed.

    Args:
        path: the folder.
        build: the ids of each text of an example → the example; a `ValueError` where they are not one.

    Attributes:
        path: the folder.
        lengths: of each example, in tokens, mapped: the longest of its texts, EOS counted.
        vocabularies: the size of the vocabulary of each column.
        facts: the plain values kept with it.
        num_tokens: ids in all examples.
        sha256: of ``store.json``, which has those of all parts: two stores with the same one are the same.

    Raises:
        DataError: it is missing, damaged, or of a newer version.
        MissingExtraError: pyarrow is not installed.
    """

    def __init__(self, path: str | os.PathLike[str], build: Callable[..., Example]) -> None:
        _import_pyarrow(f"reading {path}")
        import pyarrow

        self.path, self._build = Path(path), build
        place = self.path / MANIFEST
        with _damage_at(place):
            content = read_whole(place, _MAX_MANIFEST_BYTES)
            self.sha256 = hashlib.sha256(content).hexdigest()
            manifest = parse_json(content)
            if manifest["format"] > FORMAT:
                raise DataError(
                    f"{place}: format {manifest['format']}, and this version reads {FORMAT}; update the package"
                )
            parts = [build_dataclass(Part, each) for each in manifest["parts"]]
            self.vocabularies = _parse_table(manifest["vocabularies"], int)
            described = _parse_table(manifest["files"], dict).items()
            files = {name: build_dataclass(_File, each) for name, each in described}
            for name in (*files, *(part.file for part in parts)):
                _check_name(name)
            self.facts: dict[str, Any] = _parse_table(manifest["facts"], object)
            if not parts or not self.vocabularies or _LENGTHS not in files:
                raise ValueError("it has no parts, no columns or no lengths")
        for name, written in files.items():
            with _damage_at(self.path / name):
                check_regular(self.path / name)
                _check_size(self.path / name, written.bytes)
                if digest_of(self.path / name) != written.sha256:
                    raise ValueError("its SHA-256 is not the one it was written with")
        self._ends = list(accumulate(part.records for part in parts))
        self.num_tokens = sum(part.tokens for part in parts)
        self._parts = [_MappedPart(self.path, part, self.vocabularies) for part in parts]
        with _damage_at(self.path / _LENGTHS):
            schema = pyarrow.schema([("length", pyarrow.int32())])
            self._mapped_lengths = _Mapped(self.path / _LENGTHS, schema, self._ends[-1])
            self.lengths: Ids = self._mapped_lengths.batch.column(0).to_numpy()
        self._read_since, self._touched = 0, set[int]()

    def __len__(self) -> int:
        return self._ends[-1]

    @overload
    def __getitem__(self, index: int) -> Example: ...
    @overload
    def __getitem__(self, index: slice) -> list[Example]: ...
    def __getitem__(self, index: int | slice) -> Example | list[Example]:
        """An example by number, or several.

        Raises:
            DataError: it is damaged.
        """
        if isinstance(index, slice):
            return [self[k] for k in range(len(self))[index]]
        number = range(len(self))[index]
        part = bisect_right(self._ends, number)
        self._read_since += 1
        if self._read_since >= _RELEASE_EVERY:
            self.release()
        self._touched.add(part)
        texts = self._parts[part].read(number - (self._ends[part - 1] if part else 0))
        try:
            return self._build(*texts)
        except ValueError as error:
            raise DataError(f"{self.path}: example {number:,} is damaged ({error}); {_REMEDY}") from error

    def __iter__(self) -> Iterator[Example]:
        return (self[k] for k in range(len(self)))

    def release(self) -> None:
        """Let the system take back the pages that were read, so that a process's memory is that of what it holds."""
        for part in self._touched:
            self._parts[part].release()
        self._mapped_lengths.release()
        self._read_since, self._touched = 0, set()


def _parse_table(value: Any, kind: type) -> dict[str, Any]:
    if not isinstance(value, dict) or not all(isinstance(each, kind) for each in value.values()):
        raise ValueError(f"{value!r:.80} is not a table of {kind.__name__}")
    return value


def _check_name(name: str) -> None:
    """Raise unless a name is that of a file in the folder itself."""
    if Path(name).name != name:
        raise ValueError(f"{name!r:.80} is not the name of a file in the store")


def read_part(folder: Path, part: Part, columns: Sequence[str]) -> dict[str, list[list[int]]]:
    """Read all of a part; see `write_part`.

    Raises:
        DataError: it is damaged.
    """
    opened = _MappedPart(folder, part, dict.fromkeys(columns, 1 << 31))
    rows = [opened.read(row) for row in range(part.records)]
    return {column: [row[k] for row in rows] for k, column in enumerate(columns)}


def is_whole(folder: Path, part: Part) -> bool:
    """Whether a part is there as it was written; all of it is read."""
    path = folder / part.file
    try:
        check_regular(path)
        return path.stat().st_size == part.bytes and digest_of(path) == part.sha256
    except OSError:
        return False


def _import_pyarrow(purpose: str) -> Any:
    if find_spec("pyarrow") is None:
        raise MissingExtraError(purpose, "pyarrow", "arrow")
    import pyarrow
    import pyarrow.ipc

    return pyarrow
