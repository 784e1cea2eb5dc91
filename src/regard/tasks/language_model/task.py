"""A language model's loss, and the state it ends in, for the window after it.

How a language model is judged: what it makes of text it has not learnt from.

In: batches, or the windows of continuous text in order. Out: `Validation`.

The task of learning a language: sentence by sentence, or as continuous text with the state carried.

Of continuous text the state is carried from window to window within an epoch and no gradient goes back through it
(truncated back-propagation through time); an epoch begins with a zero state.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from regard.batches import LineBatch, Stream, batch_by_length, pad_lines
from regard.errors import ConfigError, DataError
from regard.models import LanguageModelNetwork, States, detached
from regard.models.state import at_positions, real_positions
from regard.search.forced import score_tokens
from regard.tasks.base import Task, TrainingBatch, Validation
from regard.tasks.language_model.config import LanguageModelRun
from regard.tasks.language_model.data import as_lines, prepare, read_text
from regard.tasks.language_model.result import TextScore
from regard.tasks.loss import words_loss
from regard.text import EncodedLine


class LanguageModelObjective(nn.Module):
    """A model with its loss as one module of plain tensors, which is what Fabric can wrap.

    Args:
        model: what learns.
        smoothing: label smoothing.
    """

    def __init__(self, model: LanguageModelNetwork, smoothing: float) -> None:
        super().__init__()
        self.model = model
        self.smoothing = smoothing

    def forward(
        self, previous_ids: Tensor, target_ids: Tensor, mask: Tensor, state: States | None = None
    ) -> tuple[Tensor, States]:
        """The loss of a batch, a sum over its real tokens, and the state after it.

        Args:
            previous_ids: (B, T), what is read.
            target_ids: (B, T), what is to be predicted.
            mask: (B, T), True where a token is to be predicted.
            state: where the window before ended, no gradient through it; None for a zero state.
        """
        real = real_positions(mask)  # (N,)
        readout, last = self.model.readouts(previous_ids, mask, real, state)
        targets = at_positions(target_ids, real)  # (N,)
        return words_loss(readout, self.model.output, targets, self.smoothing), last


_MOST_STREAMS = 10
_SHORTEST_STREAM = 1000  # tokens
_STEPS = 200  # of a window; the state is carried, so it changes nothing but memory


def validation_stream(lines: Sequence[EncodedLine]) -> Stream:
    """Continuous text to validate with, in few streams: at most 10, of at least 1,000 tokens each.

    Each stream begins in the midst of the text with a zero state, knowing nothing of what stands before it; that is
    felt for some tens of tokens, so ten such places are too few to be seen in a perplexity, and read ten times as fast
    as one long stream. A short text is one stream.
    """
    num_tokens = sum(line.length for line in lines)
    num_streams = min(_MOST_STREAMS, max(1, num_tokens // _SHORTEST_STREAM))
    return Stream([line.ids for line in lines], num_streams, _STEPS)


def sentence_batches(
    lines: Sequence[EncodedLine], max_sentences: int, max_tokens: int
) -> Iterable[LineBatch]:
    """Single lines to validate with, those of like length together."""
    for members in batch_by_length([line.length for line in lines], max_sentences, max_tokens):
        yield pad_lines([lines[k].ids for k in members])


def validate(
    model: LanguageModelNetwork,
    batches: Iterable[LineBatch],
    lines: Sequence[EncodedLine],
    *,
    carried: bool,
    device: torch.device,
) -> Validation:
    """Validate a model; it is put into evaluation mode for the while.

    Args:
        model: on the device.
        batches: all the text, from one of the above.
        lines: the same text, for its words and characters.
        carried: whether the batches are windows, the state carried from each to the next.
        device: where to compute.
    """
    was_training = model.training
    model.eval()
    nats, right, num_tokens = 0.0, 0, 0
    state: States | None = None
    for batch in batches:
        read = score_tokens(model, batch.to(device), state)
        state = read.state if carried else None
        nats -= float(read.log_probs.double().sum())
        right += int(read.right.sum())
        num_tokens += len(read.log_probs)
    model.train(was_training)
    score = TextScore(
        nats,
        len(lines),
        num_tokens,
        sum(line.num_words for line in lines),
        sum(line.num_characters for line in lines),
    )
    scores = {"perplexity": score.perplexity}
    if score.num_words != score.num_tokens:  # else it is the perplexity per token
        scores["word_perplexity"] = score.word_perplexity
    scores |= {"bits_per_character": score.bits_per_character, "token_accuracy": right / num_tokens}
    return Validation(score.loss, scores)


@dataclass(frozen=True)
class Window(TrainingBatch):
    """A window of continuous text, or lines by themselves.

    Attributes:
        goes_on: whether the state of the batch before it is carried into this one.
    """

    goes_on: bool = False


class LanguageModelTask(Task):
    """Lines of text, a tokenizer, a language model.

    Args:
        config: the whole run.
        train: the lines to learn from, or tuples of one line (as `regard.train` must be given them, for which a string
            is a file's name); None reads the files of ``config.data``.
        valid: the lines to validate with, likewise; without any, some training lines are set aside.

    Raises:
        RegardError: the data cannot be used.
    """

    name = "language_model"
    examples = "lines"
    model: LanguageModelNetwork

    def __init__(
        self,
        config: LanguageModelRun,
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

    def build(self) -> LanguageModelNetwork:
        """Make the model."""
        self.model = LanguageModelNetwork(self.config.model, self.sizes["text"])
        return self.model

    def objective(self) -> nn.Module:
        """The words' loss, with the state it ends in."""
        return LanguageModelObjective(self.model, self.config.training.label_smoothing)

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

    def validate(self, device: torch.device) -> Validation:
        """What the model makes of the validation text, read as the training text is."""
        lines, training = self.prepared.valid, self.config.training
        carried = self._stream is not None
        batches = (
            validation_stream(lines)
            if carried
            else sentence_batches(lines, training.batch_sentences, training.batch_tokens)
        )
        return validate(self.model, batches, lines, carried=carried, device=device)
