"""Clauses: a subject and a predicate, with phrases of place, company and time in the room that is left.

In: room in English words and the clause's time. Out: a `Phrase`. Also the clauses without a subject of their
own: it rains, there is a cat in the garden.
"""

from regard.datasets.microworld.grammar.adjuncts import company, place
from regard.datasets.microworld.grammar.frames import choose_frame
from regard.datasets.microworld.grammar.noun_phrase import Maker, NounPhrase, name, pronoun
from regard.datasets.microworld.grammar.predicates import (
    Predicate,
    Setting,
    choose_voice,
    left_over,
    spell_fixed,
)
from regard.datasets.microworld.grammar.relatives import RICH
from regard.datasets.microworld.grammar.talk import Talk
from regard.datasets.microworld.grammar.verb_group import verb_group
from regard.datasets.microworld.lexicon import verbs
from regard.datasets.microworld.lexicon.function_words import HE, IT, TIMES, Agreement
from regard.datasets.microworld.lexicon.nouns import NOUNS, nouns_in
from regard.datasets.microworld.tokens import Mot, Phrase, Word

_SUBJECT_KINDS = ("person",) * 11 + ("animal",) * 4 + (
    "vehicle", "thing", "furniture", "clothes", "text", "food", "site", "area", "idea",
)  # fmt: skip
_PRESENT_THINGS = nouns_in("animal thing person furniture")
_STEADY = {"present": "habit", "past": "event"}
"""Two verbs with one subject are said in the same tense."""
_ADJUNCT_TIMES = {"progressive": "now", "past": "past", "was": "past", "future": "future", "going": "future"}


def clause(talk: Talk, room: int, time: str) -> Phrase:
    """Build a statement of about `room` words; at least two."""
    setting = Setting(time, RICH[time])
    draw = talk.random()
    if draw < 0.04 and room <= 6:
        return _weather(talk, room, setting)
    if draw < 0.08 and room >= 5:
        return _existence(talk, room, setting)
    subject = choose_subject(talk, _share(talk, room), setting.make)
    left = room - len(subject.en)
    if left >= 7 and not subject.negative and talk.random() < 0.25:
        verb = _two_verbs(talk, subject, left, setting)
    else:
        verb = with_adjuncts(talk, subject, left, setting)
    return Phrase(subject.en + verb.en, subject.fr + verb.fr)


