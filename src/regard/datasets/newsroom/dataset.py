"""A sentence as a tree of words, and the line that it makes.

In: nodes that hang from one another. Out: the words from left to right, and which of them belong together. Function
words are heads, as in surface-syntactic dependencies: a noun hangs from the auxiliary that agrees with it, the main
verb too, and a noun after a preposition from that. Knows nothing of what the words mean.

Noun phrases of the newsroom: determiner, adjective, noun, and what stands after it.

In: dice and a sort of noun. Out: a `Mention`, the tree of the phrase with what later words must agree with. Clauses
inside a phrase are kept plain, so that a line can be read in one way only.

News, one line each: a clause, what someone says of it, or why it is so.

In: the dice. Out: a `Sentence`. Every line can be read in one way only: what may hang from a noun or from a verb
hangs from the noun, and nothing hangs from a verb after a noun with a clause of its own.

The world of a newsroom: short news for a language model, each line with the words that belong together.

In: sizes and a seed. Out: splits of lines such as ``The FBI is chasing a criminal on the run .`` What a word may be
hangs on words before it, often far before: verbs agree with their subjects across whatever stands between, particles
with their verbs, pronouns with their nouns, and what is done with who does it. A line's gold links say which words
those are, so that it can be measured whether a reader looks at them.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from regard.datasets.dataset import Example, Splits
from regard.datasets.filling import EXTRA, fill, split_of
from regard.datasets.newsroom.lexicon import (
    DOERS,
    NOUNS,
    OF_ONES_OWN,
    PLACES,
    POSSESSIVES,
    PRONOUNS,
    QUALITIES,
    REFLEXIVES,
    STATES,
    TO_ONESELF,
    VERBS,
    Noun,
    Verb,
)
from regard.text.links import GoldLinks

_VOWELS = "aeiou"


@dataclass(eq=False)
class Node:
    """A word with all that hangs from it.

    Attributes:
        word: as it is written within a sentence.
        before: what hangs from it and stands before it, from left to right.
        after: what hangs from it and stands after it.
        also: words elsewhere in the tree that it belongs to as well: a verb's subject, a pronoun's noun.
        agrees: the noun whose number it shows, if it is a finite verb.
    """

    word: str
    before: list[Node] = field(default_factory=list)
    after: list[Node] = field(default_factory=list)
    also: list[Node] = field(default_factory=list)
    agrees: Node | None = None

    def in_order(self) -> Iterator[Node]:
        """All words of the tree, from left to right."""
        for child in self.before:
            yield from child.in_order()
        yield self
        for child in self.after:
            yield from child.in_order()


@dataclass(frozen=True)
class Sentence:
    """A line that knows which of its words belong together.

    Attributes:
        words: from left to right, punctuation included.
        links: pairs (earlier word, later word), counted from 0: one hangs from the other, or refers to it.
        reach: how many words the farthest finite verb stands after the noun that it agrees with.
    """

    words: tuple[str, ...]
    links: frozenset[tuple[int, int]]
    reach: int

    @property
    def text(self) -> str:
        """The line."""
        return " ".join(self.words)


def sentence_of(root: Node) -> Sentence:
    """Write a tree down, with a capital at its head and a full stop, which belongs to no word, at its end."""
    nodes = list(root.in_order())
    place = {id(node): number for number, node in enumerate(nodes)}
    links, reach = set(), 0
    for here, node in enumerate(nodes):
        others = [*node.before, *node.after, *node.also, *([node.agrees] if node.agrees else [])]
        links |= {(min(here, place[id(one)]), max(here, place[id(one)])) for one in others}
        if node.agrees:
            reach = max(reach, here - place[id(node.agrees)])
    words = [node.word for node in nodes]
    for here, word in enumerate(words[:-1]):
        if word == "a" and words[here + 1][0] in _VOWELS:
            words[here] = "an"
    words[0] = words[0][0].upper() + words[0][1:]
    return Sentence((*words, "."), frozenset(links), reach)


_ONE = ("the", "the", "the", "a", "a", "a", "this", "every")
_MANY = ("the", "the", "two", "three", "these", "those", "several")
_FOR_ALL = ("the",)
"""The determiner of what there is only one of."""


@dataclass(frozen=True)
class Mention:
    """A noun phrase in its sentence.

    Attributes:
        node: the noun, its phrase hanging from it.
        sort: of the noun.
        agreement: ``m``, ``f``, ``n``, ``many``, or empty for one person who may be he or she.
        many: whether verbs agree in the plural.
        thing: whether it is no person, so that a clause about it begins with that.
        closed: whether a clause hangs from the noun, so that what follows could be taken for a part of it.
    """

    node: Node
    sort: str
    agreement: str
    many: bool
    thing: bool = False
    closed: bool = False


def pick_verb(rng: random.Random, sort: str, *, transitive: bool = False) -> Verb:
    """Draw a verb for a subject of a sort."""
    fitting = [verb for verb in VERBS if verb.subject == sort and (verb.objects or not transitive)]
    return rng.choice(fitting)


def mention(rng: random.Random, sort: str, *, plain: bool = False) -> Mention:
    """Draw a noun phrase.

    Args:
        rng: the dice.
        sort: of the noun.
        plain: whether nothing is to stand after the noun.
    """
    noun = rng.choice(NOUNS[sort])
    many = not noun.one or (bool(noun.many) and rng.random() < 0.45)
    single = not (noun.one and noun.many)
    node = Node(noun.many if many else noun.one)
    node.before.append(Node(rng.choice(_FOR_ALL if single else _MANY if many else _ONE)))
    if not single and rng.random() < 0.2:
        node.before.append(Node(rng.choice(QUALITIES[sort])))
    found = Mention(node, sort, "many" if many else noun.gender, many, thing=noun.gender == "n")
    if plain:
        return found
    return _modified(rng, found, noun)


def place(rng: random.Random) -> Node:
    """Draw where: a preposition and its noun."""
    return _as_it_stands(rng.choice(PLACES))


def state(rng: random.Random, sort: str) -> Node:
    """Draw how things are with a noun of a sort: a preposition and its noun."""
    return _as_it_stands(rng.choice(STATES[sort]))


def _as_it_stands(phrase: str) -> Node:
    """The last word hangs from the first, what stands between from the last."""
    first, *middle, last = phrase.split()
    return Node(first, after=[Node(last, before=[Node(word) for word in middle])])


def finite(rng: random.Random, verb: Verb, subject: Mention) -> tuple[Node, Node, str]:
    """Draw a tense: the finite verb, the main verb, and the tense's name.

    "Is" and "has" agree with the subject; "will" and the simple past, where both verbs are one, are the same for all.
    The subject is not hung from the verb here.
    """
    tense = rng.choice(("now", "now", "now", "lately", "lately", "then", "then", "soon"))
    one, many, form = {
        "now": ("is", "are", verb.doing),
        "lately": ("has", "have", verb.done),
        "soon": ("will", "will", verb.base),
        "then": ("", "", verb.did),
    }[tense]
    main = Node(form)
    if tense == "then":
        return main, main, tense
    head = Node(many if subject.many else one, after=[main])
    if tense != "soon":
        head.agrees = subject.node
    main.also.append(subject.node)
    return head, main, tense


def _modified(rng: random.Random, found: Mention, noun: Noun) -> Mention:
    """Hang something after the noun, or nothing."""
    draw = rng.random()
    if draw < 0.2:
        found.node.after.append(place(rng))
    elif draw < 0.45 and found.sort in STATES and noun.many:
        found.node.after.append(state(rng, found.sort))
    elif draw < 0.6 and found.sort in STATES and noun.many:
        found.node.after.append(_who(rng, found))
        return replace(found, closed=True)
    elif draw < 0.7 and found.sort == "crook":
        found.node.after.append(_whom(rng, found))
        return replace(found, closed=True)
    return found


def _who(rng: random.Random, found: Mention) -> Node:
    """A clause of which the noun is the subject."""
    verb = pick_verb(rng, found.sort, transitive=True) if found.sort != "animal" else pick_verb(rng, "animal")
    head, main, _ = finite(rng, verb, found)
    head.before.append(Node("that" if found.thing else "who", also=[found.node]))
    if verb.objects:
        main.after.append(mention(rng, rng.choice(verb.objects), plain=True).node)
    if verb.particle:
        main.after.append(Node(verb.particle))
    return head


def _whom(rng: random.Random, found: Mention) -> Node:
    """A clause of which the noun is the object."""
    chasing = [verb for verb in VERBS if "crook" in verb.objects and not verb.particle]
    verb = rng.choice(chasing)
    subject = mention(rng, verb.subject, plain=True)
    head, main, _ = finite(rng, verb, subject)
    head.before += [Node("that", also=[found.node]), subject.node]
    main.also.append(found.node)
    return head


SHORTEST, LONGEST = 5, 18
"""How many words a sentence has, punctuation included."""

FBI = "The FBI is chasing a criminal on the run ."
"""The sentence of the figure in Cheng, Dong & Lapata (2016)."""

_WEIGHTS = {"law": 4, "crook": 2, "star": 2, "power": 2, "firm": 2, "press": 1, "animal": 1}
_SUBJECTS = [sort for sort in DOERS for _ in range(_WEIGHTS[sort])]
_WHEN = {
    "now": ("today", "again"),
    "lately": ("again", "twice"),
    "then": ("yesterday", "twice"),
    "soon": ("tomorrow", "soon"),
}
"""When it happens, by the tense that says so."""
_SAYING = (("says", "say"), ("believes", "believe"), ("said", "said"))
_PAST = "said"


def write_news(rng: random.Random) -> Sentence:
    """Draw one sentence of `SHORTEST` to `LONGEST` words."""
    while True:
        sentence = sentence_of(_root(rng))
        if SHORTEST <= len(sentence.words) <= LONGEST:
            return sentence


def _root(rng: random.Random) -> Node:
    draw = rng.random()
    if draw < 0.7:
        return _clause(rng, mention(rng, rng.choice(_SUBJECTS)))[0]
    if draw < 0.85:
        return _said(rng)
    return _because(rng)


def _said(rng: random.Random) -> Node:
    """Someone says that something is so."""
    speaker = mention(rng, rng.choice(("press", "power", "law", "firm")))
    form = rng.choice(_SAYING)[speaker.many]
    verb = Node(form, before=[speaker.node], agrees=None if form == _PAST else speaker.node)
    told, _ = _clause(rng, mention(rng, rng.choice(_SUBJECTS)))
    verb.after.append(Node("that", after=[told]))
    return verb


def _because(rng: random.Random) -> Node:
    """Something is so because he, she, it or they did something else."""
    while True:
        subject = mention(rng, rng.choice(_SUBJECTS))
        if subject.agreement:
            break
    first, main = _clause(rng, subject)
    again = Node(PRONOUNS[subject.agreement], also=[subject.node])
    second, _ = _clause(rng, Mention(again, subject.sort, subject.agreement, subject.many))
    main.after.append(Node("because", after=[second]))
    return first


def _clause(rng: random.Random, subject: Mention) -> tuple[Node, Node]:
    """Say something of a subject: the finite verb, all hanging from it, and the main verb."""
    draw = rng.random()
    if draw < 0.12 and subject.agreement:
        return _reflexive(rng, subject)
    if draw < 0.21 and subject.agreement:
        return _lost(rng, subject)
    if draw < 0.3:
        return _is(rng, subject)
    verb = pick_verb(rng, subject.sort)
    head, main, tense = finite(rng, verb, subject)
    head.before.append(subject.node)
    if verb.objects:
        of = mention(rng, rng.choice(verb.objects), plain=bool(verb.particle))
        main.after.append(of.node)
        if verb.particle:
            main.after.append(Node(verb.particle))
        if not of.closed and rng.random() < 0.25:
            main.after.append(Node(rng.choice(_WHEN[tense])))
        return head, main
    if verb.particle:
        main.after.append(Node(verb.particle))
    main.after.append(place(rng) if rng.random() < 0.5 else Node(rng.choice(_WHEN[tense])))
    return head, main


def _reflexive(rng: random.Random, subject: Mention) -> tuple[Node, Node]:
    base, doing, did, done = rng.choice(TO_ONESELF).split()
    head, main, tense = finite(rng, Verb(subject.sort, base, doing, did, done, (), ""), subject)
    head.before.append(subject.node)
    main.after.append(Node(REFLEXIVES[subject.agreement], also=[subject.node]))
    if rng.random() < 0.5:
        main.after.append(place(rng) if rng.random() < 0.5 else Node(rng.choice(_WHEN[tense])))
    return head, main


def _lost(rng: random.Random, subject: Mention) -> tuple[Node, Node]:
    head, main, tense = finite(rng, Verb(subject.sort, "lose", "losing", "lost", "lost", (), ""), subject)
    head.before.append(subject.node)
    own = Node(POSSESSIVES[subject.agreement], also=[subject.node])
    main.after.append(Node(rng.choice(OF_ONES_OWN), before=[own]))
    if rng.random() < 0.4:
        main.after.append(Node(rng.choice(_WHEN[tense])))
    return head, main


def _is(rng: random.Random, subject: Mention) -> tuple[Node, Node]:
    verb = Node(rng.choice(("are", "were") if subject.many else ("is", "was")), agrees=subject.node)
    verb.before.append(subject.node)
    verb.after.append(state(rng, subject.sort))
    return verb, verb


FAR = 5
"""In the split ``far`` a finite verb stands at least so many words after its noun."""


class Newsroom:
    """News-like English sentences over a vocabulary of some 250 words, with the links between their own words."""

    name = "newsroom"
    task = "language_model"
    describes = "Short news in English for a language model, each line with the words that belong together."

    def splits(self, *, train: int, valid: int, test: int, seed: int) -> Splits:
        """Generate the corpus; no sentence occurs twice in it.

        Args:
            train: number of training sentences.
            valid: number of validation sentences.
            test: number of test sentences, and of those in the extra split ``far`` (a finite verb stands at least
                `FAR` words after the noun that it agrees with).
            seed: equal seeds give equal corpora.

        Raises:
            ConfigError: a size below 0, or there are not so many different sentences.
        """
        rng = random.Random(f"newsroom {seed}")

        def draw() -> tuple[str, Example]:
            sentence = write_news(rng)
            example = Example(sentence.text, gold=GoldLinks(sentence.links))
            split = split_of(example.source)
            if split == EXTRA:
                return "far" if sentence.reach >= FAR else "train", example
            return split, example

        parts = fill(self.name, draw, {"train": train, "valid": valid, "test": test, "far": test})
        far = parts.pop("far")
        return Splits(parts["train"], parts["valid"], parts["test"], {"far": far})
