import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.errors import ConfigError, DataError
from regard.evaluation.alignment import (
    SYMMETRIZATIONS,
    SYMMETRIZERS,
    LabelledAlpha,
    LinkRule,
    SoftLinks,
    agreement,
)
from regard.evaluation.alignment.links import (
    MEAN_THRESHOLD,
    PROBABILITY_THRESHOLD,
    argmax_links,
    flip,
    grow_diag,
    grow_diag_final,
    grow_diag_final_and,
    intersection,
    threshold_links,
    union,
)
from regard.text.links import GoldLinks, in_order

ALPHA = np.array(
    [
        [0.1, 0.8, 0.1, 0.0],  # clear
        [0.3, 0.1, 0.1, 0.5],  # EOS is stronger
        [0.4, 0.1, 0.1, 0.4],  # as strong as EOS
        [0.1, 0.4, 0.4, 0.1],  # two alike
        [0.0, 0.0, 0.0, 0.0],  # nothing left
        [0.9, 0.0, 0.0, 0.1],  # EOS's own row
    ]
)


def test_argmax_links_one_source_word_or_none():
    assert argmax_links(ALPHA) == {(1, 0), (0, 2), (1, 3)}


def test_threshold_links_all_that_are_strong_enough():
    assert threshold_links(ALPHA, 0.4) == {(1, 0), (0, 2), (1, 3), (2, 3)}
    assert threshold_links(ALPHA, 0.41) == {(1, 0)}


def test_links_are_plain_numbers():
    assert {
        type(number) for link in argmax_links(ALPHA) | threshold_links(ALPHA, 0.1) for number in link
    } == {int}


def test_nothing_but_end_marks_has_no_links():
    alpha = np.ones((1, 1))
    assert argmax_links(alpha) == threshold_links(alpha, 0.5) == frozenset()


@pytest.mark.parametrize("threshold", [0, -0.1, 1.01, float("nan")])
def test_a_threshold_out_of_range_is_named(threshold):
    with pytest.raises(ConfigError, match=f"threshold = {threshold}"):
        threshold_links(ALPHA, threshold)


links = st.frozensets(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=12)

# Both agree on (0, 0). (1, 1) touches it and is free; (2, 1) touches (1, 1), and its source word is free.
# (4, 3) touches nothing, with both words free. (4, 0) comes too late: both its words are taken by then.
# (5, 0) has a free source word only.
FORWARD = frozenset({(0, 0), (1, 1), (4, 3)})
BACKWARD = frozenset({(0, 0), (2, 1), (4, 0), (5, 0)})


def test_intersection_and_union_by_hand():
    assert intersection(FORWARD, BACKWARD) == {(0, 0)}
    assert union(FORWARD, BACKWARD) == {(0, 0), (1, 1), (4, 3), (2, 1), (4, 0), (5, 0)}


def test_grow_diag_by_hand():
    assert grow_diag(FORWARD, BACKWARD) == {(0, 0), (1, 1), (2, 1)}


def test_grow_diag_does_not_add_where_both_words_are_taken():
    forward = frozenset({(0, 0), (1, 1), (0, 1)})
    backward = frozenset({(0, 0), (1, 1)})
    assert grow_diag(forward, backward) == {(0, 0), (1, 1)}


def test_final_takes_links_with_one_free_word():
    assert grow_diag_final(FORWARD, BACKWARD) == {(0, 0), (1, 1), (2, 1), (4, 3), (5, 0)}


def test_final_and_takes_links_with_two_free_words():
    assert grow_diag_final_and(FORWARD, BACKWARD) == {(0, 0), (1, 1), (2, 1), (4, 3)}


def test_final_asks_the_forward_direction_first():
    forward, backward = frozenset({(3, 3)}), frozenset({(3, 0)})
    assert grow_diag_final_and(forward, backward) == forward
    assert grow_diag_final_and(backward, forward) == backward


def pseudo_code(forward, backward, final):
    """The heuristic as commonly printed: a walk over the whole grid with tables of what is aligned."""
    taken = set(forward & backward)
    either = forward | backward
    grew = True
    while grew:
        grew = False
        for i in range(6):
            for j in range(6):
                if (j, i) not in taken:
                    continue
                for dj, di in ((-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1)):
                    new = (j + dj, i + di)
                    free_j = new[0] not in {a for a, _ in taken}
                    free_i = new[1] not in {b for _, b in taken}
                    if new in either and new not in taken and (free_j or free_i):
                        taken.add(new)
                        grew = True
    for side in (forward, backward) if final else ():
        for i in range(6):
            for j in range(6):
                free_j, free_i = j not in {a for a, _ in taken}, i not in {b for _, b in taken}
                if (j, i) in side and final([free_j, free_i]):
                    taken.add((j, i))
    return taken


@given(links, links)
def test_agrees_with_the_walk_over_the_grid(forward, backward):
    assert grow_diag(forward, backward) == pseudo_code(forward, backward, None)
    assert grow_diag_final(forward, backward) == pseudo_code(forward, backward, any)
    assert grow_diag_final_and(forward, backward) == pseudo_code(forward, backward, all)


