"""The figures, the table and the remark of the experiment on reading.

In: its numbers, and how a model read the figure's sentence. Out: drawings with captions, a table, a remark.
Nothing is measured here.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from regard.lab.bench import Drawing, Grid
from regard.lab.measures.relevance import mean_lift
from regard.lab.measures.spread import Spread
from regard.output import Reading
from regard.output.pictures.curves import Curve, Panel, draw_curves


def draw_reading(numbers: Mapping[str, Any], reading: Reading) -> list[Drawing]:
    """The sentence of the paper's figure, word by word, and attention against distance.

    Args:
        numbers: of the experiment.
        reading: of that sentence, by the model of the first seed.
    """
    seeds = numbers["seeds"]
    return [
        Drawing(
            "sentence",
            f"The sentence of the paper’s figure, read by the LSTMN of seed {seeds[0]}, which has not seen it before: "
            "a row a word, the newest red, the words it attended to on blue. Read each row as a question: which of the "
            "words so far does the newest one need?",
            reading.plot(),
        ),
        Drawing(
            "distance",
            "Mean attention against distance for words that belong to the newest word (above) or to the next, which is "
            f"to be predicted (below), and for others at the same steps, over {len(seeds)} models; the shade is one "
            "deviation. If only nearness counted, the two curves of a panel would lie on each other.",
            draw_curves(_panels(numbers["models"]), columns=2),
        ),
    ]


def _panels(models: Sequence[Mapping[str, Any]]) -> list[Panel]:
    def curve(kind: str, of: str, name: str) -> Curve:
        found = [one[kind]["by_distance"][of][name] for one in models]
        spreads = [Spread.of(values) for values in zip(*found, strict=True)]
        mean, low, high = zip(*((each.mean, each.low, each.high) for each in spreads), strict=True)
        return Curve(f"{name} words", range(1, len(mean) + 1), mean, low, high)

    return [
        Panel(
            [curve(kind, of, name) for name in ("relevant", "other")],
            "distance back, words",
            "mean attention",
            f"relevant to the {of} word, {kind}",
            y_range=(0.0, 1.0),
        )
        for of in ("newest", "next")
        for kind in ("trained", "untrained")
    ]


def tabulate_reading(numbers: Mapping[str, Any]) -> list[Grid]:
    """Every lift of every model, with its interval."""

    def cell(found: dict[str, float]) -> str:
        return f"{found['value']:.2f} ({found['low']:.2f}–{found['high']:.2f})"

    rows = [
        [
            f"{one['seed']}",
            kind,
            *(cell(one[kind][by]) for by in ("by_place", "by_word", "offered", "farther", "next")),
            f"{100 * one[kind]['word_before']:.0f} %",
        ]
        for one in numbers["models"]
        for kind in ("trained", "untrained")
    ]
    columns = ["seed", "LSTMN", "same place", "same word", "with a choice", "farther", "next", "word before"]
    grid = Grid(
        "Lift of relevant words with its 95 % interval: against words at the same step and distance; against the same "
        "word there; at the same step and distance, only of words that have something relevant to look at; only "
        "farther back than the word before; and of words that belong to the next word, which is to be predicted. Last, "
        "the share of attention on the word before.",
        columns,
        rows,
    )
    return [grid]


def remark_reading(numbers: Mapping[str, Any]) -> list[str]:
    """What a language model is paid for, and what the lifts leave out."""
    models = numbers["models"]
    before = Spread.of(one["trained"]["word_before"] for one in models).mean
    now, ahead = (mean_lift(models, "trained", by) for by in ("by_place", "next"))
    wins = "what the next word needs" if ahead > now else "the newest word’s own context"
    return [
        "The attention at a word is computed from that word and all before it, and the word after it is then "
        f"predicted. A language model is paid for the prediction alone; here {wins} draws the greater share (a lift of "
        f"{ahead:.2f} for the next word’s context against {now:.2f} for the newest word’s). {100 * before:.0f} % of "
        "the attention is on the word just before: an LSTMN has no other way to take its own last state along, so a "
        "part of what looks like interest in a neighbour is plain memory, and a word with nothing relevant before it, "
        "such as an article, looks there too and counts among the others. Where only words are counted that have "
        f"something relevant to look at, the lift is {mean_lift(models, 'trained', 'offered'):.2f}; farther back than "
        f"the word before it is {mean_lift(models, 'trained', 'farther'):.2f}. Relevance is the "
        "grammar’s: a head, its dependents, a verb’s subject, a pronoun’s noun. Whatever else may help, such as the "
        "criminal when “run” of “on the run” is read, counts as other."
    ]
