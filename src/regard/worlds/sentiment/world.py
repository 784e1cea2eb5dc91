"""The world of sentiment: reviews from a grammar, to be read as praise or blame.

In: sizes and a seed. Out: splits of sentences such as ``the acting is superb , but the story is a bore .`` →
``negative``. The label is what the sentence was made to say: a denial turns a word round; after ``but`` the
second clause decides, with ``although`` and ``despite`` the main one. Counting words of praise and blame is
no way to the answer.
"""

import random

from regard.worlds.filling import EXTRA, fill, split_of
from regard.worlds.sentiment.sentences import write_review
from regard.worlds.world import Example, Splits

LABELS = ("negative", "positive")
"""The labels, in order."""

_KINDS = ("plain", "negation", "contrast")


class Sentiment:
    """Reviews of films, books, restaurants, hotels, music and machines."""

    name = "sentiment"
    task = "classify"
    describes = "Reviews that praise or blame, with negation and contrast, so that counting words fails."

    def splits(self, *, train: int, valid: int, test: int, seed: int) -> Splits:
        """Generate the corpus; no review occurs twice in it, and either label is drawn as often as the other.

        Args:
            train: number of training reviews.
            valid: number of validation reviews.
            test: number of test reviews, and of those in each of the extra splits: ``contrast`` (both sides
                are heard, and one decides), ``negation`` (something is denied or compared, and no other side
                is heard) and ``plain`` (neither).
            seed: equal seeds give equal corpora.

        Raises:
            ConfigError: a size below 0, or more than there are different reviews to draw with ease.
        """
        rng = random.Random(f"sentiment {seed}")

        def draw() -> tuple[str, Example]:
            review = write_review(rng)
            split = split_of(review.text)
            return review.kind if split == EXTRA else split, Example(review.text, LABELS[review.praise])

        parts = fill(
            self.name, draw, {"train": train, "valid": valid, "test": test} | dict.fromkeys(_KINDS, test)
        )
        extra = {kind: parts[kind] for kind in _KINDS}
        return Splits(parts["train"], parts["valid"], parts["test"], extra)
