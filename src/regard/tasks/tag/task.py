"""The tagger's loss: the right tag at every word.

How good a tagger is on the validation sentences.

The task of tagging: what is read, what is learnt from, and how the tagger is judged.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import torch
from torch import Tensor, nn

from regard.batches import WordBatch, batch_by_length, pad_tagged
from regard.errors import ConfigError
from regard.models import TaggerNetwork
from regard.tasks.base import Task, TrainingBatch, Validation
from regard.tasks.loss import sequence_loss
from regard.tasks.pretrained import begin_as, load_trained, shaped_as, unknown_to
from regard.tasks.tag.config import TagRun
from regard.tasks.tag.data import Words, as_tagged, prepare, read_corpus
from regard.text import EncodedTagged, TaggedSentence


class TaggingObjective(nn.Module):
    """A model with its loss as one module of plain tensors, which is what Fabric can wrap.

    Args:
        model: what learns.
        smoothing: label smoothing.
    """

    def __init__(self, model: TaggerNetwork, smoothing: float) -> None:
        super().__init__()
        self.model = model
        self.smoothing = smoothing

    def forward(self, ids: Tensor, mask: Tensor, word_mask: Tensor, tag_ids: Tensor) -> Tensor:
        """The loss of a batch, taken apart; a sum over its words."""
        logits = self.model(WordBatch(ids, mask, word_mask))
        return sequence_loss(logits, tag_ids[word_mask], self.smoothing)


@torch.inference_mode()
def validate(
    model: TaggerNetwork,
    sentences: Sequence[EncodedTagged],
    device: torch.device,
    *,
    batch_sentences: int,
    batch_tokens: int,
) -> Validation:
    """Validate a model; it is put into evaluation mode for the while.

    Args:
        model: on `device`.
        sentences: at least one.
        device: where the model is.
        batch_sentences: the most sentences in a batch.
        batch_tokens: the most words in a batch, padding counted.
    """
    was_training = model.training
    model.eval()
    total, right, whole, num_words = 0.0, 0, 0, 0
    lengths = [sentence.length for sentence in sentences]
    for members in batch_by_length(lengths, batch_sentences, batch_tokens):
        batch = pad_tagged([sentences[k] for k in members]).to(device)
        logits = model(batch)  # (N, tags)
        tags = batch.tag_ids[batch.word_mask]
        total += float(sequence_loss(logits, tags))
        hits = torch.ones_like(batch.word_mask)
        hits[batch.word_mask] = logits.argmax(dim=-1) == tags
        right += int(hits[batch.word_mask].sum())
        whole += int(hits.all(dim=1).sum())
        num_words += len(tags)
    model.train(was_training)
    scores = {"accuracy": right / num_words, "sentence_accuracy": whole / len(sentences)}
    return Validation(total / num_words, scores)


Sentence = TaggedSentence | tuple[Words, Words]


class TagTask(Task):
    """Sentences with a tag for each word, a tokenizer of words, a tagger.

    Args:
        config: the whole run.
        train: the sentences to learn from, also as tuples of words and tags; None reads the files of ``config.data``.
        valid: the sentences to validate with, likewise; without any, some training sentences are set aside.

    Raises:
        RegardError: the data cannot be used.
    """

    name = "tag"
    examples = "sentences"
    model: TaggerNetwork

    def __init__(
        self,
        config: TagRun,
        train: Sequence[Sentence] | None = None,
        valid: Sequence[Sentence] | None = None,
    ) -> None:
        if train is None and not config.data.train:
            raise ConfigError(
                "data.train: no training sentences; name them with --train tagged.tsv, or --train words --train tags"
            )
        self.config = config
        self._trained = load_trained(config.pretrained).get("encoder")
        self.prepared = prepare(
            self._read(train, config.data.train) or [],
            self._read(valid, config.data.valid),
            config.data,
            config.tokenizer,
            config.training.seed,
            self._trained.tokenizers["text"] if self._trained else None,
        )
        self.tokenizers = {"text": self.prepared.tokenizer}
        self.labels = self.prepared.labels.names
        self.notes = self.prepared.notes
        self.num_train, self.num_valid = len(self.prepared.train), len(self.prepared.valid)
        self.lengths = [sentence.length for sentence in self.prepared.train]

    def _read(self, given: Sequence[Sentence] | None, files: Sequence[str]) -> list[TaggedSentence] | None:
        """The sentences as given, or else as the files have them; None where there is neither."""
        if given is not None:
            return as_tagged(given)
        return read_corpus(files, self.config.data.layout, self.config.data.columns) if files else None

    @property
    def sizes(self) -> Mapping[str, int]:
        """The vocabulary and the tags."""
        return {"text": self.prepared.tokenizer.size, "labels": len(self.labels)}

    def build(self) -> TaggerNetwork:
        """Make the model; from a language model, where one is named."""
        config = self.config.model
        if self._trained is not None:
            config = replace(config, encoder=shaped_as(config.encoder, self._trained.model.config))
        self.model = TaggerNetwork(config, self.sizes["text"], self.sizes["labels"])
        if self._trained is not None:
            folder = self.config.pretrained.encoder
            self.notes += (begin_as(self.model.encoder, config.encoder, self._trained, folder),)
            self.notes += unknown_to(folder, (one.word_ids for one in self.prepared.train))
        return self.model

    def objective(self) -> nn.Module:
        """The tags' loss."""
        return TaggingObjective(self.model, self.config.training.label_smoothing)

    def batch(self, members: Sequence[int]) -> TrainingBatch:
        """Some sentences, padded; a prediction for each word."""
        padded = pad_tagged([self.prepared.train[k] for k in members])
        return TrainingBatch(padded.tensors, int(padded.word_mask.sum()), len(members))

    def validate(self, device: torch.device) -> Validation:
        """Loss and accuracies."""
        training = self.config.training
        return validate(
            self.model,
            self.prepared.valid,
            device,
            batch_sentences=training.batch_sentences,
            batch_tokens=training.batch_tokens,
        )
