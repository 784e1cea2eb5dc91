"""Beam search: the K best partial hypotheses at each step, many sentences at a time.

In: a decoder and an encoded source. Out: for each sentence its n best hypotheses, each with its attention. The beam
of a sentence narrows as its hypotheses finish (partial and finished ones together are K), so a beam of 1 is greedy
search and a beam as wide as the space is exhaustive. A sentence leaves the batch when its beam is used up, or when no
partial hypothesis can still reach its n best. The hypotheses of a sentence share one copy of the source.

On a GPU an ordinary search stays on the device (`on_device`, `graphs`), which `regard.ops.explain` tells. On a CPU,
and where a sentence has constraints, the device steps the decoder and finds the most probable tokens of each row. The
choice among them concerns a few numbers per sentence and is made on the host: a row is a slot of a sentence, the slots
of a sentence are side by side, and log p is −∞ where a slot is empty because another sentence has more partial
hypotheses. Knows no text.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from regard.errors import ConfigError
from regard.models.state import EncodedSource, StepOutput, Stepper
from regard.ops.backends import tell
from regard.ops.paths import fused_refused
from regard.search.candidates import TokenRules, TopK, VocabularyMap
from regard.search.constraints import ForcedAttention, TokenConstraints
from regard.search.graphs import Graphs
from regard.search.hypotheses import (
    NEVER,
    Backpointers,
    Coverage,
    FinishedHypotheses,
    Flags,
    Floats,
    HypothesisEnd,
    Ids,
    diverged,
    length_limits,
)
from regard.search.on_device import DeviceSearch, refuses
from regard.search.options import DEFAULT_SEARCH, SearchOptions
from regard.search.phrases import RequiredPhrases, check_limits
from regard.search.trace import HistoryRecorder, SearchResult, StepCandidates
from regard.text.specials import BOS, EOS

Watch = Callable[[int, tuple[int, ...]], None]
"""Called after each step with a sentence's number and the tokens of its most probable partial hypothesis."""


@torch.inference_mode()
def search(
    decoder: Stepper,
    encoded: EncodedSource,
    options: SearchOptions = DEFAULT_SEARCH,
    constraints: Sequence[TokenConstraints] | None = None,
    *,
    history: bool = False,
    watch: Watch | None = None,
) -> list[SearchResult]:
    """Search for the best outputs of every sentence.

    Args:
        decoder: the model's decoder, or any object with its `initial_state` and `step`.
        encoded: the sources, B of them.
        options: how to search.
        constraints: the constraints on each sentence's output, B of them; None for none.
        history: whether to record every partial hypothesis, and the best of those pruned.
        watch: called for each sentence that is still searched, after each step.

    Raises:
        ConfigError: the number of constraints is not the number of sentences; constraints cannot be met within the
            limit; attention is forced, or coverage is penalised, and the model does not attend.
        DataError: the model has diverged.
    """
    if constraints is not None and len(constraints) != len(encoded.mask):
        raise ConfigError(
            f"{len(constraints)} constraints for {len(encoded.mask)} sentences; give one for each"
        )
    reason = "" if encoded.mask.is_cuda else f"tensors are on {encoded.mask.device.type}"
    reason = (
        reason or fused_refused() or refuses(options, constraints, history=history, watched=watch is not None)
    )
    if not reason:
        return _search_on_device(decoder, encoded, options)
    tell("beam search", "host", dict.fromkeys(("CUDA graph", "device"), reason))
    return search_on_host(decoder, encoded, options, constraints, history=history, watch=watch)


def _search_on_device(decoder: Stepper, encoded: EncodedSource, options: SearchOptions) -> list[SearchResult]:
    with (graphs := Graphs(decoder)) as mine:
        results = DeviceSearch(decoder, encoded, options, mine).run()
    if graphs.reason:
        tell("beam search", "device", {"CUDA graph": graphs.reason})
    else:
        tell("beam search", "CUDA graph", {})
    return results


