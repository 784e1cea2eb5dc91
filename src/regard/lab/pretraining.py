"""The figure, the table and the remarks of the experiment on pre-training.

In: its numbers. Out: a drawing with its caption, a table, remarks. Nothing is measured here.

A language model read first makes a better classifier.

A small LSTM reads reviews without labels, as a language model. Classifiers of its shape and its vocabulary then learn
from few labelled reviews: some begin with its weights as they were before it read anything, some with those after.
Accuracy on reviews neither has seen is drawn against the number of labelled ones. The gap between the two curves
decides, by Student's t, and how many labels the reading is worth.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from regard.datasets import Example, Sentiment
from regard.lab.measures.labels_saved import labels_needed
from regard.lab.measures.shaped import BagOfWords
from regard.lab.measures.statistics import AFTER, BEFORE, Spread, critical_t, gains, means, t_of
from regard.lab.runner import Bench, Check, Drawing, Experiment, Finding, Grid, Verdict
from regard.plots.figures.curves import Curve, Mark, Panel, draw_curves
from regard.tasks.classify.predictor import Classifier
from regard.tasks.language_model.predictor import LanguageModel

_NAMES = {BEFORE: "from nothing", AFTER: "pre-trained"}


def draw_pretraining(numbers: Mapping[str, Any]) -> list[Drawing]:
    """Accuracy against labelled reviews."""
    curves = []
    for start in (AFTER, BEFORE):
        spreads = [Spread.of(each["values"]) for each in numbers["accuracy"][start]]
        curves.append(
            Curve(
                _NAMES[start],
                numbers["labelled"],
                [each.mean for each in spreads],
                [each.low for each in spreads],
                [each.high for each in spreads],
            )
        )
    marks = [
        Mark(numbers["bag_of_words"], "bag of words", "y"),
        Mark(numbers["majority"], "always the commoner label", "y"),
    ]
    panel = Panel(
        curves,
        "labelled reviews",
        "right on unseen reviews, %",
        x_scale="log2",
        y_range=(45, 100),
        marks=marks,
    )
    drawing = Drawing(
        "accuracy",
        "Accuracy on unseen reviews against the number of labelled ones, mean and one standard deviation over seeds. "
        "Both curves are of one model with one vocabulary; they differ in the weights it begins with. The bag of words "
        f"learnt from {numbers['bag_labels']:,} labels. How far one curve stands to the left of the other is how many "
        "labels the reading saves.",
        draw_curves([panel]),
    )
    return [drawing]


def tabulate_pretraining(numbers: Mapping[str, Any]) -> list[Grid]:
    """The same in numbers, with the gain."""
    rows = []
    for k, (count, gained) in enumerate(zip(numbers["labelled"], gains(numbers), strict=True)):
        cells = [numbers["accuracy"][start][k] for start in (BEFORE, AFTER)]
        gain = Spread.of(gained)
        rows.append(
            [
                f"{count:,}",
                *(f"{each['mean']:.1f} ± {each['deviation']:.1f}" for each in cells),
                f"{gain.mean:+.1f} ± {gain.deviation:.1f}".replace("-", "−"),
            ]
        )
    grid = Grid(
        "Accuracy in per cent: mean ± standard deviation over the seeds; the gain is of each seed’s own pair.",
        ["labelled reviews", _NAMES[BEFORE], _NAMES[AFTER], "gain, points"],
        rows,
    )
    return [grid]


def remark_pretraining(numbers: Mapping[str, Any]) -> list[str]:
    """What the language model can have learnt, and what it cannot."""
    perplexity = numbers["perplexity"]
    return [
        f"Reading took the language model from a perplexity of {perplexity[BEFORE]:,.0f} a word to "
        f"{perplexity[AFTER]:.2f}. In this world praise and blame stand in the same places of the same sentences, so "
        "which is which can be learnt without labels mainly from sentences of two clauses: after “but” the other side "
        "is heard, after “and” the same one. That is little of a language model’s loss, so it may be learnt late.",
        f"With {numbers['labelled'][0]:,} labels the pre-trained classifier has {means(numbers, AFTER)[0]:.0f} % "
        f"right, where guessing has {numbers['majority']:.0f} % and counting words, with {numbers['bag_labels']:,} "
        f"labels, {numbers['bag_of_words']:.0f} %: labels must still say which side is called positive and which "
        "clause decides. Reading may save labels; it cannot replace them.",
        f"All classifiers learn for {numbers['updates']['classifying']:,} updates of 32 reviews, which is "
        f"{_passes(numbers):.1f} times through the {numbers['labelled'][-1]:,} labelled reviews at the right. "
        "Neither curve need be at its end there, and part of a gap may be that one start learns faster.",
        "The sizes, the pooling and the rate were chosen in trials that looked at the test accuracy of seed 1, so that "
        "its numbers are less untouched than those of the other seeds.",
    ]


def _passes(numbers: Mapping[str, Any]) -> float:
    """How often the most labelled reviews are gone through, a fifth of them held back."""
    most = numbers["labelled"][-1]
    return float(32 * numbers["updates"]["classifying"] / (most - most // 5))


@dataclass(frozen=True)
class Sizes:
    """How much is done."""

    unlabelled: int = 100_000
    """Reviews the language model may read; it goes on until its updates are done."""
    state_size: int = 128
    """Units of the LSTM, and of its embeddings and the pooling of the classifiers."""
    reading: int = 5000
    """Updates of the language model, of 32 reviews each."""
    labelled: tuple[int, ...] = (400, 800, 1600, 3200)
    """Labelled reviews, ascending; one in five is held back to choose a rate by. A trial with a smaller language model
    found either start near guessing with 200 and fewer."""
    reference: int = 800
    """One of them: where it is asked how many labels the reading saves."""
    seeds: int = 3
    """Of each: which reviews are labelled, the head's weights, the order."""
    updates: int = 200
    """Of each classifier, of 32 reviews each."""
    rates: tuple[float, ...] = (0.012,)
    """Of the classifiers; of several, the best on what was held back. In a trial of 0.002, 0.006 and 0.012 the last was
    best for either start."""
    test: int = 1000
    """Reviews to test with."""


