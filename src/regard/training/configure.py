"""From a preset, a file and flags to one run's configuration."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from regard.configuration import merge, one_of
from regard.errors import ConfigError
from regard.models import DecoderConfig
from regard.models.config import refitted
from regard.training.config import RunConfig
from regard.training.presets import DEFAULTS, PRESETS
from regard.training.presets.preset import Preset, with_decoder


def configure(*layers: Mapping[str, Any], preset: str | None = None) -> RunConfig:
    """A run's configuration: a preset, with layers laid over it in turn.

    A layer may ask for another kind of decoder, or for another energy; what the layers below it say of their own
    alone is then left out.

    Args:
        layers: mappings as a TOML file gives them; the last one wins. A layer may name the ``preset``
            and the ``task``.
        preset: the starting point; by default the one a layer names, or else the task's own.

    Raises:
        ConfigError: an unknown preset, option or value, or a preset that is another task's.
    """
    merged: dict[str, Any] = {}
    for layer in layers:
        merged = merge(refitted(merged, layer), layer)
    named = merged.pop("preset", None)
    task = merged.get("task")
    if task is not None:
        one_of("task", task, RunConfig.variants)
    chosen = preset or named or DEFAULTS[task or "translate"]
    one_of("preset", chosen, PRESETS)
    base = PRESETS[chosen]()
    if task is not None and task != base.get("task", "translate"):
        fitting = [name for name, made in PRESETS.items() if made().get("task", "translate") == task]
        raise ConfigError(
            f"preset {chosen!r} is for the task {base.get('task', 'translate')!r}, and the task is {task!r}; "
            f"choose {' or '.join(fitting)}"
        )
    return RunConfig.from_mapping(merge(refitted(_for_kind(base, merged), merged), merged), "")


def _for_kind(preset: Preset, over: Mapping[str, Any]) -> Preset:
    """The preset without what a decoder of another kind, where one is asked for, has no use for."""
    model = over.get("model")
    decoder = model.get("decoder") if isinstance(model, Mapping) else None
    kind = decoder.get("kind") if isinstance(decoder, Mapping) else None
    if (
        not isinstance(kind, str)
        or kind not in DecoderConfig.variants
        or "decoder" not in preset["model"]
        or kind == preset["model"]["decoder"]["kind"]
    ):
        return preset
    known = {field.name for field in fields(DecoderConfig.variants[kind])}
    kept = {name: value for name, value in preset["model"]["decoder"].items() if name in known}
    return with_decoder(preset, {"model": {"decoder": {"kind": kind, **kept}}})
