import bz2
import gzip
import json
import lzma
import re

import numpy as np
import pytest
import torch

from regard.checkpoint import ModelFolder
from regard.plots.figures import fonts
from regard.tasks.translate.predictor import Translator
from regard.text import SentencePair, parse_pharaoh
from regard.training.configure import configure
from regard.training.run import run_training

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
        output = [line.split("\t") for line in plain.splitlines()]
        numbers = [str(k) for k, one in enumerate(objects, start=1) for _ in (one, *one["alternatives"])]
        assert [row[0] for row in output] == numbers
        assert [[f"{each['score']:.4f}", each["text"]] for each in flat] == [row[1:3] for row in output]
        for each, row in zip(flat, output, strict=True):
            assert {tuple(link) for link in each["links"]} == parse_pharaoh(row[3], "here").sure
        assert all(len(each["tokens"]) == len(each["token_log_probs"]) for each in flat)
        assert not any("alpha" in each for each in flat)

    def test_alpha_on_request(self, regard, model):
        output = regard("translate", model, "--json", "--alpha", "--n-best", "2", stdin="a b\n").out
        for each in (json.loads(output), *json.loads(output)["alternatives"]):
            assert np.shape(each["alpha"]) == (len(each["tokens"]), len(each["source_tokens"]))
            assert np.allclose(np.sum(each["alpha"], axis=1), 1, atol=1e-3)

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

    def test_a_character_that_no_font_has_is_said_once(self, regard, model, data, monkeypatch):
        only = {"DejaVu Sans": fonts._installed()["DejaVu Sans"]}
        monkeypatch.setattr(fonts, "_installed", lambda: only)
        monkeypatch.setattr(fonts, "_uncovered", set())
        ended = regard("translate", model, "--heatmaps", data / "maps", stdin="a は\nは\n")
        assert ended.err.count("no installed font has は: pictures show") == 1
        assert "font" not in regard("translate", model, "--heatmaps", data / "maps", stdin="a b\n").err

    @pytest.mark.parametrize("option", ["--alignments", "--heatmaps"])
    def test_nothing_of_attention_without_attention(self, regard, fixed_model, data, option):
        value = [data / "maps"] if option == "--heatmaps" else []
        ended = regard("translate", fixed_model, option, *value, stdin="a b\n")
        assert (ended.status, ended.out) == (2, "")
        assert "this model has no attention" in ended.err
        assert not (data / "maps").exists()

    def test_json_has_scores_already(self, regard, model):
        ended = regard("translate", model, "--json", "--scores", stdin="a\n")
        assert (ended.status, ended.out) == (2, "")
        assert "leave out --scores" in ended.err

    def test_a_file_is_not_written_over_while_it_is_read(self, regard, model, data):
        before = (data / "test.src").read_bytes()
        ended = regard("translate", model, data / "test.src", "-o", data / "test.src")
        assert ended.status == 2
        assert "it is being read; write to another file" in ended.err
        assert (data / "test.src").read_bytes() == before


def translated(regard, model, *options, stdin="a b c\n"):
    """The lines that come out; nothing may go wrong."""
    ended = regard("translate", model, *options, stdin=stdin)
    assert (ended.status, ended.err) == (0, "")
    return ended.out.splitlines()


