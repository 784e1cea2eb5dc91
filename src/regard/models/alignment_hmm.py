"""Word alignment by hidden Markov models of both directions, estimated by EM so that they agree.

In: pairs of sentences as word ids. Out: `AlignmentHmm`: translation tables, jumps and a null word of both directions,
which gives each pair two posteriors, α→ of target words over source words and α← of source words over target words.
`estimate_hmm` starts with IBM model 1 and a prior towards the diagonal (Dyer, Chahuneau & Smith 2013), and goes on with
hidden Markov models that learn from each other: their expected counts are the products α→ α← (Liang, Taskar & Klein
2006). A word that regularly becomes several is linked to all of them by one direction alone, so that both cannot
agree: such links count too, see `add_regular`. Jumps depend on the word that is left (He 2007), smoothed by those of
all words. Tables have an entry for each pair of words that occur together, so memory grows with the vocabulary and not
with the text.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn

from regard.batches.pad import WordPairs, batch_by_length, pad_word_ids
from regard.config import Config, in_range
from regard.ops.alignment_hmm import Posteriors, hmm_posteriors

_BATCH_SENTENCES = 4_000
_BATCH_TOKENS = 60_000
_MAX_CACHED = 100_000_000  # cells whose place in the tables is kept in memory
_EXACT_JUMPS = 4  # longer ones share their probability with jumps of similar length
_SMALLEST = 1e-6  # probabilities below it are left out of a finished table
_FLOOR = 1e-9  # of a pair of words that never occurred together
_FEWEST = 5  # links of one direction alone that count as regular
_PRIOR = 0.01  # jumps seen of every length before any is seen


@dataclass(frozen=True)
class HmmConfig(Config):
    """The hidden Markov models that an aligner starts from, and how they are estimated."""

    place = "hmm"

    lexical_passes: int = 5
    """Passes of EM with IBM model 1, which knows words and the diagonal alone."""
    passes: int = 4
    """Passes of EM with hidden Markov models."""
    agreement: float = 1.0
    """How far each direction learns from the links that both expect (1) or from its own (0)."""
    null: float = 0.2
    """The probability that a word belongs to no word of the other side."""
    diagonal: float = 6.0
    """How strongly IBM model 1 prefers the diagonal; 0 for not at all."""
    regular: float = 0.2
    """Links of one direction alone count for two words that have them in at least this share of a word's occurrences;
    0 for none of them."""
    learn_null: bool = False
    """Whether the words of null are estimated, or as frequent as in the text."""
    longest_jump: int = 80
    """Jumps beyond it have its probability."""
    jump_prior: float = 30.0
    """Each word's own jumps are added to this many of all words; a very large number makes the jumps of words equal."""

    def __post_init__(self) -> None:
        in_range("hmm.lexical_passes", self.lexical_passes, 1, 100)
        in_range("hmm.passes", self.passes, 0, 100)
        in_range("hmm.agreement", self.agreement, 0, 1)
        in_range("hmm.null", self.null, 0.001, 0.999)
        in_range("hmm.diagonal", self.diagonal, 0, 1000)
        in_range("hmm.regular", self.regular, 0, 1)
        in_range("hmm.longest_jump", self.longest_jump, 1, 1000)
        in_range("hmm.jump_prior", self.jump_prior, 0.01, 1e12)


class Alphas(NamedTuple):
    """The attention of both directions, each (B, I, J).

    Attributes:
        forward: of target words over source words: a row sums to at most 1.
        backward: of source words over target words: a column sums to at most 1.
    """

    forward: Tensor
    backward: Tensor


