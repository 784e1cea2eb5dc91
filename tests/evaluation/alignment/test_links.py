import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.errors import ConfigError
from regard.evaluation.alignment import SYMMETRIZERS, LabelledAlpha, LinkRule, in_order
from regard.evaluation.alignment.links import (
    argmax_links,
    flip,
    grow_diag,
    grow_diag_final,
    grow_diag_final_and,
    intersection,
    threshold_links,
    union,
)

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


def test_invalid_rules_are_refused():
    with pytest.raises(ConfigError, match=r"threshold = 0: an attention weight is between 0 and 1; try 0.3"):
        LinkRule(threshold=0)
    with pytest.raises(ConfigError, match=r"'unoin': there is no such rule; did you mean 'union'\?"):
        LinkRule(symmetrize="unoin")


def test_links_are_ordered_by_target_word_first():
    assert in_order(frozenset({(2, 0), (0, 1), (0, 0)})) == [(0, 0), (2, 0), (0, 1)]
