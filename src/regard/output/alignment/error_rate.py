"""Alignment error rate over a corpus, after Och & Ney (2003).

In: predicted `Links` and annotated `GoldLinks`, one of each a sentence. Out: `AlignmentScore`, fractions
from 0 to 1. Counts are summed over the corpus before they are divided, so that long sentences weigh more.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from regard.errors import DataError
from regard.text.links import GoldLinks, Links


@dataclass(frozen=True, slots=True)
class AlignmentScore:
    """How well links A agree with sure links S and possible links P ⊇ S.

    Attributes:
        aer: 1 − (|A∩S| + |A∩P|) / (|A| + |S|); 0 where both A and S are empty.
        precision: |A∩P| / |A|; 1 where A is empty, for nothing claimed is wrong.
        recall: |A∩S| / |S|; 1 where S is empty, for nothing is missed.
        num_links: |A|.
        num_sure: |S|.
        num_possible: |P|.
    """

    aer: float
    precision: float
    recall: float
    num_links: int
    num_sure: int
    num_possible: int


def score_alignments(predicted: Sequence[Links], gold: Sequence[GoldLinks]) -> AlignmentScore:
    """Score the links of a corpus against gold links.

    Args:
        predicted: the links of each sentence.
        gold: the gold links of the same sentences in the same order.

    Raises:
        DataError: the two differ in length.
    """
    if len(predicted) != len(gold):
        raise DataError(
            f"{len(predicted)} sentences have links and {len(gold)} have gold links; "
            "give one line of gold links a sentence, an empty one where there are none"
        )
    num_links = sum(len(links) for links in predicted)
    num_sure = sum(len(annotated.sure) for annotated in gold)
    sure_hits = sum(len(links & annotated.sure) for links, annotated in zip(predicted, gold, strict=True))
    possible_hits = sum(
        len(links & annotated.possible) for links, annotated in zip(predicted, gold, strict=True)
    )
    total = num_links + num_sure
    return AlignmentScore(
        aer=1 - (sure_hits + possible_hits) / total if total else 0.0,
        precision=possible_hits / num_links if num_links else 1.0,
        recall=sure_hits / num_sure if num_sure else 1.0,
        num_links=num_links,
        num_sure=num_sure,
        num_possible=sum(len(annotated.possible) for annotated in gold),
    )
