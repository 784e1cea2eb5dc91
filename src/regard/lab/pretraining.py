"""A pre-trained language model makes a better classifier.

A small LSTM is trained as a language model on reviews without labels. Classifiers with its shape and its vocabulary are
then trained on few labelled reviews: some start from its initial weights, some from its trained ones. Accuracy on
unseen reviews is plotted against the number of labelled ones. What decides: the gap between the two curves, by
Student's t, and how many labels the pre-training is worth.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from regard.config import Config
from regard.datasets import Example, Sentiment
from regard.lab.measures.baselines import BagOfWords
from regard.lab.measures.statistics import Spread, crossing, spread_curve
from regard.lab.runner import (
    Bench,
    CaptionedFigure,
    Check,
    Experiment,
    Finding,
    Table,
    Verdict,
    read_registration,
    train_for,
)
from regard.plots.figures.curves import Mark, Panel, draw_curves
from regard.tasks.classify.predictor import Classifier
from regard.tasks.language_model.predictor import LanguageModel

BEFORE, AFTER = "before reading", "after reading"
"""What a classifier starts from: the language model before its training or after."""
_NAMES = {BEFORE: "from scratch", AFTER: "pre-trained"}


@dataclass(frozen=True)
class PretrainingSizes(Config):
    """The size of the experiment.

    Attributes:
        unlabelled: reviews for the language model.
        state_size: units of the LSTM, and of its embeddings and the pooling of the classifiers.
        reading: updates of the language model, of 32 reviews each.
        labelled: numbers of labelled reviews, ascending; one in five is held out to choose a learning rate by. In a
            trial with a smaller language model either start was near guessing with 200 and fewer.
        reference: one of them: where the number of labels saved is computed.
        seeds: for each number: which reviews are labelled, the head's weights, the order.
        updates: of each classifier, of 32 reviews each.
        rates: learning rates of the classifiers; of several, the best on what was held out. In a trial of 0.002, 0.006
            and 0.012 the last was best for either start.
        test: test reviews.
    """

    unlabelled: int
    state_size: int
    reading: int
    labelled: tuple[int, ...]
    reference: int
    seeds: int
    updates: int
    rates: tuple[float, ...]
    test: int


REGISTERED = read_registration(__file__, PretrainingSizes.from_mapping)
BOUNDS = REGISTERED.bounds


def measure(bench: Bench, sizes: PretrainingSizes) -> Finding:
    """Train the language model, then classifiers from both starts."""
    most = max(sizes.labelled)
    splits = Sentiment().splits(
        train=sizes.unlabelled + sizes.seeds * most, valid=300, test=sizes.test, seed=bench.seed
    )
    pool, unlabelled = splits.train[: sizes.seeds * most], splits.train[sizes.seeds * most :]
    # at a learning rate of 0 only the vocabulary is learned
    folders = {
        start: bench.train(name, _language_model(sizes, learning_rate, updates), unlabelled, splits.valid)
        for start, name, learning_rate, updates in (
            (BEFORE, "before", 0.0, 1),
            (AFTER, "after", 0.006, sizes.reading),
        )
    }
    seeds = bench.seeds(sizes.seeds)
    classified = iter(
        bench.starmap(
            train_classifier,
            [
                (folders[start], pool[k * most : k * most + count], splits.test, seed, sizes)
                for start, count, (k, seed) in product(folders, sizes.labelled, enumerate(seeds))
            ],
        )
    )
    results = {start: [[next(classified) for _ in seeds] for _ in sizes.labelled] for start in folders}
    positive = sum(example.target == "positive" for example in splits.test) / len(splits.test)
    numbers = {
        "seeds": seeds,
        "labelled": list(sizes.labelled),
        "reference": sizes.reference,
        "accuracy": {
            start: [Spread.of(100 * each["test"] for each in row).to_json() for row in rows]
            for start, rows in results.items()
        },
        "rates": {
            start: [[each["learning_rate"] for each in row] for row in rows]
            for start, rows in results.items()
        },
        "perplexity": {
            start: math.exp(LanguageModel.load(folder).facts["loss"]) for start, folder in folders.items()
        },
        "majority": 100 * max(positive, 1 - positive),
        "bag_of_words": 100 * BagOfWords.fit(pool).accuracy(splits.test),
        "bag_labels": len(pool),
        "updates": {"reading": sizes.reading, "classifying": sizes.updates},
    }
    return Finding(
        numbers, verdict(numbers), make_figures(numbers), make_tables(numbers), write_remarks(numbers)
    )


def _language_model(sizes: PretrainingSizes, learning_rate: float, updates: int) -> dict[str, Any]:
    return {
        "preset": "lstm-lm",
        "model": {"embedding_size": sizes.state_size, "state_size": sizes.state_size, "dropout": 0.0},
        "training": train_for(updates, learning_rate=learning_rate, batch_sentences=32),
    }


def train_classifier(
    bench: Bench,
    start: Path,
    labelled: Sequence[Example],
    test: Sequence[Example],
    seed: int,
    sizes: PretrainingSizes,
) -> dict[str, float]:
    """Train a classifier from a language model at each learning rate; test the best on what was held out."""
    held_out = len(labelled) // 5
    valid, train = labelled[:held_out], labelled[held_out:]
    trials = []
    for learning_rate in sizes.rates:
        with TemporaryDirectory(dir=bench.folder) as scratch:  # these many models are not kept
            folder = replace(bench, folder=Path(scratch)).train(
                f"with {len(labelled):,} labels, {start.name} reading",
                _classifier(start, learning_rate, sizes),
                train,
                valid,
                seed=seed,
            )
            classifier = Classifier.load(folder)
        predicted = classifier.classify([example.source for example in test])
        correct = [each.label == example.target for each, example in zip(predicted, test, strict=True)]
        trials.append(
            (
                classifier.facts["accuracy"],
                -classifier.facts["loss"],
                learning_rate,
                sum(correct) / len(correct),
            )
        )
    _, _, learning_rate, accuracy = max(trials)
    return {"test": accuracy, "learning_rate": learning_rate}


def _classifier(start: Path, learning_rate: float, sizes: PretrainingSizes) -> dict[str, Any]:
    """A classifier with the language model's shape, vocabulary and weights; all layers are trained from the start."""
    return {
        "preset": "classifier-pretrained",
        "pretrained": {"encoder": str(start)},
        "model": {
            "encoder": {"dropout": 0.1},
            "pooling_size": sizes.state_size,
            "hidden_size": 0,
            "dropout": 0.1,
        },
        "training": train_for(
            sizes.updates, learning_rate=learning_rate, unfreeze_every=0.0, batch_sentences=32
        ),
    }


