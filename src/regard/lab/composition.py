"""A composition of smooth functions is steep or flat: one step of a recurrence, applied to its own result many times.

Without inputs a recurrence is h_k = f(h_{k−1}). A straight line through the space of states, h_0 = u·a, is followed
through up to a hundred steps, and ∂h_k/∂u is computed along the way: for tanh networks whose recurrent matrix has a
spectral radius below, at and above 1, and for the toolkit's own cells at their initial weights. What decides: how many
of these derivatives are neither very small nor very large after one step, and after a hundred.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from regard.config import Config
from regard.lab.measures.gradients import Quartiles, with_spectral_radius
from regard.lab.measures.statistics import Spread
from regard.lab.runner import (
    Bench,
    CaptionedFigure,
    Check,
    Experiment,
    Finding,
    Table,
    Verdict,
    read_registration,
)
from regard.layers import CELLS
from regard.ops.rnn import rnn_step
from regard.ops.unroll import State
from regard.plots.figures.curves import Curve, Mark, Panel, draw_curves

TOOLKIT = {"RNN": "rnn", "GRU": "gru", "LSTM": "lstm"}
Step = Callable[[State], State]


@dataclass(frozen=True)
class CompositionSizes(Config):
    """The size of the experiment.

    Attributes:
        seeds: groups of networks, each with its own share of derivatives.
        networks: of each radius, and of each cell, in a group.
        points: values of u from −1 to 1.
        depth: the number of steps.
        size: units of a state.
        radii: spectral radii of the recurrent matrices.
        shown_radii: those whose functions are plotted.
        shown_depths: of these functions.
    """

    seeds: int
    networks: int
    points: int
    depth: int
    size: int
    radii: tuple[float, ...]
    shown_radii: tuple[float, ...]
    shown_depths: tuple[int, ...]


REGISTERED = read_registration(__file__, CompositionSizes.from_mapping)


def measure(bench: Bench, sizes: CompositionSizes) -> Finding:
    """Follow the line through every network."""
    seeds = bench.seeds(sizes.seeds)
    measured = bench.starmap(_group, [(seed, sizes) for seed in seeds])
    names = list(measured[0])
    generator = torch.Generator().manual_seed(seeds[0])
    shown = {
        f"{radius:g}": _projected(tanh_network(generator, radius, sizes.size), sizes, seeds[0])
        for radius in sizes.shown_radii
    }
    numbers = {
        "sizes": asdict(sizes),
        "seeds": seeds,
        "networks": {name: [group[name] for group in measured] for name in names},
        "shown": shown,
    }
    return Finding(
        numbers, verdict(numbers), make_figures(numbers), make_tables(numbers), write_remarks(numbers)
    )


def _group(bench: Bench, seed: int, sizes: CompositionSizes) -> dict[str, Any]:
    """For each kind of network the shares of small, moderate and large derivatives by depth, and their quantiles."""
    bench.report(f"group {seed}")
    generator = torch.Generator().manual_seed(seed)
    kinds: dict[str, list[Step]] = {
        f"radius {radius:g}": [tanh_network(generator, radius, sizes.size) for _ in range(sizes.networks)]
        for radius in sizes.radii
    }
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        for name, cell in TOOLKIT.items():
            kinds[name] = [_cell_network(cell, sizes.size) for _ in range(sizes.networks)]
    found = {}
    for name, networks in kinds.items():
        stretches = torch.cat(
            [compose(step, sizes, _direction(generator, sizes.size))[1] for step in networks], dim=1
        )
        low, median, high = np.quantile(stretches.numpy(), (0.05, 0.5, 0.95), axis=1).tolist()
        found[name] = {"shares": shares(stretches), "low": low, "median": median, "high": high}
    return found


def tanh_network(generator: torch.Generator, radius: float, size: int) -> Step:
    """The step h ↦ tanh(U h + b), with a Gaussian U of that spectral radius and a small Gaussian b."""
    U = with_spectral_radius(torch.randn(size, size, generator=generator, dtype=torch.float64), radius)
    b = 0.1 * torch.randn(size, generator=generator, dtype=torch.float64)
    return lambda state: rnn_step(b.expand_as(state[0]), state, U, "tanh")


def _cell_network(name: str, size: int) -> Step:
    """A cell of the toolkit at its initial weights, which reads nothing."""
    cell = CELLS[name](size, size).double().requires_grad_(False)
    projected = cell.project(torch.zeros(1, size, dtype=torch.float64))

    def step(state: State) -> State:
        h, *rest = state
        return cell.step(
            projected.expand(len(h), -1), (h, *(rest or [torch.zeros_like(h)] * (cell.num_parts - 1)))
        )

    return step


def _direction(generator: torch.Generator, size: int) -> Tensor:
    """A line's direction a, of unit length on average in each coordinate."""
    return torch.randn(size, generator=generator, dtype=torch.float64)


