"""The caption of one feature vector.

In: the result of a search, as display forms. Out: `Caption`: the text, its tokens and scores, JSON. Knows nothing of
models, tokenizers or features.
"""

from __future__ import annotations

from dataclasses import dataclass

from regard.errors import DataError
from regard.tasks.result import JsonResult


@dataclass(frozen=True)
class Caption(JsonResult):
    """A caption, and its probability under the model.

    Attributes:
        text: as printed.
        tokens: display forms, EOS last.
        score: the length-normalised log-probability, which ranks hypotheses.
        log_prob: log p(text, end | features).
        token_log_probs: one per token; they sum to `log_prob`.
        alternatives: the rest of the n-best list, best first.
    """

    json_names = ("text", "score", "log_prob", "tokens", "token_log_probs", "alternatives")

    text: str
    tokens: tuple[str, ...]
    score: float
    log_prob: float
    token_log_probs: tuple[float, ...]
    alternatives: tuple[Caption, ...] = ()

    def __post_init__(self) -> None:
        if len(self.token_log_probs) != len(self.tokens):
            raise DataError(
                f"caption {self.text!r}: {len(self.token_log_probs)} token_log_probs for {len(self.tokens)} "
                "tokens; give one for each"
            )

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"Caption({self.text!r}, score={self.score:.4f})"
