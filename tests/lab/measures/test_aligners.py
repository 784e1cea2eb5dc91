import numpy as np
import pytest

from regard.datasets import Example
from regard.lab.measures.aligners import Reading, compare, diagonal_aer, received
from regard.tasks.translate.result import Translation
from regard.text import parse_pharaoh

SWAPPED = Example("red cars stop .", "voitures rouges stoppent .", parse_pharaoh("0-1 1-0 2-2 3-3", "here"))
KEPT = Example("she comes on Friday .", "elle vient vendredi .", parse_pharaoh("0-0 1-1 3-2 4-3", "here"))


def read(example, rows, text=None):
    """A translation that attends as told, the last row and column being the end marks."""
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
    return Reading(
        trained=[read(e, as_gold(e)) for e in examples],
        untrained=[read(e, even(e)) for e in examples],
        output=[read(SWAPPED, even(SWAPPED), "voitures vertes stoppent ."), read(KEPT, as_gold(KEPT))],
    )


def test_a_known_alignment(reading):
    numbers = compare([SWAPPED, KEPT], reading)
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
    kinds = compare([SWAPPED, KEPT], reading)["kinds"]
    assert kinds["crossing"] == {"words": 2, "attention": 100, "diagonal": 0, "untrained": 50}
    assert kinds["in order"] == pytest.approx(
        {"words": 6, "attention": 100, "diagonal": 100, "untrained": 100 / 6}
    )


def test_the_weight_of_crossing_words_is_theirs_alone(reading):
    found = compare([SWAPPED, KEPT], reading)["crossing_weight"]
    # the diagonal has none of the two; even attention gives each a fifth, over four words and the end
    assert found == pytest.approx({"attention": 100, "diagonal": 0, "untrained": 20})


def test_own_output_counts_where_it_is_the_reference(reading):
    own = compare([SWAPPED, KEPT], reading)["own_output"]
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
    again = Reading(reading.trained, reading.untrained, [reading.output[0], read(KEPT, moved)])
    own = compare([SWAPPED, KEPT], again)["own_output"]
    assert own["furthest_from_forced"] == 0.25
    assert own["weight"] == pytest.approx(100 * 3.75 / 4)
    never = Reading(reading.trained, reading.untrained, [reading.output[0], reading.output[0]])
    assert compare([SWAPPED, KEPT], never)["own_output"] == {"sentences": 0}


def test_what_words_without_counterpart_get():
    gold, alpha = [KEPT.gold], as_gold(KEPT)
    alpha[2] = [0, 0, 0.5, 0.25, 0, 0.25]
    assert received(gold, [alpha]) == pytest.approx(
        {"words": 1, "received": 0.5, "received_by_others": 3.25 / 4}
    )
    assert np.isnan(received([SWAPPED.gold], [as_gold(SWAPPED)])["received"])


def test_rows_that_do_not_sum_to_one_are_told(reading):
    assert compare([SWAPPED, KEPT], reading)["sum_of_a_row"] == 0
    short = as_gold(SWAPPED)
    short[2] *= 0.75
    again = Reading([read(SWAPPED, short), reading.trained[1]], reading.untrained, reading.output)
    assert compare([SWAPPED, KEPT], again)["sum_of_a_row"] == pytest.approx(0.25)
