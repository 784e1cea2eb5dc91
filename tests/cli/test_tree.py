import json

import pytest


def test_a_tree_for_each_line(regard, model):
    ended = regard("tree", model, "a b", "c", "--beam", 3)
    assert (ended.status, ended.err) == (0, "")
    first, second = ended.out.split("\n\n")
    assert first.splitlines()[0] == "a b"
    assert second.splitlines()[0] == "c"
    for part in (first, second):
        assert "</s> ■ " in part
        assert part.splitlines()[1].startswith(("├ ", "└ "))


def test_json_holds_every_step(regard, model):
    ended = regard("tree", model, "--json", "--beam", 2, stdin="a b\n\nc d e\n")
    lines = [json.loads(line) for line in ended.out.splitlines()]
    assert [line["source"] for line in lines] == ["a b", "", "c d e"]
    assert lines[1]["steps"] == []
    best = regard("translate", model, "--beam", 2, stdin="a b\n").out.strip()
    assert lines[0]["text"] == best
    ends = [one for step in lines[0]["steps"] for one in step if one["fate"] == "finished"]
    assert max(one["score"] for one in ends) == pytest.approx(lines[0]["score"])
    assert all(len(one["alpha"]) == 3 for step in lines[0]["steps"] for one in step)


def test_what_was_weighed_is_shown_when_asked_for(regard, model):
    few = regard("tree", model, "a b c").out.count("✂")
    assert regard("tree", model, "a b c", "--pruned").out.count("✂") > few


def test_pictures(regard, model, tmp_path):
    assert regard("tree", model, "a b", "--plot", tmp_path / "one.svg").status == 0
    assert "</s>".replace("<", "&lt;").replace(">", "&gt;") in (tmp_path / "one.svg").read_text()
    assert regard("tree", model, "a b", "c", "--plot", tmp_path / "both").status == 0
    assert sorted(path.name for path in (tmp_path / "both").iterdir()) == ["000001.png", "000002.png"]
    ended = regard("tree", model, "a b", "c", "--plot", tmp_path / "one.png")
    assert ended.status == 2
    assert "one file for several plots" in ended.err


def test_a_model_without_attention_has_a_tree_too(regard, fixed_model):
    shown = json.loads(regard("tree", fixed_model, "a b", "--json").out)
    assert shown["steps"][0][0]["alpha"] is None
