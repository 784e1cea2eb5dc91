"""How long outputs may grow, and what may be chosen."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from regard.errors import ConfigError
from regard.search import LengthLimit
from regard.search.options import begin, only_legal
from regard.text.specials import BOS, EOS, PAD

NEVER = float("-inf")


def mask_of(lengths):
    return torch.arange(max(lengths) + 1) < torch.tensor(lengths).unsqueeze(1) + 1


@given(st.lists(st.integers(0, 20), min_size=1), st.floats(0, 4), st.integers(1, 9))
def test_a_limit_is_the_sentences_own(words, ratio, extra):
    limit = LengthLimit(ratio, extra)
    together = limit.of(mask_of(words)).tolist()
    assert together == [limit.of(mask_of([one])).item() for one in words]
    for one, allowed in zip(words, together, strict=True):
        assert allowed >= 1
        # torch multiplies in single precision
        assert abs(allowed - (one * ratio + extra)) <= 1


def test_limits_in_round_numbers():
    assert LengthLimit().of(mask_of([0, 1, 7])).tolist() == [10, 12, 24]
    assert LengthLimit(1.5, 2).of(mask_of([3])).tolist() == [6]


@pytest.mark.parametrize("ratio", [1e15, 1e18, 1e300])
def test_a_ratio_beyond_all_measure_is_still_a_limit(ratio):
    assert LengthLimit(ratio).of(mask_of([1, 90000])).tolist() == [10**9 + 10] * 2


@pytest.mark.parametrize(("ratio", "extra"), [(-1, 1), (1, 0), (float("nan"), 1), (float("inf"), 1)])
def test_a_limit_that_lets_nothing_end_is_refused(ratio, extra):
    with pytest.raises(ConfigError, match="length limit"):
        LengthLimit(ratio, extra)


def test_only_legal():
    log_probs = torch.randn(3, 7)
    legal = only_legal(log_probs, torch.tensor([False, True, False]))
    for row in (0, 2):
        assert [k for k in range(7) if legal[row, k] == NEVER] == [PAD, BOS]
        kept = [k for k in range(7) if k not in (PAD, BOS)]
        assert torch.equal(legal[row, kept], log_probs[row, kept])
    assert [k for k in range(7) if legal[1, k] > NEVER] == [EOS]
    assert legal[1, EOS] == log_probs[1, EOS]


def test_what_is_given_is_not_changed():
    log_probs = torch.randn(2, 7)
    before = log_probs.clone()
    only_legal(log_probs, torch.tensor([True, False]))
    assert torch.equal(log_probs, before)


def test_every_sentence_begins_with_the_begin_mark():
    assert begin(mask_of([3, 1])).tolist() == [BOS, BOS]
