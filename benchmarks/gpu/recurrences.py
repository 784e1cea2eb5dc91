"""Recurrences on a GPU: compared with their naive paths in float64, then timed against `nn.LSTM`.

In: a recurrence's name, a size, a precision. Out: a row of figures. Every recurrence is a module of one signature,
(words, source, mask) → states, with words (B, T, n) and source (B, T, 2n); it consists of Regard's ops and cells, which
choose their path themselves, and runs naively under `naive_only`. A time is that of forward and backward together, up
to the gradients of all parameters; the inputs need no gradient. The two times of a ratio come from the same run.
"""

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import linear

from benchmarks.gpu.stopwatch import graphed, median_ms, peak_mib
from regard import ops
from regard.layers import CELLS
from regard.ops import Asking, Inputs, Read, Recurrence, Source, Weights
from regard.ops.paths import naive_only
from regard.ops.tape import AdditiveScoring

DEVICE = "cuda"


def _random(*shape: int) -> nn.Parameter:
    return nn.Parameter(torch.randn(*shape) * shape[-1] ** -0.5)


class Attending(nn.Module):
    """RNNsearch's recurrence with a GRU or an LSTM: projection of the inputs, keys, all steps."""

    def __init__(self, gates: int, n: int) -> None:
        super().__init__()
        self.gates = gates
        self.W, self.b = _random(gates * n, n), _random(gates * n)
        self.U, self.C = _random(gates * n, n), _random(gates * n, 2 * n)
        self.W_a, self.U_a, self.v_a = _random(n, n), _random(n, 2 * n), _random(n)

    def forward(self, words: Tensor, source: Tensor, mask: Tensor) -> Tensor:
        """The states, (B, T, n)."""
        projected, keys = linear(words, self.W, self.b), linear(source, self.U_a)
        zero = words.new_zeros(words.shape[0], self.U.shape[1])
        recurrence = Recurrence(
            "gru" if self.gates == 3 else "lstm", source=Read("additive", "previous state", "gates")
        )
        asking = Asking(self.W_a, AdditiveScoring(None, self.v_a))
        inputs, weights = (
            Inputs(projected, source=Source(keys, source, mask)),
            Weights(self.U, C=self.C, source=asking),
        )
        return ops.run(recurrence, inputs, weights, (zero,) if self.gates == 3 else (zero, zero)).states


class InputFeeding(nn.Module):
    """Luong's recurrence with an LSTM, additive energies and input feeding; every width is n."""

    def __init__(self, n: int) -> None:
        super().__init__()
        self.W, self.b = _random(4 * n, n), _random(4 * n)
        self.U, self.F, self.W_c = _random(4 * n, n), _random(4 * n, n), _random(n, 3 * n)
        self.W_a, self.U_a, self.v_a = _random(n, n), _random(n, 2 * n), _random(n)

    def forward(self, words: Tensor, source: Tensor, mask: Tensor) -> Tensor:
        """The attentional states, (B, T, n)."""
        projected, keys = linear(words, self.W, self.b), linear(source, self.U_a)
        zero = words.new_zeros(words.shape[0], self.U.shape[1])
        recurrence = Recurrence("lstm", source=Read("additive", "new state", "readout"))
        asking = Asking(self.W_a, AdditiveScoring(None, self.v_a))
        weights = Weights(self.U, F=self.F, W_c=self.W_c, source=asking)
        inputs = Inputs(projected, source=Source(keys, source, mask))
        return ops.run(recurrence, inputs, weights, (zero, zero, zero)).states


class CellOnly(nn.Module):
    """A cell over the words, without the source."""

    def __init__(self, cell: str, n: int) -> None:
        super().__init__()
        self.cell = CELLS[cell](n, n)

    def forward(self, words: Tensor, source: Tensor, mask: Tensor) -> Tensor:
        """The states, (B, T, n)."""
        return self.cell(words, mask, self.cell.zero_state(words.shape[0], words))[0]


class TorchLSTM(nn.Module):
    """`nn.LSTM`, the reference."""

    def __init__(self, n: int) -> None:
        super().__init__()
        self.lstm = nn.LSTM(n, n, batch_first=True)

    def forward(self, words: Tensor, source: Tensor, mask: Tensor) -> Tensor:
        """The states, (B, T, n)."""
        states: Tensor = self.lstm(words)[0]
        return states


RECURRENCES: dict[str, Callable[[int], nn.Module]] = {
    "attending LSTM": lambda n: Attending(4, n),
    "attending GRU": lambda n: Attending(3, n),
    "input feeding": InputFeeding,
    "LSTMN": lambda n: CellOnly("lstmn", n),
    "RNN, read": lambda n: CellOnly("rnn-read", n),
    "RNN, sum": lambda n: CellOnly("rnn-sum", n),
    "GRU": lambda n: CellOnly("gru", n),
}
"""By name: n → the module."""


@dataclass(frozen=True)
class Size:
    """Rows, words (of source and of target), units."""

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
    """The relative distance of states and gradients from the naive path in float64, on padded rows."""
    torch.manual_seed(size.B + size.n)
    dtype = PRECISIONS[precision]
    module = RECURRENCES[name](size.n).to(DEVICE, dtype)
    words, source, mask = _inputs(size, dtype)
    lengths = torch.randint(1, size.T + 1, (size.B, 1), device=DEVICE)
    mask &= torch.arange(size.T, device=DEVICE) < lengths
    loss_weights = torch.randn(size.B, size.T, size.n, device=DEVICE)
    naive = copy.deepcopy(module).double()
    with naive_only():
        expected = _outcome(naive, words.double(), source.double(), mask, loss_weights)
    actual = _outcome(module, words, source, mask, loss_weights)
    repeated = _outcome(module, words, source, mask, loss_weights)
    errors = {
        key: float((actual[key].double() - value).norm() / value.norm())
        for key, value in expected.items()
        if value.norm() > 0
    }
    worst = max(errors, key=errors.__getitem__)
    repeatable = all(torch.equal(actual[key], repeated[key]) for key in actual)
    return {"recurrence": name, "size": str(size), "precision": precision, "states": errors["states"],
            "worst": errors[worst], "of": worst, "repeatable": repeatable}  # fmt: skip


def _outcome(
    module: nn.Module, words: Tensor, source: Tensor, mask: Tensor, loss_weights: Tensor
) -> dict[str, Tensor]:
    """States, and the gradients of every parameter and input."""
    leaves = {"words": words.detach().requires_grad_(), "source": source.detach().requires_grad_()}
    states = module(leaves["words"], leaves["source"], mask)
    leaves |= dict(module.named_parameters())
    loss = (states * loss_weights.to(states.dtype)).sum()
    gradients = torch.autograd.grad(loss, list(leaves.values()), allow_unused=True, materialize_grads=True)
    return {"states": states.detach(), **dict(zip(leaves, gradients, strict=True))}


def timing(name: str, size: Size, precision: str) -> dict[str, Any]:
    """The recurrence's time divided by that of `nn.LSTM`, eager and as CUDA graphs; peak memory of both."""
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
    """Forward and backward, with new gradients."""

    def run() -> None:
        for parameter in module.parameters():
            parameter.grad = None
        module(words, source, mask).sum().backward()

    return run
