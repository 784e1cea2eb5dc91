"""What other toolkits need to run on a Python and a torch newer than they know, and to put out as many words as others.

In: nothing. Out: nothing, but the standard library or torch behaves as it used to, or a toolkit's search ends where it
is told to. Changed in memory, never on disk. Imported by `stopwatch` in a peer's own environment, so it knows neither
Regard nor this package.
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


def joeynmt_full_length() -> None:
    """Let every output be as long as it may be (joeynmt 2.3.0 has a least length and does not hand it on)."""
    from joeynmt import prediction  # type: ignore[import-not-found]  # in its own environment

    search = prediction.search

    def search_to_the_end(*arguments: Any, **options: Any) -> Any:
        return search(*arguments, **{**options, "min_output_length": options["max_output_length"]})

    prediction.search = search_to_the_end


def yoyodyne_full_length() -> None:
    """Let every output be as long as it may be (yoyodyne 0.5.27 has no least length): the end is never likely."""
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
"""By the name `commands` asks for them."""
