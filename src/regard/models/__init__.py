"""The networks of all tasks, put together from layers, with their configurations."""

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
    PredictedWithAlpha,
    States,
    detached,
)
from regard.models.model import Model
from regard.models.seq2seq import ModelConfig, Seq2Seq, TeacherForced
from regard.models.stack import StackConfig
from regard.models.state import DecoderState, EncodedSource, StepOutput
from regard.models.tagger import TaggerConfig, TaggerNetwork

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
    "PredictedWithAlpha",
    "ScoringConfig",
    "Seq2Seq",
    "StackConfig",
    "States",
    "StepOutput",
    "SutskeverConfig",
    "TaggerNetwork",
    "TaggerConfig",
    "TeacherForced",
    "detached",
]
