"""Several models that speak with one voice: what each step says is a mean of what they say.

In: models of the same vocabularies. Out: a model with `encode` and `decoder`, so that search needs no other door; each
member keeps a source and a state of its own. What passes between the two is for search to carry, not to look into.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import torch
from torch import Tensor

from regard.batches.pad import PairBatch
from regard.config import one_of
from regard.errors import ConfigError
from regard.models.seq2seq import TeacherForced
from regard.models.state import StepOutput

Combination = Literal["mean", "log-linear"]


@dataclass(frozen=True)
class EnsembleSource:
    """The source as each member read it.

    Attributes:
        parts: one for each member; their masks are one and the same.
    """

    parts: tuple[Any, ...]

    @property
    def mask(self) -> Tensor:
        """True where a real word stands, (B, Tx)."""
        mask: Tensor = self.parts[0].mask
        return mask

    def select(self, rows: Tensor) -> "EnsembleSource":
        """The sentences at `rows`, in that order."""
        return EnsembleSource(tuple(part.select(rows) for part in self.parts))

    def with_forced_attention(self, positions: Tensor | None) -> "EnsembleSource":
        """The same source for a step at which every member that attends is told where to look."""
        return EnsembleSource(tuple(part.with_forced_attention(positions) for part in self.parts))


@dataclass(frozen=True)
class EnsembleState:
    """Each member's state, R rows."""

    parts: tuple[Any, ...]

    def select(self, rows: Tensor) -> "EnsembleState":
        """The hypotheses at `rows`, in that order."""
        return EnsembleState(tuple(part.select(rows) for part in self.parts))


class EnsembleDecoder:
    """Steps all members' decoders side by side.

    Args:
        decoders: the members'.
        combination: see `Ensemble`.

    Attributes:
        words: the ids of the logits' columns, where all members have the same shortlist; None where they are all.
    """

    def __init__(self, decoders: Sequence[Any], combination: Combination) -> None:
        self.decoders = tuple(decoders)
        self._combination = combination
        self.words: Tensor | None = getattr(decoders[0], "words", None)

    def initial_state(self, encoded: Any) -> Any:
        """The state before the first word."""
        pairs = zip(self.decoders, encoded.parts, strict=True)
        return EnsembleState(tuple(decoder.initial_state(part) for decoder, part in pairs))

    def step(self, previous_ids: Tensor, state: Any, encoded: Any) -> StepOutput:
        """One step for R rows; the logits are log-probabilities, (R, Vy)."""
        outputs = [
            decoder.step(previous_ids, own, source)
            for decoder, own, source in zip(self.decoders, state.parts, encoded.parts, strict=True)
        ]
        states: Any = EnsembleState(tuple(output.state for output in outputs))
        logits = combined([output.logits for output in outputs], self._combination)
        return StepOutput(logits, states, mean_alpha([output.alpha for output in outputs]))


class Ensemble:
    """A model made of models.

    Args:
        models: at least one, of the same vocabularies, which is for the caller to know.
        combination: ``mean``, the mean of the probabilities p = Σ_k p_k / n, which asks for one model that believes in
            a word; ``log-linear``, the mean of the log-probabilities p ∝ Π_k p_k^{1/n}, which asks for all of them.

    Raises:
        ConfigError: there are no models, or the combination has another name.
    """

    def __init__(self, models: Sequence[Any], combination: Combination = "mean") -> None:
        if not models:
            raise ConfigError("an ensemble of no models; name at least one")
        one_of("combination", combination, get_args(Combination))
        self.models = tuple(models)
        self.combination: Combination = combination
        self.decoder = EnsembleDecoder([model.decoder for model in models], combination)

    def encode(self, source_ids: Tensor, source_mask: Tensor) -> EnsembleSource:
        """Read the source once for each member."""
        return EnsembleSource(tuple(model.encode(source_ids, source_mask) for model in self.models))

    def __call__(self, batch: PairBatch) -> TeacherForced:
        """Score given pairs by teacher forcing; the logits are log-probabilities, (N, Vy)."""
        said = [model(batch) for model in self.models]
        logits = combined([each.logits for each in said], self.combination)
        return TeacherForced(logits, mean_alpha([each.alpha for each in said]))


def combined(logits: Sequence[Tensor], combination: Combination) -> Tensor:
    """The members' logits (R, Vy) → log-probabilities of the ensemble, (R, Vy)."""
    log_probs = torch.stack([each.log_softmax(dim=-1) for each in logits])  # (n, R, Vy)
    if combination == "mean":
        return log_probs.logsumexp(dim=0) - math.log(len(logits))
    return log_probs.mean(dim=0).log_softmax(dim=-1)


def mean_alpha(alphas: Sequence[Tensor | None]) -> Tensor | None:
    """The mean over the members that attend; None where none does."""
    attending = [alpha for alpha in alphas if alpha is not None]
    return torch.stack(attending).mean(dim=0) if attending else None
