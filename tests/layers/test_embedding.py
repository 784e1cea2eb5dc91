"""Ids become rows of E, which may be another's."""

import torch

from regard.layers import Embedding


def test_each_id_is_its_row():
    embedding = Embedding(5, 3)
    ids = torch.tensor([[4, 0], [2, 4]])
    assert torch.equal(embedding(ids), embedding.E[ids])
    assert embedding(torch.tensor(3)).shape == (3,)


def test_vectors_start_with_a_length_of_about_one():
    lengths = Embedding(2000, 64).E.norm(dim=1)
    # the mean of 2,000 lengths whose own spread is about 1/√128
    assert abs(lengths.mean().item() - 1) < 0.02


def test_a_shared_matrix_is_one_matrix_and_gathers_both_gradients():
    one = Embedding(5, 3)
    before = one.E.clone()
    other = Embedding(5, 3, shared=one.E)
    assert other.E is one.E
    assert torch.equal(one.E, before)
    (one(torch.tensor([1])).sum() + other(torch.tensor([1, 2])).sum()).backward()
    assert one.E.grad[:, 0].tolist() == [0, 2, 1, 0, 0]
