"""Input feeding's kernels agree with the fused path: on a GPU, or by Triton's interpreter (``TRITON_INTERPRET=1``)."""

import os
from importlib.util import find_spec

import pytest
import torch
from tests.ops.by_backend import by

naive, persistent = by("naive"), by("Triton")

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"

_RUN = find_spec("triton") is not None and (DEVICE == "cuda" or os.environ.get("TRITON_INTERPRET") == "1")
runs_kernels = pytest.mark.skipif(not _RUN, reason="kernels need a GPU, or Triton and TRITON_INTERPRET=1")

# relative to the norm of what is expected: the interpreter computes in float32, a GPU in TF32 or bfloat16
PRECISIONS = {"float32": (torch.float32, 5e-6 if DEVICE == "cpu" else 3e-3)}
if DEVICE == "cuda":
    PRECISIONS["bfloat16"] = (torch.bfloat16, 4e-2)

# lengths of the sources, steps, n, a, d, l; whether energies are additive, whether the query has a matrix, dropout
CASES = {
    "additive, padded rows": ([5, 2, 4], 3, 64, 128, 80, 64, True, True, True),
    "additive, padded widths": ([3, 1], 2, 20, 30, 70, 40, True, True, False),
    "additive, the state asks": ([3, 2], 3, 64, 64, 64, 128, True, False, True),
    "dot": ([2, 5], 3, 64, 64, 40, 64, False, False, False),
    "dot, padded widths": ([4, 3], 2, 20, 20, 30, 40, False, False, True),
    "dot with a matrix": ([1, 3], 3, 64, 128, 30, 64, False, True, True),
    "one of each": ([1], 1, 64, 64, 64, 64, False, False, True),
    "two tiles of rows": ([17] * 18, 1, 64, 64, 64, 64, True, True, True),
}


def random(*shape):
    return 0.5 * torch.randn(*shape, device=DEVICE)


def weight(*shape):
    """So large that sums over its columns neither grow nor shrink: rounding must not either, from step to step."""
    return torch.randn(*shape, device=DEVICE) * shape[-1] ** -0.5


def outcome(run, tensors, dtype):
    """Outputs and gradients of one fixed mixture of them."""
    leaves = [tensor.to(dtype).requires_grad_() for tensor in tensors]
    outputs = run(*leaves)
    generator = torch.Generator().manual_seed(5)
    mixture = sum((out * torch.randn(out.shape, generator=generator).to(out)).sum() for out in outputs)
    return [*outputs, *torch.autograd.grad(mixture, leaves)]


@runs_kernels
@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_kernels_are_naive_in_values_and_gradients(case, precision):
    lengths, num_steps, n, a, d, l, additive, matrix, dropout = case
    words, batch = max(lengths), len(lengths)
    mask = torch.arange(words, device=DEVICE) < torch.tensor(lengths, device=DEVICE).unsqueeze(1)
    tensors = [random(batch, num_steps, 4 * n), random(batch, n), random(batch, n), random(batch, l)]
    tensors += [random(batch, words, a), random(batch, words, d)]
    tensors += [weight(4 * n, l), weight(4 * n, n), weight(l, d + n)]
    tensors += [weight(a, n)] * matrix + [3 * weight(a)] * additive
    noise = torch.empty(batch, num_steps, l, device=DEVICE).bernoulli_(0.5).div_(0.5) if dropout else None

    def running(path):
        def run(projected, h, c, fed, keys, annotations, F, U, W_c, *of_energies):
            W_a, v_a = of_energies[0] if matrix else None, of_energies[-1] if additive else None
            dropped = None if noise is None else noise.to(projected.dtype)
            return path(projected, (h, c), fed, keys, annotations, mask, W_a, v_a, F, U, W_c, dropped)

        return run

    dtype, tolerance = PRECISIONS[precision]
    rounded = [tensor.to(dtype) for tensor in tensors]
    got = outcome(running(persistent.input_feeding_lstm), rounded, dtype)
    expected = outcome(running(naive.input_feeding_lstm), rounded, torch.float64)
    for index, (one, other) in enumerate(zip(got, expected, strict=True)):
        distance = (one.detach().double() - other.detach()).norm()
        assert distance <= tolerance * other.detach().norm() + 1e-30, index


@runs_kernels
def test_nothing_is_owed_where_nobody_took_anything():
    """The readouts alone, as a loss takes them: alpha's gradient is missing, not zero."""
    shapes = [(2, 2, 256), (2, 64), (2, 64), (2, 64), (2, 3, 64), (2, 3, 64), (256, 64), (256, 64), (64, 128)]
    tensors = [(random if len(shape) > 2 else weight)(*shape).requires_grad_() for shape in shapes]
    projected, h, c, fed, keys, annotations, F, U, W_c = tensors
    mask = torch.ones(2, 3, dtype=torch.bool, device=DEVICE)
    given = (projected, (h, c), fed, keys, annotations, mask, None, None, F, U, W_c, None)
    for index in (0, 1):
        got, expected = (
            torch.autograd.grad(path.input_feeding_lstm(*given)[index].sin().sum(), tensors)
            for path in (persistent, naive)
        )
        for one, other in zip(got, expected, strict=True):
            torch.testing.assert_close(one, other, rtol=0, atol=1e-5 if DEVICE == "cpu" else 1e-2)
