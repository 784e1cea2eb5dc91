"""A scene as a vector of real numbers about 0, with noise.

In: a `Scene`, the dice, the amount of noise. Out: as many numbers as there are `FEATURE_NAMES`; a group that
is not there is a −1 and zeros. The noise is bounded, and small enough for `MOST_NOISE` to leave every
description beyond doubt. Numbers have four digits after the point, so that they are the same everywhere.
"""

import random

from regard.worlds.scenes.scene import COLOURS, MOST_ALIKE, MOST_GROUPS, SHAPES, Group, Scene

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
