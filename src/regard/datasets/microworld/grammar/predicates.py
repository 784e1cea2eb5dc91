"""Predicates: a verb put together with its complements.

In: a verb, how it is said, its subject and its complement. Out: a `Predicate`. The ways of choosing these
are the frames in `being`, `doing` and `moving`.

Choosing how a verb is said: its tense within the sentence's time, negation, adverbs in the middle.

In: the verb, its subject, the `Setting` and how many more English words there is room for. Out: a `Voice`.
"""

from typing import NamedTuple

from regard.datasets.microworld.grammar.noun_phrase import Maker, NounPhrase
from regard.datasets.microworld.grammar.talk import Talk
from regard.datasets.microworld.grammar.verb_group import VerbGroup, Voice, verb_group
from regard.datasets.microworld.lexicon.entries import Verb
from regard.datasets.microworld.lexicon.function_words import (
    ALREADY,
    MIDDLE,
    MIDDLE_NEGATED,
    NEVER,
    NO_LONGER,
    NOT,
    NOT_YET,
    Agreement,
    Fixed,
    Negation,
)
from regard.datasets.microworld.tokens import Mot, Phrase, Word


class Predicate(Phrase):
    """A predicate; its English auxiliary is kept apart so that a question can move it.

    Attributes:
        aux: the auxiliary, not in `en`.
        voice: tense and negation of its verb.
        verb: its verb.
        placed: True where it says already where.
        lively: True where a manner, a place or company may be added.
    """

    __slots__ = ("aux", "lively", "placed", "verb", "voice")

    def __init__(self, group: VerbGroup, voice: Voice, verb: Verb, placed: bool, lively: bool) -> None:
        self.en = group.en
        self.fr = group.fr
        self.aux = group.aux
        self.voice = voice
        self.verb = verb
        self.placed = placed
        self.lively = lively

    @property
    def words(self) -> list[Word]:
        """The English words with the auxiliary in its usual place."""
        return self.en if self.aux is None else [self.aux, *self.en]


def predicate(
    verb: Verb,
    voice: Voice,
    subject: NounPhrase,
    complement: Phrase | None = None,
    clitics: tuple[Mot, ...] = (),
    preceding: Agreement | None = None,
    placed: bool = False,
    lively: bool = True,
) -> Predicate:
    """Put verb and complement together; a French noun or preposition that belongs to the verb is added."""
    group = verb_group(verb, voice, subject.agreement, clitics, preceding)
    if verb.noun:
        source = group.particles[0] if verb.particles else group.head
        group.fr.append(Mot(verb.noun, source))
    if complement is not None:
        if verb.link and complement.fr:
            group.fr.append(linking(verb, group))
        group.en += complement.en
        group.fr += complement.fr
    return Predicate(group, voice, verb, placed, lively and not verb.state)


def linking(verb: Verb, group: VerbGroup) -> Mot:
    """Return à or de before a complement, linked to the English particle where there is one."""
    if verb.particles:
        return Mot(verb.link, group.particles[-1])
    return Mot(verb.link, None, (group.head,))


class Setting(NamedTuple):
    """Where a verb stands.

    Attributes:
        time: present, past, future; habit and event (present and past in their simple tenses only);
            meanwhile (beside a present); ongoing and earlier (beside a past); later (a when-clause about the
            future); reported (after *said that*); would; unreal (after if, with would); infinitive.
        make: how noun phrases inside are built.
        asked: True in a question with the auxiliary before the subject.
    """

    time: str
    make: Maker
    asked: bool = False


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


def choose_voice(talk: Talk, verb: Verb, subject: NounPhrase, setting: Setting, spare: int) -> Voice:
    """Draw tense, negation and middle adverb.

    Args:
        talk: the sentence so far.
        verb: the verb to be said.
        subject: its subject.
        setting: where it stands.
        spare: English words the verb may take besides itself.
    """
    if setting.time == "infinitive":
        return Voice("infinitive")
    voice = Voice(_tense(talk, verb, subject, setting, spare), setting.asked)
    spare -= _WORDS.get(voice.tense, 1)
    draw = talk.random()
    if subject.negative:
        voice.ne = subject.en[0]
    elif draw < 0.16 and spare >= 2 and voice.tense != "used":
        _negate(voice, _negation(talk, voice, setting))
    if spare >= 3 and voice.tense not in _NO_ADVERB and not subject.negative:
        _moderate(talk, voice)
    return voice


def left_over(room: int, verb: Verb, voice: Voice) -> int:
    """Return how many words are left for the complement, once the verb has taken its own."""
    words = _WORDS.get(voice.tense, 1)
    if words == 0 and not verb.auxiliary and (voice.do or voice.asked):
        words = 1
    return room - 1 - len(verb.particles) - verb.oneself - len(voice.en) - words


def spell_fixed(fixed: Fixed | Negation) -> Phrase:
    """Write an expression that does not change."""
    en = [Word(text, tag) for text, tag in fixed.en]
    fr = []
    for text, source in zip(fixed.fr, fixed.links, strict=True):
        fr.append(Mot(text, en[source]) if source >= 0 else Mot(text, None, (en[-1],)))
    return Phrase(en, fr)


def _tense(talk: Talk, verb: Verb, subject: NounPhrase, setting: Setting, spare: int) -> str:
    table = _ACTION if not verb.state else _STATE
    tense = talk.pick(table[setting.time])
    if verb.auxiliary and (tense == "used" or (setting.asked and tense == "unreal")):
        tense = "past"
    if not verb.lively and tense == "progressive":
        tense = "present"
    if not verb.lively and tense == "was" and setting.time == "past":
        tense = "past"
    if setting.asked and tense == "used":
        tense = "past"
    if spare < _WORDS.get(tense, 1) and setting.time in ("present", "past"):
        tense = setting.time
    if tense == "past" and verb.en.past == verb.en.base and subject.agreement.english != 2:
        # they read: nothing would tell the past from the present
        tense = "was"
    return tense


def _negation(talk: Talk, voice: Voice, setting: Setting) -> Negation:
    draw = talk.random()
    if voice.tense == "perfect" and draw < 0.3:
        return NOT_YET
    if setting.asked or draw < 0.7 or voice.tense in ("unreal", "later"):
        return NOT
    return NEVER if draw < 0.88 else NO_LONGER


def _negate(voice: Voice, negation: Negation) -> None:
    phrase = spell_fixed(negation)
    voice.en = phrase.en
    voice.ne = phrase.en[0]
    voice.do = negation is NOT
    voice.closing = phrase.fr


def _moderate(talk: Talk, voice: Voice) -> None:
    """Add often, always, already … in the middle, sometimes."""
    if talk.random() > 0.12:
        return
    if voice.ne is None:
        fixed = ALREADY if voice.tense in ("perfect", "pluperfect") else talk.pick(MIDDLE)
    elif voice.do and voice.tense not in ("perfect", "pluperfect", "progressive"):
        fixed = talk.pick(MIDDLE_NEGATED)
    else:
        return
    phrase = spell_fixed(fixed)
    voice.en = voice.en + phrase.en
    voice.closing = voice.closing + phrase.fr
