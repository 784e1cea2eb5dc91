"""Every energy: fused is naive in values and gradients, and both are the equation for each pair."""

from collections.abc import Callable
from typing import NamedTuple

import pytest
import torch
from torch import Tensor

from regard.ops import attention
from regard.ops.attention.additive import fused as additive_fused
from regard.ops.attention.additive import naive as additive_naive
from regard.ops.attention.bilinear import fused as bilinear_fused
from regard.ops.attention.bilinear import naive as bilinear_naive
from regard.ops.attention.concat import fused as concat_fused
from regard.ops.attention.concat import naive as concat_naive
from regard.ops.attention.dot import fused as dot_fused
from regard.ops.attention.dot import naive as dot_naive
from regard.ops.paths import naive_only


class Energy(NamedTuple):
    fused: Callable[..., Tensor]
    naive: Callable[..., Tensor]
    pair: Callable[..., Tensor]
    """e of one query and one key, from the paper."""
    widths: tuple[int, int]
    """Of a query and of a key."""
    weights: tuple[tuple[int, ...], ...] = ()


ENERGIES = {
    "additive": Energy(
        additive_fused.additive_energies,
        additive_naive.additive_energies,
        lambda q, k, v: v @ torch.tanh(q + k),
        (4, 4),
        ((4,),),
    ),
    "dot": Energy(dot_fused.dot_energies, dot_naive.dot_energies, lambda q, k: q @ k, (4, 4)),
    "scaled dot": Energy(
        dot_fused.scaled_dot_energies, dot_naive.scaled_dot_energies, lambda q, k: q @ k / 2, (4, 4)
    ),
    "bilinear": Energy(
        bilinear_fused.bilinear_energies,
        bilinear_naive.bilinear_energies,
        lambda q, k, W: q @ (W @ k),
        (3, 5),
        ((3, 5),),
    ),
    "concat": Energy(
        concat_fused.concat_energies,
        concat_naive.concat_energies,
        lambda q, k, W, v: v @ torch.tanh(W @ torch.cat([q, k])),
        (3, 5),
        ((2, 8), (2,)),
    ),
}

every_energy = pytest.mark.parametrize("energy", ENERGIES.values(), ids=ENERGIES.keys())
every_size = pytest.mark.parametrize(
    ("batch", "queries", "keys"), [(1, 1, 1), (2, 3, 5), (3, 1, 7), (1, 6, 1), (2, 2, 65)]
)


def tensors_of(energy: Energy, batch: int, queries: int, keys: int) -> list[Tensor]:
    shapes = [(batch, queries, energy.widths[0]), (batch, keys, energy.widths[1]), *energy.weights]
    return [torch.randn(*shape, dtype=torch.float64) for shape in shapes]


@every_energy
@every_size
def test_fused_is_naive_in_values_and_gradients(energy, batch, queries, keys, agree):
    agree(
        lambda *tensors: [energy.fused(*tensors)],
        lambda *tensors: [energy.naive(*tensors)],
        tensors_of(energy, batch, queries, keys),
    )


@every_energy
@pytest.mark.parametrize("path", ["fused", "naive"])
def test_each_entry_is_the_equation_for_its_pair(energy, path):
    queries, keys, *weights = tensors_of(energy, 2, 3, 4)
    energies = getattr(energy, path)(queries, keys, *weights)
    for b in range(2):
        for i in range(3):
            for j in range(4):
                torch.testing.assert_close(
                    energies[b, i, j], energy.pair(queries[b, i], keys[b, j], *weights)
                )


@every_energy
@pytest.mark.parametrize("path", ["fused", "naive"])
def test_gradients_are_the_derivatives(energy, path):
    tensors = [tensor.requires_grad_() for tensor in tensors_of(energy, 1, 2, 3)]
    assert torch.autograd.gradcheck(getattr(energy, path), tensors)


@pytest.mark.parametrize(
    ("function", "fused", "naive"),
    [
        ("additive_energies", additive_fused, additive_naive),
        ("dot_energies", dot_fused, dot_naive),
        ("scaled_dot_energies", dot_fused, dot_naive),
    ],
)
def test_which_path_runs(function, fused, naive, monkeypatch):
    taken = []
    for name, module in (("fused", fused), ("naive", naive)):
        real = getattr(module, function)
        monkeypatch.setattr(module, function, lambda *t, n=name, r=real: taken.append(n) or r(*t))
    tensors = [torch.randn(2, 1, 4), torch.randn(2, 3, 4)]
    if function == "additive_energies":
        tensors.append(torch.randn(4))
    getattr(attention, function)(*tensors)
    assert taken == ["fused"]
    with naive_only():
        getattr(attention, function)(*tensors)
    assert taken[:2] == ["fused", "naive"]
    assert "fused" not in taken[1:]


@pytest.mark.parametrize("name", ["concat", "bilinear"])
def test_keys_are_split_off_once_and_not_by_the_naive_path(name):
    """Both paths give the energy as printed; only the fused one projects the keys beforehand."""
    q, h, W, *v = tensors_of(ENERGIES[name], 2, 3, 4)
    keys_of, energies = getattr(attention, f"{name}_keys"), getattr(attention, f"{name}_energies")
    printed = {"concat": concat_naive.concat_energies, "bilinear": bilinear_naive.bilinear_energies}[name]
    queries_of = attention.concat_queries if name == "concat" else lambda query, _: query
    keys = keys_of(h, W)
    torch.testing.assert_close(energies(queries_of(q, W), keys, W, *v), printed(q, h, W, *v))
    assert keys.shape != h.shape or not torch.equal(keys, h)
    with naive_only():
        assert keys_of(h, W) is h
        assert queries_of(q, W) is q
        torch.testing.assert_close(energies(q, h, W, *v), printed(q, h, W, *v))
