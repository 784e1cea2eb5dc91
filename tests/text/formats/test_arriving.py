"""Lines in groups; those of standard input through real pipes, which is where waiting happens."""

import gzip
import io
import os
import sys
import threading
import time

import pytest

from regard.errors import DataError
from regard.text.formats.files import read_groups


class Pipe:
    """Standard input, and the end of the pipe that fills it."""

    def __init__(self):
        self.read_end, self.write_end = os.pipe()

    def fileno(self):
        return self.read_end

    def write(self, data):
        os.write(self.write_end, data)

    def close(self):
        if self.write_end is not None:
            os.close(self.write_end)
            self.write_end = None


@pytest.fixture
def pipe(monkeypatch):
    made = Pipe()
    monkeypatch.setattr(sys, "stdin", made)
    yield made
    made.close()
    os.close(made.read_end)


class TestStandardInput:
    def test_a_line_is_handed_out_while_the_pipe_stays_open(self, pipe):
        """A reader that waited for 256 lines, or for the end, would wait here for ever."""
        groups = read_groups("-", 256)
        for sent in (b"one\n", b"two\nthree\n", b"four\n"):
            pipe.write(sent)
            started = time.monotonic()
            assert next(groups) == sent.decode().splitlines()
            assert time.monotonic() - started < 2, "a pause is ten milliseconds, on a busy machine a few more"

    def test_lines_that_come_together_stay_together(self, pipe):
        pipe.write(b"".join(b"%d\n" % k for k in range(10)))
        pipe.close()
        assert list(read_groups("-", 4)) == [["0", "1", "2", "3"], ["4", "5", "6", "7"], ["8", "9"]]

    def test_a_line_that_comes_in_parts_is_one_line(self, pipe):
        groups = read_groups("-", 4)
        pipe.write("ein Hä".encode()[:-1])
        later = threading.Timer(0.1, pipe.write, ["ä".encode()[1:] + b"user\n"])
        later.start()
        assert next(groups) == ["ein Häuser"]
        later.join()

    def test_a_slow_trickle_is_not_saved_up_for_ever(self, pipe):
        """Each line comes before the pause is over; the group ends all the same."""
        stop = threading.Event()

        def trickle():
            while not stop.wait(0.003):
                pipe.write(b"x\n")

        language_model = threading.Thread(target=trickle)
        language_model.start()
        try:
            started = time.monotonic()
            group = next(read_groups("-", 10**6))
            assert time.monotonic() - started < 5
            assert 1 <= len(group) < 2000
        finally:
            stop.set()
            language_model.join()

    def test_nothing(self, pipe):
        pipe.close()
        assert list(read_groups("-", 4)) == []

    @pytest.mark.parametrize(
        ("data", "lines"),
        [
            (b"\xef\xbb\xbfa\nb", ["a", "b"]),
            (b"\xef\xbb\xbf", []),
            (b"a\r\n\r\n\nb\r\n", ["a", "", "", "b"]),
            ("a\u2028b\x0cc\n".encode(), ["a\u2028b\x0cc"]),
        ],
    )
    def test_lines_are_those_of_a_file(self, pipe, data, lines):
        pipe.write(data)
        pipe.close()
        assert [line for group in read_groups("-", 4) for line in group] == lines

    @pytest.mark.parametrize("data", [b"\xef\xbb\xbfa\nb", b"\xef\xbb\xbf\n\n", b"a\n", b"\xef\xbb\xbf"])
    def test_byte_by_byte(self, pipe, data, tmp_path):
        """A byte order mark may come in parts."""
        (tmp_path / "whole").write_bytes(data)

        def trickle():
            for byte in data:
                pipe.write(bytes([byte]))
                time.sleep(0.02)
            pipe.close()

        language_model = threading.Thread(target=trickle)
        language_model.start()
        came = [line for group in read_groups("-", 4) for line in group]
        language_model.join()
        assert came == [line for group in read_groups(tmp_path / "whole", 4) for line in group]

    def test_more_than_is_read_at_a_time(self, pipe):
        long = "x" * 100_000
        language_model = threading.Thread(
            target=lambda: (pipe.write(f"{long}\n{long}\n".encode()), pipe.close())
        )
        language_model.start()
        assert [line for group in read_groups("-", 4) for line in group] == [long, long]
        language_model.join()

    def test_a_bad_line_comes_after_the_good_ones(self, pipe):
        pipe.write(b"a\nb\n\xff\nc\n")
        groups = read_groups("-", 256)
        assert next(groups) == ["a", "b"]
        with pytest.raises(
            DataError, match="standard input:3: byte 0xff at offset 0 of the line is not UTF-8"
        ):
            next(groups)

    def test_one_that_cannot_be_waited_for(self, monkeypatch):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a\nb\nc\n")))
        assert list(read_groups("-", 2)) == [["a", "b"], ["c"]]

    def test_one_that_is_closed(self, monkeypatch):
        monkeypatch.setattr(sys, "stdin", None)
        with pytest.raises(DataError, match="standard input: it is closed; name a file"):
            next(read_groups("-", 2))


class TestFiles:
    def test_groups_of_the_most(self, tmp_path):
        (tmp_path / "some.gz").write_bytes(gzip.compress(b"a\n\nb\n"))
        assert list(read_groups(tmp_path / "some.gz", 2)) == [["a", ""], ["b"]]

    def test_a_bad_line_comes_after_the_good_ones(self, tmp_path):
        (tmp_path / "some").write_bytes(b"a\nb\n\xff\n")
        groups = read_groups(tmp_path / "some", 256)
        assert next(groups) == ["a", "b"]
        with pytest.raises(DataError, match=r"some:3: byte 0xff"):
            next(groups)

    def test_a_missing_one(self, tmp_path):
        with pytest.raises(DataError, match="no such file"):
            next(read_groups(tmp_path / "none", 2))

    def test_no_further_ahead_than_a_group(self, tmp_path, monkeypatch):
        from regard.text.formats import files as arriving

        read = []
        monkeypatch.setattr(
            arriving, "read_file", lambda path: (read.append(k) or str(k) for k in range(100))
        )
        next(read_groups("some", 3))
        assert len(read) == 3
