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
    from regard.captioner import Captioner
    from regard.evaluation import Evaluation, evaluate
    from regard.output.classification import Classification
    from regard.output.description import Description
    from regard.output.reading import Reading
    from regard.output.sample import Sample
    from regard.output.scored import Scored, TextScore
    from regard.output.search_tree import SearchTree
    from regard.output.tagging import Tagging
    from regard.output.translation import Translation
    from regard.output.what_if import WhatIf
    from regard.text_classifier import TextClassifier
    from regard.text_tagger import TextTagger
    from regard.training.run import TrainedRun, train
    from regard.translator import Translator
    from regard.writer import Writer

_HOMES = {
    "Captioner": "regard.captioner",
    "Classification": "regard.output.classification",
    "Description": "regard.output.description",
    "Evaluation": "regard.evaluation",
    "Reading": "regard.output.reading",
    "Sample": "regard.output.sample",
    "Scored": "regard.output.scored",
    "SearchTree": "regard.output.search_tree",
    "Tagging": "regard.output.tagging",
    "TextClassifier": "regard.text_classifier",
    "TextTagger": "regard.text_tagger",
    "TextScore": "regard.output.scored",
    "TrainedRun": "regard.training.run",
    "Translation": "regard.output.translation",
    "Translator": "regard.translator",
    "WhatIf": "regard.output.what_if",
    "Writer": "regard.writer",
    "evaluate": "regard.evaluation",
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
