import pytest
import torch
from benchmarks.scaling import (
    DEFAULT_PLAN,
    Sizes,
    exponents,
    language_model_step,
    peak_allocated,
    translation_step,
)

from benchmarks import scaling


def tensors(batch):
    """The tensors of a batch, in the order of its fields."""
    return [value for value in vars(batch).values() if isinstance(value, torch.Tensor)]


def test_exponents_of_generated_times_are_recovered():
    sizes = [8, 16, 32, 64, 128]
    for power in (0.0, 1.0, 2.0, 1.5):
        clean = [3e-4 * size**power for size in sizes]
        noisy = [[2.0 * second for second in clean], clean, clean]  # one round in three disturbed
        result = exponents(sizes, noisy)
        assert result["exponent"] == pytest.approx(power, abs=1e-9)
        assert result["seconds"] == clean
        assert result["high"] == pytest.approx([2 * second for second in clean])
        assert result["low"] == clean


def test_each_size_doubles_four_times_from_its_smallest():
    assert DEFAULT_PLAN.values("Tx") == [8, 16, 32, 64, 128]
    assert set(DEFAULT_PLAN.smallest) == {"Tx", "Ty", "n", "B", "V"}


def test_peak_memory_is_the_maximum_held_at_once():
    def work() -> None:
        first = torch.zeros(1000, 100)
        del first
        second = torch.zeros(2000, 100)
        third = torch.zeros(500, 100)
        del second, third

    assert peak_allocated(work) == pytest.approx(4 * 250_000, rel=0.01)


def test_a_step_trains_on_exactly_the_given_lengths(monkeypatch):
    shapes = []

    def update(fabric, model, optimizer, batches, loss, *, clip):
        shapes.append([tuple(x.shape) for x in vars(batches[0]).values() if isinstance(x, torch.Tensor)])
        assert torch.isfinite(loss(batches[0]))
        assert clip == 5.0

    monkeypatch.setattr(scaling, "update", update)
    sizes = Sizes(Tx=3, Ty=4, n=6, B=2, V=11, m=5)
    translation_step(sizes, "luong")()
    language_model_step(sizes, "lstmn")()
    assert shapes == [[(2, 3), (2, 3), (2, 4), (2, 4), (2, 4)], [(2, 4)] * 3]
