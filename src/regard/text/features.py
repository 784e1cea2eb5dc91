"""Vectors of features from files, and the texts that describe them.

In: a ``.npy`` matrix, or a table of Arrow, Feather or Parquet; a text file beside it with as many lines as there are
rows. Out: a float32 matrix (N, f), or `CaptionedFeatures`. Nothing is unpickled, and every number is finite.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from regard.errors import DataError, MissingExtraError, nearest
from regard.text.formats import read_file, shown
from regard.text.pairs import Place

if TYPE_CHECKING:
    import pyarrow

Matrix = npt.NDArray[np.float32]
TABLES = (".arrow", ".feather", ".parquet")
"""The suffixes of tables; ``.npy`` is a matrix by itself."""


@dataclass(frozen=True, slots=True)
class CaptionedFeatures:
    """A vector of features (f,) and the text that describes it, with the place the text was read at."""

    features: Matrix
    text: str
    place: Place | None = None


def read_features(path: str | Path, *, column: str | None = None, size: int | None = None) -> Matrix:
    """Read a matrix of features, a row for each thing described.

    Args:
        path: a ``.npy`` file, or a table with one of the suffixes `TABLES`.
        column: the table's column that holds a list of numbers in each row. If None, the table's one column
            of lists, or, where there is none, all its columns of numbers side by side.
        size: how many features there must be, as a trained model wants; None for any.

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
    """Whatever is given as features as float32, in the shape it has; what is too large becomes infinite.

    Args:
        given: an array, or lists of numbers.
        name: what it is called in messages: a file, or an example's number.

    Raises:
        DataError: rows of unequal length, or values that are no numbers.
    """
    try:
        numbers = np.asarray(given)
    except (ValueError, TypeError) as error:
        raise DataError(f"{name}: no array ({error}); give as many numbers in each row") from error
    if numbers.dtype.kind not in "iuf":
        raise DataError(f"{name}: values of type {numbers.dtype}; features are whole numbers or floats")
    with np.errstate(over="ignore"):
        return numbers.astype(np.float32)


def read_captioned(
    features: str | Path, texts: str | Path, *, column: str | None = None
) -> Iterator[CaptionedFeatures]:
    """Yield each row of features with the line of text that describes it.

    Args:
        features: as `read_features` takes it, with `column`.
        texts: as many lines as there are rows, as `read_file` takes it.
        column: see `read_features`.

    Raises:
        DataError: a file cannot be used, or the counts differ.
    """
    rows = read_features(features, column=column)
    lines = list(read_file(texts))
    if len(rows) != len(lines):
        raise DataError(
            f"{features} has {len(rows)} rows and {shown(texts)} has {len(lines)} lines; features and the text that "
            "describes them stand in the same order, one for one"
        )
    origin = shown(texts)
    for number, (row, line) in enumerate(zip(rows, lines, strict=True), start=1):
        yield CaptionedFeatures(row, line, Place(origin, number))


def _read_npy(path: Path) -> npt.NDArray[Any]:
    try:
        loaded = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise DataError(
            f"{path}: no matrix of numbers can be read ({error}); write it with numpy.save, as floats"
        ) from error
    return np.asarray(loaded)


def _read_table(path: Path, column: str | None) -> npt.NDArray[Any]:
    if find_spec("pyarrow") is None:
        raise MissingExtraError(f"reading {path}", "pyarrow", "arrow")
    import pyarrow
    from pyarrow import feather, parquet

    try:
        table = parquet.read_table(path) if path.suffix.lower() == ".parquet" else feather.read_table(path)
    except (pyarrow.ArrowException, OSError) as error:
        raise DataError(f"{path}: no table can be read ({error}); make or fetch it again") from error
    lists = [field.name for field in table.schema if _is_list(field.type)]
    numeric = [field.name for field in table.schema if _is_number(field.type)]
    if column is None and not lists:
        return _side_by_side(table, numeric, path)
    if column is None and len(lists) > 1:
        raise DataError(f"{path}: features may stand in {', '.join(lists)}; name one of these columns")
    column = lists[0] if column is None else column
    if column not in lists:
        known = nearest(column, lists) if lists else "there is none"
        raise DataError(f"{path}: {column!r} is no column of lists of numbers; {known}")
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
            found = "nothing" if row is None else f"{len(row)} numbers"
            raise DataError(f"{path}: row {number} of {column!r} has {found} where the first has {size}")
    # a missing number inside a list becomes NaN, and is refused with the others
    return np.array(lists, dtype=np.float64).reshape(len(lists), size)


def _checked(numbers: npt.NDArray[Any], path: Path, size: int | None) -> Matrix:
    if numbers.ndim != 2:
        raise DataError(
            f"{path}: an array of shape {numbers.shape}; features are a matrix, a row for each thing"
        )
    matrix = as_numbers(numbers, path)
    if size is not None and numbers.shape[1] != size:
        raise DataError(
            f"{path}: {numbers.shape[1]} features in a row, and the model was trained on {size}; make them alike"
        )
    if numbers.shape[1] == 0:
        raise DataError(f"{path}: rows without features; nothing can be described from them")
    finite = np.isfinite(matrix)
    if not finite.all():
        row, place = np.argwhere(~finite)[0]
        raise DataError(
            f"{path}: feature {place + 1} of row {row + 1} is {numbers[row, place]}; each must be finite as float32"
        )
    return matrix
