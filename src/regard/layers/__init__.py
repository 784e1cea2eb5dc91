"""Modules that own parameters and call `ops`; each can be imported and used by itself."""

from regard.layers.attention import ENERGIES, Additive, Attended, Attention, Bilinear, Concat, Dot, ScaledDot
from regard.layers.bidirectional import BidirectionalStack
from regard.layers.cells import CELLS, GRU, LSTM, RNN, Cell, SigmoidRNN, TorchGRU
from regard.layers.dropout import Dropout
from regard.layers.embedding import Embedding
from regard.layers.readout import AttentionalReadout, MaxoutReadout, Output
from regard.layers.recurrent import RecurrentStack

__all__ = [
    "CELLS",
    "ENERGIES",
    "Additive",
    "Attended",
    "Attention",
    "AttentionalReadout",
    "BidirectionalStack",
    "Bilinear",
    "Cell",
    "Concat",
    "Dot",
    "Dropout",
    "Embedding",
    "GRU",
    "LSTM",
    "MaxoutReadout",
    "Output",
    "RNN",
    "RecurrentStack",
    "ScaledDot",
    "SigmoidRNN",
    "TorchGRU",
]
