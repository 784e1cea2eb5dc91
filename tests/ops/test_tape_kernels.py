"""Recurrences with a tape, as kernels: on a GPU, or by Triton's interpreter (``TRITON_INTERPRET=1`` from the start)."""

import os
from importlib.util import find_spec

import pytest
import torch
from tests.ops.by_backend import by

from regard.ops.deep_fusion import Fusion, SourceTape
from regard.ops.deep_fusion import naive as fusion_naive
from regard.ops.lstmn import naive as lstmn_naive
from regard.ops.self_attentive_rnn import FORMS
from regard.ops.self_attentive_rnn import naive as rnn_naive
from regard.ops.tape import AdditiveScoring, DotScoring

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"

_RUN = find_spec("triton") is not None and (DEVICE == "cuda" or os.environ.get("TRITON_INTERPRET") == "1")
runs_kernels = pytest.mark.skipif(not _RUN, reason="kernels need a GPU, or Triton and TRITON_INTERPRET=1")

# relative to the norm of what is expected: the interpreter computes in float32, a GPU in TF32 or bfloat16; of few slots
# the gradients of S and v_a all but cancel, and TF32 keeps two digits of them
PRECISIONS = {"float32": (torch.float32, 1e-5 if DEVICE == "cpu" else 1e-2)}
if DEVICE == "cuda":
    PRECISIONS["bfloat16"] = (torch.bfloat16, 4e-2)

N = 60
"""No multiple of a tile's width: the kernels get zeros beside it."""
SCORINGS = ("additive", "dot", "bilinear")
# which positions are real, how many slots are given, whether from the end, how many of the last slots are read
ROWS = pytest.mark.parametrize(
    ("real", "first", "reverse", "span"),
    [
        pytest.param([[1, 1, 1], [1, 1, 1]], 0, False, 0, id="whole"),
        pytest.param([[1, 1, 1, 1], [1, 1, 0, 0], [0, 1, 0, 1]], 1, False, 0, id="padding on every side"),
        pytest.param([[1, 1, 1], [1, 0, 0]], 2, True, 0, id="backwards over given slots"),
        pytest.param([[1, 1, 1, 1, 1], [1, 0, 0, 1, 1]], 3, False, 2, id="a span over given slots"),
        pytest.param([[1, 1, 1], [0, 1, 1]], 0, True, 1, id="a span of one, backwards"),
    ],
)
precisions = pytest.mark.parametrize("precision", PRECISIONS)


def scoring_of(name, U_a, v_a):
    if name == "additive":
        return AdditiveScoring(U_a, v_a)
    return DotScoring(None if name == "dot" else U_a, 0.2)


def outcome(run, tensors, dtype):
    """Outputs and gradients of one fixed mixture of them."""
    leaves = [tensor.to(dtype).requires_grad_() for tensor in tensors]
    outputs = run(*leaves)
    generator = torch.Generator().manual_seed(5)
    mixture = sum((out * torch.randn(out.shape, generator=generator).to(out)).sum() for out in outputs)
    gradients = torch.autograd.grad(mixture, leaves, allow_unused=True, materialize_grads=True)
    return [*outputs, *gradients]


def hold_together(run, plain, tensors, precision):
    dtype, tolerance = PRECISIONS[precision]
    rounded = [tensor.to(dtype) for tensor in tensors]
    got, expected = outcome(run, rounded, dtype), outcome(plain, rounded, torch.float64)
    for index, (one, other) in enumerate(zip(got, expected, strict=True)):
        distance = (one.detach().double() - other.detach()).norm()
        assert distance <= tolerance * other.detach().norm() + 1e-30, index


def random(*shape):
    return 0.3 * torch.randn(*shape, device=DEVICE)


def matrix(rows, columns):
    """One that leaves the size of what it meets about as it is, so that rounding does not grow from step to step."""
    return columns**-0.5 * torch.randn(rows, columns, device=DEVICE)


