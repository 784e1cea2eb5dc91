import json

import pytest

from regard.evaluation.alignment import SYMMETRIZERS, flip, threshold_links
from regard.tasks.translate.predictor import Translator
from regard.text import parse_pharaoh, read_pairs
from regard.training.run import run_training


@pytest.fixture
def expected(model, data):
    pairs = list(read_pairs(data / "test.src", data / "test.tgt"))
    return Translator.load(model).align([p.source for p in pairs], [p.target for p in pairs])


@pytest.fixture
def backward(model, data):
    """The same pairs read the other way round, by the same model: its words are unknown, its links are not."""
    pairs = list(read_pairs(data / "test.src", data / "test.tgt"))
    return Translator.load(model).align([p.target for p in pairs], [p.source for p in pairs])


def links_of(ended):
    assert (ended.status, ended.err) == (0, "")
    return [parse_pharaoh(line, "").sure for line in ended.out.splitlines()]


def test_pharaoh_links_line_by_line(regard, model, data, expected):
    ended = regard("align", model, data / "test.src", data / "test.tgt")
    assert links_of(ended) == [each.links for each in expected]


@pytest.mark.parametrize("threshold", [0.05, 0.3, 1])
def test_a_threshold_links_all_that_is_strong(regard, model, data, expected, threshold):
    ended = regard("align", model, data / "test.tsv", "--threshold", threshold)
    assert links_of(ended) == [threshold_links(each.word_alpha.alpha, threshold) for each in expected]


@pytest.mark.parametrize("rule", [None, *SYMMETRIZERS])
def test_two_directions_become_one(regard, model, data, expected, backward, rule):
    options = [] if rule is None else ["--symmetrize", rule]
    ended = regard("align", model, data / "test.src", data / "test.tgt", "--reverse", model, *options)
    combine = SYMMETRIZERS[rule or "grow-diag-final-and"]
    assert links_of(ended) == [
        combine(there.links, flip(back.links)) for there, back in zip(expected, backward, strict=True)
    ]


def test_json_has_the_links_of_the_chosen_rule(regard, model, data):
    options = ["--reverse", model, "--symmetrize", "union", "--threshold", 0.2]
    plain = regard("align", model, data / "test.tsv", *options).out.splitlines()
    found = [
        json.loads(line)
        for line in regard("align", model, data / "test.tsv", *options, "--json").out.splitlines()
    ]
    assert [" ".join(f"{j}-{i}" for j, i in each["links"]) for each in found] == plain
    assert any(plain)


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
            ended,
            f"{fixed_model}: this model has no attention, so it has no alignments; train one whose decoder",
        )

    def test_a_reverse_model_without_attention(self, regard, model, fixed_model, data):
        ended = regard("align", model, data / "test.tsv", "--reverse", fixed_model)
        self.fails(ended, f"{fixed_model}: this model has no attention")

    def test_a_rule_for_two_directions_where_there_is_one(self, regard, model, data):
        ended = regard("align", model, data / "test.tsv", "--symmetrize", "union")
        self.fails(
            ended, "--symmetrize union needs the links of two directions", "with --reverse, or leave it out"
        )

    def test_an_unknown_rule(self, regard, model, data):
        ended = regard("align", model, data / "test.tsv", "--reverse", model, "--symmetrize", "grow-dialog")
        self.fails(ended, "symmetrize = 'grow-dialog': there is no such rule; did you mean 'grow-diag'?")

    def test_a_threshold_out_of_range(self, regard, model, data):
        (data / "blank.tsv").write_text("\t\n")
        ended = regard("align", model, data / "blank.tsv", "--threshold", 30)
        self.fails(ended, "threshold = 30.0: an attention weight is between 0 and 1; try 0.3")
        assert ended.out == "", "said before the first line"

    def test_unequal_sides(self, regard, model, data):
        (data / "test.tgt").write_text("A\n")
        self.fails(regard("align", model, data / "test.src", data / "test.tgt"), "12 lines", "has 1")

    def test_too_long_is_counted_over_the_file(self, regard, model, data):
        (data / "many.tsv").write_text("a\tA\n" * 299 + "a b c\tA\n")
        ended = regard("align", model, data / "many.tsv", "--max-length", 2)
        self.fails(ended, "many.tsv:300 ('a b c' …) has 3 tokens, above the limit of 2", "--max-length")

    def test_too_long_for_the_reverse_model(self, regard, model, data):
        (data / "test.tgt").write_text("A\n" * 11 + "A " * 9 + "\n")
        options = ["--reverse", model, "--max-length", 8]
        ended = regard("align", model, data / "test.src", data / "test.tgt", *options)
        self.fails(ended, "test.tgt:12 ('A A A A A A A A A")

    def test_both_sides_from_standard_input(self, regard, model):
        self.fails(regard("align", model, "-", "-"), "cannot both be standard input")


