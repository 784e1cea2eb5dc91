"""Every attention layer against its formula, one query and one word at a time."""

import math
import pydoc

import pytest
import torch

from regard.errors import ConfigError
from regard.layers import (
    ENERGIES,
    Additive,
    Bilinear,
    Concat,
    Dot,
    QueryKey,
    QueryKeyValue,
    ScaledDot,
    build_attention,
)

B, Q, TX, N, D, A = 2, 3, 4, 5, 6, 7
MASK = torch.tensor([[True] * 4, [True] * 2 + [False] * 2])


def numbers(*shape):
    return torch.randn(*shape, dtype=torch.float64)


def formula(layer, q, h):
    match layer:
        case Additive():
            return layer.v_a @ torch.tanh(layer.W_a @ q + layer.U_a @ h)
        case Concat():
            return layer.v_a @ torch.tanh(layer.W_a @ torch.cat([q, h]))
        case Bilinear():
            return q @ layer.W_a @ h
        case QueryKeyValue():
            return (layer.W_Q @ q) @ (layer.W_K @ h) / math.sqrt(A)
        case QueryKey():
            return (layer.W_Q @ q) @ (layer.W_K @ h)
        case ScaledDot():
            return q @ h / math.sqrt(len(q))
        case Dot():
            return q @ h


def made(kind, query_size=D):
    return build_attention(kind, query_size, D, A).double()


@pytest.mark.parametrize("kind", ENERGIES)
def test_context_and_alpha_are_the_formula(kind):
    n = D if "dot" in kind else N
    layer = made(kind, n)
    query, annotations = numbers(B, Q, n), numbers(B, TX, D)
    values = layer.values(annotations)
    context, alpha, carried = layer.attend(query, layer.keys(annotations), values, MASK)
    assert context.shape == (B, Q, D)
    assert alpha.shape == (B, Q, TX)
    assert carried == layer.initial_state(MASK) == ()
    assert not layer.sequential
    worth = annotations @ layer.W_V.T if kind == "qkv" else annotations
    for b in range(B):
        real = int(MASK[b].sum())
        for i in range(Q):
            energies = torch.stack([formula(layer, query[b, i], annotations[b, j]) for j in range(real)])
            expected = torch.exp(energies) / torch.exp(energies).sum()
            torch.testing.assert_close(alpha[b, i, :real], expected)
            assert torch.equal(alpha[b, i, real:], torch.zeros(TX - real, dtype=torch.float64))
            torch.testing.assert_close(context[b, i], expected @ worth[b, :real])


@pytest.mark.parametrize("kind", ENERGIES)
def test_one_query_alone_is_that_query_among_others(kind):
    layer = made(kind)
    query, annotations = numbers(B, Q, D), numbers(B, TX, D)
    keys, values = layer.keys(annotations), layer.values(annotations)
    together = layer.attend(query, keys, values, MASK)
    torch.testing.assert_close(layer.attend_sequence(query, keys, values, MASK), together)
    for i in range(Q):
        alone = layer.attend(query[:, i : i + 1], keys, values, MASK)
        torch.testing.assert_close(alone.context[:, 0], together.context[:, i])
        torch.testing.assert_close(alone.alpha[:, 0], together.alpha[:, i])


@pytest.mark.parametrize("kind", ENERGIES)
def test_queries_may_come_projected(kind):
    """Without a query size there is no query matrix, and the projected query gives the same energies."""
    whole, rest = made(kind), made(kind, None)
    names = {Additive: ["W_a"], Bilinear: ["W_a"], QueryKey: ["W_Q"], QueryKeyValue: ["W_Q"]}.get(
        ENERGIES[kind], []
    )
    weights = {name: value for name, value in whole.state_dict().items() if name not in names}
    if kind == "concat":
        weights["W_a"] = weights["W_a"][:, D:]
    assert {name: p.shape for name, p in rest.named_parameters()} == {n: w.shape for n, w in weights.items()}
    rest.load_state_dict(weights)
    query, annotations = numbers(B, Q, D), numbers(B, TX, D)
    projected = query @ whole.W_a if ENERGIES[kind] is Bilinear else whole.queries(query)
    assert projected.shape[-1] == rest.query_width == (A if ENERGIES[kind].sized else D)
    assert rest.queries(projected) is projected
    torch.testing.assert_close(
        rest.score(projected, rest.keys(annotations)), whole.energies(query, whole.keys(annotations))
    )


