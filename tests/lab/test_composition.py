"""The experiment on composed steps: derivatives by hand, shares by counting, its verdict on made-up numbers."""

import json

import pytest
import torch

from regard.lab.composition import (
    REGISTERED,
    TOOLKIT,
    CompositionSizes,
    _cell_network,
    follow,
    measure,
    shares,
    tanh_network,
    verdict,
)
from regard.lab.runner import Bench
from regard.lab.runner.experiment import HELD, IN_PART, NOT_DECIDED, NOT_SEEN
from regard.layers import CELLS

TOY = CompositionSizes(
    seeds=2,
    networks=2,
    points=9,
    depth=5,
    size=4,
    radii=(0.5, 2.0),
    shown_radii=(0.5, 2.0),
    shown_depths=(1, 3),
)


def made_up(once=100.0, small=40.0, large=50.0):
    """Two groups of two kinds of network after two steps."""
    parts = {"small": [0.0, small], "large": [0.0, large], "moderate": [once, 100 - small - large]}
    group = {"shares": parts, "median": [1.0, 1.0], "low": [1.0, 1.0], "high": [1.0, 1.0]}
    kinds = ("radius 0.5", "radius 2", *TOOLKIT)
    return {"sizes": {"depth": 2, "radii": (0.5, 2.0)}, "networks": {kind: [group, group] for kind in kinds}}


@pytest.mark.parametrize(
    ("numbers", "word"),
    [
        (made_up(), HELD),
        (made_up(small=90.0, large=5.0), IN_PART),
        (made_up(small=5.0, large=5.0), NOT_SEEN),
        (made_up(once=80.0), NOT_DECIDED),
    ],
)
def test_the_verdict_follows_from_the_shares(numbers, word):
    assert verdict(numbers).word == word


def test_the_toolkits_cells_decide_nothing():
    numbers = made_up()
    for name in TOOLKIT:
        numbers["networks"][name] = made_up(small=0.0, large=0.0)["networks"][name]
    assert verdict(numbers).word == HELD


def test_the_stretch_is_the_quotient_of_small_differences():
    generator = torch.Generator().manual_seed(3)
    step, direction = (
        tanh_network(generator, 2.0, 4),
        torch.randn(4, generator=generator, dtype=torch.float64),
    )
    states, stretches = follow(step, TOY, direction)
    assert states.shape == (5, 9, 4)
    u, small = torch.linspace(-1, 1, 9, dtype=torch.float64), 1e-6

    def after(k, at):
        state = (at.unsqueeze(-1) * direction,)
        for _ in range(k):
            state = step(state)
        return state[0]

    for k in (1, 5):
        torch.testing.assert_close(states[k - 1], after(k, u))
        slope = (after(k, u + small) - after(k, u - small)).norm(dim=-1) / (2 * small)
        torch.testing.assert_close(stretches[k - 1], slope / direction.norm(), rtol=1e-6, atol=1e-9)


def test_shares_are_counted_by_the_registered_factor():
    very = REGISTERED.bounds["very"]
    found = shares(torch.tensor([[1.0, 1.0, 1.0, 1.0], [0.9 / very, 1.1 / very, 0.9 * very, 1.1 * very]]))
    assert found == {"small": [0, 25], "moderate": [100, 50], "large": [0, 25]}


def test_what_is_found_can_be_written_and_drawn(tmp_path):
    finding = measure(Bench(tmp_path, seed=7), TOY)
    assert list(finding.numbers["networks"]) == ["radius 0.5", "radius 2", *TOOLKIT]
    assert [figure.name for figure in finding.figures] == ["functions", "derivatives"]
    json.dumps(finding.numbers)


def test_a_cell_with_a_memory_starts_without_one():
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(7)
        step = _cell_network("lstm", 4)
        torch.manual_seed(7)
        cell = CELLS["lstm"](4, 4).double()
    h = torch.ones(3, 4, dtype=torch.float64)
    expected = cell.step(cell.project(torch.zeros(3, 4).double()), (h, torch.zeros_like(h)))
    for found, wanted in zip(step((h,)), expected, strict=True):
        torch.testing.assert_close(found, wanted)
    torch.testing.assert_close(
        step(step((h,)))[0], cell.step(cell.project(torch.zeros(3, 4).double()), expected)[0]
    )
