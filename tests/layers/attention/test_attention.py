"""Every attention layer against its formula, one query and one word at a time."""

import math

import pytest
import torch

from regard.errors import ConfigError
from regard.layers import ENERGIES, Additive, Bilinear, Concat, Dot, ScaledDot

B, Q, TX, N, D, A = 2, 3, 4, 5, 6, 7
MASK = torch.tensor([[True] * 4, [True] * 2 + [False] * 2])


def formula(layer, q, h):
    match layer:
        case Additive():
            return layer.v_a @ torch.tanh(layer.W_a @ q + layer.U_a @ h)
        case Concat():
            return layer.v_a @ torch.tanh(layer.W_a @ torch.cat([q, h]))
        case Bilinear():
            return q @ layer.W_a @ h
        case ScaledDot():
            return q @ h / math.sqrt(len(q))
        case Dot():
            return q @ h


@pytest.mark.parametrize("kind", ENERGIES)
def test_context_and_alpha_are_the_formula(kind):
    width = N if "dot" in kind else D
    layer = ENERGIES[kind](N, width, A).double()
    query = torch.randn(B, Q, N, dtype=torch.float64)
    annotations = torch.randn(B, TX, width, dtype=torch.float64)
    context, alpha = layer(query, layer.keys(annotations), annotations, MASK)
    assert context.shape == (B, Q, width)
    assert alpha.shape == (B, Q, TX)
    for b in range(B):
        real = int(MASK[b].sum())
        for i in range(Q):
            energies = torch.stack([formula(layer, query[b, i], annotations[b, j]) for j in range(real)])
            expected = torch.exp(energies) / torch.exp(energies).sum()
            torch.testing.assert_close(alpha[b, i, :real], expected)
            assert torch.equal(alpha[b, i, real:], torch.zeros(TX - real, dtype=torch.float64))
            torch.testing.assert_close(context[b, i], expected @ annotations[b, :real])


@pytest.mark.parametrize("kind", ENERGIES)
def test_one_query_alone_is_that_query_among_others(kind):
    layer = ENERGIES[kind](D, D, A).double()
    query = torch.randn(B, Q, D, dtype=torch.float64)
    annotations = torch.randn(B, TX, D, dtype=torch.float64)
    keys = layer.keys(annotations)
    together = layer(query, keys, annotations, MASK)
    for i in range(Q):
        alone = layer(query[:, i : i + 1], keys, annotations, MASK)
        torch.testing.assert_close(alone.context[:, 0], together.context[:, i])
        torch.testing.assert_close(alone.alpha[:, 0], together.alpha[:, i])


@pytest.mark.parametrize("layer", [Dot, ScaledDot])
def test_a_dot_product_of_unequal_widths_is_refused_with_the_remedy(layer):
    with pytest.raises(ConfigError, match=r"states of 5 units with annotations of 6.*bilinear"):
        layer(5, 6)


def test_parameters_have_the_papers_names_and_shapes():
    def shapes(layer):
        return {name: tuple(parameter.shape) for name, parameter in layer.named_parameters()}

    assert shapes(Additive(N, D, A)) == {"W_a": (A, N), "U_a": (A, D), "v_a": (A,)}
    assert shapes(Concat(N, D, A)) == {"W_a": (A, N + D), "v_a": (A,)}
    assert shapes(Bilinear(N, D)) == {"W_a": (N, D)}
    assert shapes(Dot(N, N)) == shapes(ScaledDot(N, N)) == {}
