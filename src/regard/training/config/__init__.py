"""What a run is made of, task by task, checked where it is made."""

from collections.abc import Mapping

from regard.configuration import Config
from regard.training.config.classify import ClassifyRun, LabelledDataConfig
from regard.training.config.describe import DescribedDataConfig, DescribeRun
from regard.training.config.lm import LmRun, TextDataConfig
from regard.training.config.run import RunConfig
from regard.training.config.tag import TaggedDataConfig, TagRun
from regard.training.config.text import PretrainedEncoderConfig, TextTokenizerConfig
from regard.training.config.training import TrainingConfig
from regard.training.config.translate import (
    DataConfig,
    PretrainedConfig,
    TeachingConfig,
    TokenizerConfig,
    TranslateRun,
)

RunConfig.variants: Mapping[str, type[Config]] = {  # type: ignore[misc]
    "translate": TranslateRun,
    "lm": LmRun,
    "classify": ClassifyRun,
    "tag": TagRun,
    "describe": DescribeRun,
}

__all__ = [
    "ClassifyRun",
    "DataConfig",
    "DescribeRun",
    "DescribedDataConfig",
    "LabelledDataConfig",
    "LmRun",
    "PretrainedConfig",
    "PretrainedEncoderConfig",
    "RunConfig",
    "TagRun",
    "TaggedDataConfig",
    "TeachingConfig",
    "TextDataConfig",
    "TextTokenizerConfig",
    "TokenizerConfig",
    "TrainingConfig",
    "TranslateRun",
]
