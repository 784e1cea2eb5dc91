"""Several models as one: an ensemble averages their distributions at each step, checkpoint averaging their weights.

An `Ensemble` takes models of the same vocabularies and has `encode` and `decoder`, as search needs them. Each member
keeps a source and a state of its own, which search carries and does not look into.

The mean of the checkpoints of one run, or of runs that started from the same weights, is mostly better than the last
of them, at no cost when decoding. `average_models` takes models one at a time, so that no more than two are held; its
sums are float64, so that the mean of n copies of a model is that model, bit for bit. `average_folders` reads and
writes model folders; the facts of the new weights name their sources.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args

import torch
from torch import Tensor, nn

from regard.batches.pad import PairBatch
from regard.checkpoint import WEIGHTS, LoadedModel, ModelFolder
from regard.config import one_of
from regard.errors import ConfigError, DataError
from regard.models.classifier import Classified
from regard.models.seq2seq import TeacherForced
from regard.models.state import StepOutput
from regard.text.tokenizer import refuse_other_vocabularies

Combination = Literal["mean", "log-linear"]


@dataclass(frozen=True)
class EnsembleSource:
    """The source as each member encoded it.

    Attributes:
        parts: one for each member; their masks are one and the same.
    """

    parts: tuple[Any, ...]

    @property
    def mask(self) -> Tensor:
        """True where a real word is, (B, Tx)."""
        mask: Tensor = self.parts[0].mask
        return mask

    def select(self, rows: Tensor) -> "EnsembleSource":
        """The sentences at `rows`, in that order."""
        return EnsembleSource(tuple(part.select(rows) for part in self.parts))

    def with_forced_attention(self, positions: Tensor | None) -> "EnsembleSource":
        """The same source for a step of forced attention, in every member that attends."""
        return EnsembleSource(tuple(part.with_forced_attention(positions) for part in self.parts))


@dataclass(frozen=True)
class EnsembleState:
    """Each member's state, R rows."""

    parts: tuple[Any, ...]

    def select(self, rows: Tensor) -> "EnsembleState":
        """The hypotheses at `rows`, in that order."""
        return EnsembleState(tuple(part.select(rows) for part in self.parts))


class EnsembleDecoder:
    """Steps the decoders of all members.

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
            decoder.step(previous_ids, of_member, source)
            for decoder, of_member, source in zip(self.decoders, state.parts, encoded.parts, strict=True)
        ]
        states: Any = EnsembleState(tuple(output.state for output in outputs))
        logits = combine([output.logits for output in outputs], self._combination)
        return StepOutput(logits, states, mean_alpha([output.alpha for output in outputs]))


class Ensemble:
    """A model made of models.

    Args:
        models: at least one, of the same vocabularies, which the caller ensures.
        combination: ``mean``, the mean of the probabilities p = Σ_k p_k / n, where one member suffices to make a word
            probable; ``log-linear``, the mean of the log-probabilities p ∝ Π_k p_k^{1/n}, where one suffices to make
            it improbable.

    Raises:
        ConfigError: there are no models, or the combination has another name.
    """

    def __init__(self, models: Sequence[Any], combination: Combination = "mean") -> None:
        if not models:
            raise ConfigError("an ensemble without models; name at least one")
        one_of("combination", combination, get_args(Combination))
        self.models = tuple(models)
        self.combination: Combination = combination
        self.decoder = EnsembleDecoder([model.decoder for model in models], combination)

    def encode(self, source_ids: Tensor, source_mask: Tensor) -> EnsembleSource:
        """Encode the source once for each member."""
        return EnsembleSource(tuple(model.encode(source_ids, source_mask) for model in self.models))

    def __call__(self, batch: PairBatch) -> TeacherForced:
        """Score given pairs by teacher forcing; the logits are log-probabilities, (N, Vy)."""
        outputs = [model(batch) for model in self.models]
        logits = combine([each.logits for each in outputs], self.combination)
        alphas = ([each.alpha for each in outputs], [each.alignment for each in outputs])
        return TeacherForced(logits, *map(mean_alpha, alphas))


class LabelEnsemble:
    """Classifiers or taggers as one: the mean of their probabilities, p = Σ_k p_k / n.

    Args:
        models: at least one, of the same vocabulary and labels, which the caller ensures.
    """

    def __init__(self, models: Sequence[Any]) -> None:
        self.models = tuple(models)
        self.config = models[0].config

    def __call__(self, batch: Any) -> Any:
        """The members' output for a batch, `Classified` or tag logits (N, tags); the logits are log-probabilities."""
        outputs = [model(batch) for model in self.models]
        if isinstance(outputs[0], Tensor):
            return combine(outputs, "mean")
        alphas = zip(*(each.alphas for each in outputs), strict=True)
        return Classified(
            combine([each.logits for each in outputs], "mean"), tuple(mean_alpha(each) for each in alphas)
        )


def combine(logits: Sequence[Tensor], combination: Combination) -> Tensor:
    """The members' logits (R, Vy) → log-probabilities of the ensemble, (R, Vy)."""
    log_probs = torch.stack([each.log_softmax(dim=-1) for each in logits])  # (n, R, Vy)
    if combination == "mean":
        return log_probs.logsumexp(dim=0) - math.log(len(logits))
    return log_probs.mean(dim=0).log_softmax(dim=-1)


