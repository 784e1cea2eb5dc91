"""Features: every format gives the same matrix, and nothing that is not finite, whole and matched gets through."""

import sys

import numpy as np
import pyarrow
import pytest
from pyarrow import feather, parquet

from regard.errors import DataError, MissingExtraError
from regard.text import read_captioned, read_features

MATRIX = np.array([[0.5, -1.0, 2.0], [0.0, 3.0, -4.5]], dtype=np.float32)


def tables():
    """The same features as lists of fixed and of free length, and as columns of their own."""
    fixed = pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(MATRIX.ravel()), 3)
    free = pyarrow.array(MATRIX.tolist(), type=pyarrow.list_(pyarrow.float64()))
    return {
        "fixed": pyarrow.table({"name": ["a", "b"], "vector": fixed, "year": [1, 2]}),
        "free": pyarrow.table({"vector": free}),
        "columns": pyarrow.table({"name": ["a", "b"]} | {f"f{k}": MATRIX[:, k] for k in range(3)}),
    }


@pytest.mark.parametrize("suffix", [".parquet", ".feather", ".arrow"])
@pytest.mark.parametrize("shape", ["fixed", "free", "columns"])
def test_tables_of_every_kind(shape, suffix, tmp_path):
    path = tmp_path / f"features{suffix}"
    table = tables()[shape]
    (parquet.write_table if suffix == ".parquet" else feather.write_feather)(table, path)
    found = read_features(path)
    assert found.dtype == np.float32
    assert np.array_equal(found, MATRIX)
    if shape != "columns":
        assert np.array_equal(read_features(path, column="vector"), MATRIX)


@pytest.mark.parametrize("kind", [np.float64, np.float16, np.int8])
def test_numpys_matrices_of_any_number(kind, tmp_path):
    np.save(tmp_path / "f.npy", np.arange(6).reshape(2, 3).astype(kind))
    found = read_features(tmp_path / "f.npy", size=3)
    assert found.dtype == np.float32
    assert np.array_equal(found, np.arange(6).reshape(2, 3))


def test_rows_and_lines_belong_together(tmp_path):
    np.save(tmp_path / "f.npy", MATRIX)
    (tmp_path / "t").write_text("a red ball\n\n", encoding="utf-8")
    one, other = read_captioned(tmp_path / "f.npy", tmp_path / "t")
    assert (one.text, other.text, str(other.place)) == ("a red ball", "", f"{tmp_path / 't'}:2")
    assert np.array_equal(other.features, MATRIX[1])
    (tmp_path / "t").write_text("one\ntwo\nthree\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"f\.npy has 2 rows and .*t has 3 lines; .* in the same order"):
        list(read_captioned(tmp_path / "f.npy", tmp_path / "t"))


def npy(header):
    """A file of NumPy's format 1.0 with some header, and too little content."""
    text = f"{header}\n".encode()
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + bytes(12)


ARRAYS = {
    "feature 2 of row 1 is nan": np.array([[1, np.nan]]),
    "feature 1 of row 2 is inf": np.array([[1.0], [np.inf]]),
    r"feature 1 of row 1 is 1e\+300; each must be finite as float32": np.array([[1e300]]),
    r"an array of shape \(3,\); features are a matrix": np.zeros(3),
    "values of type bool": np.zeros((1, 2), dtype=bool),
    "values of type <U1": np.array([["a"]]),
    "rows without features": np.zeros((2, 0)),
}


@pytest.mark.parametrize(("message", "array"), ARRAYS.items(), ids=ARRAYS.keys())
def test_what_is_no_matrix_of_finite_numbers(message, array, tmp_path):
    np.save(tmp_path / "f.npy", array)
    with pytest.raises(DataError, match=message):
        read_features(tmp_path / "f.npy")


def test_other_files_and_other_sizes(tmp_path):
    np.save(tmp_path / "f.npy", MATRIX)
    with pytest.raises(DataError, match=r"f\.npy: 3 features in a row, and the model was trained on 4"):
        read_features(tmp_path / "f.npy", size=4)
    with pytest.raises(DataError, match=r"a \.npy file has no columns by name, so 'v' cannot be read"):
        read_features(tmp_path / "f.npy", column="v")
    np.save(tmp_path / "pickled.npy", np.array([[object()]]), allow_pickle=True)
    with pytest.raises(DataError, match=r"pickled\.npy: cannot be read as a matrix of numbers .*numpy\.save"):
        read_features(tmp_path / "pickled.npy")
    (tmp_path / "cut.npy").write_bytes((tmp_path / "f.npy").read_bytes()[:-4])
    with pytest.raises(DataError, match=r"cut\.npy: cannot be read as a matrix of numbers"):
        read_features(tmp_path / "cut.npy")
    with pytest.raises(DataError, match=r"gone\.npy: no such file"):
        read_features(tmp_path / "gone.npy")
    (tmp_path / "f.csv").write_text("1,2\n", encoding="utf-8")
    with pytest.raises(
        DataError, match=r"f\.csv: features are read from \.npy, \.arrow, .* by the file's suffix"
    ):
        read_features(tmp_path / "f.csv")
    (tmp_path / "f.parquet").write_text("1,2\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"f\.parquet: cannot be read as a table"):
        read_features(tmp_path / "f.parquet")


HEADER = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 3), }"
DAMAGED = {
    "an archive": b"PK\x03\x04 and so on",
    "nothing": b"",
    "a header that does not end": npy(HEADER[:-2]),
    "a header of something else": npy("[1]"),
    "more than the file has": npy(HEADER.replace("1, 3", "10**9, 10**6")),
    "gigabytes that it has not": npy(HEADER.replace("1, 3", "1000000000, 3")),
    "an unknown type": npy(HEADER.replace("<f4", "<q9")),
}


