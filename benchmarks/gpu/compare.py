"""Recurrences against their naive selves in float64, then against `nn.LSTM` by the clock.

In: a recurrence's name, a size, a precision. Out: a row of figures. A time is forward and backward together, from the
words and the source, which need no gradient on either side, to the gradients of all parameters; a ratio's two times
come from the same run.
"""

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from benchmarks.gpu.recurrences import RECURRENCES, TorchLSTM
from benchmarks.gpu.stopwatch import graphed, median_ms, peak_mib
from regard.ops.paths import naive_only

DEVICE = "cuda"


@dataclass(frozen=True)
class Size:
    """Rows, words of source and target alike, units."""

    B: int
    T: int
    n: int

    def __str__(self) -> str:
        """As tables show it."""
        return f"B {self.B}, T {self.T}, n {self.n}"


SIZES = (Size(128, 50, 1024), Size(64, 32, 512), Size(256, 50, 512))
PRECISIONS = {"bf16": torch.bfloat16, "float32 (TF32)": torch.float32}


def _inputs(size: Size, dtype: torch.dtype) -> tuple[Tensor, Tensor, Tensor]:
    """Words, source, mask."""
    words = torch.randn(size.B, size.T, size.n, device=DEVICE, dtype=dtype)
    source = torch.randn(size.B, size.T, 2 * size.n, device=DEVICE, dtype=dtype)
    return words, source, torch.ones(size.B, size.T, dtype=torch.bool, device=DEVICE)


def agreement(name: str, size: Size, precision: str) -> dict[str, Any]:
    """How far states and gradients are from the naive path in float64, relative to their norm; rows padded."""
    torch.manual_seed(size.B + size.n)
    dtype = PRECISIONS[precision]
    module = RECURRENCES[name](size.n).to(DEVICE, dtype)
    words, source, mask = _inputs(size, dtype)
    lengths = torch.randint(1, size.T + 1, (size.B, 1), device=DEVICE)
    mask &= torch.arange(size.T, device=DEVICE) < lengths
    mixture = torch.randn(size.B, size.T, size.n, device=DEVICE)
    plain = copy.deepcopy(module).double()
    with naive_only():
        expected = _outcome(plain, words.double(), source.double(), mask, mixture)
    got = _outcome(module, words, source, mask, mixture)
    again = _outcome(module, words, source, mask, mixture)
    errors = {
        key: float((got[key].double() - value).norm() / value.norm())
        for key, value in expected.items()
        if value.norm() > 0
    }
    worst = max(errors, key=errors.__getitem__)
    repeatable = all(torch.equal(got[key], again[key]) for key in got)
    return {"recurrence": name, "size": str(size), "precision": precision, "states": errors["states"],
            "worst": errors[worst], "of": worst, "repeatable": repeatable}  # fmt: skip


def _outcome(
    module: nn.Module, words: Tensor, source: Tensor, mask: Tensor, mixture: Tensor
) -> dict[str, Tensor]:
    """States, and the gradient of every parameter and of what is read."""
    leaves = {"words": words.detach().requires_grad_(), "source": source.detach().requires_grad_()}
    states = module(leaves["words"], leaves["source"], mask)
    leaves |= dict(module.named_parameters())
    loss = (states * mixture.to(states.dtype)).sum()
    gradients = torch.autograd.grad(loss, list(leaves.values()), allow_unused=True, materialize_grads=True)
    return {"states": states.detach(), **dict(zip(leaves, gradients, strict=True))}


def timing(name: str, size: Size, precision: str) -> dict[str, Any]:
    """The recurrence's time over that of `nn.LSTM`, eager and as graphs; its memory at the peak, and `nn.LSTM`'s."""
    torch.manual_seed(0)
    dtype = PRECISIONS[precision]
    words, source, mask = _inputs(size, dtype)
    step = _step(RECURRENCES[name](size.n).to(DEVICE, dtype), words, source, mask)
    torch_step = _step(TorchLSTM(size.n).to(DEVICE, dtype), words, source, mask)
    row: dict[str, Any] = {"recurrence": name, "size": str(size), "precision": precision}
    row |= {"ms": median_ms(step), "lstm_ms": median_ms(torch_step)}
    row |= {"mib": peak_mib(step), "lstm_mib": peak_mib(torch_step)}
    row["ratio"] = row["ms"] / row["lstm_ms"]
    try:
        row |= {"graph_ms": median_ms(graphed(step)), "lstm_graph_ms": median_ms(graphed(torch_step))}
        row["graph_ratio"] = row["graph_ms"] / row["lstm_graph_ms"]
    except RuntimeError as error:
        row["graph_failed"] = str(error).splitlines()[0]
        torch.cuda.synchronize()
    return row


def _step(module: nn.Module, words: Tensor, source: Tensor, mask: Tensor) -> Callable[[], None]:
    """Forward and backward, gradients made anew."""

    def run() -> None:
        for parameter in module.parameters():
            parameter.grad = None
        module(words, source, mask).sum().backward()

    return run
