"""The models by task: from a configuration and sizes to a model, as training and folders need them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from regard.config import Config
from regard.models.captioner import CaptionerConfig, CaptionerNetwork
from regard.models.classifier import ClassifierConfig, ClassifierNetwork
from regard.models.language_model import LanguageModelConfig, LanguageModelNetwork
from regard.models.model import Model
from regard.models.seq2seq import ModelConfig, Seq2Seq
from regard.models.tagger import TaggerConfig, TaggerNetwork


@dataclass(frozen=True)
class Kind:
    """How a task's model is made.

    Attributes:
        config: the class of its configuration.
        build: (configuration, sizes by name) → the model.
    """

    config: type[Config]
    build: Callable[[Any, Mapping[str, int]], Model]


MODELS: dict[str, Kind] = {
    "translate": Kind(ModelConfig, lambda config, sizes: Seq2Seq(config, sizes["source"], sizes["target"])),
    "language_model": Kind(
        LanguageModelConfig, lambda config, sizes: LanguageModelNetwork(config, sizes["text"])
    ),
    "classify": Kind(
        ClassifierConfig, lambda config, sizes: ClassifierNetwork(config, sizes["text"], sizes["labels"])
    ),
    "tag": Kind(TaggerConfig, lambda config, sizes: TaggerNetwork(config, sizes["text"], sizes["labels"])),
    "caption": Kind(
        CaptionerConfig, lambda config, sizes: CaptionerNetwork(config, sizes["features"], sizes["text"])
    ),
}
"""By task. The sizes are those of vocabularies (source, target, text), of labels, and of feature vectors."""


def build_model(task: str, config: Config, sizes: Mapping[str, int]) -> Model:
    """Make a model, its weights drawn from torch's generator.

    Args:
        task: one of `MODELS`.
        config: of the class that the task names.
        sizes: by name.
    """
    return MODELS[task].build(config, sizes)