@given(links, links)
def test_each_lies_within_the_next(forward, backward):
    least, most = intersection(forward, backward), union(forward, backward)
    grown = grow_diag(forward, backward)
    assert least <= grown <= grow_diag_final_and(forward, backward) <= most
    assert grown <= grow_diag_final(forward, backward) <= most


@given(links)
def test_two_alike_stay_as_they_are(one):
    assert all(method(one, one) == one for method in SYMMETRIZERS.values())


@given(links, links)
def test_final_leaves_no_word_out_that_had_a_link(forward, backward):
    final = grow_diag_final(forward, backward)
    assert {j for j, _ in final} == {j for j, _ in forward | backward}
    assert {i for _, i in final} == {i for _, i in forward | backward}


@given(links)
def test_flip_turns_links_round_and_back(one):
    assert flip(one) == {(b, a) for a, b in one}
    assert flip(flip(one)) == one


def test_every_method_has_its_name():
    names = ["intersection", "union", "grow-diag", "grow-diag-final", "grow-diag-final-and"]
    methods = [intersection, union, grow_diag, grow_diag_final, grow_diag_final_and]
    assert list(SYMMETRIZERS.items()) == list(zip(names, methods, strict=True))
    assert (*names, "probability", "mean") == SYMMETRIZATIONS


def attention(*rows):
    """Attention over words; labels are not looked at."""
    return LabelledAlpha(np.array(rows), (), ())


# two source words, three target words, and EOS
FORWARD_ALPHA = attention([0.7, 0.3, 0], [0.4, 0.6, 0], [0.2, 0.1, 0.7], [0, 0, 1])
BACKWARD_ALPHA = attention([0.9, 0, 0, 0.1], [0, 0.3, 0.6, 0.1], [0, 0, 0, 1])


def test_one_direction():
    assert LinkRule().links(FORWARD_ALPHA) == {(0, 0), (1, 1)}
    assert LinkRule(threshold=0.3).links(FORWARD_ALPHA) == {(0, 0), (1, 0), (0, 1), (1, 1)}
    assert LinkRule().links(FORWARD_ALPHA, BACKWARD_ALPHA) == LinkRule().links(FORWARD_ALPHA)


@pytest.mark.parametrize("name", SYMMETRIZERS)
def test_two_directions(name):
    there, back = frozenset({(0, 0), (1, 1)}), frozenset({(0, 0), (1, 2)})
    assert LinkRule(symmetrize=name).links(FORWARD_ALPHA, BACKWARD_ALPHA) == SYMMETRIZERS[name](there, back)


def test_the_threshold_holds_for_both_directions():
    rule = LinkRule(threshold=0.3, symmetrize="intersection")
    assert rule.links(FORWARD_ALPHA, BACKWARD_ALPHA) == {(0, 0), (1, 1)}


def test_a_blank_pair_has_no_links():
    assert LinkRule(threshold=0.1).links(None) == frozenset()
    assert LinkRule(symmetrize="union").links(None, None) == frozenset()


def plain_reference(forward, backward, rule, threshold):
    """Every rule from two soft matrices (I + 1, J + 1) and (J + 1, I + 1), cell by cell."""
    num_target, num_source = forward.shape[0] - 1, forward.shape[1] - 1
    there, back, agreed, average = set(), set(), set(), set()
    for i in range(num_target):
        for j in range(num_source):
            p, q = forward[i][j], backward[j][i]
            if math.sqrt(p * q) >= (threshold or 0.3):
                agreed.add((j, i))
            if (p + q) / 2 >= (threshold or 0.45):
                average.add((j, i))
            if threshold is not None and p >= threshold:
                there.add((j, i))
            if threshold is not None and q >= threshold:
                back.add((j, i))
            if threshold is None and p > max([0, *forward[i][:j]]) and p >= max(forward[i]):
                there.add((j, i))
            if threshold is None and q > max([0, *backward[j][:i]]) and q >= max(backward[j]):
                back.add((j, i))
    plain = {"probability": agreed, "mean": average, "intersection": there & back, "union": there | back}
    if rule in plain:
        return plain[rule]
    final = {"grow-diag": None, "grow-diag-final": any, "grow-diag-final-and": all}[rule]
    return pseudo_code(frozenset(there), frozenset(back), final)


@pytest.mark.parametrize("threshold", [None, 0.25, 0.5])
@pytest.mark.parametrize("rule", SYMMETRIZATIONS)
def test_every_rule_agrees_with_a_plain_reference_on_random_matrices(rule, threshold):
    """Up to 6 × 6 words; some weights are equal, and some are 0."""
    rng = np.random.default_rng(0)
    seen = set()
    for _ in range(150):
        num_source, num_target = rng.integers(0, 7, size=2)
        forward, backward = (
            np.round(rng.random(size) ** 2, 1)
            for size in ((num_target + 1, num_source + 1), (num_source + 1, num_target + 1))
        )
        linked = LinkRule(threshold, rule)
        found = linked.links(attention(*forward), attention(*backward))
        assert found == plain_reference(forward, backward, rule, threshold)
        soft = linked.combine(
            linked.one_direction(attention(*forward)), linked.one_direction(attention(*backward)).flipped
        )
        assert soft.links == found
        for (j, i), probability in soft.annotated(digits=12).probabilities.items():
            p, q = forward[i, j], backward[j, i]
            assert probability == pytest.approx((p + q) / 2 if rule == "mean" else np.sqrt(p * q))
        seen |= found
    assert len(seen) > 20


