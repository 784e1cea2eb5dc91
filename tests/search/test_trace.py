"""Histories as data, and the history of a beam search."""

import json
import math
from itertools import pairwise

import numpy as np
import pytest

from regard.batches import pad_sources
from regard.errors import DataError
from regard.search.beam import search
from regard.search.constraints import TokenConstraints
from regard.search.options import SearchOptions
from regard.search.trace import History, Node, NodeAlternative
from regard.text.specials import EOS


def node(id, parent, token, log_prob, total, fate, length):
    alpha = np.array([0.25, 0.75], np.float32)
    alternatives = (NodeAlternative(token, log_prob),)
    return Node(id, parent, token, log_prob, total, total / length, fate, alternatives, alpha)


STEPS = (
    (
        node(0, None, 4, -0.5, -0.5, "kept", 1),
        node(1, None, 5, -1.0, -1.0, "kept", 1),
        node(2, None, 6, -3.0, -3.0, "pruned", 1),
    ),
    (node(3, 1, 2, -0.2, -1.2, "finished", 2), node(4, 0, 5, -1.0, -1.5, "kept", 2)),
    (node(5, 4, 2, -0.1, -1.6, "finished", 3),),
)


def test_the_finished_come_best_first_and_their_ways_lead_back_to_the_first_word():
    history = History(STEPS)
    assert [end.id for end in history.finished] == [5, 3]
    assert [one.id for one in history.path_to(history.finished[0])] == [0, 4, 5]
    assert [one.token for one in history.path_to(history.finished[1])] == [5, 2]


def test_it_is_plain_json():
    printed = json.loads(json.dumps(History(STEPS).to_json()))
    assert [len(step) for step in printed["steps"]] == [3, 2, 1]
    assert printed["steps"][1][0] == {
        "id": 3,
        "parent": 1,
        "token": 2,
        "log_prob": -0.2,
        "total": -1.2,
        "score": -0.6,
        "fate": "finished",
        "alternatives": [{"id": 2, "log_prob": -0.2}],
        "alpha": [0.25, 0.75],
    }


def test_ids_must_be_counted_through():
    with pytest.raises(DataError, match="node 1 has the id 2"):
        History(((STEPS[0][0], STEPS[0][2]),))


@pytest.mark.parametrize("parent", [2, 5, None], ids=["pruned", "later", "none"])
def test_a_parent_must_be_a_kept_node_of_the_step_before(parent):
    with pytest.raises(DataError, match=f"node 3 of step 1 has the parent {parent}"):
        History((STEPS[0], (node(3, parent, 2, -0.2, -1.2, "finished", 2),)))


A, B, C = 4, 5, 6
SOURCES = [[4, 5, 6, 7], [8], [], [5, 5, 7]]
TIGHT = {"max_ratio": 1.0, "max_extra": 3}
SCRIPT = {
    (): {A: 0.6, B: 0.3, C: 0.1},
    (A,): {B: 0.5, EOS: 0.3, C: 0.2},
    (B,): {EOS: 0.9, A: 0.1},
    (A, B): {EOS: 0.8, A: 0.2},
}


def searched(model, options, constraints=None, *, history=True):
    batch = pad_sources(SOURCES)
    encoded = model.encode(batch.source_ids, batch.source_mask)
    return search(model.decoder, encoded, options, constraints, history=history)


def summary(history):
    """Step by step: (parent, token, probability of all words, fate)."""
    return [
        [(n.parent, n.token, round(math.exp(n.total), 4), n.fate) for n in step] for step in history.steps
    ]


class TestByHand:
    def test_every_beginning_its_parent_and_its_fate(self, scripted):
        decoder = scripted([SCRIPT])
        (found,) = search(decoder, decoder.encode([4]), SearchOptions(beam=2, n_best=2), history=True)
        assert [h.ids for h in found.hypotheses] == [(A, B, EOS), (B, EOS)]
        assert summary(found.history)[:2] == [
            [
                (None, A, 0.6, "kept"),
                (None, B, 0.3, "kept"),
                (None, C, 0.1, "pruned"),
                (None, 1, 0.0, "pruned"),
            ],
            [
                (0, B, 0.3, "kept"),
                (1, EOS, 0.27, "finished"),
                (0, EOS, 0.18, "pruned"),
                (0, C, 0.12, "pruned"),
            ],
        ]
        # one has finished, so there is room for one
        assert summary(found.history)[2][:2] == [(4, EOS, 0.24, "finished"), (4, A, 0.06, "pruned")]

    def test_a_node_s_score_is_what_would_rank_it(self, scripted):
        decoder = scripted([SCRIPT])
        options = SearchOptions(beam=2, n_best=2, length_penalty="wu", length_power=0.5)
        (found,) = search(decoder, decoder.encode([4]), options, history=True)
        for end, hypothesis in zip(found.history.finished, found.hypotheses, strict=True):
            assert end.score == pytest.approx(hypothesis.score)
        first = found.history.steps[0][0]
        assert first.score == pytest.approx(first.total / (6 / 6) ** 0.5)

    def test_alternatives_are_the_most_probable_words_after_the_same_words(self, scripted):
        decoder = scripted([SCRIPT])
        (found,) = search(decoder, decoder.encode([4]), SearchOptions(beam=2), history=True)
        node = found.history.steps[1][0]
        assert [alternative.id for alternative in node.alternatives[:3]] == [B, EOS, C]
        probabilities = [math.exp(alternative.log_prob) for alternative in node.alternatives[:3]]
        assert probabilities == pytest.approx([0.5, 0.3, 0.2])


