"""Predicates: a verb with its features and its complements.

In: a verb, its subject, the `Setting` it is in, and the English words that are left for it. Out: `VerbFeatures`, chosen
at random: the tense within the time of the sentence, negation, an adverb between auxiliary and verb; and from these and
a complement a `Predicate`. Which verb and which complement is decided in `frames`.
"""

from typing import NamedTuple

from regard.datasets.microworld.grammar.discourse import Discourse
from regard.datasets.microworld.grammar.noun_phrase import Maker, NounPhrase
from regard.datasets.microworld.grammar.verb_group import VerbFeatures, VerbGroup, verb_group
from regard.datasets.microworld.lexicon.entries import VerbEntry
from regard.datasets.microworld.lexicon.function_words import (
    ALREADY,
    MIDDLE,
    MIDDLE_NEGATED,
    NEVER,
    NO_LONGER,
    NOT,
    NOT_YET,
    Agreement,
    FixedExpression,
    Negation,
)
from regard.datasets.microworld.tokens import Mot, Phrase, Word


class Predicate(Phrase):
    """A predicate; its English auxiliary is separate so that a question can move it.

    Attributes:
        aux: the auxiliary, not in `en`.
        features: tense and negation of its verb.
        verb: its verb.
        placed: whether it has a phrase of place.
        lively: whether adjuncts of manner, place or company may be added.
    """

    __slots__ = ("aux", "features", "lively", "placed", "verb")

    def __init__(
        self, group: VerbGroup, features: VerbFeatures, verb: VerbEntry, placed: bool, lively: bool
    ) -> None:
        self.en = group.en
        self.fr = group.fr
        self.aux = group.aux
        self.features = features
        self.verb = verb
        self.placed = placed
        self.lively = lively

    @property
    def words(self) -> list[Word]:
        """The English words with the auxiliary in its usual place."""
        return self.en if self.aux is None else [self.aux, *self.en]


def predicate(
    verb: VerbEntry,
    features: VerbFeatures,
    subject: NounPhrase,
    complement: Phrase | None = None,
    clitics: tuple[Mot, ...] = (),
    preceding: Agreement | None = None,
    placed: bool = False,
    lively: bool = True,
) -> Predicate:
    """Combine verb and complement; a French noun or preposition that belongs to the verb is added."""
    group = verb_group(verb, features, subject.agreement, clitics, preceding)
    if verb.noun:
        source = group.particles[0] if verb.particles else group.head
        group.fr.append(Mot(verb.noun, source))
    if complement is not None:
        if verb.link and complement.fr:
            group.fr.append(linking(verb, group))
        group.en += complement.en
        group.fr += complement.fr
    return Predicate(group, features, verb, placed, lively and not verb.state)


def linking(verb: VerbEntry, group: VerbGroup) -> Mot:
    """À or de before a complement, linked to the English particle if there is one."""
    if verb.particles:
        return Mot(verb.link, group.particles[-1])
    return Mot(verb.link, None, (group.head,))


class Setting(NamedTuple):
    """The context of a verb.

    Attributes:
        time: present, past, future; habit and event (present and past in their simple tenses only);
            meanwhile (beside a present); ongoing and earlier (beside a past); later (a when-clause about the
            future); reported (after *said that*); would; unreal (after if, with would); infinitive.
        make: how noun phrases inside are built.
        inverted: whether the auxiliary comes before the subject, as in a question.
    """

    time: str
    make: Maker
    inverted: bool = False


_ACTION = {
    "present": ("present",) * 6 + ("progressive",) * 3 + ("perfect",) * 2,
    "past": ("past",) * 7 + ("was",) * 2 + ("used",),
    "earlier": ("pluperfect",),
    "ongoing": ("was",),
    "meanwhile": ("present", "progressive", "progressive"),
    "habit": ("present",),
    "event": ("past",),
    "future": ("future", "going"),
    "later": ("later",),
    "reported": ("was", "would", "pluperfect"),
    "would": ("would",),
    "unreal": ("unreal",),
}
_STATE = {
    "present": ("present",),
    "past": ("past",) * 7 + ("used",),
    "earlier": ("past",),
    "ongoing": ("past",),
    "meanwhile": ("present",),
    "habit": ("present",),
    "event": ("past",),
    "future": ("future",),
    "later": ("later",),
    "reported": ("past",),
    "would": ("would",),
    "unreal": ("unreal",),
}
_WORDS = {"infinitive": 0, "going": 3, "used": 2, "present": 0, "past": 0, "later": 0, "unreal": 0}
_NO_ADVERB = frozenset(("used", "was", "unreal", "later", "going"))


