"""Lines for a language model: each word is predicted from those before it, the end mark last."""

from hypothesis import given
from hypothesis import strategies as st

from regard.batches import pad_lines
from regard.text.specials import BOS, EOS, PAD


def tensors(batch):
    """Its tensors, in the order of the fields."""
    return [value for value in vars(batch).values() if isinstance(value, torch.Tensor)]


@given(st.lists(st.lists(st.integers(4, 50), max_size=6), min_size=1, max_size=5))
def test_what_is_read_is_what_is_predicted_one_step_later(lines):
    batch = pad_lines(lines)
    for previous, target, real, line in zip(
        batch.previous_ids, batch.target_ids, batch.mask, lines, strict=True
    ):
        assert previous[real].tolist() == [BOS, *line]
        assert target[real].tolist() == [*line, EOS]
        assert (previous[~real] == PAD).all()
        assert (target[~real] == PAD).all()


def test_a_batch_moves_whole():
    moved = pad_lines([[4, 5], []]).to("meta")
    assert [tensor.device.type for tensor in tensors(moved)] == ["meta"] * 3
    assert moved.previous_ids.shape == moved.target_ids.shape == moved.mask.shape == (2, 3)
