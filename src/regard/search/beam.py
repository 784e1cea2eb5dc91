"""Beam search: the K best beginnings at each step, many sentences at a time.

In: a decoder and an encoded source. Out: for each sentence its n best hypotheses, each with its own attention. The beam
of a sentence narrows as its hypotheses finish (K alive and finished together), so that a beam of 1 is greedy search and
a beam as wide as the space is exhaustive. A sentence leaves the batch when its beam is used up, or when no living
hypothesis can still reach its n best. The hypotheses of a sentence share one copy of the source.

The device steps the decoder and finds each row's likeliest words. What is chosen among them is a matter of a few
numbers a sentence, and is decided on the host: a row is a slot of a sentence, the slots of a sentence stand side by
side, and log p is −∞ where a slot is empty because another sentence has more hypotheses alive.

The one door to searching: a decoder and encoded sources in, for each sentence what was found out.
"""

from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from regard.errors import ConfigError, DataError
from regard.models.state import EncodedSource, StepOutput, Stepper
from regard.search.constraints import Flags, ForcedAttention, Rules, TokenConstraints
from regard.search.hypotheses import Coverage, End, Finished, Floats, Record
from regard.search.options import SearchOptions, begin
from regard.search.phrases import Inclusion, check_room
from regard.search.top_k import TopK
from regard.search.trace import SearchResult, Seen, Tree, Weighed
from regard.search.vocabulary_map import Ids, VocabularyMap
from regard.text.specials import EOS

_NEVER = float("-inf")


@torch.inference_mode()
def beam(
    decoder: Stepper,
    encoded: EncodedSource,
    options: SearchOptions,
    constraints: Sequence[TokenConstraints] | None,
    *,
    history: bool,
) -> list[SearchResult]:
    """Search with a beam; see `search`."""
    source_lengths: Ids = encoded.mask.sum(dim=1).cpu().numpy()
    limits: Ids = options.limit.of(encoded.mask).cpu().numpy()
    check_room(constraints or (), limits)
    looking = ForcedAttention(constraints, source_lengths)
    state, previous = decoder.initial_state(encoded), begin(encoded.mask)
    output = decoder.step(previous, state, looking.at(0, encoded, np.arange(len(source_lengths))))
    if output.alpha is None and (options.coverage or looking.steps):
        what = "coverage" if options.coverage else "attend"
        raise ConfigError(f"{what}: this model does not attend to its source; leave it out")
    columns = VocabularyMap(getattr(decoder, "words", None), output.logits.shape[1])
    search = _Search(options, constraints, source_lengths, limits, columns, history)
    for t in range(int(limits.max())):
        rows = search.weigh(t, output)
        if rows is None:
            break
        device = encoded.mask.device
        state = output.state
        if rows.moved is not None:
            state = state.select(torch.from_numpy(rows.moved).to(device))
        if rows.stayed is not None:
            encoded = encoded.select(torch.from_numpy(rows.stayed).to(device))
        previous = torch.from_numpy(rows.tokens).to(device)
        output = decoder.step(previous, state, looking.at(t + 1, encoded, search.sentences))
    return search.found()


class _Rows(NamedTuple):
    """What the next step is given.

    Attributes:
        tokens: (R′,), the words chosen.
        moved: (R′,), the rows they go on from; None where each goes on from its own.
        stayed: (B′,), which sentences of the batch go on; None where all do.
    """

    tokens: Ids
    moved: Ids | None
    stayed: Ids | None


