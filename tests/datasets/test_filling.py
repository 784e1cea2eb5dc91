import random

import pytest

from regard.datasets.dataset import Example
from regard.datasets.filling import EXTRA, fill, split_of
from regard.errors import ConfigError


def test_a_line_belongs_where_its_hash_says():
    """Another rule would move the test sets of every world."""
    found = [split_of(str(number)) for number in range(10_000)]
    counts = {name: found.count(name) for name in ("train", "valid", "test", EXTRA)}
    assert sum(counts.values()) == 10_000
    assert counts["test"] == pytest.approx(400, rel=0.15)
    assert counts["valid"] == pytest.approx(400, rel=0.15)
    assert counts[EXTRA] == pytest.approx(1200, rel=0.1)
    # crc32 modulo 25 is 0, 1, 2, 3, 4 and 5 or more
    lines = ("29", "49", "24", "35", "30", "0")
    assert [split_of(line) for line in lines] == ["test", "valid", EXTRA, EXTRA, EXTRA, "train"]


def test_all_that_is_drawn_is_used_in_order_until_full():
    numbers = iter(range(100))

    def draw():
        number = next(numbers)
        return ("even" if number % 2 == 0 else "odd" if number % 3 else ""), Example(str(number // 4))

    parts = fill("numbers", draw, {"even": 3, "odd": 1, "none": 0})
    assert [e.source for e in parts["even"]] == ["0", "1", "2"]  # 0, 4 and 8: 2 and 6 repeat a line
    assert parts["none"] == []
    assert [e.source for e in parts["odd"]] == ["3"]  # 13, the first odd one whose line is new


def test_vectors_are_told_apart_though_their_lines_are_empty():
    rng = random.Random(1)
    parts = fill("vectors", lambda: ("train", Example("", "x", features=(rng.randrange(4),))), {"train": 4})
    assert sorted(e.features for e in parts["train"]) == [(0,), (1,), (2,), (3,)]


def test_too_many_wanted_is_an_error_that_says_so():
    rng = random.Random(1)
    with pytest.raises(
        ConfigError, match=r"dice: found 6 of 7 examples for 'train', and hardly any new ones; ask"
    ):
        fill("dice", lambda: ("train", Example(str(rng.randrange(6)))), {"train": 7})
