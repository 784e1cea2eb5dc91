"""Sampling: tokens chosen at random from a model's distribution, many rows at once.

`sample` steps any model and yields each row's token as it is chosen, with its alternatives; in: a step function, its
state, and one seed per row. `sample_outputs` samples whole outputs from a decoder; in: encoded sources and one seed per
output; out: `SearchResult`s in the order of the seeds. The rules of beam search hold there: limits, blocking, prefixes,
excluded phrases, forced attention. Log-probabilities are the model's own, whatever the temperature. Each row has a
random generator of its own, so that it depends on its seed and not on the rest of the batch. Knows no text.
"""

import math
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import NamedTuple, TypeVar

import numpy as np
import torch
from torch import Tensor

from regard.config import in_range
from regard.errors import ConfigError
from regard.models.state import EncodedSource, StepOutput, Stepper
from regard.search.candidates import StepRules, TokenRules, VocabularyMap
from regard.search.constraints import ForcedAttention, TokenConstraints
from regard.search.hypotheses import (
    NEVER,
    Backpointers,
    FinishedHypotheses,
    HypothesisEnd,
    Ids,
    diverged,
    length_limits,
)
from regard.search.options import DEFAULT_SEARCH, MAX_TOKENS, SamplingOptions, SearchOptions
from regard.search.phrases import check_limits
from regard.search.trace import SearchResult
from regard.text.specials import BOS, EOS, PAD

S = TypeVar("S")
Step = Callable[[Tensor, S], tuple[Tensor, S]]
"""(previous ids (R,), state) → (logits (R, V), state)."""

# of a sum of probabilities, which must not admit one more word
_ROUNDING = 1e-12


class Alternative(NamedTuple):
    """A probable token at a step of sampling.

    Attributes:
        id: the word.
        log_prob: the model's, given the words before it.
        probability: under the sampling options; 0 for a word that top-k or top-p left out.
    """

    id: int
    log_prob: float
    probability: float


@dataclass(frozen=True, slots=True)
class Choice:
    """One word of one row.

    Attributes:
        id: the word.
        log_prob: the model's, given the words before it.
        probability: under the sampling options; 1 for a word of the prompt.
        alternatives: the most probable words, best first; the chosen one may be among them.
        given: whether it is the prompt's, not sampled.
    """

    id: int
    log_prob: float
    probability: float
    alternatives: tuple[Alternative, ...]
    given: bool


def sampling_distribution(options: SamplingOptions, log_probs: Tensor) -> tuple[Tensor, Tensor]:
    """The distribution that tokens are sampled from: temperature, then top-k, then top-p.

    Args:
        options: of the sampling.
        log_probs: (R, V), −∞ at what may not be chosen.

    Returns:
        Probabilities (R, V) in falling order, float64, each row summing to 1; and the tokens they belong to, (R, V).
        Of equally probable tokens the one with the smaller id is first.
    """
    ordered, words = log_probs.double().sort(dim=-1, descending=True, stable=True)
    keep = 1 if options.temperature == 0 else options.top_k or ordered.shape[1]
    # relative to the most probable, whose 0 stays 0 under the smallest temperature
    scaled = ordered if options.temperature == 0 else (ordered - ordered[:, :1]) / options.temperature
    rank = torch.arange(ordered.shape[1], device=ordered.device)
    probs = scaled.masked_fill(rank >= keep, NEVER).softmax(dim=-1)
    if options.top_p < 1:
        before = probs.cumsum(dim=-1) - probs  # the mass of all more probable words
        left_out = (before >= options.top_p - _ROUNDING) & (rank > 0)
        probs = probs.masked_fill(left_out, 0.0)
        probs = probs / probs.sum(dim=-1, keepdim=True)
    return probs, words


