"""How many steps lie between reading a source word and writing its counterpart, where one vector joins the two.

In: gold links and the source's length, or pairs that have them. Out: lags. Forwards the encoder still has the rest of
the sentence and the end mark to read after a word; backwards it began with the end mark, and the rest is what stands
before the word.
"""

from collections.abc import Iterable, Sequence

from regard.lab.measures.aligners import gold_of
from regard.text.links import Link
from regard.worlds import Example


def lags(links: Iterable[Link], num_sources: int, *, reverse: bool) -> list[int]:
    """Steps from reading source word j to writing target word i, of each link (j, i), in the order of the target.

    Forwards (T_x − j) + (i + 1), backwards j + (i + 1), both counted from 0.

    Args:
        links: pairs (j, i).
        num_sources: T_x, the end mark not counted.
        reverse: whether the encoder reads from the last word to the first.
    """
    in_order = sorted(links, key=lambda link: (link[1], link[0]))
    return [(j if reverse else num_sources - j) + i + 1 for j, i in in_order]


def mean_lags(examples: Sequence[Example], *, reverse: bool) -> dict[str, float]:
    """The mean lag over all sure links, and over the least of each sentence's.

    Args:
        examples: pairs with gold links; those without a sure one are passed over.
        reverse: see `lags`.
    """
    every = [lags(gold_of(e).sure, len(e.source.split()), reverse=reverse) for e in examples]
    every = [found for found in every if found]
    return {
        "mean": sum(map(sum, every)) / sum(map(len, every)),
        "least": sum(map(min, every)) / len(every),
    }
