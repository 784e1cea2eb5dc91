import random

import pytest

from regard.datasets.microworld.dataset import generate


@pytest.fixture(scope="session")
def sample():
    """Many sentences as (words, tags, target words, gold), of the usual lengths and of few words."""
    rng = random.Random("a sample")
    found = []
    for shortest, longest, count in ((3, 15, 9000), (3, 6, 12000), (20, 40, 300)):
        for _ in range(count):
            sentence = generate(rng, shortest, longest)
            example = sentence.spell()
            tags = tuple(word.tag for word in sentence.words)
            found.append((example.source.split(), tags, example.target.split(), example.gold))
    return found
