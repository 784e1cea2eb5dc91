"""What was drawn, token by token, as a line for people to read.

In: the `Choice`s of one row. Out: a `Sample`. Knows a tokenizer and nothing of models.

Where a language model that attends to its own past looks while it reads given lines.

In: lines, each read by itself. Out: a `Reading` for each, with the attention of every layer.

What a language model makes of given lines: the log-probability of every token.

In: lines as they come. Out: a `Scored` for each, in constant memory. A line by itself starts from the begin mark and a
zero state; continuous text is one line after the other, the state carried from each to the next.

A trained language model at work: it makes up lines, scores given ones, and shows where it looked.

Knows tokenizers, search and output, and nothing of training. The sibling of `translator`, for the task ``lm``. How
given lines are scored and read is in the modules beside it.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import torch

from regard.batches import Stream, batch_by_length, pad_lines
from regard.checkpoint import ModelFolder
from regard.config import in_range, one_of
from regard.device import find_device
from regard.errors import ConfigError, DataError
from regard.models import LanguageModelNetwork, States
from regard.search.forced import log_probs_of, score_tokens
from regard.search.options import SamplingOptions
from regard.search.sampling import Choice, sample, sampled_rows
from regard.tasks.language_model.result import Candidate, Reading, Sample, SampleStep, Scored, TextScore
from regard.text import MODES, EncodedLine, Tokenizer, encode_lines, unknown_id, unknown_words
from regard.text.specials import BOS, EOS, UNK


def sample_of(tokenizer: Tokenizer, prompt: str, prompt_ids: Sequence[int], row: Sequence[Choice]) -> Sample:
    """Tell what was drawn after a prompt.

    Args:
        tokenizer: ids → text.
        prompt: as it was given.
        prompt_ids: as it was read.
        row: what was chosen at each step, the prompt's own words among them.
    """
    drawn = [choice for choice in row if not choice.given]
    ids = [choice.id for choice in drawn]
    return Sample(
        text=tokenizer.decode([*prompt_ids, *ids]),
        prompt=prompt,
        tokens=tuple(tokenizer.tokens(ids)),
        token_log_probs=tuple(choice.log_prob for choice in drawn),
        steps=tuple(_step(tokenizer, choice) for choice in drawn),
    )


def _step(tokenizer: Tokenizer, choice: Choice) -> SampleStep:
    def candidate(token_id: int, log_prob: float, probability: float) -> Candidate:
        [token] = tokenizer.tokens([token_id])
        return Candidate(token, math.exp(log_prob), probability)

    return SampleStep(
        candidate(choice.id, choice.log_prob, choice.probability),
        tuple(candidate(*other) for other in choice.alternatives if other.id != choice.id),
    )


def read_lines(model: LanguageModelNetwork, tokenizer: Tokenizer, lines: Iterable[str]) -> list[Reading]:
    """Read lines.

    Args:
        model: in evaluation mode, of cells that attend to their past.
        tokenizer: its own.
        lines: what to read.
    """
    return [_reading(model, tokenizer, line) for line in encode_lines(lines, tokenizer)]


@torch.inference_mode()
def _reading(model: LanguageModelNetwork, tokenizer: Tokenizer, line: EncodedLine) -> Reading:
    batch = pad_lines([line.ids]).to(model.embedding.E.device)
    logits, _, alphas = model.forward_with_alpha(batch.previous_ids, batch.mask)
    log_probs = log_probs_of(logits, batch.target_ids[batch.mask])
    ids = [BOS, *line.ids]
    return Reading(
        text=line.text,
        tokens=tuple(tokenizer.tokens(ids)),
        words=tuple(tokenizer.words(ids)),
        alpha=tuple(np.asarray(alpha[0].float().cpu()) for alpha in alphas),
        token_log_probs=(None, *log_probs[:-1].tolist()),
    )


_SENTENCES, _TOKENS = 64, 2000  # of a batch; the logits are its tokens times the vocabulary


def score_lines(
    model: LanguageModelNetwork, tokenizer: Tokenizer, lines: Iterable[str], *, continuous: bool, chunk: int
) -> Iterator[Scored]:
    """Score lines, `chunk` of them at a time.

    Args:
        model: in evaluation mode.
        tokenizer: its own.
        lines: what to score; a blank one by itself has no score, in continuous text it is an end of a line.
        continuous: whether each line is read in the light of all before it.
        chunk: how many are read ahead.
    """
    waiting = iter(lines)
    state: States | None = None
    while part := list(encode_lines(islice(waiting, chunk), tokenizer)):
        if not continuous:
            yield from _score_each(model, tokenizer, part)
            continue
        [row] = Stream([line.ids for line in part], 1, sum(line.length for line in part))
        scores = score_tokens(model, row.to(model.embedding.E.device), state)
        state = scores.state
        log_probs = iter(scores.log_probs.tolist())
        yield from (_one(tokenizer, line, log_probs) for line in part)


def _score_each(
    model: LanguageModelNetwork, tokenizer: Tokenizer, lines: Sequence[EncodedLine]
) -> list[Scored]:
    scored = [Scored.blank(line.text) for line in lines]
    real = [k for k, line in enumerate(lines) if line.ids]
    for batch in batch_by_length([lines[k].length for k in real], _SENTENCES, _TOKENS):
        chosen = [real[k] for k in batch]
        scores = score_tokens(model, pad_lines([lines[k].ids for k in chosen]).to(model.embedding.E.device))
        log_probs = iter(scores.log_probs.tolist())
        for k in chosen:
            scored[k] = _one(tokenizer, lines[k], log_probs)
    return scored


def _one(tokenizer: Tokenizer, line: EncodedLine, log_probs: Iterator[float]) -> Scored:
    """A line's score, from the log-probabilities of it and of the lines after it."""
    tokens = tuple(tokenizer.tokens([*line.ids, EOS]))
    own = tuple(islice(log_probs, line.length))
    return Scored(line.text, tokens, own, line.num_words, line.num_characters, line.ids.count(UNK))


