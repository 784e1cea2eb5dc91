"""Questions: does he sing, who sings, what does he see, where does she work, which book has he read.

In: room in English words and a time. Out: a `Phrase` without its question mark. French asks with est-ce que.

Whole sentences: clauses joined by and, because, when …; questions; thoughts; conditions; vocatives.

In: the number of English words wanted. Out: an unspelt sentence of about that length. One time holds for a
whole sentence, and decides how the clauses joined to it are said.
"""

from typing import NamedTuple

from regard.datasets.microworld.grammar.clauses import choose_subject, clause, with_adjuncts
from regard.datasets.microworld.grammar.frames import choose_deed, choose_frame
from regard.datasets.microworld.grammar.noun_phrase import NounPhrase, plain, third_person
from regard.datasets.microworld.grammar.predicates import Predicate, Setting, choose_voice, predicate
from regard.datasets.microworld.grammar.relatives import RICH, short_subject
from regard.datasets.microworld.grammar.talk import Talk
from regard.datasets.microworld.lexicon import verbs
from regard.datasets.microworld.lexicon.entries import Noun, Verb
from regard.datasets.microworld.lexicon.function_words import ADDRESSES, HE, Agreement
from regard.datasets.microworld.lexicon.nouns import nouns_in
from regard.datasets.microworld.lexicon.verbs import WITH_CLAUSE
from regard.datasets.microworld.tokens import Mot, Phrase, Word

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


_TIMES = ("present",) * 9 + ("past",) * 7 + ("future",) * 4


class _Join(NamedTuple):
    """A conjunction: English, tag, French, a comma before it, its clause's time by the sentence's."""

    en: str
    tag: str
    fr: tuple[str, ...]
    comma: bool
    times: dict[str, str]


_LONGEST_QUESTION = 24
_SAME = {"present": "present", "past": "past", "future": "future", "reported": "reported"}
_MEANWHILE = {"present": "meanwhile", "past": "ongoing", "future": "later"}
_UNTIL_THEN = {"present": "present", "past": "past", "future": "later"}
_JOINS = (
    _Join("and", "CCONJ", ("et",), False, _SAME),
    _Join("and", "CCONJ", ("et",), True, _SAME),
    _Join("but", "CCONJ", ("mais",), False, _SAME),
    _Join("so", "CCONJ", ("donc",), True, _SAME),
    _Join("because", "SCONJ", ("parce", "que"), False, _SAME | {"future": "present", "past": "earlier"}),
    _Join("because", "SCONJ", ("parce", "que"), False, _SAME),
    _Join("when", "SCONJ", ("quand",), False, _UNTIL_THEN),
    _Join("while", "SCONJ", ("pendant", "que"), False, _MEANWHILE),
    _Join("if", "SCONJ", ("si",), False, {"present": "present", "future": "present"}),
)
_BY_TIME = {time: tuple(join for join in _JOINS if time in join.times) for time in _SAME}
_OPENING = {
    time: tuple(join for join in joins if join.en in ("when", "while", "if"))
    for time, joins in _BY_TIME.items()
}
_AFTER_QUESTION = {
    time: tuple(join for join in joins if join.en in ("when", "while")) for time, joins in _BY_TIME.items()
}


def build(talk: Talk, length: int) -> Phrase:
    """Build a sentence of about `length` English words, punctuation included; at least three."""
    room = length - 1
    if talk.address.en:
        room -= len(talk.address.en) + 1
    asked = length <= _LONGEST_QUESTION and talk.random() < 0.18
    body = _question(talk, room) if asked else _statement(talk, room)
    mark = "?" if asked else "."
    if talk.address.en:
        body = _address(talk, body)
    end = Word(mark, "PUNCT")
    body.en.append(end)
    body.fr.append(Mot(mark, end))
    return body


def choose_address(talk: Talk, length: int) -> None:
    """Let the sentence speak to someone by name, sometimes."""
    if length >= 7 and talk.random() < 0.06:
        talk.address = talk.pick(ADDRESSES)


def _statement(talk: Talk, room: int) -> Phrase:
    draw = talk.random()
    if room >= 6 and draw < 0.1:
        return _thought(talk, room)
    if room >= 9 and draw < 0.15:
        return _condition(talk, room)
    time = talk.pick(_TIMES)
    if room >= 8 and draw < 0.25 and time in _OPENING and _OPENING[time]:
        return _subordinate_first(talk, room, time)
    return _chain(talk, room, time)


