"""The sentiment dataset: reviews from a grammar, to be classified as positive or negative.

In: sizes and a seed. Out: splits of sentences such as ``the acting is superb , but the story is a bore .`` →
``negative``. The polarity is chosen first and the words to express it: a negation reverses a word; after ``but`` the
second clause decides, with ``although`` and ``despite`` the main one. Counting positive and negative words does not
give the label.

A review is a frame around one clause, two of one polarity, or two of which one decides. A clause is a template, written
as positive, whose slots (words in braces) are filled from the lexicon. Slots come in pairs, as good and bad: a word of
the clause's own polarity, and one of the opposite; for a negative clause the two are exchanged. Templates that cannot
be reversed so are in a table of their own polarity. A number and a cross before a template weight it.
"""

import random
import re
from collections.abc import Sequence
from typing import NamedTuple

from regard.datasets.dataset import EXTRA, Example, Splits, assign_split, fill_splits
from regard.datasets.sentiment.lexicon import (
    DOMAINS,
    INTENSIFIERS,
    MAXIMIZERS,
    NEGATIVE,
    POSITIVE,
    OpinionAdjective,
    OpinionTarget,
    SentimentLexicon,
)


def _read(table: str) -> tuple[str, ...]:
    templates: list[str] = []
    for line in table.strip().splitlines():
        times, cross, rest = line.partition(" × ")
        templates += [rest] * int(times) if cross else [line]
    return tuple(templates)


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
"""Clauses without negation."""

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
"""Clauses with a negation; a few with two."""

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

POSITIVE_ONLY = _read("""
{np} {be} free of {flaws}
{np} {has} no {flaws}
{np} {does} not lack {charm}
{np} {be} not without {charm}
{nobody} would find {flaws} in {np}
""")
"""Negations that can only be positive."""

NEGATIVE_ONLY = _read("""
{np} {lacks} {charm}
{np} {has} no {charm}
{np} {fails} to {delight} {me}
{i} wanted to {like} {np}
this could have been {a_good} {whole}
""")
"""Negations of positive words that can only be negative."""

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
"""Both polarities in one sentence; that of ``main`` is the label."""

JOINED = _read("""
{main} , and {main}
{main} ; {main}
{main} because {main}
""")
"""Two clauses of one polarity."""

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
"""Neutral text around a sentence."""

NEUTRAL = {
    "i": ("i", "we"),
    "me": ("me", "us", "my family", "my friends"),
    "nobody": ("nobody", "no one"),
    "person": ("my sister", "my brother", "a friend", "my neighbour", "my teacher", "my wife", "my husband"),
}
"""Words without polarity, by their slot."""

RELATIVES = ("that {person} recommended", "that we {saw} last week", "that everyone talks about")
"""Restrictive relative clauses."""


