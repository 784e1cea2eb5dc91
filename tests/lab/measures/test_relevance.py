import math

import numpy as np
import pytest

from regard.errors import DataError
from regard.lab.measures.relevance import (
    attention_by_distance,
    collect_pairs,
    lift,
    mean_lift,
    shift_to_prediction,
)

WORDS = ["a", "b", "c", "d", "e", "."]
LINKS = [
    frozenset({(0, 1), (1, 3), (2, 4)}),
    frozenset({(0, 2), (2, 3), (1, 4)}),
    frozenset({(1, 2), (0, 4)}),
]


def rows_by(weigh):
    """Attention of every word over those before it, in proportion to weigh(sentence, step, place)."""
    alphas = []
    for k in range(len(LINKS)):
        alpha = np.zeros((6, 6))
        for step in range(1, 6):
            weights = np.array([weigh(k, step, place) for place in range(step)])
            alpha[step, :step] = weights / weights.sum()
        alphas.append(alpha)
    return alphas


def plain_lift(alphas, key):
    """The same by dictionaries and loops."""
    relevant, others = {}, {}
    for k, alpha in enumerate(alphas):
        for step in range(1, 5):
            for place in range(step):
                side = relevant if (place, step) in LINKS[k] else others
                side.setdefault(key(k, step, place), []).append(alpha[step, place])
    shared = relevant.keys() & others.keys()
    given = sum(sum(relevant[s]) for s in shared)
    expected = sum(len(relevant[s]) * sum(others[s]) / len(others[s]) for s in shared)
    return given / expected, sum(len(relevant[s]) for s in shared)


def found(alphas):
    return collect_pairs(alphas, [WORDS] * 3, LINKS)


@pytest.mark.parametrize("by", ["by_place", "by_word"])
def test_attention_that_hangs_on_step_and_distance_alone_has_a_lift_of_one(by):
    alphas = rows_by(lambda k, step, place: 2.0 ** (place - step) + 0.1 * step)
    pairs = found(alphas)
    one = lift(pairs, getattr(pairs, by))
    assert (one.value, one.low, one.high) == pytest.approx((1, 1, 1))
    curves = attention_by_distance(pairs, 3)
    assert curves["relevant"] == pytest.approx(curves["other"])


def test_relevant_words_that_get_more_lift_it_as_a_plain_count_says():
    alphas = rows_by(
        lambda k, step, place: (3.0 if (place, step) in LINKS[k] else 1.0) + 0.2 * place + 0.1 * k
    )
    pairs = found(alphas)
    value, num_pairs = plain_lift(alphas, lambda k, step, place: (step, step - place))
    one = lift(pairs, pairs.by_place)
    assert (one.value, one.pairs) == (pytest.approx(value), num_pairs)
    assert one.value > 1.5
    assert one.low <= one.value <= one.high


def test_a_word_that_always_gets_attention_lifts_the_place_but_not_the_word():
    # x gets 0.8 of z's attention whatever is relevant, which is x two times in three
    lines = [["x", "y", "z", "."]] * 3 + [["y", "x", "z", "."]] * 3
    links = [frozenset({(place, 2)}) for place in (0, 0, 1, 1, 1, 0)]
    alphas = []
    for words in lines:
        alpha = np.zeros((4, 4))
        alpha[1, 0] = 1
        alpha[2, words.index("x")], alpha[2, words.index("y")] = 0.8, 0.2
        alphas.append(alpha)
    pairs = collect_pairs(alphas, lines, links)
    assert lift(pairs, pairs.by_place).value == pytest.approx((0.8 + 0.8 + 0.2) / (0.8 + 0.2 + 0.2))
    assert lift(pairs, pairs.by_word).value == pytest.approx(1)


def test_intervals_are_of_sentences_drawn_again():
    alphas = rows_by(lambda k, step, place: 4.0 - k if (place, step) in LINKS[k] else 1.0)
    pairs = found(alphas)
    one = lift(pairs, pairs.by_place)
    assert one.low < one.value < one.high
    assert one == lift(pairs, pairs.by_place)
    # sentences that are all alike leave nothing to chance
    alike = collect_pairs([alphas[0], alphas[1]] * 9, [WORDS] * 18, [LINKS[0], frozenset()] * 9)
    same = lift(alike, alike.by_place)
    assert same.low == pytest.approx(same.value) == same.high


def test_curves_meet_others_at_the_steps_of_the_relevant():
    alphas = rows_by(lambda k, step, place: 1.0)
    curves = attention_by_distance(found(alphas), 5)
    # uniform attention is 1/step, and a relevant word is met at another mix of steps than the others
    assert curves["relevant"] == pytest.approx(curves["other"], nan_ok=True)
    assert math.isnan(curves["relevant"][4])


def test_nothing_to_compare_is_not_a_number():
    pairs = collect_pairs([np.eye(3)], [["a", "b", "."]], [frozenset({(0, 1)})])
    one = lift(pairs, pairs.by_place)
    assert math.isnan(one.value)
    assert one.pairs == 0


def test_only_steps_that_have_something_relevant():
    pairs = found(rows_by(lambda k, step, place: 1.0))
    kept = pairs.with_choice()
    rows = {(k, later) for k, links in enumerate(LINKS) for _, later in links}
    assert set(zip(kept.sentence.tolist(), kept.step.tolist(), strict=True)) == rows
    assert kept.relevant.sum() == pairs.relevant.sum() == 8
    farther = pairs.beyond(1)
    assert farther.distance.min() == 2
    assert farther.relevant.sum() == sum(later - earlier > 1 for links in LINKS for earlier, later in links)


def test_the_word_before_and_the_full_stop():
    alphas = rows_by(lambda k, step, place: 1.0 if place == step - 1 else 1e-9)
    pairs = found(alphas)
    assert pairs.word_before == pytest.approx(1)
    assert pairs.step.max() == 4  # the full stop looks at nothing


def test_the_next_word_s_links():
    assert shift_to_prediction(frozenset({(0, 1), (0, 3), (2, 3)})) == {(0, 2)}


def test_what_does_not_fit_is_refused():
    with pytest.raises(DataError, match=r"line 0 \('a b \.'\): attention of shape \(2, 2\)"):
        collect_pairs([np.zeros((2, 2))], [["a", "b", "."]], [frozenset()])
    with pytest.raises(DataError, match="a link beyond its 3 words"):
        collect_pairs([np.zeros((3, 3))], [["a", "b", "."]], [frozenset({(0, 3)})])


def test_the_mean_lift_is_of_one_kind_and_one_comparison():
    models = [
        {
            "trained": {"by_place": {"value": value}, "next": {"value": 9.0}},
            "untrained": {"by_place": {"value": 1.0}},
        }
        for value in (1.0, 2.0, 6.0)
    ]
    assert mean_lift(models, "trained", "by_place") == 3
    assert mean_lift(models, "trained", "next") == 9
    assert mean_lift(models, "untrained", "by_place") == 1