@pytest.mark.parametrize("width", [1, 3])
def test_the_record_is_of_what_was_found(grid_model, width):
    options = SearchOptions(beam=width, n_best=width, **TIGHT)
    with_history = searched(grid_model, options)
    for found, plain in zip(with_history, searched(grid_model, options, history=False), strict=True):
        assert [h.ids for h in found.hypotheses] == [h.ids for h in plain.hypotheses]
        assert plain.history is None
        history = found.history
        assert len(history.finished) == len(found.hypotheses)
        for end, hypothesis in zip(history.finished, found.hypotheses, strict=True):
            way = history.path_to(end)
            assert tuple(node.token for node in way) == hypothesis.ids
            assert [node.log_prob for node in way] == pytest.approx(hypothesis.token_log_probs, abs=1e-9)
            assert end.total == pytest.approx(hypothesis.log_prob, abs=1e-9)
            if hypothesis.alpha is None:
                assert all(node.alpha is None for node in way)
            else:
                np.testing.assert_allclose(
                    np.stack([node.alpha for node in way]), hypothesis.alpha, atol=1e-6
                )


def test_what_was_kept_was_better_than_what_was_not(tiny_model):
    options = SearchOptions(beam=3, **TIGHT)
    for found in searched(tiny_model("bahdanau"), options):
        num_finished = 0
        nodes = list(found.history.nodes())
        for step in found.history.steps:
            taken = [node for node in step if node.fate != "pruned"]
            pruned = [node for node in step if node.fate == "pruned"]
            assert len(taken) <= options.beam - num_finished
            assert len(pruned) <= options.beam
            assert all(one.total >= other.total for one, other in pairwise([*taken, *pruned]))
            num_finished += sum(node.fate == "finished" for node in taken)
            for node in step:
                before = 0.0 if node.parent is None else nodes[node.parent].total
                assert node.total == pytest.approx(before + node.log_prob)
                assert (node.token == EOS) or node.fate != "finished"
                assert any(alternative.id == node.token for alternative in node.alternatives)


@pytest.mark.parametrize("kind", ["bahdanau", "luong", "deep-fusion"])
def test_a_forced_step_attends_where_it_is_forced_and_the_others_freely(kind, tiny_model):
    options = {"encoder": {"bidirectional": False, "state_size": 4}} if kind == "deep-fusion" else {}
    model = tiny_model(kind, "lstmn" if kind == "deep-fusion" else "gru", **options)
    constraints = [
        TokenConstraints(attend={1: 2}),
        TokenConstraints(),
        TokenConstraints(prefix=(4, 5)),
        TokenConstraints(prefix=(4, 4), attend={0: 3}),
    ]
    search = SearchOptions(beam=3, n_best=2, min_length=2, **TIGHT)
    free = searched(model, search, [TokenConstraints(prefix=r.prefix) for r in constraints])
    found = searched(model, search, constraints)
    for b in (1, 2):
        assert [h.ids for h in found[b].hypotheses] == [h.ids for h in free[b].hypotheses]
    for b, step, position in ((0, 1, 2), (3, 0, 3)):
        for node in found[b].history.steps[step]:
            assert node.alpha.tolist() == np.eye(len(SOURCES[b]) + 1)[position].tolist()
        for hypothesis in found[b].hypotheses:
            rows = np.isclose(hypothesis.alpha.max(axis=1), 1)
            assert rows[step]
            np.testing.assert_allclose(hypothesis.alpha.sum(axis=1), 1, atol=1e-6)
    assert found[0].hypotheses[0].log_prob != free[0].hypotheses[0].log_prob