USUAL = Sizes()
FULL = replace(
    USUAL,
    reading=20_000,
    labelled=(100, 200, 400, 800, 1600, 3200, 6400),
    seeds=5,
    updates=400,
    rates=(0.003, 0.012),
)


@dataclass(frozen=True)
class Arm:
    """One classifier to be."""

    begins: Path
    """The folder of the language model it begins as."""
    labelled: Sequence[Example]
    test: Sequence[Example]
    seed: int
    sizes: Sizes


def run(bench: Bench) -> Finding:
    """Do the experiment at the bench's size."""
    return find(bench, bench.choose(USUAL, FULL))


def find(bench: Bench, sizes: Sizes) -> Finding:
    """Read, classify, draw and decide."""
    most = max(sizes.labelled)
    splits = Sentiment().splits(
        train=sizes.unlabelled + sizes.seeds * most, valid=300, test=sizes.test, seed=bench.seed
    )
    pool, unlabelled = splits.train[: sizes.seeds * most], splits.train[sizes.seeds * most :]
    # at a rate of 0 nothing is learnt but the vocabulary
    before = bench.train(
        "before", _language_model(sizes, learning_rate=0.0, updates=1), unlabelled, splits.valid
    )
    after = bench.train(
        "after", _language_model(sizes, learning_rate=0.006, updates=sizes.reading), unlabelled, splits.valid
    )
    folders, seeds = {BEFORE: before, AFTER: after}, bench.seeds(sizes.seeds)
    arms = [
        Arm(folders[start], pool[k * most : k * most + count], splits.test, seed, sizes)
        for start, count, (k, seed) in product(folders, sizes.labelled, enumerate(seeds))
    ]
    found = iter(bench.each(classify, arms))
    tried = {start: [[next(found) for _ in seeds] for _ in sizes.labelled] for start in folders}
    positive = sum(example.target == "positive" for example in splits.test) / len(splits.test)
    numbers = {
        "seeds": seeds,
        "labelled": list(sizes.labelled),
        "reference": sizes.reference,
        "accuracy": {
            start: [Spread.of(100 * each["test"] for each in row).to_json() for row in rows]
            for start, rows in tried.items()
        },
        "rates": {
            start: [[each["learning_rate"] for each in row] for row in rows] for start, rows in tried.items()
        },
        "perplexity": {start: _perplexity(folder) for start, folder in folders.items()},
        "majority": 100 * max(positive, 1 - positive),
        "bag_of_words": 100 * BagOfWords.learn(pool).accuracy(splits.test),
        "bag_labels": len(pool),
        "updates": {"reading": sizes.reading, "classifying": sizes.updates},
    }
    drawings, grids = draw_pretraining(numbers), tabulate_pretraining(numbers)
    return Finding(numbers, verdict(numbers), drawings, grids, remark_pretraining(numbers))


def _language_model(sizes: Sizes, *, learning_rate: float, updates: int) -> dict[str, Any]:
    return {
        "preset": "lstm-lm",
        "model": {"embedding_size": sizes.state_size, "state_size": sizes.state_size, "dropout": 0.0},
        "training": {
            "learning_rate": learning_rate,
            "batch_sentences": 32,
            "max_epochs": 0,
            "max_updates": updates,
            "validate_every": updates,
        },
    }


def _perplexity(folder: Path) -> float:
    """Of a language model's word, on the validation reviews."""
    return math.exp(LanguageModel.load(folder).facts["loss"])


