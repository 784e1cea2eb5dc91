"""``regard check``: what a learner sees, and what a teacher's script reads."""

import json
import subprocess
import sys

import pytest

from regard.exercises.catalogue import EXERCISES, copy_files, solution


def test_without_a_file_the_exercises_are_listed(regard):
    ended = regard("check")
    assert ended.status == 0
    for name in EXERCISES:
        assert f"{name}.py" in ended.out
    listed = json.loads(regard("check", "--json").out)
    assert [each["name"] for each in listed] == list(EXERCISES)
    assert listed[1]["functions"]["lstm_step"][1]["text"] == "f_t = σ(W_f x_t + U_f h_{t−1} + b_f)"


def test_from_the_copy_to_the_solution(regard, tmp_path):
    """To do is status 3, wrong is 1, right is 0; the mistake is in the message."""
    folder = tmp_path / "exercises"
    copied = regard("check", "--copy", str(folder))
    assert copied.status == 0
    assert f"regard check {folder}/rnn.py" in copied.out
    again = regard("check", "--copy", str(folder))
    assert again.status == 2
    assert "rnn.py is there already" in again.err

    path = folder / "lstm.py"
    ended = regard("check", str(path))
    assert ended.status == 3
    assert "○ (2) the forget gate: to do\n" in ended.out
    assert "7 to do, of 7 equations" in ended.out

    right = solution("lstm").read_text(encoding="utf-8")
    path.write_text(right.replace("U.f @ h + b.f", "U.f @ h"), encoding="utf-8")
    ended = regard("check", str(path))
    assert ended.status == 1
    assert "● (1) the input gate\n" in ended.out
    assert "✗ (2) the forget gate: differs by up to 0." in ended.out
    assert "the equation: f_t = σ(W_f x_t + U_f h_{t−1} + b_f)" in ended.out
    assert "your numbers are those of a typical mistake: the term `b.f` is missing" in ended.out
    assert "◐ (5) the memory: right for your values above, which are not" in ended.out
    assert "6 right, 1 wrong, of 7 equations" in ended.out

    path.rename(folder / "mine.py")
    ended = regard("check", str(folder / "mine.py"), "--exercise", "lstm", "--json", "--seed", "5")
    assert ended.status == 1
    [checked] = json.loads(ended.out)
    assert (checked["exercise"], checked["status"], checked["failure"]) == ("lstm", "wrong", "")
    forget = checked["equations"][1]
    assert forget.pop("difference") > 0.01
    assert forget.pop("message").startswith("differs by up to 0.")
    assert forget == {
        "function": "lstm_step",
        "number": 2,
        "quantity": "the forget gate",
        "equation": "f_t = σ(W_f x_t + U_f h_{t−1} + b_f)",
        "status": "wrong",
        "hint": "the term `b.f` is missing",
    }

    (folder / "only").mkdir()
    (folder / "only" / "lstm.py").write_text(right, encoding="utf-8")
    ended = regard("check", str(folder / "only"))
    assert ended.status == 0
    assert "7 right, of 7 equations" in ended.out


def test_nothing_filled_in_gives_no_warning(tmp_path):
    """A sentence that is sampled by a function still to be written holds `...` where words are expected."""
    folder = tmp_path / "exercises"
    copy_files(folder)
    command = [sys.executable, "-m", "regard", "check", str(folder / "language_model.py")]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (3, "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere/lstm.py"], "nowhere/lstm.py: cannot be read"),
        (["my_lstm.py"], "my_lstm.py: no exercise has this name"),
        (["."], "no exercise is in this folder; put some there with --copy"),
    ],
)
def test_a_file_that_is_not_there_is_an_error(regard, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    ended = regard("check", *arguments)
    assert ended.status == 2
    assert message in ended.err