def sample(
    step: Step[S],
    state: S,
    previous: Tensor,
    *,
    seeds: Sequence[int | str],
    prompts: Sequence[Sequence[int]] | None = None,
    sampling: SamplingOptions | None = None,
    max_length: int = 100,
    alternatives: int = 5,
) -> Iterator[tuple[Choice | None, ...]]:
    """Yield the next token of every row, until all rows have ended.

    Padding and BOS are never sampled. A row ends with EOS, or without one at its limit.

    Args:
        step: a language model's, or a decoder's with its source bound.
        state: before the first token, R rows.
        previous: y_0, (R,), mostly BOS.
        seeds: one for each row; a row's tokens depend on its seed and on nothing of the other rows.
        prompts: for each row the tokens it starts with; they are yielded first, as given.
        sampling: temperature, top-k and top-p; the model's own distribution if None.
        max_length: the most tokens sampled per row, EOS counted.
        alternatives: how many to report with each token.

    Yields:
        One `Choice` for each row; None for a row that has ended.

    Raises:
        ConfigError: the number of seeds or prompts is not the number of rows, or a number is out of range.
    """
    rows = len(previous)
    prompts = [()] * rows if prompts is None else prompts
    for name, given in (("seeds", seeds), ("prompts", prompts)):
        if len(given) != rows:
            raise ConfigError(f"{len(given)} {name} for {rows} rows; give one for each row")
    in_range("max_length", max_length, 1, MAX_TOKENS)
    in_range("alternatives", alternatives, 0, 1000)
    generators = [random.Random(seed) for seed in seeds]
    return _steps(
        step, state, previous, generators, prompts, sampling or SamplingOptions(), max_length, alternatives
    )


@torch.inference_mode()
def _steps(
    step: Step[S],
    state: S,
    previous: Tensor,
    generators: Sequence[random.Random],
    prompts: Sequence[Sequence[int]],
    sampling: SamplingOptions,
    max_length: int,
    alternatives: int,
) -> Iterator[tuple[Choice | None, ...]]:
    rows = range(len(previous))
    alive = [True] * len(rows)
    for t in count():
        logits, state = step(previous, state)
        log_probs = logits.double().log_softmax(dim=-1)  # (R, V)
        allowed = log_probs.clone()
        allowed[:, [PAD, BOS]] = NEVER
        distribution = sampling_distribution(sampling, allowed)
        most_probable = _most_probable(allowed, *distribution, alternatives)
        # a random number is used only where a token is sampled, so that a row's tokens are its own
        sampled = [alive[row] and t >= len(prompts[row]) for row in rows]
        numbers = [generators[row].random() if sampled[row] else 0.0 for row in rows]
        words, probabilities = sample_words(*distribution, numbers)
        for row in rows:
            if not sampled[row]:  # a word of the prompt; past it, for a row that has ended, any
                words[row] = prompts[row][t] if t < len(prompts[row]) else EOS
        previous = torch.tensor(words, device=log_probs.device)
        values = log_probs.gather(1, previous.unsqueeze(1)).squeeze(1).tolist()
        choices = [
            Choice(
                words[row],
                values[row],
                probabilities[row] if sampled[row] else 1.0,
                most_probable[row],
                not sampled[row],
            )
            if alive[row]
            else None
            for row in rows
        ]
        yield tuple(choices)
        for row in rows:
            ended = sampled[row] and (words[row] == EOS or t + 1 == len(prompts[row]) + max_length)
            alive[row] = alive[row] and not ended
        if not any(alive):
            return


def _most_probable(
    allowed: Tensor, probs: Tensor, words: Tensor, number: int
) -> list[tuple[Alternative, ...]]:
    """For each row the most probable allowed tokens, best first, at most `number` of them.

    Args:
        allowed: (R, V), the model's log-probabilities.
        probs: (R, V), what is sampled from, in the order of `words`, which is the model's own.
        words: (R, V).
        number: how many.
    """
    first = words[:, :number]
    rows = zip(first.tolist(), allowed.gather(1, first).tolist(), probs[:, :number].tolist(), strict=True)
    return [
        tuple(Alternative(*token) for token in zip(*row, strict=True) if token[1] > NEVER) for row in rows
    ]


