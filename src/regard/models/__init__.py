"""Layers put together: configuration, encoder, decoders, and the model that joins them."""

from regard.models.config import (
    BahdanauConfig,
    ChoConfig,
    DecoderConfig,
    EncoderConfig,
    LuongConfig,
    ModelConfig,
    SutskeverConfig,
)
from regard.models.decoders import Decoder
from regard.models.seq2seq import Seq2Seq, TeacherForced
from regard.models.state import DecoderState, EncodedSource, StepOutput

__all__ = [
    "BahdanauConfig",
    "ChoConfig",
    "Decoder",
    "DecoderConfig",
    "DecoderState",
    "EncodedSource",
    "EncoderConfig",
    "LuongConfig",
    "ModelConfig",
    "Seq2Seq",
    "StepOutput",
    "SutskeverConfig",
    "TeacherForced",
]