class TestCharacters:
    """A model of spelling to sound: characters of the source, phones of the target."""

    @pytest.fixture
    def spelling(self, run_config, tmp_path):
        pairs = [("chat", "ʃ a"), ("mat", "m a"), ("tache", "t a ʃ"), ("acte", "a k t")]
        config = run_config(tokenizer={"source": "char", "target": "word"})
        run_training(tmp_path / "g2p", config, train=pairs, valid=pairs)
        (tmp_path / "pairs.tsv").write_text("".join(f"{source}\t{target}\n" for source, target in pairs))
        return tmp_path

    def test_characters_are_linked_unless_words_are_asked_for(self, regard, spelling):
        by_character = links_of(regard("align", spelling / "g2p", spelling / "pairs.tsv"))
        by_word = links_of(regard("align", spelling / "g2p", spelling / "pairs.tsv", "--words"))
        assert [{i for _, i in links} for links in by_word] == [{0, 1}, {0, 1}, {0, 1, 2}, {0, 1, 2}]
        assert {j for links in by_word for j, _ in links} == {0}
        assert {j for links in by_character for j, _ in links} > {0}

    def test_json_says_what_is_linked(self, regard, spelling):
        for options, units in (((), ["characters", "words"]), (("--words",), ["words", "words"])):
            lines = regard(
                "align", spelling / "g2p", spelling / "pairs.tsv", "--json", *options
            ).out.splitlines()
            assert all(json.loads(line)["link_units"] == units for line in lines)

    def test_directions_that_count_differently_are_refused(self, regard, spelling, run_config):
        pairs = [("ʃ a", "chat"), ("m a", "mat")]
        config = run_config(tokenizer={"source": "word", "target": "word"})
        run_training(spelling / "back", config, train=pairs, valid=pairs)
        given = ["align", spelling / "g2p", spelling / "pairs.tsv", "--reverse", spelling / "back"]
        ended = regard(*given)
        assert ended.status != 0
        assert "pairs.tsv:1: 4 and 2 characters and words of" in ended.err
        assert "--words" in ended.err
        assert "Traceback" not in ended.err
        assert len(links_of(regard(*given, "--words"))) == 4


def test_a_target_that_is_too_long_is_refused(regard, model, tmp_path):
    (tmp_path / "source").write_text("a b\nc\n")
    (tmp_path / "target").write_text("A B\n" + "C " * 9 + "\n")
    ended = regard("align", model, tmp_path / "source", tmp_path / "target", "--max-length", 8)
    assert ended.status == 2
    assert "target:2 ('C C C C C C C C C ' …) has 9 tokens, above the limit of 8" in ended.err
    assert regard("align", model, tmp_path / "source", tmp_path / "target", "--max-length", 9).status == 0
    reverse = ("--reverse", model, "--max-length", 8)
    assert regard("align", model, tmp_path / "target", tmp_path / "source", *reverse).status == 2
