"""What was written of one vector of features, with all that is known of it.

In: what search found, in display forms. Out: `Caption`: the text, its tokens and scores, JSON. Knows nothing of
models, tokenizers or the features themselves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from regard.errors import DataError


@dataclass(frozen=True)
class Caption:
    """A sentence about a vector, and how likely the model finds it.

    Attributes:
        text: as it is printed.
        tokens: display forms, the end mark last.
        score: what ranked it: the length-normalised log-probability.
        log_prob: log p(text, end | features).
        token_log_probs: one for each of `tokens`; they sum to `log_prob`.
        alternatives: the rest of the n-best list, best first.
    """

    text: str
    tokens: tuple[str, ...]
    score: float
    log_prob: float
    token_log_probs: tuple[float, ...]
    alternatives: tuple[Caption, ...] = ()

    def __post_init__(self) -> None:
        if len(self.token_log_probs) != len(self.tokens):
            raise DataError(
                f"description {self.text!r}: {len(self.token_log_probs)} token_log_probs for {len(self.tokens)} "
                "tokens; give one each"
            )

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"Description({self.text!r}, score={self.score:.4f})"

    def to_json(self) -> dict[str, Any]:
        """Give everything as a JSON object."""
        return {
            "text": self.text,
            "score": self.score,
            "log_prob": self.log_prob,
            "tokens": list(self.tokens),
            "token_log_probs": list(self.token_log_probs),
            "alternatives": [other.to_json() for other in self.alternatives],
        }