@pytest.mark.parametrize("content", DAMAGED.values(), ids=DAMAGED)
def test_damaged_arrays(tmp_path, content):
    (tmp_path / "f.npy").write_bytes(content)
    with pytest.raises(DataError, match=r"f\.npy: cannot be read as a matrix of numbers"):
        read_features(tmp_path / "f.npy")


TABLES = {
    "row 2 of 'v' has 1 numbers where the first has 2": {"v": [[1.0, 2.0], [3.0]]},
    "row 2 of 'v' has nothing": {"v": [[1.0, 2.0], None]},
    "feature 2 of row 1 is nan": {"v": [[1.0, None]]},
    "feature 1 of row 2 is nan": {"x": [1.0, None], "y": [1.0, 2.0]},
    "several columns hold lists of numbers: v, w; name one": {"v": [[1.0]], "w": [[2.0]]},
    "the table has no column of numbers": {"name": ["a"]},
}


@pytest.mark.parametrize(("message", "columns"), TABLES.items(), ids=TABLES.keys())
def test_what_is_no_table_of_features(message, columns, tmp_path):
    feather.write_feather(pyarrow.table(columns), tmp_path / "f.feather")
    with pytest.raises(DataError, match=message):
        read_features(tmp_path / "f.feather")


def test_a_column_that_is_not_there(tmp_path):
    feather.write_feather(tables()["fixed"], tmp_path / "f.feather")
    with pytest.raises(
        DataError, match=r"'vectr' is not a column of lists of numbers; did you mean 'vector'\?"
    ):
        read_features(tmp_path / "f.feather", column="vectr")
    feather.write_feather(tables()["columns"], tmp_path / "f.feather")
    with pytest.raises(DataError, match="'f0' is not a column of lists of numbers; there is none"):
        read_features(tmp_path / "f.feather", column="f0")


def test_a_table_without_pyarrow_names_what_to_install(tmp_path, monkeypatch):
    (tmp_path / "f.parquet").write_bytes(b"")
    monkeypatch.setattr("regard.text.features.find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"f\.parquet needs pyarrow, which is not installed"):
        read_features(tmp_path / "f.parquet")


def test_matrices_are_read_without_pyarrow(tmp_path, monkeypatch):
    np.save(tmp_path / "f.npy", MATRIX)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert np.array_equal(read_features(tmp_path / "f.npy"), MATRIX)
