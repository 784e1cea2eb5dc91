import json
import re

import pytest

from regard.evaluation.metrics import format_score
from regard.tasks.translate.evaluation import evaluate
from regard.tasks.translate.predictor import Translator
from regard.text import LinkFormat, parse_pharaoh, read_pairs


@pytest.fixture
def expected(model, data):
    pairs = list(read_pairs(data / "test.src", data / "test.tgt"))
    gold = [parse_pharaoh(line, "") for line in (data / "test.links").read_text().splitlines()]
    return evaluate(Translator.load(model), [p.source for p in pairs], [p.target for p in pairs], gold)


def without_speed(report):
    return {name: value for name, value in report.items() if name != "sentences_per_second"}


def table(out):
    """The first rows: a name and its value."""
    rows = [re.split(r"  +", line.strip()) for line in out.split("\n\n")[0].splitlines()]
    return {row[0]: row[1] for row in rows}


def test_the_table_is_the_json(regard, model, data, expected):
    arguments = ["evaluate", model, data / "test.src", data / "test.tgt", "--gold", data / "test.links"]
    ended = regard(*arguments, "--json")
    assert (ended.status, ended.err) == (0, f"{data / 'test.links'}: Pharaoh, counted from 0, source first\n")
    report = json.loads(ended.out)
    assert without_speed(report) == without_speed(json.loads(json.dumps(expected.to_json())))
    printed = regard(*arguments).out
    shown = table(printed)
    assert list(shown) == list(expected.scores())
    for name in without_speed(shown):
        assert shown[name] == format_score(name, report[name])
    bands = printed.split("by source length in symbols")[1].splitlines()[2:]
    for band, row in zip(expected.bands, bands[: len(expected.bands)], strict=True):
        assert re.split(r"  +", row.strip()) == [
            band.band.name,
            *(format_score(name, value) for name, value in band.scores().items()),
        ]
    for name, signature in report["signatures"].items():
        assert f"{name}: {signature}" in printed
    # a table in a pipe is not cut to a terminal's width
    assert "…" not in printed
    assert "perplexity" in printed.split("by source length")[1]


def test_lines_of_one_source_are_one_example_with_several_references(regard, model, data, tmp_path):
    pairs = list(read_pairs(data / "test.src", data / "test.tgt"))
    file = tmp_path / "several.tsv"
    lines = [f"{pair.source}\t{before}{pair.target}\n" for before in ("", "x ") for pair in pairs]
    file.write_text("".join(lines))
    report = json.loads(regard("evaluate", model, file, "--any-reference", "--json").out)
    several = {pair.source: [] for pair in pairs}
    for before in ("", "x "):
        for pair in pairs:
            several[pair.source].append(before + pair.target)
    expected = evaluate(Translator.load(model), list(several), list(several.values()))
    assert without_speed(report) == without_speed(json.loads(json.dumps(expected.to_json())))
    assert report["num_sentences"] == len(several) < len(pairs)
    assert json.loads(regard("evaluate", model, file, "--json").out)["num_sentences"] == 2 * len(pairs)
    refused = regard("evaluate", model, file, "--any-reference", "--gold", data / "test.links")
    assert refused.status != 0


def test_without_gold_there_is_no_aer(regard, model, data):
    assert "aer" not in table(regard("evaluate", model, data / "test.src", data / "test.tgt").out)


def test_gold_links_of_every_format_give_the_same_scores(regard, model, data):
    pairs = list(read_pairs(data / "test.tsv"))
    gold = [parse_pharaoh(line, "") for line in (data / "test.links").read_text().splitlines()]
    plain = ["evaluate", model, data / "test.tsv", "--json", "--gold"]
    expected = json.loads(regard(*plain, data / "test.links").out)
    for name in ("wa", "giza", "pharaoh,from-1", "wa,target-source"):
        form = LinkFormat.parse(name)
        text = [
            form.write(links, number, pair.source.split(), pair.target.split())
            for number, (links, pair) in enumerate(zip(gold, pairs, strict=True), start=1)
        ]
        (data / "other.links").write_text("".join(text))
        said = [] if name in ("wa", "giza") else ["--gold-format", name.removeprefix("wa,")]
        assert without_speed(json.loads(regard(*plain, data / "other.links", *said).out)) == without_speed(
            expected
        )
    assert expected["alignment_f1"] > 0


def test_tab_separated_and_columns(regard, model, data):
    outputs = [
        json.loads(regard("evaluate", model, *arguments, "--json").out)
        for arguments in (
            [data / "test.src", data / "test.tgt"],
            [data / "test.tsv"],
            [data / "swapped.tsv", "--columns", 3, 1],
        )
    ]
    assert without_speed(outputs[0]) == without_speed(outputs[1]) == without_speed(outputs[2])


