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
    from regard.evaluation import Evaluation, evaluate
    from regard.output.translation import Translation
    from regard.training.run import TrainedRun, train
    from regard.translator import Translator

_HOMES = {
    "Evaluation": "regard.evaluation",
    "TrainedRun": "regard.training.run",
    "Translation": "regard.output.translation",
    "Translator": "regard.translator",
    "evaluate": "regard.evaluation",
    "train": "regard.training.run",
}

__all__ = [
    "Evaluation",
    "RegardError",
    "TrainedRun",
    "Translation",
    "Translator",
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
