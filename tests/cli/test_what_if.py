import json

import pytest


def test_before_and_after(regard, model):
    ended = regard("what-if", model, "a b c", "--attend", "0=c")
    assert (ended.status, ended.err) == (0, "")
    lines = ended.out.splitlines()
    plain = regard("translate", model, stdin="a b c\n").out.strip()
    assert lines[0].startswith(f"before  {plain}  ")
    assert lines[1].startswith("after   ")
    (forced,) = [line for line in lines if line.rstrip().endswith("◂")]
    assert forced.split()[0] == "0"
    assert forced.split()[-3:] == ["c", "1.00", "◂"]


def test_json(regard, model):
    options = [
        "--attend",
        "1=2",
        "--swap",
        "a=d",
        "--prefix",
        "D",
        "--include",
        "A",
        "--exclude",
        "E",
        "--beam",
        8,
    ]
    shown = json.loads(regard("what-if", model, "a b c", *options, "--json").out)
    assert shown["attend"] == {"1": 2}
    assert shown["swap"] == {"0": "d"}
    assert shown["after"]["source"] == "d b c"
    assert shown["after"]["tokens"][0] == "D"
    assert "A" in shown["after"]["tokens"]
    assert "E" not in shown["after"]["tokens"]
    assert shown["after"]["alpha"][1] == [0, 0, 1, 0]
    assert shown["before"]["source"] == "a b c"


def test_a_picture(regard, model, tmp_path):
    assert regard("what-if", model, "a b c", "--swap", "1=", "--plot", tmp_path / "two.png").status == 0
    assert (tmp_path / "two.png").stat().st_size > 5000


def test_a_step_that_never_came_is_said(regard, model):
    ended = regard("what-if", model, "a b c", "--attend", "40=a")
    assert ended.status == 0
    assert "step 40 was never reached" in ended.err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--attend", "a"], "--attend a: write it as --attend 2=haus"),
        (["--attend", "=a"], "--attend =a: write it as --attend 2=haus"),
        (["--attend", "x=a"], "a step is a number, counted from 0"),
        (["--attend", "1=a", "--attend", "1=b"], "--attend 1=b: 1 is given twice"),
        (["--attend", "1=c"], "'c' is at positions 2 and 3; give the position instead of the word"),
        (["--swap", "z=a"], "swap: 'z' is not in the source"),
        (["--prefix", "zzz"], "cannot spell 'zzz'"),
        ([], "no intervention"),
    ],
)
def test_what_cannot_be_done_is_said(regard, model, options, message):
    ended = regard("what-if", model, "a b c c", *options)
    assert ended.status == 2
    assert message in " ".join(ended.err.split())


def test_attention_cannot_be_forced_where_there_is_none(regard, fixed_model):
    ended = regard("what-if", fixed_model, "a b", "--attend", "0=a")
    assert ended.status == 2
    assert "this model has no attention to force" in " ".join(ended.err.split())
    shown = regard("what-if", fixed_model, "a b", "--prefix", "B")
    assert shown.out.splitlines()[1].startswith("after   B")
