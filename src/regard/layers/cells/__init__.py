"""The recurrent cells by name. To add one, write a subclass of `Cell` and add a line to `CELLS`."""

from collections.abc import Callable

from regard.layers.cells.cell import GRU as GRU
from regard.layers.cells.cell import LSTM as LSTM
from regard.layers.cells.cell import LSTM1997 as LSTM1997
from regard.layers.cells.cell import MUT1 as MUT1
from regard.layers.cells.cell import MUT3 as MUT3
from regard.layers.cells.cell import RNN as RNN
from regard.layers.cells.cell import Cell as Cell
from regard.layers.cells.cell import LSTMNoForget as LSTMNoForget
from regard.layers.cells.cell import LSTMNoInput as LSTMNoInput
from regard.layers.cells.cell import LSTMNoOutput as LSTMNoOutput
from regard.layers.cells.cell import PeepholeLSTM as PeepholeLSTM
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
    "lstm-1997": LSTM1997,
    "lstm-peephole": PeepholeLSTM,
    "lstm-no-input": LSTMNoInput,
    "lstm-no-forget": LSTMNoForget,
    "lstm-no-output": LSTMNoOutput,
    "mut1": MUT1,
    "mut3": MUT3,
    "rnn-read": RNNRead,
    "rnn-sum": RNNSum,
    "rnn-sum-keep": RNNSumKeep,
    "lstmn": LSTMN,
}
