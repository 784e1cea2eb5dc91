import numpy as np
import pytest

from regard.errors import DataError
from regard.evaluation.alignment.words import merge_alpha, word_units


def test_words_and_the_marks_at_the_ends():
    units = word_units("the cats", ("<s>", "the", "cat", "s", "</s>"), (None, 0, 1, 1, None))
    assert units.labels == ("<s>", "the", "cats", "</s>")
    np.testing.assert_array_equal(
        units.membership, [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
    )


@pytest.mark.parametrize(
    ("tokens", "words", "labels"),
    [
        (("the", "cats"), (0, 1), ("the", "cats")),
        (("<s>", "the", "cats"), (None, 0, 1), ("<s>", "the", "cats")),
        (("the", "cats", "</s>"), (0, 1, None), ("the", "cats", "</s>")),
        (("<s>",), (None,), ("<s>",)),
        (("<s>", "</s>"), (None, None), ("<s>", "</s>")),
        ((), (), ()),
    ],
)
def test_both_marks_one_or_none(tokens, words, labels):
    units = word_units("the cats", tokens, words)
    assert units.labels == labels
    assert units.membership.shape == (len(tokens), len(labels))
    assert (units.membership.sum(axis=1) == 1).all()


def test_a_blank_inside_belongs_to_nothing():
    units = word_units("a b", ("a", "␣", "b"), (0, None, 1))
    assert units.labels == ("a", "b")
    np.testing.assert_allclose(units.attended(np.array([0.25, 0.25, 0.5])), [0.25, 0.5])


def test_agrees_with_the_merging_of_a_translation():
    rng = np.random.default_rng(0)
    words = (0, 0, 1, None, 2, 2, 2, None)
    alpha = rng.random((8, 8))
    units = word_units("one two three", ("o", "ne", "two", "␣", "th", "re", "e", "</s>"), words)
    merged = units.attending(units.attended(alpha))
    np.testing.assert_allclose(merged, merge_alpha(alpha, words, words))


def test_one_word_number_a_token():
    with pytest.raises(DataError, match="'a b': 1 words for 2 tokens"):
        word_units("a b", ("a", "b"), (0,))
