"""The newsroom dataset: short news for a language model, each line with the dependencies between its words.

In: sizes and a seed. Out: splits of lines such as ``The FBI is chasing a criminal on the run .`` A word depends on
earlier ones, often far back: verbs agree with their subjects across what is between them, particles go with their
verbs, pronouns with their antecedents, and objects with who acts. The gold links of a line are these dependencies, so
that it can be measured whether a model attends to them.

A sentence is built as a dependency tree and then linearised. Function words are heads, as in surface-syntactic
dependencies: a subject depends on the auxiliary that agrees with it, the main verb too, and a noun after a preposition
on that preposition. Every line has one reading: a modifier that could attach to a noun or to a verb attaches to the
noun, and nothing attaches to a verb after a noun with a relative clause.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from regard.datasets.dataset import EXTRA, Example, Splits, assign_split, fill_splits
from regard.datasets.newsroom.lexicon import (
    ADJECTIVES,
    NOUNS,
    PLACES,
    POSSESSIONS,
    POSSESSIVES,
    PRONOUNS,
    REFLEXIVE_VERBS,
    REFLEXIVES,
    STATES,
    SUBJECT_SORTS,
    VERBS,
    Noun,
    Verb,
)
from regard.text.links import GoldLinks

_VOWELS = "aeiou"


@dataclass(eq=False)
class DependencyNode:
    """A word and its dependents.

    Attributes:
        word: as it is written within a sentence.
        before: its dependents to the left, from left to right.
        after: its dependents to the right.
        also: words elsewhere in the tree that it is linked to: a verb's subject, a pronoun's antecedent.
        agrees: the noun a finite verb agrees with.
    """

    word: str
    before: list[DependencyNode] = field(default_factory=list)
    after: list[DependencyNode] = field(default_factory=list)
    also: list[DependencyNode] = field(default_factory=list)
    agrees: DependencyNode | None = None

    def in_order(self) -> Iterator[DependencyNode]:
        """The words of the tree, from left to right."""
        for child in self.before:
            yield from child.in_order()
        yield self
        for child in self.after:
            yield from child.in_order()


@dataclass(frozen=True)
class Sentence:
    """A line with its dependencies.

    Attributes:
        words: from left to right, punctuation included.
        links: pairs (earlier word, later word), counted from 0: one depends on the other, or refers to it.
        agreement_distance: the most words from a noun to the finite verb that agrees with it.
    """

    words: tuple[str, ...]
    links: frozenset[tuple[int, int]]
    agreement_distance: int

    @property
    def text(self) -> str:
        """The line."""
        return " ".join(self.words)


def linearize(root: DependencyNode) -> Sentence:
    """Write a tree as a sentence, with a capital letter first and a full stop, which is linked to no word, last."""
    nodes = list(root.in_order())
    place = {id(node): number for number, node in enumerate(nodes)}
    links, distance = set(), 0
    for here, node in enumerate(nodes):
        linked = [*node.before, *node.after, *node.also, *([node.agrees] if node.agrees else [])]
        links |= {(min(here, place[id(other)]), max(here, place[id(other)])) for other in linked}
        if node.agrees:
            distance = max(distance, here - place[id(node.agrees)])
    words = [node.word for node in nodes]
    for here, word in enumerate(words[:-1]):
        if word == "a" and words[here + 1][0] in _VOWELS:
            words[here] = "an"
    words[0] = words[0][0].upper() + words[0][1:]
    return Sentence((*words, "."), frozenset(links), distance)


_SINGULAR = ("the", "the", "the", "a", "a", "a", "this", "every")
_PLURAL = ("the", "the", "two", "three", "these", "those", "several")
_UNIQUE = ("the",)
"""Determiners of singular and plural nouns, and of nouns that have only one of the two."""


@dataclass(frozen=True)
class Mention:
    """A noun phrase in its sentence.

    Attributes:
        node: the noun, with the rest of the phrase as its dependents.
        sort: of the noun.
        agreement: ``m``, ``f``, ``n``, ``plural``, or empty for one person of unknown gender.
        plural: whether verbs agree in the plural.
        thing: whether it is not a person, so that its relative pronoun is that.
        closed: whether the noun has a relative clause, so that what follows could be taken for a part of it.
    """

    node: DependencyNode
    sort: str
    agreement: str
    plural: bool
    thing: bool = False
    closed: bool = False


def pick_verb(rng: random.Random, sort: str, *, transitive: bool = False) -> Verb:
    """Choose a verb for a subject of a sort."""
    return rng.choice([verb for verb in VERBS if verb.subject == sort and (verb.objects or not transitive)])


def build_mention(rng: random.Random, sort: str, *, simple: bool = False) -> Mention:
    """Build a noun phrase.

    Args:
        rng: the random generator.
        sort: of the noun.
        simple: whether the noun is the last word of the phrase.
    """
    noun = rng.choice(NOUNS[sort])
    plural = not noun.singular or (bool(noun.plural) and rng.random() < 0.45)
    unique = not (noun.singular and noun.plural)
    node = DependencyNode(noun.plural if plural else noun.singular)
    determiners = _UNIQUE if unique else _PLURAL if plural else _SINGULAR
    node.before.append(DependencyNode(rng.choice(determiners)))
    if not unique and rng.random() < 0.2:
        node.before.append(DependencyNode(rng.choice(ADJECTIVES[sort])))
    phrase = Mention(node, sort, "plural" if plural else noun.gender, plural, thing=noun.gender == "n")
    return phrase if simple else _postmodify(rng, phrase, noun)


def pick_place(rng: random.Random) -> DependencyNode:
    """Choose a prepositional phrase of place."""
    return _prepositional_phrase(rng.choice(PLACES))


def pick_state(rng: random.Random, sort: str) -> DependencyNode:
    """Choose a prepositional phrase that describes a noun of a sort, such as on the run."""
    return _prepositional_phrase(rng.choice(STATES[sort]))


def _prepositional_phrase(phrase: str) -> DependencyNode:
    """The noun depends on the preposition, the words between them on the noun."""
    first, *middle, last = phrase.split()
    return DependencyNode(
        first, after=[DependencyNode(last, before=[DependencyNode(word) for word in middle])]
    )


def finite(rng: random.Random, verb: Verb, subject: Mention) -> tuple[DependencyNode, DependencyNode, str]:
    """Choose a tense; return the finite verb, the main verb, and the tense.

    "Is" and "has" agree with the subject; "will" and the simple past, where both verbs are one, do not inflect.
    The caller makes the subject a dependent.
    """
    tense = rng.choice(("progressive",) * 3 + ("perfect",) * 2 + ("past",) * 2 + ("future",))
    singular, plural, form = {
        "progressive": ("is", "are", verb.gerund),
        "perfect": ("has", "have", verb.participle),
        "future": ("will", "will", verb.base),
        "past": ("", "", verb.past),
    }[tense]
    main = DependencyNode(form)
    if tense == "past":
        return main, main, tense
    head = DependencyNode(plural if subject.plural else singular, after=[main])
    if tense != "future":
        head.agrees = subject.node
    main.also.append(subject.node)
    return head, main, tense


def _postmodify(rng: random.Random, phrase: Mention, noun: Noun) -> Mention:
    """Add a modifier after the noun, or none."""
    choice = rng.random()
    if choice < 0.2:
        phrase.node.after.append(pick_place(rng))
    elif choice < 0.45 and phrase.sort in STATES and noun.plural:
        phrase.node.after.append(pick_state(rng, phrase.sort))
    elif choice < 0.6 and phrase.sort in STATES and noun.plural:
        phrase.node.after.append(_subject_relative(rng, phrase))
        return replace(phrase, closed=True)
    elif choice < 0.7 and phrase.sort == "crook":
        phrase.node.after.append(_object_relative(rng, phrase))
        return replace(phrase, closed=True)
    return phrase


def _subject_relative(rng: random.Random, phrase: Mention) -> DependencyNode:
    """A relative clause of which the noun is the subject."""
    verb = (
        pick_verb(rng, phrase.sort, transitive=True) if phrase.sort != "animal" else pick_verb(rng, "animal")
    )
    head, main, _ = finite(rng, verb, phrase)
    head.before.append(DependencyNode("that" if phrase.thing else "who", also=[phrase.node]))
    if verb.objects:
        main.after.append(build_mention(rng, rng.choice(verb.objects), simple=True).node)
    if verb.particle:
        main.after.append(DependencyNode(verb.particle))
    return head


def _object_relative(rng: random.Random, phrase: Mention) -> DependencyNode:
    """A relative clause of which the noun is the object."""
    verb = rng.choice([verb for verb in VERBS if "crook" in verb.objects and not verb.particle])
    subject = build_mention(rng, verb.subject, simple=True)
    head, main, _ = finite(rng, verb, subject)
    head.before += [DependencyNode("that", also=[phrase.node]), subject.node]
    main.also.append(phrase.node)
    return head


SHORTEST, LONGEST = 5, 18
"""The fewest and the most words of a sentence, punctuation included."""

FBI = "The FBI is chasing a criminal on the run ."
"""The sentence of the figure in Cheng, Dong & Lapata (2016)."""

_WEIGHTS = {"law": 4, "crook": 2, "star": 2, "power": 2, "firm": 2, "press": 1, "animal": 1}
_SUBJECTS = [sort for sort in SUBJECT_SORTS for _ in range(_WEIGHTS[sort])]
_WHEN = {
    "progressive": ("today", "again"),
    "perfect": ("again", "twice"),
    "past": ("yesterday", "twice"),
    "future": ("tomorrow", "soon"),
}
"""Adverbs of time by tense."""
_REPORTING_VERBS = (("says", "say"), ("believes", "believe"), ("said", "said"))
_PAST = "said"


def write_news(rng: random.Random) -> Sentence:
    """Generate one sentence of `SHORTEST` to `LONGEST` words."""
    while True:
        sentence = linearize(_root(rng))
        if SHORTEST <= len(sentence.words) <= LONGEST:
            return sentence


def _root(rng: random.Random) -> DependencyNode:
    choice = rng.random()
    if choice < 0.7:
        return _clause(rng, build_mention(rng, rng.choice(_SUBJECTS)))[0]
    if choice < 0.85:
        return _reported_speech(rng)
    return _causal(rng)


def _reported_speech(rng: random.Random) -> DependencyNode:
    """A reporting verb and a clause with that."""
    speaker = build_mention(rng, rng.choice(("press", "power", "law", "firm")))
    form = rng.choice(_REPORTING_VERBS)[speaker.plural]
    verb = DependencyNode(form, before=[speaker.node], agrees=None if form == _PAST else speaker.node)
    clause, _ = _clause(rng, build_mention(rng, rng.choice(_SUBJECTS)))
    verb.after.append(DependencyNode("that", after=[clause]))
    return verb


def _causal(rng: random.Random) -> DependencyNode:
    """A clause, and because with a pronoun for its subject."""
    while True:
        subject = build_mention(rng, rng.choice(_SUBJECTS))
        if subject.agreement:
            break
    first, main = _clause(rng, subject)
    pronoun = DependencyNode(PRONOUNS[subject.agreement], also=[subject.node])
    second, _ = _clause(rng, Mention(pronoun, subject.sort, subject.agreement, subject.plural))
    main.after.append(DependencyNode("because", after=[second]))
    return first


def _clause(rng: random.Random, subject: Mention) -> tuple[DependencyNode, DependencyNode]:
    """Build a clause for a subject; return the finite verb, which is its root, and the main verb."""
    choice = rng.random()
    if choice < 0.12 and subject.agreement:
        return _reflexive(rng, subject)
    if choice < 0.21 and subject.agreement:
        return _possession(rng, subject)
    if choice < 0.3:
        return _copular(rng, subject)
    verb = pick_verb(rng, subject.sort)
    head, main, tense = finite(rng, verb, subject)
    head.before.append(subject.node)
    if verb.objects:
        patient = build_mention(rng, rng.choice(verb.objects), simple=bool(verb.particle))
        main.after.append(patient.node)
        if verb.particle:
            main.after.append(DependencyNode(verb.particle))
        if not patient.closed and rng.random() < 0.25:
            main.after.append(DependencyNode(rng.choice(_WHEN[tense])))
        return head, main
    if verb.particle:
        main.after.append(DependencyNode(verb.particle))
    main.after.append(pick_place(rng) if rng.random() < 0.5 else DependencyNode(rng.choice(_WHEN[tense])))
    return head, main


def _reflexive(rng: random.Random, subject: Mention) -> tuple[DependencyNode, DependencyNode]:
    base, gerund, past, participle = rng.choice(REFLEXIVE_VERBS).split()
    head, main, tense = finite(rng, Verb(subject.sort, base, gerund, past, participle, (), ""), subject)
    head.before.append(subject.node)
    main.after.append(DependencyNode(REFLEXIVES[subject.agreement], also=[subject.node]))
    if rng.random() < 0.5:
        main.after.append(pick_place(rng) if rng.random() < 0.5 else DependencyNode(rng.choice(_WHEN[tense])))
    return head, main


def _possession(rng: random.Random, subject: Mention) -> tuple[DependencyNode, DependencyNode]:
    head, main, tense = finite(rng, Verb(subject.sort, "lose", "losing", "lost", "lost", (), ""), subject)
    head.before.append(subject.node)
    possessive = DependencyNode(POSSESSIVES[subject.agreement], also=[subject.node])
    main.after.append(DependencyNode(rng.choice(POSSESSIONS), before=[possessive]))
    if rng.random() < 0.4:
        main.after.append(DependencyNode(rng.choice(_WHEN[tense])))
    return head, main


def _copular(rng: random.Random, subject: Mention) -> tuple[DependencyNode, DependencyNode]:
    verb = DependencyNode(
        rng.choice(("are", "were") if subject.plural else ("is", "was")), agrees=subject.node
    )
    verb.before.append(subject.node)
    verb.after.append(pick_state(rng, subject.sort))
    return verb, verb


FAR = 5
"""The least agreement distance in the split ``far``, in words."""


class Newsroom:
    """News-like English sentences over a vocabulary of some 250 words, with their dependencies as gold links."""

    name = "newsroom"
    task = "language_model"
    summary = "Short news in English for a language model, each line with the dependencies between its words."

    def splits(self, *, train: int, valid: int, test: int, seed: int) -> Splits:
        """Generate the corpus; no sentence occurs twice in it.

        Args:
            train: number of training sentences.
            valid: number of validation sentences.
            test: number of test sentences, and of those in the extra split ``far`` (a finite verb is at least
                `FAR` words after the noun that it agrees with).
            seed: equal seeds give equal corpora.

        Raises:
            ConfigError: a size below 0, or fewer different sentences than asked for.
        """
        rng = random.Random(f"newsroom {seed}")

        def sample() -> tuple[str, Example]:
            sentence = write_news(rng)
            example = Example(sentence.text, gold=GoldLinks(sentence.links))
            split = assign_split(example.source)
            if split == EXTRA:
                return "far" if sentence.agreement_distance >= FAR else "train", example
            return split, example

        return fill_splits(self.name, sample, train=train, valid=valid, test=test, extra=("far",))
