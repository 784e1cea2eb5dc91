"""The reviewer's phrases: templates with slots, each written as praise.

A slot is a word in braces. Those in pairs, as good and bad, are a word of the clause's own side and one of
the other side: the same template says praise with good and blame with bad in the first one's place. Templates
that cannot be turned round so stand in a table of their own, for praise or for blame. A line that begins with
a number and a cross counts that often. Knows nothing of the words that fill the slots.

Clauses of a wanted side, praise or blame: a template is drawn, and its slots are filled from the lexicon.

In: the dice and the side. Out: the words, and whether they deny. A `Review` is one sentence in the making: it
holds to one domain and one tense, judges nothing twice and says no adjective twice. Knows nothing of how
clauses are joined.

Whole reviews: one clause, two of one side, or two of which one decides; in a frame that takes no side.

In: the dice. Out: a `Verdict`: the sentence, its side, and what makes it hard. The side is drawn first, and
the words are chosen to say it.

The world of sentiment: reviews from a grammar, to be read as praise or blame.

In: sizes and a seed. Out: splits of sentences such as ``the acting is superb , but the story is a bore .`` →
``negative``. The label is what the sentence was made to say: a denial turns a word round; after ``but`` the
second clause decides, with ``although`` and ``despite`` the main one. Counting words of praise and blame is
no way to the answer.
"""

import random
import re
from collections.abc import Sequence
from typing import NamedTuple

from regard.datasets.dataset import Example, Splits
from regard.datasets.filling import EXTRA, fill, split_of
from regard.datasets.sentiment.lexicon import (
    BLAME,
    DOMAINS,
    INTENSIFIERS,
    MAXIMIZERS,
    PRAISE,
    Adjective,
    Noun,
    Words,
)


def _read(table: str) -> tuple[str, ...]:
    found: list[str] = []
    for line in table.strip().splitlines():
        times, cross, rest = line.partition(" × ")
        found += [rest] * int(times) if cross else [line]
    return tuple(found)


PLAIN = _read("""
4 × {np} {be} {very_good}
2 × {np} {be} {softly_good}
2 × this {was} {a_very_good} {whole}
2 × {one} {be} {joy}
2 × {np} {delights} {me}
2 × {i} {liked} {np}
{np} {be} full of {charm}
{np} {be} {good} and {good}
{person} called {np} {good} , and {i} agree
""")
"""Clauses that say what they mean; turned round for blame."""

NEGATED = _read("""
2 × {np} {be} not {bad} at all
2 × {np} {be} not {bad}
{np} {be} never {bad}
{np} {be} anything but {bad}
{np} {be} far from {bad}
{np} {be} hardly {bad}
{nobody} could call {np} {bad}
{nobody} would say that {np} {be} {bad}
{i} would not call {np} {bad}
{i} cannot say that {np} {be} {bad}
it {was} hard to call {np} {bad}
there {was} nothing {bad} about {np}
this {was} not {a_bad} {whole}
this {was} hardly {a_bad} {whole}
{np} {does} not {annoy} {me}
{np} never {annoys} {me}
{i} did not {dislike} {np}
{nobody} {hated} {np}
{one} {be} not {bore}
it is not true that {np} {be} {bad}
it is wrong to call {np} {bad}
{person} called {np} {bad} , and {i} disagree
some people call {np} {bad} , and they are wrong
{nobody} could say that {np} {be} not {good}
{nobody} can deny that {np} {be} {good}
{np} never {fails} to {delight} {me}
""")
"""Clauses that deny; a few deny a denial, or deny that it could be denied."""

COMPARED = _read("""
{np} {be} {better} than {i} had {hoped}
{np} {be} much {better} than people say
{np} {be} less {bad} than {i} had {feared}
{np} {be} not as {bad} as people say
{np} could not be {better}
{i} have never {tried} {a_better} {whole}
you will not find {a_better} {whole}
there {was} hardly {a_better} {whole} this year
this could have been {a_bad} {whole} , and it {be} not
i expected {a_bad} {whole} , and i was wrong
""")
"""Clauses that compare, with others or with what might have been."""

PRAISING = _read("""
{np} {be} free of {flaws}
{np} {has} no {flaws}
{np} {does} not lack {charm}
{np} {be} not without {charm}
{nobody} would find {flaws} in {np}
""")
"""Denials that can only be praise."""

BLAMING = _read("""
{np} {lacks} {charm}
{np} {has} no {charm}
{np} {fails} to {delight} {me}
{i} wanted to {like} {np}
this could have been {a_good} {whole}
""")
"""Denials, written with words of praise, that can only be blame."""

CONTRASTS = _read("""
5 × {minor} , but {main}
3 × although {minor} , {main}
2 × {main} , although {minor}
even though {minor} , {main}
{main} , even though {minor}
{minor} ; nevertheless , {main}
{minor} , and yet {main}
2 × despite {bad_thing} , {main}
2 × {main} despite {bad_thing}
for all its {flaws} , {main}
""")
"""Two sides in one sentence; the verdict is that of ``main``."""

