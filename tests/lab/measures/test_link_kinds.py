import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.lab.measures.aligners import (
    KINDS,
    Share,
    diagonal_links,
    shares_found,
    sources_without,
    weight_on_gold,
    words_by_kind,
)
from regard.text import GoldLinks, parse_pharaoh

links = st.frozensets(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=10)
golds = st.builds(GoldLinks, links, links)

# "he will not eat it on Friday" is "il ne le mangera pas vendredi"
EATEN = parse_pharaoh("0-0 2-1 2-4 3-3 1?3 4-2 6-5", "here")


def test_a_sentence_by_hand():
    assert words_by_kind(EATEN) == {
        "in order": {0, 1, 5},  # "ne" too: all that follows "not" follows it
        "crossing": {2, 3, 4},
        "many-to-one": {3},
        "one-to-many": {1, 4},
        "no sure link": set(),
    }
    assert sources_without(EATEN, 7) == {5}


def test_only_possible_links_are_no_sure_ones():
    kinds = words_by_kind(parse_pharaoh("0?0 0?1 1-2 1?3", "here"))
    assert kinds["no sure link"] == {0, 1, 3}
    assert kinds["in order"] == {2}
    assert kinds["one-to-many"] == set(), "judged by sure links"


@given(st.permutations(range(6)))
def test_of_a_permutation_those_cross_that_are_in_an_inversion(order):
    gold = GoldLinks(frozenset((j, i) for i, j in enumerate(order)))
    inverted = set()
    for i in range(6):
        for h in range(i + 1, 6):
            if order[i] > order[h]:
                inverted |= {i, h}
    assert words_by_kind(gold)["crossing"] == inverted


@given(golds)
def test_order_divides_the_linked_words(gold):
    kinds = words_by_kind(gold)
    parts = [kinds[kind] for kind in ("in order", "crossing", "no sure link")]
    assert frozenset().union(*parts) == {i for _, i in gold.possible}
    assert sum(map(len, parts)) == len({i for _, i in gold.possible})
    assert tuple(kinds) == KINDS


@given(st.integers(1, 12), st.integers(1, 12))
def test_the_diagonal_runs_from_corner_to_corner(num_sources, num_targets):
    found = sorted((i, j) for j, i in diagonal_links(num_sources, num_targets))
    assert [i for i, _ in found] == list(range(num_targets)), "one link a target word"
    assert found[0] == (0, 0)
    if num_targets > 1:
        assert found[-1] == (num_targets - 1, num_sources - 1)
    steps = [j for _, j in found]
    assert steps == sorted(steps)
    for i, j in found:
        assert abs(j - i * (num_sources - 1) / max(num_targets - 1, 1)) <= 0.5


def test_of_equal_lengths_the_diagonal_is_word_by_word():
    assert diagonal_links(4, 4) == {(0, 0), (1, 1), (2, 2), (3, 3)}


def test_shares_by_hand():
    right, wrong = frozenset({(0, 0), (3, 3), (2, 4)}), frozenset({(0, 1), (5, 5)})
    found = shares_found([right, wrong], [EATEN, EATEN])
    assert found["in order"] == Share(1, 6)
    assert found["crossing"] == Share(2, 6)
    assert found["many-to-one"] == Share(1, 2)
    assert found["one-to-many"] == Share(1, 4)
    assert found["in order"].percent == pytest.approx(100 / 6)
    assert np.isnan(found["no sure link"].percent)


@given(st.lists(golds, min_size=1, max_size=2))
def test_gold_links_find_everything_and_no_links_nothing(gold):
    for kind, share in shares_found([each.possible for each in gold], gold).items():
        assert share.found == share.words, kind
    assert not any(share.found for share in shares_found([frozenset()] * len(gold), gold).values())


def test_weight_on_gold_by_hand():
    gold = parse_pharaoh("0-0 1?0 2-1", "here")
    alpha = np.array([[0.5, 0.2, 0.2, 0.1], [0.3, 0.3, 0.3, 0.1], [1.0, 0.0, 0.0, 0.0]])
    assert weight_on_gold([alpha], [gold]) == pytest.approx((0.7 + 0.3) / 2)
    assert weight_on_gold([alpha, alpha], [gold, GoldLinks(frozenset({(0, 1)}))]) == pytest.approx(1.3 / 3)
    assert np.isnan(weight_on_gold([alpha], [GoldLinks(frozenset())]))


def test_weight_on_gold_of_one_kind():
    swapped = parse_pharaoh("0-1 1-0 0?0 2-2", "here")
    alpha = np.array([[0.1, 0.6, 0.2, 0.1], [0.5, 0.3, 0.1, 0.1], [0, 0, 1.0, 0], [0, 0, 0, 1.0]])
    assert weight_on_gold([alpha], [swapped], "crossing") == pytest.approx((0.6 + 0.1 + 0.5) / 2)
    assert weight_on_gold([alpha], [swapped], "in order") == pytest.approx(1.0)
    assert np.isnan(weight_on_gold([alpha], [swapped], "no sure link"))
