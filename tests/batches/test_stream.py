"""Continuous text: every token is predicted once, after the token before it, in windows that follow each other."""

import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st

from regard.batches import Stream
from regard.errors import ConfigError, DataError
from regard.text.specials import BOS, EOS, PAD


def tensors(batch):
    """Its tensors, in the order of the fields."""
    return [value for value in vars(batch).values() if isinstance(value, torch.Tensor)]


def tokens_of(lines):
    return [token for line in lines for token in (*line, EOS)]


@given(
    st.lists(st.lists(st.integers(4, 20), max_size=5), min_size=1, max_size=12),
    st.integers(1, 6),
    st.integers(1, 7),
)
def test_every_token_is_predicted_once_from_the_one_before_it(lines, num_streams, steps):
    tokens = tokens_of(lines)
    assume(len(tokens) >= num_streams)
    stream = Stream(lines, num_streams, steps)
    windows = list(stream)
    assert len(windows) == len(stream)
    assert stream.num_tokens == len(tokens) == sum(int(window.mask.sum()) for window in windows)
    # every stream's windows put end to end, and the streams put end to end, are the corpus
    targets, previous = [], []
    for row in range(num_streams):
        for window in windows:
            targets += window.target_ids[row][window.mask[row]].tolist()
            previous += window.previous_ids[row][window.mask[row]].tolist()
    assert targets == tokens
    # after a line's end the begin mark is read, as before a line by itself
    assert previous == [BOS, *(BOS if token == EOS else token for token in tokens[:-1])]
    # no row of any window is empty, padding stands on the right, and windows are as wide as asked
    for window in windows:
        lengths = window.mask.sum(dim=1, keepdim=True)
        assert torch.equal(window.mask, torch.arange(window.mask.shape[1]) < lengths)
        assert lengths.min() >= 1
        assert (window.target_ids[~window.mask] == PAD).all()
    assert all(window.mask.shape[1] == steps for window in windows[:-1])
    assert 1 <= windows[-1].mask.shape[1] <= steps + 1


def test_a_window_by_number_is_the_one_met_on_the_way():
    stream = Stream([[4, 5, 6], [7], [8, 9]], 2, 2)
    for k, window in enumerate(stream):
        assert all(map(torch.equal, tensors(stream[k]), tensors(window)))
    assert torch.equal(stream[-1].target_ids, stream[len(stream) - 1].target_ids)
    with pytest.raises(IndexError):
        stream[len(stream)]


def test_streams_by_hand():
    """4 5 </s> 6 </s> in two streams: 4 5 </s> and 6 </s>; the shorter one's padding is masked."""
    [first, second] = Stream([[4, 5], [6]], 2, 1)
    assert first.previous_ids.tolist() == [[BOS], [BOS]]
    assert first.target_ids.tolist() == [[4], [6]]
    # a third window would have nothing of the second stream, so the last is one step wider
    assert second.previous_ids.tolist() == [[4, 5], [6, PAD]]
    assert second.target_ids.tolist() == [[5, EOS], [EOS, PAD]]
    assert second.mask.tolist() == [[True, True], [True, False]]


def test_refusals():
    with pytest.raises(DataError, match="3 tokens, end marks counted, cannot be cut into 4 streams"):
        Stream([[4], []], 4, 2)
    with pytest.raises(ConfigError, match="the number of streams: 0 is out of range"):
        Stream([[4]], 0, 2)
    with pytest.raises(ConfigError, match="the steps of a window: 0 is out of range"):
        Stream([[4]], 1, 0)
