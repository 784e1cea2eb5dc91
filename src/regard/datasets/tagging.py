"""The tagging dataset: English words and their parts of speech, named as in Universal Dependencies.

In: sizes and a seed. Out: splits of sentences and tags, one tag per word. Half of the sentences are the microworld's,
which has few ambiguous words; the other half come from a grammar of nothing but words with two parts of speech (the
guards watch a play, they play, and a watch needs a guard), so that the neighbours of a word decide, and not its most
frequent tag. A rule of that grammar is a symbol and its productions, separated by bars: symbols and tagged words; a
number and a cross before a production weight it. Nouns and verbs come from one table of words that can be either.
"""

import random

from regard.datasets.dataset import EXTRA, Example, Splits, assign_split, fill_splits
from regard.datasets.microworld import Microworld
from regard.datasets.microworld.lexicon.verbs import WITH_INFINITIVE

_RULES = """
TEXT    : 5 × CLAUSE ./PUNCT | 2 × CLAUSE JOIN CLAUSE ./PUNCT | SUB CLAUSE ,/PUNCT CLAUSE ./PUNCT
        | 2 × THINK that/SCONJ CLAUSE ./PUNCT | ASKED | ASKED
CLAUSE  : 3 × ONE ACTS | 3 × MANY ACT | 3 × SOME MAY ACT | 3 × SOME ACTED | ONE is/AUX QUALITY
        | MANY are/AUX QUALITY | SOME did/AUX not/PART ACT | that/PRON is/AUX THING | those/PRON are/AUX THINGS
        | there/PRON is/AUX THING WHERE | SOME had/VERB THING | SOME have/AUX not/PART left/VERB THING
ASKED   : did/AUX SOME ACT ?/PUNCT | can/AUX SOME ACT ?/PUNCT | do/AUX MANY ACT ?/PUNCT | will/AUX SOME ACT ?/PUNCT
JOIN    : and/CCONJ | but/CCONJ | SUB
SUB     : before/SCONJ | after/SCONJ | until/SCONJ | since/SCONJ
THINK   : MANY think/VERB | ONE thinks/VERB | SOME said/VERB
MAY     : can/AUX | will/AUX | might/AUX | must/AUX

SOME    : ONE | MANY
ONE     : he/PRON | she/PRON | 3 × DET SOMEONE | that/DET SOMEONE | DET KIND SOMEONE
        | DET SOMEONE that/PRON ACTS
MANY    : they/PRON | we/PRON | 3 × DETS PEOPLE | those/DET PEOPLE | DETS KIND PEOPLE
        | DETS PEOPLE that/PRON ACT
THING   : 4 × DET ITEM | DET KIND ITEM | that/DET ITEM | DET KIND KIND ITEM
THINGS  : 4 × DETS ITEMS | ITEMS | those/DET ITEMS | DETS KIND ITEMS
OBJECT  : THING | THINGS | that/PRON | DET SOMEONE | DETS PEOPLE
DET     : 3 × the/DET | a/DET | her/PRON | his/PRON | this/DET | no/DET
DETS    : 2 × the/DET | her/PRON | some/DET | these/DET | no/DET

ACTS    : 4 × DOES OBJECT | 2 × GOES HOW | GOES WHERE | DOES OBJECT WHEN | likes/VERB to/PART ACT
        | likes/VERB OBJECT | looks/VERB like/ADP THING
ACT     : 4 × DO OBJECT | 2 × GO HOW | GO WHERE | DO OBJECT WHEN | like/VERB to/PART GO | like/VERB OBJECT
        | look/VERB like/ADP THINGS
ACTED   : 3 × DID OBJECT | WENT HOW | WENT WHERE | DID OBJECT WHEN | left/VERB OBJECT WHERE
HOW     : fast/ADV | hard/ADV | early/ADV | late/ADV | well/ADV | inside/ADV | outside/ADV | back/ADV
WHERE   : inside/ADP THING | outside/ADP THING | to/ADP THING | round/ADP THING | near/ADP THINGS | like/ADP PEOPLE
        | past/ADP DET SOMEONE
WHEN    : before/ADP the/DET EVENT | after/ADP DET EVENT | until/ADP this/DET EVENT | since/ADP the/DET EVENT
        | HOW
KIND    : fast/ADJ | hard/ADJ | early/ADJ | late/ADJ | light/ADJ | clean/ADJ | open/ADJ | dry/ADJ | warm/ADJ | cold/ADJ
        | round/ADJ | left/ADJ | back/ADJ | patient/ADJ | present/ADJ | past/ADJ | old/ADJ | small/ADJ
QUALITY : hard/ADJ | late/ADJ | light/ADJ | clean/ADJ | open/ADJ | dry/ADJ | warm/ADJ | cold/ADJ | round/ADJ
        | patient/ADJ | inside/ADV | outside/ADV | back/ADV

SOMEONE : patient/NOUN
PEOPLE  : patients/NOUN
ITEM    : saw/NOUN | can/NOUN | well/NOUN | inside/NOUN | past/NOUN | cold/NOUN | will/NOUN | rose/NOUN | table/NOUN
ITEMS   : saws/NOUN | cans/NOUN | wells/NOUN | colds/NOUN | roses/NOUN | letters/NOUN
EVENT   : rest/NOUN | past/NOUN
DO      : clean/VERB | open/VERB | dry/VERB | warm/VERB | see/VERB | back/VERB
DOES    : cleans/VERB | opens/VERB | dries/VERB | warms/VERB | sees/VERB | backs/VERB
DID     : 4 × saw/VERB | cleaned/VERB | opened/VERB | warmed/VERB
GO      : rest/VERB
GOES    : rests/VERB
WENT    : rose/VERB | rested/VERB
"""

