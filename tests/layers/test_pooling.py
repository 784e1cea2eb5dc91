"""Poolings: one vector from many, whatever the padding holds."""

import pytest
import torch

from regard.layers import POOLINGS
from regard.ops.paths import naive_only

LENGTHS = torch.tensor([4, 1, 3])
MASK = torch.arange(5) < LENGTHS.unsqueeze(1)
ANNOTATIONS = torch.randn(3, 5, 6, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
LAST = torch.randn(3, 6, generator=torch.Generator().manual_seed(2), dtype=torch.float64)


def pooling(name):
    layer = POOLINGS[name](6, 4).double()
    for parameter in layer.parameters():
        torch.nn.init.normal_(parameter)
    return layer


@pytest.mark.parametrize("name", POOLINGS)
def test_padding_and_the_garbage_in_it_change_nothing(name):
    layer = pooling(name)
    plain, alpha = layer(ANNOTATIONS, MASK, LAST)
    garbage = torch.where(MASK.unsqueeze(-1), ANNOTATIONS, 1e3)
    torch.testing.assert_close(layer(garbage, MASK, LAST).vector, plain)
    for row, length in enumerate(LENGTHS.tolist()):
        part = slice(row, row + 1)
        alone = layer(ANNOTATIONS[part, :length], MASK[part, :length], LAST[part])
        torch.testing.assert_close(alone.vector, plain[part])
    assert (alpha is None) == (name != "attention")


def test_the_mean_of_equal_annotations_is_the_annotation_and_of_one_itself():
    same = ANNOTATIONS[:, :1].expand(-1, 5, -1)
    torch.testing.assert_close(pooling("mean")(same, MASK, LAST).vector, same[:, 0])
    assert torch.equal(pooling("last")(ANNOTATIONS, MASK, LAST).vector, LAST)


def test_attention_is_one_query_against_every_word(agree):
    layer = pooling("attention")

    def by_hand(q, U_a, v_a, annotations):
        vectors, alphas = [], torch.zeros_like(MASK, dtype=q.dtype)
        for row, length in enumerate(LENGTHS.tolist()):
            words = annotations[row, :length]
            alpha = torch.stack([v_a @ torch.tanh(q + U_a @ h) for h in words]).softmax(dim=0)
            alphas = alphas.index_put((torch.tensor(row), torch.arange(length)), alpha)
            vectors.append(alpha @ words)
        return torch.stack(vectors), alphas

    def by_layer(q, U_a, v_a, annotations):
        weights = {"q": q, "U_a": U_a, "v_a": v_a}
        return torch.func.functional_call(layer, weights, (annotations, MASK, LAST))

    def naively(*tensors):
        with naive_only():
            return by_layer(*tensors)

    tensors = [layer.q, layer.U_a, layer.v_a, ANNOTATIONS]
    agree(by_layer, by_hand, tensors)
    agree(by_layer, naively, tensors)


def test_the_query_starts_at_zero():
    assert torch.equal(POOLINGS["attention"](6, 4).q, torch.zeros(4))
