"""The microworld with fewer words: so few that a small model knows them all after some hundred updates.

In: how much to draw, and how many words to keep. Out: `Splits` without extra sets. The words kept are the commonest
English ones of what is drawn for training, so the held-out parts have no say in the choice.
"""

from collections import Counter

from regard.worlds import Splits
from regard.worlds.microworld import Microworld


def common_splits(train: int, test: int, words: int, seed: int, *, longest: int) -> Splits:
    """Those of the drawn pairs all of whose English words are common.

    Args:
        train: how many pairs to draw for training; fewer are kept.
        test: how many to draw for testing, and for validation.
        words: how many English words are kept, the commonest.
        seed: of the drawing.
        longest: the most English words in a pair.
    """
    drawn = Microworld().splits(train=train, valid=test, test=test, seed=seed, longest=longest)
    counts = Counter(word for example in drawn.train for word in example.source.split())
    common = {word for word, _ in counts.most_common(words)}
    train_pairs, valid_pairs, test_pairs = (
        [example for example in part if common.issuperset(example.source.split())]
        for part in (drawn.train, drawn.valid, drawn.test)
    )
    return Splits(train_pairs, valid_pairs, test_pairs, extra={})
