"""What every task of one text does alike with it: learn a vocabulary, leave out what cannot be learnt from.

In: lines, or encoded examples and their lengths. Out: a tokenizer; the examples that are fit, and an account of the
others. Knows no task.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from regard.errors import DataError
from regard.text import Tokenizer, learn
from regard.training.config import TextTokenizerConfig

Example = TypeVar("Example")


def learn_text(lines: Iterable[str], config: TextTokenizerConfig) -> Tokenizer:
    """The tokenizer a run's configuration describes, learnt from lines.

    Raises:
        ConfigError: the size cannot be.
        DataError: there is no text in the lines.
    """
    return learn(
        config.text,
        lines,
        size=config.text_size,
        min_frequency=config.min_frequency,
        lowercase=config.lowercase,
    )


def fit_to_learn(
    examples: Sequence[Example],
    length: Callable[[Example], int],
    max_length: int,
    *,
    what: str,
    unit: str = "tokens",
) -> tuple[list[Example], list[str]]:
    """The examples that are neither blank nor too long.

    Args:
        examples: those to learn from.
        length: of one of them; 0 if it is blank.
        max_length: the most there may be, ``data.max_length``.
        what: what they are called, in the plural.
        unit: what the length is counted in.

    Returns:
        Those that are fit, in order, and a sentence for each reason why others are not.

    Raises:
        DataError: none is.
    """
    lengths = [length(example) for example in examples]
    kept = [example for example, count in zip(examples, lengths, strict=True) if 0 < count <= max_length]
    blank = lengths.count(0)
    too_long = len(lengths) - len(kept) - blank
    if not kept:
        raise DataError(
            f"an empty corpus: of {len(lengths):,} training {what} {blank:,} are blank and {too_long:,} have more than "
            f"{max_length} {unit}; raise data.max_length (now {max_length}), or give some with text"
        )
    reasons = ((blank, "blank"), (too_long, f"of more than {max_length} {unit} (data.max_length)"))
    return kept, [f"training {what}: left out {count:,} {reason}" for count, reason in reasons if count]
