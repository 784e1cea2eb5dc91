"""Attentions, local windows and normalisers, each by name in a table; `build_attention` combines them."""

from regard.layers.attention.alignment import AlignmentAttention as AlignmentAttention
from regard.layers.attention.attention import NORMALIZERS as NORMALIZERS
from regard.layers.attention.attention import Attended as Attended
from regard.layers.attention.attention import Attention as Attention
from regard.layers.attention.attention import AttentionState as AttentionState
from regard.layers.attention.attention import EnergyWeights as EnergyWeights
from regard.layers.attention.energies import ENERGIES as ENERGIES
from regard.layers.attention.energies import Additive as Additive
from regard.layers.attention.energies import Bilinear as Bilinear
from regard.layers.attention.energies import Concat as Concat
from regard.layers.attention.energies import Dot as Dot
from regard.layers.attention.energies import QueryKey as QueryKey
from regard.layers.attention.energies import QueryKeyValue as QueryKeyValue
from regard.layers.attention.energies import ScaledDot as ScaledDot
from regard.layers.attention.energies import build_attention as build_attention
from regard.layers.attention.energies import is_covering as is_covering
from regard.layers.attention.energies import is_sized as is_sized
from regard.layers.attention.windows import WINDOWS as WINDOWS
from regard.layers.attention.windows import LocalM as LocalM
from regard.layers.attention.windows import LocalP as LocalP
