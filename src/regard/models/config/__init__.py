"""What a model is made of: one dataclass for each part, checked where the parts meet."""

from regard.models.config.attention import AttentionConfig, MemoryConfig, ScoringConfig, refitted
from regard.models.config.classifier import ClassifierConfig
from regard.models.config.decoders import (
    BahdanauConfig,
    ChoConfig,
    DecoderConfig,
    DeepFusionConfig,
    LuongConfig,
    SutskeverConfig,
)
from regard.models.config.describer import DescriberConfig
from regard.models.config.encoder import EncoderConfig
from regard.models.config.language_model import LanguageModelConfig
from regard.models.config.seq2seq import INITIALIZATIONS, TIES, ModelConfig
from regard.models.config.stack import StackConfig
from regard.models.config.tagger import TaggerConfig

__all__ = [
    "INITIALIZATIONS",
    "TIES",
    "AttentionConfig",
    "BahdanauConfig",
    "ChoConfig",
    "ClassifierConfig",
    "DecoderConfig",
    "DeepFusionConfig",
    "DescriberConfig",
    "EncoderConfig",
    "LanguageModelConfig",
    "LuongConfig",
    "MemoryConfig",
    "ModelConfig",
    "ScoringConfig",
    "StackConfig",
    "SutskeverConfig",
    "TaggerConfig",
    "refitted",
]
