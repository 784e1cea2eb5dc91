"""The progress of a partial hypothesis with its phrases, against a search through all its words."""

from itertools import permutations, product

from hypothesis import given
from hypothesis import strategies as st

from regard.search.phrases import SentencePhrases, choose_by_bank

words = st.integers(1, 3)
phrases = st.lists(st.lists(words, min_size=1, max_size=4).map(tuple), min_size=1, max_size=3)


def holds(ids, phrase):
    return any(ids[k : k + len(phrase)] == phrase for k in range(len(ids)))


def progress_of(watched, ids):
    progress = watched.start
    for word in ids:
        progress = watched.after(progress, word)
    return progress


@given(phrases, st.lists(words, max_size=8))
def test_a_phrase_is_met_where_it_stands_in_the_words(required, ids):
    watched = SentencePhrases(required)
    progress = progress_of(watched, ids)
    for phrase, done in zip(watched.phrases, progress, strict=True):
        assert (done == len(phrase)) == holds(tuple(ids), phrase)
    assert (watched.needed(progress) == 0) == all(holds(tuple(ids), phrase) for phrase in required)


@given(phrases, st.lists(words, max_size=4))
def test_the_fewest_words_are_the_fewest(required, ids):
    """Every continuation that is shorter lacks something, and the words offered lead to one that lacks nothing."""
    watched = SentencePhrases(required)
    progress = progress_of(watched, ids)
    fewest = watched.needed(progress)
    for size in range(min(fewest, 6)):
        for more in product((1, 2, 3), repeat=size):
            assert not all(holds((*ids, *more), phrase) for phrase in required)
    while fewest:
        nearer = [watched.after(progress, word) for word in watched.next_words(progress)]
        progress = min(nearer, key=watched.needed)
        assert watched.needed(progress) == fewest - 1
        fewest -= 1


def test_many_phrases_are_laid_one_after_another():
    """No overlaps are looked for among more than eight others, and the words offered still lead to the end."""
    required = [(k, k + 1) for k in range(1, 12)]
    watched = SentencePhrases(required)
    progress, ids = watched.start, []
    assert 12 <= watched.needed(progress) <= 22
    while fewest := watched.needed(progress):
        word = min(watched.next_words(progress), key=lambda one: watched.needed(watched.after(progress, one)))
        progress = watched.after(progress, word)
        assert watched.needed(progress) < fewest
        ids.append(word)
    assert all(holds(tuple(ids), phrase) for phrase in required)


def test_parts_of_other_phrases_and_repetitions_are_dropped():
    assert SentencePhrases([(1, 2), (2,), (1, 2), (3,)]).phrases == ((1, 2), (3,))


def test_banks_choose_by_bank():
    totals = [-1.0, -2.0, -3.0, -4.0, -5.0, -6.0]
    lacking = [2, 2, 2, 1, 1, 0]
    # the best of each bank, least lacking first: 5, 3, 0; then their seconds: 4, 1
    assert choose_by_bank(totals, lacking, 1) == [5]
    assert choose_by_bank(totals, lacking, 2) == [3, 5]
    assert choose_by_bank(totals, lacking, 3) == [0, 3, 5]
    assert choose_by_bank(totals, lacking, 4) == [0, 3, 4, 5]
    assert choose_by_bank(totals, lacking, 9) == [0, 1, 2, 3, 4, 5]


def test_without_phrases_lacking_the_best_are_taken_whatever_their_order():
    for totals in permutations([-1.0, -2.0, -3.0]):
        chosen = choose_by_bank(totals, [0, 0, 0], 2)
        assert [totals[k] for k in chosen] == [-1.0, -2.0]
