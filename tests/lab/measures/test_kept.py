"""What is kept of BLEU, and up to which length."""

import math

import pytest

from regard.lab.measures.length import kept, reach


def test_kept_is_a_share_of_the_models_own_height() -> None:
    assert kept({"short": {"bleu": 40.0}, "beyond": {"bleu": 30.0}}) == pytest.approx(75)
    assert math.isnan(kept({"short": {"bleu": 0.0}, "beyond": {"bleu": 30.0}}))


def test_reach_ends_before_the_first_band_that_falls() -> None:
    heights = {10: 50.0, 20: 40.0, 30: 39.9, 40: 50.0}
    bands = [{"upper": upper, "bleu": bleu} for upper, bleu in heights.items()]
    assert reach({"short": {"bleu": 50.0}, "bands": bands}, 80) == 20
    assert reach({"short": {"bleu": 90.0}, "bands": bands}, 80) == 0
    assert reach({"short": {"bleu": 50.0}, "bands": bands}, 79) == 40
