"""The task of captioning: feature vectors with a caption each, and a decoder that starts from a vector.

In: `CaptionedFeatures`, read or given. Out: a `Task`: a tokenizer trained on the captions, captions encoded and
filtered, the loss of their tokens, a teacher-forced and free-running validation.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from regard.batches import CaptionBatch, batch_by_length, pad_captioned, select_positions, token_positions
from regard.errors import ConfigError, DataError
from regard.models import CaptionerNetwork
from regard.plots.page import ShownResult
from regard.processes import ALONE, Processes
from regard.tasks.base import (
    Prepared,
    Task,
    Validation,
    Vocabulary,
    filter_by_length,
    spread_by_length,
    train_text_tokenizer,
)
from regard.tasks.caption.config import CaptionRun
from regard.tasks.caption.predictor import Captioner
from regard.tasks.generation import (
    MeasuredGeneration,
    check_selection,
    measure_generation,
    summarize_generation,
)
from regard.tasks.train_valid_split import split_train_valid
from regard.text import CaptionedFeatures, Tokenizer, as_numbers, read_captioned

Example = CaptionedFeatures | tuple[Sequence[float] | npt.NDArray[np.floating], str]
"""A vector and its caption."""


@dataclass(frozen=True)
class EncodedCaption:
    """A vector (f,), and its caption as text and as ids without special symbols."""

    features: npt.NDArray[np.float32]
    text: str
    ids: Sequence[int]

    @property
    def length(self) -> int:
        """The number of tokens, EOS counted."""
        return len(self.ids) + 1


class CaptionObjective(nn.Module):
    """A captioner with the loss of the captions' tokens.

    Args:
        model: in training.
        smoothing: label smoothing.
    """

    def __init__(self, model: CaptionerNetwork, smoothing: float) -> None:
        super().__init__()
        self.model = model
        self.smoothing = smoothing

    def forward(self, batch: CaptionBatch) -> Tensor:
        """The loss of a batch, a sum over its real tokens."""
        real = token_positions(batch.target_mask)  # (N,)
        readout = self.model.readouts(batch, real).readout
        assert readout is not None, "its decoders have one softmax"
        targets = select_positions(batch.target_ids, real)  # (N,)
        return self.model.decoder.output.loss(readout, targets, self.smoothing)


class CaptionTask(Task):
    """Feature vectors with a caption each, a tokenizer, a decoder that starts from a vector.

    Args:
        config: the whole run.
        train: the training examples; None reads the files of ``config.data``.
        valid: the validation examples; None reads the files of ``config.data``, or splits some off.
        known: the vocabulary of the model that the run starts from.

    Raises:
        RegardError: the data cannot be used.
    """

    name = "caption"
    examples = "captions"
    model: CaptionerNetwork

    def __init__(
        self,
        config: CaptionRun,
        train: Sequence[Example] | None = None,
        valid: Sequence[Example] | None = None,
        known: Vocabulary | None = None,
    ) -> None:
        data = config.data
        if train is None and not data.train:
            raise ConfigError(
                "data.train: no training captions; name the features and their captions with "
                "--train features.npy --train captions.txt"
            )
        captioned = parse_captions(train) if train is not None else read_captions(data.train, data.column)
        validated = parse_captions(valid) if valid is not None else None
        if validated is None and data.valid:
            validated = read_captions(data.valid, data.column)
        super().__init__(config, _prepare(captioned, validated, config, known))
        check_selection(config.training.select, self.tokenizers["text"])

    @property
    def sizes(self) -> Mapping[str, int]:
        """The features and the vocabulary."""
        return {"features": len(self.prepared.train[0].features), "text": self.tokenizers["text"].size}

    def build(self) -> CaptionerNetwork:
        """Make the model, and fit its standardization to the training features."""
        self.model = CaptionerNetwork(self.config.model, self.sizes["features"], self.sizes["text"])
        if self.config.data.standardize:
            features = np.stack([example.features for example in self.prepared.train])
            self.model.standardize.fit(torch.from_numpy(features))
        return self.model

    def objective(self) -> nn.Module:
        """The loss of the captions' tokens."""
        return CaptionObjective(self.model, self.config.training.label_smoothing)

    def batch(self, members: Sequence[int]) -> CaptionBatch:
        """Some vectors and their captions, padded."""
        return _pad([self.prepared.train[k] for k in members])

    def validate(self, device: torch.device) -> Validation:
        """Teacher-forced and free-running."""
        return self.summarize([self.measure(device, ALONE)])

    def measure(self, device: torch.device, processes: Processes) -> MeasuredGeneration:
        """See `Task.measure`."""
        valid, training = self.prepared.valid, self.config.training
        longest = max(len(example.ids) for example in (*self.prepared.train, *valid))
        captioner = Captioner(
            self.model, self.tokenizers["text"], device=device.type, max_length=2 * longest + 1
        )

        def batches(members: Sequence[int]) -> Iterator[CaptionBatch]:
            lengths = [valid[k].length for k in members]
            for indices in batch_by_length(lengths, training.batch_sentences, training.batch_tokens):
                yield _pad([valid[members[k]] for k in indices]).to(device)

        def generate(members: Sequence[int]) -> list[str]:
            features = np.stack([valid[k].features for k in members])
            captions = captioner.caption(features, beam=1, batch_sentences=training.batch_sentences)
            return [caption.text for caption in captions]

        return measure_generation(
            self.model,
            batches=batches,
            generate=generate,
            num_examples=len(valid),
            free_running=training.validation_sentences,
            processes=processes,
        )

    def summarize(self, measured: Sequence[MeasuredGeneration]) -> Validation:
        """See `Task.summarize`."""
        return summarize_generation(
            measured,
            self.tokenizers["text"],
            references=[example.text for example in self.prepared.valid],
            reference_ids=[example.ids for example in self.prepared.valid],
            select=self.config.training.select,
        )

    def show(self, predictor: Captioner) -> list[ShownResult]:
        """Captions beside the references."""
        valid = self.prepared.valid
        examples = [valid[k] for k in spread_by_length([example.length for example in valid])]
        captions = predictor.caption(np.stack([example.features for example in examples]))
        return [
            ShownResult(
                {"caption": caption.text, "reference": example.text},
                is_right=caption.text.strip() == example.text.strip(),
            )
            for example, caption in zip(examples, captions, strict=True)
        ]


