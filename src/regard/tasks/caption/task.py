"""The describer's loss: the right words.

The task of describing: what is read, what is learnt from, and how the describer is judged.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import torch
from torch import Tensor, nn

from regard.batches import CaptionBatch, batch_by_length, pad_captioned
from regard.errors import ConfigError
from regard.models import CaptionerNetwork
from regard.models.state import at_positions, real_positions
from regard.tasks.base import Task, TrainingBatch, Validation
from regard.tasks.caption.config import CaptionRun
from regard.tasks.caption.data import EncodedDescription, Example, as_described, prepare, read_examples
from regard.tasks.caption.predictor import Captioner
from regard.tasks.generation import check_selection, validate_generation
from regard.tasks.loss import words_loss


class DescriptionObjective(nn.Module):
    """A model with its loss as one module of plain tensors, which is what Fabric can wrap.

    Args:
        model: what learns.
        smoothing: label smoothing.
    """

    def __init__(self, model: CaptionerNetwork, smoothing: float) -> None:
        super().__init__()
        self.model = model
        self.smoothing = smoothing

    def forward(
        self, features: Tensor, previous_ids: Tensor, target_ids: Tensor, target_mask: Tensor
    ) -> Tensor:
        """The loss of a batch, taken apart; a sum over its real tokens."""
        real = real_positions(target_mask)  # (N,)
        read = self.model.readouts(CaptionBatch(features, previous_ids, target_ids, target_mask), real)
        targets = at_positions(target_ids, real)  # (N,)
        return words_loss(read.readout, self.model.decoder.output, targets, self.smoothing)


class CaptionTask(Task):
    """Vectors of features with a line of text each, a tokenizer, a decoder that starts from a vector.

    Args:
        config: the whole run.
        train: (vector, text) tuples to learn from; None reads the files of ``config.data``.
        valid: those to validate with, likewise; without any, some training examples are set aside.

    Raises:
        RegardError: the data cannot be used.
    """

    name = "caption"
    examples = "descriptions"
    model: CaptionerNetwork

    def __init__(
        self,
        config: CaptionRun,
        train: Sequence[Example] | None = None,
        valid: Sequence[Example] | None = None,
    ) -> None:
        data = config.data
        if train is None and not data.train:
            raise ConfigError(
                "data.train: nothing to learn from; name the features and the text that describes them with "
                "--train features.npy --train text.txt"
            )
        captioned = as_described(train) if train is not None else read_examples(data.train, data.column)
        validated = as_described(valid) if valid is not None else None
        if validated is None and data.valid:
            validated = read_examples(data.valid, data.column)
        self.config = config
        self.prepared = prepare(captioned, validated, data, config.tokenizer, config.training.seed)
        self.tokenizers = {"text": self.prepared.tokenizer}
        check_selection(config.training.select, self.prepared.tokenizer)
        self.notes = self.prepared.notes
        self.num_train, self.num_valid = len(self.prepared.train), len(self.prepared.valid)
        self.lengths = [len(each.ids) + 1 for each in self.prepared.train]

    @property
    def sizes(self) -> Mapping[str, int]:
        """The features and the vocabulary."""
        return {"features": self.prepared.feature_size, "text": self.prepared.tokenizer.size}

    def build(self) -> CaptionerNetwork:
        """Make the model, and tell it what the training features are like."""
        self.model = CaptionerNetwork(self.config.model, self.sizes["features"], self.sizes["text"])
        if self.config.data.standardize:
            features = np.stack([each.features for each in self.prepared.train])
            self.model.standardize.fit(torch.from_numpy(features))
        return self.model

    def objective(self) -> nn.Module:
        """The words' loss."""
        return DescriptionObjective(self.model, self.config.training.label_smoothing)

    def batch(self, members: Sequence[int]) -> TrainingBatch:
        """Some vectors and their descriptions, padded."""
        padded = _padded([self.prepared.train[k] for k in members])
        return TrainingBatch(padded.tensors, int(padded.target_mask.sum()), len(members))

    def validate(self, device: torch.device) -> Validation:
        """Teacher-forced and free-running."""
        valid, training = self.prepared.valid, self.config.training
        longest = max(len(each.ids) for each in (*self.prepared.train, *valid))
        captioner = Captioner(
            self.model, self.prepared.tokenizer, device=device.type, max_length=2 * longest + 1
        )

        def batches(members: Sequence[int]) -> Iterator[CaptionBatch]:
            lengths = [len(valid[k].ids) + 1 for k in members]
            for indices in batch_by_length(lengths, training.batch_sentences, training.batch_tokens):
                yield _padded([valid[members[k]] for k in indices]).to(device)

        def generate(members: Sequence[int]) -> list[str]:
            rows = np.stack([valid[k].features for k in members])
            found = captioner.caption(rows, beam=1, batch_sentences=training.batch_sentences)
            return [each.text for each in found]

        return validate_generation(
            self.model,
            self.prepared.tokenizer,
            batches=batches,
            generate=generate,
            references=[each.text for each in valid],
            reference_ids=[each.ids for each in valid],
            free_running=training.validation_sentences,
        )


def _padded(examples: Sequence[EncodedDescription]) -> CaptionBatch:
    return pad_captioned([each.features for each in examples], [each.ids for each in examples])