def mean_accuracies(numbers: Mapping[str, Any], start: str) -> list[float]:
    """Accuracy at each number of labels, mean over the seeds."""
    return [each["mean"] for each in numbers["accuracy"][start]]


def gains(numbers: Mapping[str, Any]) -> list[list[float]]:
    """For each number of labels and each seed: the points gained by pre-training on the same labelled reviews."""
    pairs = zip(numbers["accuracy"][BEFORE], numbers["accuracy"][AFTER], strict=True)
    return [
        [b - a for a, b in zip(before["values"], after["values"], strict=True)] for before, after in pairs
    ]


def labels_needed(counts: Sequence[float], accuracies: Sequence[float], accuracy: float) -> float:
    """The number of labels at which a curve first reaches an accuracy, interpolated on a logarithmic axis.

    Args:
        counts: numbers of labelled examples, ascending.
        accuracies: one per count.
        accuracy: to be reached.

    Returns:
        The number of labelled examples; the first count if that is enough already; infinity if the curve never gets
        there.
    """
    if accuracies[0] >= accuracy:
        return float(counts[0])
    log_count = crossing([math.log(count) for count in counts], accuracies, accuracy)
    return math.inf if math.isnan(log_count) else math.exp(log_count)


def verdict(numbers: Mapping[str, Any]) -> Verdict:
    """The gap between the two curves, the labels saved, and a control; see `EXPERIMENT.decides`."""
    labelled, reference = numbers["labelled"], numbers["reference"]
    curves = {start: mean_accuracies(numbers, start) for start in (BEFORE, AFTER)}
    gained = gains(numbers)
    by_seed = Spread.of(math.fsum(row[k] for row in gained) / len(gained) for k in range(len(gained[0])))
    reached = curves[AFTER][labelled.index(reference)]
    needed = labels_needed(labelled, curves[BEFORE], reached)
    saved = min(needed, labelled[-1]) / reference
    checks = [
        Check.over_seeds(
            "points gained by pre-training, mean over all sizes",
            by_seed.values,
            "at least",
            BOUNDS["gain"],
        ),
        Check(
            f"labels a plain classifier needs for what {reference:,} give a pre-trained one",
            saved,
            "at least",
            BOUNDS["labels_saved"],
            " ×",
        ),
        Check(
            f"points lost by pre-training, at {labelled[-1]:,} labels",
            curves[BEFORE][-1] - curves[AFTER][-1],
            "at most",
            BOUNDS["points_lost"],
            control=True,
        ),
    ]
    about = "no more than" if needed <= labelled[0] else "more than" if math.isinf(needed) else "about"
    because = (
        f"Over all sizes the pre-trained classifier is {abs(by_seed.mean):.1f} ± {by_seed.error:.1f} points "
        f"{'ahead' if by_seed.mean >= 0 else 'behind'} (mean and its standard error, {len(by_seed.values)} seeds). "
        f"What it reaches with {reference:,} labelled reviews ({reached:.0f} %) takes the plain one {about} "
        f"{min(needed, labelled[-1]):,.0f}."
    )
    return Verdict(checks, because)


