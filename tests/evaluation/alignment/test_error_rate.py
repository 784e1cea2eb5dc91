import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.errors import DataError
from regard.evaluation.alignment.error_rate import (
    AlignmentScore,
    AttentionStatistics,
    attention_statistics,
    kendall_tau,
    score_alignments,
)
from regard.evaluation.metrics import METRICS
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
    assert score.f1 == pytest.approx(2 * 1 / (3 + 2))
    assert score.aer == pytest.approx(1 - score.f1)


def test_f1_of_sure_and_possible_links():
    """P = 3/4 by the possible links, R = 2/3 by the sure ones: the harmonic mean is 12/17."""
    predicted = frozenset({(0, 0), (1, 1), (2, 2), (3, 3)})
    gold = GoldLinks(frozenset({(0, 0), (1, 1), (5, 5)}), frozenset({(2, 2)}))
    score = score_alignments([predicted], [gold])
    assert score.f1 == pytest.approx(12 / 17)
    assert score.scores() == {
        "aer": pytest.approx(2 / 7),
        "alignment_precision": 3 / 4,
        "alignment_recall": 2 / 3,
        "alignment_f1": score.f1,
    }
    assert score.scores().keys() <= METRICS.keys()
    assert score_alignments([frozenset({(9, 9)})], [GoldLinks(frozenset({(0, 0)}))]).f1 == 0


def test_empty_cases():
    one = frozenset({(0, 0)})
    assert score_alignments([], []) == AlignmentScore(0.0, 1.0, 1.0, 0, 0, 0)
    assert score_alignments([frozenset()], [GoldLinks(one)]) == AlignmentScore(1.0, 1.0, 0.0, 0, 1, 1)
    assert score_alignments([one], [GoldLinks(frozenset())]) == AlignmentScore(1.0, 0.0, 1.0, 1, 0, 0)


def test_unequal_lengths_are_counted_out():
    with pytest.raises(DataError, match="2 sentences have links and 1 have gold links"):
        score_alignments([frozenset(), frozenset()], [GoldLinks(frozenset())])


def hard(*columns, source_length):
    """Attention that looks at one column a row; EOS's row looks at the end."""
    return np.eye(source_length + 1)[[*columns, source_length]]


def test_a_sharp_diagonal():
    assert attention_statistics([hard(0, 1, 2, source_length=3)]) == AttentionStatistics(0.0, 1.0, 1.0, 1)


def test_a_reversal_that_passes_a_word_over():
    result = attention_statistics([hard(3, 2, 0, source_length=4)])
    assert (result.coverage, result.monotonicity) == (pytest.approx(3 / 4), pytest.approx(-1.0))


def test_a_word_read_twice_covers_no_other():
    assert attention_statistics([hard(0, 0, source_length=2)]).coverage == pytest.approx(1 / 2)


def test_even_attention_has_the_entropy_of_its_length():
    result = attention_statistics([np.full((6, 8), 1 / 8)])
    assert result.entropy == pytest.approx(3.0)
    assert result.coverage == pytest.approx(5 / 8)
    assert result.monotonicity is None


def test_the_end_marks_row_is_left_out():
    alpha = hard(0, 1, source_length=2)
    other = alpha.copy()
    other[-1] = 1 / 3
    assert attention_statistics([alpha]) == attention_statistics([other])


def test_entropies_are_averaged_over_words_and_orders_over_sentences():
    even = np.full((2, 4), 1 / 4)  # one word, 2 bits, no order
    sharp = hard(0, 1, 2, source_length=3)  # three words, 0 bits, τ = 1
    turned = hard(1, 0, source_length=2)  # two words, 0 bits, τ = −1
    result = attention_statistics([even, sharp, turned])
    assert result.entropy == pytest.approx(2 / 6)
    assert result.monotonicity == pytest.approx(0.0)
    assert result.num_sentences == 3


def test_nothing_to_look_at():
    assert attention_statistics([]) == AttentionStatistics(None, None, None, 0)
    assert attention_statistics([np.ones((1, 1))]) == AttentionStatistics(None, None, None, 1)


@given(st.lists(st.integers(0, 6), max_size=12))
def test_tau_b_agrees_with_counting_pairs(positions):
    up = down = tied = 0
    for a in range(len(positions)):
        for b in range(a + 1, len(positions)):
            up += positions[a] < positions[b]
            down += positions[a] > positions[b]
            tied += positions[a] == positions[b]
    tau = kendall_tau(np.array(positions, dtype=int))
    if up + down == 0:
        assert tau is None
    else:
        assert tau == pytest.approx((up - down) / ((up + down + tied) * (up + down)) ** 0.5)
        assert -1 <= tau <= 1
