import bz2
import gzip
import json
import lzma
import re

import numpy as np
import pytest

from regard.text import parse_pharaoh
from regard.translator import Translator

LINES = ["a b c", "", "e", "   ", "d d unknown", ""]
TEXT = "".join(f"{line}\n" for line in LINES)


@pytest.fixture
def expected(model):
    return Translator.load(model).translate(LINES)


class TestOneLineOutForEachLineIn:
    def test_from_standard_input(self, regard, model, expected):
        ended = regard("translate", model, stdin=TEXT)
        assert (ended.status, ended.err) == (0, "")
        assert ended.out == "".join(f"{each.text}\n" for each in expected)
        assert ended.out.split("\n")[1] == ended.out.split("\n")[3] == ""

    def test_a_dash_is_standard_input(self, regard, model, expected):
        assert regard("translate", model, "-", stdin=TEXT).out.splitlines() == [
            each.text for each in expected
        ]

    def test_from_files_in_turn(self, regard, model, data, expected):
        (data / "some").write_text(TEXT)
        out = regard("translate", model, data / "some", data / "some").out
        assert out.splitlines() == [each.text for each in expected] * 2

    def test_a_last_line_without_an_end(self, regard, model):
        assert len(regard("translate", model, stdin="a\nb").out.splitlines()) == 2

    def test_nothing(self, regard, model):
        assert regard("translate", model, stdin="") == (0, "", "")

    @pytest.mark.parametrize(
        ("suffix", "compress"), [("gz", gzip.compress), ("xz", lzma.compress), ("bz2", bz2.compress)]
    )
    def test_compressed(self, regard, model, data, expected, suffix, compress):
        (data / f"some.{suffix}").write_bytes(compress(TEXT.encode()))
        out = regard("translate", model, data / f"some.{suffix}").out
        assert out.splitlines() == [each.text for each in expected]

    def test_more_lines_than_are_held_at_a_time(self, regard, model):
        lines = [f"{word} {word}" for word in "abcde"] * 60
        out = regard("translate", model, "--beam", "1", stdin="\n".join(lines)).out.splitlines()
        assert out == out[:5] * 60


class TestWhatIsPrinted:
    def test_scores(self, regard, model, expected):
        rows = [
            line.split("\t") for line in regard("translate", model, "--scores", stdin=TEXT).out.splitlines()
        ]
        assert rows == [[f"{each.score:.4f}", each.text] for each in expected]

    def test_alignments_in_pharaoh_form(self, regard, model, expected):
        lines = regard("translate", model, "--alignments", stdin=TEXT).out.splitlines()
        for line, each in zip(lines, expected, strict=True):
            text, links = line.split("\t")
            assert text == each.text
            assert parse_pharaoh(links, "here").sure == each.links
        assert re.fullmatch(r"\d+-\d+( \d+-\d+)*", lines[0].split("\t")[1])

    def test_all_fields_in_order(self, regard, model, expected):
        ended = regard("translate", model, "--alignments", "--scores", stdin="e\n")
        assert ended.out.split("\t")[1] == expected[2].text
        assert len(ended.out.split("\t")) == 3

    def test_n_best(self, regard, model):
        lines = regard("translate", model, "--n-best", "3", "--scores", stdin="a b\n\ne\n").out.splitlines()
        assert len(lines) == 3 + 1 + 3
        scores = [float(line.split("\t")[0]) for line in lines]
        assert scores[:3] == sorted(scores[:3], reverse=True)
        assert len(set(lines[:3])) == 3

    def test_json_carries_the_same(self, regard, model):
        plain = regard("translate", model, "--n-best", "2", "--scores", "--alignments", stdin=TEXT).out
        objects = [
            json.loads(line)
            for line in regard("translate", model, "--n-best", "2", "--json", stdin=TEXT).out.splitlines()
        ]
        assert [each["source"] for each in objects] == LINES
        flat = [each for one in objects for each in (one, *one["alternatives"])]
        told = [line.split("\t") for line in plain.splitlines()]
        numbers = [str(k) for k, one in enumerate(objects, start=1) for _ in (one, *one["alternatives"])]
        assert [row[0] for row in told] == numbers
        assert [[f"{each['score']:.4f}", each["text"]] for each in flat] == [row[1:3] for row in told]
        for each, row in zip(flat, told, strict=True):
            assert {tuple(link) for link in each["links"]} == parse_pharaoh(row[3], "here").sure
        assert np.allclose(np.sum(objects[0]["alpha"], axis=1), 1, atol=1e-3)

    def test_options_of_the_search(self, regard, model):
        greedy = Translator.load(model, weights="last").translate(["a b c"], beam=1, length_power=0.0)[0]
        options = [
            "--beam",
            "1",
            "--length-power",
            "0",
            "--weights",
            "last",
            "--batch",
            "1",
            "--device",
            "cpu",
        ]
        assert regard("translate", model, *options, "--scores", stdin="a b c").out == (
            f"{greedy.log_prob:.4f}\t{greedy.text}\n"
        )