_BOTH = """
guard   guards   guarded   SOMEONE DO
cook    cooks    cooked    SOMEONE DO GO
judge   judges   judged    SOMEONE DO
guide   guides   guided    SOMEONE DO
coach   coaches  coached   SOMEONE DO
nurse   nurses   nursed    SOMEONE DO
duck    ducks    ducked    SOMEONE GO
fly     flies    flew      SOMEONE GO
watch   watches  watched   ITEM DO
book    books    booked    ITEM DO
light   lights   lit       ITEM DO
plant   plants   planted   ITEM DO
ship    ships    shipped   ITEM DO
hammer  hammers  hammered  ITEM DO
record  records  recorded  ITEM DO
present presents presented ITEM DO
paint   paints   painted   ITEM DO
iron    irons    ironed    ITEM DO
park    parks    parked    ITEM DO GO
water   waters   watered   ITEM DO
play    plays    played    EVENT ITEM GO DO
dance   dances   danced    EVENT GO
walk    walks    walked    EVENT ITEM GO
swim    swims    swam      EVENT GO
race    races    raced     EVENT ITEM GO
work    works    worked    EVENT GO
show    shows    showed    EVENT ITEM DO
call    calls    called    EVENT DO
visit   visits   visited   EVENT DO
"""
"""Base or singular, third person or plural, past, and the symbols it belongs to."""

_FORMS = {
    "SOMEONE": (("SOMEONE", 0, "NOUN"), ("PEOPLE", 1, "NOUN")),
    "ITEM": (("ITEM", 0, "NOUN"), ("ITEMS", 1, "NOUN")),
    "EVENT": (("EVENT", 0, "NOUN"),),
    "DO": (("DO", 0, "VERB"), ("DOES", 1, "VERB"), ("DID", 2, "VERB")),
    "GO": (("GO", 0, "VERB"), ("GOES", 1, "VERB"), ("WENT", 2, "VERB")),
}
"""The symbols a word joins in each of its forms."""

Production = tuple[str, ...]


