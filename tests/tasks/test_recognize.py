"""Which task a file is for: recognised where the file says it, asked for where it does not."""

import json

import pytest

from regard.errors import DataError
from regard.tasks.recognize import recognize_lines, recognize_task

TEXTS = [f"text number {k} of many" for k in range(200)]


@pytest.mark.parametrize(
    ("lines", "task", "options"),
    [
        ([f"{text}\t{text.upper()}" for text in TEXTS], "translate", {}),
        ([f"word{k}\tw o r d" for k in range(5)], "translate", {}),
        ([f"{k % 2}\t{text}" for k, text in enumerate(TEXTS)], "classify", {}),
        ([f"{text}\t{k % 2}" for k, text in enumerate(TEXTS)], "classify", {"data": {"columns": [2, 1]}}),
        ([f"{'yes' if k % 3 else 'no'}\t{'oui' if k % 3 else 'non'}" for k in range(200)], "translate", {}),
        (["the\tDET", "dog\tNOUN", "", "it\tPRON", ""], "tag", {"data": {"layout": "vertical"}}),
        (["the DT B-NP", "dog NN I-NP", "", "it PRP B-NP"], "tag", {"data": {"layout": "vertical"}}),
        (["# sent", "1\tthe\tthe\tDET", "", "1\tit\tit\tPRON"], "tag", {"data": {"layout": "vertical"}}),
        ([f"verb{k}\tpos=V,num=SG\tverb{k}s" for k in range(9)], "translate", {}),
        (["run\tran\tV;PST", "run\truns\tV;PRS;3;SG", "", "go\twent\tV;PST"], "translate", {}),
        (TEXTS[:50], "language_model", {}),
        (["a line", "", "another line of text", "word"], "language_model", {}),
    ],
    ids=[
        "pairs",
        "few pairs",
        "label first",
        "label second",
        "few different pairs",
        "tags",
        "blanks",
        "comments",
        "features, SIGMORPHON",
        "features, UniMorph",
        "text",
        "paragraphs",
    ],
)
def test_recognized(lines, task, options):
    recognized = recognize_lines(lines, "file")
    assert (recognized.task, recognized.options) == (task, options)
    assert recognized.reason


@pytest.mark.parametrize(
    ("lines", "parts"),
    [
        (["a\tb\tc"] * 3, ["file: 3 columns", "--columns 1 2", "--task"]),
        (["a\tb", "c"], ["file: lines of 1 and 2 columns", "--task language_model"]),
        ([f"{k % 2} {text}" for k, text in enumerate(TEXTS)], ["--task classify --set data.separator=space"]),
        (["", " "], ["file: an empty corpus"]),
    ],
    ids=["three columns", "uneven", "label and blank", "empty"],
)
def test_asked_for(lines, parts):
    with pytest.raises(DataError) as raised:
        recognize_lines(lines, "file")
    for part in parts:
        assert part in str(raised.value)


LABELLED = [f"{'good' if k % 2 else 'bad'}\t{text}" for k, text in enumerate(TEXTS)]
SENTENCES = [f"word{k} of word{k + 1} is word{k + 2}" for k in range(30)]


