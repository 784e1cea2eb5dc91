import bz2
import errno
import gzip
import io
import lzma
import sys
import tracemalloc
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.errors import DataError
from regard.text.formats import files, group_by_size, read_file, read_groups
from regard.text.formats.files import MAX_LINE_BYTES

TEXT = "eins\n\nzwei  \tdrei\nvier"
LINES = ["eins", "", "zwei  \tdrei", "vier"]

WRITERS = {
    "plain.txt": lambda data: data,
    "packed.txt.gz": gzip.compress,
    "packed.xz": lzma.compress,
    "packed.XZ": lzma.compress,
    "packed.bz2": bz2.compress,
}


@pytest.mark.parametrize("name", WRITERS)
def test_same_lines_however_they_are_packed(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(WRITERS[name](TEXT.encode()))
    assert list(read_file(path)) == LINES
    assert list(read_file(str(path))) == LINES


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a", "ä\tb\n".encode("utf-16"), "a: UTF-16; convert it: iconv -f UTF-16"),
        ("a", "ä\tb\n".encode("utf-16-be", "strict").join([b"\xfe\xff", b""]), "UTF-16"),
        ("a", "a\tb\n".encode("utf-16-le"), "UTF-16 without a byte order mark; .* UTF-16LE"),
        ("a", "a\tb\n".encode("utf-16-be"), "UTF-16 without a byte order mark; .* UTF-16BE"),
        ("a.xlsx", b"PK\x03\x04\x14\0\0", "a ZIP archive, such as a spreadsheet"),
        ("a.tsv", gzip.compress(b"a\n", mtime=0), "compressed by gzip; name it .gz"),
        ("a.tsv", lzma.compress(b"a\n"), "name it .xz"),
        ("a.tsv", bz2.compress(b"a\n"), "name it .bz2"),
        ("a.tsv", b"a\tb\rc\td\re\tf\r", "carriage returns end its lines"),
        ("a.png", b"\x89PNG\r\n\x1a\n", "a picture"),
        ("a.pdf", b"%PDF-1.7\n", "a PDF"),
        ("a.bin", b"\x93\x02\rx\r\xe2\rabc\r\n", "not text, but bytes of another format"),
    ],
)
def test_files_of_another_kind(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=message):
        list(read_file(tmp_path / name))


def test_a_text_that_begins_like_an_archive(tmp_path):
    (tmp_path / "a").write_bytes(b"BZh is a name\nPK\r\n\ra\n")
    assert list(read_file(tmp_path / "a")) == ["BZh is a name", "PK", "\ra"]


def test_standard_input_is_read_and_left_open(monkeypatch):
    buffer = io.BytesIO(TEXT.encode())
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(buffer))
    assert list(read_file("-")) == LINES
    assert not buffer.closed


@pytest.mark.parametrize("text", ["a\x0bb", "a\x0cb", "a\x85b", "a\u2028b", "a\u2029b", "a\x1cb", "a\rb"])
def test_only_a_line_feed_ends_a_line(tmp_path, text):
    path = tmp_path / "odd"
    path.write_bytes(f"{text}\nlast".encode())
    assert list(read_file(path)) == [text, "last"]


@given(st.lists(st.text(st.characters(exclude_characters="\n\r", exclude_categories=["Cs"]))))
def test_lines_written_are_lines_read(tmp_path_factory, lines):
    path = tmp_path_factory.mktemp("files") / "f"
    path.write_bytes(b"\xef\xbb\xbf" + "".join(f"{line}\r\n" for line in lines).encode())
    assert list(read_file(path)) == lines


def test_carriage_return_goes_once_and_at_the_end_alone(tmp_path):
    path = tmp_path / "dos"
    path.write_bytes(b"\ra\r\r\nb\r")
    assert list(read_file(path)) == ["\ra\r", "b"]


def test_byte_order_mark_is_dropped_at_the_start_alone(tmp_path):
    path = tmp_path / "bom"
    path.write_bytes("\ufeffa\n\ufeffb\n".encode())
    assert list(read_file(path)) == ["a", "\ufeffb"]


@pytest.mark.parametrize("content", [b"", b"\xef\xbb\xbf"])
def test_empty_file_has_no_lines(tmp_path, content):
    path = tmp_path / "none"
    path.write_bytes(content)
    assert list(read_file(path)) == []


def test_invalid_utf8_names_line_byte_and_remedy(tmp_path):
    path = tmp_path / "latin.txt"
    path.write_bytes(b"fine\ncaf\xe9 noir\n")
    lines = read_file(path)
    assert next(lines) == "fine"
    with pytest.raises(DataError) as caught:
        next(lines)
    assert str(caught.value).startswith(f"{path}:2: byte 0xe9 at offset 3 of the line is not UTF-8")
    assert "iconv" in str(caught.value)


def test_missing_file_offers_the_nearest_name(tmp_path):
    (tmp_path / "train.de").touch()
    (tmp_path / "README").touch()
    with pytest.raises(DataError, match=r"train\.dee: no such file; did you mean .*train\.de\?"):
        list(read_file(tmp_path / "train.dee"))
    with pytest.raises(DataError, match=r"zzz: no such file in the folder"):
        list(read_file(tmp_path / "zzz"))
    with pytest.raises(DataError, match="no such file, nor a folder"):
        list(read_file(tmp_path / "nowhere" / "zzz"))


