"""A trained language model at work: it makes up lines, scores given ones, and shows where it looked.

Knows tokenizers, search and output, and nothing of training. The sibling of `translator`, for the task ``lm``. How
given lines are scored and read is in the modules beside it.
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import torch

from regard.configuration import in_range, one_of
from regard.device import find_device
from regard.errors import ConfigError, DataError
from regard.folder import ModelFolder
from regard.models import LanguageModel
from regard.output import Reading, Sample, Scored, TextScore
from regard.search import Choice, Drawing, rows_of, sample
from regard.text import MODES, Tokenizer, unknown_id, unknown_words
from regard.text.specials import BOS, UNK
from regard.writer.drawn import sample_of
from regard.writer.reading import read_lines
from regard.writer.scoring import score_lines

_ROWS = 64  # samples drawn side by side


class Writer:
    """A language model with its tokenizer.

    Args:
        model: in evaluation mode; it is moved to `device`.
        tokenizer: lines ↔ ids.
        device: where to compute: ``cpu``, ``cuda``, or ``auto``.
        facts: what is known of the weights.
    """

    def __init__(
        self,
        model: LanguageModel,
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
    def load(cls, folder: str | Path, *, weights: str = "best", device: str = "cpu") -> "Writer":
        """Load a trained model.

        Args:
            folder: what ``regard train --task lm`` wrote.
            weights: ``best`` or ``last``.
            device: where to compute.

        Raises:
            FolderError: the folder is missing, damaged, foreign, of another task or newer than this package.
            ConfigError: no such weights, or no such device on this machine.
        """
        loaded = ModelFolder(folder).load(weights, task="lm")
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
        drawing = Drawing(temperature, top_k, top_p)
        prompt_ids = self._prompt_ids(prompt)
        samples = []
        for first in range(0, count, _ROWS):
            numbers = range(first, min(first + _ROWS, count))
            steps = self._steps(prompt_ids, numbers, drawing, seed, max_length, alternatives)
            samples += [sample_of(self.tokenizer, prompt, prompt_ids, row) for row in rows_of(steps)]
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
        drawing = Drawing(temperature, top_k, top_p)
        prompt_ids = self._prompt_ids(prompt)
        steps = self._steps(prompt_ids, [number], drawing, seed, max_length, alternatives)
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
        drawing: Drawing,
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
            drawing=drawing,
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
