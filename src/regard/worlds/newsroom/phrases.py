"""Noun phrases of the newsroom: determiner, adjective, noun, and what stands after it.

In: dice and a sort of noun. Out: a `Mention`, the tree of the phrase with what later words must agree with. Clauses
inside a phrase are kept plain, so that a line can be read in one way only.
"""

import random
from dataclasses import dataclass, replace

from regard.worlds.newsroom.lexicon import NOUNS, PLACES, QUALITIES, STATES, VERBS, Noun, Verb
from regard.worlds.newsroom.tree import Node

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
