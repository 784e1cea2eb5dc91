"""A search tree as tokens: its paths, its JSON, its HTML."""

import json
from html import escape
from itertools import pairwise

import numpy as np
import pytest


def test_the_best_way_is_the_translation(grown):
    tree = grown()
    assert tuple(one.token for one in tree.best) == tree.translation.tokens
    assert tree.best[-1].score == max(one.score for one in tree.finished) == tree.translation.score
    assert sum(one.log_prob for one in tree.best) == pytest.approx(tree.best[-1].total)
    np.testing.assert_array_equal(np.stack([one.alpha for one in tree.best]), tree.translation.alpha)


def test_every_way_leads_back_to_the_first_step_and_everyone_is_after_someone(grown):
    tree = grown()
    for end in tree.finished:
        way = tree.path_to(end)
        assert way[0].parent is None
        assert all(one in tree.steps[t] for t, one in enumerate(way))
        for parent, child in pairwise(way):
            assert child in tree.after(parent)
    assert tree.after(None) == tree.steps[0]
    reached = [
        *tree.after(None),
        *(one for step in tree.steps for parent in step for one in tree.after(parent)),
    ]
    assert sorted(one.id for one in reached) == list(range(sum(map(len, tree.steps))))


def test_what_was_attended_token_is_the_source_token_with_most_attention(grown):
    tree = grown()
    one = tree.best[0]
    assert tree.attended_token(one) == tree.translation.source_tokens[int(one.alpha.argmax())]
    assert grown(attends=False).attended_token(grown(attends=False).best[0]) is None


def test_it_is_plain_json_with_the_translation_in_it(grown):
    tree = grown()
    printed = json.loads(json.dumps(tree.to_json()))
    assert printed["text"] == str(tree) == tree.translation.text
    assert [len(step) for step in printed["steps"]] == [len(step) for step in tree.steps]
    first = printed["steps"][0][0]
    assert set(first) == {
        "id",
        "parent",
        "token",
        "log_prob",
        "total",
        "score",
        "fate",
        "alternatives",
        "alpha",
    }
    assert first["alternatives"] == [{"token": first["token"], "log_prob": first["log_prob"]}]
    assert {one["fate"] for step in printed["steps"] for one in step} == {"kept", "finished", "pruned"}
    assert grown(attends=False).to_json()["steps"][0][0]["alpha"] is None


def test_a_notebook_shows_the_tree(grown):
    page = grown()._repr_html_()
    assert page.startswith("<div")
    assert "<svg" in page
    assert escape(grown().translation.source) in page