class AlignmentHmm(nn.Module):
    """Hidden Markov models of both directions.

    Args:
        source_size: Vx.
        target_size: Vy.
        num_entries: N, pairs of words in the tables.
        config: the null word's probability and the longest jump.

    Attributes:
        keys: (N,), x Vy + y of each entry, ascending.
        forward_table: (N + 1,), p(y ∣ x); the last for what is not an entry.
        backward_table: (N + 1,), p(x ∣ y).
        forward_null: (Vy,), p(y ∣ null).
        backward_null: (Vx,), p(x ∣ null).
        forward_jumps: (Vx + 1, R), the probability of each range of jumps from each source word and, last, from before
            the first word; see `jump_ranges`.
        backward_jumps: (Vy + 1, R), those of the other direction, from target words.
    """

    keys: Tensor
    forward_table: Tensor
    backward_table: Tensor
    forward_null: Tensor
    backward_null: Tensor
    forward_jumps: Tensor
    backward_jumps: Tensor

    def __init__(self, source_size: int, target_size: int, num_entries: int, config: HmmConfig) -> None:
        super().__init__()
        self.target_size = target_size
        self.null = config.null
        ranges = jump_ranges(config.longest_jump)
        self.register_buffer("keys", torch.arange(num_entries))
        self._ranges = ranges
        for name, size in (
            ("forward_table", num_entries + 1),
            ("backward_table", num_entries + 1),
            ("forward_null", target_size),
            ("backward_null", source_size),
        ):
            self.register_buffer(name, torch.full((size,), 1 / size))
        alike = torch.tensor([ranges.count(each) / len(ranges) for each in range(max(ranges) + 1)])
        for name, size in (("forward_jumps", source_size), ("backward_jumps", target_size)):
            self.register_buffer(name, alike.repeat(size + 1, 1))

    def entries(self, pairs: WordPairs) -> Tensor:
        """(B, I, J): where each cell's probabilities are in the tables; N where they are not."""
        keys = pairs.source_ids.unsqueeze(1) * self.target_size + pairs.target_ids.unsqueeze(2)
        found = torch.searchsorted(self.keys, keys)
        known = self.keys[found.clamp_max(len(self.keys) - 1)] == keys
        return torch.where(known & pairs.cells, found, len(self.keys))

    def forward(self, pairs: WordPairs) -> Alphas:
        """The posteriors of both directions."""
        entries = self.entries(pairs)
        forward, backward = (self.direction(pairs, entries, forward=way).alpha for way in (True, False))
        return Alphas(forward, backward.transpose(1, 2))

    def direction(self, pairs: WordPairs, entries: Tensor, *, forward: bool) -> Posteriors:
        """The posteriors of one direction: alpha (B, I, J), jumps (B, J + 1, 2K + 1); backward I and J change places.

        Args:
            pairs: the batch.
            entries: of its cells, (B, I, J).
            forward: whether target words are generated, or source words.
        """
        masks = pairs.target_mask, pairs.source_mask
        if forward:
            emissions, null = self.forward_table[entries], self.forward_null[pairs.target_ids]
            weights = self._weights(self.forward_jumps, pairs.source_ids)
            return hmm_posteriors(emissions, null, weights, self.null, *masks)
        emissions, null = self.backward_table[entries.transpose(1, 2)], self.backward_null[pairs.source_ids]
        weights = self._weights(self.backward_jumps, pairs.target_ids)
        return hmm_posteriors(emissions, null, weights, self.null, *masks[::-1])

    def _weights(self, jumps: Tensor, ids: Tensor) -> Tensor:
        """(B, J + 1, 2K + 1): the weights of jumps from before the first word and from each of the words."""
        ranges = self.ranges
        return (jumps / torch.bincount(ranges))[start_rows(jumps, ids)][:, :, ranges]

    @property
    def ranges(self) -> Tensor:
        """(2K + 1,): the range of each jump."""
        return torch.tensor(self._ranges, device=self.keys.device)


class Pass(NamedTuple):
    """How far an estimation is.

    Attributes:
        model: ``IBM model 1`` or ``HMM``.
        number: of the pass, from 1.
        of: the passes of this model.
        bits: −log₂ p per word, both directions, by the tables before this pass.
    """

    model: str
    number: int
    of: int
    bits: float


