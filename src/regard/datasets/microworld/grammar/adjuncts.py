"""Phrases of place, company and time.

In: a budget in English words and the maker of noun phrases. Out: a `Phrase`. Knows nothing of the verb it modifies.
"""

from regard.datasets.microworld.grammar.discourse import Discourse
from regard.datasets.microworld.grammar.noun_phrase import Maker, name
from regard.datasets.microworld.lexicon.function_words import (
    COUNTRIES,
    PREPOSITIONS,
    TOWNS,
    Agreement,
    Person,
)
from regard.datasets.microworld.lexicon.nouns import NOUNS, nouns_in
from regard.datasets.microworld.tokens import Mot, Phrase, Word

_SURFACES = NOUNS["furniture"]
_CONTAINERS = nouns_in("bag box suitcase kitchen room car")
_BUILDINGS = nouns_in("house church museum hotel castle school station theatre hospital")
_PEOPLE = NOUNS["person"]


def prepositional(key: str, inner: Phrase) -> Phrase:
    """Put a preposition before a noun phrase."""
    english, french = PREPOSITIONS[key]
    words = [Word(text, "ADP") for text in english]
    core = words[-2] if len(words) > 1 else words[0]
    mots = [Mot(french[0], core, tuple(word for word in words if word is not core))]
    mots += [Mot(text, None, (core,)) for text in french[1:]]
    return Phrase(words, mots) + inner


def locative(discourse: Discourse, budget: int, make: Maker, named: bool = True) -> Phrase:
    """Where something happens; at least two words, or three without a town or country."""
    choice = discourse.random()
    if budget < 3 or (choice < 0.2 and named):
        return town(discourse, "in") if discourse.random() < 0.6 else country(discourse, "in")
    if choice < 0.5:
        return prepositional("in", make(discourse, NOUNS["area"], budget - 1, "bound"))
    if choice < 0.8:
        return prepositional("at", make(discourse, NOUNS["site"], budget - 1, "known"))
    if choice < 0.87 and budget >= 5:
        return prepositional("in_front_of", make(discourse, _BUILDINGS, budget - 3, "bound"))
    return prepositional(discourse.pick(("near", "behind")), make(discourse, _BUILDINGS, budget - 1, "bound"))


def resting_place(discourse: Discourse, budget: int, make: Maker) -> Phrase:
    """Where a thing is; at least three words."""
    if discourse.random() < 0.7:
        key = discourse.pick(("on", "on", "under", "near"))
        return prepositional(key, make(discourse, _SURFACES, budget - 1, "bound"))
    return prepositional("in", make(discourse, _CONTAINERS, budget - 1, "bound"))


def companion(discourse: Discourse, budget: int, make: Maker, key: str, subject: Agreement) -> Phrase:
    """With whom, or for whom; at least two words."""
    choice = discourse.random()
    if choice < 0.3 and (person := other_person(discourse, subject)) is not None:
        word = Word(person.object, "PRON")
        return prepositional(key, Phrase([word], [Mot(person.stressed, word)]))
    if budget < 3 or choice < 0.45:
        return prepositional(key, name(discourse))
    return prepositional(key, make(discourse, _PEOPLE, budget - 1, "bound"))


def other_person(discourse: Discourse, subject: Agreement) -> Person | None:
    """Choose a pronoun; None if it could refer to the subject."""
    person = discourse.pick_person()
    own, other = subject.person, person.agreement.person
    if own == 2 and other == 2 and subject.feminine != person.agreement.feminine:
        return person
    return None if _PARTY[own] == _PARTY[other] else person


_PARTY = (0, 1, 2, 0, 1, 3)
"""Of each French person: I and we are one party, all forms of you another."""


def town(discourse: Discourse, key: str) -> Phrase:
    """In, to or from a town: à Paris, de Paris."""
    english, french = discourse.pick(TOWNS).split()
    return _named(key, english, french, "de" if key == "from" else "à")


def country(discourse: Discourse, key: str) -> Phrase:
    """In, to or from a country: en France, au Japon, du Japon, d' Italie."""
    english, french, gender = discourse.pick(COUNTRIES).split()
    preposition = "de" if key == "from" else "en" if gender == "f" else "à"
    phrase = _named(key, english, french, preposition)
    if gender == "m":
        phrase.fr.insert(1, Mot("le", None, (phrase.en[1],), article=True))
    return phrase


def _named(key: str, english: str, french: str, preposition: str) -> Phrase:
    word, proper = Word(key, "ADP"), Word(english, "PROPN")
    return Phrase([word, proper], [Mot(preposition, word), Mot(french, proper)])
