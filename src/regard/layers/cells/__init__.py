"""The recurrent cells by name. To add one, write a subclass of `Cell` and add a line to `CELLS`."""

from collections.abc import Callable

from regard.layers.cells.cell import GRU, LSTM, RNN, Cell, SigmoidRNN, TorchGRU
from regard.layers.cells.self_attentive import LSTMN, RNNRead, RNNSum, RNNSumKeep, SelfAttentive

CellFactory = Callable[[int, int], Cell]
"""(input size, state size) → a cell, as `RecurrentStack` takes it: a class of `CELLS`, or a function."""

CELLS: dict[str, type[Cell]] = {
    "rnn": RNN,
    "rnn-sigmoid": SigmoidRNN,
    "lstm": LSTM,
    "gru": GRU,
    "gru-torch": TorchGRU,
    "rnn-read": RNNRead,
    "rnn-sum": RNNSum,
    "rnn-sum-keep": RNNSumKeep,
    "lstmn": LSTMN,
}

__all__ = [
    "CELLS",
    "Cell",
    "CellFactory",
    "GRU",
    "LSTM",
    "LSTMN",
    "RNN",
    "RNNRead",
    "RNNSum",
    "RNNSumKeep",
    "SelfAttentive",
    "SigmoidRNN",
    "TorchGRU",
]
