"""What a language model returns: sampled lines, scored lines and texts, and readings with attention.

In: tokens as display forms, log-probabilities, attention. Out: `Sample`, `Scored`, `TextScore`, `Reading`, each with
JSON and some with a plot. Two distributions are kept apart by name: the model's own, and the sampling distribution
after temperature and truncation. Every end of a line is predicted, and counted as a token, a word and a character; an
unknown word counts as a word, as in published perplexities. Knows nothing of models, tokenizers or tensors; alpha is
numpy arrays.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from regard.errors import ConfigError, DataError
from regard.evaluation.alignment.words import Units, text_units
from regard.tasks.result import JsonResult, PlottedResult

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Candidate(JsonResult):
    """A token that may come next.

    Attributes:
        token: its display form.
        model_probability: p(token | all before it) as the model has it.
        sampling_probability: after temperature and truncation; 0 for a token that was cut off.
    """

    json_names = ("token", "model_probability", "sampling_probability")

    token: str
    model_probability: float
    sampling_probability: float


@dataclass(frozen=True)
class SampleStep(JsonResult):
    """One step: the sampled token, and its alternatives.

    Attributes:
        chosen: the sampled token.
        alternatives: the most probable others, in any order.
    """

    chosen: Candidate
    alternatives: tuple[Candidate, ...]

    def ranked(self, most: int) -> tuple[Candidate, ...]:
        """The most probable candidates, best first; the chosen one is among them, in the last place if need be.

        Args:
            most: how many at most; at least 1.
        """
        candidates = sorted(
            (self.chosen, *self.alternatives),
            key=lambda candidate: (-candidate.sampling_probability, -candidate.model_probability),
        )
        leading = candidates[:most]
        return tuple(leading) if self.chosen in leading else (*leading[:-1], self.chosen)

    def to_json(self) -> dict[str, Any]:
        """The step as a JSON object."""
        return {**self.chosen.to_json(), "alternatives": [other.to_json() for other in self.alternatives]}


@dataclass(frozen=True)
class Sample(PlottedResult, JsonResult):
    """A sampled line.

    Attributes:
        text: the prompt and its continuation, as printed.
        prompt: as given; it may be empty.
        tokens: the sampled ones as display forms, EOS last where it was reached.
        token_log_probs: the model's log p of each token.
        steps: one per token.
    """

    json_names = ("text", "prompt", "tokens", "log_prob", "token_log_probs", "steps")

    text: str
    prompt: str
    tokens: tuple[str, ...]
    token_log_probs: tuple[float, ...]
    steps: tuple[SampleStep, ...]

    def __post_init__(self) -> None:
        for name, given in (("token_log_probs", self.token_log_probs), ("steps", self.steps)):
            if len(given) != len(self.tokens):
                raise DataError(
                    f"sample {self.text!r}: {len(given)} {name} for {len(self.tokens)} tokens; give one for each"
                )
        for number, (token, step) in enumerate(zip(self.tokens, self.steps, strict=True)):
            if step.chosen.token != token:
                raise DataError(
                    f"sample {self.text!r}: step {number} chose {step.chosen.token!r}, but token {number} is "
                    f"{token!r}; give the steps in the order of the tokens"
                )

    def __str__(self) -> str:
        return self.text

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Sample:
        """Read what `to_json` gives."""
        steps = []
        for step in values["steps"]:
            chosen, *others = [
                Candidate(each["token"], each["model_probability"], each["sampling_probability"])
                for each in (step, *step["alternatives"])
            ]
            steps.append(SampleStep(chosen, tuple(others)))
        tokens, log_probs = tuple(values["tokens"]), tuple(values["token_log_probs"])
        return cls(values["text"], values["prompt"], tokens, log_probs, tuple(steps))

    @property
    def log_prob(self) -> float:
        """The model's log p(tokens | prompt)."""
        return sum(self.token_log_probs)

    def figure(self, *, title: str | None = None) -> Figure:
        """Draw the sentence with the alternatives at every step, with a title."""
        from regard.plots.figures.sample import draw_sample

        return draw_sample(self, title=title)

    def _repr_html_(self) -> str:
        """A table of the steps, for a notebook."""
        from regard.plots.html import table_html

        rows = []
        for number, step in enumerate(self.steps, start=1):
            chosen = step.chosen
            others = [candidate for candidate in step.ranked(6) if candidate is not chosen]
            rows.append(
                (
                    str(number),
                    chosen.token,
                    _per_cent(chosen.sampling_probability),
                    _per_cent(chosen.model_probability),
                    "  ".join(f"{other.token} {_per_cent(other.sampling_probability)}" for other in others),
                )
            )
        heading = ("step", "token", "p (sampling)", "p (model)", "alternatives")
        return table_html(heading, rows, caption=self.text)


