import math

from regard.lab.measures.shaped import mended


def test_of_what_was_missed():
    assert mended(75, 50) == 50
    assert mended(100, 90) == 100
    assert mended(80, 90) == -100
    assert math.isnan(mended(100, 100))
