"""Query, key and value: the matrix form is the lectures' word by word, and heads side by side are heads alone."""

import pytest
import torch

from regard.ops import attention
from regard.ops.attention.query_key_value import fused, naive
from regard.ops.paths import naive_only

MASK = torch.tensor([[True] * 4, [True, True, False, False]])


def numbers(*shapes):
    return [torch.randn(*shape, dtype=torch.float64) for shape in shapes]


@pytest.mark.parametrize("scaled", [True, False])
@pytest.mark.parametrize("values", [(2, 6), (6, 6), (9, 6), None], ids=["r < d", "r = d", "r > d", "no W_V"])
def test_the_matrix_form_is_word_by_word(scaled, values, agree):
    tensors = numbers((2, 3, 5), (2, 4, 6), (7, 5), (7, 6), *([] if values is None else [values]))

    def calling(path):
        def call(q, h, W_Q, W_K, W_V=None):
            return path.query_key_value(q, h, MASK, W_Q, W_K, W_V, scaled)

        return call

    agree(calling(fused), calling(naive), tensors)


def test_bird_is_worked_by_hand():
    """Two words and one unit: q = 2, keys 1 and −1, values 10 and 30."""
    asking, words = torch.tensor([[[1.0]]]), torch.tensor([[[1.0], [-1.0]]])
    real = torch.ones(1, 2, dtype=torch.bool)
    W_Q, W_K, W_V = torch.tensor([[2.0]]), torch.tensor([[1.0]]), torch.tensor([[-10.0]])
    p = torch.exp(torch.tensor(2.0)) / (torch.exp(torch.tensor(2.0)) + torch.exp(torch.tensor(-2.0)))
    for path in (fused, naive):
        context, alpha = path.query_key_value(asking, words, real, W_Q, W_K, W_V)
        torch.testing.assert_close(alpha[0, 0], torch.stack([p, 1 - p]))
        torch.testing.assert_close(context[0, 0, 0], -10 * p + 10 * (1 - p))


@pytest.mark.parametrize("heads", [1, 2, 3])
@pytest.mark.parametrize(("batch", "queries", "words"), [(1, 1, 1), (2, 3, 5), (3, 2, 7)])
def test_fused_heads_are_naive_heads(heads, batch, queries, words, agree):
    q, k, v = numbers((batch, queries, 6), (batch, words, 6), (batch, words, 12))
    for scaled in (True, False):
        options = (heads, scaled)
        agree(
            lambda *t, o=options: [fused.head_energies(*t, *o)],
            lambda *t, o=options: [naive.head_energies(*t, *o)],
            [q, k],
        )
    alpha = torch.rand(batch, heads * queries, words, dtype=torch.float64)
    agree(
        lambda *t: [fused.head_contexts(*t, heads)], lambda *t: [naive.head_contexts(*t, heads)], [alpha, v]
    )


@pytest.mark.parametrize("path", [fused, naive])
def test_each_head_is_that_head_alone(path):
    q, k, v = numbers((2, 3, 6), (2, 5, 6), (2, 5, 4))
    energies, alpha = path.head_energies(q, k, 2), torch.rand(2, 6, 5, dtype=torch.float64)
    contexts = path.head_contexts(alpha, v, 2)
    for head in range(2):
        own, rows = slice(3 * head, 3 * head + 3), slice(3 * head, 3 * head + 3)
        torch.testing.assert_close(energies[:, rows], path.head_energies(q[..., own], k[..., own], 1))
        share = slice(2 * head, 2 * head + 2)
        torch.testing.assert_close(contexts[..., share], alpha[:, rows] @ v[..., share])


@pytest.mark.parametrize("function", ["query_key_value", "head_energies", "head_contexts"])
def test_which_path_runs(function, monkeypatch):
    taken = []
    for name, module in (("fused", fused), ("naive", naive)):
        real = getattr(module, function)
        monkeypatch.setattr(module, function, lambda *t, n=name, r=real: taken.append(n) or r(*t))
    x, W = torch.ones(1, 2, 2), torch.ones(2, 2)
    tensors = (
        [x, x, torch.ones(1, 2, dtype=torch.bool), W, W, W] if function == "query_key_value" else [x, x, 1]
    )
    getattr(attention, function)(*tensors)
    with naive_only():
        getattr(attention, function)(*tensors)
    assert taken == ["fused", "naive"]
