"""Clauses: a subject and a predicate, relative clauses, and the noun phrases that contain them.

In: a budget in English words and the clause's time. Out: a `Phrase`. What the subject and the predicate leave of the
budget goes to adjuncts of manner, place, company and time. A noun phrase grows by a relative clause (who sleeps, that
he has bought, where she lives, whose dog barks), by a phrase of place or belonging, or by coordination; inside a
relative clause noun phrases are simple, so that none contains another. `RICH` has, for each time of a sentence, the
maker of its noun phrases, which decides the times of their relative clauses. Also clauses without a subject of their
own: it rains, there is a cat in the garden.
"""

from regard.datasets.microworld.grammar.adjuncts import companion, locative, prepositional, resting_place
from regard.datasets.microworld.grammar.discourse import Discourse
from regard.datasets.microworld.grammar.frames import choose_frame
from regard.datasets.microworld.grammar.noun_phrase import (
    Maker,
    NounPhrase,
    name,
    pronoun,
    simple_noun_phrase,
    third_person,
)
from regard.datasets.microworld.grammar.predicates import (
    Predicate,
    Setting,
    choose_features,
    left_over,
    predicate,
    spell_expression,
)
from regard.datasets.microworld.grammar.verb_group import verb_group
from regard.datasets.microworld.lexicon import verbs
from regard.datasets.microworld.lexicon.entries import NounEntry, VerbEntry
from regard.datasets.microworld.lexicon.function_words import HE, IT, TIMES, Agreement
from regard.datasets.microworld.lexicon.nouns import NOUNS, nouns_in
from regard.datasets.microworld.tokens import Mot, Phrase, Word

_POSSESSED = nouns_in("animal") + nouns_in("daughter son brother sister mother father friend")
_PLACES = ("site", "area")


def add_relative(discourse: Discourse, phrase: NounPhrase, budget: int, time: str) -> None:
    """Add a relative clause of about `budget` words (at least 3) to a noun phrase."""
    setting = Setting(time, simple_noun_phrase)
    choice = discourse.random()
    kind = phrase.kind
    if kind in _PLACES and choice < 0.4:
        _where(discourse, phrase, budget, setting)
    elif kind == "person" and choice < 0.12 and budget >= 4:
        _whose(discourse, phrase, budget, setting)
    elif choice < 0.55 and phrase.noun is not None and (taking := verbs.taking(phrase.noun)):
        _object(discourse, phrase, budget, setting, taking)
    else:
        _subject(discourse, phrase, budget, setting)


def _subject(discourse: Discourse, phrase: NounPhrase, budget: int, setting: Setting) -> None:
    word = Word("who" if phrase.kind == "person" else "that", "PRON")
    subject = NounPhrase([word], [Mot("qui", word)], phrase.agreement, phrase.noun)
    verb = choose_frame(discourse, subject, budget - 1, setting)
    phrase.en += [word, *verb.words]
    phrase.fr += subject.fr + verb.fr


def short_subject(discourse: Discourse, budget: int) -> NounPhrase:
    """Return a pronoun, a name or a short noun phrase for a person."""
    choice = discourse.random()
    if budget < 2 or choice < 0.6:
        return pronoun(discourse.pick_person())
    if choice < 0.75:
        return name(discourse)
    return simple_noun_phrase(discourse, NOUNS["person"], min(budget, 3), "subject")


def _object(
    discourse: Discourse, phrase: NounPhrase, budget: int, setting: Setting, taking: tuple[VerbEntry, ...]
) -> None:
    word = Word("that", "PRON")
    verb = discourse.pick(taking)
    subject = short_subject(discourse, budget - 2)
    features = choose_features(
        discourse, verb, subject, setting, budget - 2 - len(subject.en) - len(verb.particles)
    )
    discourse.note_subject(subject.noun, verb)
    made = predicate(verb, features, subject, preceding=phrase.agreement)
    phrase.en += [word, *subject.en, *made.words]
    phrase.fr += [Mot("que", word), *subject.fr, *made.fr]


