"""Modules that own parameters and call `ops`; each can be imported and used by itself."""

from regard.layers.attention.additive import Additive, Concat
from regard.layers.attention.attention import Attended, Attention, AttentionState
from regard.layers.attention.build import (
    ENERGIES,
    NORMALIZERS,
    WINDOWS,
    build_attention,
    is_covering,
    is_sized,
)
from regard.layers.attention.dot import Bilinear, Dot, ScaledDot
from regard.layers.attention.local import LocalM, LocalP
from regard.layers.attention.query_key_value import QueryKeyValue
from regard.layers.cells import CELLS, CellFactory
from regard.layers.cells.cell import Cell
from regard.layers.cells.gru import GRU, TorchGRU
from regard.layers.cells.lstm import LSTM
from regard.layers.cells.lstmn import LSTMN
from regard.layers.cells.rnn import RNN, SigmoidRNN
from regard.layers.cells.self_attentive import RNNRead, RNNSum, RNNSumKeep, SelfAttentive
from regard.layers.dropout import Dropout
from regard.layers.embedding import Embedding
from regard.layers.pooling import POOLINGS, AttentionPooling, LastPooling, MeanPooling, Pooled
from regard.layers.readout import AttentionalReadout, Head, MaxoutReadout, Output
from regard.layers.recurrent import BidirectionalStack, RecurrentStack
from regard.layers.standardize import Standardize

__all__ = [
    "CELLS",
    "ENERGIES",
    "NORMALIZERS",
    "POOLINGS",
    "WINDOWS",
    "Additive",
    "Attended",
    "Attention",
    "AttentionPooling",
    "AttentionState",
    "AttentionalReadout",
    "BidirectionalStack",
    "Bilinear",
    "Cell",
    "CellFactory",
    "Concat",
    "Dot",
    "Dropout",
    "Embedding",
    "GRU",
    "Head",
    "LSTM",
    "LSTMN",
    "LastPooling",
    "LocalM",
    "LocalP",
    "MaxoutReadout",
    "MeanPooling",
    "Output",
    "Pooled",
    "QueryKeyValue",
    "RNN",
    "RNNRead",
    "RNNSum",
    "RNNSumKeep",
    "RecurrentStack",
    "ScaledDot",
    "SelfAttentive",
    "SigmoidRNN",
    "Standardize",
    "TorchGRU",
    "build_attention",
    "is_covering",
    "is_sized",
]
