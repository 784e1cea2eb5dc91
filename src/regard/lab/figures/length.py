"""The figure, the table and the remarks of the experiment on length.

In: its numbers. Out: a drawing with its caption, a table, remarks. Nothing is measured here.
"""

from collections.abc import Mapping
from typing import Any

from regard.lab.bench import Drawing, Grid
from regard.lab.measures.kept import kept, reach
from regard.output.pictures.curves import Curve, Mark, Panel, draw_curves


def draw_length(numbers: Mapping[str, Any]) -> list[Drawing]:
    """BLEU against length, and what each model finds of the references when it reads them."""
    marks = [Mark(numbers[part] + 0.5, f"learnt to {numbers[part]}") for part in ("short", "long")]
    panels = []
    for part, y_label, title in (
        ("bleu", "BLEU", "writing"),
        ("likely", "words with p > ½ (%)", "reading the reference"),
    ):
        curves = [
            Curve(name, [b["middle"] for b in model["bands"]], [b[part] for b in model["bands"]])
            for name, model in numbers["models"].items()
        ]
        panels.append(Panel(curves, "words in the source", y_label, title, y_range=(0, 100), marks=marks))
    drawing = Drawing(
        "curves",
        "Left, BLEU of greedy translations against the length of the source, equally many sentences to a point; right, "
        "the share of the reference's words that get more than half of the probability while the model reads it. The "
        "upright lines are the longest sentences that the -15 and the -30 models learnt from. See where each curve "
        "leaves its height: on which side of its own line.",
        draw_curves(panels),
    )
    return [drawing]


def tabulate_length(numbers: Mapping[str, Any], least: float) -> list[Grid]:
    """What each model has on short sentences and what it keeps of that on longer ones.

    Args:
        numbers: of the experiment.
        least: percent of the short sentences' BLEU that a band must have to be within a model's reach.
    """
    rows = [
        [
            name,
            *(f"{model[part]['bleu']:.1f}" for part in ("short", "beyond")),
            f"{kept(model):.0f} %",
            str(reach(model, least)),
            f"{model['beyond']['length_ratio']:.2f}",
            " / ".join(f"{share:.0f}" for share in model["thirds"]),
        ]
        for name, model in numbers["models"].items()
    ]
    grid = Grid(
        f"Short: up to {numbers['short']} words. Beyond: from one word more than the model learnt from to twice as "
        f"many. Reach: the most words up to which no band falls below {least:.0f} % of short. Length: words written "
        "beyond over words in the references. Thirds: reading the references there, the percentage of words with "
        "p > ½ in the first, second and last third of the sentence.",
        ["model", "BLEU, short", "BLEU, beyond", "kept", "reach", "length", "thirds"],
        rows,
    )
    return [grid]


def remark_length(numbers: Mapping[str, Any], least: float) -> list[str]:
    """How the attending models fail, if they do, and what differs from the paper.

    Args:
        numbers: of the experiment.
        least: percent of the short sentences' BLEU that an attending model must keep.
    """
    models = numbers["models"]
    names = [f"RNNsearch-{numbers['short']}", f"RNNsearch-{numbers['long']}"]
    near, far = (models[name] for name in names)
    failing = [name for name in names if not kept(models[name]) >= least]
    return [
        *([_how_they_fail({name: models[name] for name in failing})] if failing else []),
        f"At {near['bands'][-1]['lower']}–{near['bands'][-1]['upper']} words {names[0]} has BLEU "
        f"{near['bands'][-1]['bleu']:.1f} and {names[1]} {far['bands'][-1]['bleu']:.1f}. The paper's RNNsearch-50 does "
        "not fall up to 60 words, but it has met sentences of 50; its RNNsearch-30 falls too.",
        "All models make the same number of updates of the same number of words, so the -30 models see about half as "
        "many sentences, each twice as long. The microworld's long sentences are short clauses joined, easier than "
        "the long sentences that people write, for all four alike.",
    ]


def _how_they_fail(models: Mapping[str, Any]) -> str:
    """Where in the sentence the attending models that failed lose their place."""
    told = "; ".join(
        f"{name} writes {model['beyond']['length_ratio']:.2f} times the words it should, and reading the references it "
        f"finds {model['thirds'][0]:.0f} % of the words of the first third and {model['thirds'][2]:.0f} % of the last"
        for name, model in models.items()
    )
    text = f"How RNNsearch fails. On sentences of up to twice the length it learnt from, {told}."
    if any(model["thirds"][2] > model["thirds"][0] for model in models.values()):
        text += (
            " Where the last third is the better one, the model seems to find its place by counting from the "
            "sentence's end, which its backward states and s₀ = tanh(W_s ←h₁) tell up to lengths it has met: it leaves "
            "out what stands before, and translates the end."
        )
    return text
