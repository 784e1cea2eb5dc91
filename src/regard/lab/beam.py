"""The most probable words do not make the most probable sentence: greedy search against wider and wider beams.

p(y | x) is a product of the probabilities of words, so its maximum can be searched for word by word, but not found so.
RNNsearch is trained on English–French pairs of the microworld, and each held-out sentence is translated by greedy
search and with beams of 2 and more, all ranked by log p alone. What decides: how often a beam finds a more probable
output, how much of the gain a beam of 2 has already, and BLEU.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from regard.config import Config
from regard.datasets import Splits
from regard.datasets.microworld import Microworld
from regard.lab.measures.statistics import Spread, spread_curve
from regard.lab.measures.translations import score_translations
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
from regard.plots.figures.curves import Panel, draw_curves
from regard.tasks.translate.predictor import Translator
from regard.tasks.translate.search_tree import SearchTree
from regard.training.demos import translator_sizes

_EQUAL = 1e-4
"""In nats: outputs whose log p differ by less are equally probable."""
_SHOWN = 3
"""The beam of the search that is shown."""


@dataclass(frozen=True)
class BeamSizes(Config):
    """The size of the experiment.

    Attributes:
        seeds: models.
        train: training pairs.
        test: held-out pairs.
        longest: the longest English sentence, in words.
        short: the longest one that counts as short.
        units: of embeddings, alignment model, readout and each direction of the encoder; the decoder has twice as many.
        updates: of 64 pairs each.
        learning_rate: at its highest.
        beams: widths, ascending from 1, which is greedy search.
    """

    seeds: int
    train: int
    test: int
    longest: int
    short: int
    units: int
    updates: int
    learning_rate: float
    beams: tuple[int, ...]


REGISTERED = read_registration(__file__, BeamSizes.from_mapping)


def measure(bench: Bench, sizes: BeamSizes) -> Finding:
    """Train one model per seed, and search with every beam."""
    data = Microworld().splits(
        train=sizes.train, valid=100, test=sizes.test, seed=bench.seed, longest=sizes.longest
    )
    seeds = bench.seeds(sizes.seeds)
    measured = bench.starmap(_train_and_search, [(seed, sizes, data) for seed in seeds])
    numbers = {"sizes": asdict(sizes), "seeds": seeds, "models": [model for model, _ in measured]}
    trees = [tree for _, tree in measured if tree is not None]
    return Finding(
        numbers,
        verdict(numbers),
        make_figures(numbers, trees[0] if trees else None),
        make_tables(numbers),
        write_remarks(numbers),
    )


def _train_and_search(
    bench: Bench, seed: int, sizes: BeamSizes, data: Splits
) -> tuple[dict[str, Any], SearchTree | None]:
    """One model's outputs by width of the beam, and a search in which greedy search goes wrong early."""
    folder = bench.train(f"rnnsearch-{seed}", _config(sizes), data.train, data.valid, seed=seed)
    translator = Translator.load(folder)
    sources, targets = [e.source for e in data.test], [e.target for e in data.test]
    log_probs, scores = {}, {}
    short = [k for k, source in enumerate(sources) if len(source.split()) <= sizes.short]
    for beam in sizes.beams:
        bench.report(f"seed {seed}, searching with a beam of {beam}")
        outputs = translator.translate(sources, beam=beam, length_penalty="none")
        log_probs[beam] = [output.log_prob for output in outputs]
        texts = [output.text for output in outputs]
        scores[beam] = score_translations(texts, targets)
        scores[beam]["short"] = score_translations([texts[k] for k in short], [targets[k] for k in short])[
            "exact_match"
        ]
    shown = [
        sources[k]
        for k, (greedy, two) in enumerate(zip(log_probs[1], log_probs[sizes.beams[1]], strict=True))
        if two > greedy + 1 and len(sources[k].split()) <= sizes.short
    ]
    tree = translator.tree(shown[0], beam=_SHOWN, length_penalty="none") if shown else None
    return {
        str(beam): {**scores[beam], **compare(log_probs[1], log_probs[beam])} for beam in sizes.beams
    }, tree


