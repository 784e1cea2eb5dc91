"""Kernels agree with the fused paths: on a GPU, or by Triton's interpreter (``TRITON_INTERPRET=1`` from the start)."""

import os
from importlib.util import find_spec

import pytest
import torch
from tests.ops.by_backend import by

from regard.ops import Inputs, Weights
from regard.ops.attending_gru import naive as attending_gru_naive
from regard.ops.gru import naive as gru_naive
from regard.ops.kernels import recurrences
from regard.ops.kernels.choose import MOST_SLOTS, MOST_UNITS, kernels_apply, kernels_refuse
from regard.ops.kernels.tiles import WIDTH, tiles_of
from regard.ops.lstmn import naive as lstmn_naive
from regard.ops.tape import AdditiveScoring

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"

_RUN = find_spec("triton") is not None and (DEVICE == "cuda" or os.environ.get("TRITON_INTERPRET") == "1")
runs_kernels = pytest.mark.skipif(not _RUN, reason="kernels need a GPU, or Triton and TRITON_INTERPRET=1")

# relative to the norm of what is expected: the interpreter computes in float32, a GPU in TF32 or bfloat16
PRECISIONS = {"float32": (torch.float32, 5e-6 if DEVICE == "cpu" else 3e-3)}
if DEVICE == "cuda":
    PRECISIONS["bfloat16"] = (torch.bfloat16, 4e-2)


def outcome(run, tensors, dtype):
    """Outputs and gradients of one fixed mixture of them."""
    leaves = [tensor.to(dtype).requires_grad_() for tensor in tensors]
    outputs = run(*leaves)
    generator = torch.Generator().manual_seed(5)
    mixture = sum((out * torch.randn(out.shape, generator=generator).to(out)).sum() for out in outputs)
    return [*outputs, *torch.autograd.grad(mixture, leaves, materialize_grads=True)]


def hold_together(run, plain, tensors, precision):
    dtype, tolerance = PRECISIONS[precision]
    rounded = [tensor.to(dtype) for tensor in tensors]
    got, expected = outcome(run, rounded, dtype), outcome(plain, rounded, torch.float64)
    for index, (one, other) in enumerate(zip(got, expected, strict=True)):
        distance = (one.detach().double() - other.detach()).norm()
        assert distance <= tolerance * other.detach().norm() + 1e-30, index


def random(*shape):
    return 0.3 * torch.randn(*shape, device=DEVICE)


source_and_steps = pytest.mark.parametrize(
    ("lengths", "num_steps", "n", "a", "d"),
    [([5, 2, 4], 3, 64, 64, 128), ([3, 1], 2, 20, 30, 70), ([1], 1, 64, 64, 64), ([17] * 18, 1, 64, 64, 64)],
    ids=["padded rows", "padded widths", "one of each", "two tiles of rows"],
)


def mask_of(lengths):
    return torch.arange(max(lengths), device=DEVICE) < torch.tensor(lengths, device=DEVICE).unsqueeze(1)


@runs_kernels
@pytest.mark.parametrize("precision", PRECISIONS)
@source_and_steps
def test_the_attending_lstm(lengths, num_steps, n, a, d, precision):
    words, batch = max(lengths), len(lengths)
    mask = mask_of(lengths)
    tensors = [random(batch, num_steps, 4 * n), random(batch, n), random(batch, n), random(batch, words, a)]
    tensors += [random(batch, words, d), random(a, n), random(a), random(4 * n, n), random(4 * n, d)]

    def running(path):
        return lambda projected, h, c, keys, annotations, *w: path(
            projected, (h, c), keys, annotations, mask, *w
        )

    run, plain = (running(module.attending_lstm) for module in (by("Triton"), by("naive")))
    hold_together(run, plain, tensors, precision)


@runs_kernels
@pytest.mark.parametrize("precision", PRECISIONS)
@source_and_steps
def test_the_attending_gru(lengths, num_steps, n, a, d, precision):
    words, batch, mask = max(lengths), len(lengths), mask_of(lengths)
    tensors = [
        random(batch, num_steps, 3 * n),
        random(batch, n),
        random(batch, words, a),
        random(batch, words, d),
    ]
    tensors += [random(a, n), random(a), random(3 * n, n), random(3 * n, d)]

    def running(path):
        return lambda projected, s, keys, annotations, *w: path(projected, s, keys, annotations, mask, *w)

    run, plain = (running(module.attending_gru) for module in (by("Triton"), attending_gru_naive))
    hold_together(run, plain, tensors, precision)


@runs_kernels
@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize(
    ("lengths", "n"),
    [([4, 1, 3], 64), ([2, 1], 20), ([1] * 18, 64)],
    ids=["rows", "width", "two tiles of rows"],
)
@pytest.mark.parametrize("reverse", [False, True])
def test_the_gru(lengths, n, reverse, precision):
    mask = mask_of(lengths)
    tensors = [
        random(*mask.shape, 6),
        random(len(lengths), n),
        random(3 * n, 6),
        random(3 * n, n),
        random(3 * n),
    ]

    def running(path):
        def run(x, s, *weights):
            states, (last,) = path(x, mask, (s,), *weights, reverse)
            return states, last

        return run

    run, plain = (running(module.gru_sequence) for module in (by("Triton"), gru_naive))
    hold_together(run, plain, tensors, precision)


