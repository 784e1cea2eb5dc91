import json
import re

import numpy as np
import pytest

from regard.evaluation.alignment import SYMMETRIZERS, flip, threshold_links
from regard.tasks.translate.predictor import Translator
from regard.tasks.translate.result import Translation
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


def by_hand(source, target, alpha):
    """A translation of words with the given attention, (target + 1, source + 1)."""
    words = source.split(), target.split()
    tokens = [(*each, "</s>") for each in words]
    numbers = [(*range(len(each)), None) for each in words]
    return Translation(
        source, target, tokens[0], tokens[1], 0.0, 0.0, (0.0,) * len(tokens[1]), np.array(alpha), *numbers
    )


@pytest.fixture
def forced(monkeypatch, tmp_path):
    """A model whose attention is set by hand: two pairs, in both directions."""
    alphas = {
        ("the house", "la maison"): [[0.8, 0.1, 0.1], [0.3, 0.6, 0.1], [0, 0, 1]],
        ("la maison", "the house"): [[0.9, 0.1, 0], [0.2, 0.7, 0.1], [0, 0, 1]],
        ("yes", "oui oui"): [[0.4, 0.6], [0.9, 0.1], [0, 1]],
        ("oui oui", "yes"): [[0.5, 0.3, 0.2], [0, 0, 1]],
    }

    class Forced:
        attends, features = True, ()

        def align(self, sources, targets, **places):
            return [by_hand(*pair, alphas[pair]) for pair in zip(sources, targets, strict=True)]

    monkeypatch.setattr(Translator, "load", lambda *arguments, **options: Forced())
    (tmp_path / "model").mkdir()
    (tmp_path / "en").write_text("the house\nyes\n")
    (tmp_path / "fr").write_text("la maison\noui oui\n")
    return tmp_path