def compare(greedy: Sequence[float], wider: Sequence[float]) -> dict[str, float]:
    """How a wider beam's outputs compare with greedy search's, sentence by sentence.

    Args:
        greedy: log p of each output of greedy search.
        wider: the same of the beam.

    Returns:
        The mean gain in nats, and the percentages of outputs that are more probable and less probable.
    """
    gains = np.subtract(wider, greedy)
    return {
        "gain": float(gains.mean()),
        "more_probable": 100 * float((gains > _EQUAL).mean()),
        "less_probable": 100 * float((gains < -_EQUAL).mean()),
    }


def _config(sizes: BeamSizes) -> dict[str, Any]:
    """RNNsearch, trained too little to be certain of its words, so that there is something to search for."""
    return {
        "preset": "rnnsearch-small",
        "tokenizer": {"source": "word", "target": "word"},
        "model": {"tie": "target", **translator_sizes(sizes.units)},
        "training": train_for(
            sizes.updates,
            learning_rate=sizes.learning_rate,
            label_smoothing=0.0,
            batch_sentences=64,
            validation_sentences=50,
        ),
    }


def over_beams(numbers: Mapping[str, Any], name: str) -> dict[int, Spread]:
    """A number of each width, over the seeds."""
    return {
        beam: Spread.of(model[str(beam)][name] for model in numbers["models"])
        for beam in numbers["sizes"]["beams"]
    }


def verdict(numbers: Mapping[str, Any]) -> Verdict:
    """Probabilities and BLEU against their bounds; see `EXPERIMENT.decides`."""
    bounds, beams = REGISTERED.bounds, numbers["sizes"]["beams"]
    two, widest = str(beams[1]), str(beams[-1])
    models = numbers["models"]
    learned = Check.over_seeds(
        "short sentences translated word for word, greedily",
        (model["1"]["short"] for model in models),
        "at least",
        bounds["learned"],
        " %",
    )
    checks = [
        Check.over_seeds(
            f"sentences for which a beam of {widest} finds a more probable output than greedy search",
            (model[widest]["more_probable"] for model in models),
            "at least",
            bounds["more_probable"],
            " %",
            given=learned,
        ),
        Check.over_seeds(
            f"gain in log p of a beam of {two}, of that of {widest}",
            (_share(model[two]["gain"], model[widest]["gain"]) for model in models),
            "at least",
            bounds["most"],
            " %",
            given=learned,
        ),
        Check.over_seeds(
            f"BLEU, a beam of {widest} minus greedy search",
            (model[widest]["bleu"] - model["1"]["bleu"] for model in models),
            "at least",
            bounds["bleu"],
            " points",
            given=learned,
        ),
    ]
    more, bleu = over_beams(numbers, "more_probable")[beams[-1]], over_beams(numbers, "bleu")
    gain = over_beams(numbers, "gain")
    return Verdict(
        checks,
        f"For {more.mean:.0f} ± {more.half:.0f} % of the sentences a beam of {widest} finds an output more probable "
        f"than that of greedy search, by {gain[beams[-1]].mean:.2f} nats on average over all; a beam of {two} gains "
        f"{gain[beams[1]].mean:.2f}. BLEU is {bleu[1].mean:.1f} greedily, {bleu[beams[1]].mean:.1f} with a beam of "
        f"{two} and {bleu[beams[-1]].mean:.1f} with {widest} (means and 90 % interval over {len(models)} seeds).",
    )


def _share(part: float, whole: float) -> float:
    return 100 * part / whole if whole > 0 else float("nan")


