"""Sampling: words drawn one at a time from what a model says may follow, many rows at once, watched as they grow.

In: anything that steps, its state, and a seed for each row. Out: what was chosen at each step, step by step, with
what might have been chosen instead. Each row draws from a generator of its own, so that its company changes nothing.
Rows that have ended stay in the batch, unheeded, until all have: a state is passed on and never looked into.

Outputs drawn word by word from what a decoder says may follow, many sentences and several draws of each at a time.

In: a decoder, encoded sources, how words are drawn, and a seed for each output. Out: for each sentence its outputs in
the order of their seeds. The rules of beam search hold: limits, blocking, prefixes, excluded phrases, attention that is
told where to look. Log-probabilities are the model's own, whatever the temperature. An output depends on its seed and
on nothing else of the batch; a sentence leaves it when all its outputs have ended.
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
from regard.errors import ConfigError, DataError
from regard.models.state import EncodedSource, StepOutput, Stepper
from regard.search.constraints import ForcedAttention, Rules, Ruling, TokenConstraints
from regard.search.hypotheses import End, Finished, Record
from regard.search.options import SearchOptions, begin, only_legal
from regard.search.phrases import check_room
from regard.search.trace import SearchResult
from regard.search.vocabulary_map import Ids, VocabularyMap
from regard.text.specials import EOS

S = TypeVar("S")
Step = Callable[[Tensor, S], tuple[Tensor, S]]
"""(previous ids (R,), state) → (logits (R, V), state)."""

# rounding in a sum of probabilities, which must not let one more word in
_ROUNDING = 1e-12


class Alternative(NamedTuple):
    """A word that might have been chosen.

    Attributes:
        id: the word.
        log_prob: the model's, given the words before it.
        probability: with which it might have been drawn; 0 for a word that top-k or top-p left out.
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
        probability: with which it was drawn: under temperature, top-k and top-p; 1 for a prompt's word.
        alternatives: the words likeliest by the model, best first; the chosen one may be among them.
        given: whether it is the prompt's, not drawn.
    """

    id: int
    log_prob: float
    probability: float
    alternatives: tuple[Alternative, ...]
    given: bool


@dataclass(frozen=True)
class SamplingOptions:
    """How a word is drawn: first the temperature, then top-k, then top-p, each of what the one before left.

    Attributes:
        temperature: divides the logits; 0 always takes the likeliest word.
        top_k: only the k likeliest may be drawn; 0 for any.
        top_p: only the fewest likeliest words whose probabilities together reach p may be drawn; 1 for any.
    """

    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0

    def __post_init__(self) -> None:
        in_range("temperature", self.temperature, 0, below=math.inf)
        in_range("top_k", self.top_k, 0)
        in_range("top_p", self.top_p, 0, 1)

    def distribution(self, log_probs: Tensor) -> tuple[Tensor, Tensor]:
        """What is drawn from.

        Args:
            log_probs: (R, V), −∞ at what may not be drawn.

        Returns:
            Probabilities (R, V) in falling order, float64, each row summing to 1; and the words they belong
            to, (R, V). Of equally likely words the one with the smaller id stands first.
        """
        ordered, words = log_probs.double().sort(dim=-1, descending=True, stable=True)
        keep = 1 if self.temperature == 0 else self.top_k or ordered.shape[1]
        # from the likeliest, whose 0 stays 0 under the smallest temperature
        scaled = ordered if self.temperature == 0 else (ordered - ordered[:, :1]) / self.temperature
        rank = torch.arange(ordered.shape[1], device=ordered.device)
        probs = scaled.masked_fill(rank >= keep, float("-inf")).softmax(dim=-1)
        if self.top_p < 1:
            before = probs.cumsum(dim=-1) - probs  # the mass of all likelier words
            left_out = (before >= self.top_p - _ROUNDING) & (rank > 0)
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
    """Yield the next word of every row, until all rows have ended.

    Padding and the begin mark are never drawn. A row ends with the end mark, or unended at its limit.

    Args:
        step: a language model's, or a decoder's with its source bound.
        state: before the first word, R rows.
        previous: y_0, (R,), mostly begin marks.
        seeds: one for each row; a row's words depend on its seed and on nothing of the other rows.
        prompts: for each row the words it starts with; they are yielded first, as given.
        sampling: how words are drawn; plainly from the model's probabilities if None.
        max_length: the most words drawn for a row, the end mark counted.
        alternatives: how many to report with each word.

    Yields:
        One `Choice` for each row; None for a row that has ended.

    Raises:
        ConfigError: there are not as many seeds or prompts as rows, or a number is out of range.
    """
    rows = len(previous)
    prompts = [()] * rows if prompts is None else prompts
    for name, given in (("seeds", seeds), ("prompts", prompts)):
        if len(given) != rows:
            raise ConfigError(f"{len(given)} {name} for {rows} rows; give one for each row")
    in_range("max_length", max_length, 1)
    in_range("alternatives", alternatives, 0)
    rngs = [random.Random(seed) for seed in seeds]
    return _steps(
        step, state, previous, rngs, prompts, sampling or SamplingOptions(), max_length, alternatives
    )


@torch.inference_mode()
def _steps(
    step: Step[S],
    state: S,
    previous: Tensor,
    rngs: Sequence[random.Random],
    prompts: Sequence[Sequence[int]],
    sampling: SamplingOptions,
    max_length: int,
    alternatives: int,
) -> Iterator[tuple[Choice | None, ...]]:
    rows = len(previous)
    alive = [True] * rows
    for t in count():
        logits, state = step(previous, state)
        log_probs = logits.double().log_softmax(dim=-1)  # (R, V)
        legal = only_legal(log_probs, torch.zeros(rows, dtype=torch.bool, device=log_probs.device))
        distribution = sampling.distribution(legal)
        likeliest = _likeliest(legal, *distribution, alternatives)
        # a chance is spent only where a word is drawn, so that a row's draws are its own
        drawn = [alive[row] and t >= len(prompts[row]) for row in range(rows)]
        chances = [rng.random() if one else 0.0 for rng, one in zip(rngs, drawn, strict=True)]
        words, probabilities = sample_words(*distribution, chances)
        words = [
            word if one else _given(prompts[row], t)
            for row, (word, one) in enumerate(zip(words, drawn, strict=True))
        ]
        previous = torch.tensor(words, device=log_probs.device)
        values = log_probs.gather(1, previous.unsqueeze(1)).squeeze(1).tolist()
        choices = [
            Choice(
                words[row],
                values[row],
                probabilities[row] if drawn[row] else 1.0,
                likeliest[row],
                not drawn[row],
            )
            if alive[row]
            else None
            for row in range(rows)
        ]
        yield tuple(choices)
        for row in range(rows):
            ended = drawn[row] and (words[row] == EOS or t + 1 == len(prompts[row]) + max_length)
            alive[row] = alive[row] and not ended
        if not any(alive):
            return


def _given(prompt: Sequence[int], t: int) -> int:
    """A prompt's word; past it, for a row that has ended, the end mark, which nobody looks at."""
    return prompt[t] if t < len(prompt) else EOS


