"""Work of many requests → batches for a model, within a latency budget and a bounded queue.

In: `Work`, the texts of one request, whose options say what it can share a batch with. Out: its results, in order. One
thread computes, for all models: a model's step uses all cores, and two at a time would only wait for each other. While
it is busy, texts gather; when it is idle, a text waits for others, at most `milliseconds` and for no more than the
batch before had: a client that is alone is not delayed. A batch takes one text of
each request in turn, so that a small request does not wait for a large one, and groups of other options take turns. If
a batch fails, its texts are computed one by one: an error concerns the request that it belongs to. Knows neither HTTP
nor tasks.
"""

import asyncio
import math
import time
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Protocol

from regard.device import use_threads
from regard.errors import RegardError
from regard.server.config import Batching
from regard.server.metrics import Metrics

_MEMORY = 0.8  # of the mean time of a text, from batch to batch
_LONGEST_RETRY = 60

Watch = Callable[[int, Any], None]
"""The place of a text, and what there is of its result."""


class Compute(Protocol):
    """What computes a batch."""

    def __call__(self, items: Sequence[Any], numbers: Sequence[int], watch: Watch | None) -> Sequence[Any]:
        """One result for each item.

        Args:
            items: those of a batch.
            numbers: of each item in its request, from 1, for messages.
            watch: where given, called with the place of an item in this batch and a partial result.
        """
        ...


class OverloadedError(RegardError):
    """The queue is full.

    Attributes:
        retry_after: in seconds, when there may be space in it.
    """

    def __init__(self, message: str, retry_after: int) -> None:
        super().__init__(message)
        self.retry_after = retry_after


@dataclass(eq=False)
class Work:
    """The texts of one request.

    Attributes:
        model: the name of the model, for metrics.
        operation: what is done with them, for metrics.
        key: work of equal keys can share a batch.
        compute: what computes a batch of them.
        items: at least one.
        watch: where given, called in the event loop with the index of an item and a partial result, then with its
            index and its `Done`.
        results: of the items, as far as there are.
        ended: of all of them, or the first error.
    """

    model: str
    operation: str
    key: Hashable
    compute: Compute
    items: Sequence[Any]
    watch: Watch | None = None
    results: list[Any] = field(init=False)
    ended: "asyncio.Future[list[Any]]" = field(init=False)
    arrived: float = field(init=False, default_factory=time.monotonic)
    taken: int = field(init=False, default=0)
    finished: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        self.results = [None] * len(self.items)
        self.ended = asyncio.get_running_loop().create_future()

    @property
    def waiting(self) -> int:
        """Items that no batch has taken; none of a request that has ended."""
        return 0 if self.ended.done() else len(self.items) - self.taken

    def finish(self, index: int, result: Any) -> None:
        """Keep the result of an item, or end with its error."""
        if self.ended.done():
            return
        if isinstance(result, Exception):
            self.ended.set_exception(result)
            return
        self.results[index] = result
        self.finished += 1
        if self.watch is not None:
            self.watch(index, Done(result))
        if self.finished == len(self.items):
            self.ended.set_result(self.results)


@dataclass(frozen=True)
class Done:
    """The whole result of an item, where `Work.watch` receives it."""

    result: Any


Member = tuple[Work, int]
"""An item of a batch: whose it is, and its index there."""


