"""The decoders by paper. To add one: a file here, a config in `config.py`, a case in `seq2seq.py`."""

from regard.models.decoders.bahdanau import BahdanauDecoder as BahdanauDecoder
from regard.models.decoders.decoder import Decoder as Decoder
from regard.models.decoders.deep_fusion import DeepFusionDecoder as DeepFusionDecoder
from regard.models.decoders.fixed_vector import ChoDecoder as ChoDecoder
from regard.models.decoders.fixed_vector import SutskeverDecoder as SutskeverDecoder
from regard.models.decoders.hard_monotonic import HardMonotonicDecoder as HardMonotonicDecoder
from regard.models.decoders.luong import LuongDecoder as LuongDecoder
