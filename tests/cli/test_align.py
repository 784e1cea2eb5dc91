import json

import pytest

from regard.text import parse_pharaoh, read_pairs
from regard.translator import Translator


@pytest.fixture
def expected(model, data):
    pairs = list(read_pairs(data / "test.src", data / "test.tgt"))
    return Translator.load(model).align([p.source for p in pairs], [p.target for p in pairs])


def test_pharaoh_links_line_by_line(regard, model, data, expected):
    ended = regard("align", model, data / "test.src", data / "test.tgt")
    assert (ended.status, ended.err) == (0, "")
    assert [parse_pharaoh(line, "").sure for line in ended.out.splitlines()] == [
        each.links for each in expected
    ]


def test_a_blank_side_is_a_blank_line(regard, model, data):
    (data / "test.tsv").write_text("a\tA\n\tA\na\t\nb\tB\n")
    lines = regard("align", model, data / "test.tsv").out.split("\n")
    assert len(lines) == 5
    assert lines[1] == lines[2] == ""


def test_json_carries_the_same(regard, model, data, expected):
    lines = regard("align", model, data / "test.tsv", "--json").out.splitlines()
    assert [json.loads(line) for line in lines] == [
        json.loads(json.dumps(each.to_json())) for each in expected
    ]


def test_columns_and_standard_input(regard, model, data):
    plain = regard("align", model, data / "test.tsv").out
    assert regard("align", model, data / "swapped.tsv", "--columns", 3, 1).out == plain
    assert regard("align", model, "-", stdin=(data / "test.tsv").read_bytes()).out == plain
    assert regard("align", model, "-", data / "test.tgt", stdin=(data / "test.src").read_bytes()).out == plain


def test_more_pairs_than_are_held_at_a_time(regard, model, data):
    (data / "many.tsv").write_text("a b\tA B\n" * 600)
    lines = regard("align", model, data / "many.tsv").out.splitlines()
    assert len(lines) == 600
    assert len(set(lines)) == 1


def test_heat_maps(regard, model, data):
    (data / "test.tsv").write_text("a\tA\n\tA\nb\tB\n")
    regard("align", model, data / "test.tsv", "--heatmaps", data / "maps")
    assert sorted(path.name for path in (data / "maps").iterdir()) == ["000001.png", "000003.png"]


class TestBadInput:
    def fails(self, ended, *parts):
        assert ended.status == 2
        assert ended.err.startswith("error: ")
        for part in parts:
            assert part in ended.err

    def test_a_model_without_attention(self, regard, fixed_model, data):
        ended = regard("align", fixed_model, data / "test.tsv")
        self.fails(
            ended, f"{fixed_model}: this model has no attention, so it cannot align; train one of kind"
        )

    def test_unequal_sides(self, regard, model, data):
        (data / "test.tgt").write_text("A\n")
        self.fails(regard("align", model, data / "test.src", data / "test.tgt"), "12 lines", "has 1")

    def test_too_long_is_counted_over_the_file(self, regard, model, data):
        (data / "many.tsv").write_text("a\tA\n" * 299 + "a b c\tA\n")
        ended = regard("align", model, data / "many.tsv", "--max-length", 2)
        self.fails(ended, "line 300 ('a b c' …) has 3 tokens, above the limit of 2", "--max-length")

    def test_both_sides_from_standard_input(self, regard, model):
        self.fails(regard("align", model, "-", "-"), "cannot both be standard input")
