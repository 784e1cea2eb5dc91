"""A scene: up to three groups of equal shapes, each with a colour, a size, a number and a place.

In: the dice. Out: a `Scene` in which every relation is beyond doubt: places keep away from the lines between
one wording and another. Knows nothing of words or of vectors.
"""

import random
from dataclasses import dataclass

COLOURS = ("red", "green", "blue", "yellow", "orange", "purple", "black", "white")
SHAPES = ("circle", "square", "triangle", "star", "ring")
MOST_GROUPS = 3
MOST_ALIKE = 4

_THIRD = 1 / 3
_CLEAR = 0.15
"""How far the place of a lone group keeps from the lines between left, middle and right."""
_APART = 0.45
"""How much further two groups are apart one way than the other."""
_LEAST_SIZE = 0.4
"""Sizes go from this to 1: upwards for large groups, downwards below 0 for small ones."""


@dataclass(frozen=True)
class Group:
    """Some equal shapes side by side.

    Attributes:
        count: how many, from 1 to `MOST_ALIKE`.
        size: from −1 to 1; above 0 is large, below 0 small.
        colour: one of `COLOURS`.
        shape: one of `SHAPES`.
        x: from −1 at the left to 1 at the right.
        y: from −1 at the bottom to 1 at the top.
    """

    count: int
    size: float
    colour: str
    shape: str
    x: float
    y: float


Scene = tuple[Group, ...]
"""One to `MOST_GROUPS` groups; each is described by where it stands from the next one."""


def draw_scene(rng: random.Random) -> Scene:
    """Draw a scene in which no two groups look alike."""
    number = rng.randint(1, MOST_GROUPS)
    looks: list[tuple[str, str]] = []
    while len(looks) < number:
        look = (rng.choice(COLOURS), rng.choice(SHAPES))
        if look not in looks:
            looks.append(look)
    places = _lone_place(rng) if number == 1 else _places(rng, number)
    return tuple(
        Group(
            rng.randint(1, MOST_ALIKE), rng.choice((-1, 1)) * rng.uniform(_LEAST_SIZE, 1), colour, shape, x, y
        )
        for (colour, shape), (x, y) in zip(looks, places, strict=True)
    )


def _lone_place(rng: random.Random) -> list[tuple[float, float]]:
    """Draw a place well within one of nine fields."""
    return [(_within_a_third(rng), _within_a_third(rng))]


def _within_a_third(rng: random.Random) -> float:
    field = rng.choice((-2 * _THIRD, 0.0, 2 * _THIRD))
    return field + rng.uniform(_CLEAR - _THIRD, _THIRD - _CLEAR)


def _places(rng: random.Random, number: int) -> list[tuple[float, float]]:
    """Draw places of which each stands clearly above, below, left or right of the next."""
    places: list[tuple[float, float]] = []
    while len(places) < number:
        place = (rng.uniform(-1, 1), rng.uniform(-1, 1))
        if not places or _is_clear(places[-1], place):
            places.append(place)
    return places


def _is_clear(one: tuple[float, float], other: tuple[float, float]) -> bool:
    across, up = abs(one[0] - other[0]), abs(one[1] - other[1])
    return abs(across - up) > _APART
