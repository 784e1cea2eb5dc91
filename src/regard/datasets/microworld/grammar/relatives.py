"""Relative clauses: who sleeps, that he has bought, where she lives, whose dog barks.

In: a noun phrase, room in English words, the clause's time. The phrase grows by the clause. Inside, noun
phrases are plain: a relative clause holds no other.

Noun phrases that grow: with a relative clause, with a phrase of place or belonging, joined by and.

`RICH` gives for each time of a sentence the maker of its noun phrases; the time decides that of relative
clauses.
"""

from regard.datasets.microworld.grammar.adjuncts import place, prepositional, spot
from regard.datasets.microworld.grammar.frames import choose_frame
from regard.datasets.microworld.grammar.noun_phrase import (
    Maker,
    NounPhrase,
    name,
    plain,
    pronoun,
    third_person,
)
from regard.datasets.microworld.grammar.predicates import Setting, choose_voice, predicate
from regard.datasets.microworld.grammar.talk import Talk
from regard.datasets.microworld.lexicon import verbs
from regard.datasets.microworld.lexicon.entries import Noun, Verb
from regard.datasets.microworld.lexicon.nouns import NOUNS, nouns_in
from regard.datasets.microworld.tokens import Mot, Phrase, Word

_POSSESSED = nouns_in("animal") + nouns_in("daughter son brother sister mother father friend")
_PLACES = ("site", "area")


def relate(talk: Talk, phrase: NounPhrase, room: int, time: str) -> None:
    """Add a relative clause of about `room` words (at least 3) to a noun phrase."""
    setting = Setting(time, plain)
    draw = talk.random()
    kind = phrase.kind
    if kind in _PLACES and draw < 0.4:
        _where(talk, phrase, room, setting)
    elif kind == "person" and draw < 0.12 and room >= 4:
        _whose(talk, phrase, room, setting)
    elif draw < 0.55 and phrase.noun is not None and (taking := verbs.taking(phrase.noun)):
        _object(talk, phrase, room, setting, taking)
    else:
        _subject(talk, phrase, room, setting)


def _subject(talk: Talk, phrase: NounPhrase, room: int, setting: Setting) -> None:
    word = Word("who" if phrase.kind == "person" else "that", "PRON")
    subject = NounPhrase([word], [Mot("qui", word)], phrase.agreement, phrase.noun)
    verb = choose_frame(talk, subject, room - 1, setting)
    phrase.en += [word, *verb.words]
    phrase.fr += subject.fr + verb.fr


def short_subject(talk: Talk, room: int) -> NounPhrase:
    """Return a pronoun, a name or a short noun phrase for a person."""
    draw = talk.random()
    if room < 2 or draw < 0.6:
        return pronoun(talk.person())
    if draw < 0.75:
        return name(talk)
    return plain(talk, NOUNS["person"], min(room, 3), "subject")


def _object(talk: Talk, phrase: NounPhrase, room: int, setting: Setting, taking: tuple[Verb, ...]) -> None:
    word = Word("that", "PRON")
    verb = talk.pick(taking)
    subject = short_subject(talk, room - 2)
    voice = choose_voice(talk, verb, subject, setting, room - 2 - len(subject.en) - len(verb.particles))
    talk.act(subject.noun, verb)
    made = predicate(verb, voice, subject, preceding=phrase.agreement)
    phrase.en += [word, *subject.en, *made.words]
    phrase.fr += [Mot("que", word), *subject.fr, *made.fr]


def _where(talk: Talk, phrase: NounPhrase, room: int, setting: Setting) -> None:
    word = Word("where", "ADV")
    subject = short_subject(talk, room - 2)
    verb = talk.pick(verbs.STAYING)
    voice = choose_voice(talk, verb, subject, setting, room - 2 - len(subject.en) - len(verb.particles))
    talk.act(subject.noun, verb)
    made = predicate(verb, voice, subject)
    phrase.en += [word, *subject.en, *made.words]
    phrase.fr += [Mot("où", word), *subject.fr, *made.fr]


