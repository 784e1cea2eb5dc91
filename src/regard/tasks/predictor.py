"""What the predictors of all tasks share: a model on its device, opened from a folder; batches by length; streams.

In: a model folder, or a model and its tokenizers; lines, or anything that has a length. Out: one result per line, in
order. Knows neither what is predicted nor anything of training.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar, Self, TypeVar

from regard.batches import batch_by_length
from regard.checkpoint import ModelFolder
from regard.config import in_range
from regard.device import find_device
from regard.errors import ConfigError, DataError, RegardError
from regard.inference.ensemble import LabelEnsemble
from regard.models import Model
from regard.processes import ALONE, Processes, shared
from regard.tasks import TASKS
from regard.text import Labels, Tokenizer
from regard.text.formats import group_by_size
from regard.text.tokenizer import refuse_other_vocabularies

Line = TypeVar("Line")
Result = TypeVar("Result")

CHUNK = 256
"""Lines of a stream that are predicted together."""


class TooLongError(DataError):
    """A line has too many tokens.

    Attributes:
        index: which of the given lines, from 0; those before it can be predicted.
    """

    def __init__(self, message: str, index: int) -> None:
        super().__init__(message)
        self.index = index

    def __reduce__(self) -> "tuple[type[TooLongError], tuple[str, int]]":
        return TooLongError, (str(self), self.index)  # so that it can cross to another process


class Predictor:
    """A trained model, ready to be used.

    Args:
        model: in evaluation mode; it is moved to `device`.
        device: where to compute: ``cpu``, ``cuda``, or ``auto``.
        facts: what is known of the weights: update, scores, ….
    """

    task: ClassVar[str]
    """The task of the models it opens, one of `TASKS`."""
    combines: ClassVar[bool] = False
    """Whether several models can be used as one."""

    def __init__(self, model: Any, *, device: str = "cpu", facts: dict[str, Any] | None = None) -> None:
        self.device = find_device(device)
        self.model = model
        self.facts = facts or {}
        self.folder: str | None = None
        for member in self.models:
            member.to(self.device)

    @classmethod
    def load(cls, folder: str | Path, *, weights: str = "best", device: str = "cpu", **options: Any) -> Self:
        """Open a trained model.

        Args:
            folder: what `regard train` wrote for this task.
            weights: ``best`` or ``last``.
            device: where to compute.
            options: the other keyword arguments of the class, such as ``max_length``.

        Raises:
            FolderError: the folder is missing, damaged, foreign, for another task or newer than this package.
            ConfigError: no such weights, or no such device on this machine.
        """
        members = ModelFolder(folder).members
        loaded = [member.load(weights, task=cls.task) for member in members]
        first = loaded[0]
        for member, other in zip(members[1:], loaded[1:], strict=True):
            refuse_other_vocabularies(
                first.tokenizers, other.tokenizers, str(members[0].path), str(member.path)
            )
            if other.labels != first.labels:
                raise ConfigError(
                    f"{member.path} has other labels than {members[0].path}; an ensemble needs models of the same ones"
                )
        model = first.model if len(loaded) == 1 else cls.combine([each.model for each in loaded])
        tokenizers = [first.tokenizers[name] for name in TASKS[cls.task].texts]
        labels = [first.labels] if first.labels else []
        predictor = cls(model, *tokenizers, *labels, device=device, facts=first.facts, **options)
        predictor.folder = str(folder)
        return predictor

    @classmethod
    def combine(cls, models: Sequence[Any]) -> Any:
        """Several models as one, for a task where `combines` is True."""
        raise ConfigError(f"a model for {TASKS[cls.task].purpose} cannot be an ensemble; name one model")

    @property
    def models(self) -> tuple[Model, ...]:
        """The model; several for an ensemble."""
        return getattr(self.model, "models", (self.model,))

    def single_model(self, member: int | None = None) -> Any:
        """The model, for what only one model can show.

        Args:
            member: which one of an ensemble, counted from 0.

        Raises:
            ConfigError: it is an ensemble and no member is given, or there is no such member.
        """
        if member is None and len(self.models) > 1:
            raise ConfigError(
                f"a trace shows the steps of one model, and this is an ensemble of {len(self.models)}; open one of its "
                "members"
            )
        in_range("member", member or 0, 0, len(self.models) - 1)
        return self.models[member or 0]

    @property
    def num_parameters(self) -> int:
        """The parameters of all models, shared ones counted once."""
        return sum(model.num_parameters for model in self.models)

    def __repr__(self) -> str:
        opened = "" if self.folder is None else f'model="{self.folder}", '
        return f"{type(self).__name__}({opened}{self.num_parameters:,} parameters, {self.device})"


class LabelPredictor(Predictor):
    """A model with its tokenizer and its labels.

    Args:
        model: in evaluation mode; it is moved to `device`.
        tokenizer: lines → ids.
        labels: by id.
        device: where to compute: ``cpu``, ``cuda``, or ``auto``.
        max_length: the length of the longest line allowed.
        facts: what is known of the weights.
    """

    combines = True

    @classmethod
    def combine(cls, models: Sequence[Any]) -> Any:
        """The mean of the members' probabilities."""
        return LabelEnsemble(models)

    def __init__(
        self,
        model: Any,
        tokenizer: Tokenizer,
        labels: Sequence[str],
        *,
        device: str = "cpu",
        max_length: int = 1000,
        facts: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(model, device=device, facts=facts)
        self.tokenizer = tokenizer
        self.labels = Labels(labels)
        self.max_length = max_length


def refuse_text(lines: Any, method: str) -> None:
    """Raise where a method that takes a list of lines is given one text, whose characters would be the lines."""
    if isinstance(lines, str):
        raise DataError(f"{method} takes a list of lines, not one text: {method}([{lines[:40]!r}])")


def refuse_too_long(
    lines: Sequence[str],
    lengths: Sequence[int],
    max_length: int,
    *,
    first_line: int = 1,
    name: str = "line ",
    unit: str = "tokens",
) -> None:
    """Raise at the first line of more than `max_length` tokens.

    Args:
        lines: as given, for the message.
        lengths: the number of tokens of each.
        max_length: the most tokens of a line.
        first_line: the number of the first line.
        name: what precedes a line's number in the message, such as ``file.txt:``.
        unit: what a length counts.

    Raises:
        TooLongError: a line is too long; the message has its number and the remedy.
    """
    for index, (line, length) in enumerate(zip(lines, lengths, strict=True)):
        if length > max_length:
            raise TooLongError(
                f"{name}{first_line + index} ({line[:60]!r} …) has {length} {unit}, above the limit of {max_length}; "
                "split it into sentences, or raise the limit (--max-length)",
                index,
            )


def refuse_long_references(references: Sequence[str], tokenizer: Tokenizer, max_length: int) -> None:
    """Raise at the first reference of more than `max_length` tokens, before a model spends time on its source.

    Raises:
        TooLongError: there is one; see `refuse_too_long`.
    """
    first_line = 1
    for group in group_by_size(references, CHUNK):
        lengths = [len(ids) for ids in tokenizer.encode_batch(group)]
        refuse_too_long(group, lengths, max_length, first_line=first_line, name="reference ")
        first_line += len(group)


def predict_by_length(
    predict: Callable[[list[int]], Iterable[Result]],
    lengths: Sequence[int],
    results: list[Result],
    *,
    batch_sentences: int,
    batch_tokens: int,
) -> list[Result]:
    """Predict in batches of similar length, longest first, and restore the order.

    Args:
        predict: the indices of the examples of one batch → a result for each of them.
        lengths: of each example in tokens, as a batch counts them; 0 for a blank one, which is not predicted.
        results: for each example the result if it is blank; the others are replaced.
        batch_sentences: the most examples in a batch.
        batch_tokens: the most tokens in a batch, padding counted.

    Returns:
        `results`.
    """
    real = [k for k, length in enumerate(lengths) if length]
    for batch in batch_by_length([lengths[k] for k in real], batch_sentences, batch_tokens):
        members = [real[k] for k in batch]
        for k, result in zip(members, predict(members), strict=True):
            results[k] = result
    return results


def predict_stream(
    predict: Callable[[list[Line], int], Iterable[Result]], lines: Iterable[Line], chunk: int = CHUNK
) -> Iterator[Result]:
    """Predict an endless stream in constant memory.

    Args:
        predict: lines and the number of the first of them → a result for each.
        lines: as they come.
        chunk: how many are predicted together.

    Raises:
        TooLongError: a line is too long; the lines before it are predicted first.
    """
    return predict_groups(predict, group_by_size(lines, chunk))


def predict_groups(
    predict: Callable[[list[Line], int], Iterable[Result]],
    groups: Iterable[Sequence[Line]],
    processes: Processes = ALONE,
) -> Iterator[Result]:
    """Predict groups of lines as they come, such as the lines that have arrived; see `predict_stream`.

    Args:
        predict: lines and the number of the first → their predictions.
        groups: of lines.
        processes: those that share the groups: each reads all of them and predicts its own, and all have the results.
    """
    if processes.world_size > 1:
        yield from _predict_shared(predict, groups, processes)
        return
    first_line = 1
    for group in groups:
        try:
            yield from predict(list(group), first_line)
        except TooLongError as error:
            yield from predict(list(group[: error.index]), first_line)
            raise
        first_line += len(group)


def _predict_shared(
    predict: Callable[[list[Line], int], Iterable[Result]],
    groups: Iterable[Sequence[Line]],
    processes: Processes,
) -> Iterator[Result]:
    """Predict groups in rounds, one group per process; the results, and the first error, are in the lines' order."""
    first_line, remaining = 1, iter(groups)
    while taken := list(islice(remaining, processes.world_size)):
        own: tuple[list[Result], RegardError | None] = ([], None)
        if processes.rank < len(taken):
            before = sum(map(len, taken[: processes.rank]))
            own = _predict_or_fail(predict, list(taken[processes.rank]), first_line + before)
        for predicted, error in processes.gather(own):
            yield from predicted
            if error is not None:
                raise shared(error)
        first_line += sum(map(len, taken))


def _predict_or_fail(
    predict: Callable[[list[Line], int], Iterable[Result]], group: list[Line], first_line: int
) -> tuple[list[Result], RegardError | None]:
    """The predictions for a group, or those before the line that cannot be predicted, and why."""
    try:
        return list(predict(group, first_line)), None
    except TooLongError as error:
        return list(predict(group[: error.index], first_line)), error
    except RegardError as error:
        return [], error