def mean_alpha(alphas: Sequence[Tensor | None]) -> Tensor | None:
    """The mean over the members that attend; None where none does."""
    attending = [alpha for alpha in alphas if alpha is not None]
    return torch.stack(attending).mean(dim=0) if attending else None


M = TypeVar("M", bound=nn.Module)


def average_models(models: Iterable[M]) -> M:
    """Average parameters and buffers.

    Args:
        models: at least one; the first is changed in place and returned.

    Raises:
        ConfigError: there are none, or a parameter of one has another name or shape than in the first.
    """
    sums: dict[str, Tensor] = {}
    first: M | None = None
    count = 0
    for model in models:
        count += 1
        numbers = _numbers(model)
        if first is None:
            first = model
            sums = {name: value.double().clone() for name, value in numbers.items()}
            continue
        expected, shapes = (
            {name: tuple(value.shape) for name, value in each.items()} for each in (sums, numbers)
        )
        if expected != shapes:
            name = next(name for name in {**expected, **shapes} if expected.get(name) != shapes.get(name))
            raise ConfigError(
                f"{name}: {expected.get(name, 'missing')} in the first model and {shapes.get(name, 'missing')} in "
                f"number {count}; only models of one architecture have a mean"
            )
        for name, value in numbers.items():
            sums[name] += value.double()
    if first is None:
        raise ConfigError("no models to average; name at least one")
    with torch.no_grad():
        for name, value in _numbers(first).items():
            value.copy_(sums[name] / count)
    return first


def _numbers(model: nn.Module) -> dict[str, Tensor]:
    """Parameters and buffers by name, a shared one under its first name only; they share the model's memory."""
    both = {**dict(model.named_parameters(remove_duplicate=True)), **dict(model.named_buffers())}
    return {name: value.detach() for name, value in both.items()}


_TRAINING_OPTIONS = ("dropout", "recurrent_dropout", "weight_dropout", "variational", "initialization")
"""Options of a model's configuration that do not change what a trained model computes."""


@dataclass(frozen=True)
class AveragedModel:
    """A model folder that averaging wrote.

    Attributes:
        folder: of the new model.
        sources: for each checkpoint that went into it, its folder, the name of its weights, and their update.
        num_parameters: of the model.
    """

    folder: Path
    sources: tuple[dict[str, Any], ...]
    num_parameters: int


def average_folders(
    out: str | Path, folders: Sequence[str | Path], *, weights: Sequence[str] = ("best",)
) -> AveragedModel:
    """Average checkpoints of one architecture and one vocabulary, of any task.

    Args:
        out: where to write the model; there may not be one already.
        folders: where the checkpoints are.
        weights: which of each folder: ``best``, ``last``, or both.

    Raises:
        ConfigError: there is nothing to average, or two models differ in more than their weights.
        DataError: `out` has a model already, or cannot be written.
        FolderError: a folder or its weights cannot be read.
    """
    checkpoints = [(ModelFolder(folder), name) for folder in folders for name in dict.fromkeys(weights)]
    if len(checkpoints) < 2:
        raise ConfigError(
            f"{len(checkpoints)} checkpoint{'' if len(checkpoints) == 1 else 's'} to average; name several folders, or "
            "both weights of one (--weights best --weights last)"
        )
    averaged = ModelFolder(out)
    if any((averaged.path / f"{name}.safetensors").exists() for name in WEIGHTS):
        raise DataError(
            f"{averaged.path}: there is a model already; choose another folder, or remove that one"
        )
    first = checkpoints[0][0].load(checkpoints[0][1])
    sources: list[dict[str, Any]] = []

    def models() -> Iterator[Any]:
        for index, (folder, name) in enumerate(checkpoints):
            loaded = first if index == 0 else folder.load(name, task=first.task)
            _refuse_different(first, loaded, checkpoints[0][0].path, folder.path)
            sources.append(
                {"folder": str(folder.path), "weights": name, "update": loaded.facts.get("update")}
            )
            yield loaded.model

    model = average_models(models())
    averaged.create(first.task, model.config, first.tokenizers, sizes=first.sizes, labels=first.labels)
    averaged.write_weights("best", model, {"averaged": sources})
    return AveragedModel(averaged.path, tuple(sources), model.num_parameters)


def _refuse_different(first: LoadedModel, second: LoadedModel, first_path: Path, second_path: Path) -> None:
    """Raise where two models differ in more than their weights."""
    refuse_other_vocabularies(first.tokenizers, second.tokenizers, str(first_path), str(second_path))
    if first.labels != second.labels or first.sizes != second.sizes:
        raise ConfigError(
            f"{first_path} and {second_path}: their labels or features differ; only models of one architecture have "
            "a mean"
        )
    options, others = (_flat(each.model.config.to_mapping()) for each in (first, second))
    for name in {**options, **others}:
        if name.rsplit(".", 1)[-1] not in _TRAINING_OPTIONS and options.get(name) != others.get(name):
            raise ConfigError(
                f"model.{name}: {options.get(name)} in {first_path} and {others.get(name)} in {second_path}; only "
                "models of one architecture have a mean"
            )


def _flat(options: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in options.items():
        flat |= _flat(value, f"{prefix}{name}.") if isinstance(value, dict) else {f"{prefix}{name}": value}
    return flat
