"""The aligner: attention between the words of a pair, in both directions at once, that knows the word it aligns.

In: a padded batch of pairs. Out: `Alphas`. Both sentences are read by recurrent layers; e_ij = q_iᵀ k_j / √a + d_ij is
computed once for every target and source word and normalised twice, over the source words and null, α→, and over the
target words and null, α←. q_i knows target word i itself and what surrounds it (target foresight, Peter et al. 2017);
d_ij is a learned weight of the distance to the diagonal. A word's vector is the sum of its embedding and those of its
affixes, which both sides share. The hidden Markov models of `alignment_hmm` are the network's teacher, and what it
predicts is mixed with what they do.
"""

import math
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from regard.batches.pad import WordPairBatch
from regard.config import Config, in_range, one_of
from regard.errors import ConfigError
from regard.layers import BidirectionalStack, Dropout, Embedding, RecurrentStack
from regard.models.alignment_hmm import AlignmentHmm, Alphas, HmmConfig
from regard.models.attention import MAX_UNITS
from regard.models.encoder import EncoderConfig
from regard.models.model import INITIALIZATIONS, Model, initialize
from regard.models.stack import build_stack
from regard.ops.affine import affine
from regard.ops.attention import TwoWay, diagonal_distances, two_way_softmax

QUERIES = ("foresight", "current", "previous")
_MAX_AFFIXES = 10_000_000
_MAX_DISTANCE = 1000


@dataclass(frozen=True)
class AlignerConfig(Config):
    """The aligner: hidden Markov models of both directions, and a network of two-way attention."""

    encoder: EncoderConfig = field(default_factory=EncoderConfig)
    query: str = "foresight"
    """What a target word's query has read: all of the target (foresight), to it (current) or before it (previous)."""
    attention_size: int = 128
    """The width a of queries and keys."""
    affixes: int = 30_000
    """The number of vectors for prefixes and suffixes, which words share, also unknown ones; 0 for none."""
    distance: int = 20
    """Distances to the diagonal above this one share a weight; 0 for no such weights."""
    output: bool = False
    """Whether target words are predicted from what attention reads alone; see losses.translation."""
    hmm_share: float = 0.5
    """The share of the hidden Markov models in the attention of a trained aligner; the network has the rest."""
    hmm: HmmConfig = field(default_factory=HmmConfig)
    initialization: str = "glorot"
    """How parameters are initialised: glorot, or by the rule of a paper: bahdanau, zaremba, sutskever or luong."""

    def __post_init__(self) -> None:
        one_of("model.query", self.query, QUERIES)
        in_range("model.attention_size", self.attention_size, 1, MAX_UNITS)
        in_range("model.affixes", self.affixes, 0, _MAX_AFFIXES)
        in_range("model.distance", self.distance, 0, _MAX_DISTANCE)
        in_range("model.hmm_share", self.hmm_share, 0, 1)
        one_of("model.initialization", self.initialization, INITIALIZATIONS)
        if self.encoder.reverse or not self.encoder.bidirectional:
            raise ConfigError(
                "model.encoder: an aligner reads the source in both directions; leave bidirectional and reverse out"
            )


