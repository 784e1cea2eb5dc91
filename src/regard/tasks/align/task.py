"""The task of word alignment: sentence pairs, two vocabularies of words, an aligner.

In: `SentencePair`s, read or given. Out: a `Task`. `AlignTask.build` estimates the hidden Markov models of both
directions, which takes as long as many updates; the loop then trains the network that learns from them.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from regard.batches import WordPairBatch, batch_by_length, pad_word_pairs
from regard.device import find_device
from regard.errors import ConfigError, DataError
from regard.evaluation.alignment import AlignmentEvaluation, LinkRule
from regard.models import AlignerNetwork
from regard.models.alignment_hmm import estimate_hmm
from regard.ops.attention import coverage_penalty, disagreement, guided_two_way
from regard.tasks.align.config import AlignerLossConfig, AlignRun, WordTokenizerConfig
from regard.tasks.align.predictor import SYMMETRIZATION, Aligner
from regard.tasks.base import (
    Prepared,
    Task,
    Validation,
    filter_by_length,
    in_evaluation_mode,
    spread_by_length,
)
from regard.tasks.train_valid_split import split_train_valid
from regard.tasks.translate.task import parse_pairs, read_corpus
from regard.text import SentencePair, Tokenizer, read_gold_links, train_tokenizer
from regard.text.word_pairs import EncodedWordPair, encode_word_pairs

if TYPE_CHECKING:
    from regard.plots.page import ShownResult

Example = SentencePair | tuple[str, str]
"""A source and its translation."""


class AlignTask(Task):
    """Sentence pairs, two vocabularies of words, an aligner.

    Args:
        config: the whole run.
        train: the training pairs; None reads the files of ``config.data``.
        valid: the validation pairs; None reads the files of ``config.data`` or, without any, splits some training
            pairs off.

    Raises:
        RegardError: the data cannot be used.
    """

    name = "align"
    examples = "pairs"
    model: AlignerNetwork
    prepared: Prepared[EncodedWordPair]

    def __init__(
        self,
        config: AlignRun,
        train: Sequence[Example] | None = None,
        valid: Sequence[Example] | None = None,
    ) -> None:
        super().__init__(config, _prepare(config, train, valid))
        self._gold = None
        if config.data.valid_links:
            pairs: Sequence[SentencePair] = self.prepared.valid_examples
            self._gold = list(
                read_gold_links(config.data.valid_links, [(pair.source, pair.target) for pair in pairs])
            )

    @property
    def sizes(self) -> Mapping[str, int]:
        """The two vocabularies, and the entries of the hidden Markov models' tables."""
        vocabularies = {side: tokenizer.size for side, tokenizer in self.tokenizers.items()}
        return {**vocabularies, "entries": len(self.model.hmm.keys)}

    def build(self) -> AlignerNetwork:
        """Estimate the hidden Markov models, and make the network; a run that goes on has them already."""
        config = self.config.model
        sizes = self.tokenizers["source"].size, self.tokenizers["target"].size
        if self.begun is not None:  # the checkpoint fills the tables
            self.model = AlignerNetwork(config, *sizes, self.begun["entries"])
            return self.model
        hmm = estimate_hmm(
            [(pair.source_ids, pair.target_ids) for pair in self.prepared.train],
            *sizes,
            config.hmm,
            device=find_device(self.config.training.device),
            listener=lambda each: self.tell(
                f"{each.model}, pass {each.number} of {each.of}: {each.bits:.2f} bits per word before it"
            ),
        )
        self.model = AlignerNetwork(config, *sizes, len(hmm.keys))
        self.model.hmm.load_state_dict(hmm.state_dict())
        self.notes += (
            f"hidden Markov models: {len(hmm.keys):,} pairs of words after {config.hmm.lexical_passes} passes of IBM "
            f"model 1 and {config.hmm.passes} with jumps",
        )
        return self.model

    def objective(self) -> nn.Module:
        """The losses of attention in both directions."""
        return AlignmentObjective(self.model, self.config.losses)

    def batch(self, members: Sequence[int]) -> WordPairBatch:
        """Some pairs, padded."""
        return pad_word_pairs([self.prepared.train[k] for k in members], self.config.model.affixes)

    def validate(self, device: torch.device) -> Validation:
        """The loss, and with gold links the alignment error rate of both directions symmetrised."""
        training = self.config.training
        objective = AlignmentObjective(self.model, self.config.losses)
        loss, num_words = 0.0, 0
        lengths = [pair.length for pair in self.prepared.valid]
        with torch.no_grad(), in_evaluation_mode(self.model):
            for members in batch_by_length(lengths, training.batch_sentences, training.batch_tokens):
                batch = pad_word_pairs([self.prepared.valid[k] for k in members], self.config.model.affixes)
                loss += float(objective(batch.to(device)))
                num_words += batch.num_tokens
            return Validation(loss / num_words, self._score(device))

    def _score(self, device: torch.device) -> dict[str, float]:
        if self._gold is None:
            return {}
        aligner = Aligner(self.model, *self.tokenizers.values(), device=device.type)
        rule, evaluation = LinkRule(None, SYMMETRIZATION), AlignmentEvaluation(0)
        pairs: Sequence[SentencePair] = self.prepared.valid_examples
        aligned = aligner.align([pair.source for pair in pairs], [pair.target for pair in pairs])
        for each, gold in zip(aligned, self._gold, strict=True):
            evaluation.add(each.source, each.target, {"symmetrized": each.links(rule)["symmetrized"]}, gold)
        return {"aer": evaluation.scores["symmetrized"].aer}

    def show(self, predictor: Aligner) -> "list[ShownResult]":
        """Pairs with the attention of both directions."""
        from regard.plots.page import ShownResult

        pairs: Sequence[SentencePair] = self.prepared.valid_examples
        chosen = [pairs[k] for k in spread_by_length([pair.length for pair in self.prepared.valid])]
        aligned = predictor.align([pair.source for pair in chosen], [pair.target for pair in chosen])
        return [
            ShownResult({"source": pair.source, "target": pair.target}, each._repr_html_(), None)
            for pair, each in zip(chosen, aligned, strict=True)
        ]


