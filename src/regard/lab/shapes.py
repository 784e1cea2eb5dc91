"""One to one, one to many, many to one, many to many: a small recurrent network of each shape, trained and shown.

Each learns a world of its own for some seconds (how is in `regard.lab.measures.shaped`) and is held against what can be
said without a network. What decides: every shape but the first does away with at least half of what its baseline gets
wrong.
"""

from collections.abc import Mapping
from typing import Any

from regard.lab.bench import Bench, Check, Experiment, Finding, Verdict
from regard.lab.figures.shapes import draw_shapes, remark_shapes, tabulate_shapes
from regard.lab.measures.mended import mended
from regard.lab.measures.shaped import NETWORKS, Amount

Sizes = Mapping[str, Amount]
"""For each shape, how much it learns."""

USUAL: Sizes = {
    "one to one": Amount(examples=10_000, updates=500),
    "one to many": Amount(examples=10_000, updates=700),
    "many to one": Amount(examples=10_000, updates=500),
    "many to many, in step": Amount(examples=10_000, updates=500),
    "many to many": Amount(examples=30_000, updates=1_500),
}
FULL: Sizes = {
    "one to one": Amount(examples=40_000, updates=2_000, test=1_000),
    "one to many": Amount(examples=40_000, updates=4_000, units=192, test=1_000),
    "many to one": Amount(examples=40_000, updates=2_000, test=1_000),
    "many to many, in step": Amount(examples=40_000, updates=2_000, test=1_000),
    "many to many": Amount(examples=100_000, updates=8_000, units=192, test=1_000),
}
_LEAST = 50.0  # per cent of the baseline's errors that a network must do away with
_SHOWN_ONLY = "one to one"  # whose baseline no network can beat


def run(bench: Bench) -> Finding:
    """Train and show all shapes."""
    return find(bench, bench.choose(USUAL, FULL))


def find(bench: Bench, sizes: Sizes) -> Finding:
    """One training a shape; numbers, verdict and figure."""
    shapes = dict(zip(sizes, bench.each(work, list(sizes.items())), strict=True))
    numbers = {"seed": bench.seed, "shapes": shapes}
    return Finding(numbers, verdict(shapes), draw_shapes(shapes), tabulate_shapes(shapes), remark_shapes())


def work(bench: Bench, arm: tuple[str, Amount]) -> dict[str, Any]:
    """Train, score and show one shape: its name, and how much."""
    name, amount = arm
    return NETWORKS[name](bench, amount)


def verdict(shapes: Mapping[str, Mapping[str, Any]]) -> Verdict:
    """The same bound on every shape but the first; see `EXPERIMENT.decides`."""
    checks = [
        Check(
            f"{name}: the baseline's errors mended",
            mended(of["score"], of["baseline"]),
            "at least",
            _LEAST,
            " %",
        )
        for name, of in shapes.items()
        if name != _SHOWN_ONLY
    ]
    told = "; ".join(
        f"{name}: {of['measure']} {of['score']:.1f} ({of['against']}: {of['baseline']:.1f})"
        for name, of in shapes.items()
    )
    return Verdict(checks, f"{told[0].upper()}{told[1:]}.")


EXPERIMENT = Experiment(
    name="shapes",
    title="One to many, many to one, many to many",
    claim="Recurrent networks process sequences of any shape: one to many, many to one, many to many; sequence to "
    "sequence is many to one and one to many together.",
    source="“Attention”: “Recurrent Neural Networks: Process Sequences”, “Sequence to Sequence (seq2seq)”",
    method="A GRU of one layer is trained in each shape: one word to its part of speech, a vector to a description, a "
    "sentence to its mood, words to their parts of speech in step, English to French through one vector. Each is "
    "scored on sentences or scenes kept apart from learning, beside a baseline that counts or looks up but has no "
    "state.",
    decides="Every shape but one to one does away with at least half of what its baseline misses of 100: as far from "
    "the baseline as from perfection is the least that can be called clearly better. Baselines are chosen to be hard "
    "where counting goes far: the votes of all words, each word's most frequent tag, the nearest scene known, word for "
    "word with a dictionary read off gold links. One to one is shown and decides nothing: no network can beat the "
    "table of most frequent tags.",
    run=run,
    seconds=90,
)