class AlignerNetwork(Model):
    """Hidden Markov models of both directions, and a network of two-way attention.

    Args:
        config: sizes and kinds.
        source_size: Vx.
        target_size: Vy.
        num_entries: pairs of words in the tables of the hidden Markov models.
    """

    def __init__(self, config: AlignerConfig, source_size: int, target_size: int, num_entries: int) -> None:
        super().__init__()
        self.config: AlignerConfig = config
        encoder = config.encoder
        m, n, a = encoder.embedding_size, encoder.state_size, config.attention_size
        self.affixes = Embedding(config.affixes, m) if config.affixes else None
        self.source_embedding = Embedding(source_size, m)
        self.target_embedding = Embedding(target_size, m)
        self.dropout = Dropout(encoder.dropout, encoder.variational)
        self.source_stack = build_stack(BidirectionalStack, encoder, m)
        self.target_stack: BidirectionalStack | RecurrentStack
        foresight = config.query == "foresight"
        if foresight:
            self.target_stack = build_stack(BidirectionalStack, encoder, m)
        else:
            self.target_stack = build_stack(RecurrentStack, encoder, m)
        source_width, target_width = m + 2 * n, m + (2 * n if foresight else n)
        self.W_k, self.W_q = _matrix(a, source_width), _matrix(a, target_width)
        self.source_null, self.target_null = _matrix(1, source_width), _matrix(1, target_width)
        self.source_null_bias, self.target_null_bias = (nn.Parameter(torch.zeros(1)) for _ in range(2))
        self.d = nn.Parameter(torch.zeros(2 * config.distance + 1)) if config.distance else None
        if config.output:
            self.W_v, self.V_o = _matrix(m, source_width), _matrix(target_size, m)
            self.null_value = nn.Parameter(torch.zeros(m))
        self.hmm = AlignmentHmm(source_size, target_size, num_entries, config.hmm)
        initialize(self, config.initialization)

    def forward(self, batch: WordPairBatch) -> Alphas:
        """α of both directions, the network's and the hidden Markov models' mixed."""
        share = self.config.hmm_share
        if share == 1:
            return self.hmm_alphas(batch)
        own = self.attend(batch).log_alphas.alphas
        if share == 0:
            return Alphas(*own)
        given = self.hmm_alphas(batch)
        return Alphas(*(share * there + (1 - share) * here for there, here in zip(given, own, strict=True)))

    def hmm_alphas(self, batch: WordPairBatch) -> Alphas:
        """α of the hidden Markov models alone, in single precision."""
        with torch.no_grad(), torch.autocast(batch.source_ids.device.type, enabled=False):
            alphas: Alphas = self.hmm(batch)
        return alphas

    def attend(self, batch: WordPairBatch) -> "Read":
        """What the network computes of a batch."""
        sources = self._words(self.source_embedding, batch.source_ids, batch.source_affixes)  # (B, J, m)
        targets = self._words(self.target_embedding, batch.target_ids, batch.target_affixes)  # (B, I, m)
        read = self.source_stack(sources, batch.source_mask)[0]
        annotations = self.dropout(torch.cat((sources, read), dim=2))  # (B, J, m + 2n)
        states = self.target_stack(targets, batch.target_mask)[0]
        if self.config.query == "previous":  # neither the word nor the state that has read it
            states = nn.functional.pad(states[:, :-1], (0, 0, 1, 0))
            targets = torch.zeros_like(targets)
        queries = self.dropout(torch.cat((targets, states), dim=2))  # (B, I, …)
        q, k = affine(queries, self.W_q), affine(annotations, self.W_k)
        energies = q @ k.transpose(1, 2) / math.sqrt(q.shape[2])  # (B, I, J)
        if self.d is not None:
            distances = diagonal_distances(batch.target_mask, batch.source_mask, self.config.distance)
            energies = energies + self.d[distances]
        nulls = (
            affine(queries, self.target_null, self.target_null_bias).squeeze(2),
            affine(annotations, self.source_null, self.source_null_bias).squeeze(2),
        )
        return Read(two_way_softmax(energies, *nulls, batch.target_mask, batch.source_mask), annotations)

    def translation_loss(self, batch: WordPairBatch, read: "Read") -> Tensor:
        """Σ_i −log p(y_i ∣ Σ_j α→_ij W_v h_j), an output that sees only what attention reads (Zenkel et al. 2019).

        The probabilities are among the words of the batch, which are a sample of the vocabulary.
        """
        values = affine(read.annotations, self.W_v)  # (B, J, m)
        alpha = read.log_alphas.forward.exp()  # (B, I, J + 1)
        contexts = alpha[:, :, :-1] @ values + alpha[:, :, -1:] * self.null_value  # (B, I, m)
        words, correct = torch.unique(batch.target_ids[batch.target_mask], return_inverse=True)
        logits = affine(torch.tanh(contexts[batch.target_mask]), self.V_o[words])
        return nn.functional.cross_entropy(logits.float(), correct, reduction="sum")

    def _words(self, embedding: Embedding, ids: Tensor, affixes: Tensor | None) -> Tensor:
        """The vectors of words, (B, T, m): their own and their affixes' summed."""
        vectors: Tensor = embedding(ids)
        if self.affixes is not None:
            assert affixes is not None, "a batch with affixes"
            vectors = vectors + nn.functional.embedding_bag(
                affixes.flatten(0, 1), self.affixes.E, mode="sum"
            ).view_as(vectors)
        return self.dropout(vectors)  # type: ignore[no-any-return]


@dataclass(frozen=True, eq=False)
class Read:
    """What the network computes of a batch.

    Attributes:
        log_alphas: of both directions.
        annotations: (B, J, d), of the source words.
    """

    log_alphas: TwoWay
    annotations: Tensor


def _matrix(rows: int, columns: int) -> nn.Parameter:
    return nn.Parameter(nn.init.xavier_uniform_(torch.empty(rows, columns)))