def _read() -> dict[str, tuple[Production, ...]]:
    """The productions of every symbol."""
    rules: dict[str, list[Production]] = {}
    for rule in _RULES.replace("\n        |", " |").strip().splitlines():
        if not rule.strip():
            continue
        symbol, _, productions = rule.partition(":")
        for production in productions.split(" | "):
            times, cross, rest = production.strip().partition(" × ")
            repeated = int(times) if cross else 1
            rules.setdefault(symbol.strip(), []).extend(
                [tuple((rest if cross else times).split())] * repeated
            )
    for line in _BOTH.strip().splitlines():
        *forms, roles = line.split(maxsplit=3)
        for role in roles.split():
            for symbol, form, tag in _FORMS[role]:
                rules[symbol].append((f"{forms[form]}/{tag}",))
    return {symbol: tuple(productions) for symbol, productions in rules.items()}


RULES = _read()
"""The productions of every symbol; a piece without a slash is a symbol."""


SHORTEST, LONGEST = 3, 18
"""The fewest and the most words of a sentence, punctuation included."""


def sample_ambiguous(rng: random.Random) -> tuple[list[str], list[str]]:
    """Sample one sentence of `SHORTEST` to `LONGEST` words: its words, and their tags."""
    while True:
        words, tags = _expand(rng)
        if SHORTEST <= len(words) <= LONGEST:
            return words, tags


def _expand(rng: random.Random) -> tuple[list[str], list[str]]:
    """Expand symbols from left to right until only words are left, or there are too many; ``a`` becomes ``an``."""
    waiting = ["TEXT"]
    words: list[str] = []
    tags: list[str] = []
    while waiting and len(words) <= LONGEST:
        piece = waiting.pop()
        word, slash, tag = piece.partition("/")
        if not slash:
            waiting += reversed(rng.choice(RULES[piece]))
            continue
        if words and words[-1] == "a" and word[0] in "aeiou":
            words[-1] = "an"
        words.append(word)
        tags.append(tag)
    return words, tags


_BEFORE_INFINITIVE = {form for verbs in WITH_INFINITIVE.values() for verb in verbs for form in verb.en} | {
    "how"
}
"""Words before a to that is a particle, as in want to go; the microworld tags every such to as a preposition."""


class PartsOfSpeech:
    """English sentences with a part of speech for every word."""

    name = "tagging"
    task = "tag"
    summary = "English words to their parts of speech, where neighbours decide what watch, light or that is."

    def splits(
        self, *, train: int, valid: int, test: int, seed: int, shortest: int = 3, longest: int = 15
    ) -> Splits:
        """Generate the corpus; no sentence occurs twice in it.

        Args:
            train: number of training sentences.
            valid: number of validation sentences.
            test: number of test sentences, and of those in the extra split ``ambiguous`` (all from the grammar
                of ambiguous words).
            seed: equal seeds give equal corpora.
            shortest: fewest words of the microworld's sentences.
            longest: most words of the microworld's sentences.

        Raises:
            ConfigError: impossible lengths, or fewer different sentences than asked for.
        """
        rng = random.Random(f"tagging {seed}")
        microworld = Microworld()

        def sample() -> tuple[str, Example]:
            ambiguous = rng.random() < 0.5
            if ambiguous:
                words, tags = sample_ambiguous(rng)
            else:
                tagged = microworld.tagged(rng, shortest=shortest, longest=longest)
                words, tags = list(tagged[0]), _tag_infinitives(*tagged)
            example = Example(" ".join(words), " ".join(tags))
            split = assign_split(example.source)
            if split == EXTRA:
                return "ambiguous" if ambiguous else "train", example
            return split, example

        return fill_splits(self.name, sample, train=train, valid=valid, test=test, extra=("ambiguous",))


def _tag_infinitives(words: tuple[str, ...], tags: tuple[str, ...]) -> list[str]:
    corrected = list(tags)
    for i in range(1, len(words)):
        if words[i] == "to" and words[i - 1] in _BEFORE_INFINITIVE:
            corrected[i] = "PART"
    return corrected
