"""The options of searching and of sampling: the one definition from which everything else is derived.

Each field has its default, its sentence and its allowed values. The keyword arguments of `Translator.translate` and the
flags of the command line, with their help, are read from the fields, so that a new option is one field here and its use
in one module of this folder. Knows no tensors: the command line reads this module before torch is loaded.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, Self, TypeVar, get_args

from regard.config import in_range, one_of
from regard.errors import ConfigError, nearest

LengthPenalty = Literal["average", "wu", "none"]

MAX_TOKENS = 10_000
"""The most tokens that an option can demand of an output, whatever the length of its source."""

F = TypeVar("F", bound=Callable[..., Any])


def option(
    default: Any,
    help: str,
    *,
    low: float | None = None,
    high: float | None = None,
    below: float | None = None,
    choices: tuple[str, ...] = (),
) -> Any:
    """A field of `Options`.

    Args:
        default: its value where none is given.
        help: one sentence for ``--help``.
        low: the smallest allowed number.
        high: the largest allowed number.
        below: a bound that a number must stay below.
        choices: the allowed names.
    """
    return field(
        default=default,
        metadata={"help": help, "low": low, "high": high, "below": below, "choices": choices},
    )


@dataclass(frozen=True)
class Options:
    """Base of `SearchOptions` and `SamplingOptions`: checks every field against its allowed values.

    Raises:
        ConfigError: a value is out of range, or a name is unknown.
    """

    def __post_init__(self) -> None:
        for each in fields(self):
            value, allowed = getattr(self, each.name), each.metadata
            if allowed["choices"]:
                one_of(each.name, value, allowed["choices"])
            elif allowed["low"] is not None:
                in_range(each.name, value, allowed["low"], allowed["high"], below=allowed["below"])

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """The names of all options."""
        return tuple(each.name for each in fields(cls))

    def change(self, **changes: Any) -> Self:
        """A copy with some options changed.

        Raises:
            ConfigError: an option is unknown, or its value is not allowed.
        """
        for name in changes:
            if name not in self.names():
                raise ConfigError(f"no option {name!r}; {nearest(name, self.names())}")
        return replace(self, **changes)


def takes_options(kind: type[Options]) -> Callable[[F], F]:
    """Show every option in the signature of a function that takes them as ``**changes``."""

    def decorate(function: F) -> F:
        signature = inspect.signature(function)
        *own, _ = signature.parameters.values()
        derived = [
            inspect.Parameter(
                each.name, inspect.Parameter.KEYWORD_ONLY, default=each.default, annotation=each.type
            )
            for each in fields(kind)
        ]
        function.__signature__ = signature.replace(parameters=[*own, *derived])  # type: ignore[attr-defined]
        return function

    return decorate


@dataclass(frozen=True)
class SearchOptions(Options):
    """How a beam search works, for every sentence alike.

    The length limit is each sentence's own: ``max_ratio`` × source tokens + ``max_extra`` tokens, the
    output's EOS counted. At its last step only EOS may be chosen, so every hypothesis is a finished one, and its
    score is the model's for exactly these words. A minimum length gives way to the limit, and where no word is left
    that may be chosen; the larger of the two minima counts.
    """

    beam: int = option(
        5, "Partial hypotheses kept per sentence at each step; 1 is greedy search.", low=1, high=1000
    )
    n_best: int = option(
        1, "Number of hypotheses returned per sentence, best first; at most the beam.", low=1
    )
    length_penalty: LengthPenalty = option(  # noqa: RUF009 (a literal is immutable)
        "average",
        "What log p is divided by: length^p (average), ((5 + length)/6)^p (wu, Wu et al. 2016) or 1 (none).",
        choices=get_args(LengthPenalty),
    )
    length_power: float = option(
        1.0,
        "p, the exponent of the length penalty: with average, 0 ranks by log p, 1 by its mean per token.",
        low=0,
        high=10,
    )
    coverage: float = option(
        0.0,
        "Weight of the coverage penalty (Wu et al. 2016), such as 0.2; 0 for none.",
        low=0,
        high=1000,
    )
    min_length: int = option(0, "Minimum number of tokens, not counting </s>.", low=0, high=MAX_TOKENS)
    min_ratio: float = option(0.0, "Minimum number of tokens per source token.", low=0, high=100)
    max_ratio: float = option(
        2.0, "Maximum number of tokens per source token; --max-extra is added to it.", low=0, high=100
    )
    max_extra: int = option(10, "Tokens allowed beyond --max-ratio, counting </s>.", low=1, high=MAX_TOKENS)
    block_ngrams: int = option(0, "Block repeated n-grams of this size in an output; 0 for none.", low=0)
    unknowns: bool = option(True, "Whether the unknown token may be chosen.")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.n_best > self.beam:
            raise ConfigError(
                f"n_best: {self.n_best} is more than the beam, {self.beam}; raise beam, or lower n_best"
            )


DEFAULT_SEARCH = SearchOptions()

NEED_A_SOURCE = frozenset({"coverage", "min_ratio", "max_ratio", "max_extra"})
"""Options that mean nothing to a model that generates without a source sentence."""


@dataclass(frozen=True)
class SamplingOptions(Options):
    """How a token is sampled: first the temperature, then top-k, then top-p, each on what the one before left."""

    temperature: float = option(
        1.0,
        "The logits are divided by it: below 1 probable words become more probable; 0 takes the most probable.",
        low=0,
        below=float("inf"),
    )
    top_k: int = option(0, "Sample among the K most probable words; 0 for all.", low=0)
    top_p: float = option(
        1.0,
        "Sample from the smallest set of words whose probabilities sum to P (nucleus sampling); 1 for all.",
        low=0,
        high=1,
    )


DEFAULT_SAMPLING = SamplingOptions()
