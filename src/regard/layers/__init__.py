"""Layers: modules that own parameters and call `ops`; each is an ordinary `nn.Module` that can be used alone.

outputs, (h, c) = LSTM(8, 16)(x)                                    # x (B, T, 8), outputs (B, T, 16)
context, alpha, _ = Additive(16, 16, 32)(query, annotations, mask)  # (B, Ty, 16), (B, Ty, Tx)
"""

from regard.layers.attention import (
    ENERGIES,
    NORMALIZERS,
    WINDOWS,
    Additive,
    Attended,
    Attention,
    AttentionState,
    Bilinear,
    Concat,
    Dot,
    LocalM,
    LocalP,
    QueryKeyValue,
    ScaledDot,
    build_attention,
    is_covering,
    is_sized,
)
from regard.layers.cells import (
    CELLS,
    GRU,
    LSTM,
    LSTMN,
    RNN,
    Cell,
    CellFactory,
    RNNRead,
    RNNSum,
    RNNSumKeep,
    SelfAttentive,
    SigmoidRNN,
    TorchGRU,
)
from regard.layers.dropout import Dropout
from regard.layers.embedding import Embedding, Standardize
from regard.layers.pooling import POOLINGS, AttentionPooling, LastPooling, MeanPooling, Pooled
from regard.layers.readout import AttentionalReadout, Head, MaxoutReadout, Output
from regard.layers.recurrent import BidirectionalStack, RecurrentStack

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