def choose_features(
    discourse: Discourse, verb: VerbEntry, subject: NounPhrase, setting: Setting, spare: int
) -> VerbFeatures:
    """Choose tense, negation and a middle adverb.

    Args:
        discourse: the sentence so far.
        verb: the verb.
        subject: its subject.
        setting: its context.
        spare: English words the verb may take besides itself.
    """
    if setting.time == "infinitive":
        return VerbFeatures("infinitive")
    features = VerbFeatures(_tense(discourse, verb, subject, setting, spare), setting.inverted)
    spare -= _WORDS.get(features.tense, 1)
    choice = discourse.random()
    if subject.negative:
        features.ne = subject.en[0]
    elif choice < 0.16 and spare >= 2 and features.tense != "used":
        _negate(features, _negation(discourse, features, setting))
    if spare >= 3 and features.tense not in _NO_ADVERB and not subject.negative:
        _moderate(discourse, features)
    return features


def left_over(budget: int, verb: VerbEntry, features: VerbFeatures) -> int:
    """The number of words left for the complement after those of the verb."""
    words = _WORDS.get(features.tense, 1)
    if words == 0 and not verb.auxiliary and (features.do or features.inverted):
        words = 1
    return budget - 1 - len(verb.particles) - verb.oneself - len(features.en) - words


def spell_expression(expression: FixedExpression | Negation) -> Phrase:
    """Write a fixed expression in both languages."""
    en = [Word(text, tag) for text, tag in expression.en]
    fr = []
    for text, source in zip(expression.fr, expression.links, strict=True):
        fr.append(Mot(text, en[source]) if source >= 0 else Mot(text, None, (en[-1],)))
    return Phrase(en, fr)


def _tense(discourse: Discourse, verb: VerbEntry, subject: NounPhrase, setting: Setting, spare: int) -> str:
    table = _ACTION if not verb.state else _STATE
    tense = discourse.pick(table[setting.time])
    if verb.auxiliary and (tense == "used" or (setting.inverted and tense == "unreal")):
        tense = "past"
    if not verb.lively and tense == "progressive":
        tense = "present"
    if not verb.lively and tense == "was" and setting.time == "past":
        tense = "past"
    if setting.inverted and tense == "used":
        tense = "past"
    if spare < _WORDS.get(tense, 1) and setting.time in ("present", "past"):
        tense = setting.time
    if tense == "past" and verb.en.past == verb.en.base and subject.agreement.english != 2:
        # they read: past and present would be the same
        tense = "was"
    return tense


def _negation(discourse: Discourse, features: VerbFeatures, setting: Setting) -> Negation:
    choice = discourse.random()
    if features.tense == "perfect" and choice < 0.3:
        return NOT_YET
    if setting.inverted or choice < 0.7 or features.tense in ("unreal", "later"):
        return NOT
    return NEVER if choice < 0.88 else NO_LONGER


def _negate(features: VerbFeatures, negation: Negation) -> None:
    phrase = spell_expression(negation)
    features.en = phrase.en
    features.ne = phrase.en[0]
    features.do = negation is NOT
    features.closing = phrase.fr


def _moderate(discourse: Discourse, features: VerbFeatures) -> None:
    """Sometimes add often, always or already."""
    if discourse.random() > 0.12:
        return
    if features.ne is None:
        expression = ALREADY if features.tense in ("perfect", "pluperfect") else discourse.pick(MIDDLE)
    elif features.do and features.tense not in ("perfect", "pluperfect", "progressive"):
        expression = discourse.pick(MIDDLE_NEGATED)
    else:
        return
    phrase = spell_expression(expression)
    features.en = features.en + phrase.en
    features.closing = features.closing + phrase.fr