@torch.inference_mode()
def search_on_host(
    decoder: Stepper,
    encoded: EncodedSource,
    options: SearchOptions = DEFAULT_SEARCH,
    constraints: Sequence[TokenConstraints] | None = None,
    *,
    history: bool = False,
    watch: Watch | None = None,
) -> list[SearchResult]:
    """`search` with the choice on the host, which knows every option; arguments as there."""
    source_lengths: Ids = encoded.mask.sum(dim=1).cpu().numpy()
    limits = length_limits(encoded.mask, options)
    forced: ForcedAttention | None = None
    if constraints is not None:
        check_limits(constraints, limits)
        forced = ForcedAttention(constraints, source_lengths)
    state = decoder.initial_state(encoded)
    previous = torch.full((len(source_lengths),), BOS, device=encoded.mask.device)  # y_0
    source = encoded if forced is None else forced.apply(0, encoded, np.arange(len(source_lengths)))
    output = decoder.step(previous, state, source)
    forces = forced is not None and bool(forced.steps)
    if output.alpha is None and (options.coverage or forces):
        name = "coverage" if options.coverage else "attend"
        raise ConfigError(f"{name}: this model does not attend to its source; leave it out")
    vocabulary = VocabularyMap(getattr(decoder, "words", None), output.logits.shape[1])
    beam = _Beam(options, constraints, source_lengths, limits, vocabulary, history)
    for t in range(int(limits.max())):
        rows = beam.advance(t, output)
        if rows is None:
            break
        if watch is not None:
            for b, ids in beam.leading():
                watch(b, ids)
        device = encoded.mask.device
        state = output.state
        if rows.parents is not None:
            state = state.select(torch.from_numpy(rows.parents).to(device))
        if rows.sentences is not None:
            encoded = encoded.select(torch.from_numpy(rows.sentences).to(device))
        previous = torch.from_numpy(rows.tokens).to(device)
        source = encoded if forced is None else forced.apply(t + 1, encoded, beam.sentences)
        output = decoder.step(previous, state, source)
    return beam.results()


class _NextRows(NamedTuple):
    """The rows of the next step.

    Attributes:
        tokens: (R′,), the tokens chosen.
        parents: (R′,), the rows they continue; None where each continues its own.
        sentences: (B′,), which sentences of the batch go on; None where all do.
    """

    tokens: Ids
    parents: Ids | None
    sentences: Ids | None


