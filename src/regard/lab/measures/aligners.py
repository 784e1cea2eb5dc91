"""The kinds of link between two sentences, judged by gold links alone, and how many of each kind a model finds.

In: `GoldLinks`, predicted `Links` or attention over words. Out: target words by kind, shares of them, and the links of
an aligner that knows nothing. Order and one-to-many are judged by sure links; many-to-one by all gold links, since
the helpers of a word ("will" where "will wash" is "lavera") are linked as possible ones.

Aligners side by side: the attention of a trained model, of an untrained one, and the diagonal, against gold links.

In: pairs with gold links, and how the models read and translated them. Out: plain numbers, shares in percent. Knows
nothing of how the models came about.

Pairs of sentences that show what an alignment can be, chosen by their gold links alone, and where in them to look.

In: examples with gold links. Out: the places of a few among them, by what they show, and words to put under a picture.
No model is asked, so no choice can flatter one.

How many steps lie between reading a source word and writing its counterpart, where one vector joins the two.

In: gold links and the source's length, or pairs that have them. Out: lags. Forwards the encoder still has the rest of
the sentence and the end mark to read after a word; backwards it began with the end mark, and the rest is what stands
before the word.
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
from regard.text.links import Link

KINDS = ("in order", "crossing", "many-to-one", "one-to-many", "no sure link")
"""What a target word can be. Of the first two and the last it is one; it can be of the others beside."""


@dataclass(frozen=True)
class Share:
    """How many out of how many.

    Attributes:
        found: so many.
        words: of so many.
    """

    found: int
    words: int

    @property
    def percent(self) -> float:
        """Found of a hundred; no number where there are no words."""
        return 100 * self.found / self.words if self.words else float("nan")


def words_by_kind(gold: GoldLinks) -> dict[str, frozenset[int]]:
    """The target words of each of `KINDS`; words that no gold link touches are of none.

    A word is *crossing* where a sure link of its crosses another sure link: (j − j′)(i − i′) < 0; *in order* where it
    has sure links and none does; *many-to-one* where several source words are linked to it; *one-to-many* where a
    source word surely linked to it is surely linked to others too.
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


def sources_without(gold: GoldLinks, num_sources: int) -> frozenset[int]:
    """The source words that no gold link touches: those without counterpart."""
    return frozenset(range(num_sources)) - {j for j, _ in gold.possible}


def diagonal_links(num_sources: int, num_targets: int) -> Links:
    """The links of an aligner that knows lengths and nothing else: i to the nearest j on the line from end to end."""
    slope = (num_sources - 1) / max(num_targets - 1, 1)
    return frozenset((round(i * slope), i) for i in range(num_targets))


def shares_found(predicted: Sequence[Links], gold: Sequence[GoldLinks]) -> dict[str, Share]:
    """Of the target words of each kind, how many have a predicted link that is a gold link."""
    found: Counter[str] = Counter()
    words: Counter[str] = Counter()
    for links, annotated in zip(predicted, gold, strict=True):
        right = {i for _, i in links & annotated.possible}
        for kind, members in words_by_kind(annotated).items():
            words[kind] += len(members)
            found[kind] += len(members & right)
    return {kind: Share(found[kind], words[kind]) for kind in KINDS}


def weight_on_gold(
    alphas: Iterable[NDArray[np.floating]], gold: Iterable[GoldLinks], kind: str = ""
) -> float:
    """The mean, over target words with a gold link, of the attention that lies on gold links.

    Args:
        alphas: (I + 1, J + 1) of each pair, the end mark last in both directions.
        gold: of each pair.
        kind: one of `KINDS`, if only words of that kind count.
    """
    total, words = 0.0, 0
    for alpha, annotated in zip(alphas, gold, strict=True):
        counted = words_by_kind(annotated)[kind] if kind else {i for _, i in annotated.possible}
        total += sum(float(alpha[i, j]) for j, i in annotated.possible if i in counted)
        words += len(counted)
    return total / words if words else float("nan")


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


REORDERING, MANY, WITHOUT, LONG = (
    "reordering",
    "many-to-one",
    "a word without counterpart",
    "long, one-to-many",
)


def choose(examples: Sequence[Example]) -> dict[str, int]:
    """The places of the pairs to be drawn, by title: each the first that is not yet taken and of its kind.

    Reordering has four or more target words with crossing links, many-to-one two or more words of the kind; without
    counterpart is a source word that no gold link touches; the long one is as long as any and has one-to-many links. A
    title that no pair fits is left out.
    """
    kinds = [words_by_kind(gold_of(example)) for example in examples]
    lengths = [len(example.source.split()) for example in examples]
    fits = {
        REORDERING: [len(each["crossing"]) >= 4 for each in kinds],
        MANY: [len(each["many-to-one"]) >= 2 for each in kinds],
        WITHOUT: [bool(sources_without(gold_of(e), n)) for e, n in zip(examples, lengths, strict=True)],
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
    """The place of the first pair with as many crossing target words as any."""
    counts = [len(words_by_kind(gold_of(example))["crossing"]) for example in examples]
    return counts.index(max(counts))


def where(title: str, example: Example) -> str:
    """The words at which a pair shows what its title says."""
    gold, source, target = gold_of(example), example.source.split(), example.target.split()
    if title == REORDERING:
        crossing = words_by_kind(gold)["crossing"]
        turned = sorted({j for j, i in gold.sure if i in crossing})
        return f"“{_words(source, turned)}” is “{_words(target, crossing)}”"
    if title == WITHOUT:
        return ", ".join(f"“{source[j]}”" for j in sorted(sources_without(gold, len(source))))
    if title == MANY:
        groups = [({j for j, h in gold.possible if h == i}, {i}) for i in range(len(target))]
        groups = [group for group in groups if len(group[0]) > 1]
    else:
        groups = [({j}, {i for k, i in gold.sure if k == j}) for j in range(len(source))]
        groups = [group for group in groups if len(group[1]) > 1]
    return ", ".join(f"“{_words(source, ours)}” is “{_words(target, theirs)}”" for ours, theirs in groups)


def in_words(example: Example) -> dict[str, str]:
    """A pair as the numbers of an experiment tell it: both sentences and the gold links."""
    return {"source": example.source, "target": example.target, "gold": format_gold(gold_of(example))}


def _words(words: Sequence[str], chosen: Iterable[int]) -> str:
    """The chosen words in their order, with … where some between them are left out."""
    places = sorted(chosen)
    parts = [words[places[0]]]
    for before, place in pairwise(places):
        parts += [words[place]] if place == before + 1 else ["…", words[place]]
    return " ".join(parts)


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
