from functools import cache

from hypothesis import given, settings
from hypothesis import strategies as st

from regard.evaluation import edit_distance
from regard.evaluation.text import TextOptions, nearest_reference


def plain(first, second):
    """The definition as a recursion."""

    @cache
    def distance(i, j):
        if i == 0 or j == 0:
            return i + j
        return min(
            distance(i - 1, j) + 1,
            distance(i, j - 1) + 1,
            distance(i - 1, j - 1) + (first[i - 1] != second[j - 1]),
        )

    return distance(len(first), len(second))


few = st.text("abc", max_size=14)


@given(few, few)
@settings(max_examples=300)
def test_agrees_with_the_recursion_on_text(first, second):
    assert edit_distance(first, second) == plain(first, second)


@given(st.lists(st.sampled_from(["le", "la", "chat", "noir"]), max_size=80), st.data())
@settings(max_examples=30)
def test_agrees_with_the_recursion_on_words_beyond_a_machine_word(first, data):
    second = data.draw(st.lists(st.sampled_from(["le", "la", "chat", "noir"]), min_size=60, max_size=80))
    assert edit_distance(first, second) == plain(first, second)


@given(few, few, few)
def test_is_a_distance(a, b, c):
    assert edit_distance(a, b) == edit_distance(b, a)
    assert (edit_distance(a, b) == 0) == (a == b)
    assert edit_distance(a, c) <= edit_distance(a, b) + edit_distance(b, c)


def test_by_hand():
    assert edit_distance("kitten", "sitting") == 3
    assert edit_distance("", "abc") == edit_distance("abc", "") == 3
    assert edit_distance("aa", "aaa") == 1
    assert edit_distance(["the", "cat"], ["the", "black", "cat"]) == 1


def test_the_nearest_of_several_references():
    symbols, characters = TextOptions(unit="symbols"), TextOptions(unit="characters")
    assert nearest_reference("a b c", ["x y z", "a b", "a c"], symbols) == "a b"
    # by symbols both differ in one, by characters the second is nearer
    assert nearest_reference("abc d", ["xyz d", "abx d"], symbols) == "xyz d"
    assert nearest_reference("abc d", ["xyz d", "abx d"], characters) == "abx d"
    assert nearest_reference("a b", ["a c", "A B"], symbols) == "a c"
    assert nearest_reference("a b", ["a c", "A B"], TextOptions(lowercase=True)) == "A B"
