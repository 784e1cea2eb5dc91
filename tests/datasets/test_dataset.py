import random

import pytest

from regard.datasets.dataset import EXTRA, Example, assign_split, fill
from regard.errors import ConfigError


def test_the_hash_of_a_line_decides_its_split():
    """Another rule would move the test sets of every dataset."""
    splits = [assign_split(str(number)) for number in range(10_000)]
    counts = {name: splits.count(name) for name in ("train", "valid", "test", EXTRA)}
    assert sum(counts.values()) == 10_000
    assert counts["test"] == pytest.approx(400, rel=0.15)
    assert counts["valid"] == pytest.approx(400, rel=0.15)
    assert counts[EXTRA] == pytest.approx(1200, rel=0.1)
    # crc32 modulo 25 is 0, 1, 2, 3, 4 and 5 or more
    lines = ("29", "49", "24", "35", "30", "0")
    assert [assign_split(line) for line in lines] == ["test", "valid", EXTRA, EXTRA, EXTRA, "train"]


def test_samples_are_used_in_order_until_a_split_is_full():
    numbers = iter(range(100))

    def sample():
        number = next(numbers)
        return ("even" if number % 2 == 0 else "odd" if number % 3 else ""), Example(str(number // 4))

    parts = fill("numbers", sample, {"even": 3, "odd": 1, "none": 0})
    assert [e.source for e in parts["even"]] == ["0", "1", "2"]  # 0, 4 and 8: 2 and 6 repeat a line
    assert parts["none"] == []
    assert [e.source for e in parts["odd"]] == ["3"]  # 13, the first odd one whose line is new


def test_vectors_are_distinct_inputs_though_their_lines_are_empty():
    rng = random.Random(1)
    parts = fill("vectors", lambda: ("train", Example("", "x", features=(rng.randrange(4),))), {"train": 4})
    assert sorted(e.features for e in parts["train"]) == [(0,), (1,), (2,), (3,)]


def test_asking_for_too_many_is_refused():
    rng = random.Random(1)
    with pytest.raises(
        ConfigError, match=r"dice: found 6 of 7 examples for 'train', and hardly any new ones; ask"
    ):
        fill("dice", lambda: ("train", Example(str(rng.randrange(6)))), {"train": 7})
