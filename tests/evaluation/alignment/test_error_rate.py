import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.errors import DataError
from regard.evaluation.alignment.error_rate import AlignmentScore, score_alignments
from regard.text.links import GoldLinks

links = st.frozensets(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=8)
corpora = st.lists(st.tuples(links, st.builds(GoldLinks, links, links)), max_size=5)


def test_by_hand():
    predicted = [frozenset({(0, 0), (1, 1), (2, 2)}), frozenset({(0, 0)})]
    gold = [GoldLinks(frozenset({(0, 0)}), frozenset({(1, 1)})), GoldLinks(frozenset({(0, 0), (1, 0)}))]
    # A = 4, S = 3, P = 4, A∩S = 2, A∩P = 3
    assert score_alignments(predicted, gold) == AlignmentScore(
        aer=pytest.approx(1 - 5 / 7), precision=3 / 4, recall=2 / 3, num_links=4, num_sure=3, num_possible=4
    )


@given(corpora)
def test_fractions_and_the_best_alignment(corpus):
    predicted, gold = [p for p, _ in corpus], [g for _, g in corpus]
    score = score_alignments(predicted, gold)
    assert 0 <= score.aer <= 1
    assert 0 <= score.precision <= 1
    assert 0 <= score.recall <= 1
    assert score_alignments([g.sure for g in gold], gold).aer == 0


@given(corpora)
def test_sentences_are_counted_together(corpus):
    """Putting all sentences into one, with word numbers moved apart, changes nothing."""
    moved = [({(j + 9 * k, i) for j, i in p}, {(j + 9 * k, i) for j, i in g.sure},
              {(j + 9 * k, i) for j, i in g.possible}) for k, (p, g) in enumerate(corpus)]  # fmt: skip
    one, sure, possible = (
        (frozenset().union(*parts) for parts in zip(*moved, strict=True)) if moved else [frozenset()] * 3
    )
    assert score_alignments([p for p, _ in corpus], [g for _, g in corpus]) == score_alignments(
        [one], [GoldLinks(sure, possible)]
    )


def test_aer_is_one_less_f_where_all_links_are_sure():
    predicted, gold = frozenset({(0, 0), (1, 1), (2, 0)}), frozenset({(0, 0), (1, 2)})
    score = score_alignments([predicted], [GoldLinks(gold)])
    assert score.aer == pytest.approx(
        1 - 2 * score.precision * score.recall / (score.precision + score.recall)
    )


def test_empty_cases():
    one = frozenset({(0, 0)})
    assert score_alignments([], []) == AlignmentScore(0.0, 1.0, 1.0, 0, 0, 0)
    assert score_alignments([frozenset()], [GoldLinks(one)]) == AlignmentScore(1.0, 1.0, 0.0, 0, 1, 1)
    assert score_alignments([one], [GoldLinks(frozenset())]) == AlignmentScore(1.0, 0.0, 1.0, 1, 0, 0)


def test_unequal_lengths_are_counted_out():
    with pytest.raises(DataError, match="2 sentences have links and 1 have gold links"):
        score_alignments([frozenset(), frozenset()], [GoldLinks(frozenset())])
