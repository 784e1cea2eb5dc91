"""Which predicates a subject can have, and the one that holds another: can swim, wants to see him.

`FRAMES` lists for each kind of subject its frames, from how many English words on, and how often;
`choose_frame` draws among them.
"""

from collections.abc import Callable

from regard.worlds.microworld.grammar.being import compared, described, feeling, located, profession
from regard.worlds.microworld.grammar.doing import (
    indirect,
    intransitive,
    nothing,
    playing,
    transitive,
    with_pronoun,
)
from regard.worlds.microworld.grammar.moving import giving, going, living, putting
from regard.worlds.microworld.grammar.noun_phrase import NounPhrase
from regard.worlds.microworld.grammar.predicates import Predicate, predicate
from regard.worlds.microworld.grammar.talk import Talk
from regard.worlds.microworld.grammar.voices import Setting, choose_voice, left_over
from regard.worlds.microworld.lexicon import verbs
from regard.worlds.microworld.tokens import Phrase

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
        (described, 2, 4),
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
        (described, 2, 4),
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
    "vehicle": ((intransitive, 1, 1), (described, 2, 2), (compared, 4, 1), (located, 4, 1)),
    "thing": ((intransitive, 1, 1), (described, 2, 3), (compared, 4, 1), (located, 4, 2)),
    "object": ((described, 1, 3), (compared, 4, 1), (located, 4, 1)),
    "other": ((described, 1, 3), (compared, 4, 1)),
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