JOINED = _read("""
{main} , and {main}
{main} ; {main}
{main} because {main}
""")
"""Two clauses of one side."""

FRAMES = _read("""
7 × {body} .
{body} !
i think that {body} .
i must say that {body} .
{person} and i agree that {body} .
in my opinion , {body} .
all in all , {body} .
{i} {saw} this {work} with {person} , and {body} .
{i} {saw} it on a rainy evening ; {body} .
{body} , as {person} says .
""")
"""What stands around a sentence and changes nothing."""

NEUTRAL = {
    "i": ("i", "we"),
    "me": ("me", "us", "my family", "my friends"),
    "nobody": ("nobody", "no one"),
    "person": ("my sister", "my brother", "a friend", "my neighbour", "my teacher", "my wife", "my husband"),
}
"""Words that take no side, by their slot."""

RELATIVES = ("that {person} recommended", "that we {saw} last week", "that everyone talks about")
"""Clauses that say which one is meant."""


_SLOT = re.compile(r"{(\w+)}")
_OWN_SIDE = {
    "bad": "good",
    "very_bad": "very_good",
    "softly_bad": "softly_good",
    "a_bad": "a_good",
    "bore": "joy",
    "flaws": "charm",
    "annoy": "delight",
    "annoys": "delights",
    "dislike": "like",
    "hated": "liked",
    "feared": "hoped",
    "bad_thing": "good_thing",
}
"""Slots for words of the other side, and what they are called when the word is of the clause's own."""
_VERBS = {"be": ("is", "are", "was", "were"), "does": ("does", "do", "did", "did")}
_VERBS |= {"has": ("has", "have", "had", "had"), "fails": ("fails", "fail", "failed", "failed")}
_VERBS |= {"lacks": ("lacks", "lack", "lacked", "lacked"), "was": ("is", "is", "was", "was")}
"""Verbs that agree with the subject: singular and plural, now and then."""
_PLAIN_SHARE = 0.5
_COMPARED_SHARE = 0.15


class Review:
    """One sentence in the making.

    Attributes:
        denies: whether any clause so far denies or compares.
    """

    def __init__(self, rng: random.Random) -> None:
        self.denies = False
        self._rng = rng
        self._domain = rng.choice(DOMAINS)
        self._past = rng.random() < 0.4
        self._whole = rng.choice(self._domain.wholes)
        self._subject = self._whole
        self._judged: list[Noun] = []
        self._said: list[str] = []

    def fill(self, template: str, praise: bool) -> str:
        """Fill a template's slots from left to right; it is written for praise, and turned round for blame.

        Args:
            template: as in `templates`.
            praise: which side the template is to be on.
        """
        return _SLOT.sub(lambda slot: self._word(slot[1], praise), template)

    def _clause(self, praise: bool) -> str:
        """Return a clause of one side, and note whether it denies or compares."""
        draw = self._rng.random()
        if draw < _PLAIN_SHARE:
            return self.fill(self._pick_template(PLAIN), praise)
        self.denies = True
        if draw < _PLAIN_SHARE + _COMPARED_SHARE:
            return self.fill(self._pick_template(COMPARED), praise)
        one_sided = PRAISING if praise else BLAMING
        template = self._pick_template((*NEGATED, *one_sided))
        # a template for one side only has its words already as they must be
        return self.fill(template, praise or template in one_sided)

    def _pick_template(self, templates: Sequence[str]) -> str:
        """Draw a template that judges the whole only if nothing has judged it yet."""
        template = self._rng.choice(templates)
        while "{whole}" in template and self._whole in self._judged:
            template = self._rng.choice(templates)
        return template

    def _word(self, slot: str, praise: bool) -> str:
        if slot in NEUTRAL:
            return self._rng.choice(NEUTRAL[slot])
        if slot in _VERBS:
            return _VERBS[slot][2 * self._past + self._subject.plural]
        match slot:
            case "main" | "minor":
                return self._clause(praise == (slot == "main"))
            case "np" | "one":
                return self._noun_phrase(single=slot == "one")
            case "whole":
                self._judged.append(self._whole)
                return self._whole.text
            case "work":
                return self._whole.text
            case "saw" | "tried":
                return self._domain.tried[slot == "tried"]
        own = slot not in _OWN_SIDE
        return self._sided_word(_OWN_SIDE.get(slot, slot), PRAISE if own == praise else BLAME)

    def _sided_word(self, slot: str, words: Words) -> str:
        """Fill a slot with a word of praise or of blame."""
        choice = self._rng.choice
        if slot.startswith("a_"):
            self._subject = self._whole
            phrase = self._sided_word(slot[2:], words)
            # so good, but not: a so good film
            phrase = phrase.removeprefix("so ")
            return f"{'an' if phrase[0] in 'aeiou' else 'a'} {phrase}"
        match slot:
            case "joy":
                return choice(words.verdicts)
            case "charm":
                return choice(words.qualities)
            case "delight":
                return choice(words.verbs)[0]
            case "delights":
                return choice(words.verbs)[2 if self._past else 0 if self._subject.plural else 1]
            case "like":
                return choice(words.feelings)[0]
            case "liked":
                return choice(words.feelings)[2]
            case "hoped":
                return words.expected
            case "good_thing":
                noun = self._new_aspect(single=False)
                return f"the {self._adjective(words, noun).text} {noun.text}"
            case "softly_good":
                return f"{choice(words.softened)} {self._adjective(words, self._subject).text}"
            case "very_good":
                return self._emphatic(words)
            case "better":
                return self._adjective(words, self._subject).comparative
            case "good":
                return self._adjective(words, self._subject).text
        raise AssertionError(f"a template has a slot {slot!r}, unknown here")

    def _emphatic(self, words: Words) -> str:
        """Return a mild or a strong adjective, often with an adverb that makes it stronger."""
        strong = self._rng.random() < 0.4
        text = self._rng.choice(words.strong) if strong else self._adjective(words, self._subject).text
        if self._rng.random() < 0.4:
            return text
        return f"{self._rng.choice(MAXIMIZERS if strong else INTENSIFIERS)} {text}"

    def _adjective(self, words: Words, noun: Noun) -> Adjective:
        """Draw a mild adjective for a noun, one not yet said."""
        adjective = self._rng.choice([a for a in words.mild[noun.sort] if a.text not in self._said])
        self._said.append(adjective.text)
        return adjective

    def _noun_phrase(self, *, single: bool) -> str:
        """Return a subject not yet judged: the whole or something it has."""
        rng = self._rng
        if self._whole not in self._judged and rng.random() < 0.3:
            self._subject = self._whole
            self._judged.append(self._whole)
            if rng.random() < 0.3:
                return f"the {self._whole.text} {self.fill(rng.choice(RELATIVES), praise=True)}"
            return f"{rng.choice(('this', 'the'))} {self._whole.text}"
        self._subject = self._new_aspect(single=single)
        tail = f" of this {self._whole.text}" if rng.random() < 0.2 else ""
        return f"the {self._subject.text}{tail}"

    def _new_aspect(self, *, single: bool) -> Noun:
        known = self._domain.aspects
        noun = self._rng.choice([a for a in known if a not in self._judged and not (single and a.plural)])
        self._judged.append(noun)
        return noun


