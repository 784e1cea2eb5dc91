"""A trained model on disk: plain formats, a format number, no pickled classes.

    regard.json              format, task, the model's configuration, sizes, labels, checksums
    NAME.tokenizer.json      source and target of a translator, text of the other tasks
    best.safetensors         the weights with the best validation, with facts about them
    last.safetensors         the weights of the last checkpoint
    checkpoints/             what a run is resumed from; see `regard.training.state`
    log.jsonl                the training log, one JSON object per line
    train.toml               the whole configuration of the run, ready to be run again
    run.json                 its data's checksums; the versions and the command of each session

An ensemble is a folder of such folders, ``seed-1``, ``seed-2``, …, whose own ``regard.json`` has format, task and the
names of its members; it is opened wherever one model is.

Each file is written as a whole or not at all, except for the log, which grows. Weights carry their SHA-256. Loading
does not guess: a folder that is missing, damaged, foreign or newer than this package is an error that says so; an older
one is migrated as it is read, one function per format number. To predict, neither the log nor ``train.toml`` is read.
"""

import json
import os
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from regard.config import Config, one_of, read_toml
from regard.errors import ConfigError, DataError, FolderError
from regard.io import check_regular, make_folder, parse_json, read_whole, write_whole_text
from regard.tasks import TASKS
from regard.tensors import open_tensors, read_tensors, write_tensors
from regard.text import Tokenizer
from regard.text.formats import read_file
from regard.text.tokenizer import MAX_TOKENIZER_BYTES
from regard.version import __version__

FORMAT = 4
"""Raised whenever an older package could not read what this one writes, or could not tell that it is damaged."""

WEIGHTS = ("best", "last")

_MAX_DESCRIPTION_BYTES = 1 << 24
_MAX_NAME = 255  # characters of a folder's name

LOG = "log.jsonl"
"""The training log's file."""

Document = Literal["description", "options", "facts", "log"]
"""What a folder holds as plain values: ``regard.json``, ``train.toml``, facts beside weights, one row of the log."""


def _migrate_2_to_3(document: Document, content: dict[str, Any]) -> dict[str, Any]:
    """Tasks, options and scores got the field's names; an option that the choices made do not have is not written."""
    content = dict(content)
    if "task" in content:
        content["task"] = {"lm": "language_model", "describe": "caption"}.get(
            content["task"], content["task"]
        )
    if "model" in content:
        content["model"] = _drop_lacking_2(content["model"])
    if document == "options":
        training = dict(content.get("training", {}))
        _rename(training, {"rate": "learning_rate", "thaw_every": "unfreeze_every"})
        content["training"] = training
        _rename(content, {"teaching": "auxiliary_losses"})
    else:
        _rename(content, {"rate": "learning_rate", "gap": "exposure_gap"})
    return content


def _rename(table: dict[str, Any], names: Mapping[str, str]) -> None:
    """Rename keys, old → new, in place and without changing their order."""
    renamed = {names.get(key, key): value for key, value in table.items()}
    table.clear()
    table.update(renamed)


def _drop_lacking_2(table: Any) -> Any:
    """Tables of format 2 without the options that mean nothing: those were written at their defaults."""
    if not isinstance(table, dict):
        return table
    decoder = table.get("decoder")
    lacking = {
        "size": table.get("energy") in ("dot", "scaled-dot", "bilinear"),
        "reach": table.get("window") == "global",
        "pooling_size": table.get("pooling") in ("last", "mean"),
        "summary_size": isinstance(decoder, dict) and decoder.get("kind") == "sutskever",
    }
    kept = {name: _drop_lacking_2(value) for name, value in table.items() if not lacking.get(name, False)}
    _rename(kept, {"reach": "window_size"})
    return kept


def _migrate_3_to_4(document: Document, content: dict[str, Any]) -> dict[str, Any]:
    """Weights got checksums, which those of format 3 need not have; the documents stayed as they were."""
    return content


_FIRST_WITH_CHECKSUMS = 4

