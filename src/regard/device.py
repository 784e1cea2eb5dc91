"""The device and the number of threads to compute with.

In: what the user chose, or nothing; the model's size and the machine's load. Out: a device that this machine has; the
threads of this process.
"""

import os
import platform
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

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


MAX_THREADS = 1024
"""OpenMP crashes where a machine cannot have them."""
_QUOTAS = (Path("/sys/fs/cgroup/cpu.max"), Path("/sys/fs/cgroup/cpu/cpu.cfs_quota_us"))
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
    in_range("threads", number, 1, MAX_THREADS)
    torch.set_num_threads(number)
    return number


_PROCESSORS = Path("/proc/cpuinfo")


def describe_processor() -> str:
    """The processor's name, and how many of its cores this process may use."""
    name = platform.processor() or platform.machine()
    if _PROCESSORS.exists():
        lines = _PROCESSORS.read_text(encoding="utf-8", errors="replace").splitlines()
        name = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), name)
    cores = allowed_processors()
    return f"{name}, {cores} core{'' if cores == 1 else 's'}"


def allowed_processors() -> int:
    """The number of processors this process may use: by its affinity, and by its container's share rounded up."""
    processors = len(_affinity())
    return min(processors, _share() or processors)


def _affinity() -> set[int]:
    """The processors on which this process may run, by number."""
    affinity = getattr(os, "sched_getaffinity", None)
    return set(affinity(0)) if affinity is not None else set(range(os.cpu_count() or 1))


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


SMALL_MODEL = 200_000
"""Parameters. On two processors a second thread made updates 1.05 to 1.35 times as fast from 300,000 parameters on, and
0.6 to 0.8 times as fast with 80,000 or fewer."""
_STAT = Path("/proc/stat")
_SHORTEST = 0.1  # seconds: the system counts in hundredths


@dataclass(frozen=True)
class ThreadChoice:
    """A number of threads, and why it is that."""

    number: int
    reason: str

    def __str__(self) -> str:
        return f"{self.number} thread{'' if self.number == 1 else 's'}: {self.reason}"


def choose_threads(num_parameters: int, limit: int, processors: int, busy: float) -> ThreadChoice:
    """Choose the number of threads that train a model on a CPU.

    Args:
        num_parameters: of the model.
        limit: the largest number this process may use.
        processors: on which this process may run.
        busy: how many of them other programs keep busy that do not give way; see `ProcessorTimes.busy_with_others`.
    """
    if limit > 1 and num_parameters < SMALL_MODEL:
        return ThreadChoice(1, f"below {SMALL_MODEL:,} parameters, more gain nothing")
    free = max(1, int(processors - busy + 0.5))
    if free < limit:
        return ThreadChoice(
            free, f"programs of equal or higher priority keep {busy:.1f} of {processors} processors busy"
        )
    return ThreadChoice(limit, "as many as this process may use")


def threads_for_training(by_hand: int, num_parameters: int, since: "ProcessorTimes") -> ThreadChoice:
    """The number of threads of a training on a CPU: the one given by hand, or else `choose_threads`.

    Args:
        by_hand: ``training.threads``; 0 for none.
        num_parameters: of the model.
        since: the times when the run began to prepare.
    """
    if by_hand:
        return ThreadChoice(by_hand, "training.threads")
    limit = max(1, min(torch.get_num_threads(), allowed_processors()))
    if os.environ.get("OMP_NUM_THREADS"):
        return ThreadChoice(limit, "OMP_NUM_THREADS")
    return choose_threads(num_parameters, limit, len(_affinity()), since.busy_with_others())


@dataclass(frozen=True)
class ProcessorTimes:
    """How long the processors of this process have worked, in seconds.

    Attributes:
        clock: when this was read.
        total: the work of all programs; of a process that was not started with `nice`, without the work of those that
            were. None where the system does not say it.
        own: the work of this process and its children.
        lower: the work within `total` of each process at a lower priority than this one, by number: it gives way.
    """

    clock: float
    total: float | None
    own: float
    lower: Mapping[int, float] = field(default_factory=dict)

    @classmethod
    def read(cls) -> Self:
        """Read the times of now."""
        own, nice = os.times(), _niceness()
        return cls(time.monotonic(), _worked(nice), sum(own[:4]), _worked_below(nice))

    def busy_with_others(self) -> float:
        """The number of processors that programs of equal or higher priority have kept busy since then.

        A program that ends soon should not decide on the threads of hours: hence no more than the machine's load over
        the last minute. Priority is relative (`nice`): to a training at 10 another at 10 is an equal, to one at 0 it
        gives way.
        """
        try:
            load = os.getloadavg()[0]
        except OSError:
            return 0.0
        if self.total is None or load < 0.5:
            return 0.0
        time.sleep(max(0.0, _SHORTEST - (time.monotonic() - self.clock)))
        now = ProcessorTimes.read()
        if now.total is None:
            return 0.0
        given_way = sum(now.lower[each] - self.lower[each] for each in now.lower.keys() & self.lower.keys())
        busy = (now.total - self.total - (now.own - self.own) - given_way) / (now.clock - self.clock)
        return min(max(0.0, busy), load)


def _niceness() -> int:
    """The priority of this process: 0, and up to 19 for one that gives way."""
    return os.getpriority(os.PRIO_PROCESS, 0) if hasattr(os, "getpriority") else 0


def _worked(nice: int) -> float | None:
    """Seconds of work on the processors of this process: user, system, interrupts; for a nice process nice work too."""
    names = {f"cpu{number}" for number in _affinity()}
    columns = (1, 2, 3, 6, 7) if nice > 0 else (1, 3, 6, 7)
    try:
        lines = [line.split() for line in _STAT.read_text(encoding="ascii").splitlines()]
        ticks = sum(int(line[column]) for line in lines if line and line[0] in names for column in columns)
        return ticks / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError):
        return None


def _worked_below(nice: int) -> dict[int, float]:
    """Seconds of work that `_worked` counts, of each process that can be seen and has a lower priority than `nice`."""
    processors = _affinity()
    found = {}
    for path in _STAT.parent.glob("[0-9]*/stat"):
        try:  # proc(5): the fields from the third on, after the program's name
            cells = path.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
            user, system, its_nice, processor = (int(cells[k - 3]) for k in (14, 15, 19, 39))
        except (OSError, ValueError, IndexError):  # it has ended
            continue
        if its_nice > nice and processor in processors:
            ticks = system if its_nice > 0 >= nice else user + system
            found[int(path.parent.name)] = ticks / os.sysconf("SC_CLK_TCK")
    return found


@contextmanager
def threads_set_to(number: int) -> Iterator[None]:
    """Compute with a number of threads inside the block."""
    before = torch.get_num_threads()
    torch.set_num_threads(number)
    try:
        yield
    finally:
        torch.set_num_threads(before)