def test_options_arrive(regard, model, data):
    report = json.loads(
        regard(
            *("evaluate", model, data / "test.tsv", "--json", "--beam", 1, "--length-power", 0),
            *("--tokenize", "none", "--lowercase", "--weights", "last", "--device", "cpu"),
        ).out
    )
    assert "tok:none" in report["signatures"]["bleu"]
    assert "case:lc" in report["signatures"]["bleu"]


def test_a_folder_of_all_that_was_found(regard, model, data):
    arguments = ["evaluate", model, data / "test.tsv", "--out", data / "found", "--beam", 2]
    ended = regard(*arguments)
    assert ended.err == f"report: {data}/found/report.html\n"
    assert {path.name for path in (data / "found").iterdir()} == {
        *("report.json", "report.html", "translations.txt", "links.txt")
    }
    report = json.loads((data / "found" / "report.json").read_text())
    shown = table(ended.out)
    for name in without_speed(shown):
        assert shown[name] == format_score(name, report[name])
    html = (data / "found" / "report.html").read_text()
    assert f"regard evaluate {model} {data}/test.tsv --beam 2 --out {data}/found" in html


class TestBadInput:
    def fails(self, ended, *parts):
        assert (ended.status, ended.out) == (2, "")
        assert ended.err.startswith("error: ")
        for part in parts:
            assert part in ended.err

    def test_unequal_sides(self, regard, model, data):
        (data / "test.tgt").write_text("A\n")
        ended = regard("evaluate", model, data / "test.src", data / "test.tgt")
        self.fails(ended, "test.src has 12 lines", "test.tgt has 1", "lines with the same number")

    def test_an_empty_test_set(self, regard, model, data):
        (data / "none").touch()
        self.fails(
            regard("evaluate", model, data / "none"), "none: an empty test set; give at least one pair"
        )

    def test_one_column_only(self, regard, model, data):
        self.fails(regard("evaluate", model, data / "test.src"), "test.src:1: 1 column where columns 1 and 2")

    def test_columns_of_parallel_files(self, regard, model, data):
        ended = regard("evaluate", model, data / "test.src", data / "test.tgt", "--columns", 1, 2)
        self.fails(
            ended, "--columns 1 2 (data.columns = [1, 2]) belongs to one tab-separated file", "leave out"
        )

    def test_too_few_links(self, regard, model, data):
        (data / "test.links").write_text("0-0\n")
        ended = regard("evaluate", model, data / "test.tsv", "--gold", data / "test.links")
        self.fails(ended, "test.links: 1 lines of links for 12 pairs; give one line per pair")

    @pytest.mark.parametrize("link", ["99-0", "0-99", "99?0"])
    def test_a_link_beyond_its_sentences(self, regard, model, data, link):
        """A file counted from 1, or with its sides the other way round, must not give a plausible score."""
        (data / "test.links").write_text("0-0\n" * 3 + f"{link}\n" + "0-0\n" * 8)
        ended = regard("evaluate", model, data / "test.tsv", "--gold", data / "test.links")
        self.fails(
            ended, "test.links:4: the link", "points beyond its sentences", "links count from 0 in Pharaoh"
        )

    def test_a_link_that_is_none(self, regard, model, data):
        (data / "test.links").write_text("0-0\n" * 3 + "0:1\n" + "0-0\n" * 8)
        ended = regard("evaluate", model, data / "test.tsv", "--gold", data / "test.links")
        self.fails(ended, "test.links:4: '0:1' is not a link; write source-target counted from 0")

    def test_links_for_a_model_that_has_none(self, regard, fixed_model, data):
        ended = regard("evaluate", fixed_model, data / "test.tsv", "--gold", data / "test.links")
        self.fails(ended, f"{fixed_model}: this model has no attention, so it has no alignments")

    def test_no_such_tokenizer_of_bleu(self, regard, model, data):
        ended = regard("evaluate", model, data / "test.tsv", "--tokenize", "13b")
        self.fails(ended, "13b", "did you mean '13a'")

    def test_too_long(self, regard, model, data):
        ended = regard("evaluate", model, data / "test.tsv", "--max-length", 1)
        self.fails(ended, "above the limit of 1", "--max-length")

    def test_a_report_that_cannot_be_written(self, regard, model, data):
        ended = regard("evaluate", model, data / "test.tsv", "--out", data / "test.tsv")
        self.fails(ended, f"{data}/test.tsv: cannot be made (File exists); choose another folder")


def test_a_reference_that_is_too_long_is_refused_before_translating(regard, model, tmp_path, monkeypatch):
    from regard.tasks.translate.predictor import Translator

    (tmp_path / "source").write_text("a b\nc\n")
    (tmp_path / "target").write_text("A B\n" + "C " * 9 + "\n")
    monkeypatch.setattr(Translator, "search", lambda *_: pytest.fail("it translates first"))
    ended = regard("evaluate", model, tmp_path / "source", tmp_path / "target", "--max-length", 8)
    assert ended.status == 2
    assert "reference 2 ('C C C C C C C C C ' …) has 9 tokens, above the limit of 8" in ended.err
