"""The recurrences that are measured, as modules of one shape: (words, source, mask) → states.

Words are (B, T, n), the source (B, T, 2n), all T words real. Each is made of Regard's own ops and cells, which choose
their path themselves; under `naive_only` the same module runs naively.
"""

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn.functional import linear

from regard.layers import CELLS
from regard.ops.attending_gru import attending_gru
from regard.ops.attending_lstm import attending_lstm
from regard.ops.input_feeding import input_feeding_lstm


def _drawn(*shape: int) -> nn.Parameter:
    return nn.Parameter(torch.randn(*shape) * shape[-1] ** -0.5)


class Attending(nn.Module):
    """RNNsearch's recurrence with a GRU or an LSTM: inputs projected, keys made, all steps."""

    def __init__(self, gates: int, n: int) -> None:
        super().__init__()
        self.gates = gates
        self.W, self.b = _drawn(gates * n, n), _drawn(gates * n)
        self.U, self.C = _drawn(gates * n, n), _drawn(gates * n, 2 * n)
        self.W_a, self.U_a, self.v_a = _drawn(n, n), _drawn(n, 2 * n), _drawn(n)

    def forward(self, words: Tensor, source: Tensor, mask: Tensor) -> Tensor:
        """The states, (B, T, n)."""
        projected, keys = linear(words, self.W, self.b), linear(source, self.U_a)
        zero = words.new_zeros(words.shape[0], self.U.shape[1])
        given = (keys, source, mask, self.W_a, self.v_a, self.U, self.C)
        if self.gates == 3:
            return attending_gru(projected, zero, *given)[0]
        return attending_lstm(projected, (zero, zero), *given)[0]


class InputFeeding(nn.Module):
    """Luong's recurrence with an LSTM and additive energies, h̃ fed back: all as wide as the state."""

    def __init__(self, n: int) -> None:
        super().__init__()
        self.W, self.b = _drawn(4 * n, n), _drawn(4 * n)
        self.U, self.F, self.W_c = _drawn(4 * n, n), _drawn(4 * n, n), _drawn(n, 3 * n)
        self.W_a, self.U_a, self.v_a = _drawn(n, n), _drawn(n, 2 * n), _drawn(n)

    def forward(self, words: Tensor, source: Tensor, mask: Tensor) -> Tensor:
        """The attentional states, (B, T, n)."""
        projected, keys = linear(words, self.W, self.b), linear(source, self.U_a)
        zero = words.new_zeros(words.shape[0], self.U.shape[1])
        weights = (self.W_a, self.v_a, self.F, self.U, self.W_c)
        return input_feeding_lstm(projected, (zero, zero), zero, keys, source, mask, *weights, None)[0]


class Alone(nn.Module):
    """A cell over the words; the source is not read."""

    def __init__(self, cell: str, n: int) -> None:
        super().__init__()
        self.cell = CELLS[cell](n, n)

    def forward(self, words: Tensor, source: Tensor, mask: Tensor) -> Tensor:
        """The states, (B, T, n)."""
        return self.cell(words, mask, self.cell.zero_state(words.shape[0], words))[0]


class TorchLSTM(nn.Module):
    """`nn.LSTM`, which the others are measured against."""

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
    "LSTMN": lambda n: Alone("lstmn", n),
    "RNN, read": lambda n: Alone("rnn-read", n),
    "RNN, sum": lambda n: Alone("rnn-sum", n),
    "GRU": lambda n: Alone("gru", n),
}
"""By name: n → what is measured."""
