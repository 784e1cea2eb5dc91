"""What was drawn, token by token, as a line for people to read.

In: the `Choice`s of one row. Out: a `Sample`. Knows a tokenizer and nothing of models.
"""

import math
from collections.abc import Sequence

from regard.output import Candidate, Sample, SampleStep
from regard.search import Choice
from regard.text import Tokenizer


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
