import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.errors import DataError
from regard.evaluation.alignment.words import merge_alpha, merged_words, text_units, word_labels


def slow_merge(alpha, source_words, target_words):
    """The docstring as loops."""
    num_source = max([w for w in source_words if w is not None], default=-1) + 1
    num_target = max([w for w in target_words if w is not None], default=-1) + 1
    merged = np.zeros((num_target + 1, num_source + 1))
    for i in range(num_target + 1):
        rows = (
            [y for y, w in enumerate(target_words) if w == i] if i < num_target else [len(target_words) - 1]
        )
        for j in range(num_source + 1):
            columns = (
                [x for x, w in enumerate(source_words) if w == j]
                if j < num_source
                else [len(source_words) - 1]
            )
            sums = [sum(alpha[y, x] for x in columns) for y in rows]
            merged[i, j] = sum(sums) / len(sums) if sums else 0.0
    return merged


word_numbers = st.lists(st.none() | st.integers(0, 5), max_size=9).map(lambda words: (*words, None))


@given(word_numbers, word_numbers, st.integers(0, 1000))
def test_agrees_with_loops(source_words, target_words, seed):
    alpha = np.random.default_rng(seed).dirichlet(np.ones(len(source_words)), size=len(target_words))
    merged = merge_alpha(alpha, source_words, target_words)
    np.testing.assert_allclose(merged, slow_merge(alpha, source_words, target_words), atol=1e-12)


def test_source_pieces_are_summed_and_target_pieces_averaged():
    alpha = np.array([[0.1, 0.2, 0.6, 0.1], [0.3, 0.4, 0.2, 0.1], [0.0, 0.0, 0.1, 0.9]], dtype=np.float32)
    merged = merge_alpha(alpha, (0, 0, 1, None), (0, 0, None))
    np.testing.assert_allclose(merged, [[0.5, 0.4, 0.1], [0.0, 0.1, 0.9]], atol=1e-7)


@given(st.lists(st.integers(0, 4), max_size=8), st.lists(st.integers(0, 4), max_size=8), st.integers(0, 1000))
def test_rows_sum_to_one_when_every_token_has_a_word(source, target, seed):
    source_words, target_words = (*source, None), (*target, None)
    alpha = np.random.default_rng(seed).dirichlet(np.ones(len(source_words)), size=len(target_words))
    merged = merge_alpha(alpha, source_words, target_words)
    has_tokens = [i in target for i in range(merged.shape[0] - 1)] + [True]
    np.testing.assert_allclose(merged.sum(axis=1), np.array(has_tokens, dtype=float), atol=1e-12)


def test_what_fell_on_a_blank_is_missing_from_the_row():
    # characters of "ab c": the blank between the words takes 0.5 of the attention
    alpha = np.array([[0.1, 0.1, 0.5, 0.2, 0.1], [0.0, 0.0, 0.0, 0.0, 1.0]])
    merged = merge_alpha(alpha, (0, 0, None, 1, None), (0, None))
    np.testing.assert_allclose(merged, [[0.2, 0.2, 0.1], [0.0, 0.0, 1.0]], atol=1e-12)


def test_a_wrong_shape_names_both():
    with pytest.raises(DataError, match=r"shape \(2, 3\).* 3 target and 2 source tokens"):
        merge_alpha(np.zeros((2, 3)), (0, None), (0, 1, None))


@pytest.mark.parametrize(("source", "target", "side"), [((0,), (None,), "source"), ((None,), (0,), "target")])
def test_a_side_without_end_mark_is_named(source, target, side):
    with pytest.raises(DataError, match=f"the {side} must end with EOS.*number is 0"):
        merge_alpha(np.ones((1, 1)), source, target)


def test_labels_are_the_words_of_the_line():
    assert word_labels("the cats", ("the", "cat", "s", "</s>"), (0, 1, 1, None)) == ("the", "cats", "</s>")


def test_labels_are_put_together_where_the_line_has_fewer_words():
    labels = word_labels("the cats.", ("the", "cat", "s", ".", "</s>"), (0, 1, 1, 2, None))
    assert labels == ("the", "cats", ".", "</s>")


def test_labels_of_a_line_cut_short_stop_with_it():
    assert word_labels("one two three", ("one", "two", "</s>"), (0, 1, None)) == ("one", "two", "</s>")


def test_words_and_the_marks_at_the_ends():
    units = text_units("the cats", ("<s>", "the", "cat", "s", "</s>"), (None, 0, 1, 1, None))
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
    units = text_units("the cats", tokens, words)
    assert units.labels == labels
    assert units.membership.shape == (len(tokens), len(labels))
    assert (units.membership.sum(axis=1) == 1).all()


def test_a_blank_inside_belongs_to_nothing():
    units = text_units("a b", ("a", "␣", "b"), (0, None, 1))
    assert units.labels == ("a", "b")
    np.testing.assert_allclose(units.attended(np.array([0.25, 0.25, 0.5])), [0.25, 0.5])


def test_agrees_with_the_merging_of_a_translation():
    rng = np.random.default_rng(0)
    words = (0, 0, 1, None, 2, 2, 2, None)
    alpha = rng.random((8, 8))
    units = text_units("one two three", ("o", "ne", "two", "␣", "th", "re", "e", "</s>"), words)
    merged = units.attending(units.attended(alpha))
    np.testing.assert_allclose(merged, merge_alpha(alpha, words, words))


def test_one_word_number_a_token():
    with pytest.raises(DataError, match="'a b': 1 words for 2 tokens"):
        text_units("a b", ("a", "b"), (0,))


def test_characters_are_never_merged():
    words = (0, 0, None, 1, None)
    assert merged_words(words, characters=False) == words
    assert merged_words(words, characters=True) == (0, 1, 2, 3, None)
    alpha = np.random.default_rng(0).dirichlet(np.ones(5), size=5)
    unmerged = merged_words(words, characters=True)
    np.testing.assert_allclose(merge_alpha(alpha, unmerged, unmerged), alpha)
    units = text_units("ab c", ("a", "b", "␣", "c", "</s>"), words, characters=True)
    assert units.labels == ("a", "b", "␣", "c", "</s>")
    np.testing.assert_allclose(units.attended(alpha), alpha)
    np.testing.assert_allclose(units.attending(alpha), alpha)
