"""A file is checked in a process of its own: what hangs is stopped, and what ends Python ends only that."""

import time

import pytest

from regard.errors import ConfigError, DataError
from regard.exercises.catalogue import EXERCISES, copy_files, notebooks, solution
from regard.exercises.runner import check


def test_what_hangs_or_ends_python_costs_only_its_function(tmp_path, capfd):
    text = solution("rnn").read_text(encoding="utf-8")
    text = text.replace("    s = s0\n", "    while True:\n        pass\n")
    text = text.replace("    new_h = ", "    import os\n\n    print('here')\n    os._exit(7)\n    new_h = ")
    path = tmp_path / "rnn.py"
    path.write_text(text, encoding="utf-8")
    begin = time.monotonic()
    checked = check(path, seconds=1.5)
    assert time.monotonic() - begin < 90
    assert [each.status for each in checked.verdicts] == [*["right"] * 4, "wrong", "wrong", "to do"]
    assert "stopped after 1.5 s; does a loop never end?" in checked.verdicts[4].message
    assert checked.verdicts[5].message == "it ended Python, with status 7"
    assert checked.verdicts[6].message == "not reached"
    assert checked.status == "wrong"
    printed = capfd.readouterr()
    assert printed.out == ""
    assert "here" in printed.err


@pytest.mark.parametrize(
    ("text", "failure"),
    [
        ("def f(:\n    pass\n", "it is not Python: invalid syntax in line 1, `def f(:`"),
        (
            "x = 1\nimport nothing_of_this_name\n",
            "it cannot be run: ModuleNotFoundError in line 2: No module named",
        ),
        ("while True:\n    pass\n", "stopped after 1 s"),
    ],
)
def test_a_file_that_cannot_be_run_is_explained(tmp_path, text, failure):
    path = tmp_path / "gru.py"
    path.write_text(text, encoding="utf-8")
    checked = check(path, seconds=1)
    assert checked.failure.startswith(failure)
    assert checked.status == "wrong"
    assert checked.verdicts == []


def test_a_file_that_is_not_there_or_of_no_exercise(tmp_path):
    with pytest.raises(DataError, match=r"lstm\.py: cannot be read \(No such file or directory\)"):
        check(tmp_path / "lstm.py")
    with pytest.raises(ConfigError, match=r"mine\.py: no exercise has this name; .* --exercise lstm"):
        check(tmp_path / "mine.py")
    with pytest.raises(ConfigError, match="--exercise: no 'grue'; did you mean 'gru'"):
        check(tmp_path / "mine.py", "grue")


def test_copies_never_replace_a_file(tmp_path):
    folder = tmp_path / "deep" / "exercises"
    copies = copy_files(folder)
    assert {path.name for path in folder.iterdir()} == {path.name for path in copies}
    assert {path.name for path in copies} >= {f"{name}.py" for name in EXERCISES}
    assert {path.name for path in copies} >= {path.name for path in notebooks()}
    (folder / "lstm.py").write_text("mine", encoding="utf-8")
    (folder / "rnn.py").unlink()
    with pytest.raises(ConfigError, match=r"lstm\.py is there already"):
        copy_files(folder)
    assert (folder / "lstm.py").read_text(encoding="utf-8") == "mine"
    assert not (folder / "rnn.py").exists()
