"""From the words of a finished sentence to its two lines and its gold links.

In: English words and French words in order. Out: an `Example`. Here English chooses a or an, and French
elides (le oiseau → l' oiseau), softens (sa école → son école, ce arbre → cet arbre) and contracts (de le →
du). Knows nothing of how the sentence was built.

One sentence pair of a wanted length, with its gold alignment, its tags, and whether it is held out.

In: a `random.Random` and a range of English lengths. Out: a `Sentence`. Building aims at a length drawn
from the range; the few that miss the range are built anew, within a fixed number of tries.

The microworld as a corpus: splits that share no sentence, long sentences, and unseen combinations.

In: sizes, a seed, a range of lengths. Out: `Splits`. A stable hash of the English line says to which ordinary
split a sentence belongs, whatever the seed and the sizes, so a test sentence of one corpus is in no other's
training part. Sentences with a held-out pair of lexemes go to ``unseen`` alone.
"""

import random
import zlib
from collections.abc import Callable
from typing import NamedTuple

from regard.datasets.dataset import Example, Splits
from regard.datasets.microworld.english import takes_an
from regard.datasets.microworld.french import opens_with_vowel
from regard.datasets.microworld.grammar.sentences import build, choose_address
from regard.datasets.microworld.grammar.talk import Talk
from regard.datasets.microworld.tokens import Mot, Word
from regard.errors import ConfigError
from regard.text.links import GoldLinks

_BEFORE_VOWEL = {
    "je": "j'",
    "me": "m'",
    "te": "t'",
    "se": "s'",
    "le": "l'",
    "la": "l'",
    "ne": "n'",
    "de": "d'",
    "que": "qu'",
    "ma": "mon",
    "ta": "ton",
    "sa": "son",
    "ce": "cet",
}
_CONTRACTED = {("de", "le"): "du", ("de", "les"): "des", ("à", "le"): "au", ("à", "les"): "aux"}


def spell(words: list[Word], mots: list[Mot]) -> Example:
    """Write both lines of a sentence and the links between them."""
    source = _spell_english(words)
    settled = _settle_french(mots)
    sure = []
    possible = []
    for i, mot in enumerate(settled):
        if mot.sure is not None:
            sure.append((mot.sure.place, i))
        for word in mot.possible:
            possible.append((word.place, i))
    target = " ".join([mot.text for mot in settled])
    return Example(source, target, GoldLinks(frozenset(sure), frozenset(possible)))


def _spell_english(words: list[Word]) -> str:
    """Number the words and choose between a and an."""
    article: Word | None = None
    for place, word in enumerate(words):
        word.place = place
        if article is not None:
            if takes_an(word.text):
                article.text = "an"
            article = None
        if word.text == "a":
            article = word
    return " ".join([word.text for word in words])


def _settle_french(mots: list[Mot]) -> list[Mot]:
    """Elide and contract, from right to left, since each word's form hangs on the one after it."""
    settled: list[Mot] = []
    following = ""
    article: Mot | None = None
    for mot in reversed(mots):
        text = mot.text
        if article is not None and (contracted := _CONTRACTED.get((text, following))):
            settled.pop()
            if article.sure is not None:
                mot.possible = (*mot.possible, article.sure, *article.possible)
            else:
                mot.possible = mot.possible + article.possible
            mot.text = following = contracted
            settled.append(mot)
            article = None
            continue
        if text in _BEFORE_VOWEL and following and opens_with_vowel(following):
            mot.text = text = _BEFORE_VOWEL[text]
        elif text == "si" and (following == "il" or following == "ils"):
            mot.text = text = "s'"
        article = mot if mot.article else None
        following = text
        settled.append(mot)
    settled.reverse()
    return settled


_TRIES = 2000


class Sentence(NamedTuple):
    """A built sentence, not yet spelt.

    Attributes:
        words: its English words.
        mots: its French words.
        held_out: True where it joins two lexemes that the ordinary splits never join.
    """

    words: list[Word]
    mots: list[Mot]
    held_out: bool

    def spell(self) -> Example:
        """Write both lines and the links."""
        return spell(self.words, self.mots)


