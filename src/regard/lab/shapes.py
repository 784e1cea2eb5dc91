"""The figure, the table and the remarks of the experiment on shapes.

In: its numbers, by shape. Out: a drawing with its caption, a table, remarks. Nothing is measured here.

One to one, one to many, many to one, many to many: a small recurrent network of each shape, trained and shown.

Each learns a world of its own for some seconds (how is in `regard.lab.measures.shaped`) and is held against what can be
said without a network. What decides: every shape but the first does away with at least half of what its baseline gets
wrong.
"""

from collections.abc import Mapping
from typing import Any

from regard.lab.measures.shaped import NETWORKS, Amount, mended
from regard.lab.runner import Bench, Check, Drawing, Experiment, Finding, Grid, Verdict
from regard.plots.figures import shapes as pictures

_CAPTION = (
    "The lecture's picture of boxes with a test example in each: inputs below, states in the middle, the trained "
    "network's own outputs above. A dashed line feeds an output to the next state; every state that writes sees the "
    "vector, or what the reading ended in, though one arrow stands for all; end marks are left out. The bar is the "
    "score on the test set, the notch the baseline. Which boxes exist is what tells the shapes apart: the cell in the "
    "middle is the same GRU."
)


def draw_shapes(shapes: Mapping[str, Mapping[str, Any]]) -> list[Drawing]:
    """All shapes in one picture, each with an example of its own."""
    shown = [pictures.Shape(name, **_shown(shape)) for name, shape in shapes.items()]
    return [Drawing("shapes", _CAPTION, pictures.draw_shapes(shown))]


def _shown(shape: Mapping[str, Any]) -> dict[str, Any]:
    """What the picture takes: outputs go on where no step reads, and what was meant is said where it was not given."""
    given = " ".join(word for word in shape["outputs"] if word is not None)
    return {
        **shape,
        "fed": None in shape["inputs"],
        "meant": "" if given == shape["meant"] else shape["meant"],
    }


def tabulate_shapes(shapes: Mapping[str, Mapping[str, Any]]) -> list[Grid]:
    """Every network beside its baseline."""
    rows = [
        [
            name,
            of["subtitle"],
            f"{of['measure']} {of['score']:.1f}",
            f"{of['baseline']:.1f} ({of['against']})",
            f"{mended(of['score'], of['baseline']):.0f} %".replace("-", "−"),
        ]
        for name, of in shapes.items()
    ]
    grid = Grid(
        "All shapes on their test sets.", ["shape", "what for what", "network", "baseline", "mended"], rows
    )
    return [grid]


def remark_shapes() -> list[str]:
    """What one step can do, how the last shape is made, and which examples are shown; the same for all numbers."""
    return [
        "One to one is no recurrent network's work: with one step there is no past. It is here as the lecture has "
        "it, and as a measure. Whoever sees a word alone can at best give its most frequent tag, so that table is "
        "its baseline and that of the same task in step; what lies above it there comes from the words before.",
        "The last shape is two of the others: many to one reads, one to many writes, and a state is all that passes "
        "between them. The sentences are short here; of long ones the experiments length and bottleneck tell. The "
        "decoder is the lecture's, which sees that state at every step. Where only its first state knew of the "
        "source, a run of this length, tried once, came no further than word for word (BLEU 28): the shape says what "
        "can be learnt, not how soon.",
        "An example is the first of the test set that is short enough to be drawn (and, for tags, holds a word that "
        "was seen with several); how well the network does on it is not asked.",
    ]


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
