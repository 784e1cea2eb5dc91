"""Feature vectors from files, and their captions.

In: a ``.npy`` matrix, or a table of Arrow, Feather or Parquet; a text file with one line per row. Out: a float32 matrix
(N, f), or `DescribedFeatures`. Nothing is unpickled, and every number is finite.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tokenize import TokenError
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from regard.errors import DataError, MissingExtraError, nearest
from regard.text.formats import read_plain, shown
from regard.text.pairs import Place

if TYPE_CHECKING:
    import pyarrow

Matrix = npt.NDArray[np.float32]
TABLES = (".arrow", ".feather", ".parquet")
"""The suffixes of tables; ``.npy`` is a matrix by itself."""


@dataclass(frozen=True, slots=True)
class CaptionedFeatures:
    """A feature vector (f,) and its caption, with the place the caption was read at."""

    features: Matrix
    text: str
    place: Place | None = None


def read_features(path: str | Path, *, column: str | None = None, size: int | None = None) -> Matrix:
    """Read a matrix of features, one row per example.

    Args:
        path: a ``.npy`` file, or a table with one of the suffixes `TABLES`.
        column: the table's column that holds a list of numbers in each row. If None, the table's one column
            of lists, or, where there is none, all its columns of numbers side by side.
        size: the number of features a trained model needs; None for any.

    Returns:
        (N, f), float32.

    Raises:
        DataError: the file is missing, damaged or of another kind; it holds no matrix of finite numbers; it has not
            `size` features; or it has no such column.
        MissingExtraError: the file is a table and pyarrow is not installed.
    """
    path = Path(path)
    if not path.is_file():
        raise DataError(f"{path}: no such file; features are read from .npy, {', '.join(TABLES)}")
    suffix = path.suffix.lower()
    if suffix == ".npy":
        if column is not None:
            raise DataError(
                f"{path}: a .npy file has no columns by name, so {column!r} cannot be read; leave it out"
            )
        numbers = _read_npy(path)
    elif suffix in TABLES:
        numbers = _read_table(path, column)
    else:
        raise DataError(f"{path}: features are read from .npy, {', '.join(TABLES)}, by the file's suffix")
    return _checked(numbers, path, size)


def as_numbers(given: Any, name: object) -> Matrix:
    """Convert features to float32, in the shape they have; what is too large becomes infinite.

    Args:
        given: an array, or lists of numbers.
        name: for messages: a file, or an example's number.

    Raises:
        DataError: rows of unequal length, or values that are not numbers.
    """
    try:
        numbers = np.asarray(given)
    except (ValueError, TypeError) as error:
        raise DataError(
            f"{name}: not an array ({error}); give the same number of values in each row"
        ) from error
    if numbers.dtype.kind not in "iuf":
        raise DataError(f"{name}: values of type {numbers.dtype}; features are whole numbers or floats")
    with np.errstate(over="ignore"):
        return numbers.astype(np.float32)


def read_captioned(
    features: str | Path, texts: str | Path, *, column: str | None = None
) -> Iterator[CaptionedFeatures]:
    """Yield each row of features with its caption.

    Args:
        features: as `read_features` takes it, with `column`.
        texts: one line per row, as `read_file` takes it.
        column: see `read_features`.

    Raises:
        DataError: a file cannot be used, or the counts differ.
    """
    rows = read_features(features, column=column)
    lines = list(read_plain(texts, f"give one caption per line, such as one column: cut -f 1 {texts}"))
    if len(rows) != len(lines):
        raise DataError(
            f"{features} has {len(rows)} rows and {shown(texts)} has {len(lines)} lines; give one line of text "
            "per row, in the same order"
        )
    origin = shown(texts)
    for number, (row, line) in enumerate(zip(rows, lines, strict=True), start=1):
        yield CaptionedFeatures(row, line, Place(origin, number))


def _read_npy(path: Path) -> npt.NDArray[Any]:
    try:
        # mapped, so that no memory is taken for what a header claims and the file does not have
        return np.lib.format.open_memmap(path, mode="r")
    except (OSError, ValueError, TokenError) as error:
        raise DataError(
            f"{path}: cannot be read as a matrix of numbers ({error}); write it with numpy.save, as floats"
        ) from error


def _read_table(path: Path, column: str | None) -> npt.NDArray[Any]:
    if find_spec("pyarrow") is None:
        raise MissingExtraError(f"reading {path}", "pyarrow", "arrow")
    import pyarrow
    from pyarrow import feather, parquet

    try:
        table = parquet.read_table(path) if path.suffix.lower() == ".parquet" else feather.read_table(path)
    except (pyarrow.ArrowException, OSError) as error:
        raise DataError(f"{path}: cannot be read as a table ({error}); make or fetch it again") from error
    lists = [field.name for field in table.schema if _is_list(field.type)]
    numeric = [field.name for field in table.schema if _is_number(field.type)]
    if column is None and not lists:
        return _side_by_side(table, numeric, path)
    if column is None and len(lists) > 1:
        raise DataError(f"{path}: several columns hold lists of numbers: {', '.join(lists)}; name one")
    column = lists[0] if column is None else column
    if column not in lists:
        known = nearest(column, lists) if lists else "there is none"
        raise DataError(f"{path}: {column!r} is not a column of lists of numbers; {known}")
    return _stacked(table.column(column), column, path)


def _is_number(kind: "pyarrow.DataType") -> bool:
    from pyarrow import types

    return bool(types.is_integer(kind) or types.is_floating(kind))


def _is_list(kind: "pyarrow.DataType") -> bool:
    from pyarrow import types

    listed = types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)
    return bool(listed) and _is_number(kind.value_type)


def _side_by_side(table: "pyarrow.Table", names: list[str], path: Path) -> npt.NDArray[Any]:
    """All columns of numbers as one matrix; a missing number is NaN, and refused with the others."""
    if not names:
        raise DataError(f"{path}: the table has no column of numbers or of lists of them")
    return np.stack([table.column(name).to_numpy().astype(np.float64) for name in names], axis=1)


def _stacked(rows: "pyarrow.ChunkedArray", column: str, path: Path) -> npt.NDArray[Any]:
    lists = rows.to_pylist()
    size = len(lists[0] or ()) if lists else 0
    for number, row in enumerate(lists, start=1):
        if row is None or len(row) != size:
            content = "nothing" if row is None else f"{len(row)} numbers"
            raise DataError(f"{path}: row {number} of {column!r} has {content} where the first has {size}")
    # a missing number inside a list becomes NaN, and is refused with the others
    return np.array(lists, dtype=np.float64).reshape(len(lists), size)


def _checked(numbers: npt.NDArray[Any], path: Path, size: int | None) -> Matrix:
    if numbers.ndim != 2:
        raise DataError(
            f"{path}: an array of shape {numbers.shape}; features are a matrix, one row per example"
        )
    matrix = as_numbers(numbers, path)
    if size is not None and numbers.shape[1] != size:
        raise DataError(
            f"{path}: {numbers.shape[1]} features in a row, and the model was trained on {size}; give as many"
        )
    if numbers.shape[1] == 0:
        raise DataError(f"{path}: rows without features; give at least one column of numbers")
    finite = np.isfinite(matrix)
    if not finite.all():
        row, place = np.argwhere(~finite)[0]
        raise DataError(
            f"{path}: feature {place + 1} of row {row + 1} is {numbers[row, place]}; each must be finite as float32"
        )
    return matrix
