"""Patches that other toolkits need on newer versions of Python and torch, and to give outputs of a fixed length.

In: nothing. Out: nothing, but the standard library or torch behaves as in older versions, or a toolkit's search stops
at a fixed length. The changes are in memory, never on disk. `stopwatch` imports this module in a peer's environment, so
it imports neither Regard nor this package.
"""

import dataclasses
from collections.abc import Callable
from typing import Any


def dataclass_defaults() -> None:
    """Let an instance of a dataclass be the default of a field again (fairseq 0.12.2, hydra 1.0).

    Python 3.11 refuses defaults whose class is not hashable; with a hash by identity they are
    accepted, and shared, as before.
    """
    get_field = dataclasses._get_field  # type: ignore[attr-defined]

    def get_field_with_hash(owner: type, name: str, *rest: Any) -> Any:
        value: Any = getattr(owner, name, None)
        value = value.default if isinstance(value, dataclasses.Field) else value
        kind: Any = type(value)
        if dataclasses.is_dataclass(value) and kind.__hash__ is None:
            kind.__hash__ = object.__hash__
        return get_field(owner, name, *rest)

    dataclasses._get_field = get_field_with_hash  # type: ignore[attr-defined]


def whole_checkpoints() -> None:
    """Let `torch.load` load Python objects by default again (fairseq, OpenNMT-py)."""
    import torch

    load = torch.load

    def load_all(*arguments: Any, **options: Any) -> Any:
        return load(*arguments, **{"weights_only": False, **options})

    torch.load = load_all


def joeynmt_full_length() -> None:
    """Make every output as long as the maximum (joeynmt 2.3.0 has a minimum length but does not pass it on)."""
    from joeynmt import prediction  # type: ignore[import-not-found]  # in its own environment

    search = prediction.search

    def search_full_length(*arguments: Any, **options: Any) -> Any:
        return search(*arguments, **{**options, "min_output_length": options["max_output_length"]})

    prediction.search = search_full_length


def yoyodyne_full_length() -> None:
    """Make every output as long as the maximum (yoyodyne 0.5.27 has no minimum length): mask the end symbol."""
    from yoyodyne import special  # type: ignore[import-not-found]  # in its own environment
    from yoyodyne.models import rnn  # type: ignore[import-not-found]

    step = rnn.RNNModel.decode_step

    def step_without_end(self: Any, *arguments: Any, **options: Any) -> Any:
        logits, state = step(self, *arguments, **options)
        if not self.training:
            logits[..., special.END_IDX] = -1e9
        return logits, state

    rnn.RNNModel.decode_step = step_without_end


PATCHES: dict[str, Callable[[], None]] = {
    "dataclass_defaults": dataclass_defaults,
    "whole_checkpoints": whole_checkpoints,
    "joeynmt_full_length": joeynmt_full_length,
    "yoyodyne_full_length": yoyodyne_full_length,
}
"""By the name that `commands` uses."""
