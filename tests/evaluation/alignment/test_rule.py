import numpy as np
import pytest

from regard.errors import ConfigError
from regard.evaluation.alignment import SYMMETRIZERS, LabelledAlpha, LinkRule, in_order


def attention(*rows):
    """Attention over words; labels are not looked at."""
    return LabelledAlpha(np.array(rows), (), ())


# two source words, three target words, and the end marks
FORWARD = attention([0.7, 0.3, 0], [0.4, 0.6, 0], [0.2, 0.1, 0.7], [0, 0, 1])
BACKWARD = attention([0.9, 0, 0, 0.1], [0, 0.3, 0.6, 0.1], [0, 0, 0, 1])


def test_one_direction():
    assert LinkRule().links(FORWARD) == {(0, 0), (1, 1)}
    assert LinkRule(threshold=0.3).links(FORWARD) == {(0, 0), (1, 0), (0, 1), (1, 1)}
    assert LinkRule().links(FORWARD, BACKWARD) == LinkRule().links(FORWARD)


@pytest.mark.parametrize("name", SYMMETRIZERS)
def test_two_directions(name):
    there, back = frozenset({(0, 0), (1, 1)}), frozenset({(0, 0), (1, 2)})
    assert LinkRule(symmetrize=name).links(FORWARD, BACKWARD) == SYMMETRIZERS[name](there, back)


def test_the_threshold_holds_for_both_directions():
    rule = LinkRule(threshold=0.3, symmetrize="intersection")
    assert rule.links(FORWARD, BACKWARD) == {(0, 0), (1, 1)}


def test_a_blank_pair_has_no_links():
    assert LinkRule(threshold=0.1).links(None) == frozenset()
    assert LinkRule(symmetrize="union").links(None, None) == frozenset()


def test_what_cannot_be_is_told_at_once():
    with pytest.raises(
        ConfigError, match=r"threshold = 0: a weight of attention lies between 0 and 1; try 0.3"
    ):
        LinkRule(threshold=0)
    with pytest.raises(ConfigError, match=r"'unoin': there is no such rule; did you mean 'union'\?"):
        LinkRule(symmetrize="unoin")


def test_links_are_ordered_by_target_word_first():
    assert in_order(frozenset({(2, 0), (0, 1), (0, 0)})) == [(0, 0), (2, 0), (0, 1)]