def make_figures(numbers: Mapping[str, Any], tree: SearchTree | None) -> list[CaptionedFigure]:
    """Probability and BLEU against the width of the beam, and one search."""
    panels = []
    for name, y_label, title in (
        ("gain", "log p over that of greedy search, nats", "probability"),
        ("more_probable", "more probable than greedily (%)", "how often"),
        ("bleu", "BLEU", "translation"),
    ):
        spreads = over_beams(numbers, name)
        curve = spread_curve("RNNsearch", list(spreads), list(spreads.values()))
        panels.append(Panel([curve], "width of the beam", y_label, title, x_scale="log2"))
    figures = [
        CaptionedFigure(
            "widths",
            "Against the width of the beam, 1 being greedy search: how much more probable the outputs become, for how "
            "many sentences they do, and what BLEU makes of it. Means over seeds with their 90 % intervals. The first "
            "step, from 1 to 2, is the one to look at.",
            draw_curves(panels),
        )
    ]
    if tree is not None:
        figures.append(
            CaptionedFigure(
                "tree",
                f"A search with a beam of {_SHOWN} for “{tree.translation.source}”, in which greedy search ends with "
                "an output less probable by more than a nat: the first words in bold are not the most probable ones, "
                "and what follows makes up for it.",
                tree.figure(),
            )
        )
    return figures


def make_tables(numbers: Mapping[str, Any]) -> list[Table]:
    """One row for each width."""
    parts = ("gain", "more_probable", "less_probable", "bleu", "exact_match", "length_ratio")
    spreads = {part: over_beams(numbers, part) for part in parts}
    forms = {"gain": ".3f", "bleu": ".1f", "length_ratio": ".3f"}
    rows = [
        [str(beam), *(f"{spreads[part][beam].mean:{forms.get(part, '.0f')}}" for part in parts)]
        for beam in numbers["sizes"]["beams"]
    ]
    caption = (
        "Means over seeds. Gain: log p minus that of greedy search, nats per sentence. More and less probable: percent "
        "of outputs, compared with greedy search. Length: words in the output over words in the references."
    )
    columns = ["beam", "gain", "more probable", "less probable", "BLEU", "exact match, %", "length"]
    return [Table(caption, columns, rows)]


def write_remarks(numbers: Mapping[str, Any]) -> list[str]:
    """What a beam promises and what it does not."""
    less = max(spread.mean for spread in over_beams(numbers, "less_probable").values())
    return [
        "A beam is no guarantee: it may prune the beginning of what greedy search finds. Its output was less probable "
        f"than greedy search's for at most {less:.1f} % of the sentences.",
        "Outputs are ranked by log p alone here, since that is what is being searched for; `regard translate` divides "
        "by the length. A model's most probable output need not be its best one: the last panel is what a user sees.",
    ]


EXPERIMENT = Experiment(
    name="beam",
    title="Greedy search and the beam",
    claim="p(y ∣ x) = Π p(y_t ∣ y_{<t}, x): choosing the most probable word at every step does not give the most "
    "probable sentence. A beam comes closer, and one of 2 has most of the benefit.",
    source="The product is on slides of “Sequence to Sequence Model and Attention” and “seq2seq & attention”; no "
    "lecture says how to search. The claim about the beam of 2 is that of the latter's first paper, Sutskever, Vinyals "
    "& Le 2014, §3.2 and §3.6",
    method="RNNsearch is trained briefly on sentences of the microworld's English → French, with several seeds. Each "
    "model translates the same held-out sentences with beams of 1 (greedy search), 2, 4, 8 and 16, ranked by log p "
    "without a length penalty.",
    decides="If the models have learned to translate short sentences "
    f"({REGISTERED.bounds['learned']:.0f} % of those of up to {REGISTERED.usual.short} words, word for word): the "
    f"widest beam must find a more probable output for at least {REGISTERED.bounds['more_probable']:.0f} % of the "
    "sentences, so that greedy search is not as good as a search; a beam of 2 must have at least "
    f"{REGISTERED.bounds['most']:.0f} % of the widest one's gain in log p, which is “most”; and BLEU must rise by at "
    f"least {REGISTERED.bounds['bleu']:g} points, the least that is usually reported as a difference.",
    measure=measure,
    usual=REGISTERED.usual,
    full=REGISTERED.full,
    registration=REGISTERED,
    seconds=150,
)
