import pytest

from regard.errors import ConfigError
from regard.worlds import WORLDS, find_world


def test_every_world_goes_by_its_own_name():
    for name, world in WORLDS.items():
        assert find_world(name) is world
        assert world().name == name
        assert world().describes.endswith(".")


def test_a_misspelt_world_is_named_with_the_nearest():
    with pytest.raises(
        ConfigError, match=r"'date' is no world; did you mean 'dates'\? \(known: dates, microworld\)"
    ):
        find_world("date")