_MAX_NATS = 700  # exp of more leaves the range of floats


def _per_cent(probability: float) -> str:
    return f"{100 * probability:.1f}\N{NO-BREAK SPACE}%"


def perplexity(loss: float) -> float:
    """Exp of a loss in nats per token, within the range of floats."""
    return loss if math.isnan(loss) else math.exp(min(loss, _MAX_NATS))


@dataclass(frozen=True)
class Scored:
    """A line with its log-probability.

    Attributes:
        text: the line.
        tokens: display forms, EOS last; none for a single blank line.
        token_log_probs: log p of each token given all before it.
        num_words: words and the end of the line.
        num_characters: characters and the end of the line.
        num_unknown: the number of unknown tokens, which are all read as the same one.
    """

    text: str
    tokens: tuple[str, ...]
    token_log_probs: tuple[float, ...]
    num_words: int
    num_characters: int
    num_unknown: int = 0

    @classmethod
    def blank(cls, text: str) -> Scored:
        """The result for a blank line."""
        return cls(text, (), (), 0, 0)

    @property
    def log_prob(self) -> float:
        """Log p of the line."""
        return sum(self.token_log_probs)

    @property
    def perplexity(self) -> float | None:
        """Per token; None where there is none."""
        return perplexity(-self.log_prob / len(self.tokens)) if self.tokens else None

    def to_json(self) -> dict[str, Any]:
        """Everything as a JSON object."""
        return {
            "text": self.text,
            "log_prob": self.log_prob,
            "num_tokens": len(self.tokens),
            "perplexity": self.perplexity,
            "tokens": list(self.tokens),
            "token_log_probs": list(self.token_log_probs),
            "num_words": self.num_words,
            "num_characters": self.num_characters,
            "num_unknown": self.num_unknown,
        }

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Scored:
        """Read what `to_json` gives."""
        counts = (values["num_words"], values["num_characters"], values["num_unknown"])
        return cls(values["text"], tuple(values["tokens"]), tuple(values["token_log_probs"]), *counts)


@dataclass(frozen=True)
class TextScore:
    """The score of a whole text.

    Attributes:
        nats: −log p of the text.
        num_lines: lines with tokens.
        num_tokens: predictions, ends of lines counted.
        num_words: words, ends of lines counted.
        num_characters: characters, ends of lines counted.
        num_unknown: unknown tokens, which are all read as the same one.

    A text without tokens has no loss, perplexity or bits: they are nan, and None in JSON.
    """

    nats: float = 0.0
    num_lines: int = 0
    num_tokens: int = 0
    num_words: int = 0
    num_characters: int = 0
    num_unknown: int = 0

    @classmethod
    def of(cls, lines: Iterable[Scored]) -> TextScore:
        """Sum over lines."""
        total = cls()
        for line in lines:
            total = total.with_line(line)
        return total

    def with_line(self, line: Scored) -> TextScore:
        """The text with one more line."""
        return TextScore(
            self.nats - line.log_prob,
            self.num_lines + bool(line.tokens),
            self.num_tokens + len(line.tokens),
            self.num_words + line.num_words,
            self.num_characters + line.num_characters,
            self.num_unknown + line.num_unknown,
        )

    @property
    def loss(self) -> float:
        """Nats per token."""
        return self._each(self.num_tokens)

    @property
    def perplexity(self) -> float:
        """Per token, the training objective; with a word tokenizer it is per word."""
        return perplexity(self.loss)

    @property
    def word_perplexity(self) -> float:
        """Per word, whatever the tokens are: exp(nats / (words + ends of lines))."""
        return perplexity(self._each(self.num_words))

    @property
    def bits_per_character(self) -> float:
        """Bits per character, each end of a line counted as one."""
        return self._each(self.num_characters) / math.log(2)

    @property
    def unknown(self) -> str:
        """How many tokens are unknown, as the start of a sentence; empty where none is."""
        if not self.num_unknown:
            return ""
        share = f"{100 * self.num_unknown / self.num_tokens:.3g}\N{NO-BREAK SPACE}%"
        is_or_are = "is" if self.num_unknown == 1 else "are"
        return f"{self.num_unknown:,} of {self.num_tokens:,} tokens ({share}) {is_or_are} unknown"

    def _each(self, count: int) -> float:
        return self.nats / count if count else math.nan

    def to_json(self) -> dict[str, float | int | None]:
        """All scores by key; the perplexity per word only where tokens are not words."""
        per_word = {} if self.num_words == self.num_tokens else {"word_perplexity": self.word_perplexity}
        rates = {
            "loss": self.loss,
            "perplexity": self.perplexity,
            **per_word,
            "bits_per_character": self.bits_per_character,
        }
        return {
            **{name: value if self.num_tokens else None for name, value in rates.items()},
            "num_lines": self.num_lines,
            "num_tokens": self.num_tokens,
            "num_words": self.num_words,
            "num_characters": self.num_characters,
            "num_unknown": self.num_unknown,
        }


