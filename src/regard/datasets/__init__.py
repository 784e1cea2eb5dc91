"""The corpora that come with the package: generated, never downloaded."""

from regard.datasets.dataset import Dataset, Example, Splits
from regard.datasets.dates import Dates
from regard.datasets.memory import Copy, Recall
from regard.datasets.microworld.dataset import Language, Microworld
from regard.datasets.newsroom.dataset import Newsroom
from regard.datasets.scenes import Scenes
from regard.datasets.sentiment.dataset import Sentiment
from regard.datasets.tagging import PartsOfSpeech
from regard.errors import ConfigError, nearest

DATASETS: dict[str, type[Dataset]] = {
    "microworld": Microworld,
    "dates": Dates,
    "language": Language,
    "newsroom": Newsroom,
    "sentiment": Sentiment,
    "tagging": PartsOfSpeech,
    "copy": Copy,
    "recall": Recall,
    "scenes": Scenes,
}
"""The datasets by name."""


def find_dataset(name: str) -> type[Dataset]:
    """The class of a dataset, by its name.

    Raises:
        ConfigError: an unknown name.
    """
    if name not in DATASETS:
        raise ConfigError(f"{name!r} is not a dataset; {nearest(name, DATASETS)}")
    return DATASETS[name]


__all__ = [
    "DATASETS",
    "Copy",
    "Dataset",
    "Dates",
    "Example",
    "Language",
    "Microworld",
    "Newsroom",
    "PartsOfSpeech",
    "Recall",
    "Scenes",
    "Sentiment",
    "Splits",
    "find_dataset",
]
