"""The C kernels agree with the naive paths, outputs and gradients; without a compiler, everything runs by torch."""

import os
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.ops.by_backend import by, by_threads

from regard.errors import RegardError
from regard.ops import lstmn
from regard.ops import self_attentive_rnn as sar
from regard.ops.affine import affine
from regard.ops.affine import naive as affine_naive
from regard.ops.affine import native as affine_native
from regard.ops.attending_gru import naive as attending_gru_naive
from regard.ops.gru import naive as gru_naive
from regard.ops.lstm import naive as lstm_naive
from regard.ops.native import library, load, native_applies, native_off, product
from regard.ops.native.library import Loaded
from regard.ops.paths import naive_only
from regard.ops.rnn import naive as rnn_naive
from regard.ops.tape import AdditiveScoring, DotScoring
from regard.ops.word_loss import naive as loss_naive
from regard.ops.word_loss import native as loss_native

NATIVE = by("C")
compiled = pytest.mark.skipif(load().library is None, reason=f"no C kernels here: {load().reason}")
narrow = pytest.mark.skipif(
    load().library is None or not load().library.regard_narrow(),
    reason="the processor has no bfloat16 products",
)

# (B, T, n): one of each, rows and widths that fill no vector and no tile, more of both than one tile
SIZES = [(1, 1, 1), (5, 7, 10), (9, 4, 32), (35, 6, 37)]


def outcome(run, tensors, dtype):
    """Outputs and gradients of one fixed mixture of them."""
    leaves = [tensor.to(dtype).requires_grad_() for tensor in tensors]
    outputs = run(*leaves)
    generator = torch.Generator().manual_seed(5)
    mixture = sum((out * torch.randn(out.shape, generator=generator).to(out)).sum() for out in outputs)
    return [*outputs, *torch.autograd.grad(mixture, leaves, materialize_grads=True)]


def hold_together(run, plain, tensors, tolerance=3e-6):
    """Each output and gradient, relative to the norm of what is expected."""
    got, expected = outcome(run, tensors, torch.float32), outcome(plain, tensors, torch.float64)
    for index, (one, other) in enumerate(zip(got, expected, strict=True)):
        assert one.dtype == torch.float32
        distance = (one.detach().double() - other.detach()).norm()
        assert distance <= tolerance * other.detach().norm() + 1e-6, index


def random(*shape):
    return torch.randn(*shape) / shape[-1] ** 0.5


