"""The task of learning a language: sentence by sentence, or as continuous text with the state carried.

Of continuous text the state is carried from window to window within an epoch and no gradient goes back through it
(truncated back-propagation through time); an epoch begins with a zero state.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from regard.batches import Stream, pad_lines
from regard.errors import ConfigError, DataError
from regard.models import LanguageModel, States, detached
from regard.training.config.lm import LmRun
from regard.training.tasks.lm.objective import LmObjective
from regard.training.tasks.lm.prepare import as_lines, prepare, read_text
from regard.training.tasks.lm.validate import LmValidation, sentence_batches, validate, validation_stream
from regard.training.tasks.task import Task, TrainingBatch


@dataclass(frozen=True)
class Window(TrainingBatch):
    """A window of continuous text, or lines by themselves.

    Attributes:
        goes_on: whether the state of the batch before it is carried into this one.
    """

    goes_on: bool = False


class LmTask(Task):
    """Lines of text, a tokenizer, a language model.

    Args:
        config: the whole run.
        train: the lines to learn from, or tuples of one line (as `regard.train` must be given them, for which a string
            is a file's name); None reads the files of ``config.data``.
        valid: the lines to validate with, likewise; without any, some training lines are set aside.

    Raises:
        RegardError: the data cannot be used.
    """

    name = "lm"
    examples = "lines"
    model: LanguageModel

    def __init__(
        self,
        config: LmRun,
        train: Sequence[str | tuple[str]] | None = None,
        valid: Sequence[str | tuple[str]] | None = None,
    ) -> None:
        data = config.data
        if train is None and not data.train:
            raise ConfigError("data.train: no training text; name a file with --train text.txt")
        lines = as_lines(train) if train is not None else read_text(data.train)
        validated = as_lines(valid) if valid is not None else read_text(data.valid) if data.valid else None
        self.config = config
        self.prepared = prepare(lines, validated, data, config.tokenizer, config.training.seed)
        self.tokenizers = {"text": self.prepared.tokenizer}
        self.notes = self.prepared.notes
        self.num_train, self.num_valid = len(self.prepared.train), len(self.prepared.valid)
        self.lengths = [line.length for line in self.prepared.train]
        self._stream: Stream | None = None
        if data.mode == "continuous":
            num_tokens, num_streams = sum(self.lengths), config.training.batch_sentences
            if num_tokens < num_streams:
                raise DataError(
                    f"{num_tokens} tokens, end marks counted, cannot be read as {num_streams} streams side by side; "
                    f"give more text, or lower training.batch_sentences (now {num_streams})"
                )
            self._stream = Stream([line.ids for line in self.prepared.train], num_streams, data.steps)
        self._state: States | None = None

    @property
    def sizes(self) -> Mapping[str, int]:
        """The vocabulary."""
        return {"text": self.prepared.tokenizer.size}

    def build(self) -> LanguageModel:
        """Make the model."""
        self.model = LanguageModel(self.config.model, self.sizes["text"])
        return self.model

    def objective(self) -> nn.Module:
        """The words' loss, with the state it ends in."""
        return LmObjective(self.model, self.config.training.label_smoothing)

    def plan(self, epoch: int) -> Sequence[Sequence[int]]:
        """Lines of like length together; of continuous text the windows in order."""
        if self._stream is not None:
            return [[window] for window in range(len(self._stream))]
        return super().plan(epoch)

    def batch(self, members: Sequence[int]) -> Window:
        """Some lines, padded; or one window, with as many sentences as there are streams."""
        if self._stream is None:
            padded = pad_lines([self.prepared.train[k].ids for k in members])
            return Window(padded.tensors, int(padded.mask.sum()), len(members))
        [number] = members
        window = self._stream[number]
        return Window(window.tensors, int(window.mask.sum()), len(window.mask), goes_on=number > 0)

    def learn(self, objective: nn.Module, batch: TrainingBatch, progress: float) -> Tensor:
        """The loss; a window goes on from the state in which the one before it ended."""
        state = self._state if isinstance(batch, Window) and batch.goes_on else None
        loss: Tensor
        loss, last = objective(*batch.tensors, state)
        self._state = detached(last) if self._stream is not None else None
        return loss

    def validate(self, device: torch.device) -> LmValidation:
        """What the model makes of the validation text, read as the training text is."""
        lines, training = self.prepared.valid, self.config.training
        carried = self._stream is not None
        batches = (
            validation_stream(lines)
            if carried
            else sentence_batches(lines, training.batch_sentences, training.batch_tokens)
        )
        return validate(self.model, batches, lines, carried=carried, device=device)
