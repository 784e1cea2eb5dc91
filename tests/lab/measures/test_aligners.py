"""Kinds of links by hand, aligners against gold links, and pairs chosen by their gold links."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.datasets import Example
from regard.lab.measures.aligners import (
    KINDS,
    LONG,
    MANY,
    REORDERING,
    WITHOUT,
    Decodings,
    LinkedShare,
    attention_received,
    choose_examples,
    compare_aligners,
    correct_by_kind,
    diagonal_aer,
    diagonal_links,
    linked_words,
    most_crossing,
    pair_json,
    unlinked_sources,
    weight_on_gold,
    words_by_kind,
)
from regard.tasks.translate.result import Translation
from regard.text import GoldLinks, parse_pharaoh

SWAPPED = Example("red cars stop .", "voitures rouges stoppent .", parse_pharaoh("0-1 1-0 2-2 3-3", "here"))
KEPT = Example("she comes on Friday .", "elle vient vendredi .", parse_pharaoh("0-0 1-1 3-2 4-3", "here"))


def read(example, rows, text=None):
    """A translation that attends as expected, the last row and column being EOS."""
    source, target = example.source.split(), (text or example.target).split()
    alpha = np.asarray(rows, dtype=float)
    return Translation(
        source=example.source,
        text=text or example.target,
        source_tokens=(*source, "</s>"),
        tokens=(*target, "</s>"),
        score=0.0,
        log_prob=0.0,
        token_log_probs=(0.0,) * (len(target) + 1),
        alpha=alpha,
        source_words=(*range(len(source)), None),
        target_words=(*range(len(target)), None),
    )


def as_gold(example):
    """Attention on the gold links, and of the end on the end."""
    num_sources, num_targets = len(example.source.split()), len(example.target.split())
    alpha = np.zeros((num_targets + 1, num_sources + 1))
    for j, i in example.gold.sure:
        alpha[i, j] = 1
    alpha[-1, -1] = 1
    return alpha


def even(example):
    num_sources, num_targets = len(example.source.split()), len(example.target.split())
    return np.full((num_targets + 1, num_sources + 1), 1 / (num_sources + 1))


@pytest.fixture
def reading():
    examples = (SWAPPED, KEPT)
    return Decodings(
        trained=[read(e, as_gold(e)) for e in examples],
        untrained=[read(e, even(e)) for e in examples],
        output=[read(SWAPPED, even(SWAPPED), "voitures vertes stoppent ."), read(KEPT, as_gold(KEPT))],
    )


def test_a_known_alignment(reading):
    numbers = compare_aligners([SWAPPED, KEPT], reading)
    assert numbers["aligners"]["attention"] == {"aer": 0, "precision": 100, "recall": 100, "weight": 100}
    # of the swapped pair the diagonal has the last two; of the other it has (0, 0), (1, 1), (3, 2), (4, 3)
    assert numbers["aligners"]["diagonal"] == pytest.approx(
        {"aer": 25, "precision": 75, "recall": 75, "weight": 75}
    )
    assert diagonal_aer([SWAPPED, KEPT]) == pytest.approx(25)
    # where all are equal the first source word is taken for the strongest: right once, in the second pair
    assert numbers["aligners"]["untrained"] == pytest.approx(
        {"aer": 75, "precision": 25, "recall": 25, "weight": 100 * (4 / 5 + 4 / 6) / 8}
    )


def test_kinds_of_words_are_told_apart(reading):
    kinds = compare_aligners([SWAPPED, KEPT], reading)["kinds"]
    assert kinds["crossing"] == {"words": 2, "attention": 100, "diagonal": 0, "untrained": 50}
    assert kinds["in order"] == pytest.approx(
        {"words": 6, "attention": 100, "diagonal": 100, "untrained": 100 / 6}
    )


def test_the_weight_of_crossing_words_is_theirs_alone(reading):
    found = compare_aligners([SWAPPED, KEPT], reading)["crossing_weight"]
    # the diagonal has none of the two; even attention gives each a fifth, over four words and the end
    assert found == pytest.approx({"attention": 100, "diagonal": 0, "untrained": 20})


def test_own_output_counts_where_it_is_the_reference(reading):
    own = compare_aligners([SWAPPED, KEPT], reading)["own_output"]
    assert own == {
        "sentences": 1,
        "furthest_from_forced": 0,
        "aer": 0,
        "precision": 100,
        "recall": 100,
        "weight": 100,
    }
    moved = as_gold(KEPT)
    moved[1, 1], moved[1, 2] = 0.75, 0.25
    again = Decodings(reading.trained, reading.untrained, [reading.output[0], read(KEPT, moved)])
    own = compare_aligners([SWAPPED, KEPT], again)["own_output"]
    assert own["furthest_from_forced"] == 0.25
    assert own["weight"] == pytest.approx(100 * 3.75 / 4)
    never = Decodings(reading.trained, reading.untrained, [reading.output[0], reading.output[0]])
    assert compare_aligners([SWAPPED, KEPT], never)["own_output"] == {"sentences": 0}


def test_what_words_without_counterpart_get():
    gold, alpha = [KEPT.gold], as_gold(KEPT)
    alpha[2] = [0, 0, 0.5, 0.25, 0, 0.25]
    assert attention_received(gold, [alpha]) == pytest.approx(
        {"words": 1, "received": 0.5, "received_by_others": 3.25 / 4}
    )
    assert np.isnan(attention_received([SWAPPED.gold], [as_gold(SWAPPED)])["received"])


def test_rows_that_do_not_sum_to_one_are_told(reading):
    assert compare_aligners([SWAPPED, KEPT], reading)["sum_of_a_row"] == 0
    short = as_gold(SWAPPED)
    short[2] *= 0.75
    again = Decodings([read(SWAPPED, short), reading.trained[1]], reading.untrained, reading.output)
    assert compare_aligners([SWAPPED, KEPT], again)["sum_of_a_row"] == pytest.approx(0.25)


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
    assert unlinked_sources(EATEN, 7) == {5}


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
    found = correct_by_kind([right, wrong], [EATEN, EATEN])
    assert found["in order"] == LinkedShare(1, 6)
    assert found["crossing"] == LinkedShare(2, 6)
    assert found["many-to-one"] == LinkedShare(1, 2)
    assert found["one-to-many"] == LinkedShare(1, 4)
    assert found["in order"].percent == pytest.approx(100 / 6)
    assert np.isnan(found["no sure link"].percent)


@given(st.lists(golds, min_size=1, max_size=2))
def test_gold_links_find_everything_and_no_links_nothing(gold):
    for kind, share in correct_by_kind([each.possible for each in gold], gold).items():
        assert share.correct == share.words, kind
    assert not any(share.correct for share in correct_by_kind([frozenset()] * len(gold), gold).values())


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


def pair(source, target, gold):
    return Example(source, target, parse_pharaoh(gold, "here"))


PLAIN = pair("she eats .", "elle mange .", "0-0 1-1 2-2")
TURNED = pair("he sees them but not me", "il les voit mais moi pas", "0-0 1-2 2-1 3-3 4-5 5-4")
HELPED = pair("we will wash and will eat", "nous laverons et mangerons", "0-0 1?1 2-1 3-2 4?3 5-3")
MISSING = pair("she comes on Friday", "elle vient vendredi", "0-0 1-1 3-2")
LENGTHY = pair("because a cat that danced is bigger", "parce qu' un chat qui a dansé est plus grand",
               "0-0 0-1 1-2 2-3 3-4 4-5 4-6 5-7 6-8 6-9")  # fmt: skip
ALL = [PLAIN, TURNED, HELPED, MISSING, LENGTHY]


def test_each_is_the_first_of_its_kind():
    assert choose_examples(ALL) == {REORDERING: 1, MANY: 2, WITHOUT: 3, LONG: 4}
    once = pair("he sees them", "il les voit", "0-0 1-2 2-1")
    assert choose_examples([once, TURNED]) == {REORDERING: 1}, "two crossing words are few"
    assert choose_examples([LENGTHY, *ALL]) == {REORDERING: 2, MANY: 3, WITHOUT: 4, LONG: 0}


def test_a_pair_is_shown_once_and_what_is_not_there_is_left_out():
    both = pair("he will see them on Sunday but will not hear me",
                "il les verra dimanche mais il ne moi entendra pas", "0-0 1?2 2-2 3-1 8-9 9-8 7?8 10-7")  # fmt: skip
    assert choose_examples([both]) == {REORDERING: 0}, "it would do for the next two as well"
    assert choose_examples([PLAIN]) == {}


def test_the_long_one_is_as_long_as_any():
    assert LONG not in choose_examples([*ALL, pair("a b c d e f g h", "a b c d e f g h", "0-0")])


def test_where_to_look():
    assert linked_words(REORDERING, TURNED) == "“sees them … not me” is “les voit … moi pas”"
    assert linked_words(MANY, HELPED) == "“will wash” is “laverons”, “will eat” is “mangerons”"
    assert linked_words(WITHOUT, MISSING) == "“on”"
    assert (
        linked_words(LONG, LENGTHY)
        == "“because” is “parce qu'”, “danced” is “a dansé”, “bigger” is “plus grand”"
    )


def test_a_pair_in_words_can_be_read_again():
    expected = pair_json(HELPED)
    assert pair(expected["source"], expected["target"], expected["gold"]) == HELPED


def test_the_first_with_the_most_crossing_words():
    few, more, same = (pair("a b c", "a b c", gold) for gold in ("0-1 1-0", "0-2 1-1 2-0", "0-2 2-0 1-1"))
    assert most_crossing([PLAIN, few, more, same]) == 2