MIGRATIONS: dict[int, Callable[[Document, dict[str, Any]], dict[str, Any]]] = {
    2: _migrate_2_to_3,
    3: _migrate_3_to_4,
}
"""A format number → what turns a document of that format into one of the next."""

_OLD_LOGS = {2: "journal.jsonl"}
"""A format number → the training log's file in it, where that was another."""


@dataclass(frozen=True)
class LoadedModel:
    """A model folder's content, ready for use.

    Attributes:
        task: a name of `TASKS`.
        model: in evaluation mode.
        tokenizers: by name: ``source`` and ``target``, or ``text``.
        labels: the closed set of labels, in the order of their ids; empty for a task without.
        facts: what was known of these weights when they were written: update, scores, …
        sizes: of vocabularies, labels and features, by name.
    """

    task: str
    model: Any
    tokenizers: dict[str, Tokenizer]
    labels: tuple[str, ...]
    facts: dict[str, Any]
    sizes: dict[str, int]


class ModelFolder:
    """The files of one model.

    Args:
        path: the folder; it need not exist before `create`.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    def create(
        self,
        task: str,
        config: Config,
        tokenizers: Mapping[str, Tokenizer],
        *,
        sizes: Mapping[str, int],
        labels: Sequence[str] = (),
    ) -> None:
        """Write everything but weights.

        Args:
            task: a name of `TASKS`.
            config: the model's.
            tokenizers: by name.
            sizes: of vocabularies, labels and features, by name; see `TaskSpec.build`.
            labels: the closed set of labels, for a task that has one.

        Raises:
            DataError: the folder cannot be written.
        """
        make_folder(self.path)
        try:
            for name, tokenizer in tokenizers.items():
                tokenizer.save(self._tokenizer_path(name))
        except OSError as error:
            raise DataError(
                f"{self.path}: cannot be written ({error.strerror or error}); free some space, or choose another folder"
            ) from error
        description = {
            "format": FORMAT,
            "regard": __version__,
            "task": task,
            "sizes": dict(sizes),
            "checksums": {name: _checksum(self._tokenizer_path(name)) for name in tokenizers},
            "model": config.to_mapping(),
        }
        if labels:
            description["labels"] = list(labels)
        write_whole_text(
            self.path / "regard.json", json.dumps(description, indent=2, ensure_ascii=False) + "\n"
        )

    def write_weights(self, name: str, model: nn.Module, facts: dict[str, Any]) -> None:
        """Write a checkpoint; the one before it stays until this one is complete.

        Args:
            name: one of `WEIGHTS`.
            model: whose parameters to write; shared ones are written once.
            facts: plain values to keep with the weights.

        Raises:
            CheckpointError: it cannot be written.
        """
        write_tensors(self.path / f"{name}.safetensors", unshared(model), facts)

    @property
    def task(self) -> str:
        """The model's task, a name of `TASKS`; its weights are not read.

        Raises:
            FolderError: missing, damaged, foreign, or newer than this package.
        """
        return str(self._description()["task"])

    @property
    def tokenizers(self) -> dict[str, Tokenizer]:
        """The tokenizers by name; the weights are not read.

        Raises:
            FolderError: missing, damaged, foreign, or newer than this package.
        """
        sizes, description = self.sizes, self._description()
        return {name: self._tokenizer(name, sizes, description) for name in TASKS[description["task"]].texts}

    @property
    def sizes(self) -> dict[str, int]:
        """The sizes its model was built for, by name; the weights are not read.

        Raises:
            FolderError: missing, damaged, foreign, or newer than this package.
        """
        description = self._description()
        try:
            return _read_sizes(description["sizes"], TASKS[description["task"]].sizes)
        except (LookupError, ValueError) as error:
            raise FolderError(
                f"{self.path / 'regard.json'}: damaged: {error}; copy or train the model again"
            ) from error

    def create_ensemble(self, task: str, members: Sequence[str]) -> None:
        """Write the description of an ensemble; the one before it stays until this one is complete.

        Args:
            task: a name of `TASKS`.
            members: the folders of its models, as names inside this folder.

        Raises:
            DataError: the folder cannot be written.
        """
        make_folder(self.path)
        description = {
            "format": FORMAT,
            "regard": __version__,
            "task": task,
            "ensemble": list(members),
        }
        write_whole_text(
            self.path / "regard.json", json.dumps(description, indent=2, ensure_ascii=False) + "\n"
        )

    @property
    def is_ensemble(self) -> bool:
        """Whether it holds an ensemble; False for a single model, and where there is no model yet."""
        return os.path.exists(self.path / "regard.json") and "ensemble" in self._read_description()

    @property
    def members(self) -> "tuple[ModelFolder, ...]":
        """The folders of an ensemble's models; of a single model, this folder.

        Raises:
            FolderError: missing, damaged, foreign, or newer than this package.
        """
        names = self._description().get("ensemble")
        if names is None:
            return (self,)
        if (
            not isinstance(names, list)
            or not names
            or not all(isinstance(name, str) and name == Path(name).name not in ("", "..") for name in names)
            or max(map(len, names)) > _MAX_NAME
            or len(set(names)) < len(names)
        ):
            raise FolderError(
                f"{self.path / 'regard.json'}: damaged: the ensemble's members are {names!r:.60}; copy the folder again"
            )
        return tuple(ModelFolder(self.path / name) for name in names)

    def load(self, weights: str = "best", task: str | None = None) -> LoadedModel:
        """Read the model.

        Args:
            weights: ``best`` or ``last``.
            task: what it must be for; None for anything.

        Raises:
            FolderError: missing, damaged, foreign, for another task, or newer than this package.
            ConfigError: `weights` is neither.
        """
        one_of("weights", weights, WEIGHTS)
        description = self._description()
        if "ensemble" in description:
            members = self.members
            raise FolderError(
                f"{self.path}: an ensemble of {len(members)} models, and one model is needed here; name one of them, "
                f"as {members[0].path}"
            )
        spec = TASKS[description["task"]]
        if task is not None and spec.name != task:
            raise FolderError(f"{self.path}: a model for {spec.purpose}; name one for {TASKS[task].purpose}")
        try:
            sizes = _read_sizes(description["sizes"], spec.sizes)
            tokenizers = {name: self._tokenizer(name, sizes, description) for name in spec.texts}
            labels = _read_labels(description.get("labels", []), sizes.get("labels", 0))
            config = spec.model_config().from_mapping(description["model"], "model")
            # no memory is taken before the weights' header says that it will be filled
            with torch.device("meta"), _SkipSampling():
                expected = unshared(spec.build(config, sizes))
        except (ConfigError, LookupError, TypeError, ValueError, AttributeError, RuntimeError) as error:
            raise FolderError(
                f"{self.path / 'regard.json'}: damaged: {error}; copy or train the model again"
            ) from error
        checked = description["format"] >= _FIRST_WITH_CHECKSUMS
        path, stored, facts = self._read_weights(weights, expected, checked)
        # weights are sampled to be overwritten: the caller's generator is left as it is
        with torch.random.fork_rng(devices=[]):
            model = spec.build(config, sizes)
        fill_model(model, stored, path)
        facts = _migrate("facts", facts, description["format"])
        return LoadedModel(spec.name, model.eval(), tokenizers, labels, facts, sizes)

    def _tokenizer_path(self, name: str) -> Path:
        return self.path / f"{name}.tokenizer.json"

    def _tokenizer(self, name: str, sizes: Mapping[str, int], description: dict[str, Any]) -> Tokenizer:
        path = self._tokenizer_path(name)
        tokenizer = Tokenizer.load(path)
        if tokenizer.size != sizes.get(name):
            raise FolderError(
                f"{path}: it has {tokenizer.size} tokens and the model was made for {sizes.get(name)}; the files "
                "belong to different models, so copy the whole folder again"
            )
        checksums = description.get("checksums")
        if not isinstance(checksums, dict):
            raise FolderError(
                f"{self.path / 'regard.json'}: damaged: its checksums are {checksums!r:.60}; copy or train the model "
                "again"
            )
        if checksums.get(name) != _checksum(path):
            raise FolderError(
                f"{path}: not the tokenizer this model was trained with; copy the whole folder again"
            )
        return tokenizer

    def _description(self) -> dict[str, Any]:
        """``regard.json`` with the present names; its format number is the one it was written with."""
        description = self._read_description()
        if isinstance(description.get("task"), str):
            description = _migrate("description", description, description["format"])
        if description.get("task") not in list(TASKS):
            raise FolderError(
                f"{self.path / 'regard.json'}: damaged: no task {description.get('task')!r:.60}; copy or train the "
                "model again"
            )
        return description

    def _read_description(self) -> dict[str, Any]:
        """``regard.json``, in the format it was written in."""
        path = self.path / "regard.json"
        if not os.path.isdir(self.path):
            raise FolderError(f"{self.path}: no such model folder; `regard train` makes one")
        try:
            description = parse_json(read_whole(path, _MAX_DESCRIPTION_BYTES).decode("utf-8"))
        except FileNotFoundError:
            raise FolderError(
                f"{self.path}: not a model folder of Regard, for it has no regard.json; name one that `regard train` "
                "made"
            ) from None
        except (OSError, ValueError) as error:
            raise FolderError(f"{path}: damaged: {error}; copy or train the model again") from error
        if not isinstance(description, dict) or not isinstance(description.get("format"), int):
            raise FolderError(
                f"{path}: it has no format number, so it is not Regard's; name a folder that `regard train` made"
            )
        written = (
            f"{path}: written in format {description['format']} by Regard {description.get('regard')!s:.60}"
        )
        if description["format"] > FORMAT:
            raise FolderError(
                f"{written}; this is Regard {__version__}, which reads up to format {FORMAT}: upgrade it"
            )
        if description["format"] < min(MIGRATIONS):
            raise FolderError(
                f"{written}, before its first release; this is Regard {__version__}, which reads format "
                f"{min(MIGRATIONS)} and later: train the model again"
            )
        return description

    def _read_weights(
        self, weights: str, expected: Mapping[str, Tensor], checked: bool
    ) -> tuple[Path, dict[str, Tensor], dict[str, Any]]:
        """The path, the stored tensors and the facts; nothing is read before names and shapes are the expected ones."""
        path = self.path / f"{weights}.safetensors"
        try:
            with open_tensors(path) as file:
                _refuse_unfit(path, {key: file.get_slice(key).get_shape() for key in file.keys()}, expected)  # noqa: SIM118
            stored, facts = read_tensors(path, checked=checked)
        except FileNotFoundError:
            there = [name for name in WEIGHTS if (self.path / f"{name}.safetensors").exists()]
            remedy = "the training has saved none yet; wait for its first validation"
            if there:
                remedy = f"there are weights named {there[0]!r}: choose them with --weights {there[0]}"
            raise FolderError(f"{path}: no such weights; {remedy}") from None
        return path, stored, facts


def fill_model(model: nn.Module, stored: Mapping[str, Tensor], path: Path) -> None:
    """Copy the tensors of a checkpoint into a model.

    Args:
        model: changed in place.
        stored: its parameters and buffers, a shared one under its first name only.
        path: of the checkpoint, for the message.

    Raises:
        FolderError: the model has other tensors.
    """
    expected = unshared(model)
    _refuse_unfit(path, {name: tensor.shape for name, tensor in stored.items()}, expected)
    for name, tensor in expected.items():
        if tensor.is_floating_point() != stored[name].is_floating_point():
            raise _unfit(path, name)
    with torch.no_grad():
        for name, tensor in expected.items():
            tensor.copy_(stored[name])


def _refuse_unfit(path: Path, shapes: Mapping[str, Sequence[int]], expected: Mapping[str, Tensor]) -> None:
    """Raise unless names and shapes of stored tensors are the expected ones."""
    wrong = sorted(shapes.keys() ^ expected.keys()) or [
        name for name, tensor in expected.items() if list(tensor.shape) != list(shapes[name])
    ]
    if wrong:
        raise _unfit(path, wrong[0])


def _unfit(path: Path, name: str) -> FolderError:
    return FolderError(
        f"{path}: the weights do not fit regard.json, first at {name!r}; the files belong to different models, so copy "
        "the whole folder again"
    )


def _migrate(document: Document, content: dict[str, Any], number: int) -> dict[str, Any]:
    """A document of some format in the present one."""
    for old in range(number, FORMAT):
        content = MIGRATIONS[old](document, content)
    return content


def read_log(folder: Path) -> list[dict[str, Any]]:
    """The rows of a run's training log; none if it has no log.

    A last line that a killed run left unfinished is skipped, and so is any other that is not a row.

    Raises:
        FolderError: it cannot be read.
        DataError: a line is not UTF-8, or too long.
    """
    for number, name in {FORMAT: LOG, **_OLD_LOGS}.items():
        path = folder / name
        if not path.exists():
            continue
        try:
            check_regular(path)
        except OSError as error:
            raise FolderError(f"{path}: cannot be read ({error}); remove it") from error
        rows = []
        for line in read_file(path):
            try:
                row = parse_json(line)
            except ValueError:
                continue
            if isinstance(row, dict) and type(row.get("update")) is int and isinstance(row.get("event"), str):
                rows.append(_migrate("log", row, number))
        return rows
    return []


class _SkipSampling(TorchFunctionMode):
    """Leaves weights unsampled: the device ``meta`` has none, and torch would import its compiler to say so."""

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Call the function, unless it is one that samples in place."""
        given = kwargs or {}
        if getattr(function, "__name__", "") in ("normal_", "uniform_"):
            return args[0] if args else given["tensor"]
        return function(*args, **given)


