"""Several processes that work as one, started by torchrun: which of them this is, and what they tell each other.

In: the environment that torchrun sets. Out: `Processes`, the few exchanges that training and translating need. All
processes make the same exchanges in the same order; the first one, of rank 0, reads and writes the folder and speaks to
the user. A process that works alone is the first of one: its exchanges return at once, without torch.distributed.
"""

import atexit
import os
import secrets
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Self, TypeVar

from regard.errors import RegardError

if TYPE_CHECKING:
    from torch import Tensor

TIMEOUT = timedelta(minutes=30)
"""How long an exchange waits for a process that does not answer; one that has ended is noticed at once."""
_POLL = 0.02  # seconds

Item = TypeVar("Item")
Result = TypeVar("Result")


class LostProcessError(RegardError):
    """Another process has ended, or does not answer, so that no exchange is possible."""


@dataclass(frozen=True)
class _Raised:
    """What the first process raised instead of a result."""

    error: BaseException


@dataclass(frozen=True)
class Processes:
    """This process among those that work together.

    Attributes:
        rank: its number, from 0.
        world_size: how many there are.
        local_rank: its number on its machine.
        local_world_size: how many there are on its machine.
    """

    rank: int = 0
    world_size: int = 1
    local_rank: int = 0
    local_world_size: int = 1

    @classmethod
    def launched(cls) -> Self:
        """The processes that torchrun started; one alone without it."""
        if "TORCHELASTIC_RUN_ID" not in os.environ:
            return cls()
        names = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE")
        return cls(*(int(os.environ[name]) for name in names))

    @property
    def is_first(self) -> bool:
        """Whether this is the one that writes and speaks."""
        return self.rank == 0

    def __str__(self) -> str:
        return f"process {self.rank} of {self.world_size} on {socket.gethostname()}"

    def connect(self) -> None:
        """Meet the others: gloo exchanges what is on CPUs, NCCL what is on GPUs.

        Raises:
            LostProcessError: one of them does not come.
        """
        if self.world_size == 1:
            return
        import torch

        if torch.cuda.is_available():
            torch.cuda.set_device(self.local_rank % torch.cuda.device_count())
        if not torch.distributed.is_initialized():
            with self._exchange():
                join_group()

    def share(self, items: Sequence[Item]) -> Sequence[Item]:
        """Every n-th item, from this process's own on: the shares of all n processes are the items, each once."""
        return items[self.rank :: self.world_size]

    def sum(self, *values: float) -> list[float]:
        """Sums of numbers over all processes."""
        return self._reduce(values, "SUM")

    def max(self, *values: float) -> list[float]:
        """The largest of each number over all processes."""
        return self._reduce(values, "MAX")

    def _reduce(self, values: Sequence[float], operation: str) -> list[float]:
        if self.world_size == 1:
            return list(values)
        import torch

        reduced = torch.tensor(values, dtype=torch.float64)
        with self._exchange():
            torch.distributed.all_reduce(reduced, getattr(torch.distributed.ReduceOp, operation))
        return reduced.tolist()

    def sum_in_place(self, tensor: "Tensor") -> None:
        """Let a tensor be the sum of all processes' tensors: the same bits everywhere."""
        if self.world_size > 1:
            import torch

            with self._exchange():
                torch.distributed.all_reduce(tensor)

    def copy_from_first(self, tensors: "Iterable[Tensor]") -> None:
        """Overwrite tensors by those of the first process."""
        if self.world_size > 1:
            import torch

            with self._exchange():
                for tensor in tensors:
                    torch.distributed.broadcast(tensor.detach(), 0)

    def broadcast(self, value: Item) -> Item:
        """The value of the first process; its tensors have to be on the CPU."""
        if self.world_size == 1:
            return value
        import torch

        box = [value]
        with self._exchange():
            torch.distributed.broadcast_object_list(box, 0, device=torch.device("cpu"))
        return box[0]

    def gather(self, value: Item) -> list[Item]:
        """The values of all processes, by rank; their tensors have to be on the CPU."""
        if self.world_size == 1:
            return [value]
        import torch

        values: list[Any] = [None] * self.world_size
        with self._exchange():
            torch.distributed.all_gather_object(values, value)
        return values

    def on_first(self, work: Callable[[], Result]) -> Result:
        """Do some work in the first process alone; its result, or its error, is that of all.

        Raises:
            RegardError: the work raised it.
            KeyboardInterrupt: the work was stopped.
        """
        if self.world_size == 1:
            return work()
        outcome: Any = None
        if self.is_first:
            try:
                outcome = work()
            except (RegardError, KeyboardInterrupt) as error:
                outcome = _Raised(error)
        outcome = self.broadcast(outcome)
        if isinstance(outcome, _Raised):
            raise shared(outcome.error)
        return outcome  # type: ignore[no-any-return]

    def on_each(self, work: Callable[[], Result]) -> list[Result]:
        """Do some work in every process; the results, by rank, or the first error, are those of all.

        Raises:
            RegardError: the work raised it.
            KeyboardInterrupt: the work was stopped.
        """
        outcome: Any
        try:
            outcome = work()
        except (RegardError, KeyboardInterrupt) as error:
            if self.world_size == 1:
                raise
            outcome = _Raised(error)
        outcomes = self.gather(outcome)
        for each in outcomes:
            if isinstance(each, _Raised):
                raise shared(each.error)
        return outcomes

    @contextmanager
    def _exchange(self) -> Iterator[None]:
        """Around an exchange: where it fails, another process is lost.

        Raises:
            LostProcessError: it is.
        """
        try:
            yield
        except RuntimeError as error:
            if self.is_first and threading.current_thread() is threading.main_thread():
                # torchrun ends the processes that are left: this one says first what happened
                signal.signal(signal.SIGTERM, signal.SIG_IGN)
            reason = str(error).partition("\n")[0]
            raise LostProcessError(
                f"another of the {self.world_size} processes has ended or does not answer, as its own messages may say "
                f"({reason}); start all of them again, with --resume to go on with a training"
            ) from error


