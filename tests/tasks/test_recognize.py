"""Which task a file is for: recognised where the file says it, asked for where it does not."""

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