def _read_sizes(sizes: Any, names: Sequence[str]) -> dict[str, int]:
    """The sizes of ``regard.json``: a whole number above 0 for each name."""
    if not isinstance(sizes, dict):
        raise ValueError(f"the sizes are {sizes!r:.60}")
    for name in names:
        if type(sizes[name]) is not int or not 0 < sizes[name] < 2**31:
            raise ValueError(f"the size {name!r} is {sizes[name]!r:.60}")
    return {name: sizes[name] for name in names}


def _read_labels(labels: Any, number: int) -> tuple[str, ...]:
    """The labels of ``regard.json``: as many different texts as the model has outputs."""
    if not isinstance(labels, list) or not all(isinstance(label, str) for label in labels):
        raise ValueError(f"the labels are {labels!r:.60}")
    if not len(set(labels)) == len(labels) == number:
        raise ValueError(
            f"{len(labels)} labels, {len(set(labels))} of them different, for a model of {number}"
        )
    return tuple(labels)


def read_options(path: Path) -> dict[str, Any]:
    """Read a configuration file; a model folder's ``train.toml`` of an older format gets the present names.

    Raises:
        ConfigError: the file is missing or is not TOML.
        FolderError: it is in a model folder that is damaged or newer than this package.
    """
    options = read_toml(path)
    if path.name != "train.toml" or not (path.parent / "regard.json").exists():
        return options
    description = ModelFolder(path.parent)._read_description()
    return _migrate("options", options, description["format"])


def _checksum(path: Path) -> str:
    return f"{zlib.crc32(read_whole(path, MAX_TOKENIZER_BYTES)):08x}"


def unshared(model: nn.Module) -> dict[str, Tensor]:
    """Parameters by name, a shared one under its first name only; then the buffers, which are measured."""
    return {**dict(model.named_parameters(remove_duplicate=True)), **dict(model.named_buffers())}
