"""Whole reviews: one clause, two of one side, or two of which one decides; in a frame that takes no side.

In: the dice. Out: a `Verdict`: the sentence, its side, and what makes it hard. The side is drawn first, and
the words are chosen to say it.
"""

import random
from typing import NamedTuple

from regard.worlds.sentiment.clauses import Review
from regard.worlds.sentiment.templates import CONTRASTS, FRAMES, JOINED

SHORTEST, LONGEST = 5, 30
"""How many words a review has, punctuation included."""

_SINGLE_SHARE = 0.4
_JOINED_SHARE = 0.2


class Verdict(NamedTuple):
    """A review.

    Attributes:
        text: its words and punctuation, separated by blanks.
        praise: which side it is on.
        kind: ``contrast`` where another side is heard too, else ``negation`` where something is denied or
            compared, else ``plain``.
    """

    text: str
    praise: bool
    kind: str


def write_review(rng: random.Random) -> Verdict:
    """Write one review of `SHORTEST` to `LONGEST` words."""
    while True:
        praise = rng.random() < 0.5
        draw = rng.random()
        contrasts = draw >= _SINGLE_SHARE + _JOINED_SHARE
        body = "{main}" if draw < _SINGLE_SHARE else rng.choice(CONTRASTS if contrasts else JOINED)
        review = Review(rng)
        text = review.fill(rng.choice(FRAMES).replace("{body}", body), praise)
        if SHORTEST <= len(text.split()) <= LONGEST:
            return Verdict(
                text, praise, "contrast" if contrasts else "negation" if review.denies else "plain"
            )
