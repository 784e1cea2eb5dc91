"""An attention's weights for fast ops compute its energies; one that computes others has none."""

import pytest
import torch

from regard.layers.attention import ENERGIES, Additive, Dot, EnergyWeights, build_attention

N, D = 4, 4


@pytest.mark.parametrize("energy", ENERGIES)
def test_the_weights_are_the_energy(energy):
    attention = build_attention(energy, N, D, 6).double()
    query = torch.randn(2, 3, N, dtype=torch.float64)
    annotations = torch.randn(2, 5, D, dtype=torch.float64)
    weights = attention.fast_weights
    q = query if weights.W_q is None else query @ weights.W_q.T
    k = annotations if weights.W_k is None else annotations @ weights.W_k.T
    if weights.v_a is None:
        energies = weights.scale * q @ k.mT
    else:
        energies = torch.tanh(q.unsqueeze(2) + k.unsqueeze(1)) @ weights.v_a
    torch.testing.assert_close(attention.energies(query, attention.keys(annotations)), energies)


@pytest.mark.parametrize(
    "options",
    [{"normalizer": "sparsemax"}, {"window": "local-m"}, {"energy": "qkv", "heads": 2}, {"coverage": True}],
    ids=str,
)
def test_what_is_more_than_a_softmax_of_one_head_has_none(options):
    assert (
        build_attention(
            **{"energy": "additive", **options}, query_size=N, annotation_size=D, size=6
        ).fast_weights
        is None
    )


@pytest.mark.parametrize("method", ["keys", "values", "queries", "score", "energies", "mix", "attend"])
def test_a_subclass_that_changes_a_part_has_none_unless_it_says_which(method):
    changed = type("Changed", (Dot,), {method: getattr(Dot, method)})
    assert changed(N, D).fast_weights is None
    said = type("Said", (changed,), {"energy_weights": lambda self: EnergyWeights(None, None)})
    assert said(N, D).fast_weights == EnergyWeights(None, None)
    assert type("Renamed", (Additive,), {})(N, D, 6).fast_weights is not None
