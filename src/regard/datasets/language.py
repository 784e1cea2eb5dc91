"""The world of a language model: the English side of the microworld, each sentence once.

In: sizes, a seed, a range of lengths. Out: splits whose examples are lines and nothing else; where a line
belongs is the microworld's decision, so a language model trained here has read no test sentence of a
translator trained there.
"""

from collections.abc import Sequence

from regard.datasets.dataset import Example, Splits
from regard.datasets.microworld import Microworld


class Language:
    """English sentences of the microworld's grammar."""

    name = "language"
    task = "language_model"
    describes = "English sentences of the microworld's grammar, for a language model."

    def splits(
        self, *, train: int, valid: int, test: int, seed: int, shortest: int = 3, longest: int = 15
    ) -> Splits:
        """Generate the corpus; no sentence occurs twice in it.

        Args:
            train: number of training sentences.
            valid: number of validation sentences.
            test: number of test sentences, and of those in each of the extra splits: ``long`` (from one word
                more than `longest` up to twice as many) and ``unseen`` (each joins a pair of lexemes that no
                other split joins).
            seed: equal seeds give equal corpora.
            shortest: fewest words, punctuation included.
            longest: most words outside ``long``.

        Raises:
            ConfigError: the lengths cannot be had, or there are not so many different sentences of them.
        """
        pairs = Microworld().splits(
            train=train, valid=valid, test=test, seed=seed, shortest=shortest, longest=longest
        )
        extra = {name: _lines(part) for name, part in pairs.extra.items()}
        return Splits(_lines(pairs.train), _lines(pairs.valid), _lines(pairs.test), extra)


def _lines(examples: Sequence[Example]) -> list[Example]:
    return [Example(example.source) for example in examples]
