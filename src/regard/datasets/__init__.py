"""The corpora that come with the package: generated, never downloaded."""

from regard.datasets.copying import Copy
from regard.datasets.dataset import TASKS, Example, Splits, World
from regard.datasets.dates import Dates
from regard.datasets.language import Language
from regard.datasets.microworld.dataset import Microworld
from regard.datasets.newsroom.dataset import Newsroom
from regard.datasets.recall import Recall
from regard.datasets.scenes import Scenes
from regard.datasets.sentiment.dataset import Sentiment
from regard.datasets.tagging import Tagging
from regard.errors import ConfigError, nearest

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
