"""A wrong file never passes in silence: status 2, and a message that names the file and what to type instead."""

import json
import random

import pytest

from regard.errors import DataError
from regard.text import LabelledText, TaggedSentence
from regard.text.sources import read_source_groups
from regard.training.configure import configure
from regard.training.run import run_training

CONLL = "the\tDT\nold\tJJ\nman\tNN\n\nsleeps\tVBZ\n"
CONLLU = "".join(f"{n}\tword\tlemma\tNOUN\t_\t_\t0\troot\t_\t_\n" for n in (1, 2, 3))
SPACED = "EU NNP B-ORG\nrejects VBZ O\nGerman JJ B-MISC\n\ncall NN O\n"
LABELLED = "".join(f"{'good' if n % 2 else 'bad'}\ta film that is number {n}\n" for n in range(40))


@pytest.fixture
def write(tmp_path):
    def run(name, text):
        (tmp_path / name).write_text(text, encoding="utf-8")
        return tmp_path / name

    return run


def refused(ended, *parts):
    """Refused with a message that has every part, and without a result."""
    assert ended.status == 2, ended
    assert ended.out == ""
    message = " ".join(ended.err.split())
    for part in parts:
        assert part in message


class TestTranslate:
    def test_a_table(self, regard, model, data):
        refused(
            regard("translate", model, data / "test.tsv"),
            f"{data / 'test.tsv'}: 2 columns, separated by tabs",
            "--column 1",
            "--add",
        )

    def test_a_table_from_standard_input(self, regard, model):
        refused(regard("translate", model, stdin="a\tb\nc\td\n"), "standard input: 2 columns", "--column 1")

    def test_a_table_that_arrives_line_by_line(self, monkeypatch):
        monkeypatch.setattr(
            "regard.text.sources.read_groups", lambda path, most: iter([["a\tb"], ["c\td"], ["e"]])
        )
        groups = read_source_groups("-", 10)
        assert next(groups) == [("a\tb", "a\tb")]
        with pytest.raises(DataError, match="standard input: 2 columns"):
            next(groups)

    @pytest.mark.parametrize("text", [CONLL, CONLLU, SPACED], ids=["CoNLL", "CoNLL-U", "blanks"])
    def test_one_word_per_line(self, regard, model, write, text):
        refused(regard("translate", model, write("a.conll", text)), "one word per line", "--task tag")

    @pytest.mark.parametrize("text", ["a b\tc\n", "a b\nc\td\ne\n", "\ta\n\tb\n"])
    def test_text_with_a_tab_is_text(self, regard, model, text):
        ended = regard("translate", model, stdin=text)
        assert (ended.status, ended.err) == (0, "")
        assert len(ended.out.splitlines()) == text.count("\n")

    def test_a_column_that_is_not_there(self, regard, model, write):
        ended = regard("translate", model, write("a.tsv", "a\tb\nc\n"), "--column", 2)
        assert ended.status == 2
        assert len(ended.out.splitlines()) == 1, "the lines before it are translated"
        assert "a.tsv:2: 1 column where column 2 is read" in " ".join(ended.err.split())
        refused(regard("translate", model, write("a.tsv", "a\tb\n"), "--column", 0), "--column 0")

    def test_a_blank_column(self, regard, model, write):
        refused(regard("translate", model, write("a.tsv", "a\t\nb\t\n"), "--column", 2), "column 2 is blank")

    def test_json_lines(self, regard, model, write):
        refused(
            regard("translate", model, write("a.jsonl", '{"source": "a b"}\n')),
            "a.jsonl: JSON lines",
            "jq -r",
        )
        path = write("b.jsonl", '{"lemma": "a b"}\n')
        refused(regard("translate", model, path, "--column", "lemma"), "b.jsonl: JSON lines", "jq -r .lemma")
        refused(regard("translate", model, path, "--column", 1), "b.jsonl: JSON lines", "jq -r .source")

    def test_a_header_is_no_source(self, regard, model, write):
        ended = regard("translate", model, write("a.tsv", "source\ttarget\na b\tc\n"), "--column", 1, "--add")
        assert ended.status == 0
        assert ended.out.startswith("source\ttarget\t\na b\tc\t")
        assert "a.tsv: the first line names the columns" in " ".join(ended.err.split())

    def test_a_column_of_comma_separated_ones(self, regard, model, write):
        path = write("a.csv", '"a, b",c\n"c ""d""",e\n')
        refused(regard("translate", model, path), "a.csv: 2 columns, where", "--column 1")
        ended = regard("translate", model, path, "--column", 1, "--add")
        assert [line.split("\t")[:2] for line in ended.out.splitlines()] == [["a, b", "c"], ['c "d"', "e"]]

    def test_features_for_a_model_without(self, regard, model, data):
        refused(
            regard("translate", model, data / "test.tsv", "--column", 1, "--features", 2),
            "--features 2: this model was trained without features",
        )


