"""Whole sentences: clauses joined by and, because, when …; questions, reported thoughts, conditions, vocatives.

In: the wanted number of English words. Out: a `Phrase` of about that length, not yet spelled. One time holds for a
whole sentence and decides the times of the clauses joined to it. Questions are polar (does he sing), about the
subject (who sings), an adverb (where does she work) or the object (what does he see, which book has he read); French
uses est-ce que.
"""

from typing import NamedTuple

from regard.datasets.microworld.grammar.clauses import (
    RICH,
    choose_subject,
    clause,
    short_subject,
    with_adjuncts,
)
from regard.datasets.microworld.grammar.discourse import Discourse
from regard.datasets.microworld.grammar.frames import choose_action, choose_frame
from regard.datasets.microworld.grammar.noun_phrase import NounPhrase, simple_noun_phrase, third_person
from regard.datasets.microworld.grammar.predicates import Predicate, Setting, choose_features, predicate
from regard.datasets.microworld.lexicon import verbs
from regard.datasets.microworld.lexicon.entries import NounEntry, VerbEntry
from regard.datasets.microworld.lexicon.function_words import HE, VOCATIVES, Agreement
from regard.datasets.microworld.lexicon.nouns import nouns_in
from regard.datasets.microworld.lexicon.verbs import WITH_CLAUSE
from regard.datasets.microworld.tokens import Mot, Phrase, Word

_ADVERBS = (("why", "pourquoi"), ("when", "quand"), ("where", "où"), ("how", "comment"))
_WHAT_VERBS = verbs.verbs_by_infinitive(
    "voir manger boire lire acheter vendre chercher regarder écouter préparer vouloir"
)
_WHOM_VERBS = verbs.verbs_by_infinitive(
    "voir chercher regarder écouter attendre aider suivre rencontrer inviter remercier"
)
_WHICH = nouns_in("text clothes food vehicle thing song")


def question(discourse: Discourse, budget: int, time: str) -> Phrase:
    """Build a question of about `budget` words; at least three."""
    choice = discourse.random()
    if choice < 0.5 or budget < 4:
        return _polar(discourse, budget, time) if budget > 2 else _who(discourse, budget, time)
    if choice < 0.62:
        return _who(discourse, budget, time)
    if choice < 0.8:
        return _adverb(discourse, budget, time)
    if choice < 0.9 or budget < 5:
        return _what(discourse, budget, time)
    return _which(discourse, budget, time)


def _invert(subject: NounPhrase, verb: Predicate) -> Phrase:
    """Subject–auxiliary inversion in English, est-ce que before the French clause."""
    aux = verb.aux
    assert aux is not None
    alone = aux.text in ("do", "does") or (aux.text == "did" and verb.verb.state)
    mark = Mot("est-ce", aux) if alone else Mot("est-ce", None, (aux,))
    return Phrase([aux, *subject.en, *verb.en], [mark, Mot("que", None, (aux,)), *subject.fr, *verb.fr])


