"""Noun phrases: determiner, adjectives, noun, possessor, names, pronouns; with French agreement.

In: the nouns to choose from, a budget in English words, and a style, a key of the determiner tables in
`lexicon.function_words`. Out: a `NounPhrase`. Relative clauses and coordination are added in `clauses`.
"""

from collections.abc import Callable

from regard.datasets.microworld.french import opens_with_vowel
from regard.datasets.microworld.grammar.discourse import Discourse
from regard.datasets.microworld.lexicon.entries import AdjectiveEntry, NounEntry
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
    """A noun phrase and its agreement features.

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
        noun: NounEntry | None = None,
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


Maker = Callable[[Discourse, tuple[NounEntry, ...], int, str], NounPhrase]
"""Builds a noun phrase from some nouns, the budget in English words, and a style."""

_THIRD = {
    (feminine, plural): Agreement(5 if plural else 2, feminine, plural, 1 if plural else 2)
    for feminine in (False, True)
    for plural in (False, True)
}


def third_person(feminine: bool, plural: bool) -> Agreement:
    """The agreement of a noun."""
    return _THIRD[feminine, plural]


def pronoun(person: Person) -> NounPhrase:
    """A subject pronoun."""
    word = Word(person.subject, "PRON")
    return NounPhrase([word], [Mot(person.sujet, word)], person.agreement, None, person)


def name(discourse: Discourse) -> NounPhrase:
    """The first name of a person."""
    noun = discourse.pick_new(NAMES)
    word = Word(noun.en[0], "PROPN")
    return NounPhrase([word], [Mot(noun.fr[0], word)], _THIRD[noun.feminine, False], noun)


def simple_noun_phrase(
    discourse: Discourse, nouns: tuple[NounEntry, ...], budget: int, style: str
) -> NounPhrase:
    """Build determiner, adjectives and noun in at most `budget` words (never less than one)."""
    noun = discourse.pick(nouns)
    if noun.kind == "person" and style not in _INDEFINITE and (budget < 2 or discourse.random() < 0.12):
        return name(discourse)
    plural = discourse.random() < noun.plurality
    if budget >= 4 and noun.kind in _OWNED and style not in _INDEFINITE and discourse.random() < 0.25:
        return _owned(discourse, noun, plural, budget)
    en, fr = _determiner(discourse, noun, plural, style, budget)
    spare = budget - 1 - len(en)
    before, after = _adjectives(discourse, noun, spare) if spare > 0 else (None, None)
    if before is not None and before.en == "other" and en and en[-1].text in ("a", "every"):
        before = None
    if fr[-1].text == "des" and before is not None:
        fr[-1].text = "de"
    return _around(discourse, noun, plural, en, fr, before, after, spare)


_INDEFINITE = frozenset(("new", "none"))
_RARE_PLURAL = 0.1
"""Nouns that are plural less often than this (father, mother) take no possessive in the plural."""
_OWNED = frozenset(("animal", "text", "clothes", "vehicle", "thing", "area"))


def _around(
    discourse: Discourse,
    noun: NounEntry,
    plural: bool,
    en: list[Word],
    fr: list[Mot],
    before: AdjectiveEntry | None,
    after: AdjectiveEntry | None,
    spare: int,
) -> NounPhrase:
    """Put adjectives and noun behind the determiner words already in `en` and `fr`."""
    word = Word(noun.en[plural], "NOUN")
    mot = Mot(noun.fr[plural], word)
    if fr and fr[-1].sure is None and not fr[-1].possible:
        for bare in fr:
            bare.possible = (word,)
    if before is not None:
        discourse.note_modifier(before, noun)
        adjective = Word(before.en, "ADJ")
        en.append(adjective)
        form = before.fr[noun.feminine + 2 * plural]
        if not (plural or noun.feminine) and opens_with_vowel(mot.text):
            form = before.bridging
        fr.append(Mot(form, adjective))
    tail: list[Mot] = []
    if after is not None:
        discourse.note_modifier(after, noun)
        if spare >= 2 + (before is not None) and after.comparative and discourse.random() < 0.2:
            very = Word("very", "ADV")
            en.append(very)
            tail.append(Mot("très", very))
        adjective = Word(after.en, "ADJ")
        en.append(adjective)
        tail.append(Mot(after.fr[noun.feminine + 2 * plural], adjective))
    en.append(word)
    fr.append(mot)
    fr += tail
    discourse.mention(noun, noun.feminine, plural)
    return NounPhrase(en, fr, _THIRD[noun.feminine, plural], noun)


def _adjectives(
    discourse: Discourse, noun: NounEntry, spare: int
) -> tuple[AdjectiveEntry | None, AdjectiveEntry | None]:
    """Choose at most one adjective for either side of the French noun."""
    choices = FOR_KIND.get(noun.kind, ())
    if not choices or discourse.random() < 0.3:
        return None, None
    first = discourse.pick(choices)
    if spare > 1 and discourse.random() < 0.35:
        second = discourse.pick(choices)
        if first.before and not second.before:
            return first, second
        if second.before and not first.before:
            return second, first
    return (first, None) if first.before else (None, first)


def _determiner(
    discourse: Discourse, noun: NounEntry, plural: bool, style: str, budget: int
) -> tuple[list[Word], list[Mot]]:
    owner = 0.6 if noun.kind == "person" else 0.22
    if (
        noun.owned
        and style not in _INDEFINITE
        and discourse.random() < owner
        and (not plural or noun.plurality > _RARE_PLURAL)
    ):
        return possessive(discourse.pick_person(), noun.feminine, plural)
    table = MASS if noun.mass else PLURAL if plural else SINGULAR
    determiner = discourse.pick(table[style])
    while len(determiner.en) >= budget > 1:
        determiner = discourse.pick(table[style])
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
    """My, your, his … with its French form."""
    word = Word(person.possessive, "PRON")
    return [word], [Mot(person.mon[2 if plural else feminine], word)]


def _someone(discourse: Discourse) -> NounPhrase:
    """Build determiner and noun for one person."""
    noun = discourse.pick(NOUNS["person"])
    en, fr = _determiner(discourse, noun, False, "known", 2)
    return _around(discourse, noun, False, en, fr, None, None, 0)


def _owned(discourse: Discourse, noun: NounEntry, plural: bool, budget: int) -> NounPhrase:
    """Build the neighbour 's dog → le chien du voisin: the owner changes sides."""
    owner = name(discourse) if budget < 5 or discourse.random() < 0.4 else _someone(discourse)
    mark = Word("'s", "PART")
    article = Mot("les" if plural else "la" if noun.feminine else "le", None, (mark,), article=True)
    spare = budget - 2 - len(owner.en)
    before, after = _adjectives(discourse, noun, min(spare, 1)) if spare > 0 else (None, None)
    thing = _around(discourse, noun, plural, [*owner.en, mark], [article], before, after, spare)
    thing.fr += [Mot("de", mark), *owner.fr]
    return thing