class _Search:
    """A search between two steps.

    Attributes:
        sentences: (B,), whose slots the rows are.
        totals: (B, slots), log p of each living hypothesis.
    """

    def __init__(
        self,
        options: SearchOptions,
        constraints: Sequence[TokenConstraints] | None,
        source_lengths: Ids,
        limits: Ids,
        columns: VocabularyMap,
        history: bool,
    ) -> None:
        self.sentences: Ids = np.arange(len(limits))
        self.totals: Floats = np.zeros((len(limits), 1))
        self._written: Ids = np.empty((len(limits), 0), dtype=np.int64)  # (R, t), where a rule must know them
        self._width, self._source_lengths, self._constraints = options.beam, source_lengths, constraints
        self._rules = Rules(options, constraints, source_lengths - 1, limits, columns)
        self._inclusion = Inclusion.of(constraints, limits)
        # a history tells of what nearly had a place, too; of phrases, not every word leaves room for them
        weighed = 2 * options.beam if history or self._inclusion is not None else options.beam
        self._likeliest = TopK(columns, self._rules.never, self._rules.end, weighed)
        self._finished, self._record = Finished(options, limits), Record()
        self._coverage = Coverage(source_lengths) if options.coverage else None
        self._tree = Tree(self._finished, source_lengths, options.beam) if history else None

    def weigh(self, step: int, output: StepOutput) -> _Rows | None:
        """Decide on a step: what is chosen, what has ended, and what goes on; None where nothing does."""
        log_probs, words = self._words(step, output.logits)  # (R, k)
        self._record.looked(output.alpha)
        if self._coverage is not None and output.alpha is not None:
            self._coverage.add(output.alpha)
        candidates = (self.totals.reshape(-1, 1) + log_probs).reshape(len(self.sentences), -1)  # (B, slots·k)
        places, totals = self._choose(step, candidates, words)  # (B, K)
        tokens = words.reshape(-1)[places]
        ended = tokens == EOS
        ending = np.count_nonzero(ended) > 0
        if ending:
            ended &= totals > _NEVER
            self._close(step, places, ended, totals, log_probs)
        if self._tree is not None:
            kept = (totals > _NEVER) & ~ended
            self._tree.add(
                Weighed(
                    step,
                    self.sentences,
                    candidates,
                    words,
                    log_probs,
                    self._seen(output),
                    places,
                    kept,
                    ended,
                )
            )
        if ending:
            totals[ended] = _NEVER
        return self._go_on(places, totals, tokens, log_probs)

    def _words(self, step: int, logits: Tensor) -> tuple[Floats, Ids]:
        """The words weighed after each row, (R, k)."""
        if self._inclusion is None:
            if self._rules.silent(step):
                return self._likeliest.of(logits)
            if self._rules.unending(step):
                return self._likeliest.of(logits, ending=False)
        written = self._written if self._rules.remembers else np.empty((logits.shape[0], 0), dtype=np.int64)
        if self._inclusion is None:
            return self._likeliest.under(logits, self._rules.at(step, self.sentences, written, None), ())
        ruling = self._rules.at(step, self.sentences, written, self._inclusion.unfinished(self.sentences))
        return self._likeliest.under(logits, ruling, self._inclusion.wanted(self.sentences))

    def _choose(self, step: int, candidates: Floats, words: Ids) -> tuple[Ids, Floats]:
        """The places (row · k + rank) of the best candidates, and log p of each; −∞ where there is none, (B, K)."""
        batch, width = candidates.shape
        places = (-candidates).argsort(axis=1, kind="stable")[:, : self._width]
        if batch > 1:
            places += np.arange(0, batch * width, width)[:, None]
        totals = candidates.reshape(-1)[places]
        if self._inclusion is None and not self._finished.some:
            return places, totals
        room = self._width - self._finished.number[self.sentences]  # (B,)
        if self._inclusion is not None:
            taken = self._inclusion.choose(step, self.sentences, candidates, words.reshape(batch, -1), room)
            for k, mine in taken.items():
                places[k, : len(mine)] = np.array(mine, dtype=np.int64) + k * width
                totals[k, : len(mine)] = candidates[k, mine]
                totals[k, len(mine) :] = _NEVER
        totals[np.arange(totals.shape[1]) >= room[:, None]] = _NEVER
        return places, totals

    def _close(self, step: int, places: Ids, ended: Flags, totals: Floats, log_probs: Floats) -> None:
        """Keep those that have chosen the end mark."""
        for k, slot in zip(*(axis.tolist() for axis in ended.nonzero()), strict=True):
            b = self.sentences.item(k)
            row, rank = divmod(places.item(k, slot), log_probs.shape[1])
            covered = None if self._coverage is None else self._coverage.of(row, b)
            score = self._finished.score(totals.item(k, slot), step + 1, covered)
            self._finished.add(b, End(step, row, log_probs.item(row, rank), score))

    def _seen(self, output: StepOutput) -> Seen:
        """What a history shows of the attention."""
        alpha = None if output.alpha is None else output.alpha.float().cpu().numpy()
        return Seen(alpha, None if self._coverage is None else self._coverage.host())

    def _go_on(self, places: Ids, totals: Floats, tokens: Ids, log_probs: Floats) -> _Rows | None:
        """The rows of the next step: of the sentences still searched, as many slots as the fullest of them needs."""
        num_rows, width = log_probs.shape
        stayed = None
        if self._finished.some or np.count_nonzero(totals == _NEVER):
            searching = totals.max(axis=1) > self._finished.needed[self.sentences]  # (B,)
            if not searching.all():
                stayed = np.flatnonzero(searching)
                if len(stayed) == 0:
                    return None
                self.sentences = self.sentences[stayed]
                places, totals, tokens = places[stayed], totals[stayed], tokens[stayed]
            alive = totals > _NEVER
            slots = alive.sum(axis=1).max()
            if slots < totals.shape[1]:
                order = (~alive).argsort(axis=1, kind="stable")[:, :slots]
                sentence = np.arange(len(order))[:, None]
                places, totals, tokens = (
                    places[sentence, order],
                    totals[sentence, order],
                    tokens[sentence, order],
                )
        self.totals = totals
        places, tokens = places.reshape(-1), tokens.reshape(-1)
        parents = places // width
        self._record.went_on(parents, tokens, log_probs.reshape(-1)[places])
        self._remember(parents, places, tokens)
        still = len(parents) == num_rows and np.count_nonzero(parents != np.arange(num_rows)) == 0
        return _Rows(tokens, None if still else parents, stayed)

    def _remember(self, parents: Ids, places: Ids, tokens: Ids) -> None:
        """Take along what the options in use must know of each row."""
        if self._rules.remembers:
            self._written = np.concatenate([self._written[parents], tokens[:, None]], axis=1)
        if self._inclusion is not None:
            self._inclusion.go_on(self.sentences, parents, tokens)
        if self._coverage is not None:
            self._coverage.select(parents)
        if self._tree is not None:
            self._tree.go_on(places)

    def found(self) -> list[SearchResult]:
        """What was found for each sentence, best first.

        Raises:
            ConfigError: a sentence has no output that keeps to all that is asked of it.
            DataError: the model has diverged.
        """
        ends = [self._finished.best(b) for b in range(len(self._source_lengths))]
        for b, mine in enumerate(ends):
            if not mine and self._constraints is not None and self._constraints[b].asks_of_words:
                raise ConfigError(
                    f"{self._constraints[b].name or f'sentence {b + 1}'}: no output was found that keeps to all that is "
                    "asked of it; ask for less, or raise the limit or the beam's width"
                )
            if not mine:
                raise DataError(
                    f"sentence {b + 1}: no output has a probability: the model's numbers are not finite; train it "
                    "again, or take an earlier checkpoint"
                )
        lengths = [int(self._source_lengths[b]) for b, mine in enumerate(ends) for _ in mine]
        hypotheses = iter(self._record.trace([end for mine in ends for end in mine], lengths))
        histories = [None] * len(ends) if self._tree is None else self._tree.histories()
        return [
            SearchResult(tuple(islice(hypotheses, len(mine))), history)
            for mine, history in zip(ends, histories, strict=True)
        ]


def search(
    decoder: Stepper,
    encoded: EncodedSource,
    options: SearchOptions | None = None,
    constraints: Sequence[TokenConstraints] | None = None,
    *,
    history: bool = False,
) -> list[SearchResult]:
    """Search for the best outputs of every sentence.

    Args:
        decoder: the model's decoder, or anything that steps like one.
        encoded: the sources, B of them.
        options: how to search.
        constraints: what is asked of each sentence's output, B of them; None for nothing.
        history: whether to record every hypothesis that had a place in the beam, and those that nearly had.

    Raises:
        ConfigError: there is not one constraints for each sentence; one cannot be met within the limit; or it asks for
            attention, or the options for coverage, and the model does not attend.
    """
    options = options or SearchOptions()
    if constraints is not None and len(constraints) != len(encoded.mask):
        raise ConfigError(
            f"{len(constraints)} constraints for {len(encoded.mask)} sentences; give one for each"
        )
    return beam(decoder, encoded, options, constraints, history=history)
