"""Noun phrases: determiner, adjectives, noun, possessor, names, pronouns; with all French agreement.

In: the nouns to choose from, how many words there is room for, and a style (see `lexicon.determiners`).
Out: a `NounPhrase`. Relative clauses and coordination are added by `rich`.
"""

from collections.abc import Callable

from regard.datasets.microworld.french import opens_with_vowel
from regard.datasets.microworld.grammar.talk import Talk
from regard.datasets.microworld.lexicon.entries import Adjective, Noun
from regard.datasets.microworld.lexicon.function_words import (
    MASS,
    PLURAL,
    SINGULAR,
    Agreement,
    Determiner,
    Person,
)
from regard.datasets.microworld.lexicon.nouns import FOR_KIND, NAMES, NOUNS
from regard.datasets.microworld.tokens import Mot, Phrase, Word


class NounPhrase(Phrase):
    """A noun phrase with what agrees with it.

    Attributes:
        agreement: person, gender and number.
        noun: its head; None for a pronoun that stands for a person.
        person: the pronoun's row, where it is a pronoun.
        negative: True for nobody, which needs ``ne`` before the French verb.
    """

    __slots__ = ("agreement", "negative", "noun", "person")

    def __init__(
        self,
        en: list[Word],
        fr: list[Mot],
        agreement: Agreement,
        noun: Noun | None = None,
        person: Person | None = None,
        negative: bool = False,
    ) -> None:
        self.en = en
        self.fr = fr
        self.agreement = agreement
        self.noun = noun
        self.person = person
        self.negative = negative

    @property
    def kind(self) -> str:
        """The kind of its noun; a pronoun without a noun is a person."""
        return "person" if self.noun is None else self.noun.kind


Maker = Callable[[Talk, tuple[Noun, ...], int, str], NounPhrase]
"""Builds a noun phrase from some nouns, the room in English words, and a style."""

_THIRD = {
    (feminine, plural): Agreement(5 if plural else 2, feminine, plural, 1 if plural else 2)
    for feminine in (False, True)
    for plural in (False, True)
}


def third_person(feminine: bool, plural: bool) -> Agreement:
    """Return the agreement of a noun."""
    return _THIRD[feminine, plural]


def pronoun(person: Person) -> NounPhrase:
    """Return a subject pronoun."""
    word = Word(person.subject, "PRON")
    return NounPhrase([word], [Mot(person.sujet, word)], person.agreement, None, person)


def name(talk: Talk) -> NounPhrase:
    """Return a person's first name."""
    noun = talk.other(NAMES)
    word = Word(noun.en[0], "PROPN")
    return NounPhrase([word], [Mot(noun.fr[0], word)], _THIRD[noun.feminine, False], noun)


def plain(talk: Talk, nouns: tuple[Noun, ...], room: int, style: str) -> NounPhrase:
    """Build determiner, adjectives and noun in at most `room` words (never less than one)."""
    noun = talk.pick(nouns)
    if noun.kind == "person" and style not in _INDEFINITE and (room < 2 or talk.random() < 0.12):
        return name(talk)
    plural = talk.random() < noun.plurality
    if room >= 4 and noun.kind in _OWNED and style not in _INDEFINITE and talk.random() < 0.25:
        return _owned(talk, noun, plural, room)
    en, fr = _determiner(talk, noun, plural, style, room)
    spare = room - 1 - len(en)
    before, after = _adjectives(talk, noun, spare) if spare > 0 else (None, None)
    if before is not None and before.en == "other" and en and en[-1].text in ("a", "every"):
        before = None
    if fr[-1].text == "des" and before is not None:
        fr[-1].text = "de"
    return _around(talk, noun, plural, en, fr, before, after, spare)


_INDEFINITE = frozenset(("new", "none"))
_SELDOM = 0.1
"""Nouns that are plural more seldom than this (father, mother) take no possessive in the plural."""
_OWNED = frozenset(("animal", "text", "clothes", "vehicle", "thing", "area"))