def sample_words(probs: Tensor, words: Tensor, numbers: Sequence[float]) -> tuple[list[int], list[float]]:
    """Sample a token for each row, and give its probability.

    Args:
        probs: (R, V), each row summing to 1.
        words: (R, V), the tokens they belong to.
        numbers: one for each row, uniform from 0 to below 1; the token is the first at which Σ probs exceeds it.
    """
    bounds = torch.tensor(numbers, dtype=probs.dtype, device=probs.device).unsqueeze(1)
    places = torch.searchsorted(probs.cumsum(dim=-1), bounds, right=True)  # (R, 1)
    # a sum may be slightly below 1; the last word with any probability takes the rest
    places = places.minimum(probs.count_nonzero(dim=-1).unsqueeze(1) - 1)
    return words.gather(1, places).squeeze(1).tolist(), probs.gather(1, places).squeeze(1).tolist()


def sampled_rows(steps: Iterable[Sequence[Choice | None]]) -> list[tuple[Choice, ...]]:
    """Each row's words, from what `sample` yields."""
    return [tuple(choice for choice in row if choice is not None) for row in zip(*list(steps), strict=True)]


@torch.inference_mode()
def sample_outputs(
    decoder: Stepper,
    encoded: EncodedSource,
    sampling: SamplingOptions,
    seeds: Sequence[Sequence[int | str]],
    options: SearchOptions = DEFAULT_SEARCH,
    constraints: Sequence[TokenConstraints] | None = None,
) -> list[SearchResult]:
    """Sample outputs of every sentence.

    A sentence leaves the batch when all its outputs have ended.

    Args:
        decoder: the model's decoder, or any object with its `initial_state` and `step`.
        encoded: the sources, B of them.
        sampling: temperature, top-k and top-p.
        seeds: for each sentence the seeds of its outputs, the same number for each.
        options: limits and what may not be chosen; the beam is not used.
        constraints: the constraints on each sentence's outputs; None for none.

    Raises:
        ConfigError: phrases to include, or coverage, which need a beam; a prefix longer than the limit.
        DataError: the model has diverged.
    """
    if options.coverage or any(each.include for each in constraints or ()):
        name = "coverage" if options.coverage else "include"
        raise ConfigError(f"{name}: sampling word by word cannot guarantee it; search with a beam")
    slots = len(seeds[0])
    source_lengths: Ids = encoded.mask.sum(dim=1).cpu().numpy()
    limits = length_limits(encoded.mask, options)
    check_limits(constraints or (), limits)
    forced = ForcedAttention(constraints or (), source_lengths)
    device = encoded.mask.device
    rows = torch.arange(len(seeds), device=device).repeat_interleave(slots)
    state = decoder.initial_state(encoded).select(rows)
    previous = torch.full((len(rows),), BOS, device=device)  # y_0
    output = decoder.step(previous, state, forced.apply(0, encoded, np.arange(len(seeds))))
    if output.alpha is None and forced.steps:
        raise ConfigError("attend: this model does not attend to its source; leave it out")
    vocabulary = VocabularyMap(getattr(decoder, "words", None), output.logits.shape[1])
    rules = TokenRules(options, constraints, source_lengths - 1, limits, vocabulary)
    samples = _Samples(sampling, rules, vocabulary, FinishedHypotheses(options, limits), seeds)
    for t in count():
        remaining = samples.advance(t, output)
        if len(remaining) == 0:
            return samples.results(source_lengths)
        state = output.state
        if len(remaining) < len(encoded.mask):
            encoded = encoded.select(torch.from_numpy(remaining).to(device))
            state = state.select(torch.from_numpy(_rows(remaining, slots)).to(device))
        previous = torch.from_numpy(samples.tokens[:, -1].copy()).to(device)
        output = decoder.step(previous, state, forced.apply(t + 1, encoded, samples.sentences))
    raise AssertionError("a limit ends every output")


