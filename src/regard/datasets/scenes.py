"""The scenes dataset: feature vectors to be captioned, as a picture is.

In: sizes, a seed, the amount of noise. Out: splits of feature vectors and their captions. A scene is up to three groups
of equal shapes, each with a colour, a size, a count and a place; places keep away from the borders between two
wordings, so that every relation is unambiguous. Its caption is one sentence, always the same for the same scene, as in
``two small red circles above a large blue square .``; a single group is placed in the picture, one of several relative
to the next. Its vector has bounded noise, small enough to leave the caption unambiguous, and four digits after the
point, so that it is the same on every machine. A stable hash of the caption decides its split, so that no caption of
one split is that of another; scenes with a held-out pair of colour and shape go to ``unseen`` alone.
"""

import random
from dataclasses import dataclass

from regard.datasets.dataset import EXTRA, Example, Splits, assign_split, fill_splits
from regard.errors import ConfigError

COLOURS = ("red", "green", "blue", "yellow", "orange", "purple", "black", "white")
SHAPES = ("circle", "square", "triangle", "star", "ring")
MOST_GROUPS = 3
MOST_ALIKE = 4

_THIRD = 1 / 3
_CLEAR = 0.15
"""The least distance of a single group from the borders between left, middle and right."""
_APART = 0.45
"""The least difference between the horizontal and the vertical distance of two groups."""
_LEAST_SIZE = 0.4
"""Sizes go from this to 1: upwards for large groups, downwards below 0 for small ones."""


@dataclass(frozen=True)
class Group:
    """Equal shapes side by side.

    Attributes:
        count: from 1 to `MOST_ALIKE`.
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
"""One to `MOST_GROUPS` groups; the caption places each relative to the next one."""


def sample_scene(rng: random.Random) -> Scene:
    """Sample a scene in which no two groups have the same colour and shape."""
    number = rng.randint(1, MOST_GROUPS)
    looks: list[tuple[str, str]] = []
    while len(looks) < number:
        look = (rng.choice(COLOURS), rng.choice(SHAPES))
        if look not in looks:
            looks.append(look)
    places = _single_place(rng) if number == 1 else _places(rng, number)
    return tuple(
        Group(
            rng.randint(1, MOST_ALIKE), rng.choice((-1, 1)) * rng.uniform(_LEAST_SIZE, 1), colour, shape, x, y
        )
        for (colour, shape), (x, y) in zip(looks, places, strict=True)
    )


def _single_place(rng: random.Random) -> list[tuple[float, float]]:
    """A place well within one of nine fields."""
    return [(_within_a_third(rng), _within_a_third(rng))]


def _within_a_third(rng: random.Random) -> float:
    field = rng.choice((-2 * _THIRD, 0.0, 2 * _THIRD))
    return field + rng.uniform(_CLEAR - _THIRD, _THIRD - _CLEAR)


def _places(rng: random.Random, number: int) -> list[tuple[float, float]]:
    """Places, each clearly above, below, left or right of the next."""
    places: list[tuple[float, float]] = []
    while len(places) < number:
        place = (rng.uniform(-1, 1), rng.uniform(-1, 1))
        if not places or _is_unambiguous(places[-1], place):
            places.append(place)
    return places


def _is_unambiguous(first: tuple[float, float], second: tuple[float, float]) -> bool:
    across, up = abs(first[0] - second[0]), abs(first[1] - second[1])
    return abs(across - up) > _APART


MOST_NOISE = 0.1
"""With more, the caption would be ambiguous."""

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
"""Red, green and blue in each of `COLOURS`."""
_RGB = dict(zip(COLOURS, _MIXTURES, strict=True))

_PARTS = ("present", "count", "size", "red", "green", "blue", *SHAPES, "x", "y")

FEATURE_NAMES = tuple(f"{which} {part}" for which in ("first", "second", "third") for part in _PARTS)
"""The names of the features; a group that is missing is a −1 and zeros."""


def to_features(scene: Scene, rng: random.Random, noise: float) -> tuple[float, ...]:
    """A scene as a vector, with uniform noise of at most `noise` on each number.

    Args:
        scene: the scene.
        rng: the random generator of the noise.
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


def write_caption(scene: Scene) -> str:
    """Write what there is and where."""
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


def _relation(group: Group, reference: Group) -> str:
    """The place of a group relative to another: the larger distance decides."""
    across, up = group.x - reference.x, group.y - reference.y
    if abs(up) > abs(across):
        return "above" if up > 0 else "below"
    return "to the right of" if across > 0 else "to the left of"


def _third(where: float) -> int:
    return (where > 1 / 3) - (where < -1 / 3)


HELD_OUT = frozenset(
    (("red", "star"), ("green", "circle"), ("blue", "ring"), ("yellow", "square"), ("purple", "triangle"))
)
"""Colours and shapes that occur together in ``unseen`` alone."""


class Scenes:
    """Groups of coloured shapes as feature vectors, with a caption each.

    Attributes:
        feature_names: of the numbers of the vector.
    """

    name = "scenes"
    task = "caption"
    summary = (
        "Vectors to captions: presence, count, size, colour, shape and place of up to three groups of shapes, "
        "as noisy numbers, captioned with a sentence."
    )
    feature_names = FEATURE_NAMES

    def splits(self, *, train: int, valid: int, test: int, seed: int, noise: float = 0.05) -> Splits:
        """Generate the corpus; no caption is in two splits.

        Args:
            train: number of training scenes.
            valid: number of validation scenes.
            test: number of test scenes, and of those in the extra split ``unseen`` (each has a shape in a
                colour that it has in no other split).
            seed: equal seeds give equal corpora.
            noise: the most that is added to or subtracted from each number.

        Raises:
            ConfigError: a size below 0, or so much noise that captions would be ambiguous.
        """
        if not 0 <= noise <= MOST_NOISE:
            raise ConfigError(f"scenes: noise of {noise} cannot be had; choose from 0 to {MOST_NOISE}")
        rng = random.Random(f"scenes {seed}")

        def sample() -> tuple[str, Example]:
            scene = sample_scene(rng)
            caption = write_caption(scene)
            example = Example("", caption, features=to_features(scene, rng, noise))
            if any((group.colour, group.shape) in HELD_OUT for group in scene):
                return "unseen", example
            split = assign_split(caption)
            return "train" if split == EXTRA else split, example

        return fill_splits(self.name, sample, train=train, valid=valid, test=test, extra=("unseen",))