@runs_kernels
@pytest.mark.parametrize("precision", PRECISIONS)
def test_the_gru_of_both_directions_at_once(precision):
    mask, n = mask_of([4, 1, 3]), 20
    tensors = [random(*mask.shape, 6), random(3, n), random(3, n)]
    tensors += [random(*shape) for _ in range(2) for shape in ((3 * n, 6), (3 * n, n), (3 * n,))]

    def at_once(x, s, b, *weights):
        ahead, back = (Weights(U, W, b_) for W, U, b_ in (weights[:3], weights[3:]))
        states, last, first = recurrences.run_both(Inputs(x, mask), ahead, back, ((s,), (b,)))
        return states, *last, *first

    def in_turn(x, s, b, *weights):
        ahead, last = gru_naive.gru_sequence(x, mask, (s,), *weights[:3])
        back, first = gru_naive.gru_sequence(x, mask, (b,), *weights[3:], True)
        return torch.cat([ahead, back], dim=-1), *last, *first

    hold_together(at_once, in_turn, tensors, precision)


@runs_kernels
@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize(
    ("real", "first", "output", "reverse"),
    [
        ([[1, 1, 1], [1, 1, 1]], 0, "tanh", False),
        ([[1, 1, 1, 1], [1, 1, 0, 0], [0, 1, 0, 1]], 1, "tanh", False),
        ([[1, 1, 1], [1, 0, 0]], 2, "plain", True),
    ],
    ids=["whole", "padding on every side", "backwards over given slots"],
)
def test_the_lstmn(real, first, output, reverse, precision):
    mask = torch.tensor(real, dtype=torch.bool, device=DEVICE)
    (batch, steps), n, p = mask.shape, 64, 64
    tensors = [random(batch, steps, 5), random(4 * n + p, 5), random(4 * n, n), random(4 * n), random(p, n)]
    tensors += [random(p, n), random(p), *(random(batch, n) for _ in range(3)), random(batch, first, p)]
    tensors += [random(batch, first, n), random(batch, first, n)]
    valid = torch.ones(batch, first, dtype=torch.bool, device=DEVICE)

    def running(path):
        def run(x, W, U, b, S, U_a, v_a, *state):
            scoring = AdditiveScoring(U_a, v_a)
            states, last, alpha = path(x, mask, (*state, valid), W, U, b, S, scoring, output, 0, reverse)
            return [states, *last[:-1], alpha]

        return run

    hold_together(
        running(by("Triton").lstmn_sequence), running(lstmn_naive.lstmn_sequence), tensors, precision
    )


@pytest.mark.parametrize("batch", [1, 17, 64, 256])
@pytest.mark.parametrize("n", [64, 512, 1024, 1088])
def test_tiles_divide_what_they_are_tiles_of(batch, n):
    slots, a, d = 50, n, 2 * n
    tiles = tiles_of(torch.empty(batch, slots, a), slots, n, a, d, n + d)
    assert n % tiles.BU == a % tiles.BQ == (n + d) % tiles.BX == 0
    assert n % tiles.BK == d % tiles.BK == a % tiles.BL == n % tiles.BL == 0
    assert slots <= tiles.BT
    assert a <= tiles.BA
    assert d <= tiles.BD
    assert WIDTH % tiles.BK == 0


def test_kernels_apply_on_a_gpu_alone():
    assert not kernels_apply(torch.empty(2, 3, dtype=torch.bfloat16), 3, 64)


class OnGpu:
    """What `kernels_refuse` asks of a tensor."""

    is_cuda = True
    device = torch.device("cuda")

    def __init__(self, dtype):
        self.dtype = dtype


def test_kernels_apply_where_they_are_as_exact_as_torch(monkeypatch):
    # shapes are not checked here: the argument is not a tensor
    refuse = getattr(kernels_refuse, "__wrapped__", kernels_refuse)

    def decide(*given):
        return not refuse(*given)

    monkeypatch.setattr("regard.ops.kernels.choose._incapable", lambda device: "")
    before = torch.backends.cuda.matmul.allow_tf32
    try:
        torch.backends.cuda.matmul.allow_tf32 = False
        assert decide(OnGpu(torch.bfloat16), MOST_SLOTS, MOST_UNITS)
        assert not decide(OnGpu(torch.bfloat16), MOST_SLOTS + 1, MOST_UNITS)
        assert not decide(OnGpu(torch.bfloat16), MOST_SLOTS, 64, MOST_UNITS + 1)
        assert not decide(OnGpu(torch.float32), 50, 64)
        assert not decide(OnGpu(torch.float16), 50, 64)
        torch.backends.cuda.matmul.allow_tf32 = True
        assert decide(OnGpu(torch.float32), 50, 64)
        assert not decide(OnGpu(torch.float64), 50, 64)
    finally:
        torch.backends.cuda.matmul.allow_tf32 = before