@pytest.mark.parametrize(
    ("lines", "task", "options"),
    [
        (["source\ttarget", *(f"{text}\t{text.upper()}" for text in TEXTS)], "translate", {}),
        (["English\tGerman", *(f"{text}\t{text.upper()}" for text in TEXTS)], "translate", {}),
        (["id\tsource\ttarget", *(f"{k}\t{text}\tb" for k, text in enumerate(TEXTS))], "translate", {}),
        (["label\ttext", *LABELLED], "classify", {"data": {"columns": [1, 2]}}),
        (
            ["id\ttext\tlabel", *(f"{k}\t{text}\t{k % 2}" for k, text in enumerate(TEXTS))],
            "classify",
            {"data": {"columns": [3, 2]}},
        ),
        (
            ["\ttext\tlabel", *(f"{k}\t{text}\t{k % 2}" for k, text in enumerate(TEXTS))],
            "classify",
            {"data": {"columns": [3, 2]}},
        ),
        (
            ["question\tanswer", *(f"{text}\t{k % 2}" for k, text in enumerate(TEXTS))],
            "classify",
            {"data": {"columns": [2, 1]}},
        ),
        ([f"{line}\tNN IN NN VBZ NN" for line in SENTENCES], "tag", {}),
        ([f"{line} -LRB- -RRB-\tNN IN NN VBZ NN -LRB- -RRB-" for line in SENTENCES], "tag", {}),
        ([f"{' '.join(line)}\t{' '.join(line.upper())}" for line in ("abc", "dce", "fga")], "translate", {}),
    ],
    ids=[
        "pairs",
        "languages",
        "three columns",
        "labels",
        "labels of three columns",
        "numbers without a name",
        "labels by their number",
        "tags beside words",
        "brackets beside words",
        "upper case is no tags",
    ],
)
def test_recognized_below_a_header_or_beside_words(lines, task, options):
    recognized = recognize_lines(lines, "file")
    assert (recognized.task, recognized.options) == (task, options)


@pytest.mark.parametrize(
    ("lines", "parts"),
    [
        (["Klasse\tSatz", *LABELLED], ["'Klasse' on the first alone", "--set data.header=true"]),
        (
            ["id\tpremise\thypothesis", "1\ta\tb", "2\tc\td"],
            ["3 columns (id, premise,", "--columns premise hypothesis;", "model.num_texts=2"],
        ),
        (
            [f"{word}\tNN" for line in SENTENCES for word in line.split()],
            ["no blank lines between sentences", "--task classify --columns 2 1"],
        ),
        ([f'"{text}"\t"{text}, too"' for text in TEXTS], ["quotation marks", "name the file .csv"]),
        ([f"{k},{text}" for k, text in enumerate(TEXTS)], ["commas separate", "name the file .csv"]),
        ([f"{k};{text}" for k, text in enumerate(TEXTS)], ["semicolons separate"]),
        ([f"{text} ||| {text}" for text in TEXTS], ["separated by |||", "sed "]),
        (
            [f"word{k} AH{k % 3} K {'T' * (k % 2 + 1)}" for k in range(200)],
            ["some of 6 symbols", r"sed -E 's/ +/\t/' file"],
        ),
        (
            [f"word{k // 2}{'(2)' * (k % 20 == 1)} AH K{' # of two' * (k == 9)}" for k in range(0, 400, 3)],
            ["some of 2 symbols", r"sed -E 's/ +#.*//; s/(\([0-9]+\))? +/\t/' file"],
        ),
        (
            [
                ";;; # CMUdict",
                ";;;",
                "#HASH  AH K",
                *(f"W{k}{'(1)' * (k % 9 == 1)}  AH K" for k in range(200)),
            ],
            ["some of 2 symbols", r"sed -E '/^;;;/d; s/(\([0-9]+\))? +/\t/' file"],
        ),
        (
            ["pair_id\tsentence_A\trelated", "1\ta b\t3", "2\tc\t4"],
            ["(the first line: pair_id | sentence_A | related)"],
        ),
        ([f"0 {text}" for text in TEXTS], ["every line begins with '0'"]),
        (['{"text": "a b", "label": 1}'], ["JSON", "name the file .jsonl"]),
        (["[", '{"text": "a b"},'], ["JSON", "jq -c"]),
        (
            ["word\ttag", "the\tDET", "dog\tNOUN", "", "it\tPRON"],
            ["one word and its tag", "remove that line"],
        ),
    ],
    ids=[
        "header",
        "three",
        "tags",
        "quotes",
        "commas",
        "semicolons",
        "bars",
        "dictionary",
        "CMUdict",
        "CMUdict 0.7b",
        "unknown names",
        "a label",
        "JSON",
        "list",
        "tags below a header",
    ],
)
def test_files_that_are_not_what_they_seem(lines, parts):
    with pytest.raises(DataError) as raised:
        recognize_lines(lines, "file")
    for part in parts:
        assert part in str(raised.value)


