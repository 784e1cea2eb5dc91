"""The task of language modelling: lines of text, read one by one or as continuous text with the state carried.

In: lines, read or given. Out: a `Task`: a tokenizer trained on them, lines encoded and filtered, the loss of every
token, a validation. In continuous text the state is carried from window to window within an epoch, without its
gradient (truncated back-propagation through time); an epoch starts from a zero state.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice

import numpy as np
import torch
from torch import Tensor, nn

from regard.batches import LineBatch, Stream, batch_by_length, pad_lines, select_positions, token_positions
from regard.batches.store import Store
from regard.batches.stored_stream import StoredStream
from regard.errors import ConfigError, DataError
from regard.models import LanguageModelNetwork, States, detached
from regard.plots.page import ShownResult
from regard.processes import ALONE, Processes, join_shares
from regard.search.forced import score_tokens
from regard.tasks.base import (
    MeasuredBatch,
    Prepared,
    Task,
    Validation,
    Vocabulary,
    filter_by_length,
    in_evaluation_mode,
    train_text_tokenizer,
)
from regard.tasks.language_model.config import LanguageModelRun
from regard.tasks.language_model.predictor import LanguageModel
from regard.tasks.language_model.result import TextScore
from regard.tasks.preparation import is_prepared, open_prepared
from regard.tasks.train_valid_split import split_note, split_train_valid
from regard.text import EncodedLine, encode_lines, read_lines

_SAMPLES = 4  # on the report page
_SAMPLED_TOKENS = 30
_VALID_FRACTION = 20  # one line in 20 of continuous text, the last ones
_MAX_STREAMS = 10
_MIN_STREAM = 1000  # tokens
_STEPS = 200  # of a validation window; the state is carried, so it changes nothing but memory


class LanguageModelObjective(nn.Module):
    """A language model with the loss of its tokens.

    Args:
        model: in training.
        smoothing: label smoothing.
    """

    def __init__(self, model: LanguageModelNetwork, smoothing: float) -> None:
        super().__init__()
        self.model = model
        self.smoothing = smoothing

    def forward(self, batch: LineBatch, state: States | None = None) -> tuple[Tensor, States]:
        """The loss of a batch, a sum over its real tokens, and the state after it.

        Args:
            batch: lines, or one window of a stream.
            state: at the end of the window before it, without gradient; None for a zero state.
        """
        real = token_positions(batch.mask)  # (N,)
        readout, last = self.model.readouts(batch.previous_ids, batch.mask, real, state)
        targets = select_positions(batch.target_ids, real)  # (N,)
        return self.model.output.loss(readout, targets, self.smoothing), last


Given = Sequence[str | tuple[str]] | None
"""Lines, or tuples of one line; None for those of the files."""


class LanguageModelTask(Task):
    """Lines of text, a tokenizer, a language model.

    Args:
        config: the whole run.
        train: the training lines, or tuples of one line (`regard.train` takes a string for a file's name); None reads
            the files of ``config.data``.
        valid: the validation lines; None reads the files of ``config.data``, or splits some off.
        known: the vocabulary of the model that the run starts from.

    Raises:
        RegardError: the data cannot be used.
    """

    model: LanguageModelNetwork
    name, examples = "language_model", "lines"

    def __init__(
        self,
        config: LanguageModelRun,
        train: Given = None,
        valid: Given = None,
        known: Vocabulary | None = None,
    ) -> None:
        data = config.data
        if train is None and not data.train:
            raise ConfigError("data.train: no training text; name a file with --train text.txt")
        validated = parse_lines(valid) if valid is not None else None
        if validated is None and data.valid:
            validated = read_corpus(data.valid)
        if train is None and is_prepared(data.train):
            prepared = _open_store(config, validated, known)
        else:
            lines = parse_lines(train) if train is not None else read_corpus(data.train)
            prepared = _prepare(lines, validated, config, known)
        super().__init__(config, prepared)
        self._stream: Stream | StoredStream | None = None
        if data.mode == "continuous":
            num_streams = config.training.batch_sentences
            num_tokens = int(np.sum(self.lengths, dtype=np.int64))
            if num_tokens < num_streams:
                raise DataError(
                    f"{num_tokens} tokens, EOS counted, cannot be read as {num_streams} streams side by side; "
                    f"give more text, or lower training.batch_sentences (now {num_streams})"
                )
            text = self.prepared.train
            self._stream = (
                StoredStream(text, num_streams, data.steps)
                if isinstance(text, Store)
                else Stream([line.ids for line in text], num_streams, data.steps)
            )
        self._state: States | None = None

    @property
    def sizes(self) -> Mapping[str, int]:
        """The vocabulary."""
        return {"text": self.tokenizers["text"].size}

    def build(self) -> LanguageModelNetwork:
        """Make the model."""
        num_streams, num_processes = self.config.training.batch_sentences, self.processes.world_size
        if self._stream is not None and num_streams < num_processes:
            raise ConfigError(
                f"training.batch_sentences = {num_streams}: fewer streams of continuous text than the {num_processes} "
                "processes that share them; raise it, or start fewer"
            )
        self.model = LanguageModelNetwork(self.config.model, self.sizes["text"])
        return self.model

    def objective(self) -> nn.Module:
        """The loss of the tokens, and the state after them."""
        return LanguageModelObjective(self.model, self.config.training.label_smoothing)

    def plan(self, epoch: int) -> Sequence[Sequence[int]]:
        """Lines of similar length together; the windows of continuous text in their order."""
        if self._stream is not None:
            return [[window] for window in range(len(self._stream))]
        return super().plan(epoch)

    def share(self, members: Sequence[int]) -> Sequence[int]:
        """Every n-th line; of continuous text every n-th stream, in each window the same."""
        return super().share(members) if self._stream is None else members

    def batch(self, members: Sequence[int]) -> LineBatch:
        """Some lines, padded; or one window of continuous text."""
        if self._stream is None:
            return pad_lines([self.prepared.train[k].ids for k in members])
        [window] = members
        return self._stream[window].rows(self.processes.rank, self.processes.world_size)

    def loss(self, objective: nn.Module, batch: LineBatch, progress: float) -> Tensor:
        """The loss; a window starts from the state in which the one before it ended."""
        loss: Tensor
        loss, last = objective(batch, self._state if batch.continues else None)
        self._state = detached(last) if self._stream is not None else None
        return loss

    def carried(self) -> dict[str, Tensor]:
        """The state in which the last window of continuous text ended."""
        return {
            f"{layer:04d}/{part}": tensor
            for layer, parts in enumerate(self._state or ())
            for part, tensor in enumerate(parts)
        }

    def restore(self, carried: Mapping[str, Tensor], device: torch.device) -> None:
        """Go on from that state.

        Raises:
            ValueError: it is that of another model.
        """
        layers: dict[str, list[Tensor]] = {}
        for name, tensor in sorted(carried.items()):
            layers.setdefault(name.partition("/")[0], []).append(tensor.to(device))
        self._state = tuple(tuple(parts) for parts in layers.values()) or None
        if self._state is not None:
            rows = len(self.processes.share(range(self.config.training.batch_sentences)))
            for parts, start in zip(self._state, self.model.initial_state(rows), strict=True):
                past = parts[-1].shape[-1]  # where a state has one, a dimension that is 0 at the start
                for tensor, first in zip(parts, start, strict=True):
                    if tensor.shape != tuple(size or past for size in first.shape):
                        raise ValueError(f"a state of shape {tuple(tensor.shape)}")

    def validate(self, device: torch.device) -> Validation:
        """Score the validation text, read as the training text is."""
        return self.summarize([self.measure(device, ALONE)])

    def measure(self, device: torch.device, processes: Processes) -> list[MeasuredBatch]:
        """See `Task.measure`; continuous text, whose state is carried, is the first process's alone."""
        lines, training = self.prepared.valid, self.config.training
        batches: Iterable[LineBatch]
        if self._stream is None:
            batches = sentence_batches(lines, training.batch_sentences, training.batch_tokens)
            batches = islice(batches, processes.rank, None, processes.world_size)
        else:
            batches = validation_stream(lines) if processes.is_first else ()
        return measure_language_model(self.model, batches, device=device)

    def summarize(self, measured: Sequence[Sequence[MeasuredBatch]]) -> Validation:
        """See `Task.summarize`."""
        batches = measured[0] if self._stream is not None else join_shares(measured)
        return summarize_language_model(batches, self.prepared.valid)

    def show(self, predictor: LanguageModel) -> list[ShownResult]:
        """Sampled lines, each with its steps."""
        return [
            ShownResult({"sampled": sample.text}, sample._repr_html_())
            for sample in predictor.sample(count=_SAMPLES, max_length=_SAMPLED_TOKENS)
        ]


def validation_stream(lines: Sequence[EncodedLine]) -> Stream:
    """Continuous text to validate on, in few streams: at most 10, of at least 1,000 tokens each.

    Each stream starts within the text from a zero state, without the context before it. That affects some tens of
    tokens: ten such places are too few to change a perplexity, and ten streams are read ten times as fast as one. A
    short text is one stream.
    """
    num_tokens = sum(line.length for line in lines)
    num_streams = min(_MAX_STREAMS, max(1, num_tokens // _MIN_STREAM))
    return Stream([line.ids for line in lines], num_streams, _STEPS)


def sentence_batches(
    lines: Sequence[EncodedLine], max_sentences: int, max_tokens: int
) -> Iterable[LineBatch]:
    """Single lines to validate on, in batches of similar length."""
    for members in batch_by_length([line.length for line in lines], max_sentences, max_tokens):
        yield pad_lines([lines[k].ids for k in members])


def measure_language_model(
    model: LanguageModelNetwork, batches: Iterable[LineBatch], *, device: torch.device
) -> list[MeasuredBatch]:
    """Score text in evaluation mode; the model's mode is restored afterwards.

    Args:
        model: on the device.
        batches: the state is carried into those that continue the one before.
        device: where to compute.
    """
    measured = []
    state: States | None = None
    with in_evaluation_mode(model):
        for batch in batches:
            scores = score_tokens(model, batch.to(device), state if batch.continues else None)
            state = scores.state
            nats = -float(scores.log_probs.double().sum())
            measured.append(MeasuredBatch(nats, int(scores.right.sum()), len(scores.log_probs)))
    return measured


def summarize_language_model(measured: Sequence[MeasuredBatch], lines: Sequence[EncodedLine]) -> Validation:
    """The scores of a text.

    Args:
        measured: the batches of the whole text.
        lines: the same text, for the number of its words and characters.
    """
    nats, correct, num_tokens = MeasuredBatch.sum(measured)
    text = TextScore(
        nats,
        len(lines),
        num_tokens,
        sum(line.num_words for line in lines),
        sum(line.num_characters for line in lines),
    )
    scores_by_key = {"perplexity": text.perplexity}
    if text.num_words != text.num_tokens:  # else it is the perplexity per token
        scores_by_key["word_perplexity"] = text.word_perplexity
    scores_by_key |= {
        "bits_per_character": text.bits_per_character,
        "token_accuracy": correct / num_tokens,
    }
    return Validation(text.loss, scores_by_key)


_MAX_LABELS = 20
_MIN_LABELS = 100


def read_corpus(files: Sequence[str]) -> list[str]:
    """Read the lines of some files, one file after the other.

    Raises:
        DataError: a file or a line cannot be read or has columns, or there is no text, but nothing or labels.
    """
    lines = list(read_lines(files))
    if not any(map(str.strip, lines)):
        raise DataError(f"{' and '.join(files)}: an empty corpus, without text; name a file with some")
    different = set(filter(None, map(str.strip, lines)))
    if (
        len(lines) >= _MIN_LABELS
        and len(different) <= _MAX_LABELS
        and all(len(line.split()) == 1 for line in different)
    ):
        shown = ", ".join(sorted(different)[:3])
        raise DataError(
            f"{' and '.join(files)}: {len(lines):,} lines of {len(different)} different words ({shown}), which look "
            "like labels; name a file of text"
        )
    return lines


def parse_lines(given: Iterable[str | tuple[str]]) -> list[str]:
    """Lines, or tuples of one line, as lines."""
    return [item if isinstance(item, str) else item[0] for item in given]


def _prepare(
    train: Sequence[str],
    valid: Sequence[str] | None,
    config: LanguageModelRun,
    known: Vocabulary | None = None,
) -> Prepared[EncodedLine]:
    """Train a tokenizer, encode, filter; without validation examples, split some off."""
    notes: list[str] = []
    continuous = config.data.mode == "continuous"
    if valid is None:
        if continuous:
            train, valid = _split_end(train)
            note = split_note(len(valid), "lines", "the last ")
        else:
            lines = [line for line in train if line.strip()]
            train, valid, note = split_train_valid(lines, lines, config.training.seed_of_split, what="lines")
        notes.append(note)
    tokenizer = train_text_tokenizer(train, config.tokenizer, known)
    encoded = list(encode_lines(train, tokenizer))
    validated = list(encode_lines(valid, tokenizer))
    if not continuous:
        encoded, left_out = filter_by_length(
            encoded, lambda line: len(line.ids), config.data.max_length, what="lines"
        )
        notes.extend(left_out)
        validated = [line for line in validated if line.ids]
    if not any(line.ids for line in validated):
        raise DataError("the validation text is empty; give some lines with text")
    return Prepared({"text": tokenizer}, encoded, validated, tuple(notes))


def _open_store(
    config: LanguageModelRun, valid: Sequence[str] | None, known: Vocabulary | None
) -> Prepared[EncodedLine]:
    """The data of a run whose training lines are in a store."""
    from regard.tasks.language_model.preparation import LinePreparation

    opened = open_prepared(LinePreparation(config), known)
    lines = opened.valid if valid is None else valid
    validated = list(encode_lines(lines, opened.tokenizers["text"]))
    if config.data.mode != "continuous":
        validated = [line for line in validated if line.ids]
    if not any(line.ids for line in validated):
        raise DataError("the validation text is empty; give some lines with text")
    return Prepared(opened.tokenizers, opened.store, validated, opened.notes, mixture=opened.mixture)


def _split_end(lines: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """Split off the end of a text: only its first line lacks context."""
    count = max(1, len(lines) // _VALID_FRACTION)
    train, valid = lines[:-count], lines[-count:]
    if not any(map(str.strip, train)) or not any(map(str.strip, valid)):
        raise DataError(
            f"{len(lines)} lines are too few to train and to validate with, for the last {count} would be split off; "
            "give more, or name a validation text with --valid"
        )
    return train, valid