class TestAdd:
    def test_a_column_beside_those_that_were_there(self, regard, model, data):
        sources = [line.split("\t")[2] for line in (data / "swapped.tsv").read_text().splitlines()]
        expected = regard("translate", model, stdin="\n".join(sources)).out.splitlines()
        added = regard("translate", model, data / "swapped.tsv", "--column", 3, "--add").out.splitlines()
        lines = (data / "swapped.tsv").read_text().splitlines()
        assert added == [f"{line}\t{text}" for line, text in zip(lines, expected, strict=True)]

    def test_to_plain_text_too_and_blank_lines_stay(self, regard, model):
        rows = [
            line.split("\t") for line in regard("translate", model, "--add", stdin="a b\n\n").out.split("\n")
        ]
        assert [row[0] for row in rows] == ["a b", "", ""]
        assert [len(row) for row in rows] == [2, 2, 1]

    def test_with_other_fields_and_alternatives(self, regard, model):
        out = regard("translate", model, "--add", "--scores", "--n-best", 2, stdin="a b\nc\n").out
        rows = [line.split("\t") for line in out.splitlines()]
        assert [row[0] for row in rows] == ["a b", "a b", "c", "c"]
        assert all(len(row) == 3 and float(row[1]) < 0 for row in rows)

    def test_not_with_json(self, regard, model):
        refused(regard("translate", model, "--add", "--json", stdin="a\n"), "--add", "--json")


class TestTraining:
    def train(self, regard, tmp_path, *arguments):
        return regard("train", tmp_path / "new", *arguments, "--updates", 1, "--device", "cpu")

    def test_three_columns(self, regard, tmp_path, data):
        named = ("--columns 1 2", "--features 2")
        train = ("--train", data / "swapped.tsv")
        refused(self.train(regard, tmp_path, *train), "swapped.tsv: 3 columns, and it is not said", *named)
        message = "swapped.tsv:1: 3 columns, and only columns 1 and 2 are read"
        refused(self.train(regard, tmp_path, *train, "--task", "translate"), message, *named)

    def test_two_tables(self, regard, tmp_path, data):
        refused(
            self.train(regard, tmp_path, "--train", data / "test.tsv", "--train", data / "test.tsv"),
            "test.tsv: 2 columns",
            "name this file alone",
            "--columns 1 2",
        )

    def test_one_column(self, regard, tmp_path, data):
        refused(
            self.train(regard, tmp_path, "--task", "translate", "--train", data / "test.src"),
            "test.src:1: 1 column where columns 1 and 2 are needed",
            "second file",
            "--task language_model",
        )

    @pytest.mark.parametrize("task", ["translate", "classify"])
    @pytest.mark.parametrize("text", [CONLL, CONLLU], ids=["CoNLL", "CoNLL-U"])
    def test_one_word_per_line(self, regard, tmp_path, write, task, text):
        refused(
            self.train(regard, tmp_path, "--task", task, "--train", write("a.conll", text)),
            "a.conll: one word per line",
            "--task tag",
        )

    def test_conllu_asks_for_its_columns(self, regard, tmp_path, write):
        refused(
            self.train(regard, tmp_path, "--task", "tag", "--train", write("a.conllu", CONLLU)),
            "a.conllu:1: 10 columns, which looks like CoNLL-U: give --columns 2 4",
        )

    def test_labelled_texts(self, regard, tmp_path, write):
        path = write("labelled.tsv", LABELLED)
        refused(
            self.train(regard, tmp_path, "--task", "translate", "--train", path),
            "2 different words (bad, good) before 40 longer texts",
            "--task classify",
            "--columns 1 2",
        )
        assert (
            self.train(regard, tmp_path, "--train", path, "--columns", 1, 2, "--tokenizer", "word").status
            == 0
        )

    def test_a_language_model_of_columns_or_labels(self, regard, tmp_path, write, data):
        task = ("--task", "language_model", "--train")
        refused(self.train(regard, tmp_path, *task, data / "test.tsv"), "2 columns", "cut -f 1")
        ended = self.train(regard, tmp_path, *task, write("a.csv", "a,b\nc,d\n"))
        refused(ended, "a.csv: 2 columns, where plain text is expected; give one text per line")
        assert "cut" not in ended.err, "it cuts at tabs"
        labels = write("labels", "good\nbad\n" * 60)
        refused(self.train(regard, tmp_path, *task, labels), "2 different words (bad, good)", "labels")

    def test_validation_texts_need_no_header_where_training_texts_have_one(self, regard, tmp_path, write):
        files = ("--train", write("a.tsv", f"label\ttext\n{LABELLED}"), "--valid", write("b.tsv", LABELLED))
        assert self.train(regard, tmp_path, *files, "--tokenizer", "word").status == 0
        report = json.loads((tmp_path / "new" / "report.json").read_text())
        assert (report["num_train_texts"], report["num_valid_texts"]) == (40, 40)

    def test_a_blank_column(self, regard, tmp_path, write):
        path = write("a.tsv", "a\t\tb\n" * 9)
        refused(self.train(regard, tmp_path, "--train", path, "--columns", 1, 2), "column 2 is blank")

    def test_features_of_another_task(self, regard, tmp_path, write):
        refused(
            self.train(
                regard, tmp_path, "--task", "classify", "--train", write("a", LABELLED), "--features", 2
            ),
            "--features 2: only a model for translating reads features",
        )