def _likeliest(legal: Tensor, probs: Tensor, words: Tensor, number: int) -> list[tuple[Alternative, ...]]:
    """For each row the words that may be chosen, likeliest first, at most `number` of them.

    Args:
        legal: (R, V), the model's log-probabilities.
        probs: (R, V), what is drawn from, in the order of `words`, which is the model's own.
        words: (R, V).
        number: how many.
    """
    first = words[:, :number]
    rows = zip(first.tolist(), legal.gather(1, first).tolist(), probs[:, :number].tolist(), strict=True)
    return [
        tuple(Alternative(*one) for one in zip(*row, strict=True) if one[1] > float("-inf")) for row in rows
    ]


def sample_words(probs: Tensor, words: Tensor, chances: Sequence[float]) -> tuple[list[int], list[float]]:
    """For each row the word at which the running sum of probabilities first exceeds its chance, 0 to below 1."""
    bounds = torch.tensor(chances, dtype=probs.dtype, device=probs.device).unsqueeze(1)
    places = torch.searchsorted(probs.cumsum(dim=-1), bounds, right=True)  # (R, 1)
    # a sum may stop a hair short of 1; the last word with any probability takes what is left
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
    options: SearchOptions | None = None,
    constraints: Sequence[TokenConstraints] | None = None,
) -> list[SearchResult]:
    """Draw outputs of every sentence.

    Args:
        decoder: the model's decoder, or anything that steps like one.
        encoded: the sources, B of them.
        sampling: how a word is drawn.
        seeds: for each sentence the seeds of its outputs, as many of each.
        options: limits and what may not be chosen; the beam and how it ranks are not asked for.
        constraints: what is asked of each sentence's outputs; None for nothing.

    Raises:
        ConfigError: phrases to include, or coverage, which only a beam can weigh; a prefix longer than the limit.
        DataError: the model has diverged.
    """
    options = options or SearchOptions()
    if options.coverage or any(constraints.include for constraints in constraints or ()):
        what = "coverage" if options.coverage else "include"
        raise ConfigError(
            f"{what}: words that are drawn one by one cannot be made to meet it; search with a beam"
        )
    slots = len(seeds[0])
    source_lengths: Ids = encoded.mask.sum(dim=1).cpu().numpy()
    limits: Ids = options.limit.of(encoded.mask).cpu().numpy()
    check_room(constraints or (), limits)
    looking = ForcedAttention(constraints, source_lengths)
    everyone = torch.arange(len(seeds), device=encoded.mask.device).repeat_interleave(slots)
    state, previous = decoder.initial_state(encoded).select(everyone), begin(encoded.mask)[everyone]
    output = decoder.step(previous, state, looking.at(0, encoded, np.arange(len(seeds))))
    if output.alpha is None and looking.steps:
        raise ConfigError("attend: this model does not attend to its source; leave it out")
    columns = VocabularyMap(getattr(decoder, "words", None), output.logits.shape[1])
    rules = Rules(options, constraints, source_lengths - 1, limits, columns)
    draws = _Draws(sampling, rules, columns, Finished(options, limits), seeds)
    for t in count():
        stayed = draws.choose(t, output)
        if len(stayed) == 0:
            return draws.found(source_lengths)
        state = output.state
        if len(stayed) < len(encoded.mask):
            encoded = encoded.select(torch.from_numpy(stayed).to(encoded.mask.device))
            state = state.select(torch.from_numpy(_rows_of(stayed, slots)).to(encoded.mask.device))
        previous = torch.from_numpy(draws.written[:, -1].copy()).to(encoded.mask.device)
        output = decoder.step(previous, state, looking.at(t + 1, encoded, draws.sentences))
    raise AssertionError("a limit ends every output")