_MASKED = 1e-6  # a masked softmax leaves less


@dataclass(frozen=True, eq=False)
class Reading(PlottedResult, JsonResult):
    """A line with the attention of every step to the tokens before it.

    Attributes:
        text: the line as given.
        tokens: T display forms, BOS and EOS included where the model reads them.
        words: the index of each token's word; None for marks and blanks.
        alpha: of each layer, (T, T): row t is the attention of step t over positions. Zero above the diagonal, and
            where there is nothing to attend to.
        token_log_probs: log p(token | those before it), None for a token that is not predicted; None altogether for a
            model that predicts nothing.
        characters: whether the tokens are characters, which pictures never merge to words.
    """

    json_names = ("text", "tokens", "words", "token_log_probs", "alpha")

    text: str
    tokens: tuple[str, ...]
    words: tuple[int | None, ...]
    alpha: tuple[NDArray[np.floating], ...]
    token_log_probs: tuple[float | None, ...] | None = None
    characters: bool = False

    def __post_init__(self) -> None:
        size = len(self.tokens)
        for name, given in (("words", self.words), ("token_log_probs", self.token_log_probs)):
            if given is not None and len(given) != size:
                raise DataError(
                    f"reading of {self.text!r}: {len(given)} {name} for {size} tokens; give one for each"
                )
        for layer, alpha in enumerate(self.alpha):
            if alpha.shape != (size, size):
                raise DataError(
                    f"reading of {self.text!r}: alpha of layer {layer} has shape {alpha.shape} where its tokens "
                    f"need {(size, size)}; give one row per step and one column per position"
                )
            ahead = np.argwhere(np.triu(alpha, 1) > _MASKED)
            if len(ahead):
                step, position = map(int, ahead[0])
                raise DataError(
                    f"reading of {self.text!r}: step {step} of layer {layer} attends ahead, to position {position}; "
                    "rows are steps, columns are positions: is alpha transposed?"
                )

    def __repr__(self) -> str:
        return f"Reading({self.text!r}, {len(self.alpha)} layers)"

    @cached_property
    def units(self) -> Units:
        """The words or characters, and the marks at the ends, with the tokens they consist of."""
        return text_units(self.text, self.tokens, self.words, characters=self.characters)

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of the rows and columns of `word_alpha`."""
        return self.units.labels

    def word_alpha(self, layer: int = -1) -> NDArray[np.float64]:
        """Attention between words or characters (U, U).

        It is the mean over the tokens that attend and the sum over those attended to. A word of several tokens may
        attend to itself: its later tokens to its earlier ones.

        Args:
            layer: counted from 0; -1 is the last.

        Raises:
            ConfigError: there is no such layer.
        """
        if not -len(self.alpha) <= layer < len(self.alpha):
            raise ConfigError(
                f"layer = {layer}, but the reading of {self.text!r} has {len(self.alpha)} layers of attention; "
                "count them from 0"
            )
        return self.units.attending(self.units.attended(self.alpha[layer]))

    def figure(self, *, title: str | None = None, layer: int = -1) -> Figure:
        """Draw the growing sentence, one row per word, the words it attends to shaded, with a title.

        Raises:
            ConfigError: there is no such layer; see `word_alpha`.
        """
        from regard.plots.figures.words import draw_reading

        return draw_reading(self.labels, self.word_alpha(layer), title=title)

    def _repr_html_(self) -> str:
        """The last layer's attention as a heat map, for a notebook."""
        from regard.plots.html import heatmap_html

        if not self.alpha:
            return heatmap_html((), (), np.zeros((0, 0)), caption=self.text)
        return heatmap_html(self.labels, self.labels, self.word_alpha(), caption=self.text)