class TestWhereItGoes:
    def test_a_file(self, regard, model, data, expected):
        ended = regard("translate", model, "-o", data / "out", stdin=TEXT)
        assert ended == (0, "", "")
        assert (data / "out").read_bytes() == "".join(f"{each.text}\n" for each in expected).encode()

    def test_json_to_a_file(self, regard, model, data):
        regard("translate", model, "--json", "--output", data / "out", stdin=TEXT)
        assert [json.loads(line)["source"] for line in (data / "out").read_text().splitlines()] == LINES

    @pytest.mark.parametrize("json_too", [[], ["--json"]])
    def test_heat_maps(self, regard, model, data, json_too):
        """One for each line that is not blank, numbered as the lines are."""
        regard("translate", model, "--heatmaps", data / "new" / "maps", *json_too, stdin="a b\n\ne\n")
        pictures = sorted((data / "new" / "maps").iterdir())
        assert [path.name for path in pictures] == ["000001.png", "000003.png"]
        assert all(path.read_bytes().startswith(b"\x89PNG") for path in pictures)

    @pytest.mark.parametrize("option", ["--alignments", "--heatmaps"])
    def test_nothing_of_attention_without_attention(self, regard, fixed_model, data, option):
        value = [data / "maps"] if option == "--heatmaps" else []
        ended = regard("translate", fixed_model, option, *value, stdin="a b\n")
        assert (ended.status, ended.out) == (2, "")
        assert "this model has no attention" in ended.err
        assert not (data / "maps").exists()

    def test_json_holds_scores_already(self, regard, model):
        ended = regard("translate", model, "--json", "--scores", stdin="a\n")
        assert (ended.status, ended.out) == (2, "")
        assert "leave out --scores" in ended.err

    def test_a_file_is_not_written_over_while_it_is_read(self, regard, model, data):
        before = (data / "test.src").read_bytes()
        ended = regard("translate", model, data / "test.src", "-o", data / "test.src")
        assert ended.status == 2
        assert "it is being read; write to another file" in ended.err
        assert (data / "test.src").read_bytes() == before

    def test_a_person_who_types_is_answered_line_by_line(self, regard, model, monkeypatch):
        asked = {}

        def stream(self, lines, *, chunk, **options):
            asked["chunk"] = chunk
            return iter(())

        monkeypatch.setattr(Translator, "translate_stream", stream)
        regard("translate", model, typed=True)
        assert asked == {"chunk": 1}
        regard("translate", model)
        assert asked["chunk"] > 1


class TestBadInput:
    def fails(self, ended, *parts):
        assert ended.status == 2
        assert ended.err.startswith("error: ")
        assert ended.err.count("\n") == 1
        for part in parts:
            assert part in ended.err

    def test_a_missing_file_is_told_with_the_nearest(self, regard, model, data):
        ended = regard("translate", model, data / "test.sr")
        self.fails(ended, f"{data}/test.sr: no such file; did you mean {data}/test.src?")
        assert ended.out == ""

    def test_bytes_that_are_no_text(self, regard, model):
        ended = regard("translate", model, stdin=b"a b\n\xff\xfe\n")
        self.fails(ended, "standard input:2: byte 0xff", "not UTF-8", "iconv")

    def test_a_sentence_longer_than_the_limit(self, regard, model):
        """Counted over the whole file; what came before it is not lost."""
        text = "a\n" * 300 + "a b c d\n" + "a\n"
        ended = regard("translate", model, "--max-length", "3", "--beam", "1", stdin=text)
        self.fails(
            ended, "standard input:301 ('a b c d' …) has 4 tokens, above the limit of 3", "--max-length"
        )
        assert len(ended.out.splitlines()) == 256

    def test_more_translations_than_the_beam_holds(self, regard, model):
        self.fails(
            regard("translate", model, "--n-best", "9"),
            "--n-best 9: a beam of 5 finds at most 5; raise --beam",
        )

    def test_no_beam(self, regard, model):
        self.fails(regard("translate", model, "--beam", "0", "--n-best", "0", stdin="a"), "0 is out of range")

    def test_no_such_weights(self, regard, model):
        self.fails(
            regard("translate", model, "--weights", "beast"), "weights: no 'beast'; did you mean 'best'?"
        )

    def test_no_such_device(self, regard, model):
        self.fails(regard("translate", model, "--device", "gpu"), "device: no 'gpu'")

    def test_no_such_model(self, regard, tmp_path):
        self.fails(
            regard("translate", tmp_path / "none"), "none: no such model folder; `regard train` makes one"
        )

    @pytest.mark.parametrize("option", ["--output", "--heatmaps"])
    def test_a_place_that_cannot_be_written(self, regard, model, data, option):
        ended = regard("translate", model, option, data / "test.src" / "x", stdin="a\n")
        self.fails(ended, f"{data}/test.src/x: cannot be ", "another")

    def test_a_disk_that_fills_up(self, regard, model, data, largest_file):
        with largest_file(4096):
            ended = regard("translate", model, "--beam", "1", "-o", data / "out", stdin="a b c d e\n" * 2000)
        self.fails(ended, f"{data}/out: cannot be written (", "make room")
