from regard.lab.measures.statistics import AFTER, BEFORE, gains, means

NUMBERS = {
    "accuracy": {
        BEFORE: [{"mean": 51, "values": [50, 52]}, {"mean": 60, "values": [61, 59]}],
        AFTER: [{"mean": 57, "values": [55, 59]}, {"mean": 59, "values": [60, 58]}],
    }
}


def test_a_curve_has_a_mean_for_each_size():
    assert means(NUMBERS, BEFORE) == [51, 60]
    assert means(NUMBERS, AFTER) == [57, 59]


def test_gains_are_of_the_same_size_and_the_same_seed():
    assert gains(NUMBERS) == [[5, 7], [-1, -1]]
