"""Noun phrases that grow: with a relative clause, with a phrase of place or belonging, joined by and.

`RICH` gives for each time of a sentence the maker of its noun phrases; the time decides that of relative
clauses.
"""

from regard.worlds.microworld.grammar.adjuncts import place, prepositional, spot
from regard.worlds.microworld.grammar.noun_phrase import Maker, NounPhrase, plain, third_person
from regard.worlds.microworld.grammar.relatives import relate
from regard.worlds.microworld.grammar.talk import Talk
from regard.worlds.microworld.lexicon.entries import Noun
from regard.worlds.microworld.lexicon.nouns import nouns_in
from regard.worlds.microworld.tokens import Mot, Phrase, Word

_PAIRABLE = {"subject": "paired", "free": "free", "generic": "generic"}
_PARTS = nouns_in("opening garden kitchen room")
_BELONGINGS = nouns_in("hat coat scarf bag umbrella suitcase dog")
_WHOLES = nouns_in("house castle hotel church school museum farm theatre village")
_SHUT = frozenset(("negated", "none"))


def _rich(times: tuple[str, ...]) -> Maker:
    def make(talk: Talk, nouns: tuple[Noun, ...], room: int, style: str) -> NounPhrase:
        if room < 5 or style in _SHUT:
            return plain(talk, nouns, room, style)
        draw = talk.random()
        if style in _PAIRABLE and draw < 0.22:
            return _pair(talk, nouns, room, _PAIRABLE[style])
        if draw < 0.85:
            head = plain(talk, nouns, 3 if room > 6 and talk.random() < 0.5 else 2, style)
            left = room - len(head.en)
            if head.en[-1].tag == "PROPN" or left < 3:
                return head
            if left >= 4 and (left > 5 or draw < 0.5):
                relate(talk, head, left, talk.pick(times))
            else:
                _attach(talk, head, left)
            return head
        return plain(talk, nouns, room, style)

    return make


def _pair(talk: Talk, nouns: tuple[Noun, ...], room: int, style: str) -> NounPhrase:
    """Build the boy and the girl; French agrees in the masculine unless both are feminine."""
    first = plain(talk, nouns, min(2 + talk.upto(1), room - 3), style)
    others = tuple(noun for noun in nouns if noun is not first.noun)
    second = plain(talk, others, min(room - 1 - len(first.en), 4), style)
    word = Word("and", "CCONJ")
    feminine = first.agreement.feminine and second.agreement.feminine
    kind = first.noun or second.noun
    assert kind is not None
    talk.mention(kind, feminine, True)
    return NounPhrase(
        [*first.en, word, *second.en],
        [*first.fr, Mot("et", word), *second.fr],
        third_person(feminine, True),
        first.noun,
    )


def _attach(talk: Talk, head: NounPhrase, room: int) -> None:
    """Add of the house, on the table, in the garden, with the hat."""
    noun = head.noun
    assert noun is not None
    extra: Phrase
    if noun in _PARTS:
        extra = prepositional("of", plain(talk, _WHOLES, room - 1, "bound"))
    elif noun.kind == "person" and talk.random() < 0.5:
        extra = prepositional("with", plain(talk, _BELONGINGS, room - 1, "bound"))
    elif noun.kind in ("person", "animal", "vehicle"):
        extra = place(talk, room, plain, named=False)
    elif noun.kind in ("thing", "text", "clothes", "food"):
        extra = spot(talk, room, plain)
    else:
        return
    head.en += extra.en
    head.fr += extra.fr


_TIMES = {
    "present": ("present", "present", "past"),
    "meanwhile": ("present",),
    "past": ("past", "past", "earlier"),
    "ongoing": ("past",),
    "earlier": ("past",),
    "future": ("present",),
    "later": ("present",),
    "reported": ("reported",),
}
RICH: dict[str, Maker] = {time: _rich(times) for time, times in _TIMES.items()}
RICH |= {"would": plain, "unreal": plain}
