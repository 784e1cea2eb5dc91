"""Outputs drawn word by word from what a decoder says may follow, many sentences and several draws of each at a time.

In: a decoder, encoded sources, how words are drawn, and a seed for each output. Out: for each sentence its outputs in
the order of their seeds. The rules of beam search hold: limits, blocking, prefixes, excluded phrases, attention that is
told where to look. Log-probabilities are the model's own, whatever the temperature. An output depends on its seed and
on nothing else of the batch; a sentence leaves it when all its outputs have ended.
"""

import math
import random
from collections.abc import Sequence
from itertools import count

import numpy as np
import torch
from torch import Tensor

from regard.errors import ConfigError, DataError
from regard.models.state import EncodedSource, StepOutput
from regard.search.columns import Columns, Ids
from regard.search.finished import Finished
from regard.search.found import Found
from regard.search.inclusion import check_room
from regard.search.limits import begin
from regard.search.looking import Looking
from regard.search.options import SearchOptions
from regard.search.record import End, Record
from regard.search.request import Request
from regard.search.rules import Rules, Ruling
from regard.search.sample import Drawing, draw_words
from regard.search.stepper import Stepper
from regard.text.specials import EOS


@torch.inference_mode()
def draw(
    decoder: Stepper,
    encoded: EncodedSource,
    drawing: Drawing,
    seeds: Sequence[Sequence[int | str]],
    options: SearchOptions | None = None,
    requests: Sequence[Request] | None = None,
) -> list[Found]:
    """Draw outputs of every sentence.

    Args:
        decoder: the model's decoder, or anything that steps like one.
        encoded: the sources, B of them.
        drawing: how a word is drawn.
        seeds: for each sentence the seeds of its outputs, as many of each.
        options: limits and what may not be chosen; the beam and how it ranks are not asked for.
        requests: what is asked of each sentence's outputs; None for nothing.

    Raises:
        ConfigError: phrases to include, or coverage, which only a beam can weigh; a prefix longer than the limit.
        DataError: the model has diverged.
    """
    options = options or SearchOptions()
    if options.coverage or any(request.include for request in requests or ()):
        what = "coverage" if options.coverage else "include"
        raise ConfigError(
            f"{what}: words that are drawn one by one cannot be made to meet it; search with a beam"
        )
    slots = len(seeds[0])
    source_lengths: Ids = encoded.mask.sum(dim=1).cpu().numpy()
    limits: Ids = options.limit.of(encoded.mask).cpu().numpy()
    check_room(requests or (), limits)
    looking = Looking(requests, source_lengths)
    everyone = torch.arange(len(seeds), device=encoded.mask.device).repeat_interleave(slots)
    state, previous = decoder.initial_state(encoded).select(everyone), begin(encoded.mask)[everyone]
    output = decoder.step(previous, state, looking.at(0, encoded, np.arange(len(seeds))))
    if output.alpha is None and looking.steps:
        raise ConfigError("attend: this model does not attend to its source; leave it out")
    columns = Columns(getattr(decoder, "words", None), output.logits.shape[1])
    rules = Rules(options, requests, source_lengths - 1, limits, columns)
    draws = _Draws(drawing, rules, columns, Finished(options, limits), seeds)
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
        drawing: Drawing,
        rules: Rules,
        columns: Columns,
        finished: Finished,
        seeds: Sequence[Sequence[int | str]],
    ) -> None:
        self._drawing, self._rules, self._columns, self._finished = drawing, rules, columns, finished
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
        chosen = np.array(draw_words(*self._drawing.distribution(legal), chances)[0], dtype=np.int64)
        if ruling.forced is not None:
            for row in np.flatnonzero(ruling.forced >= 0).tolist():
                chosen[row] = self._columns.of(int(ruling.forced[row]))
        return chosen

    def found(self, source_lengths: Ids) -> list[Found]:
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
        return [Found(tuple(hypotheses[start : start + self._slots])) for start in starts]


def _rows_of(sentences: Ids, slots: int) -> Ids:
    """The rows of some sentences, side by side."""
    rows: Ids = (sentences[:, None] * slots + np.arange(slots)).reshape(-1)
    return rows
