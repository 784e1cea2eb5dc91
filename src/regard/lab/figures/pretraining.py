"""The figure, the table and the remarks of the experiment on pre-training.

In: its numbers. Out: a drawing with its caption, a table, remarks. Nothing is measured here.
"""

from collections.abc import Mapping
from typing import Any

from regard.lab.bench import Drawing, Grid
from regard.lab.measures.before_and_after import AFTER, BEFORE, gains, means
from regard.lab.measures.spread import Spread
from regard.output.pictures.curves import Curve, Mark, Panel, draw_curves

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
