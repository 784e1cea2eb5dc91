"""Sentences drawn from `rules`, word by word with their tags.

In: the dice. Out: words and tags. ``a`` becomes ``an`` here, where the next word is known.
"""

import random

from regard.worlds.tagging.rules import RULES

SHORTEST, LONGEST = 3, 18
"""How many words a sentence has, punctuation included."""


def write_tagged(rng: random.Random) -> tuple[list[str], list[str]]:
    """Draw one sentence of `SHORTEST` to `LONGEST` words: its words, and their tags."""
    while True:
        words, tags = _expand(rng)
        if SHORTEST <= len(words) <= LONGEST:
            return words, tags


def _expand(rng: random.Random) -> tuple[list[str], list[str]]:
    """Replace symbols from left to right until only words are left, or there are too many of them."""
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
