"""The batcher without a model: what shares a batch, who waits for whom, and what becomes of errors."""

import asyncio
import threading

import pytest

from regard.errors import DataError
from regard.server.batching import Batcher, Done, OverloadedError, Work
from regard.server.config import Batching
from regard.server.metrics import Metrics


class Doubler:
    """Doubles numbers; records each batch, waits where it is told to, refuses negative ones."""

    def __init__(self, gate=None):
        self.batches, self.gate = [], gate

    def __call__(self, items, numbers, watch):
        if self.gate is not None:
            assert self.gate.wait(30)
        self.batches.append(list(items))
        assert len(items) == len(numbers)
        for place, item in enumerate(items):
            if watch is not None:
                watch(place, f"so far {item}")
            if item < 0:
                raise DataError(f"number {numbers[place]} is negative")
        return [2 * item for item in items]


def batched(scenario, texts=4, milliseconds=20.0, queue=100):
    async def body():
        batcher = Batcher(Batching(texts, milliseconds), queue, Metrics(), 1)
        batcher.start()
        try:
            return await scenario(batcher)
        finally:
            await batcher.stop()

    return asyncio.run(asyncio.wait_for(body(), 60))


def submit(batcher, compute, items, key="same", watch=None):
    work = Work("model", "double", key, compute, items, watch)
    batcher.submit(work)
    return work


def test_requests_of_equal_options_share_a_batch_and_each_gets_its_own():
    compute = Doubler()

    async def scenario(batcher):
        works = [submit(batcher, compute, [n, 10 + n]) for n in range(4)]
        return await asyncio.gather(*(work.ended for work in works))

    assert batched(scenario, texts=8) == [[2 * n, 2 * (10 + n)] for n in range(4)]
    assert len(compute.batches) == 1
    assert sorted(compute.batches[0]) == [0, 1, 2, 3, 10, 11, 12, 13]


def test_other_options_never_share_a_batch():
    compute = Doubler()

    async def scenario(batcher):
        works = [submit(batcher, compute, [n], key=n % 2) for n in range(6)]
        return await asyncio.gather(*(work.ended for work in works))

    assert batched(scenario) == [[2 * n] for n in range(6)]
    assert sorted(map(sorted, compute.batches)) == [[0, 2, 4], [1, 3, 5]]


def test_a_small_request_does_not_wait_for_a_large_one():
    gate, order = threading.Event(), []
    compute = Doubler(gate)

    async def scenario(batcher):
        large = submit(batcher, compute, list(range(100, 120)))
        await asyncio.sleep(0.05)  # its first batch is being computed
        small = submit(batcher, compute, [1])
        for name, work in (("large", large), ("small", small)):
            work.ended.add_done_callback(lambda _, name=name: order.append(name))
        gate.set()
        await asyncio.gather(large.ended, small.ended)

    batched(scenario, milliseconds=0)
    assert order == ["small", "large"]
    assert max(map(len, compute.batches)) == 4


def test_an_error_ends_its_own_request_alone():
    compute = Doubler()

    async def scenario(batcher):
        works = [submit(batcher, compute, items) for items in ([1, 2], [3, -4], [5])]
        return await asyncio.gather(*(work.ended for work in works), return_exceptions=True)

    good, error, last = batched(scenario, texts=8)
    assert (good, last) == ([2, 4], [10])
    assert str(error) == "number 2 is negative"


def test_a_bug_ends_its_own_request_alone():
    def compute(items, numbers, watch):
        return [1 / item for item in items]

    async def scenario(batcher):
        works = [submit(batcher, compute, [item]) for item in (1, 0, 2)]
        return await asyncio.gather(*(work.ended for work in works), return_exceptions=True)

    one, error, two = batched(scenario)
    assert (one, two) == ([1.0], [0.5])
    assert isinstance(error, ZeroDivisionError)


def test_a_full_queue_refuses_and_recovers():
    gate = threading.Event()
    compute = Doubler(gate)

    async def scenario(batcher):
        first = submit(batcher, compute, [0])
        await asyncio.sleep(0.05)  # it is being computed, not waiting
        works = [submit(batcher, compute, [n, n]) for n in range(5)]
        with pytest.raises(OverloadedError, match="10 texts are waiting") as caught:
            submit(batcher, compute, [1])
        assert 1 <= caught.value.retry_after <= 60
        assert batcher.waiting == 10
        gate.set()
        await asyncio.gather(first.ended, *(work.ended for work in works))
        assert batcher.waiting == 0
        return await submit(batcher, compute, [7]).ended

    assert batched(scenario, milliseconds=0, queue=10) == [14]


def test_who_goes_away_is_not_computed():
    gate = threading.Event()
    compute = Doubler(gate)

    async def scenario(batcher):
        first = submit(batcher, compute, [0])
        await asyncio.sleep(0.05)
        gone, stays = submit(batcher, compute, [1, 2]), submit(batcher, compute, [3])
        gone.ended.cancel()
        assert batcher.waiting == 1
        gate.set()
        await asyncio.gather(first.ended, stays.ended)

    batched(scenario, milliseconds=0)
    assert compute.batches == [[0], [3]]


def test_who_watches_sees_parts_and_then_the_result():
    compute, seen = Doubler(), []

    async def scenario(batcher):
        watched = submit(batcher, compute, [5, 6], watch=lambda index, value: seen.append((index, value)))
        other = submit(batcher, compute, [9])
        await asyncio.gather(watched.ended, other.ended)

    batched(scenario)
    assert len(compute.batches) == 1
    assert seen == [(0, "so far 5"), (1, "so far 6"), (0, Done(10)), (1, Done(12))]


def test_a_text_waits_for_as_many_as_the_batch_before_had_and_no_longer_than_its_budget():
    compute = Doubler()
    waits = []

    async def scenario(batcher):
        loop = asyncio.get_running_loop()
        for count, pause in ((1, 0.0), (2, 0.0), (2, 0.05), (1, 0.0), (1, 0.0)):
            started = loop.time()
            works = []
            for n in range(count):
                works.append(submit(batcher, compute, [n]))
                if pause:
                    await asyncio.sleep(pause)
            await asyncio.gather(*(work.ended for work in works))
            waits.append(loop.time() - started)

    batched(scenario, milliseconds=300)
    # alone; together; after a pause, but expected; alone, and one more expected; alone again
    assert compute.batches == [[0], [0, 1], [0, 1], [0], [0]]
    assert max(waits[:3]) < 0.29 <= waits[3]
    assert waits[4] < 0.29


def test_stopping_cancels_what_waits():
    gate = threading.Event()
    compute = Doubler(gate)

    async def scenario(batcher):
        works = [submit(batcher, compute, [n], key=n) for n in range(3)]
        await asyncio.sleep(0.05)
        gate.set()
        await batcher.stop()
        assert not batcher.running
        return [work.ended.cancelled() for work in works[1:]]

    assert batched(scenario, milliseconds=0) == [True, True]
