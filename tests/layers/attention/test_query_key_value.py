"""Several heads: each its own attention over its share of the width, joined by W_O."""

import pytest
import torch

from regard.errors import ConfigError
from regard.layers import QueryKeyValue
from regard.ops.attention import query_key_value

MASK = torch.tensor([[True] * 4, [True] * 2 + [False] * 2])
SEEDED = torch.Generator().manual_seed(1)
QUERY = torch.randn(2, 3, 5, dtype=torch.float64, generator=SEEDED)
ANNOTATIONS = torch.randn(2, 4, 6, dtype=torch.float64, generator=SEEDED)


def test_one_head_is_the_matrix_form():
    layer = QueryKeyValue(5, 6, 7).double()
    context, alpha, _ = layer.attend(QUERY, layer.keys(ANNOTATIONS), layer.values(ANNOTATIONS), MASK)
    expected = query_key_value(QUERY, ANNOTATIONS, MASK, layer.W_Q, layer.W_K, layer.W_V)
    torch.testing.assert_close((context, alpha), expected)


@pytest.mark.parametrize("heads", [2, 3])
def test_heads_are_attentions_side_by_side(heads):
    layer = QueryKeyValue(5, 6, 12, heads).double()
    keys, values = layer.keys(ANNOTATIONS), layer.values(ANNOTATIONS)
    context, alpha, _ = layer.attend(QUERY, keys, values, MASK)
    alone = [
        query_key_value(QUERY, ANNOTATIONS, MASK, *matrices)
        for matrices in zip(*(W.chunk(heads) for W in (layer.W_Q, layer.W_K, layer.W_V)), strict=True)
    ]
    joined = torch.cat([each for each, _ in alone], dim=-1)
    torch.testing.assert_close(context, joined @ layer.W_O.T)
    alpha_by_head = layer.alpha_by_head(QUERY, keys, MASK)
    assert alpha_by_head.shape == (2, heads, 3, 4)
    torch.testing.assert_close(alpha_by_head, torch.stack([each for _, each in alone], dim=1))
    torch.testing.assert_close(alpha, alpha_by_head.mean(dim=1))
    assert (alpha_by_head[:, 0] - alpha_by_head[:, 1]).abs().max() > 0.01, "the example must tell heads apart"


@pytest.mark.parametrize(("size", "annotations"), [(7, 6), (6, 7)])
def test_widths_that_heads_cannot_share_are_refused(size, annotations):
    message = f"2 heads cannot share queries of {size} units and annotations of {annotations}; .*multiples"
    with pytest.raises(ConfigError, match=message):
        QueryKeyValue(5, annotations, size, heads=2)
