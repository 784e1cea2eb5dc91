"""A lab experiment of your own: does attention learn to copy sooner than a fixed vector?

Both models are trained on the same lines for the same number of updates, and copy held-out lines. What decides: the
share of lines that each copies without an error.
"""

from dataclasses import dataclass

from regard.datasets import Copy
from regard.lab import EXPERIMENTS
from regard.lab.measures.translations import score_translations
from regard.lab.runner import Bench, CaptionedFigure, Check, Experiment, Finding, Table, Verdict, train_for
from regard.plots.figures.bars import Measure, draw_bars
from regard.tasks.translate.predictor import Translator

PRESETS = {"fixed vector": "rnnencdec-small", "attention": "rnnsearch-small"}
LEAST, MOST = 80.0, 50.0
"""Percent of lines copied: what attention must reach, and what the fixed vector may."""


@dataclass(frozen=True)
class CopySizes:
    """The size of the experiment.

    Attributes:
        train: training lines.
        test: held-out lines.
        updates: of each model.
        units: of embeddings and states.
    """

    train: int
    test: int
    updates: int
    units: int


USUAL = CopySizes(train=4_000, test=100, updates=350, units=32)
FULL = CopySizes(train=40_000, test=1_000, updates=1_000, units=64)


def measure(bench: Bench, sizes: CopySizes) -> Finding:
    """Train both models, in parallel where there are cores, and score their copies."""
    names = list(PRESETS)
    measured = bench.starmap(train_and_copy, [(name, sizes) for name in names])
    numbers = {"seed": bench.seed, "exact_match": dict(zip(names, measured, strict=True))}
    bars = Measure("lines copied (%)", measured, form="{:.0f}", ranging=(0, 100))
    caption = f"Held-out lines copied without an error after {sizes.updates} updates."
    rows = [[name, f"{share:.0f} %"] for name, share in numbers["exact_match"].items()]
    return Finding(
        numbers,
        verdict(numbers["exact_match"]),
        [CaptionedFigure("copies", caption, draw_bars(names, [bars]))],
        [Table(caption, ["model", "lines copied"], rows)],
    )


def train_and_copy(bench: Bench, name: str, sizes: CopySizes) -> float:
    """Percent of held-out lines that one model copies without an error."""
    splits = Copy().splits(train=sizes.train, valid=20, test=sizes.test, seed=bench.seed)
    part = {"embedding_size": sizes.units, "state_size": sizes.units, "dropout": 0.0}
    config = {
        "preset": PRESETS[name],
        "tokenizer": {"source": "word", "target": "word"},
        "model": {"encoder": part, "decoder": {**part, "readout_size": sizes.units}},
        "training": train_for(
            sizes.updates, learning_rate=0.01, warmup=20, label_smoothing=0.0, batch_sentences=32
        ),
    }
    translator = Translator.load(bench.train(name.replace(" ", "-"), config, splits.train, splits.valid))
    copies = translator.translate([line.source for line in splits.test], beam=1)
    return score_translations([copy.text for copy in copies], [line.target for line in splits.test])[
        "exact_match"
    ]


def verdict(exact_match: dict[str, float]) -> Verdict:
    """Both bounds; that the fixed vector fails is no evidence where attention fails too, so it is a control."""
    fixed, attention = exact_match["fixed vector"], exact_match["attention"]
    return Verdict(
        [
            Check("lines copied, attention", attention, "at least", LEAST, " %"),
            Check("lines copied, fixed vector", fixed, "at most", MOST, " %", control=True),
        ],
        f"Attention copies {attention:.0f} % of the lines without an error, the fixed vector {fixed:.0f} %.",
    )


EXPERIMENT = Experiment(
    name="copying",
    title="Attention learns to copy sooner",
    claim="Attention gives every target word a direct path to its source word, so copying is learned sooner.",
    source="“Sequence to Sequence Model and Attention”: “Attention Mechanism”",
    method="RNNencdec and RNNsearch of the same size are trained on the same lines for the same number of updates, and "
    "copy held-out lines by greedy search.",
    decides=f"Attention copies at least {LEAST:.0f} % of the lines, the fixed vector at most {MOST:.0f} %.",
    measure=measure,
    usual=USUAL,
    full=FULL,
    seconds=12,
)

# the one line: from here on `regard lab copying` runs it, and `regard lab all` includes it
EXPERIMENTS["copying"] = __name__


if __name__ == "__main__":
    from regard.cli.app import app

    app(["lab", "copying", "--jobs", "1"])
