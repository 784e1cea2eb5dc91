"""The encoder: annotations stay at their words, whichever way the source is read."""

import pytest
import torch

from regard.layers import CELLS
from regard.models.encoder import joined_last

IDS = torch.tensor([[4, 5, 6, 7, 3], [8, 3, 0, 0, 0]])
MASK = torch.tensor([[True] * 5, [True] * 2 + [False] * 3])
ONE_WAY = {"bidirectional": False, "state_size": 4}


@pytest.mark.parametrize("cell", CELLS)
def test_reversal_reads_backwards_and_leaves_annotations_at_their_words(cell, tiny_model):
    ahead = tiny_model("sutskever", cell, num_layers=2, encoder=ONE_WAY)
    back = tiny_model("sutskever", cell, num_layers=2, encoder={**ONE_WAY, "reverse": True})
    back.load_state_dict(ahead.state_dict())
    reversed_ids = torch.tensor([[3, 7, 6, 5, 4], [3, 8, 0, 0, 0]])
    plain = ahead.encode(reversed_ids, MASK)
    turned = back.encode(IDS, MASK)
    torch.testing.assert_close(turned.annotations[0], plain.annotations[0].flip(0), rtol=0, atol=1e-13)
    torch.testing.assert_close(
        turned.annotations[1, :2], plain.annotations[1, :2].flip(0), rtol=0, atol=1e-13
    )
    torch.testing.assert_close(turned.forward_last, plain.forward_last, rtol=0, atol=1e-13)
    # the last state is the one at the first word, for there the reading ends
    torch.testing.assert_close(turned.forward_last[-1][0], turned.annotations[:, 0], rtol=0, atol=1e-13)


def test_a_bidirectional_encoder_gives_both_ends(tiny_model):
    encoded = tiny_model("bahdanau").encode(IDS, MASK)
    assert encoded.annotations.shape == (2, 5, 4)
    torch.testing.assert_close(encoded.backward_last[-1][0], encoded.annotations[:, 0, 2:])
    torch.testing.assert_close(encoded.forward_last[-1][0][0], encoded.annotations[0, 4, :2])
    torch.testing.assert_close(encoded.forward_last[-1][0][1], encoded.annotations[1, 1, :2])
    assert torch.equal(
        encoded.summary, torch.cat([encoded.forward_last[-1][0], encoded.backward_last[-1][0]], dim=-1)
    )


def test_an_encoder_that_reads_one_way_gives_one_end(tiny_model):
    encoded = tiny_model("cho", encoder=ONE_WAY).encode(IDS, MASK)
    assert encoded.backward_last == ()
    assert torch.equal(encoded.summary, encoded.forward_last[-1][0])
    assert joined_last(encoded.forward_last, ()) is encoded.forward_last


def test_keys_come_with_the_source_only_where_someone_attends(tiny_model):
    assert tiny_model("cho").encode(IDS, MASK).keys is None
    model = tiny_model("bahdanau")
    encoded = model.encode(IDS, MASK)
    torch.testing.assert_close(encoded.keys, encoded.annotations @ model.decoder.attention.U_a.T)
