"""What ``regard evaluate`` does for each task. One more is a file here and a line below."""

from collections.abc import Callable

from regard.cli.evaluations.arguments import EvaluateArguments
from regard.cli.evaluations.caption import evaluate_captioner
from regard.cli.evaluations.classify import evaluate_classifier
from regard.cli.evaluations.language_model import evaluate_language_model
from regard.cli.evaluations.tag import evaluate_tagger
from regard.cli.evaluations.translate import evaluate_translator

EVALUATIONS: dict[str, Callable[[EvaluateArguments], None]] = {
    "translate": evaluate_translator,
    "language_model": evaluate_language_model,
    "classify": evaluate_classifier,
    "tag": evaluate_tagger,
    "caption": evaluate_captioner,
}
"""By the task of a model's folder."""

OPTIONS: dict[str, frozenset[str]] = {
    "translate": frozenset(
        {"max_length", "gold", "beam", "length_power", "tokenize", "lowercase", "reference", "columns"}
    ),
    "language_model": frozenset({"continuous"}),
    "classify": frozenset({"max_length", "columns", "second_column", "separator", "header"}),
    "tag": frozenset({"max_length", "reference", "columns", "vertical"}),
    "caption": frozenset({"reference", "column", "beam", "length_power", "tokenize", "lowercase"}),
}
"""The options that mean something to each; those of every task are not named."""

__all__ = ["EVALUATIONS", "OPTIONS", "EvaluateArguments"]
