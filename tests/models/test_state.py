"""The values that pass between encoder, decoder and search: selecting rows, and forced attention."""

import torch

from regard.models import DecoderState

IDS = torch.tensor([[4, 5, 3], [6, 3, 0], [7, 8, 3]])
MASK = IDS != 0


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
