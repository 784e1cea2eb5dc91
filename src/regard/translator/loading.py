"""From folders to models that can be asked together."""

from collections.abc import Sequence
from pathlib import Path

from regard.errors import ConfigError
from regard.folder import LoadedModel, ModelFolder
from regard.text.vocabularies import refuse_other_vocabularies


def load_models(folders: Sequence[str | Path], weights: str) -> list[LoadedModel]:
    """Load translators that share their vocabularies.

    Args:
        folders: what `regard train` wrote.
        weights: ``best`` or ``last``.

    Raises:
        FolderError: a folder is missing, damaged, foreign or newer than this package.
        ConfigError: no folder, no such weights, or other vocabularies than the first model's.
    """
    if not folders:
        raise ConfigError("no model folders; name at least one")
    loaded = [ModelFolder(folder).load(weights, task="translate") for folder in folders]
    for folder, each in zip(folders[1:], loaded[1:], strict=True):
        refuse_other_vocabularies(loaded[0].tokenizers, each.tokenizers, str(folders[0]), str(folder))
    return loaded
