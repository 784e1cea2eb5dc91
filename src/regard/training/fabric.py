"""Where Lightning Fabric is met: the device and the precision a run computes with."""

import logging
from typing import Any

from regard.device import find_device
from regard.errors import ConfigError
from regard.training.config import TrainingConfig
from regard.training.memory import keep_freed_memory

_PRECISIONS: dict[str, Any] = {"32": "32-true", "bf16": "bf16-mixed", "16": "16-mixed"}


def build_fabric(config: TrainingConfig) -> Any:
    """A Fabric for one device.

    Raises:
        ConfigError: the device is not on this machine, or does not know the precision.
    """
    device = find_device(config.device)
    if device == "cpu" and config.precision == "16":
        raise ConfigError('training.precision = "16" needs a GPU; choose bf16 or 32')
    if device == "cpu":
        keep_freed_memory()
    from lightning.fabric import Fabric

    for name in ("lightning", "lightning.fabric", "lightning.pytorch"):
        logging.getLogger(name).setLevel(logging.WARNING)  # they tell of precision and devices each time
    return Fabric(accelerator=device, devices=1, precision=_PRECISIONS[config.precision])
