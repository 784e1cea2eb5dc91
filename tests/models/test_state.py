"""The values that pass between encoder, decoder and search: selecting rows, and the real tokens of a batch."""

import pytest
import torch

from regard.models import DecoderState
from regard.models.state import select_positions, token_positions

IDS = torch.tensor([[4, 5, 3], [6, 3, 0], [7, 8, 3]])
MASK = IDS != 0
PADDED = torch.tensor([[True, True, False], [True, False, False], [True, True, True]])


def test_selecting_sentences_is_encoding_them_alone(tiny_model):
    model = tiny_model("bahdanau", "lstm", num_layers=2, attention={"energy": "qkv"})
    rows = torch.tensor([2, 0, 2])
    chosen, expected = model.encode(IDS, MASK).select(rows), model.encode(IDS[rows], MASK[rows])
    assert torch.equal(chosen.mask, expected.mask)
    torch.testing.assert_close(chosen.annotations, expected.annotations, rtol=0, atol=1e-14)
    torch.testing.assert_close(chosen.keys, expected.keys, rtol=0, atol=1e-14)
    torch.testing.assert_close(chosen.values, expected.values, rtol=0, atol=1e-14)
    torch.testing.assert_close(chosen.forward_last, expected.forward_last, rtol=0, atol=1e-14)
    torch.testing.assert_close(chosen.backward_last, expected.backward_last, rtol=0, atol=1e-14)


def test_selecting_hypotheses_takes_every_part():
    h, c, fed = torch.arange(6.0).view(3, 2), -torch.arange(6.0).view(3, 2), torch.arange(3.0).view(3, 1)
    chosen = DecoderState(((h, c), (c, h)), fed).select(torch.tensor([2, 2, 1]))
    assert chosen.cells[0][0].tolist() == [[4, 5], [4, 5], [2, 3]]
    assert chosen.cells[1][0].tolist() == [[-4, -5], [-4, -5], [-2, -3]]
    assert chosen.attentional_state.tolist() == [[2], [2], [1]]
    counted = DecoderState(((h,),), attention=(torch.arange(3), c)).select(torch.tensor([2, 0]))
    assert [part.tolist() for part in counted.attention] == [[2, 0], [[-4, -5], [0, -1]]]
    assert DecoderState(((h,),)).select(torch.tensor([0])).attentional_state is None


def test_forced_attention_leaves_one_word_visible_in_its_sentence_and_all_in_the_others(tiny_model):
    encoded = tiny_model("bahdanau").encode(IDS, MASK).with_forced_attention(torch.tensor([1, -1, 0]))
    assert encoded.visible.tolist() == [[False, True, False], [True, True, False], [True, False, False]]
    assert encoded.select(torch.tensor([2, 0])).forced.tolist() == [0, 1]
    assert torch.equal(encoded.with_forced_attention(None).visible, MASK)


def test_token_positions_are_counted_row_by_row():
    assert token_positions(PADDED).tolist() == [0, 1, 3, 6, 7, 8]
    assert token_positions(torch.zeros(2, 2, dtype=torch.bool)).tolist() == []


@pytest.mark.parametrize("shape", [(3, 3), (3, 3, 4)])
def test_selecting_positions_is_indexing_by_the_mask_with_its_gradient(shape):
    ours, theirs = (torch.randn(shape, dtype=torch.float64).requires_grad_() for _ in range(2))
    theirs.data.copy_(ours.data)
    selected, expected = select_positions(ours, token_positions(PADDED)), theirs[PADDED]
    assert torch.equal(selected, expected)
    for values in (selected, expected):
        (values**3).sum().backward()
    assert torch.equal(ours.grad, theirs.grad)
    assert not ours.grad[~PADDED].any()