class TestAttentionByHand:
    """Each number can be checked against the four matrices above."""

    @pytest.mark.parametrize(
        ("options", "links"),
        [
            ((), "0-0/0.8 1-1/0.6\n0-1/0.9\n"),
            (("--threshold", 0.3), "0-0/0.8 0-1/0.3 1-1/0.6\n0-0/0.4 0-1/0.9\n"),
            (("--reverse", "model"), "0-0/0.8485 1-1/0.6481\n0-1/0.5196\n"),
            (
                ("--reverse", "model", "--symmetrize", "union"),
                "0-0/0.8485 1-1/0.6481\n0-0/0.4472 0-1/0.5196\n",
            ),
            (("--reverse", "model", "--symmetrize", "intersection"), "0-0/0.8485 1-1/0.6481\n\n"),
            (
                ("--reverse", "model", "--symmetrize", "probability", "--threshold", 0.5),
                "0-0/0.8485 1-1/0.6481\n0-1/0.5196\n",
            ),
            (
                ("--reverse", "model", "--symmetrize", "probability"),
                "0-0/0.8485 1-1/0.6481\n0-0/0.4472 0-1/0.5196\n",
            ),
        ],
    )
    def test_links_and_probabilities(self, regard, forced, monkeypatch, options, links):
        monkeypatch.chdir(forced)
        assert regard("align", "model", "en", "fr", "--probabilities", *options).out == links
        plain = regard("align", "model", "en", "fr", *options).out
        assert plain == re.sub(r"/[\d.]+", "", links)

    @pytest.mark.parametrize(
        ("name", "text"),
        [
            ("wa", "1 1 1 S 0.8\n1 2 2 S 0.6\n2 1 2 S 0.9\n"),
            ("pharaoh,from-1", "1-1/0.8 2-2/0.6\n1-2/0.9\n"),
            ("wa,target-source", "1 1 1 S 0.8\n1 2 2 S 0.6\n2 2 1 S 0.9\n"),
        ],
    )
    def test_formats(self, regard, forced, monkeypatch, name, text):
        monkeypatch.chdir(forced)
        assert regard("align", "model", "en", "fr", "--format", name, "--probabilities").out == text

    def test_giza(self, regard, forced, monkeypatch):
        monkeypatch.chdir(forced)
        assert regard("align", "model", "en", "fr", "--format", "giza").out.splitlines()[3:] == [
            "# Sentence pair (2) source length 1 target length 2 alignment score : 1",
            "oui oui",
            "NULL ({ 1 }) yes ({ 2 })",
        ]

    def test_json_has_probabilities(self, regard, forced, monkeypatch):
        monkeypatch.chdir(forced)
        lines = regard("align", "model", "en", "fr", "--json", "--probabilities", "--threshold", 0.3).out
        assert [json.loads(line)["probabilities"] for line in lines.splitlines()] == [
            [0.8, 0.3, 0.6],
            [0.4, 0.9],
        ]

    def test_scores_of_each_direction_and_symmetrised(self, regard, forced, monkeypatch):
        """Gold: 0-0 and 1-1 sure; 0-0 sure and 0-1 possible."""
        monkeypatch.chdir(forced)
        (forced / "gold.wa").write_text("1 1 1 S\n1 2 2 S\n2 1 1 S\n2 1 2 P\n")
        options = ("--reverse", "model", "--symmetrize", "union", "--gold", "gold.wa", "--json")
        report = json.loads(regard("align", "model", "en", "fr", *options).out)
        found = {
            name: (row["aer"], row["alignment_f1"], row["num_links"])
            for name, row in report["scores"].items()
        }
        # forward finds 0-0 1-1 and 0-1, reverse 0-0 1-1 and 0-0, and together they have all four
        assert found == {
            "forward": (pytest.approx(1 - (2 + 3) / 6), pytest.approx(0.8), 3),
            "reverse": (0, 1, 3),
            "symmetrized": (pytest.approx(1 - (3 + 4) / 7), 1, 4),
        }
        assert report["systems"] == {
            "forward": "model",
            "reverse": "model",
            "symmetrized": "by union",
        }
        assert report["worst"] == []

    def test_the_table_is_the_json(self, regard, forced, monkeypatch):
        monkeypatch.chdir(forced)
        (forced / "gold").write_text("0-0 1-1\n0-0 0?1\n")
        ended = regard("align", "model", "en", "fr", "--gold", "gold")
        assert [line.split() for line in ended.out.splitlines()] == [
            ["2", "pairs,", "against", "gold"],
            ["aer", "precision", "recall", "f1", "links"],
            ["forward", "16.7", "%", "100.0", "%", "66.7", "%", "80.0", "%", "3"],
            ["forward:", "model"],
        ]
        assert ended.err == "gold: Pharaoh, counted from 0, source first\n"

    def test_a_page_of_the_worst_pairs(self, regard, forced, monkeypatch):
        monkeypatch.chdir(forced)
        (forced / "gold").write_text("1-0\n0-0 0?1\n")
        ended = regard(
            "align", "model", "en", "fr", "--gold", "gold", "--out", "report", "--worst", 1, "--format", "wa"
        )
        assert ended.err.endswith("report: report/report.html\n")
        page = (forced / "report" / "report.html").read_text(encoding="utf-8")
        assert page.count("<article") == 1
        assert "regard align model en fr --format wa --gold gold --worst 1 --out report" in page
        assert re.search(r'class="wrong" style="[^"]*">0.80 wrong link<', page)
        assert re.search(r'class="sure missed" style="[^"]*">0.10 missed link<', page)
        report = json.loads((forced / "report" / "report.json").read_text())
        assert report["num_differing"] == 2
        assert [pair["number"] for pair in report["worst"]] == [1]
        assert (forced / "report" / "links.wa").read_text() == "1 1 1 S\n1 2 2 S\n2 1 2 S\n"

    def test_compared_with_another_aligner(self, regard, forced, monkeypatch):
        """Against gold links both are scored; without, precision and recall say how far they agree."""
        monkeypatch.chdir(forced)
        (forced / "gold").write_text("0-0 1-1\n0-0\n")
        (forced / "other").write_text("0-0\n0-0 0-1\n")
        ended = regard("align", "model", "en", "fr", "--compare", "other", "--json")
        report = json.loads(ended.out)
        (row,) = report["scores"].values()
        assert [row[f"alignment_{name}"] for name in ("precision", "recall")] == pytest.approx([2 / 3, 2 / 3])
        assert report["gold"] is None
        assert [pair["links"] for pair in report["worst"]] == [
            {"forward": "0-0 1-1", "other": "0-0"},
            {"forward": "0-1", "other": "0-0 0-1"},
        ]
        report = json.loads(
            regard("align", "model", "en", "fr", "--compare", "other", "--gold", "gold", "--json").out
        )
        recall = {name: row["alignment_recall"] for name, row in report["scores"].items()}
        assert recall == {"forward": pytest.approx(2 / 3), "other": pytest.approx(2 / 3)}
        printed = regard("align", "model", "en", "fr", "--compare", "other", "--worst", 1).out
        assert "2 of 2 pairs differ; those that differ most:\n\n1  1 links\n" in printed
        assert re.search(r"only forward +house – maison\n", printed)
        assert "oui" not in printed