@pytest.mark.parametrize("name", ["folder", "folder.gz", "folder.xz"])
def test_a_folder_is_no_file(tmp_path, name):
    (tmp_path / name).mkdir()
    with pytest.raises(DataError, match=f"{name}: is a folder"):
        list(read_file(tmp_path / name))


def test_unreadable_file(tmp_path, monkeypatch):
    def refuse(path, mode):
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    # the superuser may read everything, so file modes alone would prove nothing for them
    monkeypatch.setattr("regard.text.formats.files.open", refuse, raising=False)
    with pytest.raises(DataError, match="secret: may not be read"):
        list(read_file(tmp_path / "secret"))


def test_other_trouble_is_named(tmp_path):
    with pytest.raises(DataError, match="cannot be read"):
        list(read_file(tmp_path / ("n" * 300)))


def _changed_byte(data, at):
    return data[:at] + bytes([data[at] ^ 0xFF]) + data[at + 1 :]


# lines that pack badly, so that cutting the end off cuts into the text
TEXT_TO_DAMAGE = "".join(f"{n * 7919 % 10007:x}\n" for n in range(2000)).encode()
GZIP = gzip.compress(TEXT_TO_DAMAGE, mtime=0)

DAMAGED = {
    "cut.gz": GZIP[:-100],
    "checksum.gz": _changed_byte(gzip.compress(b"text\n" * 9, mtime=0), -6),
    "body.gz": GZIP[:10] + b"\xff" * 50 + GZIP[60:],
    "foreign.gz": b"not packed at all",
    "cut.xz": lzma.compress(TEXT_TO_DAMAGE)[:-100],
    "foreign.xz": b"not packed at all",
    "cut.bz2": bz2.compress(TEXT_TO_DAMAGE)[:-100],
    "foreign.bz2": b"not packed at all",
}


@pytest.mark.parametrize("name", DAMAGED)
def test_damaged_archive_is_named(tmp_path, name):
    (tmp_path / name).write_bytes(DAMAGED[name])
    with pytest.raises(DataError, match=f"{name}: the compressed file is damaged or cut short"):
        list(read_file(tmp_path / name))


def test_the_damage_includes_a_broken_deflate_stream():
    with pytest.raises(zlib.error):
        gzip.decompress(DAMAGED["body.gz"])


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="read there")
def test_zstandard_names_its_remedy(tmp_path):
    (tmp_path / "a.zst").write_bytes(b"")
    with pytest.raises(DataError, match=r"a\.zst: Zstandard needs Python 3\.14 .* zstd -d "):
        list(read_file(tmp_path / "a.zst"))


@pytest.mark.parametrize("name", WRITERS)
def test_a_line_without_end_is_refused_while_it_is_read(tmp_path, name):
    """A megabyte of zeros in a compressed file is a gigabyte in memory."""
    path = tmp_path / name
    path.write_bytes(WRITERS[name](b"one\ntwo\n" + bytes(40 << 20)))
    tracemalloc.start()
    lines = read_file(path)
    assert [next(lines), next(lines)] == ["one", "two"], "the lines before it are read"
    with pytest.raises(DataError, match=rf"{name}:3: a line of more than 1,048,576 bytes; .* fold"):
        next(lines)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 16 << 20, "8 MiB are the dictionary of xz"


@pytest.mark.parametrize("ending", ["", "\n", "\r\n"])
def test_the_longest_line_is_read(tmp_path, ending):
    line = "x" * (MAX_LINE_BYTES - len(ending.rstrip("\n")))
    (tmp_path / "long").write_text(f"{line}{ending}", newline="")
    assert list(read_file(tmp_path / "long")) == [line]
    (tmp_path / "long").write_text(f"{line}x{ending}", newline="")
    with pytest.raises(DataError, match="long:1: a line of more than"):
        list(read_file(tmp_path / "long"))


@given(
    st.lists(st.text(st.characters(exclude_characters="\n\r", exclude_categories=["Cs"]))), st.integers(1, 9)
)
def test_lines_are_the_same_wherever_blocks_end(lines, size):
    data = "".join(f"{line}\n" for line in lines).encode()
    cutter = files._LineCutter("file")
    blocks = [data[start : start + size] for start in range(0, len(data), size)]
    cut = [line for block in [*blocks, b""] for line in cutter.cut(block)]
    assert [line.decode() for line in cut] == [
        line.removeprefix("\ufeff") if k == 0 else line for k, line in enumerate(lines)
    ]


def test_an_endless_line_of_standard_input_comes_after_the_lines_before_it(monkeypatch, tmp_path):
    (tmp_path / "input").write_bytes(b"one\n" + bytes(4 << 20))
    with (tmp_path / "input").open() as stream:
        monkeypatch.setattr(sys, "stdin", stream)
        groups = read_groups("-", 5)
        assert next(groups) == ["one"]
        with pytest.raises(DataError, match="standard input:2: a line of more than"):
            next(groups)


def test_a_group_has_a_maximum_size():
    lines = [
        "x" * (MAX_LINE_BYTES // 2),
        "y" * (MAX_LINE_BYTES // 2),
        "z",
        "",
        "w" * (2 * MAX_LINE_BYTES),
        "v",
    ]
    groups = list(group_by_size(lines, 3))
    assert [[line[:1] for line in group] for group in groups] == [["x", "y"], ["z", ""], ["w"], ["v"]]
    assert [len(group) for group in group_by_size("abcdefg", 3)] == [3, 3, 1]
