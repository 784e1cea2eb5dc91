"""Relative clauses: who sleeps, that he has bought, where she lives, whose dog barks.

In: a noun phrase, room in English words, the clause's time. The phrase grows by the clause. Inside, noun
phrases are plain: a relative clause holds no other.
"""

from regard.worlds.microworld.grammar.frames import choose_frame
from regard.worlds.microworld.grammar.noun_phrase import NounPhrase, name, plain, pronoun, third_person
from regard.worlds.microworld.grammar.predicates import predicate
from regard.worlds.microworld.grammar.talk import Talk
from regard.worlds.microworld.grammar.voices import Setting, choose_voice
from regard.worlds.microworld.lexicon import verbs
from regard.worlds.microworld.lexicon.entries import Verb
from regard.worlds.microworld.lexicon.nouns import NOUNS, nouns_in
from regard.worlds.microworld.tokens import Mot, Word

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
