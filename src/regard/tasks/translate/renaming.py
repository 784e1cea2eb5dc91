"""Renaming symbols: endless training pairs from few, where a relation does not depend on which symbols there are.

In: pairs of symbol sequences, text or ids. Out: a `Correspondence`, the target symbol that each source symbol is
written as, found by counting; how far the pairs keep to it; pairs with their symbols exchanged, on both sides alike. To
double, to reverse or to transliterate a string commutes with renaming: f(π(x)) = π′(f(x)) for every permutation π of
the source's alphabet and the corresponding π′ of the target's, so each renamed pair is a pair of the relation.

After the data hallucination of Anastasopoulos & Neubig 2019 (D19-1091), which puts random characters in place of those
of an aligned stem and leaves affixes alone, once, before training. Here one permutation renames all of a pair that can
be renamed, so that repeated symbols stay repeated; counting takes the place of an alignment; and every epoch has new
pairs. All functions are pure.
"""

import random
from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Generic, TypeVar

Symbol = TypeVar("Symbol", bound=Hashable)
Pair = tuple[Sequence[Symbol], Sequence[Symbol]]

_MIN_AGREEMENT = 0.95
_MIN_COMPARED = 20  # target symbols, below which nothing is known of their places


@dataclass(frozen=True)
class Correspondence(Generic[Symbol]):
    """The target symbol that each source symbol is written as.

    Attributes:
        classes: the symbols that can be renamed, as (source, target). Those of one class can be exchanged: each
            source symbol is written with the same number of its target symbol. Each class has at least two.
    """

    classes: tuple[tuple[tuple[Symbol, Symbol], ...], ...]

    @property
    def pairs(self) -> list[tuple[Symbol, Symbol]]:
        """(Source, target) of all classes."""
        return [pair for members in self.classes for pair in members]


def find_correspondence(pairs: Sequence[Pair[Symbol]]) -> Correspondence[Symbol]:
    """Find the symbols that are counted in step: target y occurs k times as often as source x, k constant.

    x and y correspond if that holds in 95 % of the pairs that have one of them, for no other symbol as often, and for
    no other x. What does not correspond, such as an affix or a letter with two readings, keeps its name.

    Args:
        pairs: source and target symbols of each.
    """
    sources, targets, together = Counter[Symbol](), Counter[Symbol](), Counter[tuple[Symbol, Symbol]]()
    in_step = Counter[tuple[Symbol, Symbol, Fraction]]()
    for source, target in pairs:
        source_counts, target_counts = Counter(source), Counter(target)
        sources.update(source_counts.keys())
        targets.update(target_counts.keys())
        for x, n_x in source_counts.items():
            for y, n_y in target_counts.items():
                together[x, y] += 1
                in_step[x, y, Fraction(n_y, n_x)] += 1
    candidates: defaultdict[Symbol, list[tuple[Fraction, Symbol, Fraction]]] = defaultdict(list)
    for (x, y, k), count in in_step.items():
        agreement = Fraction(count, sources[x] + targets[y] - together[x, y])
        candidates[x].append((agreement, y, k))
    chosen: dict[Symbol, tuple[Symbol, Fraction]] = {}
    for x, found in candidates.items():
        best = max(agreement for agreement, _, _ in found)
        equals = [(y, k) for agreement, y, k in found if agreement == best]
        if best >= _MIN_AGREEMENT and len(equals) == 1:
            chosen[x] = equals[0]
    uses = Counter(y for y, _ in chosen.values())
    classes: defaultdict[Fraction, list[tuple[Symbol, Symbol]]] = defaultdict(list)
    for x, (y, k) in chosen.items():
        if uses[y] == 1:
            classes[k].append((x, y))
    return Correspondence(tuple(tuple(members) for members in classes.values() if len(members) > 1))


def share_written(pairs: Sequence[Pair[Symbol]], correspondence: Correspondence[Symbol]) -> float:
    """The share of the target's symbols that a corresponding source symbol is written as."""
    known = {y for _, y in correspondence.pairs}
    total = sum(len(target) for _, target in pairs)
    return sum(y in known for _, target in pairs for y in target) / max(total, 1)


def share_in_place(pairs: Sequence[Pair[Symbol]], correspondence: Correspondence[Symbol]) -> float:
    """How far the place of a target symbol depends on the lengths alone, and so not on the symbols.

    Where both sides' lengths are those of another pair, the symbol at target position i should come from the same
    source position j: so it is for reversed strings, and not for sorted ones, whose symbols are counted in step, too.
    Judged by the symbols that occur once in their source.

    Returns:
        The share of those compared whose j is the most frequent one; 0 where too few can be compared.
    """
    source_of = {y: x for x, y in correspondence.pairs}
    places: defaultdict[tuple[int, int, int], Counter[int]] = defaultdict(Counter)
    for source, target in pairs:
        once = {x: j for j, x in enumerate(source) if source.count(x) == 1}
        for i, y in enumerate(target):
            if y in source_of and source_of[y] in once and len(source) > 1:
                places[len(source), len(target), i][once[source_of[y]]] += 1
    compared = sum(counts.total() - 1 for counts in places.values())
    agreeing = sum(max(counts.values()) - 1 for counts in places.values())
    return agreeing / compared if compared >= _MIN_COMPARED else 0.0


def rename(
    pair: Pair[Symbol], correspondence: Correspondence[Symbol], rng: random.Random
) -> tuple[list[Symbol], list[Symbol]]:
    """Exchange the symbols of a pair by a random permutation of each class, on both sides alike.

    Args:
        pair: source and target symbols.
        correspondence: what can be renamed.
        rng: for the permutations; the same state gives the same names.
    """
    source_names: dict[Symbol, Symbol] = {}
    target_names: dict[Symbol, Symbol] = {}
    for members in correspondence.classes:
        for (x, y), (new_x, new_y) in zip(members, rng.sample(members, len(members)), strict=True):
            source_names[x], target_names[y] = new_x, new_y
    source, target = pair
    return [source_names.get(x, x) for x in source], [target_names.get(y, y) for y in target]