def estimate_hmm(
    pairs: Sequence[tuple[Sequence[int], Sequence[int]]],
    source_size: int,
    target_size: int,
    config: HmmConfig,
    *,
    device: torch.device | str = "cpu",
    listener: Callable[[Pass], None] = lambda each: None,
) -> AlignmentHmm:
    """Estimate hidden Markov models of both directions by EM.

    Args:
        pairs: source and target ids of each sentence pair, neither empty.
        source_size: Vx.
        target_size: Vy.
        config: the passes, and what is not estimated.
        device: where to compute.
        listener: called after every pass.
    """
    return _Estimation(pairs, source_size, target_size, config, device).run(listener)


class _Estimation:
    def __init__(
        self,
        pairs: Sequence[tuple[Sequence[int], Sequence[int]]],
        source_size: int,
        target_size: int,
        config: HmmConfig,
        device: torch.device | str,
    ) -> None:
        self._config, self._device = config, torch.device(device)
        self._source_size, self._target_size = source_size, target_size
        lengths = [max(len(source), len(target)) for source, target in pairs]
        self._pairs = pairs
        self._batches = batch_by_length(lengths, _BATCH_SENTENCES, _BATCH_TOKENS)
        keys = self._keys()
        self._hmm = AlignmentHmm(source_size, target_size, len(keys), config).to(self._device)
        self._hmm.keys = keys
        num_cells = sum(len(source) * len(target) for source, target in pairs)
        self._cached: list[Tensor] | None = [] if num_cells <= _MAX_CACHED else None
        self._start()

    def _start(self) -> None:
        """Every pair of words alike; null words as often as they occur."""
        hmm = self._hmm
        hmm.forward_table.fill_(1 / self._target_size)
        hmm.backward_table.fill_(1 / self._source_size)
        for table in (hmm.forward_table, hmm.backward_table):
            table[-1] = 0.0
        self._occurrences = []  # of source words, of target words
        for side, null in enumerate((hmm.backward_null, hmm.forward_null)):
            ids = torch.tensor([word for pair in self._pairs for word in pair[side]], device=self._device)
            self._occurrences.append(torch.bincount(ids, minlength=len(null)))
            null.copy_(self._occurrences[side] / len(ids))

    def _keys(self) -> Tensor:
        """The pairs of words that occur together, ascending."""
        keys = torch.empty(0, dtype=torch.long, device=self._device)
        for members in self._batches:
            pairs = self._batch(members)
            own = pairs.source_ids.unsqueeze(1) * self._target_size + pairs.target_ids.unsqueeze(2)
            keys = torch.unique(torch.cat((keys, torch.unique(own[pairs.cells]))))
        return keys

    def _batch(self, members: Sequence[int]) -> WordPairs:
        return pad_word_ids([self._pairs[k] for k in members]).to(self._device)

    def _prepared(self) -> Iterable[tuple[WordPairs, Tensor]]:
        """Every batch with its entries, which are kept from the first pass on where memory allows."""
        if self._cached:
            for members, entries in zip(self._batches, self._cached, strict=True):
                yield self._batch(members), entries.long()
            return
        for members in self._batches:
            pairs = self._batch(members)
            entries = self._hmm.entries(pairs)
            if self._cached is not None:
                self._cached.append(entries.int())
            yield pairs, entries

    def run(self, listener: Callable[[Pass], None]) -> AlignmentHmm:
        models = (
            ("IBM model 1", self._config.lexical_passes, self._lexical, 0.0),
            ("HMM", self._config.passes, self._markov, self._config.agreement),
        )
        num_words = sum(len(source) + len(target) for source, target in self._pairs)
        for name, count, expect, agree in models:
            for number in range(1, count + 1):
                nats = self._improve(expect, agree)
                listener(Pass(name, number, count, -nats / num_words / 0.6931471805599453))
        return self._finished()

    def _improve(
        self, expect: Callable[[WordPairs, Tensor], tuple[Posteriors, Posteriors]], agree: float
    ) -> float:
        """One pass of EM: expected counts, then tables; returns log p of the text before it."""
        hmm = self._hmm
        counts, alone = ([torch.zeros_like(hmm.forward_table) for _ in range(2)] for _ in range(2))
        nulls = [torch.zeros_like(hmm.forward_null), torch.zeros_like(hmm.backward_null)]
        jumps = [torch.zeros_like(hmm.forward_jumps), torch.zeros_like(hmm.backward_jumps)]
        nats, ranges = 0.0, hmm.ranges
        for pairs, entries in self._prepared():
            expected = expect(pairs, entries)
            alphas = expected[0].alpha, expected[1].alpha.transpose(1, 2)
            if agree:
                product = alphas[0] * alphas[1]
                for way, alpha in enumerate(alphas):
                    alone[way].index_add_(0, entries.flatten(), agree * (alpha - product).flatten())
                product = agree * product
                alphas = product + (1 - agree) * alphas[0], product + (1 - agree) * alphas[1]
            words = (pairs.target_ids, pairs.target_mask, 2), (pairs.source_ids, pairs.source_mask, 1)
            for way, (alpha, (ids, mask, axis)) in enumerate(zip(alphas, words, strict=True)):
                counts[way].index_add_(0, entries.flatten(), alpha.flatten())
                rest = (1 - alpha.sum(dim=axis)).clamp_min(0) * mask
                nulls[way].index_add_(0, ids.flatten(), rest.flatten())
                if expect == self._markov:
                    left = start_rows(jumps[way], (pairs.source_ids, pairs.target_ids)[way]).flatten()
                    found = expected[way].jumps.flatten(0, 1)  # (…, 2K + 1)
                    own = found.new_zeros(len(found), jumps[way].shape[1]).index_add_(1, ranges, found)
                    jumps[way].index_add_(0, left, own)
                nats += float(expected[way].log_likelihood)
        given = hmm.keys // self._target_size, hmm.keys % self._target_size
        tables = (hmm.forward_table, self._source_size), (hmm.backward_table, self._target_size)
        for way, (table, size) in enumerate(tables):
            count, regular = counts[way][:-1], self._config.regular
            if regular:
                count = add_regular(count, alone[way][:-1], self._occurrences[way][given[way]], regular)
            totals = table.new_zeros(size).index_add_(0, given[way], count).clamp_min(1e-20)
            table[:-1] = count / totals[given[way]]
        if self._config.learn_null:
            for null, count in zip((hmm.forward_null, hmm.backward_null), nulls, strict=True):
                null.copy_(count / count.sum().clamp_min(1e-20))
        if expect == self._markov:
            hmm.forward_jumps.copy_(smooth_jumps(jumps[0], self._config.jump_prior))
            hmm.backward_jumps.copy_(smooth_jumps(jumps[1], self._config.jump_prior))
        return nats

    def _lexical(self, pairs: WordPairs, entries: Tensor) -> tuple[Posteriors, Posteriors]:
        """IBM model 1 with a prior exp(−λ |i/I − j/J|)."""
        sources, targets = (
            (torch.arange(mask.shape[1], device=self._device) + 0.5)
            / mask.sum(dim=1, keepdim=True).clamp_min(1)
            for mask in (pairs.source_mask, pairs.target_mask)
        )
        near = torch.exp(-self._config.diagonal * (targets.unsqueeze(2) - sources.unsqueeze(1)).abs())
        near = near * pairs.cells  # (B, I, J)
        hmm, null = self._hmm, self._config.null
        return (
            _lexical_links(
                hmm.forward_table[entries], near, hmm.forward_null[pairs.target_ids], null, pairs.target_mask
            ),
            _lexical_links(
                hmm.backward_table[entries].transpose(1, 2),
                near.transpose(1, 2),
                hmm.backward_null[pairs.source_ids],
                null,
                pairs.source_mask,
            ),
        )

    def _markov(self, pairs: WordPairs, entries: Tensor) -> tuple[Posteriors, Posteriors]:
        forward, backward = (self._hmm.direction(pairs, entries, forward=way) for way in (True, False))
        return forward, backward

    def _finished(self) -> AlignmentHmm:
        """The models with what matters of their tables."""
        hmm = self._hmm
        kept = torch.maximum(hmm.forward_table[:-1], hmm.backward_table[:-1]) > _SMALLEST
        finished = AlignmentHmm(self._source_size, self._target_size, int(kept.sum()), self._config)
        finished.to(self._device)
        finished.keys = hmm.keys[kept]
        kept = torch.cat((kept, kept.new_ones(1)))
        for name in ("forward_table", "backward_table"):
            table = getattr(hmm, name)[kept]
            table[-1] = _FLOOR
            setattr(finished, name, table)
        for name in ("forward_null", "backward_null", "forward_jumps", "backward_jumps"):
            setattr(finished, name, getattr(hmm, name))
        return finished


