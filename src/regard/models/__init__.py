"""Layers put together: configuration, encoder, decoders, and the model that joins them."""

from regard.models.build import MODELS, build_model
from regard.models.classifier import Classified, Classifier
from regard.models.config import (
    AttentionConfig,
    BahdanauConfig,
    ChoConfig,
    ClassifierConfig,
    DecoderConfig,
    DeepFusionConfig,
    DescriberConfig,
    EncoderConfig,
    LanguageModelConfig,
    LuongConfig,
    MemoryConfig,
    ModelConfig,
    ScoringConfig,
    StackConfig,
    SutskeverConfig,
    TaggerConfig,
)
from regard.models.decoders import Decoder
from regard.models.depth import DepthGroup, groups_by_depth
from regard.models.describer import Describer
from regard.models.language_model import LanguageModel, Predicted, Reading, States, detached
from regard.models.model import Model
from regard.models.seq2seq import Seq2Seq, TeacherForced
from regard.models.state import DecoderState, EncodedSource, StepOutput
from regard.models.tagger import Tagger
from regard.models.transfer import carry_over

__all__ = [
    "MODELS",
    "AttentionConfig",
    "BahdanauConfig",
    "ChoConfig",
    "Classified",
    "Classifier",
    "ClassifierConfig",
    "Decoder",
    "DecoderConfig",
    "DecoderState",
    "DeepFusionConfig",
    "DepthGroup",
    "Describer",
    "DescriberConfig",
    "EncodedSource",
    "EncoderConfig",
    "LanguageModel",
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
    "Tagger",
    "TaggerConfig",
    "TeacherForced",
    "build_model",
    "carry_over",
    "detached",
    "groups_by_depth",
]
