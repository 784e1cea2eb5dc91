"""The decoders by paper. To add one: a file here, a config in `config.py`, a case in `seq2seq.py`."""

from regard.models.decoders.bahdanau import BahdanauDecoder
from regard.models.decoders.decoder import Decoder
from regard.models.decoders.deep_fusion import DeepFusionDecoder
from regard.models.decoders.fixed_vector import ChoDecoder, SutskeverDecoder
from regard.models.decoders.luong import LuongDecoder

__all__ = [
    "BahdanauDecoder",
    "ChoDecoder",
    "Decoder",
    "DeepFusionDecoder",
    "LuongDecoder",
    "SutskeverDecoder",
]
