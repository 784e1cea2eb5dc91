import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.errors import DataError
from regard.evaluation.alignment import AlignmentEvaluation, SoftLinks, score_alignments
from regard.text.links import GoldLinks

SOURCE, TARGET = tuple("abcde"), tuple("vwxyz")
links = st.frozensets(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=8)


def soft(links):
    return SoftLinks(np.ones((5, 5)), frozenset(links))


@given(st.lists(st.tuples(links, links, links, st.builds(GoldLinks, links, links)), max_size=5))
def test_pair_by_pair_is_all_at_once(corpus):
    evaluation = AlignmentEvaluation()
    for there, back, other, gold in corpus:
        found = {"forward": soft(there), "symmetrized": soft(back)}
        evaluation.add(SOURCE, TARGET, found, gold, ("other", soft(other)))
    gold = [row[3] for row in corpus]
    names = ("forward", "symmetrized", "other")
    expected = {name: score_alignments([row[k] for row in corpus], gold) for k, name in enumerate(names)}
    assert evaluation.scores == (expected if corpus else {})
    assert list(evaluation.scores) == (list(names) if corpus else [])
    assert evaluation.num_sentences == len(corpus)
    assert evaluation.num_differing == sum(row[1] != row[2] for row in corpus)


@given(st.lists(st.tuples(links, links), max_size=5))
def test_without_gold_the_other_aligner_is_the_standard(corpus):
    evaluation = AlignmentEvaluation()
    for found, other in corpus:
        evaluation.add(SOURCE, TARGET, {"forward": soft(found)}, other=("other", soft(other)))
    if corpus:
        (score,) = evaluation.scores.values()
        assert score == score_alignments([row[0] for row in corpus], [GoldLinks(row[1]) for row in corpus])
        assert score.aer == pytest.approx(1 - score.f1) or not any(map(any, corpus))


def test_the_worst_pairs_have_many_errors_for_their_length():
    """Wrong links and missed sure ones count, and possible ones do not."""
    gold = GoldLinks(frozenset({(0, 0), (1, 1)}), frozenset({(2, 2)}))
    right = [(0, 0), (1, 1), (2, 2)]
    predicted = {
        1: [(0, 0)],  # errors × error rate: 1 · 1/3
        2: right[:2],
        3: [],  # 2 · 2/2
        4: [*right, (3, 3), (3, 4), (4, 4)],  # 3 · 3/8
        5: [(4, 4)],  # 3 · 3/3
        6: right,
        7: [*right, (3, 3)],  # 1 · 1/6
    }
    evaluation = AlignmentEvaluation(4)
    for found in predicted.values():
        evaluation.add(SOURCE, TARGET, {"forward": soft([]), "symmetrized": soft(found)}, gold)
    assert [(pair.number, pair.num_errors) for pair in evaluation.worst] == [(5, 3), (3, 2), (4, 3), (1, 1)]
    assert [pair.error_rate for pair in evaluation.worst] == pytest.approx([1, 1, 3 / 8, 1 / 3])
    assert (evaluation.num_sentences, evaluation.num_differing) == (7, 5)
    assert list(evaluation.worst[0].alignments) == ["symmetrized"]


def test_of_equal_pairs_the_earlier_is_kept():
    evaluation = AlignmentEvaluation(2)
    for _ in range(4):
        evaluation.add(SOURCE, TARGET, {"forward": soft([(0, 0)])}, GoldLinks(frozenset()))
    assert [pair.number for pair in evaluation.worst] == [1, 2]


def test_pairs_that_differ_most():
    evaluation = AlignmentEvaluation(2)
    gold = GoldLinks(frozenset({(0, 0)}))
    for found in ([(0, 0)], [(1, 1)], [(0, 1), (1, 1)]):
        evaluation.add(SOURCE, TARGET, {"forward": soft(found)}, gold, ("other", soft([(0, 0)])))
    assert [(pair.number, pair.num_errors) for pair in evaluation.worst] == [(3, 3), (2, 2)]
    worst = evaluation.worst[0]
    assert (worst.only("forward"), worst.only("other")) == ({(0, 1), (1, 1)}, {(0, 0)})
    assert worst.in_words(worst.only("forward")) == "a – w · b – w"
    assert worst.in_words(worst.only("forward"), most=1) == "a – w · and 1 more"
    assert worst.to_json() == {
        "number": 3,
        "source": "a b c d e",
        "target": "v w x y z",
        "num_errors": 3,
        "error_rate": 1.0,
        "links": {"forward": "0-1 1-1", "other": "0-0"},
        "gold": "0-0",
    }


def test_nothing_to_score_against():
    with pytest.raises(DataError, match="against gold links or another alignment; give one"):
        AlignmentEvaluation().add(SOURCE, TARGET, {"forward": soft([])})
