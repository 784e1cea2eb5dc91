"""The corpora that come with the package: generated, never downloaded."""

from regard.datasets.dataset import Dataset as Dataset
from regard.datasets.dataset import Example as Example
from regard.datasets.dataset import Splits as Splits
from regard.datasets.dates import Dates as Dates
from regard.datasets.memory import Copy as Copy
from regard.datasets.memory import Recall as Recall
from regard.datasets.microworld.dataset import Alignment as Alignment
from regard.datasets.microworld.dataset import Language as Language
from regard.datasets.microworld.dataset import Microworld as Microworld
from regard.datasets.newsroom.dataset import Newsroom as Newsroom
from regard.datasets.scenes import Scenes as Scenes
from regard.datasets.sentiment.dataset import Sentiment as Sentiment
from regard.datasets.tagging import PartsOfSpeech as PartsOfSpeech
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
    "alignment": Alignment,
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