SHORTEST, LONGEST = 5, 30
"""How many words a review has, punctuation included."""

_SINGLE_SHARE = 0.4
_JOINED_SHARE = 0.2


class Verdict(NamedTuple):
    """A review.

    Attributes:
        text: its words and punctuation, separated by blanks.
        praise: which side it is on.
        kind: ``contrast`` where another side is heard too, else ``negation`` where something is denied or
            compared, else ``plain``.
    """

    text: str
    praise: bool
    kind: str


def write_review(rng: random.Random) -> Verdict:
    """Write one review of `SHORTEST` to `LONGEST` words."""
    while True:
        praise = rng.random() < 0.5
        draw = rng.random()
        contrasts = draw >= _SINGLE_SHARE + _JOINED_SHARE
        body = "{main}" if draw < _SINGLE_SHARE else rng.choice(CONTRASTS if contrasts else JOINED)
        review = Review(rng)
        text = review.fill(rng.choice(FRAMES).replace("{body}", body), praise)
        if SHORTEST <= len(text.split()) <= LONGEST:
            return Verdict(
                text, praise, "contrast" if contrasts else "negation" if review.denies else "plain"
            )


LABELS = ("negative", "positive")
"""The labels, in order."""

_KINDS = ("plain", "negation", "contrast")


class Sentiment:
    """Reviews of films, books, restaurants, hotels, music and machines."""

    name = "sentiment"
    task = "classify"
    describes = "Reviews that praise or blame, with negation and contrast, so that counting words fails."

    def splits(self, *, train: int, valid: int, test: int, seed: int) -> Splits:
        """Generate the corpus; no review occurs twice in it, and either label is drawn as often as the other.

        Args:
            train: number of training reviews.
            valid: number of validation reviews.
            test: number of test reviews, and of those in each of the extra splits: ``contrast`` (both sides
                are heard, and one decides), ``negation`` (something is denied or compared, and no other side
                is heard) and ``plain`` (neither).
            seed: equal seeds give equal corpora.

        Raises:
            ConfigError: a size below 0, or more than there are different reviews to draw with ease.
        """
        rng = random.Random(f"sentiment {seed}")

        def draw() -> tuple[str, Example]:
            review = write_review(rng)
            split = split_of(review.text)
            return review.kind if split == EXTRA else split, Example(review.text, LABELS[review.praise])

        parts = fill(
            self.name, draw, {"train": train, "valid": valid, "test": test} | dict.fromkeys(_KINDS, test)
        )
        extra = {kind: parts[kind] for kind in _KINDS}
        return Splits(parts["train"], parts["valid"], parts["test"], extra)
