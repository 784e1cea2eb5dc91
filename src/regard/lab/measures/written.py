"""How good what a model wrote is, in the four numbers that experiments on translation show.

In: lines and their references, words separated by blanks. Out: numbers by name, as JSON has them.
"""

from collections.abc import Sequence

from regard.output.quality import measure


def score_written(written: Sequence[str], wanted: Sequence[str]) -> dict[str, float]:
    """BLEU, the percentage of lines that are word for word right, and how long the output is beside the references.

    Args:
        written: one line a sentence.
        wanted: the references, in the same order.

    Raises:
        DataError: no lines, or not as many of each.
    """
    quality = measure(written, wanted, tokenize="none", with_ter=False)
    words, due = (sum(len(line.split()) for line in side) for side in (written, wanted))
    return {
        "sentences": len(wanted),
        "bleu": quality.bleu,
        "exact_match": 100 * quality.exact_match,
        "length_ratio": words / due if due else float("nan"),
    }
