"""Predicates with a receiver, a goal or a place: gives him the book, goes to the market, lives in Rome.

Every function is a frame: it takes the sentence so far, the subject, the room in English words and the
setting, and returns a `Predicate`.
"""

from regard.worlds.microworld.grammar.adjuncts import country, other_person, prepositional, spot, town
from regard.worlds.microworld.grammar.noun_phrase import NounPhrase
from regard.worlds.microworld.grammar.predicates import Predicate, predicate
from regard.worlds.microworld.grammar.talk import Talk
from regard.worlds.microworld.grammar.voices import Setting, choose_voice, left_over
from regard.worlds.microworld.lexicon import verbs
from regard.worlds.microworld.lexicon.nouns import NOUNS, nouns_in
from regard.worlds.microworld.tokens import Mot, Phrase, Word

_WAYS = (verbs.GO, verbs.GO, verbs.COME, verbs.COME_BACK)
_HOMES = nouns_in("house village city castle farm forest")


def giving(talk: Talk, subject: NounPhrase, room: int, setting: Setting) -> Predicate:
    """Gives him the book, or the book to him → lui donne le livre; to Marie → donne le livre à Marie."""
    verb = talk.pick(verbs.GIVING)
    voice = choose_voice(talk, verb, subject, setting, room - 5)
    talk.act(subject.noun, verb)
    style = "negated" if voice.ne is not None else "free"
    left = left_over(room, verb, voice)
    person = other_person(talk, subject.agreement) if left < 5 or talk.random() < 0.6 else None
    if person is not None:
        word = Word(person.object, "PRON")
        if verb.fr.infinitive == "expliquer" or talk.random() < 0.15:
            to = Word("to", "ADP")
            gift = setting.make(talk, verb.objects, max(min(left - 2, 4), 2), style)
            complement = Phrase([*gift.en, to, word], gift.fr)
            return predicate(
                verb, voice, subject, complement, (Mot(person.indirect, word, (to,)),), lively=False
            )
        gift = setting.make(talk, verb.objects, max(left - 1, 2), style)
        complement = Phrase([word, *gift.en], gift.fr)
        return predicate(verb, voice, subject, complement, (Mot(person.indirect, word),), lively=False)
    gift = setting.make(talk, verb.objects, 2 if left < 6 else 3, style)
    someone = setting.make(talk, NOUNS["person"], max(left - 1 - len(gift.en), 1), "bound")
    receiver = prepositional("to", someone)
    complement = Phrase(gift.en + receiver.en, gift.fr + receiver.fr)
    return predicate(verb, voice, subject, complement, lively=False)


def going(talk: Talk, subject: NounPhrase, room: int, setting: Setting) -> Predicate:
    """Goes to the market → va au marché; comes from Italy → vient d' Italie."""
    verb = talk.pick(_WAYS if room > 3 else _WAYS[:3])
    key = "to" if verb is verbs.GO else "from"
    voice = choose_voice(talk, verb, subject, setting, room - 4)
    talk.act(subject.noun, verb)
    left = left_over(room, verb, voice)
    draw = talk.random()
    if left < 3 or draw < 0.25:
        goal = town(talk, key) if draw < 0.15 else country(talk, key)
    else:
        goal = prepositional(key, setting.make(talk, verb.objects, left - 1, "known"))
    return predicate(verb, voice, subject, goal, placed=True)


def living(talk: Talk, subject: NounPhrase, room: int, setting: Setting) -> Predicate:
    """Lives in London, lives near the church."""
    voice = choose_voice(talk, verbs.LIVE, subject, setting, room - 4)
    talk.act(subject.noun, verbs.LIVE)
    left = left_over(room, verbs.LIVE, voice)
    if left < 3 or talk.random() < 0.5:
        where = town(talk, "in") if talk.random() < 0.6 else country(talk, "in")
    else:
        key = talk.pick(("in", "near"))
        homes = _HOMES if key == "in" else NOUNS["site"]
        where = prepositional(key, setting.make(talk, homes, left - 1, "bound"))
    return predicate(verbs.LIVE, voice, subject, where, placed=True, lively=False)


def putting(talk: Talk, subject: NounPhrase, room: int, setting: Setting) -> Predicate:
    """Puts the key on the table."""
    voice = choose_voice(talk, verbs.PUT, subject, setting, room - 6)
    talk.act(subject.noun, verbs.PUT)
    thing = setting.make(talk, verbs.PUT.objects, 2, "negated" if voice.ne is not None else "known")
    left = left_over(room, verbs.PUT, voice) - len(thing.en)
    where = spot(talk, max(left, 3), setting.make)
    complement = Phrase(thing.en + where.en, thing.fr + where.fr)
    return predicate(verbs.PUT, voice, subject, complement, placed=True, lively=False)
