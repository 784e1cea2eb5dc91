"""What preparing a corpus knows of a task: how its examples are read, encoded and filtered; and prepared data, opened.

In: files of text, or a store. Out: examples as text, and their ids by column of a store. `regard.training.prepare` does
the rest, for every task alike.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

from regard.batches.epochs import Mixture
from regard.batches.store import Store, is_store
from regard.config import toml_value
from regard.errors import ConfigError, DataError
from regard.io import parse_json
from regard.tasks.base import Vocabulary
from regard.text import Tokenizer
from regard.text.formats import read_file
from regard.text.tokenizer import refuse_other_vocabularies

VALID = "valid.jsonl"
"""The validation examples of a store, as text, one JSON object per line."""

Example = TypeVar("Example")


class EncodedRow(NamedTuple):
    """An example for a store.

    Attributes:
        ids: of each column.
        reason: why it is left out; empty where it is not.
    """

    ids: tuple[list[int], ...]
    reason: str = ""


class Preparation(ABC, Generic[Example]):
    """How the examples of a task become rows of a store.

    Args:
        config: the whole run; its files are not read.
    """

    columns: ClassVar[Mapping[str, str]]
    """The columns of its stores: each with the name of its tokenizer."""
    fixed: ClassVar[tuple[str, ...]]
    """The options of ``data`` that say what is in a store."""

    def __init__(self, config: Any) -> None:
        self.config = config

    @abstractmethod
    def group(self, files: Sequence[str]) -> list[tuple[str, ...]]:
        """Files as corpora: those that are read together are one.

        Raises:
            RegardError: they do not go together.
        """

    @abstractmethod
    def read(self, files: Sequence[str], listener: Callable[[str], None]) -> Iterator[Example]:
        """The examples of a corpus, none left out.

        Raises:
            RegardError: a file or a line cannot be used.
        """

    @abstractmethod
    def train_tokenizers(self, examples: Sequence[Example]) -> Mapping[str, Tokenizer]:
        """Train tokenizers, by their name in a model folder.

        Raises:
            RegardError: the examples have no text, or the options are impossible.
        """

    @abstractmethod
    def encode(
        self, examples: Sequence[Example], tokenizers: Mapping[str, Tokenizer]
    ) -> Iterator[EncodedRow]:
        """The ids of each example, and whether it is left out."""

    @abstractmethod
    def texts(self, example: Example) -> tuple[str, ...]:
        """What an example says, its input first: where these are equal, examples are duplicates."""

    @abstractmethod
    def place(self, example: Example) -> str:
        """Where an example was read; empty where that is not known."""

    @abstractmethod
    def to_json(self, example: Example) -> dict[str, Any]:
        """An example as plain values."""

    @abstractmethod
    def from_json(self, value: Any) -> Example:
        """An example from plain values; a `KeyError` or `TypeError` where they are not one."""


class PreparedData(NamedTuple):
    """What a store has for a run.

    Attributes:
        store: the training examples.
        tokenizers: by their name in a model folder.
        valid: the validation examples as text.
        notes: sentences for the user.
        mixture: how often an epoch has each training example; None for once.
    """

    store: Store[Any]
    tokenizers: Mapping[str, Tokenizer]
    valid: Sequence[Any]
    notes: tuple[str, ...]
    mixture: Mixture | None


def is_prepared(files: Sequence[str]) -> bool:
    """Whether the training data of a run are a store.

    Raises:
        ConfigError: a store is named beside other files.
    """
    stores = [name for name in files if is_store(name)]
    if stores and len(files) > 1:
        raise ConfigError(
            f"data.train: {stores[0]} is a store, and {len(files)} files are named; name one store, made from all files"
        )
    return bool(stores)


def open_prepared(
    preparation: Preparation[Any], build: Callable[..., Any], known: Mapping[str, Tokenizer] | None = None
) -> PreparedData:
    """Open the store that a run names as its training data.

    Args:
        preparation: of the run.
        build: the ids of each column → a training example.
        known: tokenizers that a trained model brings, which must be those of the store.

    Raises:
        ConfigError: the store was made for another task, or with other options or tokenizers.
        DataError: it is damaged.
    """
    config = preparation.config
    store: Store[Any] = Store(config.data.train[0], build)
    facts, where = store.facts, store.path
    if facts.get("task") != config.task:
        raise ConfigError(
            f"data.train: {where} was prepared for the task {facts.get('task')!r}, and the task is {config.task!r}"
        )
    for table in ("tokenizer", "data"):
        now = getattr(config, table).to_mapping()
        for name, value in facts.get(table, {}).items():
            if now.get(name) != value:
                raise ConfigError(
                    f"{table}.{name}: {toml_value(value)} in the store {where}, and {toml_value(now[name])} now; leave "
                    "it out, or prepare another store"
                )
    tokenizers = {
        name: Tokenizer.load(where / f"{name}.json") for name in dict.fromkeys(preparation.columns.values())
    }
    sizes = {column: tokenizers[name].size for column, name in preparation.columns.items()}
    if store.vocabularies != sizes:
        raise DataError(
            f"{where}: its vocabularies have {store.vocabularies} tokens and its tokenizers {sizes}; prepare it again"
        )
    if known:
        theirs = {name: tokenizers[name] for name in known}
        refuse_other_vocabularies(known, theirs, "the model", f"the store {where}")
    valid = [] if config.data.valid else list(_read_valid(where / VALID, preparation))
    return PreparedData(store, tokenizers, valid, tuple(facts.get("notes", ())), _mixture(store))


def _mixture(store: Store[Any]) -> Mixture | None:
    """The weights of a store's corpora; None where all are 1."""
    try:
        sizes = [int(each["examples"]) for each in store.facts["corpora"]]
        weights = [float(each["weight"]) for each in store.facts["corpora"]]
        if sum(sizes) != len(store) or not all(0 < weight < math.inf for weight in weights):
            raise ValueError(f"{sum(sizes):,} of {len(store):,} examples, weights {weights}")
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(f"{store.path}: its corpora are damaged ({error}); prepare it again") from error
    return None if set(weights) == {1.0} else Mixture(sizes, weights)


def _read_valid(path: Path, preparation: Preparation[Any]) -> Iterator[Any]:
    for number, line in enumerate(read_file(path), start=1):
        try:
            yield preparation.from_json(parse_json(line))
        except (ValueError, KeyError, TypeError) as error:
            raise DataError(f"{path}:{number}: not an example ({error}); prepare the store again") from error


def known_tokenizers(known: Vocabulary | None, columns: Mapping[str, str]) -> Mapping[str, Tokenizer]:
    """The tokenizers of the model that a run starts from, to compare with a store's.

    Raises:
        ConfigError: they are to be extended, and a store is what it is.
    """
    if known is None:
        return {}
    if known.extend:
        raise ConfigError(
            "training.extend_vocabulary: the ids of a store are fixed; leave it out, or train from the text itself"
        )
    return {name: known.tokenizers[name] for name in columns.values()}
