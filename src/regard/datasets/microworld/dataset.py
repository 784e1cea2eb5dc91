"""The microworld: English sentences of a small grammar with French translations and gold alignments by construction.

In: sizes, a seed, a range of lengths. Out: `Splits`: sentence pairs from `Microworld`, the English side alone from
`Language`. Where a sentence belongs depends on its English line alone, so that a language model trained on one has seen
no test sentence of a translator trained on the other. Sentences with a held-out pair of lexemes go to ``unseen`` alone.

A sentence is built for a length sampled from the range, and rebuilt if it misses the range. Then it is spelled: English
chooses between a and an; French elides (le oiseau → l' oiseau), changes forms before a vowel (sa école → son école, ce
arbre → cet arbre) and contracts (de le → du). Grammar and lexicon are packages of their own.
"""

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from regard.datasets.dataset import EXTRA, Example, Splits, assign_split, fill, fill_splits
from regard.datasets.microworld.english import takes_an
from regard.datasets.microworld.french import opens_with_vowel
from regard.datasets.microworld.grammar.discourse import Discourse
from regard.datasets.microworld.grammar.sentences import build, choose_vocative
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
            sure.append((mot.sure.position, i))
        for word in mot.possible:
            possible.append((word.position, i))
    target = " ".join([mot.text for mot in settled])
    return Example(source, target, GoldLinks(frozenset(sure), frozenset(possible)))


def _spell_english(words: list[Word]) -> str:
    """Number the words and choose between a and an."""
    article: Word | None = None
    for position, word in enumerate(words):
        word.position = position
        if article is not None:
            if takes_an(word.text):
                article.text = "an"
            article = None
        if word.text == "a":
            article = word
    return " ".join([word.text for word in words])


def _settle_french(mots: list[Mot]) -> list[Mot]:
    """Elide and contract, from right to left, because the form of a word depends on the next one."""
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


_MAX_TRIES = 2000


class BilingualSentence(NamedTuple):
    """A sentence in both languages, not yet spelled.

    Attributes:
        words: its English words.
        mots: its French words.
        held_out: whether it has a pair of lexemes that occurs in ``unseen`` alone.
    """

    words: list[Word]
    mots: list[Mot]
    held_out: bool

    def spell(self) -> Example:
        """Write both lines and the links."""
        return spell(self.words, self.mots)


def generate(rng: random.Random, shortest: int, longest: int) -> BilingualSentence:
    """Build one sentence whose English side has from `shortest` to `longest` words.

    Raises:
        ConfigError: the range is empty or starts below three words.
    """
    if not 3 <= shortest <= longest:
        raise ConfigError(
            f"microworld: sentence lengths {shortest} to {longest} cannot be had; "
            "choose shortest ≥ 3 and longest ≥ shortest"
        )
    random_number = rng.random
    for _ in range(_MAX_TRIES):
        length = shortest + int(random_number() * (longest - shortest + 1))
        discourse = Discourse(random_number)
        choose_vocative(discourse, length)
        phrase = build(discourse, length)
        if shortest <= len(phrase.en) <= longest:
            return BilingualSentence(phrase.en, phrase.fr, discourse.held_out)
    raise ConfigError(
        f"microworld: no sentence of {shortest} to {longest} words in {_MAX_TRIES} tries; "
        "widen the range of lengths"
    )


class Microworld:
    """English sentences of a small grammar with their French translations and gold word alignments."""

    name = "microworld"
    task = "translate"
    summary = "English to French, by a grammar with agreement, clitics, negation and relative clauses."

    def sentence(self, rng: random.Random, *, shortest: int, longest: int) -> Example:
        """Generate one pair whose English line has from `shortest` to `longest` words, punctuation included.

        Args:
            rng: the random generator; equal states give equal sentences.
            shortest: fewest English words, at least 3.
            longest: most English words, 60 or more.

        Raises:
            ConfigError: the range is empty or starts below three words.
        """
        return generate(rng, shortest, longest).spell()

    def tagged(
        self, rng: random.Random, *, shortest: int, longest: int
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Generate one English sentence as words and their parts of speech, named as in Universal Dependencies."""
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
                more than `longest` up to twice as many) and ``unseen`` (each has a pair of lexemes that
                occurs together in no other split).
            seed: equal seeds give equal corpora.
            shortest: fewest English words.
            longest: most English words outside ``long``.

        Raises:
            ConfigError: impossible lengths, or fewer different sentences than asked for.
        """
        rng = random.Random(f"microworld {seed}")
        remedy = f"ask for fewer, or allow more lengths than {shortest} to {longest} words"

        def sample() -> tuple[str, Example]:
            sentence = generate(rng, shortest, longest)
            example = sentence.spell()
            split = assign_split(example.source)
            return "unseen" if sentence.held_out else "train" if split == EXTRA else split, example

        def sample_long() -> tuple[str, Example]:
            sentence = generate(rng, longest + 1, 2 * longest)
            return "unseen" if sentence.held_out else "long", sentence.spell()

        splits = fill_splits(
            self.name, sample, train=train, valid=valid, test=test, extra=("unseen",), remedy=remedy
        )
        long = fill(self.name, sample_long, {"long": test}, remedy=remedy)
        return replace(splits, extra={**long, **splits.extra})


class Language:
    """The English sentences of the microworld, for a language model."""

    name = "language"
    task = "language_model"
    summary = "English sentences of the microworld's grammar, for a language model."

    def splits(
        self, *, train: int, valid: int, test: int, seed: int, shortest: int = 3, longest: int = 15
    ) -> Splits:
        """Generate the corpus: the lines of `Microworld.splits`, which has the same arguments.

        Raises:
            ConfigError: impossible lengths, or fewer different sentences than asked for.
        """
        pairs = Microworld().splits(
            train=train, valid=valid, test=test, seed=seed, shortest=shortest, longest=longest
        )
        extra = {name: _english(examples) for name, examples in pairs.extra.items()}
        return Splits(_english(pairs.train), _english(pairs.valid), _english(pairs.test), extra)


class Alignment(Microworld):
    """The pairs of the microworld, for an aligner: which words go together is to be found without links."""

    name = "alignment"
    task = "align"
    summary = "Pairs of the microworld, for an aligner, which is scored by their gold links."


def _english(examples: Sequence[Example]) -> list[Example]:
    return [Example(example.source) for example in examples]
