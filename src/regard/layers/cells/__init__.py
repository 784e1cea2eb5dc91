"""The recurrent cells by name. A cell of one's own is a file here and a line in `CELLS`."""

from regard.layers.cells.cell import Cell
from regard.layers.cells.gru import GRU, TorchGRU
from regard.layers.cells.lstm import LSTM
from regard.layers.cells.rnn import RNN, SigmoidRNN

CELLS: dict[str, type[Cell]] = {
    "rnn": RNN,
    "rnn-sigmoid": SigmoidRNN,
    "lstm": LSTM,
    "gru": GRU,
    "gru-torch": TorchGRU,
}

__all__ = ["CELLS", "Cell", "GRU", "LSTM", "RNN", "SigmoidRNN", "TorchGRU"]
