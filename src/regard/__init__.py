"""Regard: recurrent sequence-to-sequence learning with attention.

    import regard
    translator = regard.Translator.load("model")
    print(translator.translate(["ein Satz"])[0].text)

Names are imported when they are first used, so that `import regard` is fast. Building blocks have packages of their
own: `regard.layers`, `regard.models`, `regard.batches`, `regard.search`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from regard.errors import RegardError as RegardError
from regard.openmp import shorten_spin
from regard.version import __version__ as __version__

if TYPE_CHECKING:
    from regard.evaluation.alignment.error_rate import AlignmentScore as AlignmentScore
    from regard.evaluation.alignment.error_rate import AttentionStatistics as AttentionStatistics
    from regard.evaluation.alignment.links import LinkRule as LinkRule
    from regard.evaluation.alignment.links import SoftLinks as SoftLinks
    from regard.evaluation.alignment.words import LabelledAlpha as LabelledAlpha
    from regard.evaluation.quality import LengthBand as LengthBand
    from regard.evaluation.quality import Quality as Quality
    from regard.inference.ensemble import Ensemble as Ensemble
    from regard.inference.ensemble import EnsembleSource as EnsembleSource
    from regard.inference.shortlist import Shortlist as Shortlist
    from regard.processes import Processes as Processes
    from regard.search.options import SamplingOptions as SamplingOptions
    from regard.search.options import SearchOptions as SearchOptions
    from regard.server.client import AsyncClient as AsyncClient
    from regard.server.client import Client as Client
    from regard.server.client import ServiceError as ServiceError
    from regard.tasks.align.predictor import Aligner as Aligner
    from regard.tasks.align.result import AlignedPair as AlignedPair
    from regard.tasks.base import Validation as Validation
    from regard.tasks.caption.predictor import Captioner as Captioner
    from regard.tasks.caption.result import Caption as Caption
    from regard.tasks.classify.predictor import Classifier as Classifier
    from regard.tasks.classify.result import Classification as Classification
    from regard.tasks.language_model.predictor import LanguageModel as LanguageModel
    from regard.tasks.language_model.result import Candidate as Candidate
    from regard.tasks.language_model.result import Reading as Reading
    from regard.tasks.language_model.result import Sample as Sample
    from regard.tasks.language_model.result import SampleStep as SampleStep
    from regard.tasks.language_model.result import Scored as Scored
    from regard.tasks.language_model.result import TextScore as TextScore
    from regard.tasks.tag.predictor import Tagger as Tagger
    from regard.tasks.tag.result import Tagging as Tagging
    from regard.tasks.trace import Trace as Trace
    from regard.tasks.trace import TracedPart as TracedPart
    from regard.tasks.trace import TracedSection as TracedSection
    from regard.tasks.trace import TracedStep as TracedStep
    from regard.tasks.translate.constraints import Constraints as Constraints
    from regard.tasks.translate.evaluation import EvaluatedBand as EvaluatedBand
    from regard.tasks.translate.evaluation import Evaluation as Evaluation
    from regard.tasks.translate.evaluation import evaluate as evaluate
    from regard.tasks.translate.predictor import Translator as Translator
    from regard.tasks.translate.result import Translation as Translation
    from regard.tasks.translate.search_tree import PartialHypothesis as PartialHypothesis
    from regard.tasks.translate.search_tree import SearchTree as SearchTree
    from regard.tasks.translate.what_if import WhatIf as WhatIf
    from regard.text.links import GoldLinks as GoldLinks
    from regard.text.sources import FeaturedText as FeaturedText
    from regard.text.tokenizer import Tokenizer as Tokenizer
    from regard.training.loop import LoopResult as LoopResult
    from regard.training.progress import Note as Note
    from regard.training.progress import Progress as Progress
    from regard.training.progress import Validated as Validated
    from regard.training.run import TrainedRun as TrainedRun
    from regard.training.run import train as train

shorten_spin()  # before any of these modules imports torch

_MODULES = {
    "regard.evaluation.alignment.error_rate": ("AlignmentScore", "AttentionStatistics"),
    "regard.evaluation.alignment.links": ("LinkRule", "SoftLinks"),
    "regard.evaluation.alignment.words": ("LabelledAlpha",),
    "regard.evaluation.quality": ("LengthBand", "Quality"),
    "regard.inference.ensemble": ("Ensemble", "EnsembleSource"),
    "regard.inference.shortlist": ("Shortlist",),
    "regard.processes": ("Processes",),
    "regard.search.options": ("SamplingOptions", "SearchOptions"),
    "regard.server.client": ("AsyncClient", "Client", "ServiceError"),
    "regard.tasks.base": ("Validation",),
    "regard.tasks.caption.predictor": ("Captioner",),
    "regard.tasks.caption.result": ("Caption",),
    "regard.tasks.classify.predictor": ("Classifier",),
    "regard.tasks.classify.result": ("Classification",),
    "regard.tasks.language_model.predictor": ("LanguageModel",),
    "regard.tasks.language_model.result": (
        *("Candidate", "Reading", "Sample", "SampleStep", "Scored", "TextScore"),
    ),
    "regard.tasks.align.predictor": ("Aligner",),
    "regard.tasks.align.result": ("AlignedPair",),
    "regard.tasks.tag.predictor": ("Tagger",),
    "regard.tasks.tag.result": ("Tagging",),
    "regard.tasks.trace": ("Trace", "TracedPart", "TracedSection", "TracedStep"),
    "regard.tasks.translate.constraints": ("Constraints",),
    "regard.tasks.translate.evaluation": ("EvaluatedBand", "Evaluation", "evaluate"),
    "regard.tasks.translate.predictor": ("Translator",),
    "regard.tasks.translate.result": ("Translation",),
    "regard.tasks.translate.search_tree": ("PartialHypothesis", "SearchTree"),
    "regard.tasks.translate.what_if": ("WhatIf",),
    "regard.text.links": ("GoldLinks",),
    "regard.text.sources": ("FeaturedText",),
    "regard.text.tokenizer": ("Tokenizer",),
    "regard.training.loop": ("LoopResult",),
    "regard.training.progress": ("Note", "Progress", "Validated"),
    "regard.training.run": ("TrainedRun", "train"),
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names}

__all__ = sorted([*_HOMES, "RegardError", "__version__"])


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'regard' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
