"""Layers: modules that own parameters and call `ops`; each is an ordinary `nn.Module` that can be used alone.

outputs, (h, c) = LSTM(8, 16)(x)                                    # x (B, T, 8), outputs (B, T, 16)
context, alpha, _ = Additive(16, 16, 32)(query, annotations, mask)  # (B, Ty, 16), (B, Ty, Tx)
"""

from regard.layers.attention import ENERGIES as ENERGIES
from regard.layers.attention import NORMALIZERS as NORMALIZERS
from regard.layers.attention import WINDOWS as WINDOWS
from regard.layers.attention import Additive as Additive
from regard.layers.attention import AlignmentAttention as AlignmentAttention
from regard.layers.attention import Attended as Attended
from regard.layers.attention import Attention as Attention
from regard.layers.attention import AttentionState as AttentionState
from regard.layers.attention import Bilinear as Bilinear
from regard.layers.attention import Concat as Concat
from regard.layers.attention import Dot as Dot
from regard.layers.attention import LocalM as LocalM
from regard.layers.attention import LocalP as LocalP
from regard.layers.attention import QueryKey as QueryKey
from regard.layers.attention import QueryKeyValue as QueryKeyValue
from regard.layers.attention import ScaledDot as ScaledDot
from regard.layers.attention import build_attention as build_attention
from regard.layers.attention import is_covering as is_covering
from regard.layers.attention import is_sized as is_sized
from regard.layers.cells import CELLS as CELLS
from regard.layers.cells import GRU as GRU
from regard.layers.cells import LSTM as LSTM
from regard.layers.cells import LSTM1997 as LSTM1997
from regard.layers.cells import LSTMN as LSTMN
from regard.layers.cells import MUT1 as MUT1
from regard.layers.cells import MUT3 as MUT3
from regard.layers.cells import RNN as RNN
from regard.layers.cells import Cell as Cell
from regard.layers.cells import CellFactory as CellFactory
from regard.layers.cells import LSTMNoForget as LSTMNoForget
from regard.layers.cells import LSTMNoInput as LSTMNoInput
from regard.layers.cells import LSTMNoOutput as LSTMNoOutput
from regard.layers.cells import PeepholeLSTM as PeepholeLSTM
from regard.layers.cells import RNNRead as RNNRead
from regard.layers.cells import RNNSum as RNNSum
from regard.layers.cells import RNNSumKeep as RNNSumKeep
from regard.layers.cells import SelfAttentive as SelfAttentive
from regard.layers.cells import SigmoidRNN as SigmoidRNN
from regard.layers.cells import TorchGRU as TorchGRU
from regard.layers.feedforward import POOLINGS as POOLINGS
from regard.layers.feedforward import READOUTS as READOUTS
from regard.layers.feedforward import AttentionalReadout as AttentionalReadout
from regard.layers.feedforward import AttentionPooling as AttentionPooling
from regard.layers.feedforward import Dropout as Dropout
from regard.layers.feedforward import Embedding as Embedding
from regard.layers.feedforward import Head as Head
from regard.layers.feedforward import LastPooling as LastPooling
from regard.layers.feedforward import MaxoutReadout as MaxoutReadout
from regard.layers.feedforward import MaxPooling as MaxPooling
from regard.layers.feedforward import MeanPooling as MeanPooling
from regard.layers.feedforward import Output as Output
from regard.layers.feedforward import Pooled as Pooled
from regard.layers.feedforward import Standardize as Standardize
from regard.layers.feedforward import StateReadout as StateReadout
from regard.layers.pointer import PointerGenerator as PointerGenerator
from regard.layers.recurrent import BidirectionalStack as BidirectionalStack
from regard.layers.recurrent import RecurrentStack as RecurrentStack
