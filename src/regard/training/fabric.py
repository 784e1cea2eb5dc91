"""The only place that meets Lightning Fabric: the device and the precision of a run; and the memory it reuses.

In: a configuration. Out: a Fabric for one device. On a CPU, glibc is set to keep freed memory: otherwise it returns a
block above 32 MB to the system as soon as it is freed, and the system clears every page of the next one, although each
update needs tensors of the same sizes as the one before. That costs some percent of an update's time.
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
    """Make the C library keep freed memory, for this process and from now on.

    Returns:
        Whether that was possible: C libraries other than glibc have no such setting.
    """
    try:
        library = ctypes.CDLL(None)
        library.gnu_get_libc_version  # noqa: B018 (a probe: musl and macOS have none)
        mallopt = library.mallopt
    except (OSError, AttributeError, TypeError):
        return False
    return bool(mallopt(_MMAP_THRESHOLD, _KEPT) and mallopt(_TRIM_THRESHOLD, 2**31 - 1))


_PRECISIONS: dict[str, Any] = {"32": "32-true", "bf16": "bf16-mixed", "16": "16-mixed"}


def build_fabric(config: TrainingConfig) -> Any:
    """Build a Fabric for one device.

    Raises:
        ConfigError: this machine lacks the device, or the device the precision.
    """
    device = find_device(config.device)
    if device == "cpu" and config.precision == "16":
        raise ConfigError('training.precision = "16" needs a GPU; choose bf16 or 32')
    if device == "cpu":
        keep_freed_memory()
    from lightning.fabric import Fabric

    for name in ("lightning", "lightning.fabric", "lightning.pytorch"):
        logging.getLogger(name).setLevel(logging.WARNING)  # they report precision and devices on each run
    return Fabric(accelerator=device, devices=1, precision=_PRECISIONS[config.precision])