def _pad(examples: Sequence[EncodedCaption]) -> CaptionBatch:
    return pad_captioned([example.features for example in examples], [example.ids for example in examples])


def read_captions(files: Sequence[str], column: str) -> list[CaptionedFeatures]:
    """Read a file of features and the captions beside it.

    Args:
        files: the two.
        column: of a table; empty for the only one.

    Raises:
        DataError: a file cannot be used, or is empty.
    """
    features, captions = files
    examples = list(read_captioned(features, captions, column=column or None))
    if not examples:
        raise DataError(f"{features}: an empty corpus, without a row; give one for each line of {captions}")
    return examples


def parse_captions(given: Iterable[Example]) -> list[CaptionedFeatures]:
    """`CaptionedFeatures`, or tuples of a vector and a caption, as the former.

    Raises:
        DataError: the features are not a vector of finite numbers, or the vectors differ in width.
    """
    examples: list[CaptionedFeatures] = []
    for number, item in enumerate(given, start=1):
        features, text = (item.features, item.text) if isinstance(item, CaptionedFeatures) else item
        vector = as_numbers(features, f"example {number}")
        if vector.ndim != 1 or vector.size == 0 or not np.isfinite(vector).all():
            raise DataError(
                f"example {number}: its features are not a vector of finite numbers; give (vector, caption) tuples"
            )
        if examples and len(vector) != len(examples[0].features):
            raise DataError(
                f"example {number}: {len(vector)} features where the first has {len(examples[0].features)}; make them "
                "equal"
            )
        examples.append(CaptionedFeatures(vector, text))
    return examples


def _prepare(
    train: Sequence[CaptionedFeatures],
    valid: Sequence[CaptionedFeatures] | None,
    config: CaptionRun,
    known: Vocabulary | None = None,
) -> Prepared[EncodedCaption]:
    """Train a tokenizer, encode, filter; without validation examples, split some off."""
    notes: list[str] = []
    if valid is None:
        vectors = [example.features.tobytes() for example in train]
        train, valid, note = split_train_valid(train, vectors, config.training.seed_of_split, what="captions")
        notes.append(note)
    if not train or not valid:
        raise DataError("no training captions, or no validation captions; give some of each")
    size = len(train[0].features)
    if len(valid[0].features) != size:
        raise DataError(
            f"{size} features in training and {len(valid[0].features)} in validation; make them equal"
        )
    tokenizer = train_text_tokenizer((example.text for example in train), config.tokenizer, known)
    kept, left_out = filter_by_length(
        _encode(train, tokenizer),
        lambda example: len(example.ids) if example.text.strip() else 0,
        config.data.max_length,
        what="captions",
    )
    notes.extend(left_out)
    real = [example for example in _encode(valid, tokenizer) if example.ids and example.text.strip()]
    if not real:
        raise DataError("the validation captions are all empty; give some with text")
    if len(real) < len(valid):
        notes.append(f"validation captions: left out {len(valid) - len(real)} blank")
    return Prepared({"text": tokenizer}, kept, real, tuple(notes))


def _encode(examples: Sequence[CaptionedFeatures], tokenizer: Tokenizer) -> list[EncodedCaption]:
    encoded = tokenizer.encode_batch([example.text for example in examples])
    return [
        EncodedCaption(example.features, example.text, ids)
        for example, ids in zip(examples, encoded, strict=True)
    ]
