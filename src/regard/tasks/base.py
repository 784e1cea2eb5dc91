"""What the training loop knows of a task: batches to train on, a loss, a validation; and what the tasks' data share.

A task holds the prepared data of one run and the model it trains. It knows nothing of optimizers, schedules, devices
or files; the loop knows nothing of what the model predicts.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, Protocol, TypeVar

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn import functional

from regard.batches import Batch, batch_shuffled
from regard.batches.epochs import EpochPlan, Mixture
from regard.batches.store import Store
from regard.errors import DataError
from regard.evaluation.metrics import is_better
from regard.models import Model
from regard.processes import ALONE, Processes
from regard.tasks.config import TextTokenizerConfig
from regard.text import Labels, Tokenizer, train_tokenizer

if TYPE_CHECKING:
    from regard.plots.page import ShownResult, ShownTranslation

NUM_SHOWN = 12
"""Examples on a report page."""
_LONGEST_SHOWN = 100  # tokens


class Encoded(Protocol):
    """A training example as ids."""

    @property
    def length(self) -> int:
        """In tokens, as a batch counts them: the longer side, special symbols included."""
        ...


Example = TypeVar("Example")
EncodedExample = TypeVar("EncodedExample", bound=Encoded)


@dataclass(frozen=True)
class Prepared(Generic[EncodedExample]):
    """The data of a run: tokenizers trained, examples encoded and filtered.

    Attributes:
        tokenizers: by their name in the model folder.
        train: the training examples; a `Store` where they are not in memory.
        valid: the validation examples.
        notes: sentences for the user: how many examples were split off or left out, and why.
        labels: the closed set of answers by id, for a task that has one.
        valid_examples: the validation examples as they were read, where `valid` has only their ids.
        mixture: how often an epoch has each example of a store; None for once.
    """

    tokenizers: Mapping[str, Tokenizer]
    train: Sequence[EncodedExample]
    valid: Sequence[EncodedExample]
    notes: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    valid_examples: Sequence[Any] = ()
    mixture: Mixture | None = None


@dataclass(frozen=True)
class Vocabulary:
    """The tokenizers and labels of a trained model that a run starts from.

    Attributes:
        tokenizers: by their name in the model folder.
        labels: by id; empty for a task without.
        extend: whether what only the new data have is added to them.
    """

    tokenizers: Mapping[str, Tokenizer]
    labels: tuple[str, ...] = ()
    extend: bool = False

    def tokenizer(self, name: str, lines: Iterable[str]) -> Tokenizer:
        """One of the tokenizers, with the new words of some lines if it is extended."""
        known = self.tokenizers[name]
        return known.extended(lines) if self.extend else known

    def all_labels(self, names: Iterable[str]) -> Labels:
        """The labels, with the new ones among some names if they are extended."""
        new = sorted(set(names).difference(self.labels)) if self.extend else ()
        return Labels((*self.labels, *new))


@dataclass(frozen=True)
class Validation:
    """The scores of one validation.

    Attributes:
        loss: nats per prediction, without dropout and label smoothing.
        scores: the task's other scores by their keys in `METRICS`.
    """

    loss: float
    scores: Mapping[str, float]

    def to_json(self) -> dict[str, float]:
        """All scores by key."""
        return {**self.scores, "loss": self.loss}

    def better_than(self, other: "Validation", select: str) -> bool:
        """Whether it improves on another by one of its scores; a tie goes to the lower loss."""
        score, best = self.to_json()[select], other.to_json()[select]
        return is_better(select, score, best) or (score == best and self.loss < other.loss)


class MeasuredBatch(NamedTuple):
    """Sums over the tokens of a batch: the loss, how many are predicted correctly, how many there are."""

    loss: float
    correct: int
    num_tokens: int

    @classmethod
    def sum(cls, batches: Sequence["MeasuredBatch"]) -> "MeasuredBatch":
        """The sums over several batches, added in their order."""
        losses, correct, num_tokens = zip(*batches, strict=True) if batches else ((), (), ())
        return cls(sum(losses), sum(correct), sum(num_tokens))


class Task(ABC):
    """The data and the model of one run.

    Args:
        config: the whole run, of the task's own kind.
        prepared: its data.

    Attributes:
        config: the whole run.
        prepared: its data.
        model: the model in training; set by `build`.
        tokenizers: by their name in the model folder.
        labels: the closed set of answers, for a task that has one.
        notes: sentences for the user: how many examples were split off or left out, and why.
        lengths: of each training example, in tokens as a batch counts them; an array where they are in a store.
        num_train: the number of training examples.
        num_valid: the number of validation examples.
        processes: those that train together; one alone unless set.
        begun: the sizes of the run's model, where the run began in an earlier session.
        tell: called with sentences for the user while the model is built; ignores them unless set.
    """

    name: ClassVar[str]
    """The task's name, as ``--task`` takes it."""
    examples: ClassVar[str]
    """What its examples are called, in the plural."""

    config: Any
    prepared: Any
    model: Model
    tokenizers: Mapping[str, Tokenizer]
    labels: tuple[str, ...] = ()
    notes: tuple[str, ...]
    lengths: Sequence[int] | npt.NDArray[np.int32]
    num_train: int
    num_valid: int
    processes: Processes = ALONE
    begun: Mapping[str, int] | None = None
    tell: Callable[[str], None] = staticmethod(lambda text: None)

    def __init__(self, config: Any, prepared: Prepared[Any]) -> None:
        self.config, self.prepared = config, prepared
        self.tokenizers, self.labels, self.notes = prepared.tokenizers, prepared.labels, prepared.notes
        self.lengths = (
            prepared.train.lengths
            if isinstance(prepared.train, Store)
            else [example.length for example in prepared.train]
        )
        self.num_train, self.num_valid = len(prepared.train), len(prepared.valid)

    @property
    @abstractmethod
    def sizes(self) -> Mapping[str, int]:
        """The sizes a model is built for, by name: vocabularies, labels, features; see `TaskSpec.build`."""

    @abstractmethod
    def build(self) -> Model:
        """Make the model and keep it; its weights are sampled from torch's generator, or a trained model's."""

    @abstractmethod
    def objective(self) -> nn.Module:
        """The model with its loss as one module, batch → loss, for Fabric to wrap."""

    def plan(self, epoch: int) -> Sequence[Sequence[int]]:
        """The batches of an epoch, each as the indices of its examples; the same for equal arguments.

        Examples of similar length share a batch; a task whose examples have an order of their own overrides this.
        """
        training = self.config.training
        limits = training.batch_sentences, training.batch_tokens
        if isinstance(self.lengths, np.ndarray):
            mixture = self.prepared.mixture
            return EpochPlan(self.lengths, *limits, seed=training.seed, epoch=epoch, mixture=mixture)
        return batch_shuffled(self.lengths, *limits, seed=training.seed, epoch=epoch)

    def share(self, members: Sequence[int]) -> Sequence[int]:
        """What this process learns from of a batch of the plan: every n-th example, perhaps none."""
        return self.processes.share(members)

    @abstractmethod
    def batch(self, members: Sequence[int]) -> Batch:
        """A batch of the plan, or this process's share of it."""

    def loss(self, objective: nn.Module, batch: Any, progress: float) -> Tensor:
        """The loss of a batch, a sum over its predictions.

        Args:
            objective: as Fabric wrapped it.
            batch: on the device.
            progress: the fraction of the run that is over, 0 to 1.
        """
        loss: Tensor = objective(batch)
        return loss

    def carried(self) -> dict[str, Tensor]:
        """What the task carries from one update to the next, beside the weights; nothing for most tasks."""
        return {}

    def restore(self, carried: Mapping[str, Tensor], device: torch.device) -> None:
        """Go on from what `carried` returned after some update.

        Args:
            carried: by name, on the CPU.
            device: where the batches are.
        """
        assert not carried, f"{type(self).__name__} carries nothing"

    @abstractmethod
    def validate(self, device: torch.device) -> Validation:
        """Score the model on the validation examples; uses no randomness and leaves the model in training mode."""

    def measure(self, device: torch.device, processes: Processes) -> Any:
        """The part of a validation that is this process's, without an exchange; the first does all unless overridden.

        Args:
            device: where to compute.
            processes: those that validate together.
        """
        return self.validate(device) if processes.is_first else None

    def summarize(self, measured: Sequence[Any]) -> Validation:
        """The scores that the parts of all processes, by rank, make together: to the bit those of one process."""
        validation: Validation = measured[0]
        return validation

    def show(self, predictor: Any) -> "Sequence[ShownTranslation | ShownResult]":
        """Some validation examples for the report page; none where a task has nothing to show.

        Args:
            predictor: the trained model, of the task's `Predictor`.
        """
        return ()


