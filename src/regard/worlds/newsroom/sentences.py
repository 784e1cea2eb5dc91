"""News, one line each: a clause, what someone says of it, or why it is so.

In: the dice. Out: a `Sentence`. Every line can be read in one way only: what may hang from a noun or from a verb
hangs from the noun, and nothing hangs from a verb after a noun with a clause of its own.
"""

import random

from regard.worlds.newsroom.lexicon import (
    DOERS,
    OF_ONES_OWN,
    POSSESSIVES,
    PRONOUNS,
    REFLEXIVES,
    TO_ONESELF,
    Verb,
)
from regard.worlds.newsroom.phrases import Mention, finite, mention, pick_verb, place, state
from regard.worlds.newsroom.tree import Node, Sentence, sentence_of

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