def compose(step: Step, sizes: CompositionSizes, direction: Tensor) -> tuple[Tensor, Tensor]:
    """h_k for h_0 = u·a, and ‖∂h_k/∂u‖ / ‖∂h_0/∂u‖, which is how much k steps stretch the line at u.

    Args:
        step: one step of a recurrence; of a cell with several parts h is the first.
        sizes: the points u and the depth.
        direction: a, (n,).

    Returns:
        States (depth, points, n) and stretches (depth, points).
    """
    u = torch.linspace(-1, 1, sizes.points, dtype=torch.float64)
    state: State = (u.unsqueeze(-1) * direction,)
    tangent: State = (direction.expand(sizes.points, -1),)
    states, stretches = [], []
    for _ in range(sizes.depth):
        state, tangent = _push(step, state, tangent)
        states.append(state[0])
        stretches.append(torch.linalg.vector_norm(tangent[0], dim=-1) / direction.norm())
    return torch.stack(states), torch.stack(stretches)


def _push(step: Step, state: State, tangent: State) -> tuple[State, State]:
    """One step, and the derivative of its result in the direction of a tangent.

    The backward pass is linear in v, the gradient it is given, vᵀJ; its derivative by v in the direction t is J t.
    """
    state = tuple(part.detach().requires_grad_() for part in state)
    new = step(state)
    v = tuple(torch.zeros_like(part, requires_grad=True) for part in new)
    back = torch.autograd.grad(new, state, v, create_graph=True)
    return tuple(part.detach() for part in new), torch.autograd.grad(back, v, tangent)


def shares(stretches: Tensor) -> dict[str, list[float]]:
    """Percent of very small, of moderate and of very large derivatives at each depth, from (depth, points)."""
    very = REGISTERED.bounds["very"]
    small, large = stretches < 1 / very, stretches > very
    parts = {"small": small, "moderate": ~small & ~large, "large": large}
    return {name: (100 * part.double().mean(dim=1)).tolist() for name, part in parts.items()}


def _projected(step: Step, sizes: CompositionSizes, seed: int) -> dict[str, Any]:
    """A picture of the composition: one coordinate of h_k, in a random direction, against u."""
    generator = torch.Generator().manual_seed(seed)
    passed, _ = compose(step, sizes, _direction(generator, sizes.size))
    v = _direction(generator, sizes.size)
    return {str(depth): (passed[depth - 1] @ (v / v.norm())).tolist() for depth in sizes.shown_depths}


def pooled(numbers: Mapping[str, Any], part: str, depth: int) -> Spread:
    """A share over the networks of all radii at a depth, in percent, one number per seed."""
    groups = zip(*(each for name, each in numbers["networks"].items() if name not in TOOLKIT), strict=True)
    return Spread.of(np.mean([kind["shares"][part][depth - 1] for kind in group]) for group in groups)


def verdict(numbers: Mapping[str, Any]) -> Verdict:
    """Shares of derivatives over all radii; see `EXPERIMENT.decides`."""
    bounds, depth = REGISTERED.bounds, numbers["sizes"]["depth"]
    once, end = (pooled(numbers, "moderate", k) for k in (1, depth))
    small, large = (pooled(numbers, part, depth) for part in ("small", "large"))
    after = f"after {depth} steps"
    tame = Check.over_seeds(
        "derivatives in between after one step", once.values, "at least", bounds["at_once"], " %"
    )
    checks = [
        Check.over_seeds(
            f"derivatives in between {after}", end.values, "at most", bounds["moderate"], " %", given=tame
        ),
        Check.over_seeds(f"very small {after}", small.values, "at least", bounds["both"], " %", given=tame),
        Check.over_seeds(f"very large {after}", large.values, "at least", bounds["both"], " %", given=tame),
    ]
    radii = numbers["sizes"]["radii"]
    because = (
        f"After one step {once.mean:.0f} % of the derivatives are within a factor of {bounds['very']:.0f} of those at "
        f"the start; {after} {small.mean:.0f} ± {small.half:.0f} % are smaller than that, {large.mean:.0f} ± "
        f"{large.half:.0f} % larger, and {end.mean:.0f} ± {end.half:.0f} % in between (mean and 90 % interval over "
        f"{len(end.values)} groups of networks, spectral radii from {radii[0]:g} to {radii[-1]:g})."
    )
    return Verdict(checks, because)


