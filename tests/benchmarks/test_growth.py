import pytest
import torch
from benchmarks.growth import USUAL, allocated_at_most, exponents
from benchmarks.step import Sizes, reading, translating


def tensors(batch):
    """Its tensors, in the order of the fields."""
    return [value for value in vars(batch).values() if isinstance(value, torch.Tensor)]


def test_made_up_times_give_the_exponents_they_were_made_with():
    sizes = [8, 16, 32, 64, 128]
    for power in (0.0, 1.0, 2.0, 1.5):
        clean = [3e-4 * size**power for size in sizes]
        noisy = [[2.0 * second for second in clean], clean, clean]  # one round in three disturbed
        found = exponents(sizes, noisy)
        assert found["exponent"] == pytest.approx(power, abs=1e-9)
        assert found["seconds"] == clean
        assert found["high"] == pytest.approx([2 * second for second in clean])
        assert found["low"] == clean


def test_each_size_doubles_four_times_from_its_smallest():
    assert USUAL.grown("Tx") == [8, 16, 32, 64, 128]
    assert set(USUAL.smallest) == {"Tx", "Ty", "n", "B", "V"}
    assert USUAL.base.but("n", 7).n == 7


def test_the_most_that_is_held_at_once_is_told():
    def work() -> None:
        first = torch.zeros(1000, 100)
        del first
        second = torch.zeros(2000, 100)
        third = torch.zeros(500, 100)
        del second, third

    assert allocated_at_most(work) == pytest.approx(4 * 250_000, rel=0.01)


def test_a_step_trains_on_exactly_the_lengths_asked_for(monkeypatch):
    met = []
    from benchmarks import step

    def update(fabric, model, optimizer, batches, learn, *, clip):
        met.append([tuple(tensor.shape) for tensor in tensors(batches[0])])
        assert torch.isfinite(learn(batches[0]))
        assert clip == 5.0

    monkeypatch.setattr(step, "update", update)
    sizes = Sizes(Tx=3, Ty=4, n=6, B=2, V=11, m=5)
    translating(sizes, "luong")()
    reading(sizes, "lstmn")()
    assert met == [[(2, 3), (2, 3), (2, 4), (2, 4), (2, 4)], [(2, 4)] * 3]
