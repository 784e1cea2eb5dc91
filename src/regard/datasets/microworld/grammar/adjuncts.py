"""Phrases of place, company and time, in at most a given number of English words.

In: room and how noun phrases are built. Out: a `Phrase`. Knows nothing of the verb it goes with.
"""

from regard.datasets.microworld.grammar.noun_phrase import Maker, name
from regard.datasets.microworld.grammar.talk import Talk
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
    return Phrase(words + inner.en, mots + inner.fr)


def place(talk: Talk, room: int, make: Maker, named: bool = True) -> Phrase:
    """Return where something happens; takes at least two words, or three where no town may be `named`."""
    draw = talk.random()
    if room < 3 or (draw < 0.2 and named):
        return town(talk, "in") if talk.random() < 0.6 else country(talk, "in")
    if draw < 0.5:
        return prepositional("in", make(talk, NOUNS["area"], room - 1, "bound"))
    if draw < 0.8:
        return prepositional("at", make(talk, NOUNS["site"], room - 1, "known"))
    if draw < 0.87 and room >= 5:
        return prepositional("in_front_of", make(talk, _BUILDINGS, room - 3, "bound"))
    return prepositional(talk.pick(("near", "behind")), make(talk, _BUILDINGS, room - 1, "bound"))


def spot(talk: Talk, room: int, make: Maker) -> Phrase:
    """Return where a thing lies; takes at least three words."""
    if talk.random() < 0.7:
        key = talk.pick(("on", "on", "under", "near"))
        return prepositional(key, make(talk, _SURFACES, room - 1, "bound"))
    return prepositional("in", make(talk, _CONTAINERS, room - 1, "bound"))


def company(talk: Talk, room: int, make: Maker, key: str, subject: Agreement) -> Phrase:
    """Return with whom, or for whom; takes at least two words."""
    draw = talk.random()
    if draw < 0.3 and (person := other_person(talk, subject)) is not None:
        word = Word(person.object, "PRON")
        return prepositional(key, Phrase([word], [Mot(person.stressed, word)]))
    if room < 3 or draw < 0.45:
        return prepositional(key, name(talk))
    return prepositional(key, make(talk, _PEOPLE, room - 1, "bound"))


def other_person(talk: Talk, subject: Agreement) -> Person | None:
    """Draw a pronoun, if it can be one that does not speak of the subject over again."""
    person = talk.person()
    mine, theirs = subject.person, person.agreement.person
    if mine == 2 and theirs == 2 and subject.feminine != person.agreement.feminine:
        return person
    return None if _PARTY[mine] == _PARTY[theirs] else person


_PARTY = (0, 1, 2, 0, 1, 3)
"""Whose side each French person is on: I and we are one party, all forms of you another."""


def town(talk: Talk, key: str) -> Phrase:
    """Return in, to or from a town: à Paris, de Paris."""
    english, french = talk.pick(TOWNS).split()
    return _named(key, english, french, "de" if key == "from" else "à")


def country(talk: Talk, key: str) -> Phrase:
    """Return in, to or from a country: en France, au Japon, du Japon, d' Italie."""
    english, french, gender = talk.pick(COUNTRIES).split()
    preposition = "de" if key == "from" else "en" if gender == "f" else "à"
    phrase = _named(key, english, french, preposition)
    if gender == "m":
        phrase.fr.insert(1, Mot("le", None, (phrase.en[1],), article=True))
    return phrase


def _named(key: str, english: str, french: str, preposition: str) -> Phrase:
    word, proper = Word(key, "ADP"), Word(english, "PROPN")
    return Phrase([word, proper], [Mot(preposition, word), Mot(french, proper)])
