"""Attention compared with gold links: kinds of links, scores of aligners, and pairs to show.

In: examples with `GoldLinks`, and the forced decodings and translations of them. Out: plain numbers, shares in percent,
and indices of examples that are chosen by their gold links alone, so that no choice can favour a model. Crossing and
one-to-many are determined by sure links; many-to-one by all gold links, since auxiliaries ("will" where "will wash" is
"lavera") are linked as possible ones. Nothing here knows how the models were trained.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.datasets import Example
from regard.evaluation.alignment import score_alignments
from regard.tasks.translate.result import Translation
from regard.text import GoldLinks, Links, format_gold

KINDS = ("in order", "crossing", "many-to-one", "one-to-many", "no sure link")
"""The kinds of target words. The first two and the last exclude each other; the others may come in addition."""
ALIGNERS = ("attention", "diagonal", "untrained")


def gold_links(example: Example) -> GoldLinks:
    """The gold links of an example whose dataset has them."""
    assert example.gold is not None, "this dataset has gold links"
    return example.gold


def word_attention(translation: Translation) -> NDArray[np.float64]:
    """The attention between words, (I + 1, J + 1), of a model that attends."""
    assert translation.word_alpha is not None, "this model attends"
    return translation.word_alpha.alpha


def pair_json(example: Example) -> dict[str, str]:
    """Both sentences and the gold links, as a JSON object."""
    return {"source": example.source, "target": example.target, "gold": format_gold(gold_links(example))}


def words_by_kind(gold: GoldLinks) -> dict[str, frozenset[int]]:
    """The target words of each of `KINDS`; words without a gold link belong to none.

    A word is *crossing* if one of its sure links crosses another sure link: (j − j′)(i − i′) < 0; *in order* if it has
    sure links and none crosses; *many-to-one* if several source words are linked to it; *one-to-many* if a source word
    surely linked to it is surely linked to others too.
    """
    linked = Counter(i for _, i in gold.possible)
    fertile = Counter(j for j, _ in gold.sure)
    sure = frozenset(i for _, i in gold.sure)
    crossing = frozenset(i for j, i in gold.sure if any((j - k) * (i - h) < 0 for k, h in gold.sure))
    return {
        "in order": sure - crossing,
        "crossing": crossing,
        "many-to-one": frozenset(i for i, count in linked.items() if count > 1),
        "one-to-many": frozenset(i for j, i in gold.sure if fertile[j] > 1),
        "no sure link": frozenset(linked) - sure,
    }


def unlinked_sources(gold: GoldLinks, num_sources: int) -> frozenset[int]:
    """The source words without a gold link: those without counterpart."""
    return frozenset(range(num_sources)) - {j for j, _ in gold.possible}


def diagonal_links(num_sources: int, num_targets: int) -> Links:
    """Target word i linked to the nearest j on the diagonal: an aligner that knows only the lengths."""
    slope = (num_sources - 1) / max(num_targets - 1, 1)
    return frozenset((round(i * slope), i) for i in range(num_targets))


def diagonal_aer(examples: Sequence[Example]) -> float:
    """The alignment error rate of the diagonal, in percent."""
    links = [diagonal_links(len(e.source.split()), len(e.target.split())) for e in examples]
    return 100 * score_alignments(links, [gold_links(e) for e in examples]).aer


@dataclass(frozen=True)
class LinkedShare:
    """How many target words are linked correctly.

    Attributes:
        correct: words with a correct link.
        words: all words.
    """

    correct: int
    words: int

    @property
    def percent(self) -> float:
        """Correct words in percent; nan if there are no words."""
        return 100 * self.correct / self.words if self.words else float("nan")


def correct_by_kind(predicted: Sequence[Links], gold: Sequence[GoldLinks]) -> dict[str, LinkedShare]:
    """For each kind of target words, how many have a predicted link that is a gold link."""
    correct: Counter[str] = Counter()
    words: Counter[str] = Counter()
    for links, annotated in zip(predicted, gold, strict=True):
        right = {i for _, i in links & annotated.possible}
        for kind, members in words_by_kind(annotated).items():
            words[kind] += len(members)
            correct[kind] += len(members & right)
    return {kind: LinkedShare(correct[kind], words[kind]) for kind in KINDS}


def weight_on_gold(
    alphas: Iterable[NDArray[np.floating]], gold: Iterable[GoldLinks], kind: str = ""
) -> float:
    """The mean attention on gold links, over target words that have one.

    Args:
        alphas: (I + 1, J + 1) of each pair, EOS last in both directions.
        gold: of each pair.
        kind: one of `KINDS`, if only words of that kind count.
    """
    total, words = 0.0, 0
    for alpha, annotated in zip(alphas, gold, strict=True):
        counted = words_by_kind(annotated)[kind] if kind else {i for _, i in annotated.possible}
        total += sum(float(alpha[i, j]) for j, i in annotated.possible if i in counted)
        words += len(counted)
    return total / words if words else float("nan")


@dataclass(frozen=True)
class Decodings:
    """How models decoded the same pairs; one translation per pair in each.

    Attributes:
        trained: forced decodings by the trained model.
        untrained: forced decodings by the same model before its first update.
        output: the trained model's own translations.
    """

    trained: Sequence[Translation]
    untrained: Sequence[Translation]
    output: Sequence[Translation]


def compare_aligners(examples: Sequence[Example], decodings: Decodings) -> dict[str, Any]:
    """The scores of each of `ALIGNERS`, overall and by kind of word, and of the attention during free decoding.

    Args:
        examples: the pairs, with gold links.
        decodings: of the same pairs.
    """
    gold = [gold_links(example) for example in examples]
    lengths = [(len(e.source.split()), len(e.target.split())) for e in examples]
    diagonals = [diagonal_links(*each) for each in lengths]
    links = {
        "attention": [each.word_links for each in decodings.trained],
        "diagonal": diagonals,
        "untrained": [each.word_links for each in decodings.untrained],
    }
    alphas = {
        "attention": [word_attention(each) for each in decodings.trained],
        "diagonal": [_one_hot(each, *size) for each, size in zip(diagonals, lengths, strict=True)],
        "untrained": [word_attention(each) for each in decodings.untrained],
    }
    shares = {name: correct_by_kind(links[name], gold) for name in ALIGNERS}
    kinds = {
        kind: {
            "words": shares["attention"][kind].words,
            **{name: shares[name][kind].percent for name in ALIGNERS},
        }
        for kind in KINDS
    }
    return {
        "aligners": {name: alignment_scores(links[name], alphas[name], gold) for name in ALIGNERS},
        "kinds": kinds,
        "crossing_weight": {name: 100 * weight_on_gold(alphas[name], gold, "crossing") for name in ALIGNERS},
        "own_output": _score_own_output(examples, gold, decodings),
        "without_counterpart": attention_received(gold, alphas["attention"]),
        "sum_of_a_row": max(float(np.abs(alpha.sum(axis=1) - 1).max()) for alpha in alphas["attention"]),
    }


def alignment_scores(
    links: Sequence[Links], alphas: Sequence[NDArray[np.floating]], gold: Sequence[GoldLinks]
) -> dict[str, float]:
    """AER, precision and recall of links, and the weight on gold links, in percent."""
    score = score_alignments(links, gold)
    parts = {"aer": score.aer, "precision": score.precision, "recall": score.recall}
    parts["weight"] = weight_on_gold(alphas, gold)
    return {name: 100 * value for name, value in parts.items()}


def _score_own_output(
    examples: Sequence[Example], gold: Sequence[GoldLinks], decodings: Decodings
) -> dict[str, float]:
    """The alignment during free decoding, where the output is the reference, so that gold links apply to it."""
    same = [k for k, each in enumerate(decodings.output) if each.text == examples[k].target]
    if not same:
        return {"sentences": 0}
    own = [decodings.output[k] for k in same]
    alphas = [word_attention(each) for each in own]
    forced = [word_attention(decodings.trained[k]) for k in same]
    return {
        "sentences": len(same),
        "furthest_from_forced": float(max(np.abs(a - b).max() for a, b in zip(alphas, forced, strict=True))),
        **alignment_scores([each.word_links for each in own], alphas, [gold[k] for k in same]),
    }


def attention_received(gold: Sequence[GoldLinks], alphas: Sequence[NDArray[np.floating]]) -> dict[str, float]:
    """The attention a source word gets from all target words together, with and without counterpart."""
    totals: dict[bool, list[float]] = {False: [], True: []}
    for annotated, alpha in zip(gold, alphas, strict=True):
        unlinked = unlinked_sources(annotated, alpha.shape[1] - 1)
        for j, total in enumerate(alpha[:-1, :-1].sum(axis=0)):
            totals[j in unlinked].append(float(total))
    means = {key: float(np.mean(values)) if values else float("nan") for key, values in totals.items()}
    return {"words": len(totals[True]), "received": means[True], "received_by_others": means[False]}


def _one_hot(links: Links, num_sources: int, num_targets: int) -> NDArray[np.float64]:
    """Links as attention with all weight on them, (I + 1, J + 1)."""
    alpha = np.zeros((num_targets + 1, num_sources + 1))
    for j, i in links:
        alpha[i, j] = 1
    return alpha


REORDERING, MANY, WITHOUT, LONG = (
    "reordering",
    "many-to-one",
    "a word without counterpart",
    "long, one-to-many",
)


def choose_examples(examples: Sequence[Example]) -> dict[str, int]:
    """The indices of the pairs to show, by title: for each title the first pair that fits and is not yet taken.

    Reordering has four or more target words with crossing links, many-to-one two or more words of the kind; without
    counterpart is a source word without a gold link; the long one has the greatest length and one-to-many links. A
    title that no pair fits is left out.
    """
    kinds = [words_by_kind(gold_links(example)) for example in examples]
    lengths = [len(example.source.split()) for example in examples]
    fits = {
        REORDERING: [len(each["crossing"]) >= 4 for each in kinds],
        MANY: [len(each["many-to-one"]) >= 2 for each in kinds],
        WITHOUT: [bool(unlinked_sources(gold_links(e), n)) for e, n in zip(examples, lengths, strict=True)],
        LONG: [
            n == max(lengths) and bool(each["one-to-many"]) for each, n in zip(kinds, lengths, strict=True)
        ],
    }
    chosen: dict[str, int] = {}
    for title, fitting in fits.items():
        free = [k for k, fit in enumerate(fitting) if fit and k not in chosen.values()]
        if free:
            chosen[title] = free[0]
    return chosen


def most_crossing(examples: Sequence[Example]) -> int:
    """The index of the first pair with the most crossing target words."""
    counts = [len(words_by_kind(gold_links(example))["crossing"]) for example in examples]
    return counts.index(max(counts))


def linked_words(title: str, example: Example) -> str:
    """The words of a pair that show what its title says."""
    gold, source, target = gold_links(example), example.source.split(), example.target.split()
    if title == REORDERING:
        crossing = words_by_kind(gold)["crossing"]
        moved = sorted({j for j, i in gold.sure if i in crossing})
        return f"“{_join_words(source, moved)}” is “{_join_words(target, crossing)}”"
    if title == WITHOUT:
        return ", ".join(f"“{source[j]}”" for j in sorted(unlinked_sources(gold, len(source))))
    if title == MANY:
        groups = [({j for j, h in gold.possible if h == i}, {i}) for i in range(len(target))]
        groups = [group for group in groups if len(group[0]) > 1]
    else:
        groups = [({j}, {i for k, i in gold.sure if k == j}) for j in range(len(source))]
        groups = [group for group in groups if len(group[1]) > 1]
    return ", ".join(
        f"“{_join_words(source, sources)}” is “{_join_words(target, targets)}”" for sources, targets in groups
    )


def _join_words(words: Sequence[str], indices: Iterable[int]) -> str:
    """The words at these indices in their order, with … where others are left out."""
    places = sorted(indices)
    parts = [words[places[0]]]
    for before, place in pairwise(places):
        parts += [words[place]] if place == before + 1 else ["…", words[place]]
    return " ".join(parts)