def generate(rng: random.Random, shortest: int, longest: int) -> Sentence:
    """Build one sentence whose English side has from `shortest` to `longest` words.

    Raises:
        ConfigError: the range is empty or starts below three words.
    """
    if not 3 <= shortest <= longest:
        raise ConfigError(
            f"microworld: sentence lengths {shortest} to {longest} cannot be had; "
            "choose shortest ≥ 3 and longest ≥ shortest"
        )
    draw = rng.random
    for _ in range(_TRIES):
        length = shortest + int(draw() * (longest - shortest + 1))
        talk = Talk(draw)
        choose_address(talk, length)
        phrase = build(talk, length)
        if shortest <= len(phrase.en) <= longest:
            return Sentence(phrase.en, phrase.fr, talk.held_out)
    raise ConfigError(
        f"microworld: no sentence of {shortest} to {longest} words in {_TRIES} tries; "
        "widen the range of lengths"
    )


_SHARES = 25
"""One sentence in so many is a test sentence by its hash, and one a validation sentence."""
_PATIENCE = 20_000
"""Sentences in a row that may be of no use before the corpus is said to be too large for its lengths."""


class Microworld:
    """English sentences of a small grammar with their French translations and gold word alignments."""

    name = "microworld"
    task = "translate"
    describes = "English to French, by a grammar with agreement, clitics, negation and relative clauses."

    def sentence(self, rng: random.Random, *, shortest: int, longest: int) -> Example:
        """Return one pair whose English line has from `shortest` to `longest` words, punctuation included.

        Args:
            rng: the dice; equal states give equal sentences.
            shortest: fewest English words, at least 3.
            longest: most English words; 60 and more can be had.

        Raises:
            ConfigError: the range is empty or starts below three words.
        """
        return generate(rng, shortest, longest).spell()

    def tagged(
        self, rng: random.Random, *, shortest: int, longest: int
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return one English sentence as words and their parts of speech (Universal Dependencies names)."""
        sentence = generate(rng, shortest, longest)
        words = sentence.spell().source.split()
        return tuple(words), tuple(word.tag for word in sentence.words)

    def splits(
        self, *, train: int, valid: int, test: int, seed: int, shortest: int = 3, longest: int = 15
    ) -> Splits:
        """Generate the corpus; no English sentence occurs twice in it.

        Args:
            train: number of training pairs.
            valid: number of validation pairs.
            test: number of test pairs, and of pairs in each of the extra splits: ``long`` (from one word
                more than `longest` up to twice as many) and ``unseen`` (each joins a pair of lexemes that
                no other split joins).
            seed: equal seeds give equal corpora.
            shortest: fewest English words.
            longest: most English words outside ``long``.

        Raises:
            ConfigError: the lengths cannot be had, or there are not so many different sentences of them.
        """
        rng = random.Random(f"microworld {seed}")
        parts: dict[str, list[Example]] = {"train": [], "valid": [], "test": [], "unseen": []}
        wanted = {"train": train, "valid": valid, "test": test, "unseen": test}
        _collect(rng, (shortest, longest), parts, wanted, _part)
        extra: dict[str, list[Example]] = {"long": []}
        _collect(rng, (longest + 1, 2 * longest), extra, {"long": test}, _long_part)
        extra["unseen"] = parts.pop("unseen")
        return Splits(parts["train"], parts["valid"], parts["test"], extra)


def _part(sentence: Sentence, source: str) -> str:
    """Return the split a sentence belongs to."""
    if sentence.held_out:
        return "unseen"
    share = zlib.crc32(source.encode()) % _SHARES
    return "test" if share == 0 else "valid" if share == 1 else "train"


def _long_part(sentence: Sentence, source: str) -> str:
    return "unseen" if sentence.held_out else "long"


def _collect(
    rng: random.Random,
    lengths: tuple[int, int],
    parts: dict[str, list[Example]],
    wanted: dict[str, int],
    part_of: Callable[[Sentence, str], str],
) -> None:
    """Fill every part to its wanted size with sentences that differ from one another."""
    seen: set[str] = set()
    open_parts = {name for name, size in wanted.items() if size > 0}
    idle = 0
    while open_parts:
        sentence = generate(rng, *lengths)
        example = sentence.spell()
        name = part_of(sentence, example.source)
        if name not in open_parts or example.source in seen:
            idle += 1
            if idle > _PATIENCE:
                raise _too_many(lengths, open_parts, parts, wanted)
            continue
        idle = 0
        seen.add(example.source)
        parts[name].append(example)
        if len(parts[name]) == wanted[name]:
            open_parts.discard(name)


def _too_many(
    lengths: tuple[int, int], missing: set[str], parts: dict[str, list[Example]], wanted: dict[str, int]
) -> ConfigError:
    name = min(missing)
    return ConfigError(
        f"microworld: found {len(parts[name])} of {wanted[name]} sentences for {name!r} with {lengths[0]} to "
        f"{lengths[1]} words, and hardly any new ones; ask for fewer or allow longer sentences"
    )
