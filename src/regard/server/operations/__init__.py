"""The operations of the service, by the tasks of `TASKS`: one file per task."""

from pkgutil import resolve_name
from typing import Any

from regard.server.operations.operation import Operation
from regard.tasks import TASKS

__all__ = ["Operation", "operations", "operations_of"]


def operations_of(task: str) -> dict[str, Operation[Any]]:
    """What a model of a task can be used for, by the name of the route."""
    return {name: resolve_name(place) for name, place in TASKS[task].operations.items()}


def operations() -> dict[str, Operation[Any]]:
    """All operations."""
    return {name: operation for task in TASKS for name, operation in operations_of(task).items()}
