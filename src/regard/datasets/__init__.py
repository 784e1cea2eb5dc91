"""The corpora that come with the package: generated, never downloaded."""

from regard.datasets.copying import Copy
from regard.datasets.dataset import Dataset, Example, Splits
from regard.datasets.dates import Dates
from regard.datasets.language import Language
from regard.datasets.microworld.dataset import Microworld
from regard.datasets.newsroom.dataset import Newsroom
from regard.datasets.recall import Recall
from regard.datasets.scenes import Scenes
from regard.datasets.sentiment.dataset import Sentiment
from regard.datasets.tagging import Tagging
from regard.errors import ConfigError, nearest

DATASETS: dict[str, type[Dataset]] = {
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


def find_dataset(name: str) -> type[Dataset]:
    """Return the world of a name, to be made by calling it.

    Raises:
        ConfigError: there is no such world.
    """
    if name not in DATASETS:
        raise ConfigError(f"{name!r} is no world; {nearest(name, DATASETS)}")
    return DATASETS[name]


__all__ = [
    "DATASETS",
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
    "Dataset",
    "find_dataset",
]
