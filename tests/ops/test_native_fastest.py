"""Which kernel multiplies large matrices: chosen by its time, kept beside the kernels, and always a product."""

import json

import pytest
import torch

from regard.ops import Inputs, Recurrence, Weights, run
from regard.ops.affine import affine
from regard.ops.native import fastest, large_product, load, product
from regard.ops.native.fastest import Fastest, choose
from regard.ops.word_loss import native as loss_native

compiled = pytest.mark.skipif(load().library is None, reason=f"no C kernels here: {load().reason}")

# seconds as measured: ours is twice as fast in both; torch's bfloat16 has a matrix unit; no bfloat16 at all
TIMES = {
    "C float32": 1.4,
    "torch float32": 2.6,
    "torch bfloat16": 0.8,
    "C bfloat16": 0.7,
    "C steps float32": 0.15,
    "C steps bfloat16": 0.08,
}
WITHOUT = {name: seconds for name, seconds in TIMES.items() if not name.startswith("C") or "float32" in name}


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        (TIMES, Fastest("C", "C", True, True)),
        ({**TIMES, "torch float32": 1.2}, Fastest("C", "C", True, True)),  # not clearly faster
        ({**TIMES, "torch float32": 1.0}, Fastest("torch", "C", True, True)),
        ({**TIMES, "torch bfloat16": 0.3}, Fastest("C", "torch", True, True)),
        ({**TIMES, "C bfloat16": 1.6, "C steps bfloat16": 0.2}, Fastest("C", "torch", True, False)),
        (WITHOUT, Fastest("C", "torch", True, False)),
        ({**WITHOUT, "torch bfloat16": 9.0}, Fastest("C", "C", False, False)),
        ({**WITHOUT, "torch bfloat16": 9.0, "torch float32": 1.0}, Fastest("torch", "torch", False, False)),
    ],
)
def test_the_fastest_is_chosen(times, expected):
    assert choose(times) == expected


@compiled
def test_times_are_measured_once_and_again_where_they_were_damaged(tmp_path, monkeypatch):
    measured = []

    def measure():
        measured.append(TIMES)
        return TIMES

    monkeypatch.delenv("REGARD_PRODUCTS", raising=False)
    monkeypatch.setattr(fastest, "measure", measure)
    monkeypatch.setattr(type(load()), "path", property(lambda self: tmp_path / "kernels-1.so"))
    uncached = fastest.times_of.__wrapped__
    assert uncached(2) == uncached(2) == TIMES
    assert len(measured) == 1
    uncached(1)
    assert len(measured) == 2, "other threads, other times"
    (path,) = tmp_path.glob("*-2.json")
    for damaged in ("", "[]", "{}", "{", '{"C float32": "quick"}', json.dumps({**TIMES, "C float32": -1})):
        path.write_text(damaged)
        before = len(measured)
        assert uncached(2) == TIMES
        assert len(measured) == before + 1, damaged
    monkeypatch.setattr(type(load()), "path", property(lambda self: tmp_path / "none" / "kernels-1.so"))
    assert uncached(2) == TIMES


@compiled
def test_what_is_measured_is_every_kernel_of_this_processor():
    times = fastest.measure()
    assert ("C bfloat16" in times) == bool(load().library.regard_narrow()) == ("C steps bfloat16" in times)
    assert {name for name in times if "bfloat16" not in name} == {
        "C float32",
        "torch float32",
        "C steps float32",
    }
    assert all(seconds > 0 for seconds in times.values())


@compiled
def test_what_was_chosen_is_said(monkeypatch):
    assert fastest.describe_products() == "C (REGARD_PRODUCTS=C)"
    monkeypatch.delenv("REGARD_PRODUCTS")
    for times, expected in (
        (
            TIMES,
            "float32 by C (C 1.4e+03, torch 2.6e+03 ms); bfloat16 by C (C 7e+02, torch 8e+02 ms); 1 thread",
        ),
        (
            {**WITHOUT, "torch bfloat16": 9.0},
            "float32 by C (C 1.4e+03, torch 2.6e+03 ms); bfloat16 by the one for float32 (torch 9e+03 ms); 1 thread",
        ),
    ):
        monkeypatch.setattr(fastest, "times_of", lambda threads, times=times: times)
        assert fastest.describe_products() == expected


CHOICES = [
    Fastest(wide, narrow, rounds, rounds)
    for wide in ("C", "torch")
    for narrow in ("C", "torch")
    for rounds in (True, False)
]


@compiled
@pytest.mark.parametrize("chosen", CHOICES, ids=str)
@pytest.mark.parametrize("narrow", [False, True])
def test_a_large_product_is_one_by_every_kernel(chosen, narrow, monkeypatch):
    monkeypatch.setattr(fastest, "fastest", lambda: chosen)
    left, right, bias, before = (torch.randn(*size) for size in ((64, 200), (96, 200), (96,), (64, 96)))
    exact = left.double() @ right.double().T
    with torch.autocast("cpu", torch.bfloat16):  # which does not reach into the kernels
        got = large_product(left, right.T, bias, narrow=narrow)
        summed = large_product(left, right.T, narrow=narrow, into=before.clone(), add=True)
        into = before.clone()
        assert large_product(left, right.T, narrow=narrow, into=into) is into
    assert {got.dtype, summed.dtype} == {torch.float32}
    # bfloat16 holds 8 bits, of both factors and of the product
    bound = (3e-7 if not (narrow and chosen.rounds) else 2**-8) * 200**0.5 * 8
    for one, expected in ((got, exact + bias), (summed, exact + before), (into, exact)):
        assert (one - expected).abs().max() < bound


@compiled
def test_training_takes_the_fastest_and_translating_ours(monkeypatch):
    monkeypatch.setattr(fastest, "fastest", lambda: Fastest("torch", "torch"))
    taken = []
    by_torch = fastest._by_torch
    monkeypatch.setattr(fastest, "_by_torch", lambda *given: taken.append(given) or by_torch(*given))
    x, W = torch.randn(64, 200), torch.randn(128, 200, requires_grad=True)
    expected = x.double() @ W.detach().double().T
    with torch.no_grad():
        alone = affine(x, W)
    assert taken == []
    assert torch.equal(alone[3:4], product(x[3:4], W.detach().T)), "whatever stands beside a row"
    affine(x, W).sum().backward()
    assert len(taken) == 2, "forward, and the gradient of W"
    torch.testing.assert_close(alone.double(), expected, rtol=1e-5, atol=1e-4)
    torch.testing.assert_close(W.grad, x.sum(dim=0).expand(128, -1), rtol=1e-4, atol=1e-4)
    loss_native.word_loss(x, torch.zeros(64, dtype=torch.long), W, torch.zeros(128, requires_grad=True))
    assert len(taken) == 2 + 2, "logits, and the gradient of W_o"


@compiled
def test_without_products_in_bfloat16_mixed_precision_computes_in_float32(monkeypatch):
    """On such a processor it left the kernels, and was slower than float32."""
    monkeypatch.setattr(load().library, "regard_narrow", lambda: 0)
    x, U = torch.randn(3, 5, 12), torch.randn(12, 12) / 4
    made = []
    for autocast in (False, True):
        with torch.autocast("cpu", torch.bfloat16, enabled=autocast), torch.no_grad():
            states = run(Recurrence("rnn"), Inputs(x), Weights(U), (torch.zeros(3, 12),)).states
        made.append((states, product(x[0], U, narrow=autocast)))
    assert all(torch.equal(one, other) for one, other in zip(*made, strict=True))
