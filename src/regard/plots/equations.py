"""Equations as text, in runs that a page and a picture set alike: sub- and superscripts, single letters in italics.

In: an equation such as ``h_t = o_t ∘ tanh(c_{t−1})``. Out: its `Run`s. Knows nothing of HTML or SVG.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_SCRIPT = re.compile(r"([_^])(?:\{((?:[^{}]|\{[^{}]*\})*)\}|([^\W_ᵀ]+[\u0300-\u036f]?′?))")
_WORD = re.compile(r"\w[\u0300-\u036f]*(?![^\Wᵀ])|[^\Wᵀ]+")
_UPRIGHT = "σΣ√½ᵀ"


@dataclass(frozen=True)
class Run:
    """A piece of an equation.

    Attributes:
        text: without markup.
        level: 0 on the line, −1 a subscript, 1 a superscript.
        italic: whether it is a letter.
    """

    text: str
    level: int = 0
    italic: bool = False


def split_equation(text: str, level: int = 0) -> Iterator[Run]:
    """The runs of an equation, from left to right; a script's own scripts are on its level.

    Args:
        text: with ``_t``, ``_{t−1}``, ``^t`` for scripts.
        level: of what is on the line.
    """
    place = 0
    for found in _SCRIPT.finditer(text):
        yield from _letters(text[place : found.start()], level)
        inside = found[2] if found[2] is not None else found[3]
        yield from split_equation(inside, -1 if found[1] == "_" else 1)
        place = found.end()
    yield from _letters(text[place:], level)


def _letters(text: str, level: int) -> Iterator[Run]:
    place = 0
    for found in _WORD.finditer(text):
        letter = found[0].rstrip("\u0302\u0303\u0304")
        if (level == 0 and len(letter) > 1) or not letter[0].isalpha() or letter in _UPRIGHT:
            continue
        if place < found.start():
            yield Run(text[place : found.start()], level)
        yield Run(found[0], level, italic=len(letter) <= 2)
        place = found.end()
    if place < len(text):
        yield Run(text[place:], level)
