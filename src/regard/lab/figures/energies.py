"""The figures, the table and the remarks of the experiment on energies.

In: its numbers, and how the models read one pair. Out: drawings with captions, a table, remarks. Nothing is measured
here.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from regard.lab.bench import Drawing, Grid
from regard.lab.measures.lookup import FORMULAE
from regard.output.alignment import LabelledAlpha
from regard.output.pictures.bars import Measure, draw_bars
from regard.output.pictures.heatmap import HeatMap, sheet
from regard.worlds import Example

_FORMULAE = FORMULAE | {
    "additive": "vᵀ tanh(Wq + Uk)",  # the matrices are not shown here, and need no names of their own
    "concat": "vᵀ tanh(W[q; k])",
    "local-m": "qᵀWk, near word t",
    "local-p": "qᵀWk, near a place predicted",
}


def draw_energies(
    numbers: Mapping[str, Any], without: str, example: Example, shown: Mapping[str, LabelledAlpha]
) -> list[Drawing]:
    """Quality, alignment and time of every attention, above each panel what there is without; and one pair under each.

    Args:
        numbers: of the experiment.
        without: the name of the arm that does not attend.
        example: the pair, with gold links.
        shown: by attention, how it was read.
    """
    return [_scores(numbers, without), _same_pair(example, shown)]


def _scores(numbers: Mapping[str, Any], without: str) -> Drawing:
    kinds, time = numbers["kinds"], numbers["time"]
    names = [name for name in kinds if name != without]

    def panel(score: str, label: str, title: str, ranging: tuple[float, float] | None = None) -> Measure:
        found = [kinds[name][score] for name in names]
        spreads = [each["deviation"] for each in found] if _spread(numbers) else []
        return Measure(label, [each["mean"] for each in found], spreads, title=title, ranging=ranging)

    panels = [
        panel("bleu", "BLEU", f"{without}: {kinds[without]['bleu']['mean']:.1f}", (0, 100)),
        panel(
            "exact_match",
            "exact match (%)",
            f"{without}: {kinds[without]['exact_match']['mean']:.1f}",
            (0, 100),
        ),
        panel("aer", "alignment error rate (%)", f"the diagonal: {numbers['diagonal_aer']:.1f}"),
        Measure(
            "time of an update (dot = 1)",
            [time[name] for name in names],
            form="{:.2f}",
            title=f"{without}: {time[without]:.2f}",
        ),
    ]
    whiskers = (
        f"; whiskers are one standard deviation over {len(numbers['seeds'])} seeds"
        if _spread(numbers)
        else ""
    )
    caption = (
        "BLEU and exact match on held-out sentences, alignment error rate against gold links, and time of an update, "
        f"by attention{whiskers}. Above each panel stands what there is without it. Additive and concat are one "
        "function written in two ways: what lies between them is due to chance and to the numbers they start from."
    )
    return Drawing("scores", caption, draw_bars(names, panels))


def _same_pair(example: Example, shown: Mapping[str, LabelledAlpha]) -> Drawing:
    maps = [
        HeatMap(drawn.alpha, drawn.source_labels, drawn.target_labels, example.gold, name)
        for name, drawn in shown.items()
    ]
    caption = (
        "One held-out pair under each attention, by the models of the first seed: black 0, white 1, boxes are gold "
        "links (broken: possible ones). It is the first pair with as many crossing links as any. If several "
        "similarities will do, the maps are alike; a local window stays black where it may not look."
    )
    return Drawing("sheet", caption, sheet(maps, columns=3))


def tabulate_energies(numbers: Mapping[str, Any]) -> list[Grid]:
    """All scores, with the formulae."""
    rows = []
    for name, scores in numbers["kinds"].items():
        cells = [
            f"{scores[each]['mean']:.1f}"
            + (f" ± {scores[each]['deviation']:.1f}" if _spread(numbers) else "")
            if each in scores
            else "–"
            for each in ("bleu", "exact_match", "aer")
        ]
        formula, rate = _FORMULAE.get(name, "–"), f"{numbers['rates'][name]:g}"
        rows.append([name, formula, rate, *cells, f"{numbers['time'][name]:.2f}"])
    deviation = "Mean and standard deviation over seeds. " if _spread(numbers) else ""
    grid = Grid(
        f"{deviation}Exact match and AER are in percent; the time of an update is in units of dot's.",
        ["attention", "energy of query q and key k", "rate", "BLEU", "exact match", "AER", "time"],
        rows,
    )
    return [grid]


def remark_energies(numbers: Mapping[str, Any], similarities: Sequence[str]) -> list[str]:
    """What Luong found, what the differences can be due to, and how the verdict came about.

    Args:
        numbers: of the experiment.
        similarities: the attentions that differ in nothing but their energies.
    """
    bleu = {name: numbers["kinds"][name]["bleu"]["mean"] for name in _FORMULAE}
    others = max(bleu[name] for name in similarities if name != "concat")
    time, seeds = numbers["time"], len(numbers["seeds"])
    dearest = max(_FORMULAE, key=time.__getitem__)
    return [
        "Luong et al. (2015, §5.3) found dot good for global attention, general better for local, and concat poor. "
        f"Here general less dot is {_signed(bleu['general'] - bleu['dot'])} BLEU, and concat less the best of the "
        f"others {_signed(bleu['concat'] - others)}.",
        "W[q; k] is W₁q + W₂k, so concat is additive with both matrices in one; only the numbers they start from are "
        f"drawn differently. The two lie {abs(bleu['concat'] - bleu['additive']):.1f} BLEU apart: with {seeds} "
        f"seed{'s' if seeds > 1 else ''}, smaller differences than that say nothing, and larger ones little.",
        f"The dearest is {dearest} with {time[dearest]:.2f} of dot's time. Most of an update goes into what all share, "
        "the recurrences and the output layer; sentences are short, and energies are few.",
        f"The windows are over general and reach {numbers['reach']} words to either side; the paper's 10 would be the "
        "whole sentence. They compute all energies and hide those outside, so they can save no time here.",
        "All have the same pairs in the same order and as many updates. Additive and concat have matrices and a vector "
        "of their own in the attention, general has one matrix, dot has nothing to learn. Where general lags, a likely "
        "reason, not measured here, is that Adam moves every weight by about its rate, and so qᵀWk by up to rate × "
        "‖q‖₁‖k‖₁ in one update: the softmax can harden before it has found the words.",
        "The verdict hangs on the training. In a first run of two seeds, 500 updates at rate 0.012, no bound held: "
        "general had a mean BLEU of 72.7, 9 apart from seed to seed, and an AER of 27.7 %, the others about 90 and 9.5 "
        "to 12.8 %. The rate was then lowered and the updates raised for all alike, at the cost of the second seed; "
        "the bounds were left as they were.",
    ]


def _signed(difference: float) -> str:
    """With its sign, and a true minus."""
    return f"{difference:+.1f}".replace("-", "−")


def _spread(numbers: Mapping[str, Any]) -> bool:
    """Whether there are several seeds, so that deviations mean something."""
    return len(numbers["seeds"]) > 1
