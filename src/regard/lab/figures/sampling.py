"""The figures, the table and the remark of the experiment on sampling.

In: its numbers, a sample with its tree, and the samples themselves. Out: drawings with captions, a table, a remark.
Nothing is measured here.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from regard.lab.bench import Drawing, Grid
from regard.output import Sample
from regard.output.pictures.bars import Measure, draw_bars
from regard.output.pictures.curves import Curve, Mark, Panel, draw_curves
from regard.output.pictures.tree import Branch, draw_tree


def draw_sampling(numbers: Mapping[str, Any], text: str, tree: Branch) -> list[Drawing]:
    """One sentence with its rivals, what the temperature does, and first words.

    Args:
        numbers: of the experiment.
        text: the sentence.
        tree: the way it took, and others it might have taken.
    """
    drawn, first = numbers["chain"]["sentences"] + numbers["chain"]["left_out"], numbers["first_words"]
    return [
        Drawing(
            "tree",
            f"“{text}” as it was drawn from the model, black, with the two likeliest rivals of each word "
            "and what might have followed those; </s> is the end. The sentence’s probability is the product of the "
            "percentages along the black way, and another draw would have taken another way.",
            draw_tree(tree),
        ),
        Drawing(
            "temperature",
            f"Against the temperature τ, {drawn} sentences each: how many differ, what a second model thinks "
            "of them, how many the author has read, whole or in runs of three words, and the entropy of the first "
            "word, drawn and computed from p^{1/τ}. Cold is to the left: look whether the model repeats "
            "itself there in sentences the judge finds easy, and whether new things are bought with stranger ones.",
            draw_curves(_heat_panels(numbers), columns=2),
        ),
        Drawing(
            "first-words",
            f"The twelve likeliest first words: p(y₁) as the model has it, and their shares among {drawn} "
            "samples. Nothing but chance should part the two columns.",
            draw_bars(first["words"], _first_words(first)),
        ),
    ]


def _heat_panels(numbers: Mapping[str, Any]) -> list[Panel]:
    heat, along, x = numbers["heat"], numbers["temperatures"], "temperature τ"

    def panel(title: str, y: str, names: dict[str, str], **more: Any) -> Panel:
        curves = [Curve(label, along, heat[name]) for name, label in names.items()]
        return Panel(curves, x, y, title, **more)

    shares = {"y_range": (0.0, 1.0)}
    return [
        panel(
            "how much differs",
            "share",
            {"distinct_sentences": "different sentences", "distinct_trigrams": "different trigrams"},
            **shares,
        ),
        panel(
            "how likely it is",
            "perplexity",
            {"judge_perplexity": "perplexity for the judge"},
            y_scale="log",
            marks=(Mark(numbers["real_perplexity"], "of real sentences", "y"),),
        ),
        panel(
            "how much the author has read before",
            "share of sentences",
            {"known_trigrams": "made of known trigrams", "read_before": "read before"},
            **shares,
        ),
        panel(
            "how open the first word is",
            "entropy, bits",
            {"first_word_entropy": "entropy, drawn", "first_word_entropy_computed": "entropy, computed"},
        ),
    ]


def _first_words(first: Mapping[str, Any]) -> list[Measure]:
    columns = {"p(y₁), %": first["probability"], "share of the samples, %": first["share"]}
    room = (0.0, 115 * max(max(values) for values in columns.values()))
    return [Measure(label, [100 * p for p in values], ranging=room) for label, values in columns.items()]


def tabulate_sampling(samples: Mapping[float, Sequence[Sample]]) -> list[Grid]:
    """A few sentences of each temperature.

    Args:
        samples: by temperature.
    """
    rows = [[f"{t:g}", sample.text] for t, some in samples.items() for sample in some[:3]]
    caption = "The first three sentences at each temperature, all from the same seed."
    return [Grid(caption, ["τ", "sentence"], rows)]


def remark_sampling(numbers: Mapping[str, Any]) -> list[str]:
    """How near the author comes to real sentences, and what it has by heart."""
    heat, left = numbers["heat"], numbers["chain"]["left_out"]
    at = numbers["temperatures"].index(1.0)
    seen = heat["judge_perplexity"][at] > numbers["real_perplexity"]
    return [
        f"At τ = 1 the judge’s perplexity of the samples is {heat['judge_perplexity'][at]:.1f} against "
        f"{numbers['real_perplexity']:.1f} of real sentences"
        f"{': what the author has not learnt, the judge sees' if seen else ''}. "
        f"{100 * heat['read_before'][at]:.1f} % of the samples stand in the author’s training text as they are, and "
        f"{100 * heat['known_trigrams'][at]:.0f} % are made of trigrams that stand in it; no parser judges "
        "grammar here, so this share stands in for it. "
        + (
            f"{left} of the samples were left out of the sum of steps: they had no end, or held the mark for unknown "
            "words."
            if left
            else "No sample was left out of the sum of steps."
        )
    ]
