"""The head: one matrix, or a hidden layer and one."""

import torch

from regard.layers import Head

X = torch.randn(2, 5, generator=torch.Generator().manual_seed(1))


def test_without_a_hidden_layer_it_is_one_matrix():
    head = Head(5, 3)
    assert head.hidden is None
    torch.testing.assert_close(head(X), X @ head.output.weight.T + head.output.bias)
    assert sum(parameter.numel() for parameter in head.parameters()) == 5 * 3 + 3


def test_with_one_it_is_tanh_between_two():
    head = Head(5, 3, hidden_size=4)
    hidden = torch.tanh(X @ head.hidden.weight.T + head.hidden.bias)
    torch.testing.assert_close(head(X), hidden @ head.output.weight.T + head.output.bias)


def test_dropout_only_in_training():
    head = Head(5, 3, hidden_size=4, dropout=0.5)
    assert not torch.equal(head(X), head(X))
    head.eval()
    assert torch.equal(head(X), head(X))
