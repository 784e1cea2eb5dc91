"""Readouts against their formulas, and the output matrix alone or shared."""

import torch
from torch import nn

from regard.layers import AttentionalReadout, MaxoutReadout, Output

N, M, D, L, V = 3, 4, 5, 2, 7


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
    assert torch.equal(E, before), "sharing a matrix must not draw it anew"
    t = torch.randn(M)
    torch.testing.assert_close(output(t), E @ t)