def _whose(talk: Talk, phrase: NounPhrase, room: int, setting: Setting) -> None:
    word = Word("whose", "PRON")
    noun = talk.pick(_POSSESSED)
    head = Word(noun.en[0], "NOUN")
    talk.mention(noun, noun.feminine, False)
    article = Mot("la" if noun.feminine else "le", None, (word,))
    subject = NounPhrase([head], [article, Mot(noun.fr[0], head)], third_person(noun.feminine, False), noun)
    verb = choose_frame(talk, subject, room - 2, setting)
    phrase.en += [word, *subject.en, *verb.words]
    phrase.fr += [Mot("dont", word), *subject.fr, *verb.fr]


_PAIRABLE = {"subject": "paired", "free": "free", "generic": "generic"}
_PARTS = nouns_in("opening garden kitchen room")
_BELONGINGS = nouns_in("hat coat scarf bag umbrella suitcase dog")
_WHOLES = nouns_in("house castle hotel church school museum farm theatre village")
_SHUT = frozenset(("negated", "none"))


def _rich(times: tuple[str, ...]) -> Maker:
    def make(talk: Talk, nouns: tuple[Noun, ...], room: int, style: str) -> NounPhrase:
        if room < 5 or style in _SHUT:
            return plain(talk, nouns, room, style)
        draw = talk.random()
        if style in _PAIRABLE and draw < 0.22:
            return _pair(talk, nouns, room, _PAIRABLE[style])
        if draw < 0.85:
            head = plain(talk, nouns, 3 if room > 6 and talk.random() < 0.5 else 2, style)
            left = room - len(head.en)
            if head.en[-1].tag == "PROPN" or left < 3:
                return head
            if left >= 4 and (left > 5 or draw < 0.5):
                relate(talk, head, left, talk.pick(times))
            else:
                _attach(talk, head, left)
            return head
        return plain(talk, nouns, room, style)

    return make


def _pair(talk: Talk, nouns: tuple[Noun, ...], room: int, style: str) -> NounPhrase:
    """Build the boy and the girl; French agrees in the masculine unless both are feminine."""
    first = plain(talk, nouns, min(2 + talk.upto(1), room - 3), style)
    others = tuple(noun for noun in nouns if noun is not first.noun)
    second = plain(talk, others, min(room - 1 - len(first.en), 4), style)
    word = Word("and", "CCONJ")
    feminine = first.agreement.feminine and second.agreement.feminine
    kind = first.noun or second.noun
    assert kind is not None
    talk.mention(kind, feminine, True)
    return NounPhrase(
        [*first.en, word, *second.en],
        [*first.fr, Mot("et", word), *second.fr],
        third_person(feminine, True),
        first.noun,
    )


def _attach(talk: Talk, head: NounPhrase, room: int) -> None:
    """Add of the house, on the table, in the garden, with the hat."""
    noun = head.noun
    assert noun is not None
    extra: Phrase
    if noun in _PARTS:
        extra = prepositional("of", plain(talk, _WHOLES, room - 1, "bound"))
    elif noun.kind == "person" and talk.random() < 0.5:
        extra = prepositional("with", plain(talk, _BELONGINGS, room - 1, "bound"))
    elif noun.kind in ("person", "animal", "vehicle"):
        extra = place(talk, room, plain, named=False)
    elif noun.kind in ("thing", "text", "clothes", "food"):
        extra = spot(talk, room, plain)
    else:
        return
    head.en += extra.en
    head.fr += extra.fr


_TIMES = {
    "present": ("present", "present", "past"),
    "meanwhile": ("present",),
    "past": ("past", "past", "earlier"),
    "ongoing": ("past",),
    "earlier": ("past",),
    "future": ("present",),
    "later": ("present",),
    "reported": ("reported",),
}
RICH: dict[str, Maker] = {time: _rich(times) for time, times in _TIMES.items()}
RICH |= {"would": plain, "unreal": plain}