class Batcher:
    """Gathers work and computes it; `start` and `stop` it in the event loop that submits to it.

    Args:
        options: the size of a batch and how long a text waits for one.
        queue: the most texts that wait.
        metrics: where batches are counted.
        threads: of the computation; 0 for as many as this process may use.
    """

    def __init__(self, options: Batching, queue: int, metrics: Metrics, threads: int = 0) -> None:
        self._options, self._queue, self._metrics = options, queue, metrics
        self._thread = ThreadPoolExecutor(1, "regard-compute", lambda: use_threads(threads or None))
        self._groups: dict[Hashable, deque[Work]] = {}
        self._arrival: asyncio.Event | None = None
        self._task: asyncio.Task[None] | None = None
        self._seconds_per_text = 0.0
        self._last_size = 0  # of the batch before

    def start(self) -> None:
        """Begin to compute."""
        self._arrival = asyncio.Event()
        self._task = asyncio.get_running_loop().create_task(self._compute_batches())

    async def stop(self) -> None:
        """End; whatever still waits is cancelled, and the batch that is being computed ends first."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
            self._task = None
        for group in self._groups.values():
            for work in group:
                work.ended.cancel()
        self._groups.clear()
        await asyncio.get_running_loop().run_in_executor(None, self._thread.shutdown)

    @property
    def running(self) -> bool:
        """Whether work is computed."""
        return self._task is not None and not self._task.done()

    @property
    def waiting(self) -> int:
        """Texts that no batch has taken."""
        return sum(work.waiting for group in self._groups.values() for work in group)

    def submit(self, work: Work) -> None:
        """Queue some work; await `Work.ended`, and cancel it where the result is not needed any more.

        Raises:
            OverloadedError: the queue has no space for it.
        """
        waiting = self.waiting
        if waiting + len(work.items) > self._queue:
            seconds = min(max(1, math.ceil(waiting * self._seconds_per_text)), _LONGEST_RETRY)
            raise OverloadedError(
                f"{waiting} texts are waiting, and {len(work.items)} more are too many; try again in {seconds} s",
                seconds,
            )
        self._groups.setdefault(work.key, deque()).append(work)
        assert self._arrival is not None, "the batcher was started"
        self._arrival.set()

    async def _compute_batches(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            batch = await self._next_batch()
            if not batch:
                continue
            started = time.monotonic()
            results = await loop.run_in_executor(self._thread, self._compute, batch, loop)
            self._count(batch, time.monotonic() - started)
            for (work, index), result in zip(batch, results, strict=True):
                work.finish(index, result)

    async def _next_batch(self) -> list[Member]:
        """Wait until there is a batch to compute; empty where its requests have ended in the meantime."""
        assert self._arrival is not None, "the batcher was started"
        while not self._groups:
            self._arrival.clear()
            await self._arrival.wait()
        key, group = next(iter(self._groups.items()))
        until = group[0].arrived + self._options.milliseconds / 1000
        expected = min(self._last_size, self._options.texts)
        while self._size(group) < expected and (left := until - time.monotonic()) > 0:
            self._arrival.clear()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._arrival.wait(), left)
        batch: list[Member] = []
        while group and len(batch) < self._options.texts:
            work = group.popleft()
            if work.waiting:
                batch.append((work, work.taken))
                work.taken += 1
                if work.waiting:
                    group.append(work)
        self._last_size = len(batch)
        del self._groups[key]
        if group:  # behind the others
            self._groups[key] = group
        return batch

    def _size(self, group: deque[Work]) -> int:
        return sum(work.waiting for work in group)

    def _compute(self, batch: Sequence[Member], loop: asyncio.AbstractEventLoop) -> list[Any]:
        """Compute a batch, on the thread for it; an exception in place of each result that could not be computed."""

        def watch(place: int, partial: Any) -> None:
            work, index = batch[place]
            if work.watch is not None:
                loop.call_soon_threadsafe(work.watch, index, partial)

        items = [work.items[index] for work, index in batch]
        watched = any(work.watch is not None for work, _ in batch)
        try:
            numbers = [index + 1 for _, index in batch]
            return list(batch[0][0].compute(items, numbers, watch if watched else None))
        except Exception as error:
            if len(batch) == 1:
                return [error]
        return [result for member in batch for result in self._compute([member], loop)]

    def _count(self, batch: Sequence[Member], seconds: float) -> None:
        work, _ = batch[0]
        model, operation, metrics = work.model, work.operation, self._metrics
        metrics.count("regard_batches_total", 1, model=model, operation=operation)
        metrics.count("regard_texts_total", len(batch), model=model, operation=operation)
        metrics.observe("regard_batch_seconds", seconds, model=model, operation=operation)
        metrics.observe("regard_batch_texts", len(batch), model=model, operation=operation)
        new = seconds / len(batch)
        old = self._seconds_per_text
        self._seconds_per_text = new if not old else _MEMORY * old + (1 - _MEMORY) * new
