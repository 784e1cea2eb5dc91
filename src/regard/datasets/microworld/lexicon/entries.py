"""Lexical entries: nouns, adjectives and verbs with both languages side by side.

Entries are made once, when the tables are read, with every form; the grammar only chooses among them.
"""

from typing import NamedTuple

from regard.datasets.microworld.english import VerbForms
from regard.datasets.microworld.french import Conjugation


class NounEntry(NamedTuple):
    """A noun, or the proper name of a person.

    Attributes:
        en: English singular and plural.
        fr: French singular and plural.
        feminine: its French gender.
        kind: what it names: person, animal, food, … as listed in `nouns`.
        mass: True where only the singular is used, as in bread, pain.
        owned: True where my, your, his … go with it.
        plurality: how often it is plural.
    """

    en: tuple[str, str]
    fr: tuple[str, str]
    feminine: bool
    kind: str
    mass: bool
    owned: bool
    plurality: float


class AdjectiveEntry(NamedTuple):
    """An adjective.

    Attributes:
        en: its one English form.
        fr: French masculine and feminine singular, masculine and feminine plural.
        bridging: the masculine singular before a vowel: bel, nouvel, vieil.
        before: True where French puts it before the noun.
        comparative: ``taller``, or ``more`` where English uses that word, or empty where it is not compared.
        kinds: the kinds of noun it describes.
    """

    en: str
    fr: tuple[str, str, str, str]
    bridging: str
    before: bool
    comparative: str
    kinds: frozenset[str]


class VerbEntry(NamedTuple):
    """A verb with its English and French ways of taking a complement.

    Attributes:
        en: the English forms.
        particles: English words that follow it and belong to it: wake *up*, look *for*.
        light: True where the last particle carries the meaning: get *dressed*, fall *asleep*.
        fr: the French conjugation.
        etre: True where the compound tenses take être.
        reflexive: True where French adds se.
        oneself: True where English says himself, herself … for that.
        noun: a French noun that belongs to it, as in avoir *besoin*, avoir *faim*.
        link: the French preposition before its object: à, de, or empty.
        state: True where English has no progressive and the simple past is an imparfait.
        lively: False where English has no progressive although the past is a passé composé (see, find).
        auxiliary: True for be and the modal verbs, which need no do.
        subjects: kinds of noun that can be its subject.
        objects: nouns that can be its object.
    """

    en: VerbForms
    particles: tuple[str, ...]
    light: bool
    fr: Conjugation
    etre: bool
    reflexive: bool
    oneself: bool
    noun: str
    link: str
    state: bool
    lively: bool
    auxiliary: bool
    subjects: frozenset[str]
    objects: tuple[NounEntry, ...]
