"""The recurrent cells by name. A cell of one's own is a file here and a line in `CELLS`."""

from collections.abc import Callable

from regard.layers.cells.cell import Cell
from regard.layers.cells.gru import GRU, TorchGRU
from regard.layers.cells.lstm import LSTM
from regard.layers.cells.lstmn import LSTMN
from regard.layers.cells.rnn import RNN, SigmoidRNN
from regard.layers.cells.self_attentive import RNNRead, RNNSum, RNNSumKeep, SelfAttentive

CellFactory = Callable[[int, int], Cell]
"""(input size, state size) → a cell: what a stack is made with. Every class below is one."""

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
