"""What preparing a corpus knows of a task: how its examples are read, encoded and filtered; and prepared data, opened.

In: files of text, or a store. Out: examples as text, and their ids by column of a store. `regard.training.prepare` does
the rest, for every task alike.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

from regard.batches.epochs import Mixture
from regard.batches.store import Store, is_store
from regard.config import toml_value
from regard.errors import ConfigError, DataError
from regard.io import build_dataclass, parse_json, read_whole
from regard.tasks.base import Vocabulary
from regard.text import Labels, Tokenizer
from regard.text.formats import STDIN, is_json_lines, read_file
from regard.text.tokenizer import refuse_other_vocabularies

VALID = "valid.jsonl"
"""The validation examples of a store, as text, one JSON object per line."""
LABELS = "labels.json"
"""The labels of a store by id, for a task that has them."""
_MAX_LABELS_BYTES = 1 << 26

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
        labels: the closed set of answers by id, for a task that has one.
    """

    columns: Mapping[str, str]
    """The columns of its stores: each with the name of its tokenizer, or `LABELS`."""
    fixed: ClassVar[tuple[str, ...]]
    """The options of ``data`` that say what is in a store."""
    is_continuous: bool = False
    """Whether its examples are one text, whose last ones are split off to validate with."""

    def __init__(self, config: Any, labels: Sequence[str] = ()) -> None:
        self.config, self.labels = config, tuple(labels)

    @property
    def texts_by_column(self) -> dict[str, str]:
        """The columns of text, each with the name of its tokenizer."""
        return {column: name for column, name in self.columns.items() if name != LABELS}

    def sizes(self, tokenizers: Mapping[str, Tokenizer]) -> dict[str, int]:
        """How many ids there are, by column."""
        return {
            column: len(self.labels) if name == LABELS else tokenizers[name].size
            for column, name in self.columns.items()
        }

    def names(self, example: Example) -> Sequence[str]:
        """The labels of an example; none for a task without."""
        return ()

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
    def build(self, *ids: list[int]) -> Any:
        """The ids of each column → a training example; a `ValueError` where they are not one."""

    @abstractmethod
    def texts(self, example: Example) -> tuple[str, ...]:
        """What an example says, its input first: where these are equal, examples are duplicates."""

    def input_and_reference(self, example: Example) -> tuple[Any, str]:
        """What the task's predictor reads, and the reference that its output is compared with; empty without one."""
        text, *rest = self.texts(example)
        return text, rest[0] if rest else ""

    @abstractmethod
    def place(self, example: Example) -> str:
        """Where an example was read; empty where that is not known."""

    @abstractmethod
    def to_json(self, example: Example) -> dict[str, Any]:
        """An example as plain values."""

    @abstractmethod
    def from_json(self, value: Any) -> Example:
        """An example from plain values; a `KeyError` or `TypeError` where they are not one."""


def group_sides(files: Sequence[str], sides: str, *, in_columns: bool) -> list[tuple[str, ...]]:
    """Files as corpora: those of plain text two by two, those with columns and JSON lines by themselves.

    Args:
        files: in their order.
        sides: how two files are named, for the message.
        in_columns: whether all have columns.

    Raises:
        ConfigError: a file of plain text has no other beside it.
        DataError: a file is empty or cannot be read.
    """
    corpora: list[tuple[str, ...]] = []
    first = ""
    for name in files:
        if not in_columns and _is_plain(name):
            if first:
                corpora.append((first, name))
            first = "" if first else name
        elif first:
            break
        else:
            corpora.append((name,))
    if first:
        raise ConfigError(
            f"{first}: one side, without its other side after it; name both in turn, as {sides}"
        )
    return corpora


_LOOKED_AT = 20  # lines


def _is_plain(name: str) -> bool:
    """Whether a file has no columns; standard input, which can be read only once, has."""
    if name == STDIN or is_json_lines(name):
        return False
    first = list(islice(read_file(name), _LOOKED_AT))
    if not first:
        raise DataError(f"{name}: an empty corpus, without a line; name a file with some text")
    return not any("\t" in line for line in first)


@dataclass(frozen=True)
class Corpus:
    """One of the corpora in a store: its files, the number of its examples, and how often an epoch has each."""

    files: list[str]
    examples: int
    weight: float


MAX_WEIGHT = 1000


