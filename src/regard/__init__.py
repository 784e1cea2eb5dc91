"""Regard: recurrent sequence-to-sequence learning with attention.

    import regard
    translator = regard.Translator.load("model")
    print(translator.translate(["ein Satz"])[0].text)

Names are imported when they are first used, so that `import regard` is quick.
"""

from typing import TYPE_CHECKING, Any

from regard.errors import RegardError
from regard.version import __version__

if TYPE_CHECKING:
    from regard.tasks.caption.predictor import Captioner
    from regard.tasks.caption.result import Caption
    from regard.tasks.classify.predictor import Classifier
    from regard.tasks.classify.result import Classification
    from regard.tasks.language_model.predictor import LanguageModel
    from regard.tasks.language_model.result import Reading, Sample, Scored, TextScore
    from regard.tasks.tag.predictor import Tagger
    from regard.tasks.tag.result import Tagging
    from regard.tasks.translate.evaluation import Evaluation, evaluate
    from regard.tasks.translate.predictor import Translator
    from regard.tasks.translate.result import Translation
    from regard.tasks.translate.search_tree import SearchTree
    from regard.tasks.translate.what_if import WhatIf
    from regard.training.run import TrainedRun, train

_HOMES = {
    "Captioner": "regard.tasks.caption.predictor",
    "Classification": "regard.tasks.classify.result",
    "Caption": "regard.tasks.caption.result",
    "Evaluation": "regard.tasks.translate.evaluation",
    "Reading": "regard.tasks.language_model.result",
    "Sample": "regard.tasks.language_model.result",
    "Scored": "regard.tasks.language_model.result",
    "SearchTree": "regard.tasks.translate.search_tree",
    "Tagging": "regard.tasks.tag.result",
    "Classifier": "regard.tasks.classify.predictor",
    "Tagger": "regard.tasks.tag.predictor",
    "TextScore": "regard.tasks.language_model.result",
    "TrainedRun": "regard.training.run",
    "Translation": "regard.tasks.translate.result",
    "Translator": "regard.tasks.translate.predictor",
    "WhatIf": "regard.tasks.translate.what_if",
    "LanguageModel": "regard.tasks.language_model.predictor",
    "evaluate": "regard.tasks.translate.evaluation",
    "train": "regard.training.run",
}

__all__ = [
    "Captioner",
    "Classification",
    "Caption",
    "Evaluation",
    "Reading",
    "RegardError",
    "Sample",
    "Scored",
    "SearchTree",
    "Tagging",
    "Classifier",
    "TextScore",
    "Tagger",
    "TrainedRun",
    "Translation",
    "Translator",
    "WhatIf",
    "LanguageModel",
    "__version__",
    "evaluate",
    "train",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'regard' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
