"""Layers without recurrence: rows of E, standardised features, dropout, poolings that ignore padding, readouts."""

import pytest
import torch
from torch import Tensor, nn

from regard.layers import (
    POOLINGS,
    AttentionalReadout,
    Dropout,
    Embedding,
    Head,
    MaxoutReadout,
    Output,
    Standardize,
)
from regard.ops.paths import naive_only


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


def test_standardized_features_have_mean_0_and_variance_1():
    features = torch.randn(200, 3) * torch.tensor([1e-3, 1.0, 1e5]) + torch.tensor([5.0, 0.0, -3e5])
    layer = Standardize(3)
    assert torch.equal(layer(features), features)
    layer.fit(features)
    standard = layer(features)
    torch.testing.assert_close(standard.mean(dim=0), torch.zeros(3), atol=1e-3, rtol=0)
    torch.testing.assert_close(standard.std(dim=0, correction=0), torch.ones(3), atol=1e-3, rtol=0)


def test_a_constant_feature_is_only_centred():
    features = torch.full((7, 2), 0.1)
    features[:, 1] = torch.arange(7)
    layer = Standardize(2)
    layer.fit(features)
    assert layer.scale[0] == 1
    assert layer.scale[1] == 2
    torch.testing.assert_close(layer(features)[:, 0], torch.zeros(7))
    # differences below float32's resolution are not amplified
    almost = torch.tensor([[3000.0], [3000.0002]])
    one = Standardize(1)
    one.fit(almost)
    assert one(almost).abs().max() < 1e-3


def test_the_statistics_are_buffers():
    layer = Standardize(2)
    assert not list(layer.parameters())
    assert set(layer.state_dict()) == {"mean", "scale"}


def test_evaluation_is_the_identity():
    dropout = Dropout(0.5).eval()
    x = torch.randn(2, 3, 4)
    assert dropout(x) is x
    assert dropout.sample_mask(2, 3, 4, x) is None


def test_a_share_of_zero_is_the_identity_in_training_too():
    x = torch.randn(2, 3, 4)
    assert Dropout(0.0).train()(x) is x


def test_the_mean_is_kept_and_the_share_is_dropped():
    ones = torch.ones(100, 100, 20)
    dropped = Dropout(0.3).train()(ones)
    # 200,000 samples: a standard error of 0.0015 for the mean
    assert abs(dropped.mean().item() - 1) < 0.01
    assert abs((dropped == 0).float().mean().item() - 0.3) < 0.01
    kept = dropped[dropped != 0]
    torch.testing.assert_close(kept, torch.full_like(kept, 1 / 0.7))


def test_a_fresh_mask_for_each_word_unless_variational():
    ones = torch.ones(3, 8, 50)
    fresh = Dropout(0.5).train()(ones)
    steady = Dropout(0.5, variational=True).train()(ones)
    assert not torch.equal(fresh[:, 0], fresh[:, 1])
    assert torch.equal(steady, steady[:, :1].expand_as(steady))
    assert not torch.equal(steady[0], steady[1]), "each sentence has its own"


def test_masks_come_in_the_kind_of_the_activations():
    mask = Dropout(0.5).train().sample_mask(1, 2, 3, torch.zeros(1, dtype=torch.float64))
    assert mask.dtype == torch.float64


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
    assert (alpha is None) == (name in ("last", "mean"))


def test_the_maximum_is_of_each_unit_and_the_words_share_the_units(agree):
    def by_hand(annotations):
        rows = [annotations[row, :length] for row, length in enumerate(LENGTHS.tolist())]
        vectors = torch.stack([torch.stack([max(unit, key=Tensor.item) for unit in row.T]) for row in rows])
        alphas = torch.zeros_like(MASK, dtype=annotations.dtype)
        for row, (words, vector) in enumerate(zip(rows, vectors, strict=True)):
            for j, word in enumerate(words):
                alphas[row, j] = int((word == vector).sum()) / len(word)
        return vectors, alphas

    agree(lambda annotations: pooling("max")(annotations, MASK, LAST), by_hand, [ANNOTATIONS])
    assert pooling("max")(-torch.ones(1, 2, 3).double(), torch.tensor([[True, False]])).alpha.tolist() == [
        [1, 0]
    ]


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