def _around(
    talk: Talk,
    noun: Noun,
    plural: bool,
    en: list[Word],
    fr: list[Mot],
    before: Adjective | None,
    after: Adjective | None,
    spare: int,
) -> NounPhrase:
    """Put adjectives and noun behind the determiner words already in `en` and `fr`."""
    word = Word(noun.en[plural], "NOUN")
    mot = Mot(noun.fr[plural], word)
    if fr and fr[-1].sure is None and not fr[-1].possible:
        for bare in fr:
            bare.possible = (word,)
    if before is not None:
        talk.caption(before, noun)
        adjective = Word(before.en, "ADJ")
        en.append(adjective)
        form = before.fr[noun.feminine + 2 * plural]
        if not (plural or noun.feminine) and opens_with_vowel(mot.text):
            form = before.bridging
        fr.append(Mot(form, adjective))
    tail: list[Mot] = []
    if after is not None:
        talk.caption(after, noun)
        if spare >= 2 + (before is not None) and after.comparative and talk.random() < 0.2:
            very = Word("very", "ADV")
            en.append(very)
            tail.append(Mot("très", very))
        adjective = Word(after.en, "ADJ")
        en.append(adjective)
        tail.append(Mot(after.fr[noun.feminine + 2 * plural], adjective))
    en.append(word)
    fr.append(mot)
    fr += tail
    talk.mention(noun, noun.feminine, plural)
    return NounPhrase(en, fr, _THIRD[noun.feminine, plural], noun)


def _adjectives(talk: Talk, noun: Noun, spare: int) -> tuple[Adjective | None, Adjective | None]:
    """Draw at most one adjective for either side of the French noun."""
    choices = FOR_KIND.get(noun.kind, ())
    if not choices or talk.random() < 0.3:
        return None, None
    first = talk.pick(choices)
    if spare > 1 and talk.random() < 0.35:
        second = talk.pick(choices)
        if first.before and not second.before:
            return first, second
        if second.before and not first.before:
            return second, first
    return (first, None) if first.before else (None, first)


def _determiner(talk: Talk, noun: Noun, plural: bool, style: str, room: int) -> tuple[list[Word], list[Mot]]:
    owner = 0.6 if noun.kind == "person" else 0.22
    if (
        noun.owned
        and style not in _INDEFINITE
        and talk.random() < owner
        and (not plural or noun.plurality > _SELDOM)
    ):
        return possessive(talk.person(), noun.feminine, plural)
    table = MASS if noun.mass else PLURAL if plural else SINGULAR
    determiner = talk.pick(table[style])
    while len(determiner.en) >= room > 1:
        determiner = talk.pick(table[style])
    return spell_determiner(determiner, noun.feminine)


def spell_determiner(determiner: Determiner, feminine: bool) -> tuple[list[Word], list[Mot]]:
    """Write a determiner in both languages; a French article without an English one is linked later."""
    en = [Word(text, tag) for text, tag in determiner.en]
    fr = []
    for text, (sure, possible) in zip(determiner.fr[feminine], determiner.links, strict=False):
        besides = () if possible is None else (en[possible],)
        fr.append(Mot(text, None if sure is None else en[sure], besides))
    if determiner.definite:
        fr[-1].article = True
    return en, fr


def possessive(person: Person, feminine: bool, plural: bool) -> tuple[list[Word], list[Mot]]:
    """Return my, your, his … with its French form."""
    word = Word(person.possessive, "PRON")
    return [word], [Mot(person.mon[2 if plural else feminine], word)]


def _someone(talk: Talk) -> NounPhrase:
    """Build determiner and noun for one person."""
    noun = talk.pick(NOUNS["person"])
    en, fr = _determiner(talk, noun, False, "known", 2)
    return _around(talk, noun, False, en, fr, None, None, 0)


def _owned(talk: Talk, noun: Noun, plural: bool, room: int) -> NounPhrase:
    """Build the neighbour 's dog → le chien du voisin: the owner changes sides."""
    owner = name(talk) if room < 5 or talk.random() < 0.4 else _someone(talk)
    mark = Word("'s", "PART")
    article = Mot("les" if plural else "la" if noun.feminine else "le", None, (mark,), article=True)
    spare = room - 2 - len(owner.en)
    before, after = _adjectives(talk, noun, min(spare, 1)) if spare > 0 else (None, None)
    thing = _around(talk, noun, plural, [*owner.en, mark], [article], before, after, spare)
    thing.fr += [Mot("de", mark), *owner.fr]
    return thing
