"""The corpora that come with the package: generated, never downloaded."""

from regard.errors import ConfigError, nearest
from regard.worlds.dates import Dates
from regard.worlds.microworld import Microworld
from regard.worlds.world import Example, Splits, World

WORLDS: dict[str, type[World]] = {"microworld": Microworld, "dates": Dates}
"""The worlds by name."""


def find_world(name: str) -> type[World]:
    """Return the world of a name, to be made by calling it.

    Raises:
        ConfigError: there is no such world.
    """
    if name not in WORLDS:
        raise ConfigError(f"{name!r} is no world; {nearest(name, WORLDS)}")
    return WORLDS[name]


__all__ = ["WORLDS", "Dates", "Example", "Microworld", "Splits", "World", "find_world"]