def _lexical_links(
    emissions: Tensor, near: Tensor, null_emissions: Tensor, null: float, mask: Tensor
) -> Posteriors:
    """The links that IBM model 1 expects in one direction, generated words first.

    Args:
        emissions: (B, I, J).
        near: (B, I, J), the prior before it is normalised; 0 on padding.
        null_emissions: (B, I).
        null: p₀.
        mask: (B, I).
    """
    prior = (1 - null) * near / near.sum(dim=2, keepdim=True).clamp_min(1e-20)
    joint = prior * emissions
    total = joint.sum(dim=2) + null * null_emissions  # (B, I)
    alpha = joint / total.clamp_min(1e-30).unsqueeze(2)
    log_likelihood = torch.where(mask, total.clamp_min(1e-30).log(), 0.0).sum()
    return Posteriors(alpha, alpha.new_zeros(()), log_likelihood)


def start_rows(jumps: Tensor, ids: Tensor) -> Tensor:
    """(B, J + 1): the rows of a table of jumps for before the first word, and for each word.

    Args:
        jumps: (V + 1, R), the last row for before the first word.
        ids: (B, J).
    """
    return torch.cat((ids.new_full((len(ids), 1), len(jumps) - 1), ids), dim=1)


def jump_ranges(longest: int) -> list[int]:
    """The range, from 0, of each of the jumps −K, …, K.

    Jumps of up to four words are ranges of their own; longer ones share what they have with jumps of similar length, in
    ranges of a third of an octave: they are rare, and each is hardly ever seen.

    Args:
        longest: K.
    """
    farther = [round(3 * math.log2(size / _EXACT_JUMPS)) for size in range(_EXACT_JUMPS + 1, longest + 1)]
    sizes = [*range(min(longest, _EXACT_JUMPS) + 1), *(_EXACT_JUMPS + octaves for octaves in farther)]
    found = [*(-size for size in reversed(sizes[1:])), *sizes]
    places = {size: place for place, size in enumerate(sorted(set(found)))}
    return [places[size] for size in found]


