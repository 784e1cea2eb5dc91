"""The command on a page is the one that made it: pasted into a shell, it makes the page again."""

import html
import re
import shlex

import pytest


def command_on(page):
    """The command of a page, as a reader copies it."""
    [line] = set(
        re.findall(r"regard (?:train|evaluate|compare|align) [^<]*", page.read_text(encoding="utf-8"))
    )
    return html.unescape(line)


@pytest.mark.parametrize(
    "arguments",
    [
        ("evaluate", "{model}", "{data}/test.tsv", "--beam", 2, "--out", "{out}"),
        ("evaluate", "{model}", "{data}/swapped.tsv", "--columns", 3, 1, "--lowercase", "--out", "{out}"),
        (
            "compare",
            "{model}",
            "{model}",
            "{data}/test.tsv",
            "--resamples",
            50,
            "--shuffles",
            50,
            "--out",
            "{out}",
        ),
        ("align", "{model}", "{data}/test.tsv", "--gold", "{data}/test.links", "--out", "{out}"),
    ],
    ids=["evaluate", "columns", "compare", "align"],
)
def test_a_page_made_again(regard, model, data, tmp_path, arguments):
    out = tmp_path / "a folder"
    given = [str(each).format(model=model, data=data, out=out) for each in arguments]
    assert regard(*given).status == 0
    [page] = out.glob("*.html")
    command = command_on(page)
    assert shlex.split(command)[1:] == given
    page.unlink()
    assert regard(*shlex.split(command)[1:]).status == 0
    assert command_on(page) == command


def test_a_trained_model_made_again(regard, data, tmp_path):
    folder = tmp_path / "a model"
    given = ["train", folder, "--train", data / "test.tsv", "--valid", data / "test.tsv", "--updates", 2]
    given += ["--tokenizer", "word", "--set", "model.encoder.state_size=8", "--device", "cpu"]
    ended = regard(*given)
    assert ended.status == 0
    assert f"regard translate '{folder}'" in " ".join(ended.err.split()), "the folder is one word of a shell"
    command = command_on(folder / "report.html")
    folder.rename(tmp_path / "old")
    assert regard(*shlex.split(command)[1:]).status == 0
    old, new = ((each / "train.toml").read_bytes() for each in (tmp_path / "old", folder))
    assert old == new