class AlignmentObjective(nn.Module):
    """The network with its losses, batch → their weighted sum over all words of both sides.

    Args:
        model: trained, but for its hidden Markov models.
        losses: their weights.
    """

    def __init__(self, model: AlignerNetwork, losses: AlignerLossConfig) -> None:
        super().__init__()
        self.model, self.losses = model, losses

    def forward(self, batch: WordPairBatch) -> Tensor:
        """The loss of a batch, a sum."""
        read = self.model.attend(batch)
        logs = read.log_alphas
        losses = self.losses
        loss = logs.forward.new_zeros(())
        if losses.guided:
            links = expected_links(self.model, batch, losses.teacher)
            loss = loss + losses.guided * guided_two_way(logs, links, batch.target_mask, batch.source_mask)
        if losses.translation:
            loss = loss + losses.translation * self.model.translation_loss(batch, read)
        if losses.agreement or losses.coverage:
            cells = batch.cells
            forward, backward = (alpha * cells for alpha in logs.alphas)
            loss = loss + losses.agreement * disagreement(forward, backward)
            if losses.coverage:
                loss = loss + losses.coverage * (coverage_penalty(forward) * batch.target_mask).sum()
        return loss


@torch.no_grad()
def expected_links(model: AlignerNetwork, batch: WordPairBatch, teacher: str) -> tuple[Tensor, Tensor]:
    """The links that the hidden Markov models expect, (B, I, J), for α→ and for α←.

    Args:
        model: with its hidden Markov models.
        batch: pairs.
        teacher: ``own`` for α→ and α← themselves; ``agreement`` for √(α→ α←) twice, the links that both expect.
    """
    forward, backward = (alpha * batch.cells for alpha in model.hmm_alphas(batch))
    if teacher == "own":
        return forward, backward
    both = (forward * backward).sqrt()
    return both, both


def _prepare(
    config: AlignRun, train: Sequence[Example] | None, valid: Sequence[Example] | None
) -> Prepared[EncodedWordPair]:
    """Read what is not given; make vocabularies, encode, filter."""
    data, notes = config.data, list[str]()
    if train is None and not data.train:
        raise ConfigError(
            "data.train: no training pairs; name them with --train pairs.tsv, or --train a.de --train a.en"
        )
    pairs = parse_pairs(train) if train is not None else read_corpus(data.train, data.columns, known=())
    if valid is not None:
        valid_pairs = parse_pairs(valid)
    elif data.valid:
        valid_pairs = read_corpus(data.valid, data.columns, known=())
    else:
        seed = config.training.seed_of_split
        pairs, valid_pairs, note = split_train_valid(
            pairs, [pair.source for pair in pairs], seed, what="pairs"
        )
        notes.append(note)
    tokenizers = {
        "source": _vocabulary(
            [pair.source for pair in pairs], config.tokenizer, config.tokenizer.source_size
        ),
        "target": _vocabulary(
            [pair.target for pair in pairs], config.tokenizer, config.tokenizer.target_size
        ),
    }
    encoded = list(encode_word_pairs(pairs, *tokenizers.values()))
    kept, left_out = filter_by_length(encoded, _length, data.max_length, what="pairs", unit="words")
    encoded_valid = list(encode_word_pairs(valid_pairs, *tokenizers.values()))
    real = [k for k, pair in enumerate(encoded_valid) if _length(pair)]
    if not real:
        raise DataError("the validation pairs are all empty; give some with text on both sides")
    if len(real) < len(encoded_valid):
        if data.valid_links:
            raise DataError(
                f"data.valid_links: {len(encoded_valid) - len(real)} validation pairs have an empty side, so links and "
                "pairs do not go together; leave them out of both files"
            )
        notes.append(f"validation pairs: left out {len(encoded_valid) - len(real)} with an empty side")
    return Prepared(
        tokenizers,
        kept,
        [encoded_valid[k] for k in real],
        (*notes, *left_out),
        valid_examples=[valid_pairs[k] for k in real],
    )


def _vocabulary(lines: Sequence[str], config: WordTokenizerConfig, size: int) -> Tokenizer:
    return train_tokenizer(
        "word",
        lines,
        size=size,
        min_frequency=config.min_frequency,
        lowercase=config.lowercase,
        normalize=config.normalize,
    )


def _length(pair: EncodedWordPair) -> int:
    """Of the longer side in words; 0 if a side is empty."""
    return pair.length if pair.source_ids and pair.target_ids else 0
