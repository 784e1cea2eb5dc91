"""The models by task: from a configuration and sizes to a model, as training and folders need them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from regard.config import Config
from regard.models.captioner import Describer, DescriberConfig
from regard.models.classifier import Classifier, ClassifierConfig
from regard.models.language_model import LanguageModel, LanguageModelConfig
from regard.models.model import Model
from regard.models.seq2seq import ModelConfig, Seq2Seq
from regard.models.tagger import Tagger, TaggerConfig


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
    "lm": Kind(LanguageModelConfig, lambda config, sizes: LanguageModel(config, sizes["text"])),
    "classify": Kind(
        ClassifierConfig, lambda config, sizes: Classifier(config, sizes["text"], sizes["labels"])
    ),
    "tag": Kind(TaggerConfig, lambda config, sizes: Tagger(config, sizes["text"], sizes["labels"])),
    "describe": Kind(
        DescriberConfig, lambda config, sizes: Describer(config, sizes["features"], sizes["text"])
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