def holes(batch, length):
    """A mask with padding anywhere, and a word in each row."""
    mask = torch.rand(batch, length) > 0.3
    mask[:, length // 2] = True
    return mask


@compiled
@settings(max_examples=60, deadline=None)
@given(
    st.integers(1, 70),
    st.integers(1, 80),
    st.integers(1, 1100),
    st.booleans(),
    st.booleans(),
    st.sampled_from([1, 2, 3]),
)
def test_a_product_is_torch_s(rows, columns, inner, left_turned, right_turned, threads):
    torch.manual_seed(rows)
    left = torch.randn(inner, rows).T if left_turned else torch.randn(rows, inner)
    right = torch.randn(columns, inner).T if right_turned else torch.randn(inner, columns)
    bias, before = torch.randn(columns), torch.randn(rows, columns)
    exact = left.double() @ right.double()
    used = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        got, summed = product(left, right, bias), product(left, right, into=before.clone(), add=True)
    finally:
        torch.set_num_threads(used)
    bound = 1e-6 * inner**0.5 * 8
    assert (got - (exact + bias)).abs().max() < bound
    assert (summed - (exact + before)).abs().max() < bound


@compiled
def test_a_row_of_a_product_does_not_depend_on_its_neighbours():
    left, right = torch.randn(37, 700), torch.randn(700, 65)
    together = product(left, right)
    assert all(torch.equal(product(left[k : k + 1], right)[0], together[k]) for k in range(37))


@compiled
def test_a_product_keeps_what_is_no_number():
    left, right = torch.randn(9, 20), torch.randn(20, 40)
    left[4, 3] = float("nan")
    assert product(left, right).isnan().any(dim=1).tolist() == [k == 4 for k in range(9)]


@narrow
@pytest.mark.parametrize("inner", [1, 2, 33, 1100])
def test_a_narrow_product_rounds_its_factors_and_nothing_else(inner):
    left, right = torch.randn(11, inner), torch.randn(inner, 50)
    exact = left.bfloat16().double() @ right.bfloat16().double()
    assert (product(left, right, narrow=True) - exact).abs().max() < 1e-5 * inner**0.5
    left[2, 0] = float("nan")
    assert product(left, right, narrow=True)[2].isnan().all()


@compiled
@pytest.mark.parametrize("bias", [True, False])
def test_affine(bias):
    tensors = [random(6, 9, 30), random(70, 30), *([random(70)] if bias else [])]
    hold_together(lambda *t: [affine_native.affine(*t)], lambda *t: [affine_naive.affine(*t)], tensors)


@compiled
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize(("batch", "length", "n"), SIZES)
def test_the_lstm(batch, length, n, reverse):
    torch.manual_seed(1)
    mask = holes(batch, length)

    def run_by(path):
        def run(x, h, c, W, U, b):
            states, last = path.lstm_sequence(x, mask, (h, c), W, U, b, reverse)
            return [states, *last]

        return run

    tensors = [random(batch, length, 6), random(batch, n), random(batch, n)]
    tensors += [random(4 * n, 6), random(4 * n, n), random(4 * n)]
    hold_together(run_by(NATIVE), run_by(lstm_naive), tensors)


@compiled
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize(("batch", "length", "n"), SIZES)
def test_the_gru(batch, length, n, reverse):
    torch.manual_seed(2)
    mask = holes(batch, length)

    def run_by(path):
        def run(x, h, W, U, b):
            states, last = path.gru_sequence(x, mask, (h,), W, U, b, reverse)
            return [states, *last]

        return run

    tensors = [random(batch, length, 6), random(batch, n), random(3 * n, 6), random(3 * n, n), random(3 * n)]
    hold_together(run_by(NATIVE), run_by(gru_naive), tensors)


@compiled
@pytest.mark.parametrize("activation", ["tanh", "sigmoid"])
@pytest.mark.parametrize(("batch", "length", "n"), SIZES)
def test_the_rnn(batch, length, n, activation):
    torch.manual_seed(3)
    mask = holes(batch, length)

    def run_by(path):
        def run(x, h, W, U, b):
            states, last = path.rnn_sequence(x, mask, (h,), W, U, b, activation)
            return [states, *last]

        return run

    tensors = [random(batch, length, 6), random(batch, n), random(n, 6), random(n, n), random(n)]
    hold_together(run_by(NATIVE), run_by(rnn_naive), tensors)


TAPES = {
    "read": (1, "read", 1),
    "sum": (1, "sum", 1),
    "sum-keep": (1, "sum-keep", 2),
    "lstmn": (4, "tanh", 1),
    "lstmn-plain": (4, "plain", 1),
}
SCORINGS = {
    "additive": lambda U_a, v_a: AdditiveScoring(U_a, v_a),
    "dot": lambda U_a, v_a: DotScoring(None, 0.5),
    "bilinear": lambda U_a, v_a: DotScoring(U_a),
}


@compiled
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("energy", SCORINGS)
@pytest.mark.parametrize("cell", TAPES)
@pytest.mark.parametrize(("batch", "length", "n"), SIZES[1:])
def test_tapes(batch, length, n, cell, energy, reverse):
    """Outputs, the tapes among them, and every gradient; with a span, padding anywhere and given slots."""
    torch.manual_seed(6)
    gates, variant, met = TAPES[cell]
    module, function = (lstmn, "lstmn_sequence") if gates == 4 else (sar, "self_attentive_rnn_sequence")
    p, num_first, heads = n if energy == "dot" else n + 3, 2, 3 if gates == 4 else 2
    mask, valid = holes(batch, length), torch.rand(batch, num_first) > 0.4
    mask[-1] = False  # a row without a word: its state passes by
    span = 3 if reverse else 0
    asks = variant not in ("sum", "sum-keep")

    def run_by(path):
        def run(x, *rest):
            initial, (W, U, b, *asking) = rest[: 2 * heads], rest[2 * heads :]
            S, U_a, v_a = (*asking, None, None, None)[:3]
            scoring = SCORINGS[energy](U_a, v_a)
            states, last, alpha = getattr(path, function)(
                x, mask, (*initial, valid), W, U, b, S, scoring, variant, span, reverse
            )
            return [states, alpha, *last[:-1]]

        return run

    tensors = [random(batch, length, 6), *(random(batch, n) for _ in range(heads))]
    tensors += [random(batch, num_first, p), *(random(batch, num_first, n) for _ in range(heads - 1))]
    tensors += [random(gates * n + (p if asks else 0), 6), random(gates * n, met * n), random(gates * n)]
    tensors += [random(p, n)] * (asks or energy != "dot")
    tensors += {"additive": [random(p, n), random(p)], "bilinear": [random(p, n)], "dot": []}[energy]
    hold_together(run_by(NATIVE), run_by(module.naive), tensors, 1e-5)


@compiled
def test_tapes_do_not_depend_on_the_number_of_threads():
    torch.manual_seed(8)
    mask, n = holes(9, 6), 20
    tensors = [random(9, 6, 5), *(random(9, n) for _ in range(3)), random(9, 1, n)]
    tensors += [random(9, 1, n), random(9, 1, n), random(5 * n, 5), random(4 * n, n), random(4 * n)]
    tensors += [random(n, n), random(n, n), random(n)]

    def run(x, *rest):
        initial = (*rest[:6], torch.ones(9, 1, dtype=torch.bool))
        scoring = AdditiveScoring(*rest[10:])
        states, last, alpha = NATIVE.lstmn_sequence(x, mask, initial, *rest[6:10], scoring)
        return [states, alpha, *last[:-1]]

    one, *others = by_threads(run, *tensors)
    for other in others:
        assert all(torch.equal(*pair) for pair in zip(one, other, strict=True))


def attending(path, mask, gates=4):
    def lstm(projected, h, c, *rest):
        return path.attending_lstm(projected, (h, c), *rest[:2], mask, *rest[2:])

    def gru(projected, h, *rest):
        return path.attending_gru(projected, h, *rest[:2], mask, *rest[2:])

    return lstm if gates == 4 else gru


def attending_tensors(batch, length, n, gates):
    a, d, steps = n + 3, 2 * n, length + 2
    state = [random(batch, n) for _ in range(2 if gates == 4 else 1)]
    source = [random(batch, length, a), random(batch, length, d)]
    weights = [random(a, n), random(a) * a**0.5, random(gates * n, n), random(gates * n, d)]
    return [random(batch, steps, gates * n), *state, *source, *weights]


@compiled
@pytest.mark.parametrize(("batch", "length", "n"), SIZES)
def test_the_attending_lstm(batch, length, n):
    torch.manual_seed(3)
    mask = holes(batch, length)
    paths = (attending(NATIVE, mask), attending(by("naive"), mask))
    hold_together(*paths, attending_tensors(batch, length, n, 4))


@compiled
@pytest.mark.parametrize(("batch", "length", "n"), SIZES)
def test_the_attending_gru(batch, length, n):
    torch.manual_seed(4)
    mask = holes(batch, length)
    paths = (attending(NATIVE, mask, 3), attending(attending_gru_naive, mask, 3))
    hold_together(*paths, attending_tensors(batch, length, n, 3))


@compiled
@pytest.mark.parametrize("gates", [3, 4], ids=["gru", "lstm"])
def test_attending_does_not_depend_on_the_number_of_threads(gates):
    torch.manual_seed(8)
    one, *others = by_threads(attending(NATIVE, holes(9, 5), gates), *attending_tensors(9, 5, 20, gates))
    for other in others:
        assert all(torch.equal(*pair) for pair in zip(one, other, strict=True))


@compiled
@pytest.mark.parametrize("dropout", [False, True], ids=["whole", "dropped"])
@pytest.mark.parametrize("energy", ["additive", "dot", "projected dot"])
@pytest.mark.parametrize(("batch", "length", "n"), SIZES)
def test_input_feeding(batch, length, n, energy, dropout):
    torch.manual_seed(5)
    mask, steps, l = holes(batch, length), length + 1, n + 5
    a = n if energy == "dot" else n + 3
    dropped = (torch.rand(batch, steps, l) > 0.3) / 0.7 if dropout else None
    asking = {"additive": [random(a, n), random(a)], "projected dot": [random(a, n)], "dot": []}[energy]

    def run_by(path):
        def run(projected, h, c, fed, keys, annotations, F, U, W_c, W_a=None, v_a=None):
            kept = None if dropped is None else dropped.to(projected)
            return path.input_feeding_lstm(
                projected, (h, c), fed, keys, annotations, mask, W_a, v_a, F, U, W_c, kept
            )

        return run

    tensors = [random(batch, steps, 4 * n), random(batch, n), random(batch, n), random(batch, l)]
    tensors += [random(batch, length, a), random(batch, length, 2 * n)]
    tensors += [random(4 * n, l), random(4 * n, n), random(l, 3 * n), *asking]
    hold_together(run_by(NATIVE), run_by(by("naive")), tensors)


@compiled
@pytest.mark.parametrize("smoothing", [0.0, 0.2])
@pytest.mark.parametrize(("rows", "size", "words"), [(1, 1, 1), (7, 5, 33), (60, 40, 501)])
def test_the_loss_of_words(rows, size, words, smoothing, monkeypatch):
    torch.manual_seed(6)
    monkeypatch.setattr(loss_native, "_CHUNK_BYTES", 4 * words * 25)  # 60 rows are three chunks
    targets = torch.randint(words, (rows,))

    def run_by(path):
        return lambda readout, W, b: [0.25 * path.word_loss(readout, targets, W, b, smoothing)]

    tensors = [3 * torch.randn(rows, size), torch.randn(words, size), torch.randn(words)]
    hold_together(run_by(loss_native), run_by(loss_naive), tensors, 1e-5)


@compiled
def test_a_loss_from_what_is_no_number_is_none():
    readout, W, b = torch.randn(3, 8), torch.randn(40, 8), torch.randn(40)
    readout[1, 2] = float("nan")
    assert loss_native.word_loss(readout, torch.tensor([1, 2, 3]), W, b).isnan()


@compiled
def test_the_loss_of_no_words_has_gradients_of_nothing(monkeypatch):
    monkeypatch.setattr(loss_native, "empty", lambda *shape: torch.full(shape, torch.nan))
    W, b = torch.randn(40, 8, requires_grad=True), torch.randn(40, requires_grad=True)
    loss = loss_native.word_loss(torch.randn(0, 8), torch.empty(0, dtype=torch.long), W, b)
    loss.backward()
    assert float(loss.detach()) == 0
    assert not W.grad.any()
    assert not b.grad.any()


@compiled
def test_a_loss_has_more_than_one_way_back():
    leaves = [torch.randn(3, 8, requires_grad=True), torch.randn(40, 8, requires_grad=True)]
    loss = loss_native.word_loss(leaves[0], torch.tensor([1, 2, 3]), leaves[1], torch.randn(40))
    once, twice = (torch.autograd.grad(scale * loss, leaves, retain_graph=True) for scale in (1.0, -0.25))
    assert all(torch.equal(two, -0.25 * one) for one, two in zip(once, twice, strict=True))


@compiled
@pytest.mark.parametrize("kind", ["turned", "strided", "expanded", "bfloat16"])
def test_weights_may_lie_in_memory_as_they_like(kind):
    torch.manual_seed(8)
    W, b, targets = torch.randn(40, 8), torch.randn(40), torch.tensor([1, 2, 39])
    turned = {
        "turned": lambda: (W.T.contiguous().T, b),
        "strided": lambda: (W.repeat(1, 2)[:, ::2], b.repeat(2)[::2]),
        "expanded": lambda: (W[:1].expand(40, 8), b[:1].expand(40)),
        "bfloat16": lambda: (W, b.bfloat16()),
    }[kind]()
    outcomes = []
    for path, dtype in ((loss_native, torch.float32), (loss_naive, torch.float64)):
        given = [tensor if dtype == torch.float32 else tensor.to(dtype) for tensor in turned]
        leaves = [tensor.detach().requires_grad_() for tensor in (torch.ones(3, 8, dtype=dtype), *given)]
        loss = path.word_loss(leaves[0], targets, *leaves[1:])
        outcomes.append([loss, *torch.autograd.grad(loss, leaves)])
    for one, other in zip(*outcomes, strict=True):
        torch.testing.assert_close(
            one.double(), other, rtol=1e-2 if one.dtype != torch.float32 else 1e-5, atol=1e-5
        )
    x = torch.randn(5, 8)
    torch.testing.assert_close(affine_native.affine(x, *turned), x @ turned[0].T + turned[1].float())


@compiled
@pytest.mark.parametrize("wrong", [-100, 40, 2**40])
def test_a_target_that_is_no_word_is_refused(wrong):
    with pytest.raises(RegardError, match=f"{wrong}.*vocabulary of 40"):
        loss_native.word_loss(
            torch.randn(2, 8), torch.tensor([0, wrong]), torch.randn(40, 8), torch.randn(40)
        )


@compiled
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_large_logits_keep_the_loss_of_their_differences(smoothing):
    torch.manual_seed(9)
    readout, W, targets = torch.zeros(4, 1), torch.zeros(50, 1), torch.arange(4)
    b = torch.randint(-8, 8, (50,)).float()
    near, far = (loss_native.word_loss(readout, targets, W, b + by, smoothing) for by in (0.0, 2.0**17))
    torch.testing.assert_close(far, near, rtol=1e-6, atol=0)
    b[7] = -torch.inf  # a word that is never said
    assert loss_native.word_loss(readout, targets, W, b, 0.0).isfinite()


@compiled
@pytest.mark.parametrize("default", [torch.float64, torch.bfloat16, "meta"], ids=str)
def test_what_torch_makes_by_default_is_no_concern_of_theirs(default):
    torch.manual_seed(10)
    tensors, mask = attending_tensors(6, 5, 32, 4), holes(6, 5)
    x, W = torch.randn(70, 130), torch.randn(130, 130)
    expected = [*attending(NATIVE, mask)(*tensors), affine(x, W)]
    if default == "meta":
        with torch.device("meta"):
            got = [*attending(NATIVE, mask)(*tensors), affine(x, W)]
    else:
        torch.set_default_dtype(default)
        try:
            got = [*attending(NATIVE, mask)(*tensors), affine(x, W)]
        finally:
            torch.set_default_dtype(torch.float32)
    assert all(torch.equal(one, other) for one, other in zip(got, expected, strict=True))


@compiled
def test_states_are_a_tensor_of_their_own():
    mask = holes(4, 5)
    given = [random(4, 5, 6), mask, (random(4, 8), random(4, 8)), random(32, 6), random(32, 8), random(32)]
    given[4].requires_grad_()
    states, _ = NATIVE.lstm_sequence(*given)
    assert states.untyped_storage().nbytes() == 4 * states.numel()
    states.mul_(2.0)  # as dropout in place does
    states.sum().backward()


@compiled
def test_a_second_derivative_is_refused_rather_than_forgotten():
    x, W = torch.randn(80, 130, requires_grad=True), torch.randn(130, 130, requires_grad=True)
    loss = loss_native.word_loss(x, torch.zeros(80, dtype=torch.long), W, torch.zeros(130))
    for out in (affine_native.affine(x, W).sum(), loss):
        with pytest.raises(
            RegardError, match=r"first derivative only; .* within regard.ops.paths.naive_only"
        ):
            torch.autograd.grad(out, x, create_graph=True)


def test_rows_of_nothing():
    assert affine(torch.zeros(3, 0), torch.zeros(4, 0)).shape == (3, 4)


@compiled
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is read from /proc")
def test_a_thread_takes_its_memory_along():
    left, right = torch.randn(64, 512), torch.randn(512, 8000)  # laid out, 16 MB

    def held():
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def in_threads(count):
        for _ in range(count):
            thread = threading.Thread(target=product, args=(left, right))
            thread.start()
            thread.join()

    in_threads(2)
    before = held()
    in_threads(10)
    assert held() - before < 50e6


@narrow
@pytest.mark.parametrize("n", [32, 37])
def test_mixed_precision_narrows_products_and_keeps_results_wide(n):
    torch.manual_seed(7)
    mask = holes(6, 5)
    exact = attending(by("naive"), mask)

    def run(*tensors):
        with torch.autocast("cpu", torch.bfloat16):
            assert native_applies(tensors[-1], *tensors)
            return attending(NATIVE, mask)(*tensors)

    tensors = attending_tensors(6, 5, n, 4)
    hold_together(run, exact, tensors, 2e-2)
    with pytest.raises(AssertionError):
        hold_together(run, exact, tensors, 1e-4)


def test_they_apply_to_float32_on_a_cpu_where_nobody_asked_for_less():
    weight = torch.randn(3, 3)
    there = load().library is not None
    assert native_applies(weight, weight) == there
    assert not native_applies(weight.double(), weight)
    assert not native_applies(weight, weight.double())
    assert not native_applies(weight, torch.empty(3, device="meta"))
    with native_off():
        assert not native_applies(weight)
    with naive_only():
        assert not native_applies(weight)
    with torch.autocast("cpu", torch.float16):
        assert not native_applies(weight)


@compiled
def test_small_products_and_wide_ones_stay_with_torch(monkeypatch):
    taken = []
    monkeypatch.setattr(affine_native, "affine", lambda x, W, b: taken.append(x.shape) or x @ W.T)
    affine(torch.randn(4, 512), torch.randn(2048, 512))
    affine(torch.randn(100, 8), torch.randn(8, 8))
    affine(torch.randn(100, 128).double(), torch.randn(128, 128).double())
    affine(torch.randn(100, 128), torch.randn(128, 128))
    assert taken == [(100, 128)]


def loaded_in(environment):
    """What another process says of the kernels in such an environment."""
    code = (
        "from regard.ops.native import load; found = load(); print(found.library is not None, found.reason)"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    return run.stdout.strip()


def test_without_a_compiler_there_is_a_reason(tmp_path):
    environment = {"PATH": str(tmp_path), "HOME": str(tmp_path)}
    assert (
        loaded_in(environment)
        == "False no C compiler was found; install one, or name its absolute path in CC"
    )
    assert "could not compile them" in loaded_in({**environment, "CC": failing(tmp_path)})
    assert loaded_in({**environment, "REGARD_NATIVE": "0"}) == "False REGARD_NATIVE=0 turns them off"


def test_the_processor_to_compile_for_can_be_named(monkeypatch):
    for named, flag in ((None, "-march=native"), ("", "-march=native"), ("x86-64-v3", "-march=x86-64-v3")):
        monkeypatch.delenv("REGARD_NATIVE_MARCH", raising=False)
        if named is not None:
            monkeypatch.setenv("REGARD_NATIVE_MARCH", named)
        assert [each for each in library._flags() if each.startswith("-march")] == [flag]


def test_a_compiler_may_come_with_arguments(tmp_path, monkeypatch):
    monkeypatch.setenv("CC", f"{failing(tmp_path)} -m64")
    assert library._compiler() == [str(tmp_path / "cc"), "-m64"]


def test_without_a_home_the_cache_is_the_process_s_own(tmp_path, monkeypatch):
    def nobody(*_):
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", nobody)
    removed = []
    monkeypatch.setattr(library.atexit, "register", lambda _, folder, **options: removed.append(folder))
    folder = library._cache()
    assert folder.is_dir()
    assert removed == [str(folder)]
    folder.rmdir()


def failing(folder):
    """A compiler that knows its version and can do nothing else."""
    path = folder / "cc"
    path.write_text("#!/bin/sh\n[ \"$1\" = --version ] && echo 1.0 && exit 0\necho 'error: no' >&2\nexit 1\n")
    path.chmod(0o755)
    return str(path)


@compiled
def test_a_library_is_compiled_once(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    load.cache_clear()
    try:
        assert isinstance(load(), Loaded)
        (made,) = (tmp_path / "regard").iterdir()
        stamp = made.stat().st_mtime_ns
        load.cache_clear()
        monkeypatch.setattr(library, "_compile", lambda *_: pytest.fail("compiled twice"))
        assert load().library is not None
        assert made.stat().st_mtime_ns == stamp
    finally:
        load.cache_clear()


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """A cache of its own, and a library in it under the key ``key``."""
    if load().library is None:
        pytest.skip("no kernels")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    content = Path(load().library._name).read_bytes()
    path = library._cache() / f"kernels-key{library._fingerprint(content)}"
    path.write_bytes(content)
    path.chmod(0o700)
    return path


def other_owner(path):
    if os.geteuid() != 0:
        pytest.skip("only root can give a file away")
    os.chown(path, 12345, 12345)


def as_link(path):
    path.rename(path.with_name("elsewhere"))
    path.symlink_to("elsewhere")


def as_fifo(path):
    path.unlink()
    os.mkfifo(path)


UNTRUSTED = {
    "shorter": lambda path: os.truncate(path, 100_000),
    "longer": lambda path: path.write_bytes(path.read_bytes() + b"\0"),
    "changed": lambda path: path.write_bytes(path.read_bytes()[:-1] + b"?"),
    "empty": lambda path: path.write_bytes(b""),
    "writable by a group": lambda path: path.chmod(0o720),
    "writable by all": lambda path: path.chmod(0o702),
    "of another user": other_owner,
    "a link": as_link,
    "a FIFO": as_fifo,
}


def test_a_whole_library_of_the_user_is_loaded(kept, monkeypatch):
    monkeypatch.setattr(library, "_compile", lambda *_: pytest.fail("compiled again"))
    assert library._opened(["cc"], kept.parent, "key")._name == str(kept)


@pytest.mark.parametrize("change", UNTRUSTED)
def test_an_untrusted_library_is_made_anew(kept, monkeypatch, change):
    """A planted one would be executed; a short one ends every command with SIGBUS, for good."""
    UNTRUSTED[change](kept)
    new = Path(load().library._name)
    monkeypatch.setattr(library, "_compile", lambda *_: new)
    assert library._opened(["cc"], kept.parent, "key")._name == str(new)
    assert not kept.exists(), "the untrusted one is removed"


def test_a_library_that_cannot_be_loaded_is_made_anew(kept, monkeypatch):
    content = b"\x7fELF of another machine"
    foreign = kept.with_name(f"kernels-key{library._fingerprint(content)}")
    foreign.write_bytes(content)
    foreign.chmod(0o700)
    kept.unlink()
    new = Path(load().library._name)
    monkeypatch.setattr(library, "_compile", lambda *_: new)
    assert library._opened(["cc"], kept.parent, "key")._name == str(new)


@compiled
def test_a_compiled_library_is_private_whole_and_on_the_disk(tmp_path, monkeypatch):
    synced, replaced = [], os.replace

    def sync(descriptor):
        synced.append(os.readlink(f"/proc/self/fd/{descriptor}"))

    def replace(made, path):
        assert synced == [str(made)], "the content comes first"
        replaced(made, path)

    monkeypatch.setattr(os, "fsync", sync)
    monkeypatch.setattr(os, "replace", replace)
    (tmp_path / "making-killed").mkdir()
    os.utime(tmp_path / "making-killed", (0, 0))
    before = os.umask(0)
    try:
        made = library._compile(library._compiler(), tmp_path, "key")
    finally:
        os.umask(before)
    assert synced[1:] == [str(tmp_path)], "then its name"
    assert library._is_whole(made)
    assert [path.name for path in tmp_path.iterdir()] == [made.name]


def test_a_cache_that_others_can_write_is_made_private_or_not_used(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    folder = tmp_path / "regard"
    folder.mkdir()
    folder.chmod(0o777)
    assert library._cache() == folder
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    other_owner(folder)
    own = library._cache()
    assert own.parent != tmp_path
    own.rmdir()


@pytest.mark.parametrize("base", ["", ".", "cache"])
def test_a_relative_cache_is_not_used(base, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", base)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert library._cache() == tmp_path / "home" / ".cache" / "regard"
    monkeypatch.setenv("HOME", "home")
    own = library._cache()
    assert own.is_absolute()
    assert not own.is_relative_to(tmp_path)
    own.rmdir()


def test_a_compiler_in_the_present_folder_is_not_used(tmp_path, monkeypatch):
    failing(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("PATH", ".")
    assert library._compiler() is None


def test_leftovers_of_killed_compilations_are_removed(tmp_path):
    for name, age in {
        "making-old": 3600,
        "making-new": 60,
        "kernels-old.so": 8e6,
        "kernels-new.so": 60,
        "mine": 9e9,
    }.items():
        path = tmp_path / name
        path.mkdir() if name.startswith("making") else path.touch()
        os.utime(path, (time.time() - age,) * 2)
    library._remove_leftovers(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"making-new", "kernels-new.so", "mine"}


@compiled
@pytest.mark.parametrize("autocast", [False, True])
def test_the_way_back_does_not_depend_on_who_calls_it(autocast):
    """∂/∂annotations in float32 even where mixed precision is on by the time of the backward pass."""
    torch.manual_seed(3)
    B, Tx, Ty, n, a, d = 3, 6, 4, 8, 8, 10
    given = [torch.randn(B, Ty, 4 * n), torch.randn(B, Tx, a), torch.randn(B, Tx, d)]
    weights = [torch.randn(*s) * 0.3 for s in ((a, n), (a,), (4 * n, n), (4 * n, d))]
    zero, mask = torch.zeros(B, n), torch.ones(B, Tx, dtype=torch.bool)

    def slope(package):
        projected, keys, annotations = (x.clone().requires_grad_() for x in given)
        states = package.attending_lstm(projected, (zero, zero), keys, annotations, mask, *weights)[0]
        with torch.autocast("cpu", torch.bfloat16, enabled=autocast):
            return torch.autograd.grad(states.sum(), annotations)[0]

    naive, native = by("naive"), NATIVE
    with torch.autocast("cpu", enabled=False):
        expected = torch.autograd.grad(
            naive.attending_lstm(
                given[0], (zero, zero), given[1], wanted := given[2].clone().requires_grad_(), mask, *weights
            )[0].sum(),
            wanted,
        )[0]
    torch.testing.assert_close(slope(native), expected, rtol=1e-5, atol=1e-6)


def test_a_mask_of_numbers_is_refused():
    from regard.ops.native.call import flags

    with pytest.raises(AssertionError, match=r"a mask is bool, not torch\.int64"):
        flags(torch.ones(2, 3, dtype=torch.int64))
