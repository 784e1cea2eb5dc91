"""The lexicon of reviews: opinion targets by domain, and positive and negative words that go with them.

Every positive table has a negative one of the same kind and about the same size, so that a template written as positive
is negative with its words exchanged. Words with a polarity are in these tables alone. Knows nothing of sentences.
"""

from dataclasses import dataclass
from typing import NamedTuple


class OpinionTarget(NamedTuple):
    """A noun that is judged.

    Attributes:
        text: the noun, without an article.
        plural: whether verbs agree in the plural.
        sort: a key of `_FITTING`: which adjectives go with it.
    """

    text: str
    plural: bool
    sort: str


class Domain(NamedTuple):
    """One kind of thing that is reviewed.

    Attributes:
        wholes: the things reviewed; singular count nouns.
        aspects: their parts and properties.
        tried: a verb for what the reviewer did with it: past and participle.
    """

    wholes: tuple[OpinionTarget, ...]
    aspects: tuple[OpinionTarget, ...]
    tried: tuple[str, str]


class OpinionAdjective(NamedTuple):
    """A positive or negative adjective and its comparative."""

    text: str
    comparative: str


@dataclass(frozen=True)
class SentimentLexicon:
    """The words of one polarity.

    Attributes:
        mild: adjectives that can be negated and compared, by the sort of noun.
        strong: extreme adjectives, for any noun.
        judgments: predicate nouns with their article.
        qualities: nouns after full of.
        verbs: with the target as subject: base, third person, past.
        feelings: verbs with the target as object: base, third person, past.
        expected: the participle after had, as hoped or feared.
        softened: downtoning adverbs, which do not change the polarity.
    """

    mild: dict[str, tuple[OpinionAdjective, ...]]
    strong: tuple[str, ...]
    judgments: tuple[str, ...]
    qualities: tuple[str, ...]
    verbs: tuple[tuple[str, str, str], ...]
    feelings: tuple[tuple[str, str, str], ...]
    expected: str
    softened: tuple[str, ...]


def _domain(tried: str, wholes: str, aspects: str) -> Domain:
    """Read nouns written as ``noun/sort`` or, in the plural, ``noun/sort/s``; a blank within one is ``_``."""
    first, second = tried.split()
    return Domain(_nouns(wholes), _nouns(aspects), (first, second))


def _nouns(table: str) -> tuple[OpinionTarget, ...]:
    rows = [entry.replace("_", " ").split("/") for entry in table.split()]
    return tuple(OpinionTarget(text, bool(plural), sort) for text, sort, *plural in rows)


DOMAINS = (
    _domain(
        "saw seen",
        "film/tale movie/tale thriller/tale comedy/tale drama/tale documentary/tale sequel/tale musical/tale",
        "acting/any story/tale plot/tale ending/tale script/tale opening/tale camera_work/any soundtrack/sound "
        "direction/any dialogue/tale jokes/tale/s characters/tale/s scenes/tale/s effects/any/s "
        "performances/any/s costumes/any/s",
    ),
    _domain(
        "read read",
        "novel/tale book/tale biography/tale memoir/tale collection/tale mystery/tale romance/tale",
        "story/tale plot/tale prose/tale style/any ending/tale opening/tale narrator/tale translation/any "
        "characters/tale/s chapters/tale/s dialogues/tale/s descriptions/tale/s essays/tale/s",
    ),
    _domain(
        "visited visited",
        "restaurant/room bistro/room café/room pizzeria/room tavern/room",
        "soup/food fish/food bread/food dessert/food sauce/food wine/any menu/any service/staff "
        "waiter/staff terrace/room dining_room/room cook/staff vegetables/food/s waiters/staff/s "
        "desserts/food/s portions/food/s",
    ),
    _domain(
        "tried tried",
        "hotel/room guesthouse/room inn/room hostel/room resort/room",
        "room/room bed/room breakfast/food lobby/room bathroom/room staff/staff receptionist/staff pool/room "
        "garden/room view/any rooms/room/s beds/room/s meals/food/s porters/staff/s",
    ),
    _domain(
        "heard heard",
        "album/sound concert/sound record/sound opera/sound recital/sound symphony/sound",
        "singing/sound melody/sound voice/sound rhythm/sound orchestra/sound first_song/sound finale/sound "
        "conductor/any songs/sound/s solos/sound/s lyrics/tale/s choruses/sound/s",
    ),
    _domain(
        "bought bought",
        "phone/tool laptop/tool camera/tool tablet/tool printer/tool headset/tool",
        "screen/tool battery/tool keyboard/tool design/any software/tool manual/any case/tool "
        "microphone/tool buttons/tool/s speakers/tool/s menus/any/s",
    ),
)