@dataclass(frozen=True)
class StoreFacts:
    """What a store says of the runs that it was made for.

    Attributes:
        task: a name of `TASKS`.
        tokenizer: the options of that table.
        data: those options of that table that say what is in it.
        plan: the other options, by table.
        lines: how they came about.
        corpora: one after the other.
        notes: sentences for the user.
    """

    task: str
    tokenizer: dict[str, Any]
    data: dict[str, Any]
    plan: dict[str, Any]
    lines: list[str]
    corpora: list[Corpus]
    notes: list[str]

    @classmethod
    def of(cls, store: Store[Any]) -> "StoreFacts":
        """What a store says, checked.

        Raises:
            DataError: it is damaged.
        """
        try:
            facts = build_dataclass(cls, store.facts)
            total = sum(each.examples for each in facts.corpora)
            if total != len(store) or not all(0 < each.weight < MAX_WEIGHT for each in facts.corpora):
                raise ValueError(
                    f"corpora of {total:,} examples, and it has {len(store):,}; or a weight is wrong"
                )
        except ValueError as error:
            raise DataError(f"{store.path}: not a store for training: {error}; prepare it again") from error
        return facts

    @property
    def mixture(self) -> Mixture | None:
        """The weights of its corpora; None where all are 1."""
        weights = [each.weight for each in self.corpora]
        return None if set(weights) == {1} else Mixture([each.examples for each in self.corpora], weights)


class PreparedData(NamedTuple):
    """What a store has for a run.

    Attributes:
        store: the training examples.
        tokenizers: by their name in a model folder.
        valid: the validation examples as text.
        notes: sentences for the user.
        mixture: how often an epoch has each training example; None for once.
        labels: the closed set of answers by id, for a task that has one.
    """

    store: Store[Any]
    tokenizers: Mapping[str, Tokenizer]
    valid: Sequence[Any]
    notes: tuple[str, ...]
    mixture: Mixture | None
    labels: tuple[str, ...]


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
    preparation: Preparation[Any],
    known: Vocabulary | None = None,
    trained: Mapping[str, Tokenizer] | None = None,
) -> PreparedData:
    """Open the store that a run names as its training data.

    Args:
        preparation: of the run.
        known: the vocabulary of the model that the run starts from, which must be that of the store.
        trained: tokenizers of models that parts of this one are taken from, in the same way.

    Raises:
        ConfigError: the store was made for another task, or with other options or tokenizers.
        DataError: it is damaged.
    """
    config = preparation.config
    store: Store[Any] = Store(config.data.train[0], preparation.build)
    facts, where = StoreFacts.of(store), store.path
    if facts.task != config.task:
        raise ConfigError(
            f"data.train: {where} was prepared for the task {facts.task!r}, and the task is {config.task!r}"
        )
    for table, options in (("tokenizer", facts.tokenizer), ("data", facts.data)):
        now = getattr(config, table).to_mapping()
        for name, value in options.items():
            if now.get(name) != value:
                raise ConfigError(
                    f"{table}.{name}: {toml_value(value)} in the store {where}, and {toml_value(now.get(name))} now; "
                    "leave it out, or prepare another store"
                )
    if tuple(store.vocabularies) != tuple(preparation.columns):
        raise ConfigError(
            f"data.train: {where} has the columns {', '.join(store.vocabularies)}, and the model reads "
            f"{', '.join(preparation.columns)}; prepare another store"
        )
    names = dict.fromkeys(preparation.texts_by_column.values())
    tokenizers = {name: Tokenizer.load(where / f"{name}.json") for name in names}
    if LABELS in preparation.columns.values():
        preparation.labels = _read_labels(where / LABELS)
    if store.vocabularies != (sizes := preparation.sizes(tokenizers)):
        raise DataError(
            f"{where}: its vocabularies have {store.vocabularies} ids, and there are {sizes}; prepare it again"
        )
    if known is not None:
        _refuse_other_vocabulary(known, preparation.labels, where)
        trained = {**{name: known.tokenizers[name] for name in names}, **(trained or {})}
    if trained:
        theirs = {name: tokenizers[name] for name in trained}
        refuse_other_vocabularies(trained, theirs, "the model", f"the store {where}")
    valid = [] if config.data.valid else list(_read_valid(where / VALID, preparation))
    return PreparedData(store, tokenizers, valid, tuple(facts.notes), facts.mixture, preparation.labels)


def _read_valid(path: Path, preparation: Preparation[Any]) -> Iterator[Any]:
    for number, line in enumerate(read_file(path), start=1):
        try:
            yield preparation.from_json(parse_json(line))
        except (ValueError, KeyError, TypeError) as error:
            raise DataError(f"{path}:{number}: not an example ({error}); prepare the store again") from error


def _read_labels(path: Path) -> tuple[str, ...]:
    try:
        return Labels(list(map(str, parse_json(read_whole(path, _MAX_LABELS_BYTES))))).names
    except (OSError, ValueError, TypeError) as error:
        raise DataError(f"{path}: not a list of labels ({error}); prepare the store again") from error


def _refuse_other_vocabulary(known: Vocabulary, labels: Sequence[str], where: Path) -> None:
    """Raise where a store cannot have what the model that a run starts from brings."""
    if known.extend:
        raise ConfigError(
            "training.extend_vocabulary: the ids of a store are fixed; leave it out, or train from the text itself"
        )
    if known.labels != tuple(labels):
        raise ConfigError(
            f"the labels of the model ({', '.join(known.labels)}) are not those of the store {where} "
            f"({', '.join(labels)}); train from the text itself"
        )
