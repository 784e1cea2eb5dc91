"""A trained model on disk: plain formats, a format number, no pickled classes.

    regard.json              format, task, the model's configuration, sizes, labels, checksums
    NAME.tokenizer.json      source and target of a translator, text of the other tasks
    best.safetensors         the weights that did best on the validation set, with facts about them
    last.safetensors         the weights of the last checkpoint

Each file is written as a whole or not at all. Loading does not guess: a folder that is missing, damaged, foreign
or newer than this package is an error that says so. What else a run leaves beside these (journal, report,
configuration) is for people and for `regard show`; translating reads none of it.
"""

import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import safetensors
import safetensors.torch
import torch
from torch import Tensor, nn

from regard.config import Config, one_of
from regard.errors import CheckpointError, ConfigError, DataError, FolderError
from regard.io import make_folder, write_whole, write_whole_text
from regard.tasks import TASKS
from regard.text import Tokenizer
from regard.version import __version__

FORMAT = 2
"""Raised whenever an older package could not read what this one writes."""

WEIGHTS = ("best", "last")


@dataclass(frozen=True)
class LoadedModel:
    """A model folder's content, ready for use.

    Attributes:
        task: what the model is for.
        model: in evaluation mode.
        tokenizers: by name: ``source`` and ``target``, or ``text``.
        labels: the closed set of answers, in the order of their ids; empty for a task without.
        facts: what was known of these weights when they were written: update, scores, …
        sizes: what the model is as wide as, by name.
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
            task: what the model is for, one of `TASKS`.
            config: the model's.
            tokenizers: by name.
            sizes: what the model is as wide as, by name; see `TaskSpec.build`.
            labels: the closed set of answers, for a task that has one.

        Raises:
            DataError: the folder cannot be written.
        """
        make_folder(self.path)
        try:
            for name, tokenizer in tokenizers.items():
                tokenizer.save(self._tokenizer_path(name))
        except OSError as error:
            raise DataError(
                f"{self.path}: cannot be written ({error.strerror or error}); make room, or choose another folder"
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
        tensors = {key: value.detach().cpu().contiguous() for key, value in _unshared(model).items()}
        content = safetensors.torch.save(tensors, {"facts": json.dumps(facts)})
        try:
            write_whole(self.path / f"{name}.safetensors", lambda file: file.write(content))
        except DataError as error:
            raise CheckpointError(f"checkpoint not saved: {error}; the one before it is untouched") from error

    @property
    def task(self) -> str:
        """What the model is for; its weights are not read.

        Raises:
            FolderError: missing, damaged, foreign, or newer than this package.
        """
        return str(self._description()["task"])

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
        found = description["task"]
        if task is not None and found != task:
            raise FolderError(
                f"{self.path}: a model for {TASKS[found].purpose}; name one for {TASKS[task].purpose}"
            )
        try:
            sizes = {str(name): int(size) for name, size in description["sizes"].items()}
            tokenizers = {
                name: self._tokenizer(name, sizes, description) for name in description["checksums"]
            }
            labels = tuple(str(label) for label in description.get("labels", ()))
            config = TASKS[found].model_config().from_mapping(description["model"], "model")
            with torch.random.fork_rng(
                devices=[]
            ):  # weights are drawn to be overwritten; no one's seed is spent
                model = TASKS[found].build(config, sizes)
        except (ConfigError, KeyError, TypeError, ValueError, AttributeError) as error:
            raise FolderError(
                f"{self.path / 'regard.json'}: damaged: {error}; copy or train the model again"
            ) from error
        facts = self._read_weights(weights, model)
        return LoadedModel(found, model.eval(), tokenizers, labels, facts, sizes)

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
        if description["checksums"][name] != _checksum(path):
            raise FolderError(
                f"{path}: not the tokenizer this model was trained with; copy the whole folder again"
            )
        return tokenizer

    def _description(self) -> dict[str, Any]:
        path = self.path / "regard.json"
        if not self.path.is_dir():
            raise FolderError(f"{self.path}: no such model folder; `regard train` makes one")
        try:
            description = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise FolderError(
                f"{self.path}: no model folder of Regard, for it has no regard.json; name one that `regard train` made"
            ) from None
        except (OSError, ValueError) as error:
            raise FolderError(f"{path}: damaged: {error}; copy or train the model again") from error
        if not isinstance(description, dict) or not isinstance(description.get("format"), int):
            raise FolderError(
                f"{path}: it has no format number, so it is not Regard's; name a folder that `regard train` made"
            )
        if description["format"] > FORMAT:
            raise FolderError(
                f"{path}: written in format {description['format']} by Regard {description.get('regard')}; "
                f"this is Regard {__version__}, which reads up to format {FORMAT}: upgrade it"
            )
        if description["format"] < FORMAT:
            raise FolderError(
                f"{path}: written in format {description['format']} by Regard {description.get('regard')}, before its "
                f"first release; this is Regard {__version__}, which reads format {FORMAT}: train the model again"
            )
        if description.get("task") not in TASKS:
            raise FolderError(
                f"{path}: damaged: no task {description.get('task')!r}; copy or train the model again"
            )
        return description

    def _read_weights(self, weights: str, model: nn.Module) -> dict[str, Any]:
        path = self.path / f"{weights}.safetensors"
        expected = _unshared(model)
        try:
            with safetensors.safe_open(path, framework="pt") as file:
                facts: dict[str, Any] = json.loads((file.metadata() or {}).get("facts", "{}"))
                stored = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
        except FileNotFoundError:
            there = [name for name in WEIGHTS if (self.path / f"{name}.safetensors").exists()]
            remedy = f"there are weights named {there[0]!r}" if there else "the training has saved none yet"
            raise FolderError(f"{path}: no such weights; {remedy}") from None
        except (safetensors.SafetensorError, OSError, ValueError) as error:
            raise FolderError(f"{path}: damaged: {error}; copy or train it again") from error
        wrong = sorted(stored.keys() ^ expected.keys()) or [
            name for name in expected if expected[name].shape != stored[name].shape
        ]
        if wrong:
            raise FolderError(
                f"{path}: the weights do not fit regard.json, first at {wrong[0]!r}; the files belong to "
                "different models, so copy the whole folder again"
            )
        with torch.no_grad():
            for name, tensor in expected.items():
                tensor.copy_(stored[name])
        return facts


def _checksum(path: Path) -> str:
    return f"{zlib.crc32(path.read_bytes()):08x}"


def _unshared(model: nn.Module) -> dict[str, Tensor]:
    """Parameters by name, a shared one under its first name only; then what is measured and not learnt."""
    return {**dict(model.named_parameters(remove_duplicate=True)), **dict(model.named_buffers())}


def language_model_of(folder: str) -> LoadedModel:
    """The trained language model that another model is to begin as.

    Raises:
        FolderError: the folder holds none.
    """
    return ModelFolder(folder).load(task="language_model")
