"""The world of scenes: vectors to be put into words, as a picture is by its caption.

In: sizes, a seed, the amount of noise. Out: splits of feature vectors and the sentences that describe them. A
stable hash of the description says where it belongs, so that no description of one split is that of another.
Scenes with a colour and a shape that are kept apart go to ``unseen`` alone.
"""

import random

from regard.errors import ConfigError
from regard.worlds.filling import EXTRA, fill, split_of
from regard.worlds.scenes.description import describe
from regard.worlds.scenes.features import FEATURE_NAMES, MOST_NOISE, to_features
from regard.worlds.scenes.scene import draw_scene
from regard.worlds.world import Example, Splits

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
    task = "describe"
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
            text = describe(scene)
            example = Example("", text, features=to_features(scene, rng, noise))
            if any((group.colour, group.shape) in HELD_OUT for group in scene):
                return "unseen", example
            split = split_of(text)
            return "train" if split == EXTRA else split, example

        parts = fill(self.name, draw, {"train": train, "valid": valid, "test": test, "unseen": test})
        unseen = parts.pop("unseen")
        return Splits(parts["train"], parts["valid"], parts["test"], {"unseen": unseen})
