"""Predicates with be, seem and become: is hungry, is very tired, is taller than Paul, is in the garden.

Every function is a frame: it takes the sentence so far, the subject, the room in English words and the
setting, and returns a `Predicate`.
"""

from regard.worlds.microworld.grammar.adjuncts import other_person, place, spot
from regard.worlds.microworld.grammar.noun_phrase import NounPhrase, name
from regard.worlds.microworld.grammar.predicates import Predicate, predicate
from regard.worlds.microworld.grammar.talk import Talk
from regard.worlds.microworld.grammar.voices import Setting, choose_voice, left_over
from regard.worlds.microworld.lexicon import verbs
from regard.worlds.microworld.lexicon.adjectives import COMPARED, PREDICATES
from regard.worlds.microworld.lexicon.entries import Adjective
from regard.worlds.microworld.lexicon.nouns import NOUNS
from regard.worlds.microworld.lexicon.particles import PROFESSIONS
from regard.worlds.microworld.tokens import Mot, Phrase, Word


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
        talk.describe(adjective, subject.noun)
    return adjective


def _agreeing(adjective: Adjective, subject: NounPhrase) -> str:
    return adjective.fr[subject.agreement.feminine + 2 * subject.agreement.plural]


def described(talk: Talk, subject: NounPhrase, room: int, setting: Setting) -> Predicate:
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