def _where(discourse: Discourse, phrase: NounPhrase, budget: int, setting: Setting) -> None:
    word = Word("where", "ADV")
    subject = short_subject(discourse, budget - 2)
    verb = discourse.pick(verbs.STAYING)
    features = choose_features(
        discourse, verb, subject, setting, budget - 2 - len(subject.en) - len(verb.particles)
    )
    discourse.note_subject(subject.noun, verb)
    made = predicate(verb, features, subject)
    phrase.en += [word, *subject.en, *made.words]
    phrase.fr += [Mot("où", word), *subject.fr, *made.fr]


def _whose(discourse: Discourse, phrase: NounPhrase, budget: int, setting: Setting) -> None:
    word = Word("whose", "PRON")
    noun = discourse.pick(_POSSESSED)
    head = Word(noun.en[0], "NOUN")
    discourse.mention(noun, noun.feminine, False)
    article = Mot("la" if noun.feminine else "le", None, (word,))
    subject = NounPhrase([head], [article, Mot(noun.fr[0], head)], third_person(noun.feminine, False), noun)
    verb = choose_frame(discourse, subject, budget - 2, setting)
    phrase.en += [word, *subject.en, *verb.words]
    phrase.fr += [Mot("dont", word), *subject.fr, *verb.fr]


_PAIRABLE = {"subject": "paired", "free": "free", "generic": "generic"}
_PARTS = nouns_in("opening garden kitchen room")
_BELONGINGS = nouns_in("hat coat scarf bag umbrella suitcase dog")
_WHOLES = nouns_in("house castle hotel church school museum farm theatre village")
_SHUT = frozenset(("negated", "none"))


def _rich(times: tuple[str, ...]) -> Maker:
    def make(discourse: Discourse, nouns: tuple[NounEntry, ...], budget: int, style: str) -> NounPhrase:
        if budget < 5 or style in _SHUT:
            return simple_noun_phrase(discourse, nouns, budget, style)
        choice = discourse.random()
        if style in _PAIRABLE and choice < 0.22:
            return _pair(discourse, nouns, budget, _PAIRABLE[style])
        if choice < 0.85:
            head = simple_noun_phrase(
                discourse, nouns, 3 if budget > 6 and discourse.random() < 0.5 else 2, style
            )
            left = budget - len(head.en)
            if head.en[-1].tag == "PROPN" or left < 3:
                return head
            if left >= 4 and (left > 5 or choice < 0.5):
                add_relative(discourse, head, left, discourse.pick(times))
            else:
                _attach(discourse, head, left)
            return head
        return simple_noun_phrase(discourse, nouns, budget, style)

    return make


def _pair(discourse: Discourse, nouns: tuple[NounEntry, ...], budget: int, style: str) -> NounPhrase:
    """Build the boy and the girl; French agrees in the masculine unless both are feminine."""
    first = simple_noun_phrase(discourse, nouns, min(2 + discourse.up_to(1), budget - 3), style)
    others = tuple(noun for noun in nouns if noun is not first.noun)
    second = simple_noun_phrase(discourse, others, min(budget - 1 - len(first.en), 4), style)
    word = Word("and", "CCONJ")
    feminine = first.agreement.feminine and second.agreement.feminine
    kind = first.noun or second.noun
    assert kind is not None
    discourse.mention(kind, feminine, True)
    return NounPhrase(
        [*first.en, word, *second.en],
        [*first.fr, Mot("et", word), *second.fr],
        third_person(feminine, True),
        first.noun,
    )


