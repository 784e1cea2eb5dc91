"""The recurrent cells by name. To add one, write a subclass of `Cell` and add a line to `CELLS`."""

from collections.abc import Callable

from regard.layers.cells.cell import GRU as GRU
from regard.layers.cells.cell import LSTM as LSTM
from regard.layers.cells.cell import RNN as RNN
from regard.layers.cells.cell import Cell as Cell
from regard.layers.cells.cell import SigmoidRNN as SigmoidRNN
from regard.layers.cells.cell import TorchGRU as TorchGRU
from regard.layers.cells.self_attentive import LSTMN as LSTMN
from regard.layers.cells.self_attentive import RNNRead as RNNRead
from regard.layers.cells.self_attentive import RNNSum as RNNSum
from regard.layers.cells.self_attentive import RNNSumKeep as RNNSumKeep
from regard.layers.cells.self_attentive import SelfAttentive as SelfAttentive

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
