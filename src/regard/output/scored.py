"""What a language model makes of given text: a line's log-probability, and a whole text's perplexity.

In: log-probabilities, words and characters counted. Out: `Scored` for a line, `TextScore` for a text. Every end of a
line is predicted and counted as a token, a word and a character; an unknown word is a word like any other, as in the
published figures. Knows nothing of models, tokenizers or tensors.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

_MOST_NATS = 700  # exp of more leaves the range of floats


def perplexity(loss: float) -> float:
    """Exp of a loss in nats a token, as far as floats reach."""
    return loss if math.isnan(loss) else math.exp(min(loss, _MOST_NATS))


@dataclass(frozen=True)
class Scored:
    """A line as a language model reads it.

    Attributes:
        text: the line.
        tokens: display forms, the end mark last; none for a blank line by itself, where nothing is said.
        token_log_probs: log p of each of `tokens` given all before it.
        num_words: words and the end of the line.
        num_characters: characters and the end of the line.
        num_unknown: how many of `tokens` the model does not know, and reads as one and the same.
    """

    text: str
    tokens: tuple[str, ...]
    token_log_probs: tuple[float, ...]
    num_words: int
    num_characters: int
    num_unknown: int = 0

    @classmethod
    def blank(cls, text: str) -> Scored:
        """Nothing to score."""
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
        """Give everything as a JSON object."""
        return {
            "text": self.text,
            "log_prob": self.log_prob,
            "num_tokens": len(self.tokens),
            "perplexity": self.perplexity,
            "tokens": list(self.tokens),
            "token_log_probs": list(self.token_log_probs),
        }


@dataclass(frozen=True)
class TextScore:
    """A text as a language model reads it, summed up.

    Attributes:
        nats: −log p of all of it.
        num_lines: those with something to predict.
        num_tokens: predictions, ends of lines counted.
        num_words: words, ends of lines counted.
        num_characters: characters, ends of lines counted.
        num_unknown: tokens that the model does not know, and reads as one and the same.

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
        """Sum up lines, read once."""
        total = cls()
        for line in lines:
            total = total.with_line(line)
        return total

    def with_line(self, line: Scored) -> TextScore:
        """The text with one line more."""
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
        """Nats a token."""
        return self._each(self.num_tokens)

    @property
    def perplexity(self) -> float:
        """Per token: what the model was trained for; with a word tokenizer that is per word."""
        return perplexity(self.loss)

    @property
    def word_perplexity(self) -> float:
        """Per word, whatever the tokens are: exp(nats / (words + ends of lines))."""
        return perplexity(self._each(self.num_words))

    @property
    def bits_per_character(self) -> float:
        """Bits a character, ends of lines counted as one each."""
        return self._each(self.num_characters) / math.log(2)

    @property
    def unknown(self) -> str:
        """How many tokens are unknown, as a sentence begins; empty where none is."""
        if not self.num_unknown:
            return ""
        share = f"{100 * self.num_unknown / self.num_tokens:.3g}\N{NO-BREAK SPACE}%"
        verb = "is" if self.num_unknown == 1 else "are"
        return f"{self.num_unknown:,} of {self.num_tokens:,} tokens ({share}) {verb} unknown"

    def _each(self, count: int) -> float:
        return self.nats / count if count else math.nan

    def to_json(self) -> dict[str, float | int | None]:
        """Give all numbers by name; the perplexity per word only where tokens are not words, so that it is another."""
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
