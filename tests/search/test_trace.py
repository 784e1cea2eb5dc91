"""The record of a search: a tree that can be walked, checked as it is made."""

import json

import numpy as np
import pytest

from regard.errors import DataError
from regard.search.trace import History, Node, NodeAlternative


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
