"""A scene: up to three groups of equal shapes, each with a colour, a size, a number and a place.

In: the dice. Out: a `Scene` in which every relation is beyond doubt: places keep away from the lines between
one wording and another. Knows nothing of words or of vectors.

A scene as a vector of real numbers about 0, with noise.

In: a `Scene`, the dice, the amount of noise. Out: as many numbers as there are `FEATURE_NAMES`; a group that
is not there is a −1 and zeros. The noise is bounded, and small enough for `MOST_NOISE` to leave every
description beyond doubt. Numbers have four digits after the point, so that they are the same everywhere.

What is said of a scene: one sentence, and always the same one for the same scene.

In: a `Scene`. Out: a line such as ``two small red circles above a large blue square .`` A lone group is placed
in the picture; of several, each is placed from the next one, and the verb agrees with the one it speaks of.

The world of scenes: vectors to be put into words, as a picture is by its caption.

In: sizes, a seed, the amount of noise. Out: splits of feature vectors and the sentences that describe them. A
stable hash of the description says where it belongs, so that no description of one split is that of another.
Scenes with a colour and a shape that are kept apart go to ``unseen`` alone.
"""

import random
from dataclasses import dataclass

from regard.datasets.dataset import Example, Splits
from regard.datasets.filling import EXTRA, fill, split_of
from regard.errors import ConfigError

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


MOST_NOISE = 0.1
"""With more, a place could be taken for another."""

_MIXTURES = (
    (1, -1, -1),
    (-1, 1, -1),
    (-1, -1, 1),
    (1, 1, -1),
    (1, 0, -1),
    (0, -1, 0),
    (-1, -1, -1),
    (1, 1, 1),
)
"""How much red, green and blue there is in each of `COLOURS`."""
_RGB = dict(zip(COLOURS, _MIXTURES, strict=True))

_PARTS = ("present", "count", "size", "red", "green", "blue", *SHAPES, "x", "y")

FEATURE_NAMES = tuple(f"{which} {part}" for which in ("first", "second", "third") for part in _PARTS)
"""What each number says."""


def to_features(scene: Scene, rng: random.Random, noise: float) -> tuple[float, ...]:
    """Write a scene as numbers, each moved by at most `noise` either way.

    Args:
        scene: what to write.
        rng: the dice for the noise.
        noise: from 0 to `MOST_NOISE`.
    """
    clean = [number for group in scene for number in _numbers(group)]
    clean += [-1.0, *[0.0] * (len(_PARTS) - 1)] * (MOST_GROUPS - len(scene))
    return tuple(round(number + rng.uniform(-noise, noise), 4) for number in clean)


def _numbers(group: Group) -> list[float]:
    count = 2 * (group.count - 1) / (MOST_ALIKE - 1) - 1
    shapes = [1.0 if group.shape == shape else -1.0 for shape in SHAPES]
    return [1.0, count, group.size, *_RGB[group.colour], *shapes, group.x, group.y]


_NUMBERS = ("two", "three", "four")
_PLACES = {
    (-1, 1): "in the top left corner",
    (0, 1): "at the top",
    (1, 1): "in the top right corner",
    (-1, 0): "at the left",
    (0, 0): "in the middle",
    (1, 0): "at the right",
    (-1, -1): "in the bottom left corner",
    (0, -1): "at the bottom",
    (1, -1): "in the bottom right corner",
}
"""Places in the picture by column and row, counted from the middle."""


def caption(scene: Scene) -> str:
    """Say what there is and where."""
    first, *others = scene
    if not others:
        return f"{_named(first)} {_PLACES[_third(first.x), _third(first.y)]} ."
    words = [_named(first), _relation(first, others[0]), _named(others[0])]
    if len(others) == 2:
        second, third = others
        verb = "is" if second.count == 1 else "are"
        words += [", which", verb, _relation(second, third), _named(third)]
    return " ".join([*words, "."])


def _named(group: Group) -> str:
    size = "large" if group.size > 0 else "small"
    if group.count == 1:
        return f"a {size} {group.colour} {group.shape}"
    return f"{_NUMBERS[group.count - 2]} {size} {group.colour} {group.shape}s"


def _relation(one: Group, other: Group) -> str:
    """Say where one group stands, seen from another: the longer way decides."""
    across, up = one.x - other.x, one.y - other.y
    if abs(up) > abs(across):
        return "above" if up > 0 else "below"
    return "to the right of" if across > 0 else "to the left of"


def _third(where: float) -> int:
    return (where > 1 / 3) - (where < -1 / 3)


HELD_OUT = frozenset(
    (("red", "star"), ("green", "circle"), ("blue", "ring"), ("yellow", "square"), ("purple", "triangle"))
)
"""Colours and shapes that no split but ``unseen`` joins."""


class Scenes:
    """Groups of coloured shapes, given as numbers and described in a sentence.

    Attributes:
        feature_names: what each number of the vector says.
    """

    name = "scenes"
    task = "caption"
    describes = (
        "Vectors to descriptions: presence, count, size, colour, shape and place of up to three groups of shapes, "
        "as noisy numbers, put into a sentence."
    )
    feature_names = FEATURE_NAMES

    def splits(self, *, train: int, valid: int, test: int, seed: int, noise: float = 0.05) -> Splits:
        """Generate the corpus; no description stands in two splits.

        Args:
            train: number of training scenes.
            valid: number of validation scenes.
            test: number of test scenes, and of those in the extra split ``unseen`` (each has a shape in a
                colour that it has in no other split).
            seed: equal seeds give equal corpora.
            noise: how far each number may be moved either way.

        Raises:
            ConfigError: a size below 0, or noise that would leave the description in doubt.
        """
        if not 0 <= noise <= MOST_NOISE:
            raise ConfigError(f"scenes: noise of {noise} cannot be had; choose from 0 to {MOST_NOISE}")
        rng = random.Random(f"scenes {seed}")

        def draw() -> tuple[str, Example]:
            scene = draw_scene(rng)
            text = caption(scene)
            example = Example("", text, features=to_features(scene, rng, noise))
            if any((group.colour, group.shape) in HELD_OUT for group in scene):
                return "unseen", example
            split = split_of(text)
            return "train" if split == EXTRA else split, example

        parts = fill(self.name, draw, {"train": train, "valid": valid, "test": test, "unseen": test})
        unseen = parts.pop("unseen")
        return Splits(parts["train"], parts["valid"], parts["test"], {"unseen": unseen})
