"""Beam search that stays on its device: steps without waiting for the host, and a transfer at the end.

In: what `beam.search` takes, as far as `refuses` does not name a reason. Out: the same hypotheses, ties included. The
host asks every few steps which sentences go on, and makes the frame smaller when half of them have ended; what was
chosen (`frame`) is transferred at the end and traced back there. Steps are captured as CUDA graphs where they can be
(`graphs`). Knows no text, and no constraints on single sentences, which `beam` applies on the host.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from regard.errors import ConfigError
from regard.models.state import Stepper
from regard.search.candidates import TokenRules, VocabularyMap, fewest_tokens
from regard.search.constraints import TokenConstraints
from regard.search.frame import STEPS, Frame, Rules, advance, settle
from regard.search.graphs import CapturedStep, Graphs
from regard.search.hypotheses import (
    NEVER,
    Flags,
    Floats,
    Hypothesis,
    Ids,
    diverged,
    divisor,
    length_limits,
)
from regard.search.options import SearchOptions
from regard.search.trace import SearchResult
from regard.text.specials import BOS

MOST_BEAM = 64
"""The widest beam: a step sorts K² candidates per sentence."""

ASK_EVERY = 4
"""Steps between two questions whether sentences go on."""


def refuses(
    options: SearchOptions,
    constraints: Sequence[TokenConstraints] | None = None,
    *,
    history: bool = False,
    watched: bool = False,
) -> str:
    """Why a search is made step by step on the host, a clause; empty if it can stay on the device."""
    if history:
        return "its history is recorded"
    if watched:
        return "each step is watched"
    if any(each.constrains_words or each.attend for each in constraints or ()):
        return "a sentence has constraints"
    if options.block_ngrams:
        return "repeated n-grams are blocked"
    if options.beam > MOST_BEAM:
        return f"a beam of {options.beam} is wider than {MOST_BEAM}"
    return ""


class _Past(NamedTuple):
    """Steps that were made with one frame.

    Attributes:
        sentences: whose beams they are, (B′,); what only fills up the frame is left out.
        chosen: (steps, 4, B′, K); see `Frame`.
        alphas: (steps, B′, K, Tx); None without attention.
    """

    sentences: Ids
    chosen: Tensor
    alphas: Tensor | None


class DeviceSearch:
    """The search of one batch.

    Args:
        decoder: as for `beam.search`.
        encoded: the sources, B of them.
        options: for which `refuses` has no reason.
        graphs: which run a step faster than `advance` does; None for none.
    """

    def __init__(
        self, decoder: Stepper, encoded: Any, options: SearchOptions, graphs: Graphs | None = None
    ) -> None:
        self._decoder, self._options, self._graphs = decoder, options, graphs
        mask = encoded.mask.cpu()  # the one thing that the host waits for before it starts
        self._source_lengths: Ids = mask.sum(dim=1).numpy()
        self._limits = length_limits(mask, options)
        self._sentences: Ids = np.arange(len(self._limits))
        self._pasts: list[_Past] = []
        self._num_steps = self._num_laid_aside = 0
        self._captured: CapturedStep | None = None
        if graphs is not None:
            encoded = graphs.fit(encoded)
        self._frame = self._new_frame(encoded)
        self._rules: Rules | None = None
        if graphs is not None and (captured := graphs.lookup(self._frame, options)) is not None:
            self._enter(captured)

    def _new_frame(self, encoded: Any) -> Frame:
        """The frame before the first step; alpha's shape, and what the vocabulary decides, are known after it."""
        options, num_sentences = self._options, len(self._limits)
        batch, beam, device = len(encoded.mask), options.beam, encoded.mask.device
        rows = torch.arange(batch, device=device).repeat_interleave(beam)
        limits = np.concatenate([self._limits, np.ones(batch - num_sentences, dtype=np.int64)])
        minimum = fewest_tokens(self._source_lengths - 1, self._limits, options)
        minimum = np.concatenate([minimum, np.zeros(batch - num_sentences, dtype=np.int64)])
        largest = [divisor(limit, options.length_power, options.length_penalty) for limit in limits.tolist()]
        totals = np.full((batch, beam), NEVER)
        totals[:num_sentences, 0] = 0.0
        numbers = torch.from_numpy(np.stack([limits, minimum])).to(device).unsqueeze(2)  # (2, B, 1)
        frame = Frame(
            encoded=encoded,
            state=self._decoder.initial_state(encoded).select(rows),
            previous_ids=torch.full((batch * beam,), BOS, device=device),  # y_0
            totals=torch.from_numpy(totals).to(device),
            scores=torch.full((batch, beam), NEVER, dtype=torch.float64, device=device),
            covered=None,
            limits=numbers[0],
            minimum=numbers[1],
            largest_divisors=torch.tensor(largest, dtype=torch.float64, device=device),
            divisors=torch.ones(STEPS, dtype=torch.float64, device=device),
            counters=torch.zeros(2, 1, dtype=torch.long, device=device),
            chosen=torch.zeros(STEPS, 4, batch, beam, dtype=torch.float64, device=device),
            alphas=None,
        )
        self._earliest = int(minimum[:num_sentences].min())
        return frame

    def _first_step(self) -> None:
        """The first step of a search for which nothing was captured: it tells the number of columns, and alpha's."""
        frame, options = self._frame, self._options
        output = self._decoder.step(frame.previous_ids, frame.state, frame.encoded)
        vocabulary = VocabularyMap(getattr(self._decoder, "words", None), output.logits.shape[1])
        rules = TokenRules(options, None, self._source_lengths - 1, self._limits, vocabulary)
        if output.alpha is None and options.coverage:
            raise ConfigError("coverage: this model does not attend to its source; leave it out")
        device = output.logits.device
        self._rules = Rules(
            min(options.beam, vocabulary.size),
            options.n_best,
            options.coverage,
            torch.tensor(rules.always_banned, dtype=torch.long, device=device),
            rules.end,
            getattr(self._decoder, "words", None),
            only_end=vocabulary.size <= len(rules.always_banned) + 1,
        )
        if self._rules.only_end:
            frame.minimum.zero_()
        if output.alpha is not None:
            frame.alphas = output.alpha.new_zeros(STEPS, *output.alpha.shape)
        if output.alpha is not None and options.coverage:
            wide = torch.promote_types(output.alpha.dtype, torch.float32)
            frame.covered = output.alpha.new_zeros(output.alpha.shape, dtype=wide)
        settle(output, frame, self._rules)

    def run(self) -> list[SearchResult]:
        """Search.

        Raises:
            DataError: the model has diverged.
        """
        most, pending = int(self._limits.max()), None
        while self._num_steps < most:
            if self._num_steps - self._num_laid_aside in (0, STEPS):
                self._lay_aside()
            self._advance()
            self._num_steps += 1
            if pending is not None:  # the device had the next step to do, and was not kept waiting
                go_on = pending()[: len(self._sentences)]
                pending = None
                if not go_on.any():
                    break
                self._narrow(np.flatnonzero(go_on))
            if self._earliest < self._num_steps < most and self._num_steps % ASK_EVERY == 0:
                pending = _ask(self._frame.totals)
        self._lay_aside()
        return self._results()

    def _advance(self) -> None:
        if self._captured is not None:
            self._captured.replay()
            return
        if self._rules is None:
            self._first_step()
            return
        before = self._frame.state
        advance(self._decoder, self._frame, self._rules)
        if self._graphs is not None:
            captured = self._graphs.capture(self._decoder, self._frame, self._rules, self._options, before)
            if captured is None:
                self._graphs = None
            else:
                self._enter(captured)

    def _enter(self, captured: CapturedStep) -> None:
        """Go on by a captured step, in its own frame."""
        captured.load(self._frame)
        self._captured, self._frame, self._rules = captured, captured.frame, captured.rules
        if captured.rules.only_end:
            self._frame.minimum.zero_()

    def _lay_aside(self) -> None:
        """Keep what the frame's steps chose, and begin anew in the frame."""
        num_steps = self._num_steps - self._num_laid_aside
        frame, num_sentences = self._frame, len(self._sentences)
        if num_steps:
            chosen, alphas = frame.chosen[:num_steps, :, :num_sentences].clone(), None
            if frame.alphas is not None:
                by_sentence = frame.alphas[:num_steps].view(num_steps, *frame.shape, -1)
                alphas = by_sentence[:, :num_sentences].clone()
            self._pasts.append(_Past(self._sentences, chosen, alphas))
            self._num_laid_aside = self._num_steps
        frame.counters[1].zero_()
        options = self._options
        divisors = [
            divisor(self._num_steps + 1 + i, options.length_power, options.length_penalty)
            for i in range(STEPS)
        ]
        frame.divisors.copy_(torch.tensor(divisors, dtype=torch.float64))

    def _narrow(self, remaining: Ids) -> None:
        """Go on with a smaller frame, where that has at most half as many sentences."""
        batch = self._frame.shape[0]
        size = len(remaining) if self._graphs is None else self._graphs.batch_size(len(remaining))
        if size > batch // 2:
            return
        self._lay_aside()
        filled = np.concatenate([remaining, np.repeat(remaining[:1], size - len(remaining))])
        self._frame = self._frame.select(torch.from_numpy(filled).to(self._frame.totals.device))
        self._sentences = self._sentences[remaining]
        self._captured = None
        if self._graphs is not None:
            captured = self._graphs.lookup(self._frame, self._options)
            if captured is not None:
                self._enter(captured)

    def _results(self) -> list[SearchResult]:
        """The hypotheses of each sentence, best first."""
        num_sentences, beam = len(self._limits), self._options.beam
        tokens, parents, log_probs, ended = self._chosen()  # (T, B·K) each
        by_sentence = ended.reshape(-1, num_sentences, beam).transpose(1, 0, 2)  # (B, T, K)
        b, step, place = np.nonzero(by_sentence > NEVER)  # of a sentence, in the order they ended
        scores = by_sentence[b, step, place]
        order = np.lexsort((np.arange(len(b)), -scores, b))
        rank = np.arange(len(b)) - np.searchsorted(b, b)
        order = order[rank < self._options.n_best]
        b, step, place, scores = b[order], step[order], place[order], scores[order]
        counts = np.bincount(b, minlength=num_sentences)
        if not counts.all():
            raise diverged(int(np.flatnonzero(counts == 0)[0]))
        # back from each end; `rows[:, t]` is the place of the beam that chose at step t
        num_steps = int(step.max()) + 1
        ids, rows = (np.empty((len(b), num_steps), dtype=np.int64) for _ in range(2))
        values = np.empty((len(b), num_steps))
        row = place
        for t in range(num_steps - 1, -1, -1):
            at = b * beam + row
            ids[:, t], values[:, t], rows[:, t] = tokens[t, at], log_probs[t, at], parents[t, at]
            row = np.where(t <= step, rows[:, t], row)
        alphas = self._alphas(b, rows, np.arange(num_steps) <= step[:, None])
        lengths, hypotheses = (step + 1).tolist(), []
        for k, (words, numbers, score) in enumerate(
            zip(ids.tolist(), values.tolist(), scores.tolist(), strict=True)
        ):
            numbers = numbers[: lengths[k]]
            alpha = None if alphas is None else alphas[k]
            hypotheses.append(
                Hypothesis(tuple(words[: lengths[k]]), sum(numbers), score, tuple(numbers), alpha)
            )
        firsts = np.cumsum(counts) - counts
        return [
            SearchResult(tuple(hypotheses[first : first + count]))
            for first, count in zip(firsts.tolist(), counts.tolist(), strict=True)
        ]

    def _chosen(self) -> tuple[Ids, Ids, Floats, Floats]:
        """Of all steps: tokens, parents, log p of each token, and the scores of what ended, (T, B·K) each."""
        num_sentences, beam = len(self._limits), self._options.beam
        whole = np.full((4, self._num_steps, num_sentences, beam), NEVER)
        whole[:2] = 0
        t = 0
        for past in self._pasts:
            chosen = past.chosen.cpu().numpy().transpose(1, 0, 2, 3)  # (4, steps, B′, K)
            whole[:, t : t + chosen.shape[1], past.sentences] = chosen
            t += chosen.shape[1]
        tokens, parents, log_probs, ended = whole.reshape(4, self._num_steps, -1)
        return tokens.astype(np.int64), parents.astype(np.int64), log_probs, ended

    def _alphas(self, b: Ids, rows: Ids, real: Flags) -> list[Any] | None:
        """The alpha of each hypothesis, over its source's real tokens.

        Args:
            b: whose hypotheses they are, (n,).
            rows: the place of the beam at each step, (n, T).
            real: which steps they have, (n, T).
        """
        if self._pasts[0].alphas is None:
            return None
        places, t, first = np.zeros(rows.shape, dtype=np.int64), 0, 0
        for past in self._pasts:
            assert past.alphas is not None, "alpha comes at every step, or never"
            num_steps, num_sentences, beam, _ = past.alphas.shape
            where = np.zeros(len(self._limits), dtype=np.int64)
            where[past.sentences] = np.arange(num_sentences)
            steps = np.arange(num_steps) * num_sentences
            here = (steps + where[b][:, None]) * beam  # (n, steps)
            stop = min(t + num_steps, rows.shape[1])
            places[:, t:stop] = first + here[:, : max(0, stop - t)] + rows[:, t:stop]
            t, first = t + num_steps, first + num_steps * num_sentences * beam
        alphas = torch.cat([past.alphas.flatten(0, 2) for past in self._pasts if past.alphas is not None])
        chosen = torch.from_numpy(places[real]).to(alphas.device)
        found = alphas.index_select(0, chosen).float().cpu().numpy()
        ends = np.cumsum(real.sum(axis=1))
        widths = self._source_lengths[b].tolist()
        return [
            np.ascontiguousarray(alpha[:, :width])
            for alpha, width in zip(np.split(found, ends[:-1]), widths, strict=True)
        ]


def _ask(totals: Tensor) -> Callable[[], Flags]:
    """Which sentences go on, (B,); the answer is waited for when it is called for."""
    go_on = (totals > NEVER).any(dim=1)
    if not go_on.is_cuda:
        return lambda: go_on.numpy()
    on_host = torch.empty(go_on.shape, dtype=torch.bool, pin_memory=True)
    on_host.copy_(go_on, non_blocking=True)
    copied = torch.cuda.Event()  # type: ignore[no-untyped-call]
    copied.record()

    def answer() -> Flags:
        copied.synchronize()
        flags: Flags = on_host.numpy()
        return flags

    return answer
