"""Freed memory is kept: an update asks for the same large tensors as the one before it.

glibc hands a block above 32 MB back to the system as soon as it is freed, and the system clears every page of the next
one before it may be written. That costs an update of a translator some percent of its time, for nothing.

Where Lightning Fabric is met: the device and the precision a run computes with.
"""

import ctypes
import logging
from typing import Any

from regard.device import find_device
from regard.errors import ConfigError
from regard.tasks.config import TrainingConfig

# the numbers of glibc's malloc.h
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
_KEPT = 1 << 30  # bytes: larger blocks still come from the system, and go back to it


def keep_freed_memory() -> bool:
    """Ask the C library to keep what is freed, for this process and from now on.

    Returns:
        Whether it could be asked: other C libraries than glibc have no such thing, and are left alone.
    """
    try:
        library = ctypes.CDLL(None)
        library.gnu_get_libc_version  # noqa: B018 (a probe: musl and macOS have none)
        ask = library.mallopt
    except (OSError, AttributeError, TypeError):
        return False
    return bool(ask(_MMAP_THRESHOLD, _KEPT) and ask(_TRIM_THRESHOLD, 2**31 - 1))


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
