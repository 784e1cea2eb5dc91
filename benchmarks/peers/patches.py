"""What other toolkits need to run on a Python and a torch newer than they know; changed in memory, never on disk.

In: nothing. Out: nothing, but the standard library or torch behaves as it used to. Imported by `stopwatch` in a peer's
own environment, so it knows neither Regard nor this package.
"""

import dataclasses
from collections.abc import Callable
from typing import Any


def dataclass_defaults() -> None:
    """Let an instance of a dataclass be the default of a field again (fairseq 0.12.2, hydra 1.0).

    Python 3.11 refuses defaults whose class is not hashable; given a hash by identity they are as harmless, and as
    shared, as they were before.
    """
    examined = dataclasses._get_field  # type: ignore[attr-defined]

    def examine(owner: type, name: str, *rest: Any) -> Any:
        value: Any = getattr(owner, name, None)
        value = value.default if isinstance(value, dataclasses.Field) else value
        kind: Any = type(value)
        if dataclasses.is_dataclass(value) and kind.__hash__ is None:
            kind.__hash__ = object.__hash__
        return examined(owner, name, *rest)

    dataclasses._get_field = examine  # type: ignore[attr-defined]


def whole_checkpoints() -> None:
    """Let `torch.load` read Python objects again unless told not to (fairseq, OpenNMT-py)."""
    import torch

    load = torch.load

    def load_all(*arguments: Any, **options: Any) -> Any:
        return load(*arguments, **{"weights_only": False, **options})

    torch.load = load_all


PATCHES: dict[str, Callable[[], None]] = {
    "dataclass_defaults": dataclass_defaults,
    "whole_checkpoints": whole_checkpoints,
}
"""By the name `commands` asks for them."""
