"""The only place that meets Lightning Fabric: device, precision and processes of a run; and the memory it reuses.

In: a configuration. Out: a Fabric for the device of this process, connected to the others. On a CPU, glibc is set to
keep freed memory: otherwise it returns a block above 32 MB to the system as soon as it is freed, and the system clears
every page of the next one, although each update needs tensors of the same sizes as the one before. That costs some
percent of an update's time.
"""

import ctypes
import logging
from typing import Any

import torch

from regard.device import find_device
from regard.errors import ConfigError
from regard.processes import ALONE, Processes
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


def build_fabric(config: TrainingConfig, processes: Processes = ALONE) -> Any:
    """Build a Fabric for the device of this process.

    Args:
        config: names device and precision.
        processes: those that train together, whose connection is made here.

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
    precision = _PRECISIONS[config.precision]
    if processes.world_size == 1:
        return Fabric(accelerator=device, devices=1, precision=precision)
    return _connected_fabric(Fabric, device, precision, processes)


def _connected_fabric(fabric_class: Any, device: str, precision: Any, processes: Processes) -> Any:
    """Build a Fabric whose processes are connected.

    Raises:
        ConfigError: the machines have not the same number of processes, or this one has too few GPUs.
    """
    from lightning.fabric.strategies.ddp import DDPStrategy

    class SummedByUpdate(DDPStrategy):
        """Leaves gradients to `update`, which sums them over the union of all batches.

        DistributedDataParallel averages instead, and needs a gradient of every parameter and the same number of
        backward passes in each process; here a process may have no sentence of a batch, or halve one.
        """

        def setup_module(self, module: Any) -> Any:
            return module

    per_machine, world_size = processes.local_world_size, processes.world_size
    if world_size % per_machine:
        raise ConfigError(
            f"{per_machine} of {world_size} processes are on this machine; start the same number on each"
        )
    if device == "cuda" and per_machine > torch.cuda.device_count():
        raise ConfigError(
            f"{per_machine} processes on this machine, and {torch.cuda.device_count()} GPUs; start one process per GPU "
            "(torchrun --nproc-per-node), or choose --device cpu"
        )
    processes.connect()
    fabric = fabric_class(
        accelerator=device,
        devices=per_machine,
        num_nodes=world_size // per_machine,
        strategy=SummedByUpdate(),
        precision=precision,
    )
    fabric.launch()
    return fabric
