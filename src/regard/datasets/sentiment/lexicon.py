"""The reviewer's words: what can be reviewed, and words of praise and blame that fit it.

Every table that praises has one that blames, of the same kind and about the same size, so that a template
written for praise serves for blame with its words changed. Words that carry a verdict are in these tables
alone. Knows nothing of sentences.
"""

from dataclasses import dataclass
from typing import NamedTuple


class Noun(NamedTuple):
    """Something that is judged.

    Attributes:
        text: the noun, without an article.
        plural: whether verbs agree in the plural.
        sort: which adjectives fit: one of the names in `_FITTING`.
    """

    text: str
    plural: bool
    sort: str


class Domain(NamedTuple):
    """One kind of thing that is reviewed.

    Attributes:
        wholes: what the review is of; all singular and counted.
        aspects: what it has.
        tried: what the reviewer did with it, in the past and as a participle.
    """

    wholes: tuple[Noun, ...]
    aspects: tuple[Noun, ...]
    tried: tuple[str, str]


class Adjective(NamedTuple):
    """A word of praise or blame, and its comparative."""

    text: str
    comparative: str


@dataclass(frozen=True)
class Words:
    """One side of the vocabulary: all praise or all blame.

    Attributes:
        mild: adjectives that can be denied and compared, by the sort of noun.
        strong: adjectives that say all at once, and go with any noun.
        verdicts: nouns with their article that a thing can be called.
        qualities: what a thing can be full of.
        verbs: what a thing does to people: base, third person, past.
        feelings: what people feel for a thing: base, third person, past.
        expected: the past participle for what one saw coming.
        softened: adverbs that take something back, without changing the side.
    """

    mild: dict[str, tuple[Adjective, ...]]
    strong: tuple[str, ...]
    verdicts: tuple[str, ...]
    qualities: tuple[str, ...]
    verbs: tuple[tuple[str, str, str], ...]
    feelings: tuple[tuple[str, str, str], ...]
    expected: str
    softened: tuple[str, ...]


def _domain(tried: str, wholes: str, aspects: str) -> Domain:
    """Read nouns written as ``noun/sort`` or, in the plural, ``noun/sort/s``; a blank within one is ``_``."""
    first, second = tried.split()
    return Domain(_nouns(wholes), _nouns(aspects), (first, second))


def _nouns(table: str) -> tuple[Noun, ...]:
    rows = [entry.replace("_", " ").split("/") for entry in table.split()]
    return tuple(Noun(text, bool(plural), sort) for text, sort, *plural in rows)


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


def _mild(side: int) -> dict[str, tuple[Adjective, ...]]:
    """Return the adjectives of every sort of noun; those that fit any noun fit each sort."""
    general = _FITTING["any"][side]
    tables = {
        sort: (general if sort == "any" else f"{general} {sides[side]}") for sort, sides in _FITTING.items()
    }
    found = {}
    for sort, table in tables.items():
        entries = [entry.partition("/") for entry in table.split()]
        found[sort] = tuple(Adjective(text, compared or f"more {text}") for text, _, compared in entries)
    return found


def _words(table: str) -> tuple[str, ...]:
    return tuple(table.split())


def _verbs(table: str) -> tuple[tuple[str, str, str], ...]:
    """Read verbs written as ``base/past``."""
    rows = [entry.split("/") for entry in table.split()]
    return tuple((base, f"{base}es" if base.endswith("s") else f"{base}s", past) for base, past in rows)


PRAISE = Words(
    mild=_mild(0),
    strong=_words("superb wonderful brilliant excellent fantastic outstanding magnificent splendid"),
    verdicts=("a triumph", "a delight", "a gem", "a joy", "a success", "a treat", "a pleasure"),
    qualities=("charm", "energy", "style", "flair", "character", "good ideas", "pleasant surprises"),
    verbs=_verbs("delight/delighted impress/impressed charm/charmed please/pleased"),
    feelings=_verbs("like/liked enjoy/enjoyed love/loved admire/admired"),
    expected="hoped",
    softened=("fairly", "quite", "mostly"),
)

BLAME = Words(
    mild=_mild(1),
    strong=_words("awful terrible dreadful horrible appalling atrocious dismal abysmal"),
    verdicts=("a failure", "a bore", "a mess", "a disaster", "a flop", "a nuisance", "a letdown"),
    qualities=("flaws", "mistakes", "weaknesses", "faults", "problems", "bad ideas", "nasty surprises"),
    verbs=_verbs("disappoint/disappointed annoy/annoyed bore/bored irritate/irritated"),
    feelings=_verbs("dislike/disliked detest/detested hate/hated loathe/loathed"),
    expected="feared",
    softened=("rather", "a bit", "somewhat"),
)

INTENSIFIERS = ("very", "really", "truly", "remarkably", "so")
"""They go with mild adjectives."""

MAXIMIZERS = ("absolutely", "simply", "utterly", "truly")
"""They go with strong ones."""
