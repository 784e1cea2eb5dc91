"""What a preset is: a function that returns a plain mapping with every number in sight.

A configuration file and flags are laid over it; see `configure`.
"""

from collections.abc import Mapping
from typing import Any

from regard.configuration import merge

Preset = dict[str, Any]


def with_decoder(preset: Preset, over: Mapping[str, Any]) -> Preset:
    """The preset with another decoder, and whatever else `over` says."""
    del preset["model"]["decoder"]
    return merge(preset, over)