def make_figures(numbers: Mapping[str, Any]) -> list[CaptionedFigure]:
    """The composed functions themselves, and their derivatives by depth."""
    sizes = numbers["sizes"]
    u = np.linspace(-1, 1, sizes["points"]).tolist()
    functions = [
        Panel(
            [Curve(_steps(int(depth)), u, values) for depth, values in by_depth.items()],
            "u, along a line of start states",
            "v · h(k)" if k == 0 else "",
            title=f"spectral radius {radius}",
        )
        for k, (radius, by_depth) in enumerate(numbers["shown"].items())
    ]
    depths = list(range(1, sizes["depth"] + 1))
    panels = []
    for title, chosen in (("tanh networks", False), ("the toolkit's cells", True)):
        curves = [
            Curve(name, depths, *(_quantile(groups, part) for part in ("median", "low", "high")))
            for name, groups in numbers["networks"].items()
            if (name in TOOLKIT) == chosen
        ]
        marks = [Mark(1.0, "as at the start" if chosen else "", "y")]  # on the left, curves are all around it
        label = "‖∂h(k)/∂u‖, of that at the start"
        panels.append(Panel(curves, "steps k", label, title=title, y_scale="log", marks=marks))
    return [
        CaptionedFigure(
            "functions",
            "One smooth step of a tanh network composed with itself: a coordinate of h after k steps, as a function of "
            "where on a line the network started, each panel with a scale of its own. Small weights make the "
            "composition flat; large ones make a function that is still bounded and smooth, and so steep that a step "
            "of u says nothing about a step of h.",
            draw_curves(functions),
        ),
        CaptionedFigure(
            "derivatives",
            "How much k steps stretch the line: median over networks and points, the band from the 5th to the 95th "
            "percentile. Left, Gaussian recurrent matrices by spectral radius; right, the toolkit’s cells at their "
            "initial weights. Straight lines are powers: a factor for every step.",
            draw_curves(panels),
        ),
    ]


def _steps(depth: int) -> str:
    return f"{depth} step{'s' if depth > 1 else ''}"


def _quantile(groups: Sequence[Mapping[str, Any]], part: str) -> list[float]:
    """A quantile by depth, the median over the groups."""
    return Quartiles.of([group[part] for group in groups]).median


def make_tables(numbers: Mapping[str, Any]) -> list[Table]:
    """The shares of each kind of network in the end."""
    rows = []
    for name, groups in numbers["networks"].items():
        spreads = [
            Spread.of(g["shares"][part][-1] for g in groups) for part in ("small", "moderate", "large")
        ]
        rows.append([name, *(f"{each.mean:.0f} ± {each.half:.0f}" for each in spreads)])
    very = REGISTERED.bounds["very"]
    caption = (
        f"Derivatives after {numbers['sizes']['depth']} steps, in percent, mean and 90 % interval over the groups: "
        f"smaller than 1/{very:.0f} of that at the start, in between, more than {very:.0f} times as large."
    )
    return [Table(caption, ["network", "very small", "in between", "very large"], rows)]


def write_remarks(numbers: Mapping[str, Any]) -> list[str]:
    """What the sentence of the lecture means, and what the toolkit's cells do."""
    ends = {
        name: float(np.mean([group["median"][-1] for group in numbers["networks"][name]])) for name in TOOLKIT
    }
    medians = ", ".join(f"{name} {value:.1e}" for name, value in ends.items())
    return [
        "“Their composition might not be” smooth: a composition of smooth functions is smooth, and so are these. What "
        "is lost is that a small change of u makes a small change of h: where the curve has a slope of thousands, a "
        "gradient step that trusts it goes anywhere.",
        f"The toolkit’s cells start near the border on purpose: median stretch after {numbers['sizes']['depth']} steps "
        f"{medians}. They decide nothing here; `gradients` follows them with inputs, `lag` after training.",
    ]


EXPERIMENT = Experiment(
    name="composition",
    title="Composed with itself",
    claim="“Even if each of these non-linear transformations is smooth. Their composition might not be. The "
    "derivatives through the whole composition will tend to be either very small or very large.”",
    source="“Attention” (lecture 4): “Exploding or Vanishing Product of Jacobians”",
    method="h_k = tanh(U h_{k−1} + b) with Gaussian U of spectral radius ¼, ½, 1, 2 and 4, ten networks of "
    "each in each of three groups, is applied a hundred times to the points of a line h_0 = u·a. ‖∂h_k/∂u‖ over "
    "‖∂h_0/∂u‖ is computed exactly, by automatic differentiation in double precision, at 301 points of each line. The "
    "same is done with the toolkit’s RNN, GRU and LSTM at their initial weights and without inputs.",
    decides=f"Very small and very large mean {REGISTERED.bounds['very']:.0f} times smaller or larger than at the "
    f"start. If after one step at least {REGISTERED.bounds['at_once']:.0f} % of the derivatives are in between (each "
    f"transformation alone is tame), then after a hundred at most {REGISTERED.bounds['moderate']:.0f} % may be, which "
    f"is “tend to be either”; and at least {REGISTERED.bounds['both']:.0f} % must be very small and as many very "
    "large, or one of the two would be missing. Over the networks of all radii together, which are as far "
    "below 1 as above, in logarithms; the toolkit’s cells decide nothing.",
    measure=measure,
    usual=REGISTERED.usual,
    full=REGISTERED.full,
    registration=REGISTERED,
    seconds=50,
)
