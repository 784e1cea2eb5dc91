"""A trained language model in use: it samples lines, scores given ones, and shows where it attended while reading.

In: prompts or lines. Out: `Sample`s, `Scored` lines, `Reading`s. A line scored by itself starts from BOS and
a zero state; in continuous text the state is carried from line to line. Knows a tokenizer, search and output, and
nothing of training.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np
import torch

from regard.batches import Stream, pad_lines
from regard.config import in_range, one_of
from regard.errors import ConfigError, DataError
from regard.models import LanguageModelNetwork, States
from regard.search.forced import log_probs_of, score_tokens
from regard.search.options import DEFAULT_SAMPLING, SamplingOptions, takes_options
from regard.search.sampling import Choice, sample, sampled_rows
from regard.tasks.language_model.result import Candidate, Reading, Sample, SampleStep, Scored, TextScore
from regard.tasks.predictor import (
    CHUNK,
    Predictor,
    TooLongError,
    predict_by_length,
    refuse_text,
    refuse_too_long,
)
from regard.tasks.trace import Trace
from regard.tasks.tracing import trace_text, traced_model
from regard.text import MODES, EncodedLine, Tokenizer, encode_lines, unknown_id, unknown_words
from regard.text.formats import group_by_size
from regard.text.specials import BOS, EOS, UNK

_ROWS = 64  # lines sampled together
_SENTENCES, _TOKENS = 64, 2000  # of a scoring batch; the logits are its tokens times the vocabulary


def build_sample(
    tokenizer: Tokenizer, prompt: str, prompt_ids: Sequence[int], row: Sequence[Choice]
) -> Sample:
    """A sampled line as text.

    Args:
        tokenizer: ids → text.
        prompt: as it was given.
        prompt_ids: as it was read.
        row: the choice at each step, the prompt's own tokens included.
    """
    choices = [choice for choice in row if not choice.given]
    ids = [choice.id for choice in choices]
    return Sample(
        text=tokenizer.decode([*prompt_ids, *ids]),
        prompt=prompt,
        tokens=tuple(tokenizer.tokens(ids)),
        token_log_probs=tuple(choice.log_prob for choice in choices),
        steps=tuple(_step(tokenizer, choice) for choice in choices),
    )


def _step(tokenizer: Tokenizer, choice: Choice) -> SampleStep:
    def candidate(token_id: int, log_prob: float, probability: float) -> Candidate:
        [token] = tokenizer.tokens([token_id])
        return Candidate(token, math.exp(log_prob), probability)

    return SampleStep(
        candidate(choice.id, choice.log_prob, choice.probability),
        tuple(candidate(*other) for other in choice.alternatives if other.id != choice.id),
    )


class LanguageModel(Predictor):
    """A language model with its tokenizer.

    Args:
        model: in evaluation mode; it is moved to `device`.
        tokenizer: lines ↔ ids.
        device: where to compute: ``cpu``, ``cuda``, or ``auto``.
        facts: what is known of the weights.
    """

    task = "language_model"
    model: LanguageModelNetwork

    def __init__(
        self,
        model: LanguageModelNetwork,
        tokenizer: Tokenizer,
        *,
        device: str = "cpu",
        facts: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(model, device=device, facts=facts)
        self.tokenizer = tokenizer

    @property
    def attends(self) -> bool:
        """Whether the model attends to its own past; one that does not has nothing to `read`."""
        return self.model.config.attends

    def unknown_words(self, prompt: str) -> list[str]:
        """The words of a prompt, or its characters where those are the tokens, that the model does not know."""
        return unknown_words(prompt, self.tokenizer)

    @takes_options(SamplingOptions)
    def sample(
        self,
        *,
        count: int = 1,
        prompt: str = "",
        options: SamplingOptions = DEFAULT_SAMPLING,
        seed: int = 1,
        max_length: int = 100,
        alternatives: int = 5,
        **changes: Any,
    ) -> list[Sample]:
        """Sample lines.

        Args:
            count: how many; a greater count starts with the same ones.
            prompt: what each starts with; unknown words are read as the unknown word (see `unknown_words`).
            options: temperature, top-k and top-p.
            seed: equal seeds give equal lines.
            max_length: the most tokens sampled, EOS counted.
            alternatives: how many other tokens to report at each step.
            changes: single sampling options, such as ``temperature=0.7``; see `SamplingOptions`.

        Raises:
            ConfigError: an option is unknown, or a number is out of range.
        """
        in_range("count", count, 1, 1_000_000)
        rows = ((prompt, seed, number) for number in range(count))
        return self.sample_rows(
            rows, options.change(**changes), max_length=max_length, alternatives=alternatives
        )

    def sample_rows(
        self,
        rows: Iterable[tuple[str, int, int]],
        options: SamplingOptions = DEFAULT_SAMPLING,
        *,
        max_length: int = 100,
        alternatives: int = 5,
        watch: Callable[[int, Sample], None] | None = None,
    ) -> list[Sample]:
        """Sample lines of different prompts and seeds together.

        Args:
            rows: (prompt, seed, number) for each line: the one that `sample` returns at this index, from 0, for this
                prompt and seed.
            options: temperature, top-k and top-p.
            max_length: the most tokens sampled per line, EOS counted.
            alternatives: how many other tokens to report at each step.
            watch: called after each token with the index of its line among `rows` and the line so far.

        Raises:
            ConfigError: a number is out of range.
        """
        samples: list[Sample] = []
        for group in group_by_size(rows, _ROWS):
            prompts = [(prompt, self._prompt_ids(prompt)) for prompt, _, _ in group]
            seeds = [f"{seed} {number}" for _, seed, number in group]
            steps = self._steps([ids for _, ids in prompts], seeds, options, max_length, alternatives)
            if watch is not None:
                steps = self._watched(steps, prompts, watch, len(samples))
            samples += [
                build_sample(self.tokenizer, *prompt, row)
                for prompt, row in zip(prompts, sampled_rows(steps), strict=True)
            ]
        return samples

    def _watched(
        self,
        steps: Iterable[tuple[Choice | None, ...]],
        prompts: Sequence[tuple[str, Sequence[int]]],
        watch: Callable[[int, Sample], None],
        first: int,
    ) -> Iterator[tuple[Choice | None, ...]]:
        """The same steps; after each, the rows with a new token are shown, counted from `first`."""
        rows: list[list[Choice]] = [[] for _ in prompts]
        for step in steps:
            for number, choice in enumerate(step):
                if choice is not None:
                    rows[number].append(choice)
                    if not choice.given:
                        watch(first + number, build_sample(self.tokenizer, *prompts[number], rows[number]))
            yield step

    @takes_options(SamplingOptions)
    def grow(
        self,
        *,
        number: int = 0,
        prompt: str = "",
        options: SamplingOptions = DEFAULT_SAMPLING,
        seed: int = 1,
        max_length: int = 100,
        alternatives: int = 5,
        **changes: Any,
    ) -> Iterator[Sample]:
        """Sample one line, token by token.

        Args:
            number: which of the lines that `sample` returns for this seed, counted from 0.
            prompt: this and the other arguments are those of `sample`.
            options: see `sample`.
            seed: see `sample`.
            max_length: see `sample`.
            alternatives: see `sample`.
            changes: see `sample`.

        Yields:
            The line so far, after each token; the last is the whole line, as `sample` returns it.

        Raises:
            ConfigError: a number is out of range.
        """
        sampling = options.change(**changes)
        prompt_ids = self._prompt_ids(prompt)
        steps = self._steps([prompt_ids], [f"{seed} {number}"], sampling, max_length, alternatives)
        return self._growing(prompt, prompt_ids, steps)

    def score(
        self,
        lines: Iterable[str],
        *,
        mode: str = "sentences",
        chunk: int = CHUNK,
        max_length: int | None = None,
    ) -> Iterator[Scored]:
        """Score lines as they come, in constant memory, one `Scored` each.

        Args:
            lines: what to score. A single blank line has no score; in continuous text it is an end of a line.
            mode: ``sentences``, each line by itself, or ``continuous``, each given all lines before it.
            chunk: how many lines are read ahead.
            max_length: the most tokens of a line; None for any number.

        Raises:
            ConfigError: no such mode, or a model whose memory would grow without limit in continuous text.
            TooLongError: a line is too long; the lines before it are scored first.
        """
        one_of("mode", mode, MODES)
        refuse_text(lines, "score")
        if mode == "continuous" and self.model.config.attends_to_whole_past:
            raise ConfigError(
                f"this model's {self.model.config.cell} cells attend to all they have read, which grows without end in "
                "continuous text; score line by line, or train one with model.memory.span"
            )
        parts = self._encode(lines, chunk, max_length)
        return self._score_continuous(parts) if mode == "continuous" else self._score(parts)

    def perplexity(self, lines: Iterable[str], *, mode: str = "sentences") -> TextScore:
        """Score a whole text: perplexity per token and per word, bits per character; arguments as for `score`."""
        return TextScore.of(self.score(lines, mode=mode))

    def read(self, lines: Iterable[str]) -> list[Reading]:
        """Read lines, each by itself, with the attention of every layer at every step.

        Raises:
            ConfigError: the model's cells do not attend to their past.
        """
        refuse_text(lines, "read")
        if not self.attends:
            raise ConfigError(
                f"this model's cells, {self.model.config.cell}, do not attend to their past, so there is nothing to "
                "show; train one with model.cell = lstmn, rnn-read, rnn-sum or rnn-sum-keep"
            )
        return [self._reading(line) for line in encode_lines(lines, self.tokenizer)]

    def trace(self, line: str, *, letters: str = "papers", dtype: str = "float32") -> Trace:
        """Everything that the model computes for a line, step by step: gates, states, probabilities.

        Args:
            line: what it reads, and predicts word by word.
            letters: whose letters the equations have, ``papers`` or ``slides``.
            dtype: ``float32``, or ``float64`` for a computation in double precision.

        Raises:
            DataError: the line is blank.
        """
        [encoded] = encode_lines([line], self.tokenizer)
        if not encoded.ids:
            raise DataError("trace: the line is blank; give it a word")
        ids = [*encoded.ids, EOS]
        with traced_model(self.single_model(), dtype) as traced:
            sections = trace_text(traced, ids, self.tokenizer.tokens)
        tokens = tuple(self.tokenizer.tokens([BOS, *ids]))
        return Trace(self.task, line, tokens[:-1], "", tokens[1:], tuple(sections), dtype, letters=letters)

    @torch.inference_mode()
    def _reading(self, line: EncodedLine) -> Reading:
        batch = pad_lines([line.ids]).to(self.device)
        logits, _, alphas = self.model.forward_with_alpha(batch.previous_ids, batch.mask)
        log_probs = log_probs_of(logits, batch.target_ids[batch.mask])
        ids = [BOS, *line.ids]
        return Reading(
            text=line.text,
            tokens=tuple(self.tokenizer.tokens(ids)),
            words=tuple(self.tokenizer.words(ids)),
            alpha=tuple(np.asarray(alpha[0].float().cpu()) for alpha in alphas),
            token_log_probs=(None, *log_probs[:-1].tolist()),
            characters=self.tokenizer.kind == "char",
        )

    def _encode(
        self, lines: Iterable[str], chunk: int, max_length: int | None
    ) -> Iterator[list[EncodedLine]]:
        """Lines as ids, some at a time; where one is too long, those before it come first."""
        first_line = 1
        for group in group_by_size(lines, chunk):
            part = list(encode_lines(group, self.tokenizer))
            if max_length is not None:
                try:
                    lengths = [len(line.ids) for line in part]
                    refuse_too_long(group, lengths, max_length, first_line=first_line)
                except TooLongError as error:
                    if error.index:
                        yield part[: error.index]
                    raise
            yield part
            first_line += len(part)

    def _score(self, parts: Iterable[list[EncodedLine]]) -> Iterator[Scored]:
        """Score lines, each by itself."""
        for part in parts:

            def score(members: list[int], part: list[EncodedLine] = part) -> Iterator[Scored]:
                batch = pad_lines([part[k].ids for k in members]).to(self.device)
                log_probs = iter(score_tokens(self.model, batch).log_probs.tolist())
                return (self._scored(part[k], log_probs) for k in members)

            yield from predict_by_length(
                score,
                [line.length if line.ids else 0 for line in part],
                [Scored.blank(line.text) for line in part],
                batch_sentences=_SENTENCES,
                batch_tokens=_TOKENS,
            )

    def _score_continuous(self, parts: Iterable[list[EncodedLine]]) -> Iterator[Scored]:
        """Score lines as one text, the state carried."""
        state: States | None = None
        for part in parts:
            [window] = Stream([line.ids for line in part], 1, sum(line.length for line in part))
            scores = score_tokens(self.model, window.to(self.device), state)
            state = scores.state
            log_probs = iter(scores.log_probs.tolist())
            yield from (self._scored(line, log_probs) for line in part)

    def _scored(self, line: EncodedLine, log_probs: Iterator[float]) -> Scored:
        """A line's score, from the log-probabilities of its tokens and of those after it."""
        tokens = tuple(self.tokenizer.tokens([*line.ids, EOS]))
        own = tuple(islice(log_probs, line.length))
        return Scored(line.text, tokens, own, line.num_words, line.num_characters, line.ids.count(UNK))

    def _prompt_ids(self, prompt: str) -> list[int]:
        unknown = unknown_id(self.tokenizer)
        return [unknown if i == UNK else i for i in self.tokenizer.encode(prompt)]

    def _steps(
        self,
        prompts: Sequence[Sequence[int]],
        seeds: Sequence[str],
        sampling: SamplingOptions,
        max_length: int,
        alternatives: int,
    ) -> Iterator[tuple[Choice | None, ...]]:
        rows = len(prompts)
        return sample(
            self.model.step,
            self.model.initial_state(rows),
            torch.full((rows,), BOS, device=self.device),
            seeds=seeds,
            prompts=prompts,
            sampling=sampling,
            max_length=max_length,
            alternatives=alternatives,
        )

    def _growing(
        self, prompt: str, prompt_ids: Sequence[int], steps: Iterable[Sequence[Choice | None]]
    ) -> Iterator[Sample]:
        row: list[Choice] = []
        for [choice] in steps:
            assert choice is not None, "a single row ends with the last step"
            row.append(choice)
            if not choice.given:
                yield build_sample(self.tokenizer, prompt, prompt_ids, row)
