"""Predicates with be, seem and become: is hungry, is very tired, is taller than Paul, is in the garden.

Every function is a frame: it takes the sentence so far, the subject, the room in English words and the
setting, and returns a `Predicate`.

Predicates with a verb that takes no object or one: sleeps, eats the apple, sees him, eats nothing.

Every function is a frame: it takes the sentence so far, the subject, the room in English words and the
setting, and returns a `Predicate`.

Predicates with a receiver, a goal or a place: gives him the book, goes to the market, lives in Rome.

Every function is a frame: it takes the sentence so far, the subject, the room in English words and the
setting, and returns a `Predicate`.

Which predicates a subject can have, and the one that holds another: can swim, wants to see him.

`FRAMES` lists for each kind of subject its frames, from how many English words on, and how often;
`choose_frame` draws among them.
"""

from collections.abc import Callable

from regard.datasets.microworld.grammar.adjuncts import (
    country,
    other_person,
    place,
    prepositional,
    spot,
    town,
)
from regard.datasets.microworld.grammar.noun_phrase import NounPhrase, name
from regard.datasets.microworld.grammar.predicates import (
    Predicate,
    Setting,
    choose_voice,
    left_over,
    predicate,
    spell_fixed,
)
from regard.datasets.microworld.grammar.talk import Talk
from regard.datasets.microworld.lexicon import verbs
from regard.datasets.microworld.lexicon.entries import Adjective
from regard.datasets.microworld.lexicon.function_words import GAMES, MANNER, PROFESSIONS, Person
from regard.datasets.microworld.lexicon.nouns import COMPARED, NOUNS, PREDICATES, nouns_in
from regard.datasets.microworld.tokens import Mot, Phrase, Word


def feeling(talk: Talk, subject: NounPhrase, room: int, setting: Setting) -> Predicate:
    """Is hungry → a faim."""
    verb = talk.pick(verbs.FEELING[subject.kind])
    return predicate(verb, choose_voice(talk, verb, subject, setting, room - 2), subject, lively=False)


def _adjective(talk: Talk, subject: NounPhrase, choices: dict[str, tuple[Adjective, ...]]) -> Adjective:
    """Draw an adjective not said of the subject yet; it is hot is kept for the weather."""
    adjective = talk.other(choices[subject.kind])
    said = [word.text for word in subject.en]
    while (subject.person is not None and adjective.en in ("hot", "cold")) or adjective.en in said:
        adjective = talk.other(choices[subject.kind])
    if subject.noun is not None:
        talk.caption(adjective, subject.noun)
    return adjective


def _agreeing(adjective: Adjective, subject: NounPhrase) -> str:
    return adjective.fr[subject.agreement.feminine + 2 * subject.agreement.plural]


def captioned(talk: Talk, subject: NounPhrase, room: int, setting: Setting) -> Predicate:
    """Is tired, is very tired, seems tired."""
    verb = verbs.BE if talk.random() < 0.85 or subject.kind != "person" else verbs.SEEM
    if talk.random() < 0.06 and subject.kind == "person":
        verb = verbs.BECOME
    adjective = _adjective(talk, subject, PREDICATES)
    voice = choose_voice(talk, verb, subject, setting, room - 2)
    complement = Phrase([], [])
    if room - 2 >= 1 and voice.ne is None and adjective.comparative and talk.random() < 0.2:
        very = Word(*talk.pick((("very", "ADV"), ("too", "ADV"))))
        complement.en.append(very)
        complement.fr.append(Mot("très" if very.text == "very" else "trop", very))
    word = Word(adjective.en, "ADJ")
    complement.en.append(word)
    complement.fr.append(Mot(_agreeing(adjective, subject), word))
    return predicate(verb, voice, subject, complement, lively=False)


def compared(talk: Talk, subject: NounPhrase, room: int, setting: Setting) -> Predicate:
    """Is taller than Paul, is more famous than the king, is as old as him."""
    adjective = _adjective(talk, subject, COMPARED)
    draw = talk.random()
    form = _agreeing(adjective, subject)
    if draw < 0.25:
        first, word, than = Word("as", "ADV"), Word(adjective.en, "ADJ"), Word("as", "ADP")
        en, fr = [first, word, than], [Mot("aussi", first), Mot(form, word), Mot("que", than)]
    elif adjective.comparative == "more":
        less = draw < 0.45
        first, word, than = (
            Word("less" if less else "more", "ADV"),
            Word(adjective.en, "ADJ"),
            Word("than", "ADP"),
        )
        en, fr = (
            [first, word, than],
            [Mot("moins" if less else "plus", first), Mot(form, word), Mot("que", than)],
        )
    else:
        word, than = Word(adjective.comparative, "ADJ"), Word("than", "ADP")
        better = ("meilleur", "meilleure", "meilleurs", "meilleures")
        agreement = subject.agreement
        marks = [Mot("plus", word), Mot(form, word)]
        if adjective.fr[0] == "bon":
            marks = [Mot(better[agreement.feminine + 2 * agreement.plural], word)]
        en, fr = [word, than], [*marks, Mot("que", than)]
    voice = choose_voice(talk, verbs.BE, subject, setting, min(room - 1 - len(en) - 2, 0))
    other = _standard(talk, subject, room - 1 - len(en), setting)
    return predicate(verbs.BE, voice, subject, Phrase(en + other.en, fr + other.fr), lively=False)


def _standard(talk: Talk, subject: NounPhrase, room: int, setting: Setting) -> Phrase:
    """Return what the subject is compared with."""
    if subject.kind == "person":
        if talk.random() < 0.3 and (person := other_person(talk, subject.agreement)):
            word = Word(person.object, "PRON")
            return Phrase([word], [Mot(person.stressed, word)])
        if room < 2 or talk.random() < 0.3:
            return name(talk)
    return setting.make(talk, NOUNS[subject.kind], max(room, 2), "known")