def test_by_probability_both_directions_have_to_agree():
    """√(0.7 · 0.9) = 0.79, √(0.6 · 0.3) = 0.42, √(0.1 · 0.6) = 0.24."""
    soft = np.array([[0.7, 0.3], [0.4, 0.6], [0.2, 0.1]]), np.array([[0.9, 0, 0], [0, 0.3, 0.6]]).T
    assert agreement(*soft)[[0, 1, 2], [0, 1, 1]] == pytest.approx([0.7937, 0.4243, 0.2449], abs=1e-4)
    for threshold, links in ((None, {(0, 0), (1, 1)}), (0.5, {(0, 0)}), (0.2, {(0, 0), (1, 1), (1, 2)})):
        assert LinkRule(threshold, "probability").links(FORWARD_ALPHA, BACKWARD_ALPHA) == links
    assert PROBABILITY_THRESHOLD == 0.3


def test_by_probability_each_direction_takes_its_largest():
    """The threshold is of both together."""
    rule = LinkRule(0.9, "probability")
    assert rule.one_direction(FORWARD_ALPHA).links == {(0, 0), (1, 1)}


def test_by_the_mean_one_direction_that_is_sure_is_enough():
    """Both target words come from source word 0, which attends to one of them only."""
    forward = attention([0.95, 0.05], [0.92, 0.08], [0, 1])
    backward = attention([1, 0, 0], [0, 0, 1])
    assert LinkRule(None, "mean").links(forward, backward) == {(0, 0), (0, 1)}
    assert LinkRule(0.5, "mean").links(forward, backward) == {(0, 0)}
    assert LinkRule(None, "probability").links(forward, backward) == {(0, 0)}
    assert MEAN_THRESHOLD == 0.45


def test_directions_of_different_pairs_are_refused():
    with pytest.raises(DataError, match=r"\(2, 1\) and \(1, 2\) words in the two directions; give both as"):
        agreement(np.ones((2, 1)), np.ones((1, 2)))


class TestSoftLinks:
    GOLD = GoldLinks(frozenset({(0, 0)}), frozenset({(1, 2), (1, 1)}), {(0, 0): 0.75, (1, 2): 0.25})

    def test_of_a_file(self):
        soft = SoftLinks.of_file(self.GOLD, 2, 3)
        assert soft.weights.tolist() == [[0.75, 0], [0, 1], [0, 0.25]]
        assert soft.annotated(digits=4) == GoldLinks(
            self.GOLD.sure, self.GOLD.possible, {(0, 0): 0.75, (1, 1): 1.0, (1, 2): 0.25}
        )
        assert soft.annotated() == GoldLinks(self.GOLD.sure, self.GOLD.possible)

    def test_a_threshold_keeps_what_is_probable(self):
        soft = SoftLinks.of_file(self.GOLD, 2, 3, 0.5)
        assert soft.annotated() == GoldLinks(frozenset({(0, 0)}), frozenset({(1, 1)}))

    def test_a_word_that_the_tokenizer_does_not_count_has_no_weight(self):
        soft = SoftLinks.of_file(self.GOLD, 1, 2)
        assert soft.weights.tolist() == [[0.75], [0]]
        assert soft.links == self.GOLD.possible

    def test_flipped(self):
        flipped = SoftLinks.of_file(self.GOLD, 2, 3).flipped
        assert flipped.weights.shape == (2, 3)
        assert flipped.weights[1, 2] == 0.25
        assert flipped.annotated() == GoldLinks(frozenset({(0, 0)}), frozenset({(2, 1), (1, 1)}))

    def test_probabilities_are_the_weights_rounded(self):
        alpha = attention([0.123456, 0.2, 0], [0, 0, 1])
        assert LinkRule(0.1).one_direction(alpha).annotated(digits=4).probabilities == {
            (0, 0): 0.1235,
            (1, 0): 0.2,
        }


def test_invalid_rules_are_refused():
    with pytest.raises(ConfigError, match=r"threshold = 0: an attention weight is between 0 and 1; try 0.3"):
        LinkRule(threshold=0)
    with pytest.raises(ConfigError, match=r"'unoin': there is no such rule; did you mean 'union'\?"):
        LinkRule(symmetrize="unoin")


def test_links_are_ordered_by_target_word_first():
    assert in_order(frozenset({(2, 0), (0, 1), (0, 0)})) == [(0, 0), (2, 0), (0, 1)]
