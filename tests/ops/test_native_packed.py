"""Matrices packed for decoding multiply as torch does: int8 to the last integer, the others within rounding."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from regard import ops
from regard.ops import Inputs, Recurrence, Weights, definitions
from regard.ops.affine import affine
from regard.ops.affine import naive as affine_naive
from regard.ops.gru import naive as gru_naive
from regard.ops.lstm import naive as lstm_naive
from regard.ops.native import PRECISIONS, Packed, PackedWeights, load, native_off
from regard.ops.native.rounding import rounded, to_int8
from regard.ops.paths import naive_only

pytestmark = pytest.mark.skipif(load().library is None, reason=f"no C kernels here: {load().reason}")


def on_threads(number, run):
    used = torch.get_num_threads()
    torch.set_num_threads(number)
    try:
        return run()
    finally:
        torch.set_num_threads(used)


def in_bytes(x, W):
    """The product as int8 means it: both sides rounded by rows, an exact sum of whole numbers, two units."""
    (left, left_unit), (right, right_unit) = to_int8(x), to_int8(W)
    whole = left.to(torch.int64) @ right.to(torch.int64).T
    return whole, left_unit.unsqueeze(1) * right_unit


@settings(max_examples=60, deadline=None)
@given(
    st.integers(1, 160),
    st.integers(1, 130),
    st.integers(1, 700),
    st.booleans(),
    st.sampled_from([1, 2, 3]),
)
def test_int8_is_exact_but_for_the_rounding_of_its_factors(rows, columns, inner, biased, threads):
    torch.manual_seed(rows)
    x, W = torch.randn(rows, inner), torch.randn(columns, inner)
    bias = torch.randn(columns) if biased else None
    whole, unit = in_bytes(x, W)
    got = on_threads(threads, lambda: Packed(W, "int8").product(x, bias))
    expected = whole * unit.double() + (0 if bias is None else bias)
    # two units, their product and a sum, each rounded to float32
    assert ((got - expected).abs() <= 5e-7 * (whole.abs() * unit + (0 if bias is None else bias.abs()))).all()


def test_the_whole_numbers_of_int8_are_those_of_an_integer_product():
    # units of 1: all rows reach 127
    x, W = torch.randint(-127, 128, (19, 333)).float(), torch.randint(-127, 128, (45, 333)).float()
    x[:, 0], W[:, 0] = 127, -127
    assert torch.equal(Packed(W, "int8").product(x), (x.long() @ W.long().T).float())


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("inner", [1, 3, 37, 512, 1281])
def test_a_product_of_rounded_weights(inner, precision):
    x, W, bias = torch.randn(21, inner), torch.randn(70, inner), torch.randn(70)
    got = Packed(W, precision).product(x, bias)
    exact = x.double() @ rounded(W, precision).double().T + bias
    # what the rounding of x may add
    bound = {"float32": 1e-6, "bfloat16": 2**-8, "int8": 1 / 90}[precision]
    assert (got - exact).norm() <= bound * exact.norm()


@pytest.mark.parametrize("precision", PRECISIONS)
def test_a_row_does_not_depend_on_its_neighbours_nor_on_the_threads(precision):
    x, packed = torch.randn(161, 90), Packed(torch.randn(77, 90), precision)
    together = on_threads(2, lambda: packed.product(x))
    assert all(torch.equal(packed.product(x[k : k + 1])[0], together[k]) for k in range(161))


@pytest.mark.parametrize("precision", PRECISIONS)
def test_what_is_no_number_spoils_its_own_row_alone(precision):
    x, W = torch.randn(9, 20), torch.randn(40, 20)
    x[4, 3] = float("nan")
    assert Packed(W, precision).product(x).isnan().any(dim=1).tolist() == [k == 4 for k in range(9)]


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_a_weight_that_is_no_number_spoils_its_own_column_alone(bad, precision):
    x, W = torch.randn(9, 20), torch.randn(40, 20)
    W[7, 3] = bad
    finite = Packed(W, precision).product(x).isfinite()
    assert finite.any(dim=0).tolist() == finite.all(dim=0).tolist() == [k != 7 for k in range(40)]


def test_rows_and_columns_of_zeros_are_zeros():
    x, W = torch.randn(3, 8), torch.randn(5, 8)
    x[1], W[2] = 0, 0
    got = Packed(W, "int8").product(x)
    assert got[1].abs().max() == 0
    assert got[:, 2].abs().max() == 0


def test_affine_takes_the_packed_form_where_kernels_may_run():
    x, W, b = torch.randn(2, 3, 24), torch.randn(40, 24), torch.randn(40)
    exact = affine_naive.affine(x, W, b)
    packed = PackedWeights()
    packed.pack(W, "int8")
    assert not torch.allclose(affine(x, W, b, packed), exact, atol=1e-3)
    assert torch.allclose(affine(x, W, b, packed), exact, atol=0.3)
    for off in (native_off, naive_only):
        with off():
            assert torch.equal(affine(x, W, b, packed), exact)
    assert torch.equal(affine(x, W, b), exact), "a tensor knows nothing of who packed it"
    assert packed.of(W.clone()) is None
    assert packed.of(W).precision == "int8"


STEPS = {
    "lstm": (lstm_naive.lstm_step, lstm_naive.lstm_sequence, 4, 2),
    "gru": (gru_naive.gru_step, gru_naive.gru_sequence, 3, 1),
}


def recurrence(gates, parts, batch, n):
    state = tuple(torch.randn(batch, n) / 2 for _ in range(parts))
    return state, torch.randn(gates * n, n) / n**0.5


@pytest.mark.parametrize("cell", STEPS)
@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize(("batch", "n"), [(1, 1), (5, 10), (33, 37), (160, 64)])
def test_a_step(batch, n, precision, cell, monkeypatch):
    plain_step, _, gates, parts = STEPS[cell]
    state, U = recurrence(gates, parts, batch, n)
    projected = torch.randn(batch, gates * n)
    kept = [part.clone() for part in state]
    expected = plain_step(projected, state, rounded(U, precision))
    packed = PackedWeights()
    packed.pack(U, precision)
    monkeypatch.setattr(definitions, "step", lambda *_: pytest.fail("the packed U was not used"))
    got = on_threads(2, lambda: ops.step(Recurrence(cell), projected, Weights(U, packed=packed), state).last)
    bound = {"float32": 1e-6, "bfloat16": 1e-2, "int8": 2e-2}[precision]
    for one, other in zip(got, expected, strict=True):
        assert (one - other).abs().max() < bound
    # a state is a value
    assert all(torch.equal(one, other) for one, other in zip(state, kept, strict=True))


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("cell", STEPS)
def test_a_sequence(cell, reverse):
    _, plain_sequence, gates, parts = STEPS[cell]
    batch, length, n = 7, 6, 21
    state, U = recurrence(gates, parts, batch, n)
    mask = torch.rand(batch, length) > 0.3
    inputs, W, b = torch.randn(batch, length, 5), torch.randn(gates * n, 5), torch.randn(gates * n)
    states, last = plain_sequence(inputs, mask, state, W, U, b, reverse)
    weights = Weights(U, W, b, packed=PackedWeights())
    weights.packed.pack(U, "float32")
    weights.packed.pack(W, "float32")
    given = Inputs(inputs, mask, reverse=reverse)
    outputs = on_threads(2, lambda: ops.run(Recurrence(cell), given, weights, state))
    got, got_last = outputs.states, outputs.last
    assert torch.allclose(got, states, atol=2e-6)
    assert all(torch.allclose(one, other, atol=2e-6) for one, other in zip(got_last, last, strict=True))