_FITTING = {
    "any": (
        "good/better impressive memorable remarkable attractive satisfying pleasant",
        "bad/worse poor/poorer weak/weaker disappointing forgettable annoying unpleasant",
    ),
    "tale": (
        "gripping funny/funnier moving clever/cleverer original exciting witty/wittier convincing engaging "
        "touching subtle/subtler",
        "dull/duller boring predictable silly/sillier clumsy/clumsier shallow/shallower confusing tedious "
        "pretentious lifeless repetitive",
    ),
    "food": (
        "tasty/tastier fresh/fresher tender appetising",
        "bland/blander greasy/greasier tasteless stale/staler",
    ),
    "staff": ("friendly/friendlier polite helpful attentive", "rude/ruder careless unfriendly arrogant"),
    "room": (
        "comfortable clean/cleaner spacious cosy/cosier",
        "uncomfortable dirty/dirtier cramped shabby/shabbier",
    ),
    "sound": (
        "lively/livelier catchy/catchier expressive warm/warmer",
        "monotonous shrill/shriller lifeless dull/duller",
    ),
    "tool": (
        "reliable sturdy/sturdier practical elegant",
        "unreliable flimsy/flimsier clumsy/clumsier awkward",
    ),
}


def _mild(polarity: int) -> dict[str, tuple[OpinionAdjective, ...]]:
    """The adjectives of every sort of noun, positive for 0 and negative for 1; those of any go with each sort."""
    general = _FITTING["any"][polarity]
    tables = {
        sort: (general if sort == "any" else f"{general} {own[polarity]}") for sort, own in _FITTING.items()
    }
    adjectives = {}
    for sort, table in tables.items():
        entries = [entry.partition("/") for entry in table.split()]
        adjectives[sort] = tuple(
            OpinionAdjective(text, compared or f"more {text}") for text, _, compared in entries
        )
    return adjectives


def _words(table: str) -> tuple[str, ...]:
    return tuple(table.split())


def _verbs(table: str) -> tuple[tuple[str, str, str], ...]:
    """Read verbs written as ``base/past``."""
    rows = [entry.split("/") for entry in table.split()]
    return tuple((base, f"{base}es" if base.endswith("s") else f"{base}s", past) for base, past in rows)


POSITIVE = SentimentLexicon(
    mild=_mild(0),
    strong=_words("superb wonderful brilliant excellent fantastic outstanding magnificent splendid"),
    judgments=("a triumph", "a delight", "a gem", "a joy", "a success", "a treat", "a pleasure"),
    qualities=("charm", "energy", "style", "flair", "character", "good ideas", "pleasant surprises"),
    verbs=_verbs("delight/delighted impress/impressed charm/charmed please/pleased"),
    feelings=_verbs("like/liked enjoy/enjoyed love/loved admire/admired"),
    expected="hoped",
    softened=("fairly", "quite", "mostly"),
)

NEGATIVE = SentimentLexicon(
    mild=_mild(1),
    strong=_words("awful terrible dreadful horrible appalling atrocious dismal abysmal"),
    judgments=("a failure", "a bore", "a mess", "a disaster", "a flop", "a nuisance", "a letdown"),
    qualities=("flaws", "mistakes", "weaknesses", "faults", "problems", "bad ideas", "nasty surprises"),
    verbs=_verbs("disappoint/disappointed annoy/annoyed bore/bored irritate/irritated"),
    feelings=_verbs("dislike/disliked detest/detested hate/hated loathe/loathed"),
    expected="feared",
    softened=("rather", "a bit", "somewhat"),
)

INTENSIFIERS = ("very", "really", "truly", "remarkably", "so")
"""Adverbs before mild adjectives."""

MAXIMIZERS = ("absolutely", "simply", "utterly", "truly")
"""Adverbs before strong adjectives."""
