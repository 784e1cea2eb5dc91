"""Readouts and the head against their formulas; the output matrix alone or shared."""

import torch
from torch import nn

from regard.layers import AttentionalReadout, Head, MaxoutReadout, Output

N, M, D, L, V = 3, 4, 5, 2, 7
X = torch.randn(2, 5, generator=torch.Generator().manual_seed(1))


def test_maxout_readout_is_the_papers():
    readout = MaxoutReadout(N, M, D, L)
    nn.init.normal_(readout.U_o.bias)
    s, y, c = torch.randn(N), torch.randn(M), torch.randn(D)
    pairs = readout.U_o.weight @ s + readout.U_o.bias + readout.V_o.weight @ y + readout.C_o.weight @ c
    expected = torch.stack([torch.maximum(pairs[2 * j], pairs[2 * j + 1]) for j in range(L)])
    torch.testing.assert_close(readout(s, y, c), expected)


def test_attentional_readout_is_luongs():
    readout = AttentionalReadout(N, D, L)
    h, c = torch.randn(N), torch.randn(D)
    torch.testing.assert_close(readout(h, c), torch.tanh(readout.W_c.weight @ torch.cat([c, h])))


def test_output_is_a_matrix_and_a_bias():
    output = Output(L, V)
    nn.init.normal_(output.b_o)
    t = torch.randn(2, 3, L)
    torch.testing.assert_close(output(t), torch.einsum("bil,vl->biv", t, output.W_o) + output.b_o)


def test_a_tied_output_is_the_same_matrix():
    E = nn.Parameter(torch.randn(V, M))
    before = E.clone()
    output = Output(M, V, tied=E)
    assert output.W_o is E
    assert torch.equal(E, before), "sharing a matrix must not initialise it again"
    t = torch.randn(M)
    torch.testing.assert_close(output(t), E @ t)


def test_a_head_without_a_hidden_layer_is_one_matrix():
    head = Head(5, 3)
    assert head.hidden is None
    torch.testing.assert_close(head(X), X @ head.output.weight.T + head.output.bias)
    assert sum(parameter.numel() for parameter in head.parameters()) == 5 * 3 + 3


def test_a_head_with_a_hidden_layer_is_tanh_between_two_matrices():
    head = Head(5, 3, hidden_size=4)
    hidden = torch.tanh(X @ head.hidden.weight.T + head.hidden.bias)
    torch.testing.assert_close(head(X), hidden @ head.output.weight.T + head.output.bias)


def test_a_head_drops_only_in_training():
    head = Head(5, 3, hidden_size=4, dropout=0.5)
    assert not torch.equal(head(X), head(X))
    head.eval()
    assert torch.equal(head(X), head(X))
