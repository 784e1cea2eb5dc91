"""The same parameters at every position generalise, a function g_t for each length does not.

Three readers answer which symbol of a line is the marked one: a GRU whose one cell serves every position and every
length, a GRU with a cell of its own at each position, and a network of its own for each length. All are trained on the
same few lines of some lengths, and tested on those lengths and on others. What decides: accuracy on lines of trained
lengths from few examples, and on lengths that no training line had.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor, nn

from regard.config import Config
from regard.lab.measures.gradients import LastStepReader, accuracy, marked_lines, train_reader
from regard.lab.measures.statistics import Spread, spread_curve
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
from regard.layers import CELLS, Embedding, Head
from regard.plots.figures.curves import Mark, Panel, draw_curves

SHARED, BY_POSITION, BY_LENGTH = "shared by all", "a cell per position", "a network per length"
KINDS = (SHARED, BY_POSITION, BY_LENGTH)
Lines = tuple[Tensor, Tensor]


@dataclass(frozen=True)
class SharingSizes(Config):
    """The size of the experiment.

    Attributes:
        seeds: trainings of each reader with each number of lines.
        updates: of each training.
        lines: numbers of training lines, all lengths together, ascending.
        lengths: of the training lines, ascending, as many lines of each.
        longest: the greatest test length; the shortest is that of the training lines.
        test: lines of each length.
        symbols: different symbols, and answers to choose from.
        state: units of states and embeddings.
        rows: lines in a batch, all of one length.
        learning_rate: Adam's.
    """

    seeds: int
    updates: int
    lines: tuple[int, ...]
    lengths: tuple[int, ...]
    longest: int
    test: int
    symbols: int
    state: int
    rows: int
    learning_rate: float


REGISTERED = read_registration(__file__, SharingSizes.from_mapping)


class OwnCells(nn.Module):
    """h_t = f_{θ_t}(x_t, h_{t−1}): a cell of its own at each position, and one head for all lengths.

    Args:
        longest: the number of positions.
        symbols: the number of answers; there are twice as many ids.
        size: of embedding and state.
    """

    def __init__(self, longest: int, symbols: int, size: int) -> None:
        super().__init__()
        self.embedding = Embedding(2 * symbols, size)
        self.cells = nn.ModuleList(CELLS["gru"](size, size) for _ in range(longest))
        self.head = Head(size, symbols)

    def forward(self, ids: Tensor) -> Tensor:
        """Ids (B, T) → logits (B, symbols), at the last position."""
        embedded = self.embedding(ids)  # (B, T, m)
        state = self.cells[0].zero_state(ids.shape[0], embedded)
        for t, x in enumerate(embedded.unbind(dim=1)):
            state = self.cells[t].step(self.cells[t].project(x), state)
        return self.head(state[0])  # type: ignore[no-any-return]


class OwnNetworks(nn.Module):
    """s_T = g_T(x_T, …, x_1): a whole network of its own for each length T, with nothing shared between two.

    Args:
        longest: the greatest length.
        symbols: the number of answers; there are twice as many ids.
        size: of embedding and state.
        seed: of the initial weights.
    """

    def __init__(self, longest: int, symbols: int, size: int, seed: int) -> None:
        super().__init__()
        self.networks = nn.ModuleList(
            LastStepReader(CELLS["gru"], 2 * symbols, symbols, size, attends=False, seed=1000 * seed + T)
            for T in range(longest + 1)
        )

    def forward(self, ids: Tensor) -> Tensor:
        """Ids (B, T) → logits (B, symbols), by the network of length T."""
        return self.networks[ids.shape[1]](ids)  # type: ignore[no-any-return]


def measure(bench: Bench, sizes: SharingSizes) -> Finding:
    """Train every reader with every number of lines and every seed, and test it at every length."""
    seeds = bench.seeds(sizes.seeds)
    arguments = [(kind, count, seed, sizes) for kind in KINDS for count in sizes.lines for seed in seeds]
    measured = iter(bench.starmap(_train_and_test, arguments))
    numbers = {
        "sizes": asdict(sizes),
        "seeds": seeds,
        "lengths": list(range(sizes.lengths[0], sizes.longest + 1)),
        "readers": {
            kind: {str(count): [next(measured) for _ in seeds] for count in sizes.lines} for kind in KINDS
        },
    }
    return Finding(
        numbers, verdict(numbers), make_figures(numbers), make_tables(numbers), write_remarks(numbers)
    )


def build(kind: str, sizes: SharingSizes, seed: int) -> nn.Module:
    """One of the three readers, with initial weights from a seed."""
    if kind == SHARED:
        return LastStepReader(
            CELLS["gru"], 2 * sizes.symbols, sizes.symbols, sizes.state, attends=False, seed=seed
        )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        if kind == BY_POSITION:
            return OwnCells(sizes.longest, sizes.symbols, sizes.state)
        return OwnNetworks(sizes.longest, sizes.symbols, sizes.state, seed)


def training_batches(sizes: SharingSizes, count: int, seed: int) -> Iterator[Lines]:
    """Batches without end, each of one length, from `count` lines that are the same for all readers."""
    generator = torch.Generator().manual_seed(seed)
    each = count // len(sizes.lengths)
    lines = [marked_lines(generator, each, length, sizes.symbols) for length in sizes.lengths]
    while True:
        ids, answers = lines[int(torch.randint(len(lines), (), generator=generator))]
        chosen = torch.randint(each, (sizes.rows,), generator=generator)
        yield ids[chosen], answers[chosen]


def _train_and_test(bench: Bench, kind: str, count: int, seed: int, sizes: SharingSizes) -> dict[str, Any]:
    """Percent right of one reader at each length, and its number of parameters."""
    bench.report(f"{kind}, {count} lines, seed {seed}")
    reader = build(kind, sizes, seed)
    optimizer = torch.optim.Adam(reader.parameters(), lr=sizes.learning_rate)
    train_reader(reader, optimizer, training_batches(sizes, count, seed), updates=sizes.updates, clip=1.0)
    generator = torch.Generator().manual_seed(1_000_000 + bench.seed)
    tests = [
        marked_lines(generator, sizes.test, length, sizes.symbols)
        for length in range(sizes.lengths[0], sizes.longest + 1)
    ]
    return {
        "parameters": sum(parameter.numel() for parameter in reader.parameters()),
        "accuracy": [100 * accuracy(reader, *lines) for lines in tests],
    }


def over_lengths(numbers: Mapping[str, Any], kind: str, count: int, lengths: Sequence[int]) -> Spread:
    """The mean accuracy over some lengths, one number per seed."""
    places = [numbers["lengths"].index(length) for length in lengths]
    models = numbers["readers"][kind][str(count)]
    return Spread.of(sum(model["accuracy"][k] for k in places) / len(places) for model in models)


def groups(numbers: Mapping[str, Any]) -> dict[str, list[int]]:
    """The test lengths: those of training, those between them, and those beyond the longest."""
    trained = list(numbers["sizes"]["lengths"])
    return {
        "trained": trained,
        "between": [
            length for length in numbers["lengths"] if length < trained[-1] and length not in trained
        ],
        "beyond": [length for length in numbers["lengths"] if length > trained[-1]],
    }


def verdict(numbers: Mapping[str, Any]) -> Verdict:
    """Leads of the shared cell at trained lengths and at others; see `EXPERIMENT.decides`."""
    counts, by_group = numbers["sizes"]["lines"], groups(numbers)
    middle, most = counts[len(counts) // 2], counts[-1]
    shortest = over_lengths(numbers, SHARED, most, by_group["trained"][:1])
    learned = Check.over_seeds(
        f"{SHARED}: right at the shortest length, {most:,} lines",
        shortest.values,
        "at least",
        REGISTERED.bounds["learned"],
        " %",
    )
    checks = []
    for kind, group, count in (
        (BY_LENGTH, "trained", middle),
        (BY_LENGTH, "between", most),
        (BY_LENGTH, "beyond", most),
        (BY_POSITION, "trained", middle),
        (BY_POSITION, "beyond", most),
    ):
        shared, own = (over_lengths(numbers, each, count, by_group[group]) for each in (SHARED, kind))
        checks.append(
            Check.over_seeds(
                f"{SHARED} ahead of {kind}, lengths {_name(group)}, {count:,} lines",
                (a - b for a, b in zip(shared.values, own.values, strict=True)),
                "at least",
                REGISTERED.bounds["lead"],
                " points",
                given=learned,
            )
        )
    texts = []
    for kind in KINDS:
        trained = over_lengths(numbers, kind, middle, by_group["trained"]).mean
        between, beyond = (over_lengths(numbers, kind, most, by_group[g]).mean for g in ("between", "beyond"))
        texts.append(f"{kind}: {trained:.0f} %, {between:.0f} % and {beyond:.0f} %")
    return Verdict(
        checks,
        f"At trained lengths from {middle:,} lines, and from {most:,} at lengths between these and beyond them, the "
        f"readers are right in: {'; '.join(texts)} of lines. A guess is right in "
        f"{100 / numbers['sizes']['symbols']:.0f} %.",
    )


def _name(group: str) -> str:
    return {"trained": "of training", "between": "between these", "beyond": "beyond these"}[group]


def make_figures(numbers: Mapping[str, Any]) -> list[CaptionedFigure]:
    """Accuracy against the number of lines, and against the length."""
    counts, by_group = numbers["sizes"]["lines"], groups(numbers)
    guess = Mark(100 / numbers["sizes"]["symbols"], "guess", "y")
    learning = [
        spread_curve(kind, counts, [over_lengths(numbers, kind, n, by_group["trained"]) for n in counts])
        for kind in KINDS
    ]
    lengths = [
        spread_curve(
            kind,
            numbers["lengths"],
            [over_lengths(numbers, kind, counts[-1], [length]) for length in numbers["lengths"]],
        )
        for kind in KINDS
    ]
    panels = [
        Panel(
            learning,
            "training lines, all lengths together",
            "right (%)",
            "at the lengths of training",
            x_scale="log2",
            y_range=(0, 104),
            marks=[guess],
        ),
        Panel(
            lengths,
            "length of the test line",
            "right (%)",
            f"trained on {counts[-1]:,} lines",
            y_range=(0, 104),
            marks=[guess, Mark(by_group["trained"][-1], "longest training line")],
        ),
    ]
    trained = ", ".join(map(str, by_group["trained"]))
    caption = (
        "How often the marked symbol is named, mean over seeds and its 90 % interval. Left, against "
        f"the number of training lines, which have {trained} symbols; right, against the length of the test line. Each "
        "function of its own sees only its share of the lines; a length between two trained ones has a dip where "
        "nothing is shared."
    )
    return [CaptionedFigure("generalization", caption, draw_curves(panels))]


def make_tables(numbers: Mapping[str, Any]) -> list[Table]:
    """Every reader and number of lines, with accuracies by group of lengths."""
    by_group = groups(numbers)
    rows = []
    for kind, by_count in numbers["readers"].items():
        for count, models in by_count.items():
            spreads = [over_lengths(numbers, kind, int(count), lengths) for lengths in by_group.values()]
            cells = [f"{each.mean:.0f} ± {each.half:.0f}" for each in spreads]
            rows.append([kind, f"{models[0]['parameters']:,}", f"{int(count):,}", *cells])
    caption = "Percent right, mean and 90 % interval over seeds, at the lengths of training, between and beyond them."
    return [Table(caption, ["parameters of", "number", "lines", "trained", "between", "beyond"], rows)]


def write_remarks(numbers: Mapping[str, Any]) -> list[str]:
    """What follows by construction, and what does not."""
    return [
        "That a network for a length without training lines knows nothing follows by construction: its parameters are "
        "the initial ones. That is the lecture's argument. What had to be measured is that the shared cell does "
        "better at the trained lengths too, as every line trains it for all positions, and that what it learns is not "
        "bound to these lengths.",
        "A cell per position is the milder form: between two trained lengths its cells are all trained, by the longer "
        "lines, so that nothing is decided there.",
    ]


EXPERIMENT = Experiment(
    name="sharing",
    title="The same parameters at every position",
    claim="“If we define a different function g_t for each possible sequence length, we would not get any "
    "generalization. If the same parameters are used for any sequence length allowing much better generalization "
    "properties.”",
    source="“Attention” (lecture 4): “Parameter sharing”",
    method="A line of symbols out of 8 has one that is marked, anywhere; which one it is has to be said at the end. "
    "GRUs of 32 units: one cell for all positions; a cell of its own at each position; a network of its own for each "
    "length. All see the same batches of 80 to 1,280 training lines of 4, 6, 8, 10 and 12 symbols, for the same "
    "number of updates, and are tested on new lines of 4 to 18.",
    decides="The shared cell must have learned the shortest lines from the most examples "
    f"({REGISTERED.bounds['learned']:.0f} %), or nothing is decided. It must then be at least "
    f"{REGISTERED.bounds['lead']:.0f} points of accuracy ahead of both others: at the lengths of training from the "
    "middle number of lines, where the others may still lack examples, and from the most lines at lengths beyond those "
    "of training; and ahead of the networks by length at lengths between them, where these have no examples.",
    measure=measure,
    usual=REGISTERED.usual,
    full=REGISTERED.full,
    registration=REGISTERED,
    seconds=120,
)