def test_marks_in_a_column_of_quoted_texts_separate_nothing(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(
        "".join(f'"number {k}, a text; yes"\n' if k % 2 else f'"{k} is one; yes"\n' for k in range(200))
    )
    assert recognize_task([str(path)]).task == "language_model"


def test_commas_in_sentences_are_text():
    lines = [f"{word}, yes, word" if k % 2 else word for k, word in enumerate(map(str, range(200)))]
    assert recognize_lines(lines, "file").task == "language_model"


@pytest.mark.parametrize(
    ("value", "task"),
    [
        ({"text": "a b", "label": 1}, "classify"),
        ({"text": "a b"}, "language_model"),
        ({"source": "a", "target": "b"}, "translate"),
        ({"sentence": "a b", "label": "x"}, "--columns label sentence"),
        ({"en": "a b", "de": "x"}, "--columns en de"),
        ({}, "--columns source target"),
    ],
)
def test_json_lines(tmp_path, value, task):
    path = tmp_path / "a.jsonl"
    path.write_text(f"{json.dumps(value)}\n" * 3)
    if not task.startswith("--"):
        assert recognize_task([str(path)]).task == task
        return
    with pytest.raises(DataError, match=task):
        recognize_task([str(path)])


@pytest.mark.parametrize("columns", [(), ("a", "b")])
def test_json_lines_without_objects(tmp_path, columns):
    path = tmp_path / "a.jsonl"
    for content, message in (("[1, 2]\n", "a.jsonl:1: no object"), ("", "a.jsonl: an empty corpus")):
        path.write_text(content)
        with pytest.raises(DataError, match=message):
            recognize_task([str(path)], columns=columns)


def test_named_members_of_json_lines(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text("".join(f"{json.dumps({'c': k % 2, 's': text})}\n" for k, text in enumerate(TEXTS)))
    assert recognize_task([str(path)], columns=("c", "s")).task == "classify"
    assert recognize_task([str(path)], columns=("s", "s")).task == "translate"


def test_word_pairs_with_a_blank_line_are_no_tags():
    lines = [f"lemma{k}\tform{k}" for k in range(120)]
    assert recognize_lines([*lines[:60], "", *lines[60:]], "file").task == "translate"


def test_files(tmp_path):
    path = tmp_path / "three.tsv"
    path.write_text("a\tb\tc\n" * 3)
    assert recognize_task([str(path)], columns=(1, 2)).task == "translate"
    assert recognize_task([str(path)], features=True).task == "translate"
    path.write_text("1\tthe\tthe\tDET\t_\t_\t0\troot\t_\t_\n" * 3)
    assert recognize_task([str(path)], columns=("2", "4")).task == "tag"
    path.write_text("id\ttext\tlabel\n" + "".join(f"{k}\t{text}\t{k % 2}\n" for k, text in enumerate(TEXTS)))
    recognized = recognize_task([str(path)], columns=("label", "text"))
    assert (recognized.task, recognized.reason) == ("classify", "2 labels, each with many texts")
    assert recognize_task([str(path)], columns=("text", "id")).task == "translate"
    with pytest.raises(DataError, match="has no column 'labels'; did you mean 'label'"):
        recognize_task([str(path)], columns=("labels", "text"))
    assert recognize_task(["a.de", "a.en"]).task == "translate"
    assert recognize_task(["a.npy", "captions.txt"]).task == "caption"
    assert recognize_task(["-"]).task == "translate"
    with pytest.raises(DataError, match="no such file"):
        recognize_task([str(tmp_path / "none.tsv")])