def _share(talk: Talk, room: int) -> int:
    """Return how much of a clause's room the subject may take."""
    return 1 if room < 4 else 2 + talk.upto(room // 2 - 2) if room > 4 else 2


def choose_subject(talk: Talk, room: int, make: Maker, nobody: bool = True) -> NounPhrase:
    """Draw a pronoun, a name or a noun phrase of at most `room` words."""
    draw = talk.random()
    if room < 5:
        thing = talk.thing() if draw < 0.25 else None
        if thing is not None:
            phrase = pronoun(thing[0])
            phrase.noun = thing[1]
            return phrase
        if draw < 0.5 or (room < 2 and draw < 0.88):
            return pronoun(talk.person())
        if draw > 0.985 and nobody:
            word = Word("nobody", "PRON")
            return NounPhrase([word], [Mot("personne", word)], HE.agreement, negative=True)
        if room < 2 or draw < 0.58:
            return name(talk)
    return make(talk, NOUNS[talk.pick(_SUBJECT_KINDS)], room, "subject")


def with_adjuncts(talk: Talk, subject: NounPhrase, room: int, setting: Setting) -> Phrase:
    """Build a predicate and fill what room is left with manner, place, company and time."""
    kept = talk.upto(3) if room > 4 else 0
    verb = choose_frame(talk, subject, room - kept, setting)
    en, fr = verb.words, verb.fr
    return _fill(talk, verb, Phrase(en, fr), room - len(en), setting, subject)


def _fill(
    talk: Talk, verb: Predicate, phrase: Phrase, left: int, setting: Setting, subject: NounPhrase
) -> Phrase:
    times = time_adverbials(verb)
    if left >= 2 and verb.lively and subject.kind in ("person", "animal") and talk.random() < 0.8:
        if not verb.verb.lively and verb.placed:
            return phrase
        if verb.placed or (verb.verb.lively and subject.kind == "person" and talk.random() < 0.35):
            helps = verb.verb.fr.infinitive in verbs.FOR_SOMEONE and talk.random() < 0.5
            extra = company(talk, min(left, 4), setting.make, "for" if helps else "with", subject.agreement)
        else:
            extra = place(talk, left, setting.make)
        phrase = Phrase(phrase.en + extra.en, phrase.fr + extra.fr)
        left -= len(extra.en)
    if times and left > 0 and talk.random() < (0.2 if verb.verb.state else 0.8):
        fixed = talk.fresh(TIMES[times])
        if fixed is not None and len(fixed.en) <= left:
            extra = spell_fixed(fixed)
            phrase = Phrase(phrase.en + extra.en, phrase.fr + extra.fr)
    return phrase


def time_adverbials(verb: Predicate) -> str:
    """Return which time expressions go with a predicate's tense; empty where none does."""
    if verb.voice.tense == "present":
        return "present" if not verb.verb.state else "" if verb.voice.closing else "now"
    return _ADJUNCT_TIMES.get(verb.voice.tense, "")


def _two_verbs(talk: Talk, subject: NounPhrase, room: int, setting: Setting) -> Phrase:
    """Build sings and dances; but where just one of the two is denied."""
    setting = setting._replace(time=_STEADY.get(setting.time, setting.time))
    first = choose_frame(talk, subject, 2 + talk.upto(room - 5), setting)
    words = first.words
    second = choose_frame(talk, subject, max(room - 1 - len(words), 2), setting)
    denied = (first.voice.ne is None) != (second.voice.ne is None)
    join = Word("but" if denied else "and", "CCONJ")
    return Phrase(
        [*words, join, *second.words], [*first.fr, Mot("mais" if denied else "et", join), *second.fr]
    )


def _weather(talk: Talk, room: int, setting: Setting) -> Phrase:
    """Build it rains → il pleut, it is hot → il fait chaud."""
    subject = pronoun(IT[False])
    verb = talk.pick(
        (verbs.RAIN, verbs.SNOW, verbs.HOT, verbs.COLD) if room > 2 else (verbs.RAIN, verbs.SNOW)
    )
    voice = choose_voice(talk, verb, subject, setting, room - 2 - len(verb.particles))
    group = verb_group(verb, voice, subject.agreement)
    if verb.noun:
        group.fr.append(Mot(verb.noun, group.particles[-1]))
    en = subject.en + ([] if group.aux is None else [group.aux]) + group.en
    phrase = Phrase(en, subject.fr + group.fr)
    if room - len(en) >= 2:
        where = place(talk, room - len(en), setting.make)
        phrase = Phrase(en + where.en, phrase.fr + where.fr)
    return phrase


def _existence(talk: Talk, room: int, setting: Setting) -> Phrase:
    """Build there is a cat in the garden → il y a un chat dans le jardin."""
    there = Word("there", "PRON")
    subject = NounPhrase([there], [Mot("il", None, (there,))], HE.agreement)
    voice = choose_voice(talk, verbs.THERE_BE, subject, setting, min(room - 6, 2))
    left = left_over(room - 1, verbs.THERE_BE, voice)
    style = "none" if voice.ne is not None else "new"
    what = setting.make(talk, _PRESENT_THINGS, max(left - 3, 2), style)
    english = 1 if what.agreement.plural else 2
    group = verb_group(
        verbs.THERE_BE, voice, Agreement(2, False, False, english), (Mot("y", None, (there,)),)
    )
    aux = [] if group.aux is None else [group.aux]
    phrase = Phrase([there, *aux, *group.en, *what.en], [*subject.fr, *group.fr, *what.fr])
    left = room - len(phrase.en)
    if left >= 3:
        where = place(talk, left, setting.make)
        phrase = Phrase(phrase.en + where.en, phrase.fr + where.fr)
    return phrase