def make_figures(numbers: Mapping[str, Any]) -> list[CaptionedFigure]:
    """Accuracy against labelled reviews."""
    curves = [
        spread_curve(
            _NAMES[start],
            numbers["labelled"],
            [Spread.of(each["values"]) for each in numbers["accuracy"][start]],
        )
        for start in (AFTER, BEFORE)
    ]
    marks = [
        Mark(numbers["bag_of_words"], "bag of words", "y"),
        Mark(numbers["majority"], "always the more frequent label", "y"),
    ]
    panel = Panel(
        curves,
        "labelled reviews",
        "right on unseen reviews, %",
        x_scale="log2",
        y_range=(45, 100),
        marks=marks,
    )
    caption = (
        "Accuracy on unseen reviews against the number of labelled ones, mean over seeds with its 90 % interval. "
        "Both curves are of one model with one vocabulary; they differ in the weights it starts from. The bag of words "
        f"was trained on {numbers['bag_labels']:,} labels. The horizontal distance between the curves is the number of "
        "labels that pre-training saves."
    )
    return [CaptionedFigure("accuracy", caption, draw_curves([panel]))]


def make_tables(numbers: Mapping[str, Any]) -> list[Table]:
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
    caption = "Accuracy in percent: mean ± standard deviation over the seeds; the gain is computed within each seed."
    return [Table(caption, ["labelled reviews", _NAMES[BEFORE], _NAMES[AFTER], "gain, points"], rows)]


def write_remarks(numbers: Mapping[str, Any]) -> list[str]:
    """What the language model can have learned, and what it cannot."""
    perplexity, most = numbers["perplexity"], numbers["labelled"][-1]
    epochs = 32 * numbers["updates"]["classifying"] / (most - most // 5)  # a fifth is held out
    return [
        f"Training took the language model from a perplexity of {perplexity[BEFORE]:,.0f} per word to "
        f"{perplexity[AFTER]:.2f}. In this dataset praise and criticism have the same positions in the same sentences, "
        "so which is which can be learned without labels mainly from sentences of two clauses: after “but” comes the "
        "opposite side, after “and” the same one. That is a small part of a language model’s loss, so it may be "
        "learned late.",
        f"With {numbers['labelled'][0]:,} labels the pre-trained classifier is right on "
        f"{mean_accuracies(numbers, AFTER)[0]:.0f} % of the reviews, guessing on {numbers['majority']:.0f} % and "
        f"counting words, with {numbers['bag_labels']:,} labels, on {numbers['bag_of_words']:.0f} %: labels must still "
        "say which side is called positive and which clause decides. Pre-training may save labels; it cannot replace "
        "them.",
        f"All classifiers are trained for {numbers['updates']['classifying']:,} updates of 32 reviews, which is "
        f"{epochs:.1f} epochs of the {most:,} labelled reviews at the right. Neither curve need have converged there, "
        "and part of a gap may be that one start is faster.",
        "The sizes, the pooling and the learning rate were chosen in trials of other seeds than these.",
    ]


EXPERIMENT = Experiment(
    name="pretraining",
    title="Reading first",
    claim="A classifier pre-trained as a language model is better (our words: the lecture has only the heading and "
    "“This movie is absolutely fantastic !”).",
    source="“Sequence to Sequence Model and Attention”: “Flashback: Pretraining and Fine-tuning”",
    method=(
        "An LSTM is trained on unlabelled reviews as a language model. A classifier with its embedding, its LSTM and "
        "its vocabulary, pooled by attention, is then trained on labelled reviews; all its layers are trained. It "
        "starts from the language model's weights after training, or from the same model's before: so both have the "
        "same vocabulary, and everything else is equal too, the labelled reviews, updates, learning rates and heads. "
        "No labelled or test review was among the unlabelled ones; one labelled review in five is held out, to choose "
        "a learning rate by if there are several. Seeds determine the labelled reviews, the head's weights and the "
        "order; there is one language model. Counting words goes only so far in this dataset (see the bag of words), "
        "since negations and contrasts reverse the sentiment."
    ),
    decides=(
        f"The gap between the two curves, mean over all sizes, must be above {BOUNDS['gain']:g} with all of its 90 % "
        "interval (over labelled sets and heads, since there is one language model); no size is left out, so none is "
        f"chosen. The plain classifier must need at least {BOUNDS['labels_saved']:g} times the labels, interpolated on "
        "the logarithmic axis (if it never gets there, the most labels tried are taken as a lower bound): less would "
        "hardly be worth the training of a language model. And with the most labels nothing may be lost, within "
        f"{BOUNDS['points_lost']:g} point, since the claim mentions no cost; that is a control, which an equal start "
        "would pass."
    ),
    measure=measure,
    usual=REGISTERED.usual,
    full=REGISTERED.full,
    registration=REGISTERED,
    seconds=150,
)