ALONE = Processes()
"""One process."""


def shared(error: BaseException) -> BaseException:
    """An error that every process raises, marked as such."""
    if isinstance(error, RegardError):
        error.is_shared = True
    return error


def join_shares(shares: Sequence[Sequence[Item]]) -> list[Item]:
    """All items in their order, from the shares of all processes, by rank; see `Processes.share`."""
    return [shares[k % len(shares)][k // len(shares)] for k in range(sum(map(len, shares)))]


def join_group() -> None:
    """Join the processes that torchrun started, in one group for tensors on CPUs and on GPUs.

    Raises:
        RuntimeError: one of them does not come.
    """
    import torch
    from torch.distributed.distributed_c10d import PrefixStore
    from torch.distributed.rendezvous import rendezvous

    store, rank, world_size = next(rendezvous("env://", timeout=TIMEOUT))
    torch.distributed.init_process_group(
        "cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo",
        store=PrefixStore(agree_on_name(store, rank, world_size), store),
        rank=rank,
        world_size=world_size,
        timeout=TIMEOUT,
    )
    # gloo's threads hold Python objects of past exchanges; one that frees them while Python ends aborts the process
    atexit.register(leave_group)


def leave_group() -> None:
    """Leave the group, where there is one: its threads end."""
    import torch

    if torch.distributed.is_initialized():
        torch.distributed.destroy_process_group()


def agree_on_name(store: Any, rank: int, world_size: int) -> str:
    """A name that these processes have in common, and none before them.

    torchrun keeps its store when it starts processes again, and torch would look for dead ones at the addresses that
    they left in it; with this name as a prefix, it does not. Each process writes a new name of its own. The first lists
    the names, again and again, until every other process has found its own in the list; only the new first process can
    have put it there, and its name is the one in common.

    Args:
        store: of torch.distributed, which all read and write; it may hold names and lists of processes that have ended.
        rank: the number of this process.
        world_size: how many there are.

    Raises:
        RuntimeError: one of them does not come.
    """
    own, deadline = secrets.token_hex(8), time.monotonic() + TIMEOUT.total_seconds()
    store.set(f"name/{rank}", own)
    others = range(1, world_size)
    while time.monotonic() < deadline:
        if rank == 0:
            names = [store.get(f"name/{other}").decode() for other in others]
            store.set("names", " ".join([own, *names]))
            if store.check([f"{own}/found/{other}" for other in others]):
                return own
        else:
            first, *names = store.get("names").decode().split()
            if own in names:
                store.set(f"{first}/found/{rank}", "")
                return str(first)
        time.sleep(_POLL)
    raise RuntimeError(f"not all {world_size} processes came within {TIMEOUT}")