def _polar(discourse: Discourse, budget: int, time: str) -> Phrase:
    setting = Setting(time, RICH[time], inverted=True)
    subject = choose_subject(
        discourse, 1 if budget < 5 else 2 + discourse.up_to(budget // 3 - 1), setting.make, nobody=False
    )
    verb = choose_frame(discourse, subject, budget - len(subject.en), setting)
    return _invert(subject, verb)


def _who(discourse: Discourse, budget: int, time: str) -> Phrase:
    word = Word("who", "PRON")
    subject = NounPhrase([word], [Mot("qui", word)], HE.agreement)
    verb = with_adjuncts(discourse, subject, budget - 1, Setting(time, RICH[time]))
    return Phrase([word, *verb.en], [*subject.fr, *verb.fr])


def _adverb(discourse: Discourse, budget: int, time: str) -> Phrase:
    setting = Setting(time, simple_noun_phrase, inverted=True)
    english, french = discourse.pick(_ADVERBS)
    word = Word(english, "ADV")
    subject = short_subject(discourse, 1 if budget < 6 else 3)
    verb = choose_action(discourse, subject, budget - 1 - len(subject.en), setting)
    inverted = _invert(subject, verb)
    return Phrase([word, *inverted.en], [Mot(french, word), *inverted.fr])


def _object_question(
    discourse: Discourse, budget: int, time: str, choices: tuple[VerbEntry, ...], agreement: Agreement
) -> Phrase:
    """Build does he see, after an interrogative object."""
    verb = discourse.pick(choices)
    subject = short_subject(discourse, budget - 2)
    setting = Setting(time, simple_noun_phrase, inverted=True)
    features = choose_features(discourse, verb, subject, setting, min(budget - 2 - len(subject.en), 3))
    discourse.note_subject(subject.noun, verb)
    return _invert(subject, predicate(verb, features, subject, preceding=agreement))


def _what(discourse: Discourse, budget: int, time: str) -> Phrase:
    thing = discourse.random() < 0.6
    word = Word("what" if thing else "who", "PRON")
    inverted = _object_question(
        discourse, budget - 1, time, _WHAT_VERBS if thing else _WHOM_VERBS, HE.agreement
    )
    return Phrase([word, *inverted.en], [Mot("que" if thing else "qui", word), *inverted.fr])


def _which(discourse: Discourse, budget: int, time: str) -> Phrase:
    """Build which songs does she know → quelles chansons est-ce qu' elle connaît; how many books."""
    noun = discourse.pick(_WHICH)
    many = discourse.random() < 0.4
    plural = many or discourse.random() < 0.4
    head = Word(noun.en[plural], "NOUN")
    en, fr = _how_many() if many else _quel(noun, plural)
    discourse.mention(noun, noun.feminine, plural)
    agreement = third_person(noun.feminine, plural)
    inverted = _object_question(discourse, budget - 1 - len(en), time, verbs.taking(noun), agreement)
    return Phrase([*en, head, *inverted.en], [*fr, Mot(noun.fr[plural], head), *inverted.fr])


def _how_many() -> tuple[list[Word], list[Mot]]:
    how, many = Word("how", "ADV"), Word("many", "ADJ")
    return [how, many], [Mot("combien", many, (how,)), Mot("de", None, (many,))]


def _quel(noun: NounEntry, plural: bool) -> tuple[list[Word], list[Mot]]:
    which = Word("which", "DET")
    form = ("quel", "quelle", "quels", "quelles")[noun.feminine + 2 * plural]
    return [which], [Mot(form, which)]


_TIMES = ("present",) * 9 + ("past",) * 7 + ("future",) * 4


class _Join(NamedTuple):
    """A conjunction: English, tag, French, a comma before it, the time of its clause by that of the sentence."""

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


def build(discourse: Discourse, length: int) -> Phrase:
    """Build a sentence of about `length` English words, punctuation included; at least three."""
    budget = length - 1
    if discourse.vocative.en:
        budget -= len(discourse.vocative.en) + 1
    is_question = length <= _LONGEST_QUESTION and discourse.random() < 0.18
    body = _question(discourse, budget) if is_question else _statement(discourse, budget)
    mark = "?" if is_question else "."
    if discourse.vocative.en:
        body = _add_vocative(discourse, body)
    end = Word(mark, "PUNCT")
    body.en.append(end)
    body.fr.append(Mot(mark, end))
    return body


def choose_vocative(discourse: Discourse, length: int) -> None:
    """Let the sentence speak to someone by name, sometimes."""
    if length >= 7 and discourse.random() < 0.06:
        discourse.vocative = discourse.pick(VOCATIVES)


def _statement(discourse: Discourse, budget: int) -> Phrase:
    choice = discourse.random()
    if budget >= 6 and choice < 0.1:
        return _thought(discourse, budget)
    if budget >= 9 and choice < 0.15:
        return _condition(discourse, budget)
    time = discourse.pick(_TIMES)
    if budget >= 8 and choice < 0.25 and time in _OPENING and _OPENING[time]:
        return _subordinate_first(discourse, budget, time)
    return _chain(discourse, budget, time)


def _chain(discourse: Discourse, budget: int, time: str) -> Phrase:
    """Build a clause, and others joined to it while the budget allows."""
    return _continue(
        discourse, clause(discourse, _clause_size(discourse, budget), time), budget, time, _BY_TIME[time]
    )


def _continue(
    discourse: Discourse, phrase: Phrase, budget: int, time: str, joins: tuple[_Join, ...]
) -> Phrase:
    """Join clauses while the budget allows, never the same conjunction twice in a row."""
    en, fr = phrase.en, phrase.fr
    last = ""
    while budget - len(en) >= 4:
        left = budget - len(en)
        join = discourse.pick(joins)
        if join.en == last:
            continue
        last = join.en
        _conjoin(en, fr, join, join.comma and left > 6)
        left = budget - len(en)
        extra = clause(discourse, _clause_size(discourse, left), join.times[time])
        en += extra.en
        fr += extra.fr
    return Phrase(en, fr)


def _clause_size(discourse: Discourse, budget: int) -> int:
    """The budget of the next clause; the rest is enough for another clause, or 0."""
    if budget < 7 or (budget <= 13 and discourse.random() < 0.6):
        return budget
    return min(4 + discourse.up_to(min(budget, 14) - 6), budget - 4)


def _conjoin(en: list[Word], fr: list[Mot], join: _Join, comma: bool) -> None:
    if comma:
        pause = Word(",", "PUNCT")
        en.append(pause)
        fr.append(Mot(",", pause))
    word = Word(join.en, join.tag)
    en.append(word)
    fr += [Mot(text, word) for text in join.fr]


def _subordinate_first(discourse: Discourse, budget: int, time: str) -> Phrase:
    """Build when he arrives , we will eat."""
    join = discourse.pick(_OPENING[time])
    en: list[Word] = []
    fr: list[Mot] = []
    _conjoin(en, fr, join, comma=False)
    first = clause(discourse, 2 + discourse.up_to(min(budget - 7, 7)), join.times[time])
    pause = Word(",", "PUNCT")
    en += [*first.en, pause]
    fr += [*first.fr, Mot(",", pause)]
    rest = _chain(discourse, budget - len(en), time)
    return Phrase(en, fr) + rest


def _thought(discourse: Discourse, budget: int) -> Phrase:
    """Build she thinks that …, he said that …; after a past, the clause has a tense of reported speech."""
    past = discourse.random() < 0.35
    setting = Setting("past" if past else "present", RICH["present"])
    subject = short_subject(discourse, budget - 5)
    verb = discourse.pick(WITH_CLAUSE)
    features = choose_features(discourse, verb, subject, setting, 0)
    discourse.note_subject(subject.noun, verb)
    made = predicate(verb, features, subject)
    that = Word("that", "SCONJ")
    en, fr = [*subject.en, *made.words, that], [*subject.fr, *made.fr, Mot("que", that)]
    time = "reported" if past else "future" if verb.en.base == "hope" else discourse.pick(_TIMES)
    rest = _chain(discourse, budget - len(en), time)
    return Phrase(en, fr) + rest


def _condition(discourse: Discourse, budget: int) -> Phrase:
    """Build if she had a car , she would travel → si elle avait une voiture , elle voyagerait."""
    word = Word("if", "SCONJ")
    first = clause(discourse, 3 + discourse.up_to(min(budget - 8, 6)), "unreal")
    pause = Word(",", "PUNCT")
    second = clause(discourse, min(budget - 2 - len(first.en), 12), "would")
    return Phrase(
        [word, *first.en, pause, *second.en], [Mot("si", word), *first.fr, Mot(",", pause), *second.fr]
    )


def _question(discourse: Discourse, budget: int) -> Phrase:
    time = discourse.pick(_TIMES)
    if budget < 9:
        return question(discourse, budget, time)
    phrase = question(discourse, 5 + discourse.up_to(min(budget, 13) - 5), time)
    return _continue(discourse, phrase, budget, time, _AFTER_QUESTION[time])


def _add_vocative(discourse: Discourse, body: Phrase) -> Phrase:
    """Put sir , … before the sentence, or … , sir after it."""
    words = [Word(text, tag) for text, tag in discourse.vocative.en]
    mots = [Mot(text, word) for text, word in zip(discourse.vocative.fr, words, strict=True)]
    pause = Word(",", "PUNCT")
    stop = Mot(",", pause)
    if discourse.random() < 0.6:
        return Phrase([*words, pause, *body.en], [*mots, stop, *body.fr])
    return Phrase([*body.en, pause, *words], [*body.fr, stop, *mots])
