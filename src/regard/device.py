"""The device and the number of threads to compute with.

In: what the user chose, or nothing. Out: a device that this machine has; the threads of this process.
"""

import os
from pathlib import Path

import torch

from regard.config import in_range, one_of
from regard.errors import ConfigError

DEVICES = ("auto", "cpu", "cuda")
"""The allowed names; ``auto`` is a GPU where there is one."""


def find_device(name: str) -> str:
    """Find the device that a name means on this machine.

    Args:
        name: one of `DEVICES`.

    Raises:
        ConfigError: the name is unknown, or this machine has no such device.
    """
    one_of("device", name, DEVICES)
    if name == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    if name == "cuda" and not torch.cuda.is_available():
        raise ConfigError("device: no GPU that torch can use is on this machine; choose cpu, or auto")
    return name


_QUOTAS = (Path("/sys/fs/cgroup/cpu.max"), Path("/sys/fs/cgroup/cpu/cpu.cfs_quota_us"))
_MAX_THREADS = 1024  # OpenMP crashes where a machine cannot have them
_PERIOD = Path("/sys/fs/cgroup/cpu/cpu.cfs_period_us")


def use_threads(number: int | None = None) -> int:
    """Set the number of threads of this process, and return it.

    By default it is torch's own choice, but at most the number of processors this process may use: torch counts those
    of the machine, and in a container with a share of it the threads would wait for each other.

    Args:
        number: from 1 to 1,024; None for the default.

    Raises:
        ConfigError: a number out of range.
    """
    if number is None:
        number = max(1, min(torch.get_num_threads(), allowed_processors()))
    in_range("threads", number, 1, _MAX_THREADS)
    torch.set_num_threads(number)
    return number


def allowed_processors() -> int:
    """The number of processors this process may use: by its affinity, and by its container's share rounded up."""
    affinity = getattr(os, "sched_getaffinity", None)
    processors = len(affinity(0)) if affinity is not None else os.cpu_count() or 1
    return min(processors, _share() or processors)


def _share() -> int | None:
    """The container's share in processors, rounded up; None where nothing limits it."""
    for path in _QUOTAS:
        try:
            quota, *rest = path.read_text(encoding="ascii").split()
            period = int(rest[0] if rest else _PERIOD.read_text(encoding="ascii"))
            if quota not in ("max", "-1"):
                return max(1, -(-int(quota) // period))
        except (OSError, ValueError):
            continue
    return None