class TestEvaluateAndAlign:
    @pytest.mark.parametrize("command", ["evaluate", "align"])
    def test_two_tables(self, regard, model, data, command):
        refused(
            regard(command, model, data / "test.tsv", data / "test.tsv"),
            "test.tsv: 2 columns",
            "name this file alone",
            "--columns 1 2",
        )

    @pytest.mark.parametrize("command", ["evaluate", "align"])
    def test_one_table_of_two(self, regard, model, data, command):
        refused(regard(command, model, data / "test.src", data / "test.tsv"), "test.tsv: 2 columns")

    @pytest.mark.parametrize("command", ["evaluate", "align"])
    def test_plain_text_alone(self, regard, model, data, command):
        refused(regard(command, model, data / "test.src"), "1 column where", "second file")

    @pytest.mark.parametrize("command", ["evaluate", "align"])
    def test_three_columns(self, regard, model, data, command):
        refused(regard(command, model, data / "swapped.tsv"), "3 columns", "--columns 1 2", "--features 2")

    def test_some_blank_sides_are_said(self, regard, model, write):
        ended = regard("evaluate", model, write("a.tsv", "a b\tA B\n\tC\nd\t\n"))
        assert ended.status == 0
        assert "2 of 3 pairs have a blank source or reference" in " ".join(ended.err.split())

    def test_blank_references(self, regard, model, data):
        (data / "blank").write_text("\n" * 12)
        refused(
            regard("evaluate", model, data / "test.src", data / "blank"),
            "blank: its references are all blank",
        )

    def test_features_for_a_model_without(self, regard, model, data):
        refused(regard("evaluate", model, data / "swapped.tsv", "--features", 2), "trained without features")


@pytest.fixture(scope="module")
def labelling(tmp_path_factory):
    """A classifier and a tagger, hardly trained."""
    folder = tmp_path_factory.mktemp("labelling")
    rng = random.Random(0)
    sentences = [" ".join(rng.choices(["fine", "dull", "film", "a"], k=4)) for _ in range(40)]
    training = {"max_updates": 1, "max_epochs": 0.0, "device": "cpu"}
    texts = [LabelledText("good" if "fine" in text else "bad", (text,)) for text in sentences]
    tagged = [TaggedSentence(tuple(text.split()), ("ADJ", "ADJ", "NOUN", "DET")) for text in sentences]
    for task, examples in (("classify", texts), ("tag", tagged)):
        run_training(folder / task, configure({"task": task, "training": training}), train=examples)
    return folder


class TestLabels:
    def test_a_table_to_classify(self, regard, labelling, write):
        path = write("a.tsv", "good\ta fine film\nbad\ta dull film\n")
        refused(regard("classify", labelling / "classify", path), "2 columns", "--column 2")
        assert regard("classify", labelling / "classify", path, "--column", 2).status == 0

    def test_a_header_has_no_label(self, regard, labelling, write):
        path = write("a.csv", "id,text\n1,a fine film\n2,a dull film\n")
        ended = regard("classify", labelling / "classify", path, "--column", 2)
        first, *labels = ended.out.splitlines()
        assert first == ""
        assert len(labels) == 2
        assert all(labels)

    def test_json_lines_to_classify(self, regard, labelling, write):
        path = write("a.jsonl", '{"text": "a fine film"}\n')
        for column in ((), ("--column", 1)):
            refused(regard("classify", labelling / "classify", path, *column), "a.jsonl: JSON lines", "jq -r")

    def test_labels_to_classify(self, regard, labelling, write):
        path = write("labels", "good\nbad\ngood\n")
        refused(regard("classify", labelling / "classify", path), "labels (good, bad) where text is expected")

    def test_one_word_per_line_to_classify_or_tag(self, regard, labelling, write):
        for command in ("classify", "tag"):
            refused(regard(command, labelling / command, write("a.conll", CONLL)), "one word per line")

    def test_tags_to_tag(self, regard, labelling, write):
        refused(regard("tag", labelling / "tag", write("tags", "ADJ NOUN\nDET\n")), "labels (ADJ NOUN, DET)")

    def test_text_with_a_tab_is_text(self, regard, labelling):
        for command in ("classify", "tag"):
            ended = regard(command, labelling / command, stdin="a film\na\tfine film\na film\n")
            assert (ended.status, len(ended.out.splitlines())) == (0, 3)
