"""Additive energies in C are those of the naive path, and are taken only where no gradient is wanted."""

import pytest
import torch

from regard.ops.attention import additive_energies
from regard.ops.attention.additive import fused, naive, native
from regard.ops.native import load, native_off

pytestmark = pytest.mark.skipif(load().library is None, reason=f"no C kernels here: {load().reason}")


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(
    ("batch", "queries", "words", "a"), [(1, 1, 1, 1), (3, 5, 7, 10), (2, 4, 3, 37), (9, 5, 21, 64)]
)
def test_the_kernel(batch, queries, words, a, threads, monkeypatch):
    monkeypatch.setattr(native, "_ALONE", 0)
    query, keys, v_a = torch.randn(batch, queries, a), torch.randn(batch, words, a), torch.randn(a)
    used = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        got = native.additive_energies(query, keys, v_a)
    finally:
        torch.set_num_threads(used)
    assert torch.allclose(got, naive.additive_energies(query, keys, v_a), atol=1e-5)


def test_who_learns_gets_the_path_with_gradients(monkeypatch):
    given = (torch.randn(2, 3, 4), torch.randn(2, 5, 4), torch.randn(4))
    monkeypatch.setattr(fused, "additive_energies", lambda *_: pytest.fail("the fused path was taken"))
    with torch.no_grad():
        additive_energies(*given)
    for context in (torch.enable_grad, native_off):
        with (
            torch.set_grad_enabled(context is torch.enable_grad),
            context(),
            pytest.raises(pytest.fail.Exception),
        ):
            additive_energies(*given)
