"""What the training loop knows of a task: batches to learn from, a loss, and a validation.

A task holds the data of one run, prepared, and the model that learns from it. It knows nothing of optimizers,
schedules, devices or files; the loop knows nothing of what is learnt.

What every task of one text does alike with it: learn a vocabulary, leave out what cannot be learnt from.

In: lines, or encoded examples and their lengths. Out: a tokenizer; the examples that are fit, and an account of the
others. Knows no task.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self, TypeVar

import torch
from torch import Tensor, nn

from regard.batches import batch_shuffled
from regard.errors import DataError
from regard.evaluation.metrics import is_better
from regard.models import Model
from regard.tasks.config import TextTokenizerConfig
from regard.text import Tokenizer, learn


@dataclass(frozen=True)
class TrainingBatch:
    """Something to learn from at once.

    Attributes:
        tensors: what the task's objective takes.
        num_tokens: how many predictions its loss is a sum over.
        num_sentences: how many sentences they belong to.
    """

    tensors: tuple[Tensor, ...]
    num_tokens: int
    num_sentences: int

    def to(self, device: torch.device | str) -> Self:
        """The same batch on another device."""
        return replace(self, tensors=tuple(tensor.to(device) for tensor in self.tensors))


@dataclass(frozen=True)
class Validation:
    """The scores of one validation.

    Attributes:
        loss: nats per prediction, without dropout and label smoothing.
        scores: the others of the task by their keys in `METRICS`.
    """

    loss: float
    scores: Mapping[str, float]

    def to_json(self) -> dict[str, float]:
        """All scores by key."""
        return {"loss": self.loss, **self.scores}

    def better_than(self, other: "Validation", select: str) -> bool:
        """Whether it improves on another by one of its scores; a tie goes to the lower loss."""
        mine, others = self.to_json()[select], other.to_json()[select]
        return is_better(select, mine, others) or (mine == others and self.loss < other.loss)


class Task(ABC):
    """One run's data and model.

    Attributes:
        config: the whole run, of the task's own kind.
        model: what learns; there from `build` on.
        tokenizers: by their name in the model folder.
        labels: the closed set of answers, for a task that has one.
        notes: sentences for the user: what was set aside, what was taken out.
        lengths: of each example to learn from, in tokens as a batch counts them.
        num_train: how many examples there are to learn from.
        num_valid: how many to validate with.
    """

    name: ClassVar[str]
    """The task's name, as ``--task`` takes it."""
    examples: ClassVar[str]
    """What one of its examples is called, in the plural."""

    config: Any
    model: Model
    tokenizers: Mapping[str, Tokenizer]
    labels: tuple[str, ...] = ()
    notes: tuple[str, ...]
    lengths: Sequence[int]
    num_train: int
    num_valid: int

    @property
    @abstractmethod
    def sizes(self) -> Mapping[str, int]:
        """What the model is as wide as: the vocabularies, labels and features by name."""

    @abstractmethod
    def build(self) -> Model:
        """Make the model, its weights drawn from torch's generator or taken from a trained one, and keep it."""

    @abstractmethod
    def objective(self) -> nn.Module:
        """The model with its loss as one module of plain tensors, which is what Fabric can wrap."""

    def plan(self, epoch: int) -> Sequence[Sequence[int]]:
        """The batches of an epoch, each as the numbers of its examples; the same for equal arguments.

        Examples of like length are together; a task whose examples have an order of their own plans otherwise.
        """
        training = self.config.training
        return batch_shuffled(
            self.lengths, training.batch_sentences, training.batch_tokens, seed=training.seed, epoch=epoch
        )

    @abstractmethod
    def batch(self, members: Sequence[int]) -> TrainingBatch:
        """One batch of the plan."""

    def learn(self, objective: nn.Module, batch: TrainingBatch, progress: float) -> Tensor:
        """The loss of a batch, a sum over its predictions.

        Args:
            objective: as Fabric wrapped it.
            batch: on the device.
            progress: how much of the run is over, 0 to 1.
        """
        loss: Tensor = objective(*batch.tensors)
        return loss

    @abstractmethod
    def validate(self, device: torch.device) -> Validation:
        """Judge the model as it stands; it draws no chance, and leaves the model in training mode."""


Example = TypeVar("Example")


def learn_text(lines: Iterable[str], config: TextTokenizerConfig) -> Tokenizer:
    """The tokenizer a run's configuration describes, learnt from lines.

    Raises:
        ConfigError: the size cannot be.
        DataError: there is no text in the lines.
    """
    return learn(
        config.text,
        lines,
        size=config.text_size,
        min_frequency=config.min_frequency,
        lowercase=config.lowercase,
    )


def fit_to_learn(
    examples: Sequence[Example],
    length: Callable[[Example], int],
    max_length: int,
    *,
    what: str,
    unit: str = "tokens",
) -> tuple[list[Example], list[str]]:
    """The examples that are neither blank nor too long.

    Args:
        examples: those to learn from.
        length: of one of them; 0 if it is blank.
        max_length: the most there may be, ``data.max_length``.
        what: what they are called, in the plural.
        unit: what the length is counted in.

    Returns:
        Those that are fit, in order, and a sentence for each reason why others are not.

    Raises:
        DataError: none is.
    """
    lengths = [length(example) for example in examples]
    kept = [example for example, count in zip(examples, lengths, strict=True) if 0 < count <= max_length]
    blank = lengths.count(0)
    too_long = len(lengths) - len(kept) - blank
    if not kept:
        raise DataError(
            f"an empty corpus: of {len(lengths):,} training {what} {blank:,} are blank and {too_long:,} have more than "
            f"{max_length} {unit}; raise data.max_length (now {max_length}), or give some with text"
        )
    reasons = ((blank, "blank"), (too_long, f"of more than {max_length} {unit} (data.max_length)"))
    return kept, [f"training {what}: left out {count:,} {reason}" for count, reason in reasons if count]
