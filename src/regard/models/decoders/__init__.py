"""The decoders. One of one's own is a file here, a config in `models/config/` and a case below."""

from regard.layers.embedding import Embedding
from regard.layers.readout import Output
from regard.models.decoders.bahdanau import BahdanauDecoder
from regard.models.decoders.cho import ChoDecoder
from regard.models.decoders.config import (
    BahdanauConfig,
    ChoConfig,
    DecoderConfig,
    DeepFusionConfig,
    LuongConfig,
    SutskeverConfig,
)
from regard.models.decoders.decoder import Decoder
from regard.models.decoders.deep_fusion import DeepFusionDecoder
from regard.models.decoders.luong import LuongDecoder
from regard.models.decoders.sutskever import SutskeverDecoder
from regard.models.encoder import EncoderConfig

__all__ = [
    "BahdanauDecoder",
    "ChoDecoder",
    "Decoder",
    "DeepFusionDecoder",
    "LuongDecoder",
    "SutskeverDecoder",
    "build_decoder",
]


def build_decoder(
    config: DecoderConfig, encoder: EncoderConfig, embedding: Embedding, output: Output
) -> Decoder:
    """The decoder a config describes, to follow the given encoder."""
    annotations = encoder.annotation_size
    match config:
        case BahdanauConfig():
            return BahdanauDecoder(config, annotations, encoder.state_size, embedding, output)
        case LuongConfig():
            return LuongDecoder(config, annotations, embedding, output)
        case ChoConfig():
            return ChoDecoder(config, annotations, embedding, output)
        case SutskeverConfig():
            return SutskeverDecoder(config, embedding, output)
        case DeepFusionConfig():
            return DeepFusionDecoder(config, annotations, embedding, output)
    raise TypeError(f"no decoder for {type(config).__name__}")