def _attach(discourse: Discourse, head: NounPhrase, budget: int) -> None:
    """Add of the house, on the table, in the garden, with the hat."""
    noun = head.noun
    assert noun is not None
    extra: Phrase
    if noun in _PARTS:
        extra = prepositional("of", simple_noun_phrase(discourse, _WHOLES, budget - 1, "bound"))
    elif noun.kind == "person" and discourse.random() < 0.5:
        extra = prepositional("with", simple_noun_phrase(discourse, _BELONGINGS, budget - 1, "bound"))
    elif noun.kind in ("person", "animal", "vehicle"):
        extra = locative(discourse, budget, simple_noun_phrase, named=False)
    elif noun.kind in ("thing", "text", "clothes", "food"):
        extra = resting_place(discourse, budget, simple_noun_phrase)
    else:
        return
    head.en += extra.en
    head.fr += extra.fr


_RELATIVE_TIMES = {
    "present": ("present", "present", "past"),
    "meanwhile": ("present",),
    "past": ("past", "past", "earlier"),
    "ongoing": ("past",),
    "earlier": ("past",),
    "future": ("present",),
    "later": ("present",),
    "reported": ("reported",),
}
RICH: dict[str, Maker] = {time: _rich(times) for time, times in _RELATIVE_TIMES.items()}
RICH |= {"would": simple_noun_phrase, "unreal": simple_noun_phrase}


_SUBJECT_KINDS = ("person",) * 11 + ("animal",) * 4 + (
    "vehicle", "thing", "furniture", "clothes", "text", "food", "site", "area", "idea",
)  # fmt: skip
_PRESENT_THINGS = nouns_in("animal thing person furniture")
_STEADY = {"present": "habit", "past": "event"}
"""Two verbs with one subject are said in the same tense."""
_ADJUNCT_TIMES = {"progressive": "now", "past": "past", "was": "past", "future": "future", "going": "future"}


def clause(discourse: Discourse, budget: int, time: str) -> Phrase:
    """Build a statement of about `budget` words; at least two."""
    setting = Setting(time, RICH[time])
    choice = discourse.random()
    if choice < 0.04 and budget <= 6:
        return _weather(discourse, budget, setting)
    if choice < 0.08 and budget >= 5:
        return _existence(discourse, budget, setting)
    subject = choose_subject(discourse, _share(discourse, budget), setting.make)
    left = budget - len(subject.en)
    if left >= 7 and not subject.negative and discourse.random() < 0.25:
        verb = _two_verbs(discourse, subject, left, setting)
    else:
        verb = with_adjuncts(discourse, subject, left, setting)
    return subject + verb


