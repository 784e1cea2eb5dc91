"""Clauses of a wanted side, praise or blame: a template is drawn, and its slots are filled from the lexicon.

In: the dice and the side. Out: the words, and whether they deny. A `Review` is one sentence in the making: it
holds to one domain and one tense, judges nothing twice and says no adjective twice. Knows nothing of how
clauses are joined.
"""

import random
import re
from collections.abc import Sequence

from regard.worlds.sentiment.lexicon import (
    BLAME,
    DOMAINS,
    INTENSIFIERS,
    MAXIMIZERS,
    PRAISE,
    Adjective,
    Noun,
    Words,
)
from regard.worlds.sentiment.templates import BLAMING, COMPARED, NEGATED, NEUTRAL, PLAIN, PRAISING, RELATIVES

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
