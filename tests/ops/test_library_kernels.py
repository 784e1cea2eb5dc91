"""Rows turned round in place, and torch's kernels fed with padded rows."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from regard.ops.library_kernels import flip_rows

lengths = st.lists(st.integers(1, 6), min_size=1, max_size=4)


@given(lengths, st.integers(0, 2))
def test_flip_rows_turns_real_words_round_and_leaves_padding(lengths, extra):
    width = max(lengths) + extra
    mask = torch.arange(width) < torch.tensor(lengths).unsqueeze(1)
    x = torch.arange(len(lengths) * width * 2, dtype=torch.float32).view(len(lengths), width, 2)
    flipped = flip_rows(x, mask)
    for row, length in enumerate(lengths):
        assert torch.equal(flipped[row, :length], x[row, :length].flip(0))
        assert torch.equal(flipped[row, length:], x[row, length:])
    assert torch.equal(flip_rows(flipped, mask), x)
