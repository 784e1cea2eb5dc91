"""What several processes share, without starting any; `tests/training/test_processes.py` starts them."""

import pickle
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch

from regard.processes import ALONE, Processes, meet
from regard.tasks.predictor import TooLongError
from regard.training.signals import StoppedTraining


@pytest.mark.parametrize("world_size", [1, 2, 3, 7])
@pytest.mark.parametrize("count", [0, 1, 2, 13])
def test_shares_have_every_item_once(world_size, count):
    shares = [Processes(rank, world_size).share(range(count)) for rank in range(world_size)]
    assert sorted(item for share in shares for item in share) == list(range(count))
    assert max(map(len, shares)) - min(map(len, shares)) <= 1


def test_one_process_exchanges_with_itself():
    assert ALONE.is_first
    assert ALONE.sum(1, 2.5) == ALONE.max(1, 2.5) == [1, 2.5]
    assert (ALONE.broadcast("a"), ALONE.gather("a"), ALONE.on_first(lambda: "a")) == ("a", ["a"], "a")


def test_without_torchrun_there_is_one(monkeypatch):
    monkeypatch.setenv("RANK", "3")
    monkeypatch.setenv("WORLD_SIZE", "4")
    assert Processes.launched() == ALONE


@pytest.mark.parametrize("error", [StoppedTraining(15), TooLongError("a:3: too long", 2)])
def test_errors_cross_to_another_process(error):
    there = pickle.loads(pickle.dumps(error))
    assert (type(there), str(there), vars(there)) == (type(error), str(error), vars(error))


def test_processes_meet_in_a_store_that_dead_ones_have_used():
    """torchrun keeps its store when it starts processes again, and a late one must not be taken for a dead one."""
    store = torch.distributed.HashStore()
    met = []
    for late in (0, 1, 2):  # each attempt finds what the one before it has left
        with ThreadPoolExecutor(3) as pool:

            def arrive(rank, late=late):
                if rank == late:
                    time.sleep(0.1)
                return meet(store, rank, 3)

            names = set(pool.map(arrive, range(3)))
        assert len(names) == 1
        met += names
    assert len(set(met)) == 3