class TestHowItSearches:
    """Each option arrives: what is printed is what the library gives for it."""

    @pytest.mark.parametrize(
        ("flags", "options"),
        [
            (
                ["--length-penalty", "wu", "--length-power", "0.6"],
                {"length_penalty": "wu", "length_power": 0.6},
            ),
            (["--length-penalty", "none"], {"length_penalty": "none"}),
            (["--coverage", "0.4"], {"coverage": 0.4}),
            (["--min-length", "4"], {"min_length": 4}),
            (["--min-ratio", "3"], {"min_ratio": 3.0}),
            (["--block-ngrams", "1"], {"block_ngrams": 1}),
            (["--no-unknowns"], {"unknowns": False}),
            (["--max-ratio", "0"], {"max_ratio": 0.0}),
            (["--max-ratio", "0", "--max-extra", "3"], {"max_ratio": 0.0, "max_extra": 3}),
            (["--beam", "2"], {"beam": 2}),
        ],
        ids=lambda value: " ".join(value) if isinstance(value, list) else "",
    )
    def test_options(self, regard, model, flags, options):
        text = "a b c d e a b\nd d unknown\n"
        found = Translator.load(model).translate(text.splitlines(), **options)
        assert translated(regard, model, *flags, "--scores", stdin=text) == [
            f"{each.score:.4f}\t{each.text}" for each in found
        ]

    def test_words(self, regard, model):
        constraints = ["--prefix", "E D", "--include", "C C", "--exclude", "A", "--exclude", "B"]
        (line,) = translated(regard, model, *constraints)
        assert line.startswith("E D")
        assert "C C" in line
        assert not {"A", "B"} & set(line.split())

    def test_words_for_each_line(self, regard, model, data):
        constraints = [{"prefix": "E"}, {}, {"include": ["D B"], "exclude": ["A"]}]
        (data / "lines").write_text("".join(f"{json.dumps(each) if each else ''}\n" for each in constraints))
        text = "a b\n\nc\n"
        first, second, third = translated(regard, model, "--constraints", data / "lines", stdin=text)
        assert first.startswith("E")
        assert second == ""
        assert "D B" in third
        assert "A" not in third

    def test_constraints_continue_over_files(self, regard, model, data):
        (data / "lines").write_text('{"prefix": "E"}\n{"prefix": "D"}\n')
        for name in ("one", "two"):
            (data / name).write_text("a\n")
        lines = translated(
            regard, model, data / "one", data / "two", "--constraints", data / "lines", stdin=""
        )
        assert [line[0] for line in lines] == ["E", "D"]

    def test_sampling(self, regard, model):
        flags = ["--sample", "7", "--temperature", "1.5", "--seed", "3"]
        lines = translated(regard, model, *flags, stdin="a b\nc\n")
        assert [line.split("\t")[0] for line in lines] == ["1"] * 7 + ["2"] * 7
        assert len(set(lines[:7])) > 1
        assert translated(regard, model, *flags, stdin="a b\nc\n") == lines
        assert translated(regard, model, *flags[:-1], "4", stdin="a b\nc\n") != lines
        greedy = translated(regard, model, "--beam", "1")
        assert translated(regard, model, "--sample", "1", "--temperature", "0") == greedy
        assert translated(regard, model, "--sample", "1", "--top-k", "1") == greedy
        assert translated(regard, model, "--sample", "1", "--top-p", "0") == greedy

    @pytest.mark.parametrize("flags", [["--int8"], ["--precision", "int8"], ["--precision", "bfloat16"]])
    def test_precisions(self, regard, model, flags):
        found = Translator.load(model, precision=flags[-1].lstrip("-")).translate(["a b c"])[0]
        assert translated(regard, model, *flags, "--scores") == [f"{found.score:.4f}\t{found.text}"]
        assert found.score != Translator.load(model).translate(["a b c"])[0].score

    def test_threads_and_batches_change_nothing(self, regard, model, data, expected):
        before = torch.get_num_threads()
        try:
            flags = ["--threads", "2", "--batch-tokens", "5", "--batch", "2"]
            assert translated(regard, model, *flags, stdin=TEXT) == [each.text for each in expected]
            assert torch.get_num_threads() == 2
        finally:
            torch.set_num_threads(before)


class TestEnsembles:
    def test_folders_before_files_form_an_ensemble(self, regard, model, fixed_model, data):
        found = Translator.load([model, fixed_model, model]).translate(["a b c", "e"])
        (data / "some").write_text("a b c\ne\n")
        lines = translated(regard, model, fixed_model, model, data / "some", "--scores", stdin="")
        assert lines == [f"{each.score:.4f}\t{each.text}" for each in found]

    def test_from_standard_input_and_log_linear(self, regard, model, fixed_model):
        found = Translator.load([model, fixed_model], combination="log-linear").translate(["a b c"])[0]
        assert translated(regard, model, fixed_model, "--combination", "log-linear", "--scores") == [
            f"{found.score:.4f}\t{found.text}"
        ]

    def test_other_vocabularies(self, regard, model, tmp_path, tiny):
        pairs = [SentencePair("a b", "A B")] * 20
        run_training(tmp_path / "other", configure(tiny), train=pairs, valid=pairs)
        ended = regard("translate", model, tmp_path / "other", stdin="a\n")
        assert (ended.status, ended.out) == (2, "")
        assert ended.err == (
            f"error: {model} and {tmp_path}/other: their source tokenizers differ (9 and 6 tokens); only models that "
            "share their vocabularies go together\n"
        )


class TestUnknownWords:
    @pytest.fixture
    def unsure(self, model, tmp_path):
        """A model that says <unk> to everything, four times."""
        folder = ModelFolder(tmp_path / "unsure")
        loaded = ModelFolder(model).load()
        with torch.no_grad():
            loaded.model.decoder.output.b_o[1] += 100.0
        folder.create(
            "translate",
            loaded.model.config,
            loaded.tokenizers,
            sizes={n: t.size for n, t in loaded.tokenizers.items()},
        )
        folder.write_weights("best", loaded.model, {})
        return folder.path

    def test_are_replaced_by_the_word_with_most_attention(self, regard, unsure):
        (plain,) = translated(regard, unsure, "--max-ratio", "0", stdin="Anna b\n")
        assert set(plain.split()) == {"<unk>"}
        (line,) = translated(regard, unsure, "--max-ratio", "0", "--replace-unknowns", stdin="Anna b\n")
        assert set(line.split()) <= {"Anna", "b"}

    def test_by_way_of_a_dictionary(self, regard, unsure, tmp_path):
        (tmp_path / "words.tsv").write_text("Anna\tAnne\nb\tbe bop\n")
        flags = ["--max-ratio", "0", "--replace-unknowns", "--dictionary", tmp_path / "words.tsv"]
        (line,) = translated(regard, unsure, *flags, stdin="Anna b\n")
        assert set(line.split()) <= {"Anne", "be", "bop"}


