"""The figure, the table and the remarks of the experiment on forgetting.

In: its numbers. Out: a drawing with its caption, a table, remarks. Nothing is measured here.
"""

import math
from collections.abc import Mapping
from statistics import fmean
from typing import Any

from regard.lab.bench import Drawing, Grid
from regard.output.pictures.curves import Curve, Mark, Panel, draw_curves

_LEARNT = 80.0
"""Percent recalled: who has as much has learnt the task, and nothing is to be explained."""


def draw_forgetting(numbers: Mapping[str, Any]) -> list[Drawing]:
    """Accuracy against delay: a curve for each cell, and one for the best guess without keys."""
    delays, sizes = numbers["delays"], numbers["sizes"]
    curves = []
    for name, spreads in numbers["accuracy"].items():
        low = [max(each["mean"] - each["deviation"], 0.0) for each in spreads]
        high = [min(each["mean"] + each["deviation"], 100.0) for each in spreads]
        curves.append(Curve(name, delays, [each["mean"] for each in spreads], low, high))
    curves.append(Curve("the line’s commonest value", delays, numbers["guess"]))
    panel = Panel(
        curves,
        x_label="delay (later pairs between the pair asked for and the question)",
        y_label="values recalled (%)",
        y_range=(0, 112),
        marks=[
            Mark(numbers["guess among all"], "guess among all values", axis="y"),
            Mark(sizes["most"] - 0.5, "longer than learnt", axis="x"),
        ],
    )
    caption = (
        f"How often a value is recalled, against how many pairs came after its own; {sizes['test']:,} lines a delay, "
        f"mean of {sizes['seeds']} trainings and one standard deviation either way. A cell forgets where its curve "
        "falls towards what the commonest value of the line gives, the best guess without keys."
    )
    return [Drawing("delays", caption, draw_curves([panel]))]


def tabulate_forgetting(numbers: Mapping[str, Any]) -> list[Grid]:
    """A row for each cell: what it is made of, and what it recalls after no, the most learnt and the most pairs."""
    sizes = numbers["sizes"]
    asked = sizes["test"] * sizes["seeds"]
    shown = [0, sizes["most"] - 1, sizes["farthest"] - 1]

    def written(percent: float) -> str:
        return f"{percent:.1f} ± {math.sqrt(percent * (100 - percent) / asked):.1f}"

    grid = Grid(
        f"Values recalled (%), with the binomial standard error of {asked:,} questions.",
        ["cell", "state", "parameters", "rate", *(f"delay {delay}" for delay in shown)],
        [
            [
                name,
                str(sizes["state"]),
                f"{numbers['parameters'][name]:,}",
                f"{numbers['cells'][name]['rate']:g}",
                *(written(spreads[delay]["mean"]) for delay in shown),
            ]
            for name, spreads in numbers["accuracy"].items()
        ],
    )
    return [grid]


def remark_forgetting(numbers: Mapping[str, Any], lead: float) -> list[str]:
    """What else the numbers say: who did not forget but never learnt, and at what price the past is kept.

    Args:
        numbers: of the experiment.
        lead: points of accuracy, the difference that counts.
    """
    most = numbers["sizes"]["most"]
    last, longer = most - 1, slice(most // 2, most)
    means = {name: [each["mean"] for each in spreads] for name, spreads in numbers["accuracy"].items()}
    guess = numbers["guess"][last]
    stuck = [name for name in means if means[name][last] < guess + lead]
    remarks = []
    if stuck:
        remarks.append(
            f"After {last} later pairs the commonest value of the line, which takes no key to say, is right "
            f"{guess:.0f} % of the time. Not {lead:.0f} points above that: {', '.join(stuck)}. Such a cell may keep "
            "some of the values but not which key each belonged to; then it has not learnt in so short a training to "
            "bind the two, which is more than to forget one of them. A longer training may help it (--full)."
        )
    lstm, lstmn = (fmean(means[name][longer]) for name in ("LSTM", "LSTMN"))
    if lstmn - lstm < lead and lstmn < _LEARNT:
        remarks.append(
            "Why the LSTMN may learn this slowly: it has no road from one step to the next but through its attention. "
            "To bind a value to its key it must first learn to look at the slot just written, and nothing in the value "
            "says which key that was. In the SimpleRNN’s form h_t is compared with all states up to itself and mostly "
            "finds itself, so the last state comes along unasked."
        )
    remarks.append(
        "What is compared is memory by a state of fixed size against memory by a tape: a self-attentive cell of the "
        "same state keeps all its past states and looks through them at each word, so it pays for what it does not "
        "forget with room and time that grow with the line (see cost)."
    )
    return remarks
