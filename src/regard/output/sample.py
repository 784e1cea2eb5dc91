"""One sentence a language model made up, with what else it might have said at every step.

In: what sampling drew, in display forms. Out: `Sample`: the text, its steps, a picture, JSON. Two distributions are
kept apart by name: the model's own, and the one that was drawn from, tempered and cut to the likeliest.
Log-probabilities are the model's. Knows nothing of models, tokenizers or tensors.
"""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any

from regard.errors import DataError

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Candidate:
    """A token that may come next.

    Attributes:
        token: its display form.
        model_probability: p(token | all before it) as the model has it.
        sampling_probability: the same after temperature and truncation: what was drawn from; 0 for a token that
            was cut off.
    """

    token: str
    model_probability: float
    sampling_probability: float

    def to_json(self) -> dict[str, Any]:
        """Give the candidate as a JSON object."""
        return {
            "token": self.token,
            "model_probability": self.model_probability,
            "sampling_probability": self.sampling_probability,
        }


@dataclass(frozen=True)
class SampleStep:
    """One position: what was drawn, and what else might have been.

    Attributes:
        chosen: what was drawn.
        alternatives: the likeliest others, in any order.
    """

    chosen: Candidate
    alternatives: tuple[Candidate, ...]

    def ranked(self, most: int) -> tuple[Candidate, ...]:
        """The likeliest to be drawn, best first; the chosen one is among them, in the last place if need be.

        Args:
            most: how many at most; at least 1.
        """
        everyone = sorted(
            (self.chosen, *self.alternatives),
            key=lambda one: (-one.sampling_probability, -one.model_probability),
        )
        leading = everyone[:most]
        return tuple(leading) if self.chosen in leading else (*leading[:-1], self.chosen)

    def to_json(self) -> dict[str, Any]:
        """Give the step as a JSON object."""
        return {**self.chosen.to_json(), "alternatives": [other.to_json() for other in self.alternatives]}


@dataclass(frozen=True)
class Sample:
    """A text a model continued.

    Attributes:
        text: the prompt and what was drawn after it, as it is printed.
        prompt: what was given; it may be empty.
        tokens: display forms of what was drawn, the end mark last where it was reached.
        token_log_probs: the model's log p of each of `tokens`.
        steps: one for each of `tokens`.
    """

    text: str
    prompt: str
    tokens: tuple[str, ...]
    token_log_probs: tuple[float, ...]
    steps: tuple[SampleStep, ...]

    def __post_init__(self) -> None:
        for name, given in (("token_log_probs", self.token_log_probs), ("steps", self.steps)):
            if len(given) != len(self.tokens):
                raise DataError(
                    f"sample {self.text!r}: {len(given)} {name} for {len(self.tokens)} tokens; give one each"
                )
        for number, (token, step) in enumerate(zip(self.tokens, self.steps, strict=True)):
            if step.chosen.token != token:
                raise DataError(
                    f"sample {self.text!r}: step {number} chose {step.chosen.token!r}, but token {number} is "
                    f"{token!r}; give the steps in the order of the tokens"
                )

    def __str__(self) -> str:
        return self.text

    @property
    def log_prob(self) -> float:
        """The model's log p(tokens | prompt)."""
        return sum(self.token_log_probs)

    def plot(self, path: str | PathLike[str] | None = None, *, title: str | None = None) -> Figure:
        """Draw the sentence with its alternatives hanging from every word.

        Args:
            path: where to save the picture, its format by its ending; nowhere if None.
            title: a line above it.

        Raises:
            MissingExtraError: matplotlib is not installed.
            DataError: the picture cannot be written.
        """
        from regard.output.pictures.canvas import save
        from regard.output.pictures.growth import draw_growth

        figure = draw_growth(self, title=title)
        if path is not None:
            save(figure, path)
        return figure

    def to_json(self) -> dict[str, Any]:
        """Give everything as a JSON object; which probability is whose stands in the names."""
        return {
            "text": self.text,
            "prompt": self.prompt,
            "tokens": list(self.tokens),
            "log_prob": self.log_prob,
            "token_log_probs": list(self.token_log_probs),
            "steps": [step.to_json() for step in self.steps],
        }
