"""Aligners side by side: the attention of a trained model, of an untrained one, and the diagonal, against gold links.

In: pairs with gold links, and how the models read and translated them. Out: plain numbers, shares in percent. Knows
nothing of how the models came about.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.lab.measures.link_kinds import (
    KINDS,
    diagonal_links,
    shares_found,
    sources_without,
    weight_on_gold,
)
from regard.output.alignment import score_alignments
from regard.output.translation import Translation
from regard.text import GoldLinks, Links
from regard.worlds import Example

ALIGNERS = ("attention", "diagonal", "untrained")


@dataclass(frozen=True)
class Reading:
    """What a model made of some pairs, one of each for a pair.

    Attributes:
        trained: the targets as the trained model reads them.
        untrained: as the same model read them before its first update.
        output: what the trained model writes by itself.
    """

    trained: Sequence[Translation]
    untrained: Sequence[Translation]
    output: Sequence[Translation]


def compare(examples: Sequence[Example], reading: Reading) -> dict[str, Any]:
    """The scores of each of `ALIGNERS`, over all and by kind of word, and of the attention while the model writes.

    Args:
        examples: the pairs, with gold links.
        reading: of the same pairs.
    """
    gold = [gold_of(example) for example in examples]
    lengths = [(len(e.source.split()), len(e.target.split())) for e in examples]
    diagonals = [diagonal_links(*each) for each in lengths]
    links = {
        "attention": [each.links for each in reading.trained],
        "diagonal": diagonals,
        "untrained": [each.links for each in reading.untrained],
    }
    alphas = {
        "attention": [alpha_of(each) for each in reading.trained],
        "diagonal": [_as_alpha(each, *size) for each, size in zip(diagonals, lengths, strict=True)],
        "untrained": [alpha_of(each) for each in reading.untrained],
    }
    shares = {name: shares_found(links[name], gold) for name in ALIGNERS}
    kinds = {
        kind: {
            "words": shares["attention"][kind].words,
            **{name: shares[name][kind].percent for name in ALIGNERS},
        }
        for kind in KINDS
    }
    return {
        "aligners": {name: scores(links[name], alphas[name], gold) for name in ALIGNERS},
        "kinds": kinds,
        "crossing_weight": {name: 100 * weight_on_gold(alphas[name], gold, "crossing") for name in ALIGNERS},
        "own_output": _own_output(examples, gold, reading),
        "without_counterpart": received(gold, alphas["attention"]),
        "sum_of_a_row": max(float(np.abs(alpha.sum(axis=1) - 1).max()) for alpha in alphas["attention"]),
    }


def diagonal_aer(examples: Sequence[Example]) -> float:
    """The alignment error rate of the diagonal, in percent."""
    links = [diagonal_links(len(e.source.split()), len(e.target.split())) for e in examples]
    return 100 * score_alignments(links, [gold_of(e) for e in examples]).aer


def scores(
    links: Sequence[Links], alphas: Sequence[NDArray[np.floating]], gold: Sequence[GoldLinks]
) -> dict[str, float]:
    """AER, precision and recall of links, and the weight that lies on gold links, in percent."""
    score = score_alignments(links, gold)
    parts = {"aer": score.aer, "precision": score.precision, "recall": score.recall}
    parts["weight"] = weight_on_gold(alphas, gold)
    return {name: 100 * value for name, value in parts.items()}


def _own_output(examples: Sequence[Example], gold: Sequence[GoldLinks], reading: Reading) -> dict[str, float]:
    """The alignment while the model writes by itself, where that is the reference, so that gold links fit it."""
    same = [k for k, each in enumerate(reading.output) if each.text == examples[k].target]
    if not same:
        return {"sentences": 0}
    own = [reading.output[k] for k in same]
    apart = [np.abs(alpha_of(reading.output[k]) - alpha_of(reading.trained[k])).max() for k in same]
    return {
        "sentences": len(same),
        "furthest_from_forced": float(max(apart)),
        **scores([each.links for each in own], [alpha_of(each) for each in own], [gold[k] for k in same]),
    }


def received(gold: Sequence[GoldLinks], alphas: Sequence[NDArray[np.floating]]) -> dict[str, float]:
    """How much attention a source word gets from all target words together, with and without counterpart."""
    totals: dict[bool, list[float]] = {False: [], True: []}
    for annotated, alpha in zip(gold, alphas, strict=True):
        without = sources_without(annotated, alpha.shape[1] - 1)
        for j, total in enumerate(alpha[:-1, :-1].sum(axis=0)):
            totals[j in without].append(float(total))
    means = {key: float(np.mean(values)) if values else float("nan") for key, values in totals.items()}
    return {"words": len(totals[True]), "received": means[True], "received_by_others": means[False]}


def _as_alpha(links: Links, num_sources: int, num_targets: int) -> NDArray[np.float64]:
    """Links as the attention of an aligner that is sure of them."""
    alpha = np.zeros((num_targets + 1, num_sources + 1))
    for j, i in links:
        alpha[i, j] = 1
    return alpha


def gold_of(example: Example) -> GoldLinks:
    """The gold links of an example of a world that knows them."""
    assert example.gold is not None, "this world knows its links"
    return example.gold


def alpha_of(read: Translation) -> NDArray[np.float64]:
    """The attention between words, (I + 1, J + 1), of a model that attends."""
    assert read.word_alpha is not None, "this model attends"
    return read.word_alpha.alpha