class _Draws:
    """Outputs between two steps; a row is one output, and those of a sentence stand side by side.

    Attributes:
        sentences: (B,), whose outputs the rows are.
        written: (R, t), their words so far; after its end an output's words are end marks that nobody looks at.
    """

    def __init__(
        self,
        sampling: SamplingOptions,
        rules: Rules,
        columns: VocabularyMap,
        finished: Finished,
        seeds: Sequence[Sequence[int | str]],
    ) -> None:
        self._sampling, self._rules, self._columns, self._finished = sampling, rules, columns, finished
        self._slots = len(seeds[0])
        self._chances = [random.Random(seed) for each in seeds for seed in each]
        self._ends: list[End | None] = [None] * len(self._chances)
        self._record = Record()
        self.sentences: Ids = np.arange(len(seeds))
        self.written: Ids = np.empty((len(self._chances), 0), dtype=np.int64)
        self._totals = np.zeros(len(self._chances))  # of all outputs, as are `_chances` and `_ends`

    def choose(self, step: int, output: StepOutput) -> Ids:
        """Draw a word for each row; return which of the batch's sentences go on."""
        log_probs = output.logits.double().log_softmax(dim=-1)  # (R, V)
        mine = _rows_of(self.sentences, self._slots)  # (R,), which outputs these are
        chosen = self._columns_of(log_probs, self._rules.at(step, self.sentences, self.written, None), mine)
        places = torch.from_numpy(chosen).to(log_probs.device).unsqueeze(1)
        values = log_probs.gather(1, places).squeeze(1).cpu().numpy()
        words = self._columns.ids(chosen)
        self._record.looked(output.alpha)
        self._totals[mine] += values
        for row in np.flatnonzero(words == EOS).tolist():
            own = int(mine[row])
            if self._ends[own] is None:
                score = self._finished.score(float(self._totals[own]), step + 1, None)
                self._ends[own] = End(step, row, float(values[row]), score)
        alive = np.array([self._ends[own] is None for own in mine.tolist()])
        words[~alive] = EOS
        stayed = np.flatnonzero(alive.reshape(-1, self._slots).any(axis=1))
        rows = _rows_of(stayed, self._slots)
        self._record.went_on(rows, words[rows], values[rows])
        self.sentences = self.sentences[stayed]
        self.written = np.concatenate([self.written[rows], words[rows, None]], axis=1)
        return stayed

    def _columns_of(self, log_probs: Tensor, ruling: Ruling, outputs: Ids) -> Ids:
        """The column that each row draws, or must choose, (R,)."""
        legal = log_probs.clone()
        legal[:, self._rules.never] = float("-inf")
        legal.view(-1)[torch.from_numpy(ruling.banned).to(legal.device)] = float("-inf")
        chances = [self._chances[own].random() for own in outputs.tolist()]
        chosen = np.array(sample_words(*self._sampling.distribution(legal), chances)[0], dtype=np.int64)
        if ruling.forced is not None:
            for row in np.flatnonzero(ruling.forced >= 0).tolist():
                chosen[row] = self._columns.of(int(ruling.forced[row]))
        return chosen

    def found(self, source_lengths: Ids) -> list[SearchResult]:
        """What was drawn for each sentence, in the order of its seeds."""
        ends = [end for end in self._ends if end is not None]
        for own, end in enumerate(ends):
            if math.isnan(end.score):
                raise DataError(
                    f"sentence {own // self._slots + 1}: no output has a probability: the model's numbers are not "
                    "finite; train it again, or take an earlier checkpoint"
                )
        hypotheses = self._record.trace(ends, source_lengths.repeat(self._slots).tolist())
        starts = range(0, len(hypotheses), self._slots)
        return [SearchResult(tuple(hypotheses[start : start + self._slots])) for start in starts]


def _rows_of(sentences: Ids, slots: int) -> Ids:
    """The rows of some sentences, side by side."""
    rows: Ids = (sentences[:, None] * slots + np.arange(slots)).reshape(-1)
    return rows