_SLOT = re.compile(r"{(\w+)}")
_SAME_POLARITY = {
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
"""Slots for words of the opposite polarity, and the slots for the same words of the clause's own."""
_VERBS = {"be": ("is", "are", "was", "were"), "does": ("does", "do", "did", "did")}
_VERBS |= {"has": ("has", "have", "had", "had"), "fails": ("fails", "fail", "failed", "failed")}
_VERBS |= {"lacks": ("lacks", "lack", "lacked", "lacked"), "was": ("is", "is", "was", "was")}
"""Verbs that agree with the subject: singular and plural, present and past."""
_PLAIN_SHARE = 0.5
_COMPARED_SHARE = 0.15


class ReviewWriter:
    """Writes one sentence, in one domain and one tense; nothing is judged twice and no adjective used twice.

    Attributes:
        negated: whether any clause so far has a negation or a comparison.
    """

    def __init__(self, rng: random.Random) -> None:
        self.negated = False
        self._rng = rng
        self._domain = rng.choice(DOMAINS)
        self._past = rng.random() < 0.4
        self._whole = rng.choice(self._domain.wholes)
        self._subject = self._whole
        self._judged: list[OpinionTarget] = []
        self._used: list[str] = []

    def fill(self, template: str, positive: bool) -> str:
        """Fill a template's slots from left to right.

        Args:
            template: written as positive.
            positive: the polarity to express.
        """
        return _SLOT.sub(lambda slot: self._word(slot[1], positive), template)

    def _clause(self, positive: bool) -> str:
        """Write a clause of one polarity, and note whether it has a negation or a comparison."""
        choice = self._rng.random()
        if choice < _PLAIN_SHARE:
            return self.fill(self._pick_template(PLAIN), positive)
        self.negated = True
        if choice < _PLAIN_SHARE + _COMPARED_SHARE:
            return self.fill(self._pick_template(COMPARED), positive)
        one_polarity = POSITIVE_ONLY if positive else NEGATIVE_ONLY
        template = self._pick_template((*NEGATED, *one_polarity))
        # a template of one polarity only is not reversed
        return self.fill(template, positive or template in one_polarity)

    def _pick_template(self, templates: Sequence[str]) -> str:
        """Choose a template; one that judges the whole only if nothing has judged it yet."""
        template = self._rng.choice(templates)
        while "{whole}" in template and self._whole in self._judged:
            template = self._rng.choice(templates)
        return template

    def _word(self, slot: str, positive: bool) -> str:
        if slot in NEUTRAL:
            return self._rng.choice(NEUTRAL[slot])
        if slot in _VERBS:
            return _VERBS[slot][2 * self._past + self._subject.plural]
        match slot:
            case "main" | "minor":
                return self._clause(positive == (slot == "main"))
            case "np" | "one":
                return self._noun_phrase(single=slot == "one")
            case "whole":
                self._judged.append(self._whole)
                return self._whole.text
            case "work":
                return self._whole.text
            case "saw" | "tried":
                return self._domain.tried[slot == "tried"]
        own = slot not in _SAME_POLARITY
        return self._polar_word(_SAME_POLARITY.get(slot, slot), POSITIVE if own == positive else NEGATIVE)

    def _polar_word(self, slot: str, words: SentimentLexicon) -> str:
        """Fill a slot with a word of one polarity."""
        choice = self._rng.choice
        if slot.startswith("a_"):
            self._subject = self._whole
            phrase = self._polar_word(slot[2:], words)
            # so good, but not: a so good film
            phrase = phrase.removeprefix("so ")
            return f"{'an' if phrase[0] in 'aeiou' else 'a'} {phrase}"
        match slot:
            case "joy":
                return choice(words.judgments)
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
        raise AssertionError(f"a template has an unknown slot {slot!r}")

    def _emphatic(self, words: SentimentLexicon) -> str:
        """A mild or a strong adjective, often with an intensifier."""
        strong = self._rng.random() < 0.4
        text = self._rng.choice(words.strong) if strong else self._adjective(words, self._subject).text
        if self._rng.random() < 0.4:
            return text
        return f"{self._rng.choice(MAXIMIZERS if strong else INTENSIFIERS)} {text}"

    def _adjective(self, words: SentimentLexicon, noun: OpinionTarget) -> OpinionAdjective:
        """Choose a mild adjective for a noun, one not used yet."""
        adjective = self._rng.choice([a for a in words.mild[noun.sort] if a.text not in self._used])
        self._used.append(adjective.text)
        return adjective

    def _noun_phrase(self, *, single: bool) -> str:
        """A subject not judged yet: the whole or one of its aspects."""
        rng = self._rng
        if self._whole not in self._judged and rng.random() < 0.3:
            self._subject = self._whole
            self._judged.append(self._whole)
            if rng.random() < 0.3:
                return f"the {self._whole.text} {self.fill(rng.choice(RELATIVES), positive=True)}"
            return f"{rng.choice(('this', 'the'))} {self._whole.text}"
        self._subject = self._new_aspect(single=single)
        tail = f" of this {self._whole.text}" if rng.random() < 0.2 else ""
        return f"the {self._subject.text}{tail}"

    def _new_aspect(self, *, single: bool) -> OpinionTarget:
        aspects = self._domain.aspects
        noun = self._rng.choice([a for a in aspects if a not in self._judged and not (single and a.plural)])
        self._judged.append(noun)
        return noun


SHORTEST, LONGEST = 5, 30
"""The fewest and the most words of a review, punctuation included."""

_SINGLE_SHARE = 0.4
_JOINED_SHARE = 0.2


class Review(NamedTuple):
    """A review.

    Attributes:
        text: its words and punctuation, separated by blanks.
        positive: its polarity.
        kind: ``contrast`` if it has both polarities, else ``negation`` if it has a negation or a comparison, else
            ``plain``.
    """

    text: str
    positive: bool
    kind: str


def write_review(rng: random.Random) -> Review:
    """Write one review of `SHORTEST` to `LONGEST` words."""
    while True:
        positive = rng.random() < 0.5
        choice = rng.random()
        contrasts = choice >= _SINGLE_SHARE + _JOINED_SHARE
        body = "{main}" if choice < _SINGLE_SHARE else rng.choice(CONTRASTS if contrasts else JOINED)
        writer = ReviewWriter(rng)
        text = writer.fill(rng.choice(FRAMES).replace("{body}", body), positive)
        if SHORTEST <= len(text.split()) <= LONGEST:
            kind = "contrast" if contrasts else "negation" if writer.negated else "plain"
            return Review(text, positive, kind)


LABELS = ("negative", "positive")
"""The labels, in order."""

_KINDS = ("plain", "negation", "contrast")


class Sentiment:
    """Reviews of films, books, restaurants, hotels, music and machines."""

    name = "sentiment"
    task = "classify"
    summary = "Positive and negative reviews, with negation and contrast, so that counting words fails."

    def splits(self, *, train: int, valid: int, test: int, seed: int) -> Splits:
        """Generate the corpus; no review occurs twice in it, and both labels are equally frequent.

        Args:
            train: number of training reviews.
            valid: number of validation reviews.
            test: number of test reviews, and of those in each of the extra splits: ``contrast`` (both
                polarities, of which one decides), ``negation`` (a negation or a comparison, and one polarity) and
                ``plain`` (neither).
            seed: equal seeds give equal corpora.

        Raises:
            ConfigError: a size below 0, or fewer different reviews than asked for.
        """
        rng = random.Random(f"sentiment {seed}")

        def sample() -> tuple[str, Example]:
            review = write_review(rng)
            split = assign_split(review.text)
            return review.kind if split == EXTRA else split, Example(review.text, LABELS[review.positive])

        return fill_splits(self.name, sample, train=train, valid=valid, test=test, extra=_KINDS)