class TestBadInput:
    def fails(self, ended, *parts):
        assert ended.status == 2
        assert ended.err.startswith("error: ")
        assert ended.err.count("\n") == 1
        for part in parts:
            assert part in ended.err

    def test_a_missing_file_is_refused_with_the_nearest(self, regard, model, data):
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
        assert len(ended.out.splitlines()) == 300

    def test_more_translations_than_the_beam_holds(self, regard, model):
        self.fails(
            regard("translate", model, "--n-best", "9"),
            "--n-best: 9 is more than the beam, 5; raise --beam, or lower --n-best",
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

    @pytest.mark.parametrize(
        ("flags", "parts"),
        [
            (
                ["--include", "A zebra"],
                ["options: include 'A zebra': the target vocabulary cannot spell 'zebra'"],
            ),
            (["--prefix", "zebra"], ["options: prefix 'zebra': the target vocabulary cannot spell 'zebra'"]),
            (["--prefix", "A B", "--exclude", "B"], ["'B' is excluded, and 'A B' contains it"]),
            (["--temperature", "2"], ["--temperature 2.0: it is for sampling; add --sample N, or drop it"]),
            (["--sample", "2", "--n-best", "3"], ["--n-best 3: --sample 2 already says how many"]),
            (["--sample", "1", "--include", "A"], ["include: sampling word by word cannot guarantee it"]),
            (["--seed", "1"], ["--seed 1: it is for sampling"]),
            (
                ["--dictionary", "words"],
                ["--dictionary words: it is for unknown words; add --replace-unknowns"],
            ),
            (["--alpha"], ["--alpha: it is part of the JSON; add --json"]),
            (["--int8", "--precision", "bfloat16"], ["--int8 and --precision bfloat16: choose one"]),
            (["--precision", "int9"], ["precision: no 'int9'; did you mean 'int8'?"]),
            (["--length-penalty", "wuu"], ["--length-penalty: no 'wuu'; did you mean 'wu'?"]),
            (["--max-ratio", "-1"], ["--max-ratio: -1 is out of range"]),
            (["--threads", "0"], ["threads: 0 is out of range; it must be from 1 to 1024"]),
            (["--shortlist"], ["this model has no shortlist yet; make one with `regard shortlist`"]),
            (["--constraints", "none"], ["none: no such file"]),
        ],
        ids=lambda value: " ".join(value) if value[0].startswith("--") else "",
    )
    def test_options_that_cannot_be(self, regard, model, flags, parts):
        ended = regard("translate", model, *flags, stdin="a b\n")
        self.fails(ended, *parts)
        assert ended.out == ""

    @pytest.mark.parametrize(
        ("text", "part"),
        [
            ('{"prefix": 3}', "lines:1: prefix must be a text, not 3"),
            ('{"includes": []}', "lines:1: no 'includes'; did you mean 'include'?"),
            ("A", "lines:1: not JSON"),
            ("[1]", "lines:1: '[1]' is no object"),
            ("", "standard input:1: it has no constraints; give one object for each line"),
        ],
    )
    def test_constraints_that_cannot_be(self, regard, model, data, text, part):
        (data / "lines").write_text(text)
        self.fails(regard("translate", model, "--constraints", data / "lines", stdin="a\n"), part)

    def test_constraints_that_cannot_be_met_are_refused_with_their_line(self, regard, model, data):
        """Behind the scenes the shortest line of the batch is its last sentence."""
        (data / "constraints").write_text('\n{"prefix": "' + "A " * 40 + '"}\n\n')
        ended = regard("translate", model, "--constraints", data / "constraints", stdin="a b\nc\nd e a\n")
        self.fails(ended, "standard input:2: its prefix and phrases need 41 tokens")

    def test_constraints_of_a_file_and_of_options(self, regard, model, data):
        (data / "lines").write_text("\n")
        ended = regard("translate", model, "--constraints", data / "lines", "--prefix", "A", stdin="a\n")
        self.fails(ended, "the file has the constraints on each line; leave out --prefix")

    def test_what_came_before_a_bad_line_is_not_lost(self, regard, model):
        ended = regard("translate", model, stdin=b"a\nb\n\xff\n")
        self.fails(ended, "standard input:3: byte 0xff")
        assert len(ended.out.splitlines()) == 2

    @pytest.mark.parametrize("option", ["--output", "--heatmaps"])
    def test_a_place_that_cannot_be_written(self, regard, model, data, option):
        ended = regard("translate", model, option, data / "test.src" / "x", stdin="a\n")
        self.fails(ended, f"{data}/test.src/x: cannot be ", "another")

    def test_a_disk_that_fills_up(self, regard, model, data, largest_file):
        with largest_file(4096):
            ended = regard("translate", model, "--beam", "1", "-o", data / "out", stdin="a b c d e\n" * 2000)
        self.fails(ended, f"{data}/out: cannot be written (", "free some space")
