import errno
import io
import json
import math
import os
import signal
import subprocess
import sys
from dataclasses import asdict, dataclass
from typing import Any

import pytest

from regard import io as whole_file
from regard.errors import DataError
from regard.io import (
    LOCK,
    build_dataclass,
    check_safetensors,
    make_folder,
    one_writer,
    parse_json,
    read_whole,
    remove_file,
    remove_half_written,
    write_whole,
    write_whole_text,
)


def only_old(folder):
    """Whether the folder holds the old file as it was, and nothing else."""
    return [(path.name, path.read_bytes()) for path in folder.iterdir()] == [("file", b"old")]


@pytest.fixture
def old(tmp_path):
    (tmp_path / "file").write_bytes(b"old")
    return tmp_path / "file"


def test_a_file_is_written_over_the_old_one(old):
    write_whole(old, lambda file: file.write(b"new"))
    assert [(path.name, path.read_bytes()) for path in old.parent.iterdir()] == [("file", b"new")]


def test_text_is_utf8(tmp_path):
    write_whole_text(tmp_path / "text", "œuf\n")
    assert (tmp_path / "text").read_bytes() == b"\xc5\x93uf\n"


def test_under_its_name_only_when_it_is_on_the_disk(old, monkeypatch):
    """fsync comes after the last byte and before the name."""
    seen = []
    sync = os.fsync

    def watched(descriptor):
        seen.append((os.fstat(descriptor).st_size, old.read_bytes()))
        sync(descriptor)

    monkeypatch.setattr(whole_file.os, "fsync", watched)
    write_whole(old, lambda file: file.write(b"x" * 9))
    assert seen[0] == (9, b"old")
    assert [content for _, content in seen[1:]] == [b"x" * 9], (
        "then the folder, so that the name is there too"
    )


def test_a_full_disk_leaves_the_old_file(old, largest_file):
    with (
        largest_file(1000),
        pytest.raises(DataError, match=r"file: cannot be written \(.*\); free some space"),
    ):
        write_whole(old, lambda file: file.write(b"x" * 100_000))
    assert only_old(old.parent)


def test_a_disk_that_fills_at_the_last_moment_leaves_the_old_file(old, monkeypatch):
    def full(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(whole_file.os, "fsync", full)
    with pytest.raises(DataError, match="No space left on device"):
        write_whole(old, lambda file: file.write(b"new"))
    assert only_old(old.parent)


@pytest.mark.parametrize("fault", [KeyboardInterrupt, ZeroDivisionError])
def test_what_goes_wrong_half_way_leaves_the_old_file(old, fault):
    def fill(file):
        file.write(b"half of it")
        raise fault

    with pytest.raises(fault):
        write_whole(old, fill)
    assert only_old(old.parent)


def test_a_killed_write_leaves_the_old_file(old):
    script = """
import os, signal, sys
from regard.io import write_whole
def fill(file):
    file.write(b"x" * 100_000)
    file.flush()
    os.kill(os.getpid(), signal.SIGKILL)
write_whole(sys.argv[1], fill)
"""
    done = subprocess.run([sys.executable, "-c", script, str(old)], timeout=60, check=False)
    assert done.returncode == -signal.SIGKILL
    assert old.read_bytes() == b"old"
    # what a killed process leaves beside it is hidden, and the next write does not trip over it
    assert all(path.name.startswith(".file.") for path in old.parent.iterdir() if path != old)
    write_whole(old, lambda file: file.write(b"new"))
    assert old.read_bytes() == b"new"
    (old.parent / ".hidden").touch()
    remove_half_written(old.parent)
    assert sorted(path.name for path in old.parent.iterdir()) == [".hidden", "file"]


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(DataError, match=r"none/file: cannot be written \(No such file.*choose a folder that"):
        write_whole(tmp_path / "none" / "file", lambda file: file.write(b"new"))


def test_make_folder(tmp_path):
    make_folder(tmp_path / "a" / "b")
    make_folder(tmp_path / "a" / "b")
    assert (tmp_path / "a" / "b").is_dir()
    (tmp_path / "file").touch()
    with pytest.raises(DataError, match=r"file: cannot be made \(File exists\); choose another folder"):
        make_folder(tmp_path / "file")


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, "[" * 51 + "]" * 51])
def test_deep_json_is_refused(text):
    with pytest.raises(ValueError, match="nested"):
        parse_json(text)


def test_json_of_fifty_levels_is_read():
    assert parse_json(b"[" * 50 + b"]" * 50)


@pytest.mark.parametrize("text", [r'["\ud800"]', r'{"\udfff": 1}', rb'"\uD83D"'])
def test_half_a_surrogate_pair_is_refused(text):
    with pytest.raises(ValueError, match="surrogates"):
        parse_json(text)


def test_a_surrogate_pair_is_a_character():
    assert parse_json(r'"\ud83d\ude00"') == "😀"


def test_only_ordinary_files_within_the_limit_are_read(tmp_path):
    (tmp_path / "file").write_bytes(b"12345")
    assert read_whole(tmp_path / "file", 5) == b"12345"
    with pytest.raises(OSError, match="more than 4 bytes"):
        read_whole(tmp_path / "file", 4)
    os.mkfifo(tmp_path / "fifo")
    for path in (tmp_path, "/dev/zero", tmp_path / "fifo"):
        with pytest.raises(OSError, match="not an ordinary file"):
            read_whole(path, 5)