def _chain(talk: Talk, room: int, time: str) -> Phrase:
    """Build a clause, and others joined to it where there is room."""
    return _continue(talk, clause(talk, _clause_size(talk, room), time), room, time, _BY_TIME[time])


def _continue(talk: Talk, phrase: Phrase, room: int, time: str, joins: tuple[_Join, ...]) -> Phrase:
    """Join as many clauses as there is room for, no two running with the same conjunction."""
    en, fr = phrase.en, phrase.fr
    last = ""
    while room - len(en) >= 4:
        left = room - len(en)
        join = talk.pick(joins)
        if join.en == last:
            continue
        last = join.en
        _conjoin(en, fr, join, join.comma and left > 6)
        left = room - len(en)
        extra = clause(talk, _clause_size(talk, left), join.times[time])
        en += extra.en
        fr += extra.fr
    return Phrase(en, fr)


def _clause_size(talk: Talk, room: int) -> int:
    """Return the room of the next clause; what is left over is enough for another, or nothing is."""
    if room < 7 or (room <= 13 and talk.random() < 0.6):
        return room
    return min(4 + talk.upto(min(room, 14) - 6), room - 4)


def _conjoin(en: list[Word], fr: list[Mot], join: _Join, comma: bool) -> None:
    if comma:
        pause = Word(",", "PUNCT")
        en.append(pause)
        fr.append(Mot(",", pause))
    word = Word(join.en, join.tag)
    en.append(word)
    fr += [Mot(text, word) for text in join.fr]


def _subordinate_first(talk: Talk, room: int, time: str) -> Phrase:
    """Build when he arrives , we will eat."""
    join = talk.pick(_OPENING[time])
    en: list[Word] = []
    fr: list[Mot] = []
    _conjoin(en, fr, join, comma=False)
    first = clause(talk, 2 + talk.upto(min(room - 7, 7)), join.times[time])
    pause = Word(",", "PUNCT")
    en += [*first.en, pause]
    fr += [*first.fr, Mot(",", pause)]
    rest = _chain(talk, room - len(en), time)
    return Phrase(en + rest.en, fr + rest.fr)


def _thought(talk: Talk, room: int) -> Phrase:
    """Build she thinks that …, he said that …; the past looks on at what was, would be or had been."""
    past = talk.random() < 0.35
    setting = Setting("past" if past else "present", RICH["present"])
    subject = short_subject(talk, room - 5)
    verb = talk.pick(WITH_CLAUSE)
    voice = choose_voice(talk, verb, subject, setting, 0)
    talk.act(subject.noun, verb)
    made = predicate(verb, voice, subject)
    that = Word("that", "SCONJ")
    en, fr = [*subject.en, *made.words, that], [*subject.fr, *made.fr, Mot("que", that)]
    time = "reported" if past else "future" if verb.en.base == "hope" else talk.pick(_TIMES)
    rest = _chain(talk, room - len(en), time)
    return Phrase(en + rest.en, fr + rest.fr)


def _condition(talk: Talk, room: int) -> Phrase:
    """Build if she had a car , she would travel → si elle avait une voiture , elle voyagerait."""
    word = Word("if", "SCONJ")
    first = clause(talk, 3 + talk.upto(min(room - 8, 6)), "unreal")
    pause = Word(",", "PUNCT")
    second = clause(talk, min(room - 2 - len(first.en), 12), "would")
    return Phrase(
        [word, *first.en, pause, *second.en], [Mot("si", word), *first.fr, Mot(",", pause), *second.fr]
    )


def _question(talk: Talk, room: int) -> Phrase:
    time = talk.pick(_TIMES)
    if room < 9:
        return question(talk, room, time)
    phrase = question(talk, 5 + talk.upto(min(room, 13) - 5), time)
    return _continue(talk, phrase, room, time, _AFTER_QUESTION[time])


def _address(talk: Talk, body: Phrase) -> Phrase:
    """Put sir , … before the sentence, or … , sir after it."""
    words = [Word(text, tag) for text, tag in talk.address.en]
    mots = [Mot(text, word) for text, word in zip(talk.address.fr, words, strict=True)]
    pause = Word(",", "PUNCT")
    stop = Mot(",", pause)
    if talk.random() < 0.6:
        return Phrase([*words, pause, *body.en], [*mots, stop, *body.fr])
    return Phrase([*body.en, pause, *words], [*body.fr, stop, *mots])
