"""The models of a service: opened, used, and replaced while they are in use.

In: entries of the configuration. Out: `ServedModel`s by name. A new version is loaded and used once beside the old one,
and then takes its name; work that was queued before is computed by the version it was queued for. If it cannot be
loaded, the old one stays. Only the folder of the entry is ever read.
"""

import asyncio
import inspect
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from regard.checkpoint import ModelFolder
from regard.errors import ConfigError, RegardError, nearest
from regard.layers import SelfAttentive
from regard.server.config import Limits, ModelEntry
from regard.server.metrics import Metrics
from regard.server.operations import Operation, operations_of
from regard.tasks import TASKS


@dataclass(frozen=True, eq=False)
class ServedModel:
    """A version of a model.

    Attributes:
        name: by which requests name it.
        predictor: the model, ready to be used.
        operations: what it can be used for, by name.
        entry: where it came from; None for a model that was not read from a folder.
        version: 1 for the first, and one more whenever it was replaced.
    """

    name: str
    predictor: Any
    operations: dict[str, Operation[Any]]
    entry: ModelEntry | None = None
    version: int = 1

    def to_json(self) -> dict[str, Any]:
        """What may be known of it; not its folder."""
        predictor = self.predictor
        facts = {name: predictor.facts[name] for name in ("update",) if name in predictor.facts}
        return {
            "name": self.name,
            "task": predictor.task,
            "operations": list(self.operations),
            "version": self.version,
            "num_parameters": predictor.num_parameters,
            "num_models": len(predictor.models),
            "precision": self.entry.precision if self.entry else "float32",
            "shortlist": bool(self.entry and self.entry.shortlist),
            "labels": list(getattr(predictor, "labels", ())),
            "features": list(getattr(predictor, "features", ())),
            "attends_past": any(
                isinstance(module, SelfAttentive) for model in predictor.models for module in model.modules()
            ),
            **facts,
        }


class ModelNotFoundError(RegardError):
    """No model of that name, or none for the operation."""


class Registry:
    """The models by name.

    Args:
        limits: `Limits.length` is the most tokens of a text.
        metrics: where replacements are counted.
        device: where to compute.
    """

    def __init__(self, limits: Limits, metrics: Metrics, device: str = "cpu") -> None:
        self._limits, self._metrics, self._device = limits, metrics, device
        self._models: dict[str, ServedModel] = {}
        self._reloading: dict[str, asyncio.Lock] = {}

    def add(self, name: str, predictor: Any, entry: ModelEntry | None = None) -> ServedModel:
        """Serve a model under a name, in place of the one that had it.

        Raises:
            ConfigError: its task has no operation.
        """
        known = operations_of(predictor.task)
        if not known:
            tasks = ", ".join(task for task, spec in TASKS.items() if spec.operations)
            raise ConfigError(
                f"model {name}: a model for {TASKS[predictor.task].purpose} has no route; serve one of: {tasks}"
            )
        before = self._models.get(name)
        served = ServedModel(name, predictor, known, entry, 1 if before is None else before.version + 1)
        self._models[name] = served
        return served

    def load(self, name: str, entry: ModelEntry) -> ServedModel:
        """Open a folder and serve it under a name.

        Raises:
            RegardError: it cannot be opened, or an option is not one of its task.
        """
        return self.add(name, self._open(name, entry), entry)

    def _open(self, name: str, entry: ModelEntry) -> Any:
        kind = TASKS[ModelFolder(entry.folder).task].predictor()
        given: dict[str, Any] = {"max_length": self._limits.length}
        if entry.precision != "float32":
            given["precision"] = entry.precision
        if entry.shortlist:
            given["shortlist"] = True
        accepted = inspect.signature(kind.__init__).parameters
        for option in ("precision", "shortlist"):
            if option in given and option not in accepted:
                raise ConfigError(
                    f"model {name}: {option} is an option of translators, and {entry.folder} is a model for "
                    f"{TASKS[kind.task].purpose}; leave it out"
                )
        options = {option: value for option, value in given.items() if option in accepted}
        predictor = kind.load(entry.folder, weights=entry.weights, device=self._device, **options)
        self._warm_up(predictor)
        return predictor

    def _warm_up(self, predictor: Any) -> None:
        """Use a model once, so that its first request need not wait for packing and compiling."""
        for operation in operations_of(predictor.task).values():
            for body in operation.examples.values():
                with suppress(
                    RegardError
                ):  # a model with features refuses a plain text; that is computed, too
                    parsed = operation.body.model_validate(body)
                    prepared = operation.prepare(parsed, self._limits)
                    operation.compute(predictor, prepared.options, prepared.items[:1], [1], None)
                    break

    async def reload(self, name: str) -> ServedModel:
        """Read a model's folder again, and replace it; requests are answered by the old one until then.

        Raises:
            ModelNotFoundError: no such model, or it has no folder.
            RegardError: the folder cannot be opened; the old model stays.
        """
        lock = self._reloading.setdefault(self[name].name, asyncio.Lock())
        async with lock:
            entry = self[name].entry
            if entry is None:
                raise ModelNotFoundError(f"model {name!r} was not read from a folder")
            try:
                predictor = await asyncio.get_running_loop().run_in_executor(None, self._open, name, entry)
            except Exception:
                self._metrics.count("regard_reloads_total", model=name, result="failed")
                raise
            self._metrics.count("regard_reloads_total", model=name, result="replaced")
            return self.add(name, predictor, entry)

    def __getitem__(self, name: str) -> ServedModel:
        if name not in self._models:
            raise ModelNotFoundError(f"no model {name!r}; {nearest(name, self._models)}")
        return self._models[name]

    def __len__(self) -> int:
        return len(self._models)

    def names(self) -> list[str]:
        """All names, in the order of the configuration."""
        return list(self._models)

    def choose(self, name: str | None, operation: Operation[Any]) -> ServedModel:
        """The model for a body.

        Args:
            name: as the body has it; None where it has none.
            operation: what it is for.

        Raises:
            ModelNotFoundError: no such model, none for the operation, or several and no name.
        """
        able = [model for model in self._models.values() if operation.suits(model.predictor.task)]
        if name is not None:
            model = self[name]
            if model not in able:
                other = [each.name for each in able]
                raise ModelNotFoundError(
                    f"model {name!r} is for {TASKS[model.predictor.task].purpose}, not for {operation.name}; "
                    + (f"name one of: {', '.join(other)}" if other else "no model here is")
                )
            return model
        if len(able) == 1:
            return able[0]
        if not able:
            raise ModelNotFoundError(f"no model for {operation.name} is served here; see /v1/models")
        raise ModelNotFoundError(f"model: name one of: {', '.join(model.name for model in able)}")