def test_a_header_that_claims_gigabytes_is_refused(tmp_path):
    (tmp_path / "weights").write_bytes((1 << 33).to_bytes(8, "little"))
    with pytest.raises(ValueError, match="a header of 8,589,934,592 bytes"):
        check_safetensors(tmp_path / "weights")


def test_reading_takes_no_more_memory_than_the_file_has(tmp_path, monkeypatch):
    (tmp_path / "file").write_bytes(b"ab")
    given = []

    class Watched(io.BufferedReader):
        def read(self, size=-1):
            given.append(size)
            return super().read(size)

    monkeypatch.setattr(whole_file, "open", lambda path, mode: Watched(io.FileIO(path)), raising=False)
    assert read_whole(tmp_path / "file", 1 << 40) == b"ab"
    assert given == [3]


@dataclass(frozen=True)
class Wheel:
    size: int
    weight: float = 1.0


@dataclass(frozen=True)
class Car:
    name: str
    wheels: list[Wheel]
    speeds: dict[str, float]
    spare: int | None = None
    more: Any = None


class TestBuildDataclass:
    def test_what_asdict_gives(self):
        car = Car("a", [Wheel(3), Wheel(4, 0.5)], {"slow": 2, "fast": math.inf}, spare=5, more=[{}])
        assert build_dataclass(Car, json.loads(json.dumps(asdict(car)))) == car
        assert build_dataclass(Car, {"name": "a", "wheels": [], "speeds": {}, "spare": None}) == Car(
            "a", [], {}
        )

    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"name": 3}, "name is 3"),
            ({"wheels": {}}, "wheels is {}"),
            ({"wheels": [3]}, "3 in place of a table"),
            ({"wheels": [{"size": 2.5}]}, "size is 2.5"),
            ({"wheels": [{"size": True}]}, "size is True"),
            ({"wheels": [{"size": 2**53 + 1}]}, "size is 9007199254740993"),
            ({"wheels": [{"size": -2}]}, "size is -2"),
            ({"wheels": [{"weight": 1.0}]}, "a name is wrong or missing"),
            ({"speeds": {"x": "fast"}}, "speeds is 'fast'"),
            ({"spare": "x"}, "spare is 'x'"),
            ({"colour": 1}, "a name is wrong or missing"),
        ],
    )
    def test_anything_else_is_refused(self, changes, message):
        with pytest.raises(ValueError, match=message):
            build_dataclass(Car, {"name": "a", "wheels": [], "speeds": {}, **changes})


def test_what_cannot_be_removed_is_an_error(tmp_path):
    (tmp_path / "folder").mkdir()
    with pytest.raises(DataError, match=r"folder: cannot be removed \(.+\); remove it by hand"):
        remove_file(tmp_path / "folder")
    remove_file(tmp_path / "none")


def test_half_written_files_are_removed_and_folders_are_not(tmp_path):
    (tmp_path / ".weights.01234567").write_bytes(b"half")
    (tmp_path / ".folder.01234567").mkdir()
    remove_half_written(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [".folder.01234567"]


HOLDER = """
import sys, time
from pathlib import Path
from regard.io import one_writer
with one_writer(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


class TestOneWriter:
    def test_a_second_one_is_refused_at_once_and_told_who_is_first(self, tmp_path):
        with subprocess.Popen(
            [sys.executable, "-c", HOLDER, tmp_path / "model"], stdout=subprocess.PIPE, text=True
        ) as holder:
            assert holder.stdout is not None
            assert holder.stdout.readline() == "held\n"
            message = (
                rf"model: another process is writing to this folder \(process {holder.pid} on .+\); wait"
            )
            with pytest.raises(DataError, match=message), one_writer(tmp_path / "model"):
                pass
            holder.kill()
        assert (tmp_path / "model" / LOCK).exists(), "a killed owner leaves its file"
        with one_writer(tmp_path / "model"):  # and the lock is free all the same
            pass
        assert not (tmp_path / "model" / LOCK).exists()

    def test_in_one_process_too(self, tmp_path):
        with (
            one_writer(tmp_path),
            pytest.raises(DataError, match=f"process {os.getpid()}"),
            one_writer(tmp_path),
        ):
            pass

    def test_a_folder_that_stays_empty_is_removed_if_it_was_made(self, tmp_path):
        with one_writer(tmp_path / "new"):
            assert (tmp_path / "new").is_dir()
        assert not (tmp_path / "new").exists()
        (tmp_path / "old").mkdir()
        with one_writer(tmp_path / "old"):
            pass
        assert (tmp_path / "old").is_dir()

    @pytest.mark.parametrize("name", ["mine", "new"])
    def test_a_link_is_not_followed(self, tmp_path, name):
        (tmp_path / "mine").write_text("precious")
        (tmp_path / "model").mkdir()
        (tmp_path / "model" / LOCK).symlink_to(tmp_path / name)
        with pytest.raises(DataError, match="model: cannot be written to"), one_writer(tmp_path / "model"):
            pass
        assert (tmp_path / "mine").read_text() == "precious"
        assert not (tmp_path / "new").exists()

    def test_a_file_in_its_place(self, tmp_path):
        (tmp_path / "file").write_text("")
        with pytest.raises(DataError, match="file: cannot be made"), one_writer(tmp_path / "file"):
            pass