class _Beam:
    """The beam of every sentence between two steps.

    Attributes:
        sentences: (B,), whose slots the rows are.
        totals: (B, slots), log p of each partial hypothesis.
    """

    def __init__(
        self,
        options: SearchOptions,
        constraints: Sequence[TokenConstraints] | None,
        source_lengths: Ids,
        limits: Ids,
        vocabulary: VocabularyMap,
        history: bool,
    ) -> None:
        self.sentences: Ids = np.arange(len(limits))
        self.totals: Floats = np.zeros((len(limits), 1))
        self._tokens: Ids = np.empty((len(limits), 0), dtype=np.int64)  # (R, t), where a rule needs them
        self._width, self._source_lengths, self._constraints = options.beam, source_lengths, constraints
        self._rules = TokenRules(options, constraints, source_lengths - 1, limits, vocabulary)
        self._phrases: RequiredPhrases | None = None
        if constraints is not None and any(each.include for each in constraints):
            self._phrases = RequiredPhrases(constraints, limits)
        # a history shows the best pruned candidates too; with required phrases, not every token leaves space for them
        considered = 2 * options.beam if history or self._phrases is not None else options.beam
        self._top_k = TopK(vocabulary, self._rules, considered)
        self._finished, self._backpointers = FinishedHypotheses(options, limits), Backpointers()
        self._coverage = Coverage(source_lengths) if options.coverage else None
        self._recorder = HistoryRecorder(self._finished, source_lengths, options.beam) if history else None

    def advance(self, step: int, output: StepOutput) -> _NextRows | None:
        """Decide on a step: which candidates are kept and which have ended; None where none is kept."""
        log_probs, words = self._top_words(step, output.logits)  # (R, k)
        self._backpointers.add_alpha(output.alpha)
        if self._coverage is not None and output.alpha is not None:
            self._coverage.add(output.alpha)
        candidates = (self.totals.reshape(-1, 1) + log_probs).reshape(len(self.sentences), -1)  # (B, slots·k)
        places, totals = self._choose(step, candidates, words)  # (B, K)
        tokens = words.reshape(-1)[places]
        ended = tokens == EOS
        ending = np.count_nonzero(ended) > 0
        if ending:
            ended &= totals > NEVER
            self._finish(step, places, ended, totals, log_probs)
        if self._recorder is not None:
            self._recorder.add(
                StepCandidates(
                    step,
                    self.sentences,
                    candidates,
                    words,
                    log_probs,
                    None if output.alpha is None else output.alpha.float().cpu().numpy(),
                    None if self._coverage is None else self._coverage.on_host(),
                    places,
                    (totals > NEVER) & ~ended,
                    ended,
                )
            )
        if ending:
            totals[ended] = NEVER
        return self._next_rows(places, totals, tokens, log_probs)

    def _top_words(self, step: int, logits: Tensor) -> tuple[Floats, Ids]:
        """The candidates of each row, (R, k)."""
        if self._phrases is None:
            if self._rules.only_always_banned(step):
                return self._top_k.select(logits)
            if self._rules.only_end_banned(step):
                return self._top_k.select(logits, ending=False)
        tokens = self._tokens if self._rules.needs_tokens else np.empty((logits.shape[0], 0), dtype=np.int64)
        if self._phrases is None:
            return self._top_k.select_under(
                logits, self._rules.for_step(step, self.sentences, tokens, None), ()
            )
        rules = self._rules.for_step(step, self.sentences, tokens, self._phrases.unfinished(self.sentences))
        return self._top_k.select_under(logits, rules, self._phrases.next_tokens(self.sentences))

    def _choose(self, step: int, candidates: Floats, words: Ids) -> tuple[Ids, Floats]:
        """The places (row · k + rank) of the best candidates, and log p of each; −∞ where there is none, (B, K)."""
        batch, width = candidates.shape
        places = (-candidates).argsort(axis=1, kind="stable")[:, : self._width]
        if batch > 1:
            places += np.arange(0, batch * width, width)[:, None]
        totals = candidates.reshape(-1)[places]
        if self._phrases is None and not self._finished.any:
            return places, totals
        free = self._width - self._finished.count[self.sentences]  # (B,), places left in each beam
        if self._phrases is not None:
            chosen = self._phrases.choose(step, self.sentences, candidates, words.reshape(batch, -1), free)
            for k, columns in chosen.items():
                places[k, : len(columns)] = np.array(columns, dtype=np.int64) + k * width
                totals[k, : len(columns)] = candidates[k, columns]
                totals[k, len(columns) :] = NEVER
        totals[np.arange(totals.shape[1]) >= free[:, None]] = NEVER
        return places, totals

    def _finish(self, step: int, places: Ids, ended: Flags, totals: Floats, log_probs: Floats) -> None:
        """Keep the hypotheses that have chosen EOS."""
        for k, slot in zip(*(axis.tolist() for axis in ended.nonzero()), strict=True):
            b = self.sentences.item(k)
            row, rank = divmod(places.item(k, slot), log_probs.shape[1])
            covered = None if self._coverage is None else self._coverage.row_on_host(row, b)
            score = self._finished.score(totals.item(k, slot), step + 1, covered)
            self._finished.add(b, HypothesisEnd(step, row, log_probs.item(row, rank), score))

    def _next_rows(self, places: Ids, totals: Floats, tokens: Ids, log_probs: Floats) -> _NextRows | None:
        """The sentences still searched, with as many slots as the fullest of them needs."""
        num_rows, width = log_probs.shape
        remaining = None
        if self._finished.any or np.count_nonzero(totals == NEVER):
            unfinished = totals.max(axis=1) > self._finished.needed[self.sentences]  # (B,)
            if not unfinished.all():
                remaining = np.flatnonzero(unfinished)
                if len(remaining) == 0:
                    return None
                self.sentences = self.sentences[remaining]
                places, totals, tokens = places[remaining], totals[remaining], tokens[remaining]
            alive = totals > NEVER
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
        self._backpointers.add_step(parents, tokens, log_probs.reshape(-1)[places])
        # what only some options need to know of each row
        if self._rules.needs_tokens:
            self._tokens = np.concatenate([self._tokens[parents], tokens[:, None]], axis=1)
        if self._phrases is not None:
            self._phrases.advance(self.sentences, parents, tokens)
        if self._coverage is not None:
            self._coverage.select(parents)
        if self._recorder is not None:
            self._recorder.advance(places)
        same = len(parents) == num_rows and np.count_nonzero(parents != np.arange(num_rows)) == 0
        return _NextRows(tokens, None if same else parents, remaining)

    def leading(self) -> Iterator[tuple[int, tuple[int, ...]]]:
        """Each sentence still searched, by number, with the tokens of its most probable partial hypothesis."""
        slots = self.totals.shape[1]
        for k, (b, slot) in enumerate(
            zip(self.sentences.tolist(), self.totals.argmax(axis=1).tolist(), strict=True)
        ):
            yield b, self._backpointers.prefix(k * slots + slot)

    def results(self) -> list[SearchResult]:
        """The hypotheses of each sentence, best first.

        Raises:
            ConfigError: a sentence has no output that meets all its constraints.
            DataError: the model has diverged.
        """
        ends = [self._finished.best(b) for b in range(len(self._source_lengths))]
        for b, finished in enumerate(ends):
            if not finished and self._constraints is not None and self._constraints[b].constrains_words:
                raise ConfigError(
                    f"{self._constraints[b].name or f'sentence {b + 1}'}: no output meets all constraints; drop some, "
                    "or raise the limit or the beam"
                )
            if not finished:
                raise diverged(b)
        lengths = [int(self._source_lengths[b]) for b, finished in enumerate(ends) for _ in finished]
        hypotheses = iter(self._backpointers.trace([end for finished in ends for end in finished], lengths))
        histories = [None] * len(ends) if self._recorder is None else self._recorder.histories()
        return [
            SearchResult(tuple(islice(hypotheses, len(finished))), history)
            for finished, history in zip(ends, histories, strict=True)
        ]
