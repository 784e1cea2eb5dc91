import pytest

from regard.datasets import Newsroom
from regard.datasets.newsroom.dataset import FAR


@pytest.fixture(scope="module")
def splits():
    return Newsroom().splits(train=400, valid=20, test=60, seed=2)


def test_every_line_knows_its_links(splits):
    for example in (*splits.train, *splits.test, *splits.extra["far"]):
        assert example.gold is not None
        last = len(example.source.split()) - 1
        # every word but the full stop belongs to another
        assert {place for link in example.gold.sure for place in link} == set(range(last)), example.source


def test_far_lines_reach_far(splits):
    assert set(splits.extra) == {"far"}
    for example in splits.extra["far"]:
        words = example.source.split()
        assert any(
            later - earlier >= FAR
            for earlier, later in example.gold.sure
            if words[later]
            in ("is", "are", "was", "were", "has", "have", "says", "say", "believes", "believe")
        ), example.source