def _share(discourse: Discourse, budget: int) -> int:
    """Return how much of a clause's budget the subject may take."""
    return 1 if budget < 4 else 2 + discourse.up_to(budget // 2 - 2) if budget > 4 else 2


def choose_subject(discourse: Discourse, budget: int, make: Maker, nobody: bool = True) -> NounPhrase:
    """Draw a pronoun, a name or a noun phrase of at most `budget` words."""
    choice = discourse.random()
    if budget < 5:
        thing = discourse.thing_pronoun() if choice < 0.25 else None
        if thing is not None:
            phrase = pronoun(thing[0])
            phrase.noun = thing[1]
            return phrase
        if choice < 0.5 or (budget < 2 and choice < 0.88):
            return pronoun(discourse.pick_person())
        if choice > 0.985 and nobody:
            word = Word("nobody", "PRON")
            return NounPhrase([word], [Mot("personne", word)], HE.agreement, negative=True)
        if budget < 2 or choice < 0.58:
            return name(discourse)
    return make(discourse, NOUNS[discourse.pick(_SUBJECT_KINDS)], budget, "subject")


def with_adjuncts(discourse: Discourse, subject: NounPhrase, budget: int, setting: Setting) -> Phrase:
    """Build a predicate and fill the rest of the budget with manner, place, company and time."""
    kept = discourse.up_to(3) if budget > 4 else 0
    verb = choose_frame(discourse, subject, budget - kept, setting)
    en, fr = verb.words, verb.fr
    return _fill(discourse, verb, Phrase(en, fr), budget - len(en), setting, subject)


def _fill(
    discourse: Discourse, verb: Predicate, phrase: Phrase, left: int, setting: Setting, subject: NounPhrase
) -> Phrase:
    times = time_adverbials(verb)
    if left >= 2 and verb.lively and subject.kind in ("person", "animal") and discourse.random() < 0.8:
        if not verb.verb.lively and verb.placed:
            return phrase
        if verb.placed or (verb.verb.lively and subject.kind == "person" and discourse.random() < 0.35):
            helps = verb.verb.fr.infinitive in verbs.FOR_SOMEONE and discourse.random() < 0.5
            extra = companion(
                discourse, min(left, 4), setting.make, "for" if helps else "with", subject.agreement
            )
        else:
            extra = locative(discourse, left, setting.make)
        phrase = phrase + extra
        left -= len(extra.en)
    if times and left > 0 and discourse.random() < (0.2 if verb.verb.state else 0.8):
        expression = discourse.try_new(TIMES[times])
        if expression is not None and len(expression.en) <= left:
            extra = spell_expression(expression)
            phrase = phrase + extra
    return phrase


def time_adverbials(verb: Predicate) -> str:
    """Return which time expressions go with a predicate's tense; empty where none does."""
    if verb.features.tense == "present":
        return "present" if not verb.verb.state else "" if verb.features.closing else "now"
    return _ADJUNCT_TIMES.get(verb.features.tense, "")


def _two_verbs(discourse: Discourse, subject: NounPhrase, budget: int, setting: Setting) -> Phrase:
    """Build sings and dances; but where just one of the two is denied."""
    setting = setting._replace(time=_STEADY.get(setting.time, setting.time))
    first = choose_frame(discourse, subject, 2 + discourse.up_to(budget - 5), setting)
    words = first.words
    second = choose_frame(discourse, subject, max(budget - 1 - len(words), 2), setting)
    denied = (first.features.ne is None) != (second.features.ne is None)
    join = Word("but" if denied else "and", "CCONJ")
    return Phrase(
        [*words, join, *second.words], [*first.fr, Mot("mais" if denied else "et", join), *second.fr]
    )


def _weather(discourse: Discourse, budget: int, setting: Setting) -> Phrase:
    """Build it rains → il pleut, it is hot → il fait chaud."""
    subject = pronoun(IT[False])
    verb = discourse.pick(
        (verbs.RAIN, verbs.SNOW, verbs.HOT, verbs.COLD) if budget > 2 else (verbs.RAIN, verbs.SNOW)
    )
    features = choose_features(discourse, verb, subject, setting, budget - 2 - len(verb.particles))
    group = verb_group(verb, features, subject.agreement)
    if verb.noun:
        group.fr.append(Mot(verb.noun, group.particles[-1]))
    en = subject.en + ([] if group.aux is None else [group.aux]) + group.en
    phrase = Phrase(en, subject.fr + group.fr)
    if budget - len(en) >= 2:
        where = locative(discourse, budget - len(en), setting.make)
        phrase = phrase + where
    return phrase


def _existence(discourse: Discourse, budget: int, setting: Setting) -> Phrase:
    """Build there is a cat in the garden → il y a un chat dans le jardin."""
    there = Word("there", "PRON")
    subject = NounPhrase([there], [Mot("il", None, (there,))], HE.agreement)
    features = choose_features(discourse, verbs.THERE_BE, subject, setting, min(budget - 6, 2))
    left = left_over(budget - 1, verbs.THERE_BE, features)
    style = "none" if features.ne is not None else "new"
    what = setting.make(discourse, _PRESENT_THINGS, max(left - 3, 2), style)
    english = 1 if what.agreement.plural else 2
    group = verb_group(
        verbs.THERE_BE, features, Agreement(2, False, False, english), (Mot("y", None, (there,)),)
    )
    aux = [] if group.aux is None else [group.aux]
    phrase = Phrase([there, *aux, *group.en, *what.en], [*subject.fr, *group.fr, *what.fr])
    left = budget - len(phrase.en)
    if left >= 3:
        where = locative(discourse, left, setting.make)
        phrase = phrase + where
    return phrase
