import numpy as np
import pytest

from regard.errors import ConfigError
from regard.evaluation.alignment.links import argmax_links, threshold_links

ALPHA = np.array(
    [
        [0.1, 0.8, 0.1, 0.0],  # clear
        [0.3, 0.1, 0.1, 0.5],  # the end mark is stronger
        [0.4, 0.1, 0.1, 0.4],  # as strong as the end mark
        [0.1, 0.4, 0.4, 0.1],  # two alike
        [0.0, 0.0, 0.0, 0.0],  # nothing left
        [0.9, 0.0, 0.0, 0.1],  # the end mark's own row
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