class _Samples:
    """Outputs between two steps; a row is one output, and those of a sentence are side by side.

    Attributes:
        sentences: (B,), whose outputs the rows are.
        tokens: (R, t), their tokens so far; after its end an output is filled with EOS.
    """

    def __init__(
        self,
        sampling: SamplingOptions,
        rules: TokenRules,
        vocabulary: VocabularyMap,
        finished: FinishedHypotheses,
        seeds: Sequence[Sequence[int | str]],
    ) -> None:
        self._sampling, self._rules, self._vocabulary, self._finished = sampling, rules, vocabulary, finished
        self._slots = len(seeds[0])
        self._generators = [random.Random(seed) for of_sentence in seeds for seed in of_sentence]
        self._ends: list[HypothesisEnd | None] = [None] * len(self._generators)
        self._backpointers = Backpointers()
        self.sentences: Ids = np.arange(len(seeds))
        self.tokens: Ids = np.empty((len(self._generators), 0), dtype=np.int64)
        self._totals = np.zeros(len(self._generators))  # of all outputs, as are `_generators` and `_ends`

    def advance(self, step: int, output: StepOutput) -> Ids:
        """Sample a token for each row; return which of the batch's sentences go on."""
        log_probs = output.logits.double().log_softmax(dim=-1)  # (R, V)
        outputs = _rows(self.sentences, self._slots)  # (R,), which of all outputs the rows are
        rules = self._rules.for_step(step, self.sentences, self.tokens, None)
        columns = self._sample_columns(log_probs, rules, outputs)
        places = torch.from_numpy(columns).to(log_probs.device).unsqueeze(1)
        values = log_probs.gather(1, places).squeeze(1).cpu().numpy()
        words = self._vocabulary.ids(columns)
        self._backpointers.add_alpha(output.alpha)
        self._totals[outputs] += values
        for row in np.flatnonzero(words == EOS).tolist():
            number = int(outputs[row])
            if self._ends[number] is None:
                score = self._finished.score(float(self._totals[number]), step + 1, None)
                self._ends[number] = HypothesisEnd(step, row, float(values[row]), score)
        alive = np.array([self._ends[number] is None for number in outputs.tolist()])
        words[~alive] = EOS
        remaining = np.flatnonzero(alive.reshape(-1, self._slots).any(axis=1))
        rows = _rows(remaining, self._slots)
        self._backpointers.add_step(rows, words[rows], values[rows])
        self.sentences = self.sentences[remaining]
        self.tokens = np.concatenate([self.tokens[rows], words[rows, None]], axis=1)
        return remaining

    def _sample_columns(self, log_probs: Tensor, rules: StepRules, outputs: Ids) -> Ids:
        """The column that each row samples, or is forced to choose, (R,)."""
        allowed = log_probs.clone()
        allowed[:, self._rules.always_banned] = NEVER
        allowed.view(-1)[torch.from_numpy(rules.banned).to(allowed.device)] = NEVER
        numbers = [self._generators[number].random() for number in outputs.tolist()]
        distribution = sampling_distribution(self._sampling, allowed)
        columns = np.array(sample_words(*distribution, numbers)[0], dtype=np.int64)
        if rules.forced is not None:
            for row in np.flatnonzero(rules.forced >= 0).tolist():
                columns[row] = self._vocabulary.column(int(rules.forced[row]))
        return columns

    def results(self, source_lengths: Ids) -> list[SearchResult]:
        """The outputs of each sentence, in the order of its seeds."""
        ends = [end for end in self._ends if end is not None]
        for number, end in enumerate(ends):
            if math.isnan(end.score):
                raise diverged(number // self._slots)
        hypotheses = self._backpointers.trace(ends, source_lengths.repeat(self._slots).tolist())
        starts = range(0, len(hypotheses), self._slots)
        return [SearchResult(tuple(hypotheses[start : start + self._slots])) for start in starts]


def _rows(sentences: Ids, slots: int) -> Ids:
    """The rows of some sentences, side by side."""
    rows: Ids = (sentences[:, None] * slots + np.arange(slots)).reshape(-1)
    return rows
