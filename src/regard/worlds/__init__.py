"""The corpora that come with the package: generated, never downloaded."""

from regard.errors import ConfigError, nearest
from regard.worlds.copying import Copy
from regard.worlds.dates import Dates
from regard.worlds.language import Language
from regard.worlds.microworld import Microworld
from regard.worlds.newsroom import Newsroom
from regard.worlds.recall import Recall
from regard.worlds.scenes import Scenes
from regard.worlds.sentiment import Sentiment
from regard.worlds.tagging import Tagging
from regard.worlds.world import TASKS, Example, Splits, World

WORLDS: dict[str, type[World]] = {
    "microworld": Microworld,
    "dates": Dates,
    "language": Language,
    "newsroom": Newsroom,
    "sentiment": Sentiment,
    "tagging": Tagging,
    "copy": Copy,
    "recall": Recall,
    "scenes": Scenes,
}
"""The worlds by name."""


def find_world(name: str) -> type[World]:
    """Return the world of a name, to be made by calling it.

    Raises:
        ConfigError: there is no such world.
    """
    if name not in WORLDS:
        raise ConfigError(f"{name!r} is no world; {nearest(name, WORLDS)}")
    return WORLDS[name]


__all__ = [
    "TASKS",
    "WORLDS",
    "Copy",
    "Dates",
    "Example",
    "Language",
    "Microworld",
    "Newsroom",
    "Recall",
    "Scenes",
    "Sentiment",
    "Splits",
    "Tagging",
    "World",
    "find_world",
]
