"""Predicates with a verb that takes no object or one: sleeps, eats the apple, sees him, eats nothing.

Every function is a frame: it takes the sentence so far, the subject, the room in English words and the
setting, and returns a `Predicate`.
"""

from regard.worlds.microworld.grammar.adjuncts import other_person
from regard.worlds.microworld.grammar.noun_phrase import NounPhrase
from regard.worlds.microworld.grammar.predicates import Predicate, predicate
from regard.worlds.microworld.grammar.talk import Talk
from regard.worlds.microworld.grammar.voices import Setting, choose_voice, left_over, spell_fixed
from regard.worlds.microworld.lexicon import verbs
from regard.worlds.microworld.lexicon.particles import GAMES, MANNER
from regard.worlds.microworld.lexicon.pronouns import Person
from regard.worlds.microworld.tokens import Mot, Phrase, Word

_WELL = frozenset(("chanter", "danser", "dormir", "travailler", "nager", "manger"))
"""French verbs that well and badly go with."""

_PERSON_VERBS = verbs.named(
    "voir chercher regarder écouter attendre aider suivre rencontrer inviter remercier comprendre connaître "
    "entendre admirer aimer parler téléphoner répondre obéir"
)
_NOTHING_VERBS = verbs.named("voir manger boire lire acheter trouver vouloir comprendre entendre perdre")
_NOBODY_VERBS = verbs.named("voir connaître aider inviter comprendre rencontrer entendre aimer")


def intransitive(talk: Talk, subject: NounPhrase, room: int, setting: Setting) -> Predicate:
    """Sleeps, wakes up, washes himself; sometimes slowly or well."""
    verb = talk.other(verbs.INTRANSITIVE[subject.kind])
    own = 1 + len(verb.particles) + verb.oneself
    voice = choose_voice(talk, verb, subject, setting, room - own)
    talk.act(subject.noun, verb)
    manner: Phrase | None = None
    if (
        room - own >= 2
        and not verb.etre
        and voice.ne is None
        and subject.kind != "thing"
        and talk.random() < 0.2
    ):
        well = verb.fr.infinitive in _WELL
        fixed = talk.pick(MANNER if well else MANNER[:6])
        manner = spell_fixed(fixed)
        if fixed.fr[0] in ("bien", "mal") and setting.time != "infinitive":
            voice.closing = voice.closing + manner.fr
            manner.fr = []
    return predicate(verb, voice, subject, manner, placed=verb.fr.infinitive in verbs.LEADING_AWAY)


def transitive(talk: Talk, subject: NounPhrase, room: int, setting: Setting) -> Predicate:
    """Eats the apple, looks for her brother."""
    verb = talk.other(verbs.TRANSITIVE[subject.kind])
    own = 1 + len(verb.particles)
    voice = choose_voice(talk, verb, subject, setting, room - own - 2)
    talk.act(subject.noun, verb)
    generic = verb.fr.infinitive in verbs.GENERIC
    style = "generic" if generic else "negated" if voice.ne is not None else "free"
    if verb.fr.infinitive in verbs.KNOWN:
        style = "known"
    left = left_over(room, verb, voice)
    return predicate(verb, voice, subject, setting.make(talk, verb.objects, max(left, 1), style))


def with_pronoun(talk: Talk, subject: NounPhrase, room: int, setting: Setting) -> Predicate:
    """Sees him → le voit; has seen her → l' a vue."""
    person: Person | None
    thing = talk.thing()
    if thing is not None and (taking := verbs.taking(thing[1])) and talk.random() < 0.6:
        verb = talk.pick(taking)
        person = thing[0] if subject.person is not thing[0] else None
    else:
        verb = talk.pick(_PERSON_VERBS)
        person = other_person(talk, subject.agreement)
    if person is None or subject.kind != "person":
        return transitive(talk, subject, room, setting)
    own = 2 + len(verb.particles)
    voice = choose_voice(talk, verb, subject, setting, room - own)
    talk.act(subject.noun, verb)
    word = Word(person.object, "PRON")
    if verb.link:
        return predicate(verb, voice, subject, Phrase([word], []), (Mot(person.indirect, word),))
    clitic = Mot(person.direct, word)
    return predicate(verb, voice, subject, Phrase([word], []), (clitic,), person.agreement)


def nothing(talk: Talk, subject: NounPhrase, room: int, setting: Setting) -> Predicate:
    """Eats nothing → ne mange rien; has seen nobody → n' a vu personne."""
    if setting.time == "infinitive" or setting.asked or subject.negative:
        return transitive(talk, subject, room, setting)
    thing = talk.random() < 0.6
    verb = talk.pick(_NOTHING_VERBS if thing else _NOBODY_VERBS)
    voice = choose_voice(talk, verb, subject, setting, min(room - 2 - len(verb.particles), 1))
    talk.act(subject.noun, verb)
    word = Word("nothing" if thing else "nobody", "PRON")
    voice.ne = word
    if thing:
        voice.closing = [Mot("rien", word)]
        return predicate(verb, voice, subject, Phrase([word], []))
    return predicate(verb, voice, subject, Phrase([word], [Mot("personne", word)]))


def indirect(talk: Talk, subject: NounPhrase, room: int, setting: Setting) -> Predicate:
    """Answers the question → répond à la question; needs a map → a besoin d' une carte."""
    verb = talk.pick(verbs.INDIRECT[subject.kind])
    own = 1 + len(verb.particles)
    voice = choose_voice(talk, verb, subject, setting, room - own - 2)
    talk.act(subject.noun, verb)
    left = left_over(room, verb, voice)
    return predicate(
        verb, voice, subject, setting.make(talk, verb.objects, max(left, 2), "bound"), lively=False
    )


def playing(talk: Talk, subject: NounPhrase, room: int, setting: Setting) -> Predicate:
    """Plays chess → joue aux échecs; plays the piano → joue du piano."""
    verb = verbs.PLAY
    voice = choose_voice(talk, verb, subject, setting, room - 3)
    talk.act(subject.noun, verb)
    if room < 3 or talk.random() < 0.5:
        english, article, french = talk.other(GAMES)
        word = Word(english, "NOUN")
        en = [word]
        fr = [Mot("à", None, (word,)), Mot(article, None, (word,), article=True), Mot(french, word)]
    else:
        noun = talk.pick(verb.objects)
        the, word = Word("the", "DET"), Word(noun.en[0], "NOUN")
        en = [the, word]
        article = "la" if noun.feminine else "le"
        fr = [Mot("de", None, (the,)), Mot(article, the, article=True), Mot(noun.fr[0], word)]
    return predicate(verb, voice, subject, Phrase(en, fr))