_ROWS = 64  # samples drawn side by side


class LanguageModel:
    """A language model with its tokenizer.

    Args:
        model: in evaluation mode; it is moved to `device`.
        tokenizer: lines ↔ ids.
        device: where to compute: ``cpu``, ``cuda``, or ``auto``.
        facts: what is known of the weights.
    """

    def __init__(
        self,
        model: LanguageModelNetwork,
        tokenizer: Tokenizer,
        *,
        device: str = "cpu",
        facts: dict[str, Any] | None = None,
    ) -> None:
        self.device = find_device(device)
        self.model = model.to(self.device)
        self.tokenizer = tokenizer
        self.facts = facts or {}

    @classmethod
    def load(cls, folder: str | Path, *, weights: str = "best", device: str = "cpu") -> "LanguageModel":
        """Load a trained model.

        Args:
            folder: what ``regard train --task language_model`` wrote.
            weights: ``best`` or ``last``.
            device: where to compute.

        Raises:
            FolderError: the folder is missing, damaged, foreign, of another task or newer than this package.
            ConfigError: no such weights, or no such device on this machine.
        """
        loaded = ModelFolder(folder).load(weights, task="language_model")
        return cls(loaded.model, loaded.tokenizers["text"], device=device, facts=loaded.facts)

    @property
    def attends(self) -> bool:
        """Whether the model attends to its own past; one that does not has nothing to `read`."""
        return self.model.config.attends

    def unknown_words(self, prompt: str) -> list[str]:
        """The words of a prompt, or its characters where those are the tokens, that the model does not know."""
        return unknown_words(prompt, self.tokenizer)

    def sample(
        self,
        *,
        count: int = 1,
        prompt: str = "",
        temperature: float = 1.0,
        top_k: int = 0,
        top_p: float = 1.0,
        seed: int = 1,
        max_length: int = 100,
        alternatives: int = 5,
    ) -> list[Sample]:
        """Make up lines.

        Args:
            count: how many; a greater count begins with the same ones.
            prompt: what each starts with; words that are not known are read as unknown (see `unknown_words`).
            temperature: below 1 likely words become likelier; 0 always takes the likeliest.
            top_k: draw from the k likeliest words only; 0 for all.
            top_p: draw from the fewest likeliest words that together have this probability.
            seed: equal seeds give equal lines.
            max_length: the most tokens drawn, the end mark counted.
            alternatives: how many other words to report at each step.

        Raises:
            ConfigError: a number is out of range.
        """
        in_range("count", count, 1)
        sampling = SamplingOptions(temperature, top_k, top_p)
        prompt_ids = self._prompt_ids(prompt)
        samples = []
        for first in range(0, count, _ROWS):
            numbers = range(first, min(first + _ROWS, count))
            steps = self._steps(prompt_ids, numbers, sampling, seed, max_length, alternatives)
            samples += [sample_of(self.tokenizer, prompt, prompt_ids, row) for row in sampled_rows(steps)]
        return samples

    def grow(
        self,
        *,
        number: int = 0,
        prompt: str = "",
        temperature: float = 1.0,
        top_k: int = 0,
        top_p: float = 1.0,
        seed: int = 1,
        max_length: int = 100,
        alternatives: int = 5,
    ) -> Iterator[Sample]:
        """Make up one line while someone watches.

        Args:
            number: which of the lines that `sample` makes of this seed, counted from 0.
            prompt: as for `sample`, and so are the others.
            temperature: likewise.
            top_k: likewise.
            top_p: likewise.
            seed: likewise.
            max_length: likewise.
            alternatives: likewise.

        Yields:
            The line as far as it has grown, after each word; the last is the whole, as `sample` has it.

        Raises:
            ConfigError: a number is out of range.
        """
        sampling = SamplingOptions(temperature, top_k, top_p)
        prompt_ids = self._prompt_ids(prompt)
        steps = self._steps(prompt_ids, [number], sampling, seed, max_length, alternatives)
        return self._growing(prompt, prompt_ids, steps)

    def score(self, lines: Iterable[str], *, mode: str = "sentences", chunk: int = 256) -> Iterator[Scored]:
        """Score lines as they come, in constant memory, one `Scored` for each.

        Args:
            lines: what to score. Of single lines a blank one has no score; in continuous text it is an end of a line.
            mode: ``sentences``, each line by itself, or ``continuous``, each in the light of all before it.
            chunk: how many lines are read ahead.

        Raises:
            ConfigError: no such mode, or a model whose memory would grow without end in continuous text.
        """
        one_of("mode", mode, MODES)
        if isinstance(lines, str):
            raise DataError(f"score takes a list of lines, not one text: score([{lines[:40]!r}])")
        if mode == "continuous" and self.model.config.remembers_everything:
            raise ConfigError(
                f"this model's {self.model.config.cell} cells attend to all they have read, which grows without end in "
                "continuous text; score line by line, or train one with model.memory.span"
            )
        return score_lines(self.model, self.tokenizer, lines, continuous=mode == "continuous", chunk=chunk)

    def perplexity(self, lines: Iterable[str], *, mode: str = "sentences") -> TextScore:
        """Score a whole text: perplexity per token and per word, bits per character; arguments as for `score`."""
        return TextScore.of(self.score(lines, mode=mode))

    def read(self, lines: Iterable[str]) -> list[Reading]:
        """Read lines, each by itself, and tell where every step looked.

        Args:
            lines: what to read.

        Raises:
            ConfigError: the model's cells do not attend to their past.
        """
        if isinstance(lines, str):
            raise DataError(f"read takes a list of lines, not one text: read([{lines[:40]!r}])")
        if not self.attends:
            raise ConfigError(
                f"this model's cells, {self.model.config.cell}, do not attend to their past, so there is nothing to "
                "show; train one with model.cell = lstmn, rnn-read, rnn-sum or rnn-sum-keep"
            )
        return read_lines(self.model, self.tokenizer, lines)

    def _prompt_ids(self, prompt: str) -> list[int]:
        unknown = unknown_id(self.tokenizer)
        return [unknown if i == UNK else i for i in self.tokenizer.encode(prompt)]

    def _steps(
        self,
        prompt_ids: Sequence[int],
        numbers: Sequence[int],
        sampling: SamplingOptions,
        seed: int,
        max_length: int,
        alternatives: int,
    ) -> Iterator[tuple[Choice | None, ...]]:
        rows = len(numbers)
        return sample(
            self.model.step,
            self.model.initial_state(rows),
            torch.full((rows,), BOS, device=self.device),
            seeds=[f"{seed} {number}" for number in numbers],
            prompts=[prompt_ids] * rows,
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
                yield sample_of(self.tokenizer, prompt, prompt_ids, row)
