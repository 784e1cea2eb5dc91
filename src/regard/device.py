"""Which device a name means, or why it cannot be used here.

How many threads compute: as many as asked for, or as this process may use.
"""

import os
from pathlib import Path

import torch

from regard.config import in_range, one_of
from regard.errors import ConfigError

DEVICES = ("auto", "cpu", "cuda")
"""What may be asked for; ``auto`` is a GPU where there is one."""


def find_device(name: str) -> str:
    """The device to compute on.

    Args:
        name: one of `DEVICES`.

    Raises:
        ConfigError: there is no such device, or none on this machine.
    """
    one_of("device", name, DEVICES)
    if name == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    if name == "cuda" and not torch.cuda.is_available():
        raise ConfigError("device: no GPU that torch can use is on this machine; choose cpu, or auto")
    return name


_QUOTAS = (Path("/sys/fs/cgroup/cpu.max"), Path("/sys/fs/cgroup/cpu/cpu.cfs_quota_us"))
_MOST = 1024  # OpenMP falls where a machine cannot have them
_PERIOD = Path("/sys/fs/cgroup/cpu/cpu.cfs_period_us")


def use_threads(number: int | None = None) -> int:
    """Set the threads of this process, and return how many they are.

    Without a number they are torch's own choice, but no more than the processors this process is allowed: torch counts
    those of the machine, and in a container with a share of it the threads would take turns.

    Args:
        number: from 1 to 1,024; None for a sensible number.

    Raises:
        ConfigError: a number out of range.
    """
    if number is None:
        number = max(1, min(torch.get_num_threads(), allowed_processors()))
    in_range("threads", number, 1, _MOST)
    torch.set_num_threads(number)
    return number


def allowed_processors() -> int:
    """The processors this process may use: by its affinity, and by its container's share rounded up."""
    affinity = getattr(os, "sched_getaffinity", None)
    processors = len(affinity(0)) if affinity is not None else os.cpu_count() or 1
    return min(processors, _share() or processors)


def _share() -> int | None:
    """How many processors' time the container has, rounded up; None where nothing limits it."""
    for path in _QUOTAS:
        try:
            quota, *rest = path.read_text(encoding="ascii").split()
            period = int(rest[0] if rest else _PERIOD.read_text(encoding="ascii"))
            if quota not in ("max", "-1"):
                return max(1, -(-int(quota) // period))
        except (OSError, ValueError):
            continue
    return None