def profession(talk: Talk, subject: NounPhrase, room: int, setting: Setting) -> Predicate:
    """Is a teacher → est professeur; are teachers → sont professeurs."""
    one, many, masculine, feminine = talk.pick(PROFESSIONS)
    voice = choose_voice(talk, verbs.BE, subject, setting, room - 3)
    agreement = subject.agreement
    word = Word(many if agreement.plural else one, "NOUN")
    article = [] if agreement.plural else [Word("a", "DET")]
    form = (feminine if agreement.feminine else masculine) + ("s" if agreement.plural else "")
    complement = Phrase([*article, word], [Mot(form, word, tuple(article))])
    return predicate(verbs.BE, voice, subject, complement, lively=False)


def located(talk: Talk, subject: NounPhrase, room: int, setting: Setting) -> Predicate:
    """Is in the garden; the key is on the table."""
    voice = choose_voice(talk, verbs.BE, subject, setting, room - 4)
    left = left_over(room, verbs.BE, voice)
    if subject.kind in ("person", "animal", "vehicle"):
        where = place(talk, max(left, 3), setting.make)
    else:
        where = spot(talk, max(left, 3), setting.make)
    return predicate(verbs.BE, voice, subject, where, placed=True, lively=False)


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


Frame = Callable[[Talk, NounPhrase, int, Setting], Predicate]


def modal(talk: Talk, subject: NounPhrase, room: int, setting: Setting) -> Predicate:
    """Can swim, wants to see him → veut le voir, tries to open the door → essaie d' ouvrir la porte."""
    verb = talk.pick(verbs.WITH_INFINITIVE[subject.kind])
    if setting.time == "infinitive" or (verb.auxiliary and setting.time not in ("present", "past")):
        return intransitive(talk, subject, room, setting)
    if verb.en.base == "must" and setting.time == "past":
        return intransitive(talk, subject, room, setting)
    own = 1 + len(verb.particles)
    voice = choose_voice(talk, verb, subject, setting, min(room - own - 2, 4))
    left = left_over(room, verb, voice)
    inner = choose_deed(talk, subject, max(left, 1), Setting("infinitive", setting.make))
    made = predicate(verb, voice, subject, Phrase(inner.en, inner.fr), placed=inner.placed)
    made.lively = inner.lively
    return made


def choose_frame(talk: Talk, subject: NounPhrase, room: int, setting: Setting) -> Predicate:
    """Make a predicate for this subject in about `room` words, by any frame that fits."""
    tables = FRAMES.get(subject.kind, FRAMES["other"])
    frames = tables[min(room, len(tables) - 1)]
    return talk.pick(frames)(talk, subject, room, setting)


def choose_deed(talk: Talk, subject: NounPhrase, room: int, setting: Setting) -> Predicate:
    """Make a predicate of something done rather than something that is the case."""
    tables = FRAMES["deed"] if subject.kind == "person" else FRAMES["animal_deed"]
    return talk.pick(tables[min(room, _MOST_ROOM)])(talk, subject, room, setting)


_MOST_ROOM = 16
_TABLE: dict[str, tuple[tuple[Frame, int, int], ...]] = {
    "person": (
        (intransitive, 1, 5),
        (feeling, 2, 1),
        (captioned, 2, 4),
        (with_pronoun, 2, 4),
        (playing, 2, 1),
        (transitive, 3, 11),
        (nothing, 2, 1),
        (profession, 3, 1),
        (living, 3, 1),
        (going, 3, 2),
        (modal, 3, 4),
        (indirect, 3, 3),
        (compared, 4, 2),
        (located, 4, 1),
        (giving, 4, 3),
        (putting, 6, 1),
    ),
    "animal": (
        (intransitive, 1, 4),
        (feeling, 2, 1),
        (captioned, 2, 4),
        (transitive, 3, 4),
        (modal, 3, 1),
        (compared, 4, 1),
        (located, 4, 1),
    ),
    "deed": (
        (intransitive, 1, 3),
        (with_pronoun, 2, 3),
        (playing, 2, 1),
        (transitive, 3, 6),
        (indirect, 3, 1),
        (giving, 4, 1),
    ),
    "animal_deed": ((intransitive, 1, 1), (transitive, 3, 1)),
    "vehicle": ((intransitive, 1, 1), (captioned, 2, 2), (compared, 4, 1), (located, 4, 1)),
    "thing": ((intransitive, 1, 1), (captioned, 2, 3), (compared, 4, 1), (located, 4, 2)),
    "object": ((captioned, 1, 3), (compared, 4, 1), (located, 4, 1)),
    "other": ((captioned, 1, 3), (compared, 4, 1)),
}
"""Frame, fewest English words, weight, by the kind of subject."""


def _by_room(rows: tuple[tuple[Frame, int, int], ...]) -> tuple[tuple[Frame, ...], ...]:
    """Return, for every room, the frames that fit, each as often as its weight."""
    tables = []
    for room in range(_MOST_ROOM + 1):
        fits = [(frame, weight) for frame, fewest, weight in rows if fewest <= room] or [(rows[0][0], 1)]
        tables.append(tuple(frame for frame, weight in fits for _ in range(weight)))
    return tuple(tables)


_PLACED = ("text", "clothes", "furniture", "food", "stuff", "drink")
FRAMES = {kind: _by_room(rows) for kind, rows in _TABLE.items()}
FRAMES |= dict.fromkeys(_PLACED, FRAMES["object"])
