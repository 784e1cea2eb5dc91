"""Pairs of sentences that show what an alignment can be, chosen by their gold links alone, and where in them to look.

In: examples with gold links. Out: the places of a few among them, by what they show, and words to put under a picture.
No model is asked, so no choice can flatter one.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise

from regard.lab.measures.aligners import gold_of
from regard.lab.measures.link_kinds import sources_without, words_by_kind
from regard.text import format_gold
from regard.worlds import Example

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