class TestFilesOfLinks:
    """A file instead of a model: no model is loaded."""

    @pytest.fixture(autouse=True)
    def folder(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(Translator, "load", None)
        (tmp_path / "en").write_text("the house\n\nyes sir\n")
        (tmp_path / "fr").write_text("la maison\n\noui\n")
        (tmp_path / "there").write_text("0-0/0.5 1?1\n\n0-0\n")
        (tmp_path / "back").write_text("1 1 1 S 0.8\n1 2 1 S\n3 2 1 S\n")
        return tmp_path

    @pytest.mark.parametrize("name", ["pharaoh", "wa", "pharaoh,from-1,target-source"])
    def test_a_file_is_written_in_another_format_and_back(self, regard, folder, name):
        written = regard("align", "there", "en", "fr", "--format", name, "--probabilities").out
        (folder / "other").write_text(written)
        parts = [part for part in name.split(",") if part not in ("pharaoh", "wa")]
        given = ["--links-format", ",".join(parts)] if parts else []
        assert (
            regard("align", "other", "en", "fr", "--probabilities", *given).out
            == "0-0/0.5 1?1/1.0\n\n0-0/1.0\n"
        )
        assert regard("align", "other", "en", "fr", *given).out == "0-0 1?1\n\n0-0\n"

    def test_giza_and_back(self, regard, folder):
        (folder / "other").write_text(regard("align", "back", "en", "fr", "--format", "giza").out)
        assert regard("align", "other", "en", "fr").out == "0-0 1-0\n\n1-0\n"

    def test_two_files_are_symmetrised(self, regard):
        for rule, links in (("union", "0-0 1-0 1-1\n\n0-0 1-0\n"), ("intersection", "0-0\n\n\n")):
            assert (
                regard("align", "there", "en", "fr", "--reverse", "back", "--symmetrize", rule).out == links
            )
        ended = regard(
            "align",
            "there",
            "en",
            "fr",
            "--reverse",
            "back",
            "--symmetrize",
            "probability",
            "--probabilities",
        )
        assert ended.out == "0-0/0.6325\n\n\n"

    def test_a_threshold_for_probabilities(self, regard):
        assert regard("align", "there", "en", "fr", "--threshold", 0.6).out == "1?1\n\n0-0\n"

    def test_json(self, regard):
        lines = regard("align", "there", "en", "fr", "--json").out.splitlines()
        assert json.loads(lines[0]) == {
            "source": "the house",
            "target": "la maison",
            "links": [[0, 0], [1, 1]],
            "link_units": ["words", "words"],
        }

    def test_scored_and_compared(self, regard):
        report = json.loads(regard("align", "there", "en", "fr", "--gold", "back", "--json").out)
        score = report["scores"]["forward"]
        assert (score["num_links"], score["alignment_precision"]) == (3, pytest.approx(1 / 3))
        ended = regard("align", "there", "en", "fr", "--compare", "there")
        assert "0 of 3 pairs differ\n" in ended.out

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (
                ["--out", "report"],
                "--out report: it is for a report; name what to score against with --gold or --comp",
            ),
            (
                ["--heatmaps", "maps"],
                "--heatmaps maps: there is a file of links, without attention; leave it out",
            ),
            (
                ["--format", "giza", "--probabilities"],
                "--format giza: it cannot express --probabilities; write pharaoh",
            ),
            (["--format", "giza"], "it cannot mark links as possible; write pharaoh or wa"),
            (["--format", "moses"], "--format moses: 'moses' is not part of a format"),
            (["--gold-format", "x"], "--gold-format x: 'x' is not part of a format"),
            (["--compare-format", "x"], "--compare-format x: 'x' is not part of a format"),
            (["--links-format", "from-1"], "there:1: the link 0-0 in a file that counts from 1"),
            (["--worst", "-1"], "--worst"),
            (["--gold", "short"], "short: 1 lines of links for more than 1 pairs; give one line per pair"),
            (["--compare", "long"], "long: 4 lines of links for 3 pairs; give one line per pair"),
            (["--compare", "far"], "far:3: the link 2-0 points beyond its sentences of 2 and 1 words"),
            (["--gold", "missing"], "missing: no such file"),
            (["--reverse", "missing"], "missing: neither a model folder nor a file of links; check the name"),
            (["--threshold", "2"], "threshold = 2.0"),
        ],
    )
    def test_what_does_not_go_together(self, regard, folder, arguments, message):
        (folder / "short").write_text("0-0\n")
        (folder / "long").write_text("0-0\n\n0-0\n0-0\n")
        (folder / "far").write_text("0-0\n\n2-0\n")
        ended = regard("align", "there", "en", "fr", *arguments)
        assert ended.status == 2
        assert message in ended.err, ended.err

    def test_a_file_in_the_place_of_a_model_that_is_too_long(self, regard, folder):
        (folder / "long").write_text("0-0\n\n0-0\n0-0\n")
        ended = regard("align", "long", "en", "fr")
        assert (ended.status, ended.out) == (2, "0-0\n\n0-0\n")
        assert "long: 4 lines of links for 3 pairs" in ended.err

    def test_pairs_from_standard_input(self, regard):
        ended = regard(
            "align", "there", "-", "--gold", "there", stdin="the house\tla maison\n\t\nyes sir\toui\n"
        )
        assert ended.status == 0, ended.err
        assert "forward  0.0" in ended.out


def test_words_are_scored_where_characters_are_linked(regard, run_config, tmp_path):
    """Gold links are between words, so a word of letters is one source word."""
    pairs = [("chat", "ʃ a"), ("mat", "m a"), ("tache", "t a ʃ"), ("acte", "a k t")]
    run_training(
        tmp_path / "g2p", run_config(tokenizer={"source": "char", "target": "word"}), train=pairs, valid=pairs
    )
    (tmp_path / "pairs.tsv").write_text("".join(f"{source}\t{target}\n" for source, target in pairs))
    (tmp_path / "gold").write_text("0-0 0-1\n0-0 0-1\n0-0 0-1 0-2\n0-0 0-1 0-2\n")
    ended = regard("align", tmp_path / "g2p", tmp_path / "pairs.tsv", "--gold", tmp_path / "gold", "--json")
    assert json.loads(ended.out)["scores"]["forward"]["aer"] == 0
