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
    from regard.tasks.caption.result import Description
    from regard.tasks.classify.predictor import TextClassifier
    from regard.tasks.classify.result import Classification
    from regard.tasks.language_model.predictor import Writer
    from regard.tasks.language_model.result import Reading, Sample, Scored, TextScore
    from regard.tasks.tag.predictor import TextTagger
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
    "Description": "regard.tasks.caption.result",
    "Evaluation": "regard.tasks.translate.evaluation",
    "Reading": "regard.tasks.language_model.result",
    "Sample": "regard.tasks.language_model.result",
    "Scored": "regard.tasks.language_model.result",
    "SearchTree": "regard.tasks.translate.search_tree",
    "Tagging": "regard.tasks.tag.result",
    "TextClassifier": "regard.tasks.classify.predictor",
    "TextTagger": "regard.tasks.tag.predictor",
    "TextScore": "regard.tasks.language_model.result",
    "TrainedRun": "regard.training.run",
    "Translation": "regard.tasks.translate.result",
    "Translator": "regard.tasks.translate.predictor",
    "WhatIf": "regard.tasks.translate.what_if",
    "Writer": "regard.tasks.language_model.predictor",
    "evaluate": "regard.tasks.translate.evaluation",
    "train": "regard.training.run",
}

__all__ = [
    "Captioner",
    "Classification",
    "Description",
    "Evaluation",
    "Reading",
    "RegardError",
    "Sample",
    "Scored",
    "SearchTree",
    "Tagging",
    "TextClassifier",
    "TextScore",
    "TextTagger",
    "TrainedRun",
    "Translation",
    "Translator",
    "WhatIf",
    "Writer",
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
