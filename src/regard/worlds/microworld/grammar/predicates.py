"""Predicates: a verb put together with its complements.

In: a verb, how it is said, its subject and its complement. Out: a `Predicate`. The ways of choosing these
are the frames in `being`, `doing` and `moving`.
"""

from regard.worlds.microworld.grammar.noun_phrase import NounPhrase
from regard.worlds.microworld.grammar.verb_group import VerbGroup, Voice, verb_group
from regard.worlds.microworld.lexicon.entries import Verb
from regard.worlds.microworld.lexicon.pronouns import Agreement
from regard.worlds.microworld.tokens import Mot, Phrase, Word


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
