"""Questions: does he sing, who sings, what does he see, where does she work, which book has he read.

In: room in English words and a time. Out: a `Phrase` without its question mark. French asks with est-ce que.
"""

from regard.worlds.microworld.grammar.clauses import choose_subject, with_adjuncts
from regard.worlds.microworld.grammar.frames import choose_deed, choose_frame
from regard.worlds.microworld.grammar.noun_phrase import NounPhrase, plain, third_person
from regard.worlds.microworld.grammar.predicates import Predicate, predicate
from regard.worlds.microworld.grammar.relatives import short_subject
from regard.worlds.microworld.grammar.rich import RICH
from regard.worlds.microworld.grammar.talk import Talk
from regard.worlds.microworld.grammar.voices import Setting, choose_voice
from regard.worlds.microworld.lexicon import verbs
from regard.worlds.microworld.lexicon.entries import Noun, Verb
from regard.worlds.microworld.lexicon.nouns import nouns_in
from regard.worlds.microworld.lexicon.pronouns import HE, Agreement
from regard.worlds.microworld.tokens import Mot, Phrase, Word

_ADVERBS = (("why", "pourquoi"), ("when", "quand"), ("where", "où"), ("how", "comment"))
_WHAT_VERBS = verbs.named("voir manger boire lire acheter vendre chercher regarder écouter préparer vouloir")
_WHOM_VERBS = verbs.named("voir chercher regarder écouter attendre aider suivre rencontrer inviter remercier")
_WHICH = nouns_in("text clothes food vehicle thing song")


def question(talk: Talk, room: int, time: str) -> Phrase:
    """Build a question of about `room` words; at least three."""
    draw = talk.random()
    if draw < 0.5 or room < 4:
        return _yes_or_no(talk, room, time) if room > 2 else _who(talk, room, time)
    if draw < 0.62:
        return _who(talk, room, time)
    if draw < 0.8:
        return _adverb(talk, room, time)
    if draw < 0.9 or room < 5:
        return _what(talk, room, time)
    return _which(talk, room, time)


def _ask(subject: NounPhrase, verb: Predicate) -> Phrase:
    """Put the auxiliary before the subject, and est-ce que before the French clause."""
    aux = verb.aux
    assert aux is not None
    alone = aux.text in ("do", "does") or (aux.text == "did" and verb.verb.state)
    mark = Mot("est-ce", aux) if alone else Mot("est-ce", None, (aux,))
    return Phrase([aux, *subject.en, *verb.en], [mark, Mot("que", None, (aux,)), *subject.fr, *verb.fr])


def _yes_or_no(talk: Talk, room: int, time: str) -> Phrase:
    setting = Setting(time, RICH[time], asked=True)
    subject = choose_subject(
        talk, 1 if room < 5 else 2 + talk.upto(room // 3 - 1), setting.make, nobody=False
    )
    verb = choose_frame(talk, subject, room - len(subject.en), setting)
    return _ask(subject, verb)


def _who(talk: Talk, room: int, time: str) -> Phrase:
    word = Word("who", "PRON")
    subject = NounPhrase([word], [Mot("qui", word)], HE.agreement)
    verb = with_adjuncts(talk, subject, room - 1, Setting(time, RICH[time]))
    return Phrase([word, *verb.en], [*subject.fr, *verb.fr])


def _adverb(talk: Talk, room: int, time: str) -> Phrase:
    setting = Setting(time, plain, asked=True)
    english, french = talk.pick(_ADVERBS)
    word = Word(english, "ADV")
    subject = short_subject(talk, 1 if room < 6 else 3)
    verb = choose_deed(talk, subject, room - 1 - len(subject.en), setting)
    asked = _ask(subject, verb)
    return Phrase([word, *asked.en], [Mot(french, word), *asked.fr])


def _gap(talk: Talk, room: int, time: str, choices: tuple[Verb, ...], agreement: Agreement) -> Phrase:
    """Build does he see, with the object asked for before it."""
    verb = talk.pick(choices)
    subject = short_subject(talk, room - 2)
    setting = Setting(time, plain, asked=True)
    voice = choose_voice(talk, verb, subject, setting, min(room - 2 - len(subject.en), 3))
    talk.act(subject.noun, verb)
    return _ask(subject, predicate(verb, voice, subject, preceding=agreement))


def _what(talk: Talk, room: int, time: str) -> Phrase:
    thing = talk.random() < 0.6
    word = Word("what" if thing else "who", "PRON")
    asked = _gap(talk, room - 1, time, _WHAT_VERBS if thing else _WHOM_VERBS, HE.agreement)
    return Phrase([word, *asked.en], [Mot("que" if thing else "qui", word), *asked.fr])


def _which(talk: Talk, room: int, time: str) -> Phrase:
    """Build which songs does she know → quelles chansons est-ce qu' elle connaît; how many books."""
    noun = talk.pick(_WHICH)
    many = talk.random() < 0.4
    plural = many or talk.random() < 0.4
    head = Word(noun.en[plural], "NOUN")
    en, fr = _how_many() if many else _quel(noun, plural)
    talk.mention(noun, noun.feminine, plural)
    agreement = third_person(noun.feminine, plural)
    asked = _gap(talk, room - 1 - len(en), time, verbs.taking(noun), agreement)
    return Phrase([*en, head, *asked.en], [*fr, Mot(noun.fr[plural], head), *asked.fr])


def _how_many() -> tuple[list[Word], list[Mot]]:
    how, many = Word("how", "ADV"), Word("many", "ADJ")
    return [how, many], [Mot("combien", many, (how,)), Mot("de", None, (many,))]


def _quel(noun: Noun, plural: bool) -> tuple[list[Word], list[Mot]]:
    which = Word("which", "DET")
    form = ("quel", "quelle", "quels", "quelles")[noun.feminine + 2 * plural]
    return [which], [Mot(form, which)]
