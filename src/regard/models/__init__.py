"""Layers put together: configuration, encoder, decoders, and the model that joins them."""

from regard.models.attention import AttentionConfig, MemoryConfig, ScoringConfig
from regard.models.captioner import CaptionerConfig, CaptionerNetwork
from regard.models.classifier import Classified, ClassifierConfig, ClassifierNetwork
from regard.models.decoders.config import (
    BahdanauConfig,
    ChoConfig,
    DecoderConfig,
    DeepFusionConfig,
    LuongConfig,
    SutskeverConfig,
)
from regard.models.decoders.decoder import Decoder
from regard.models.encoder import EncoderConfig
from regard.models.language_model import (
    LanguageModelConfig,
    LanguageModelNetwork,
    Predicted,
    Reading,
    States,
    detached,
)
from regard.models.model import Model
from regard.models.seq2seq import ModelConfig, Seq2Seq, TeacherForced
from regard.models.stack import StackConfig
from regard.models.state import DecoderState, EncodedSource, StepOutput
from regard.models.tagger import TaggerConfig, TaggerNetwork
from regard.models.transfer import DepthGroup, carry_over, groups_by_depth

__all__ = [
    "AttentionConfig",
    "BahdanauConfig",
    "ChoConfig",
    "Classified",
    "ClassifierNetwork",
    "ClassifierConfig",
    "Decoder",
    "DecoderConfig",
    "DecoderState",
    "DeepFusionConfig",
    "DepthGroup",
    "CaptionerNetwork",
    "CaptionerConfig",
    "EncodedSource",
    "EncoderConfig",
    "LanguageModelNetwork",
    "LanguageModelConfig",
    "LuongConfig",
    "MemoryConfig",
    "Model",
    "ModelConfig",
    "Predicted",
    "Reading",
    "ScoringConfig",
    "Seq2Seq",
    "StackConfig",
    "States",
    "StepOutput",
    "SutskeverConfig",
    "TaggerNetwork",
    "TaggerConfig",
    "TeacherForced",
    "carry_over",
    "detached",
    "groups_by_depth",
]