def smooth_jumps(counts: Tensor, prior: float) -> Tensor:
    """p(r ∣ x) = (n(x, r) + τ p(r)) / (n(x) + τ), a maximum a posteriori estimate (He 2007).

    Args:
        counts: n, (V + 1, R), the expected jumps of each range from each word.
        prior: τ, how many jumps of all words each word's own are added to.
    """
    totals = counts.sum(dim=0) + _PRIOR
    return (counts + prior * totals / totals.sum()) / (counts.sum(dim=1, keepdim=True) + prior)


def add_regular(agreed: Tensor, alone: Tensor, occurrences: Tensor, share: float) -> Tensor:
    """n(x, y) + r(x, y) where r(x, y) ≥ max(ρ N(x), 5), and n(x, y) elsewhere: expected links that tables learn from.

    Where one word becomes two, such as *while* → *pendant que*, the direction that generates the two expects both
    links. In the other direction a word has one link, so the product of both has one, too, and the other is forgotten.
    Yet most links of one direction alone are errors, of rare words that explain what nothing else does. So these links
    count for the pairs of words that have them regularly.

    Args:
        agreed: n, the links that both directions expect, of each pair of words.
        alone: r, those that the direction expects beyond.
        occurrences: N, of the word x that generates.
        share: ρ.
    """
    return agreed + torch.where(alone >= (share * occurrences).clamp_min(_FEWEST), alone, 0.0)