def classify(bench: Bench, arm: Arm) -> dict[str, float]:
    """Train a classifier at each rate and test the one that is best on what was held back."""
    held_back = len(arm.labelled) // 5
    valid, train = arm.labelled[:held_back], arm.labelled[held_back:]
    trials = []
    for learning_rate in arm.sizes.rates:
        with TemporaryDirectory(dir=bench.folder) as scratch:  # so many models are not worth keeping
            folder = replace(bench, folder=Path(scratch)).train(
                f"with {len(arm.labelled):,} labels, {arm.begins.name} reading",
                _classifier(arm, learning_rate),
                train,
                valid,
                seed=arm.seed,
            )
            classifier = Classifier.load(folder)
        read = classifier.classify([example.source for example in arm.test])
        right = [each.label == example.target for each, example in zip(read, arm.test, strict=True)]
        trials.append(
            (classifier.facts["accuracy"], -classifier.facts["loss"], learning_rate, sum(right) / len(right))
        )
    _, _, learning_rate, accuracy = max(trials)
    return {"test": accuracy, "learning_rate": learning_rate}


def _classifier(arm: Arm, learning_rate: float) -> dict[str, Any]:
    """A classifier of the language model's shape, words and weights; all layers learn from the first update on."""
    return {
        "preset": "classifier-pretrained",
        "pretrained": {"encoder": str(arm.begins)},
        "model": {
            "encoder": {"dropout": 0.1},
            "pooling_size": arm.sizes.state_size,
            "hidden_size": 0,
            "dropout": 0.1,
        },
        "training": {
            "learning_rate": learning_rate,
            "unfreeze_every": 0.0,
            "batch_sentences": 32,
            "max_epochs": 0,
            "max_updates": arm.sizes.updates,
            "validate_every": arm.sizes.updates,
        },
    }


def verdict(numbers: Mapping[str, Any]) -> Verdict:
    """Hold the two curves against each other."""
    labelled, reference = numbers["labelled"], numbers["reference"]
    curves = {start: means(numbers, start) for start in (BEFORE, AFTER)}
    gained = gains(numbers)
    by_seed = Spread.of(math.fsum(row[k] for row in gained) / len(gained) for k in range(len(gained[0])))
    reached = curves[AFTER][labelled.index(reference)]
    needed = labels_needed(labelled, curves[BEFORE], reached)
    saved = min(needed, labelled[-1]) / reference
    checks = [
        Check(
            "gap between the curves, mean over all sizes, in its standard errors (Student’s t)",
            t_of(by_seed),
            "at least",
            critical_t(len(by_seed.values)),
        ),
        Check(
            f"labels a plain classifier needs for what {reference:,} give a pre-trained one",
            saved,
            "at least",
            2.0,
            " ×",
        ),
        Check(
            f"points lost by reading first, at {labelled[-1]:,} labels",
            curves[BEFORE][-1] - curves[AFTER][-1],
            "at most",
            1.0,
            control=True,
        ),
    ]
    enough = "no more than" if needed <= labelled[0] else "more than" if math.isinf(needed) else "about"
    because = (
        f"Over all sizes the pre-trained classifier is {abs(by_seed.mean):.1f} ± {by_seed.error:.1f} points "
        f"{'ahead' if by_seed.mean >= 0 else 'behind'} (mean and its standard error, {len(by_seed.values)} seeds). "
        f"What it reaches with {reference:,} labelled reviews ({reached:.0f} %) takes the plain one {enough} "
        f"{min(needed, labelled[-1]):,.0f}."
    )
    return Verdict(checks, because)


EXPERIMENT = Experiment(
    name="pretraining",
    title="Reading first",
    claim="A language model read first makes a better classifier (our words: the lecture has the heading and a "
    "sentence, “This movie is absolutely fantastic !”).",
    source="“Sequence to Sequence Model and Attention”: “Flashback: Pretraining and Fine-tuning”",
    method=(
        "An LSTM reads unlabelled reviews as a language model. A classifier with its embedding, its LSTM and its "
        "vocabulary, pooled by attention, then learns from labelled reviews; all of it learns. It begins with the "
        "language model's weights after reading, or with the same model's before reading: so the same words are known "
        "to both, and all else is equal too, the labelled reviews, updates, rates and heads. No labelled or test "
        "review was among the unlabelled ones; one labelled review in five is held back, to choose a rate by where "
        "there are several. Seeds choose the labelled reviews, the head's weights and the order; there is one language "
        "model. Counting words goes only so far in this world (see the bag of words), since denials and contrasts turn "
        "verdicts round."
    ),
    decides=(
        "The gap between the two curves, mean over all sizes, must be further from 0 than chance would have it one "
        "time in twenty (Student’s t, one-sided; over labelled sets and heads, for there is one language model); no "
        "size is left out, so none is chosen. The plain classifier must need at least twice the labels, interpolated "
        "on the logarithmic axis (where it never gets there, the most labels tried are taken for a lower bound): less "
        "would hardly be worth a language model's training. And with the most labels nothing may be lost, within a "
        "point, for the claim knows no price; that is a control, which an equal start would pass."
    ),
    run=run,
    seconds=150,
)