@runs_kernels
@precisions
@pytest.mark.parametrize("energy", ["dot", "bilinear"])
@ROWS
def test_the_lstmn_by_dot_products(real, first, reverse, span, energy, precision):
    mask = torch.tensor(real, dtype=torch.bool, device=DEVICE)
    (batch, steps), n, p = mask.shape, N, N if energy == "dot" else 2 * N
    tensors = [random(batch, steps, 5), matrix(4 * n + p, 5), matrix(4 * n, n), random(4 * n), matrix(p, n)]
    tensors += [matrix(p, n), *(random(batch, n) for _ in range(3)), random(batch, first, p)]
    tensors += [random(batch, first, n), random(batch, first, n)]
    valid = torch.ones(batch, first, dtype=torch.bool, device=DEVICE)

    def running(path):
        def run(x, W, U, b, S, U_a, *state):
            scoring = scoring_of(energy, U_a, None)
            states, last, alpha = path(x, mask, (*state, valid), W, U, b, S, scoring, "tanh", span, reverse)
            return [states, *last[:-1], alpha]

        return run

    hold_together(
        running(by("Triton").lstmn_sequence), running(lstmn_naive.lstmn_sequence), tensors, precision
    )


@runs_kernels
@precisions
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("energy", SCORINGS)
@ROWS
def test_the_self_attentive_rnn(real, first, reverse, span, energy, form, precision):
    mask = torch.tensor(real, dtype=torch.bool, device=DEVICE)
    (batch, steps), n = mask.shape, N
    attends_first, keeps = form == "read", form == "sum-keep"
    p = N if energy == "dot" or (energy == "bilinear" and not attends_first) else 2 * N
    tensors = [
        random(batch, steps, 5),
        matrix(n + p * attends_first, 5),
        matrix(n, n * (1 + keeps)),
        random(n),
    ]
    tensors += [matrix(p, n), matrix(p, n), random(p), random(batch, n), random(batch, n)]
    tensors += [random(batch, first, p), random(batch, first, n)]
    valid = torch.ones(batch, first, dtype=torch.bool, device=DEVICE)

    def running(path):
        def run(x, W, U, b, S, U_a, v_a, *state):
            matrix = S if attends_first or energy == "additive" else None
            scoring = scoring_of(energy, U_a, v_a)
            states, last, alpha = path(
                x, mask, (*state, valid), W, U, b, matrix, scoring, form, span, reverse
            )
            return [states, *last[:-1], alpha]

        return run

    run, plain = (running(module.self_attentive_rnn_sequence) for module in (by("Triton"), rnn_naive))
    hold_together(run, plain, tensors, precision)


@runs_kernels
@precisions
@pytest.mark.parametrize(
    ("energy", "source_energy", "first", "output", "span"),
    [
        ("additive", "additive", 1, "tanh", 0),
        ("dot", "dot", 2, "plain", 0),
        ("bilinear", "additive", 0, "tanh", 0),
        ("additive", "dot", 2, "tanh", 2),
    ],
)
def test_deep_fusion(energy, source_energy, first, output, span, precision):
    lengths, steps, n = [4, 1, 3], 3, N
    batch, words, p = len(lengths), max(lengths), N if "dot" in (energy, source_energy) else 2 * N
    mask = torch.arange(words, device=DEVICE) < torch.tensor(lengths, device=DEVICE).unsqueeze(1)
    valid = torch.ones(batch, first, dtype=torch.bool, device=DEVICE)
    valid[1:, :1] = False
    tensors = [random(batch, steps, 5 * n + 2 * p), *(random(batch, n) for _ in range(4))]
    tensors += [random(batch, first, width) for width in (p, n, n)]
    tensors += [random(batch, words, width) for width in (p, n, n)]
    tensors += [matrix(4 * n, n), matrix(n, n), *(matrix(p, n) for _ in range(3)), random(p), random(p)]

    def running(path):
        def run(projected, *rest):
            state, (keys, values, memories), matrices = (*rest[:7], valid), rest[7:10], rest[10:14]
            scorings = scoring_of(energy, *rest[14:16]), scoring_of(source_energy, rest[14], rest[16])
            source, fusion = SourceTape(keys, values, memories, mask), Fusion(*matrices, *scorings)
            states, alphas = path(projected, state, source, fusion, output, span)
            return [states, *alphas]

        return run

    run, plain = (running(module.deep_fusion) for module in (by("Triton"), fusion_naive))
    hold_together(run, plain, tensors, precision)