@contextmanager
def in_evaluation_mode(model: Any) -> Iterator[None]:
    """Switch dropout and the like off inside the block.

    Args:
        model: or an ensemble, of which each member is switched.
    """
    members: Sequence[nn.Module] = getattr(model, "models", (model,))
    were_training = [member.training for member in members]
    for member in members:
        member.eval()
    try:
        yield
    finally:
        for member, was_training in zip(members, were_training, strict=True):
            member.train(was_training)


def spread_by_length(lengths: Sequence[int]) -> list[int]:
    """The indices of `NUM_SHOWN` examples of every length, or of fewer: every n-th in order of length.

    Args:
        lengths: in tokens; blank examples and those of more than 100 tokens, which no page has room for, are left out.
    """
    order = sorted(
        (k for k, length in enumerate(lengths) if 0 < length <= _LONGEST_SHOWN), key=lambda k: (lengths[k], k)
    )
    stride = max(1, len(order) // NUM_SHOWN)
    return order[stride - 1 :: stride][:NUM_SHOWN]


def sequence_loss(logits: Tensor, targets: Tensor, smoothing: float = 0.0) -> Tensor:
    """Σ −log p(y_n) over N predictions.

    Args:
        logits: (N, V) over a vocabulary or over labels, without padding.
        targets: (N,), the correct ones.
        smoothing: ε, the probability mass spread over all V.
    """
    wide = logits.to(torch.promote_types(logits.dtype, torch.float32))  # half precision would lose the sum
    return functional.cross_entropy(wide, targets, reduction="sum", label_smoothing=smoothing)


def train_text_tokenizer(
    lines: Iterable[str], config: TextTokenizerConfig, known: Vocabulary | None = None
) -> Tokenizer:
    """Train the tokenizer that a run's configuration describes, or take that of the model it starts from.

    Raises:
        ConfigError: the size is impossible.
        DataError: the lines hold no text.
    """
    if known is not None:
        return known.tokenizer("text", lines)
    return train_tokenizer(
        config.text,
        lines,
        size=config.text_size,
        min_frequency=config.min_frequency,
        lowercase=config.lowercase,
        normalize=config.normalize,
    )


def filter_by_length(
    examples: Sequence[Example],
    length: Callable[[Example], int],
    max_length: int,
    *,
    what: str,
    unit: str = "tokens",
) -> tuple[list[Example], list[str]]:
    """Keep the training examples that are neither blank nor too long.

    Args:
        examples: all of them.
        length: of one example; 0 if it is blank.
        max_length: the longest allowed, ``data.max_length``.
        what: what the examples are called, in the plural.
        unit: what the length counts.

    Returns:
        The examples kept, in order, and a sentence for each reason why others were left out.

    Raises:
        DataError: none is left.
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