@pytest.mark.parametrize("layer", [Dot, ScaledDot])
def test_a_dot_product_of_unequal_widths_is_refused_with_the_remedy(layer):
    with pytest.raises(ConfigError, match=r"states of 5 units with annotations of 6.*bilinear"):
        layer(5, 6)


def test_parameters_have_the_papers_names_and_shapes():
    def shapes(layer):
        return {name: tuple(parameter.shape) for name, parameter in layer.named_parameters()}

    additive = {"W_a": (A, N), "U_a": (A, D), "v_a": (A,)}
    assert shapes(Additive(N, D, A)) == additive
    assert shapes(Additive(N, D, A, coverage=True)) == additive | {"w_c": (A,)}
    assert shapes(Concat(N, D, A)) == {"W_a": (A, N + D), "v_a": (A,)}
    assert shapes(Bilinear(N, D)) == {"W_a": (N, D)}
    assert shapes(Dot(N, N)) == shapes(ScaledDot(N, N)) == {}
    single = {"W_Q": (A, N), "W_K": (A, D), "W_V": (D, D)}
    assert shapes(QueryKeyValue(N, D, A)) == single
    assert shapes(QueryKeyValue(N, D, A, value_size=3)) == single | {"W_V": (3, D)}
    assert shapes(QueryKey(N, D, A)) == {"W_Q": (A, N), "W_K": (A, D)}
    assert shapes(QueryKeyValue(N, D, 8, heads=2)) == {
        "W_Q": (8, N),
        "W_K": (8, D),
        "W_V": (D, D),
        "W_O": (D, D),
    }


@pytest.mark.parametrize("kind", ENERGIES)
def test_a_call_on_annotations_computes_keys_and_values_itself(kind):
    layer, query, annotations = made(kind), numbers(B, Q, D), numbers(B, TX, D)
    keys, values = layer.keys(annotations), layer.values(annotations)
    torch.testing.assert_close(layer(query, annotations, MASK), layer.attend(query, keys, values, MASK))
    everywhere = torch.ones(B, TX, dtype=torch.bool)
    torch.testing.assert_close(layer(query, annotations), layer(query, annotations, everywhere))


@pytest.mark.parametrize("options", [{}, {"coverage": True}, {"window": "local-m", "window_size": 1}])
def test_padding_changes_nothing_in_a_call(options):
    layer = build_attention("additive", D, D, A, **options).double()
    query, annotations = numbers(B, Q, D), numbers(B, TX, D)
    garbage = torch.where(MASK.unsqueeze(-1), annotations, 1e3)
    context, alpha, _ = layer(query, garbage, MASK)
    alone = layer(query[1:], annotations[1:, :2])
    torch.testing.assert_close(context[1:], alone.context)
    torch.testing.assert_close(alpha[1:, :, :2], alone.alpha)
    assert (alpha[1, :, 2:] == 0).all()


@pytest.mark.parametrize("kind", ENERGIES)
def test_gradients_flow_through_a_call_and_not_under_no_grad(kind):
    layer = made(kind).float()
    query, annotations = (torch.randn(B, T, D, requires_grad=True) for T in (Q, TX))
    result = layer(query, annotations, MASK)
    result.context.square().sum().backward()
    for name, value in [("query", query), ("annotations", annotations), *layer.named_parameters()]:
        assert value.grad is not None, name
        assert value.grad.abs().sum() > 0, name
    with torch.no_grad():
        again = layer(query, annotations, MASK)
    assert not again.context.requires_grad
    torch.testing.assert_close(again, result)


@pytest.mark.parametrize("layer", [Additive, Bilinear, Concat, Dot, QueryKey, QueryKeyValue, ScaledDot])
def test_help_says_the_energy_and_the_shapes(layer):
    text = pydoc.render_doc(layer, renderer=pydoc.plaintext)
    assert "e_ij = " in text
    for shape in ("(B, Ty, n)", "(B, Tx, d)", "(B, Ty, Tx)", "True at real words"):
        assert shape in text, shape
