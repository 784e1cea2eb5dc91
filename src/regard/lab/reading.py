"""With self-attention a recurrent network pays attention to the context relevant to the new input.

Language models that attend to their own past, an LSTMN and the lecture's SimpleRNN + self-attention, are trained on the
newsroom, a dataset of short news whose lines know which of their words belong together. On held-out lines the attention
to such words is compared with that to other words at the same step and distance, and with the attention that the same
word gets there from unrelated words. The same models untrained are the baseline. What decides: these ratios beyond the
neighbouring word, which gets most of the attention whatever it is.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from regard.config import Config
from regard.datasets import Example, Newsroom
from regard.datasets.newsroom import FBI
from regard.lab.measures.relevance import (
    attention_by_distance,
    collect_pairs,
    lift,
    mean_lift,
    shift_to_prediction,
)
from regard.lab.measures.statistics import Spread, spread_curve
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
from regard.models import LanguageModelNetwork
from regard.plots.figures.curves import Curve, Panel, draw_curves
from regard.tasks.language_model.predictor import LanguageModel
from regard.tasks.language_model.result import Reading

LSTMN, SUM = "LSTMN", "SimpleRNN + self-attention"
CELLS = {LSTMN: "lstmn", SUM: "rnn-sum"}
"""By name: the first lecture's attends before its update, with x_t and s_{t−1}; the second's after it, with h_t."""
_LONGEST = 40
"""Words of a user's text that are read; a figure has no space for more rows."""


@dataclass(frozen=True)
class ReadingSizes(Config):
    """The size of the experiment.

    Attributes:
        train: training sentences.
        test: held-out sentences.
        state: units of the cell, and of its embedding and its attention.
        updates: of each model.
        seeds: models of each cell, each with its own weights and order of batches.
        farthest: the greatest distance plotted.
    """

    train: int
    test: int
    state: int
    updates: int
    seeds: int
    farthest: int


REGISTERED = read_registration(__file__, ReadingSizes.from_mapping)
BOUNDS = REGISTERED.bounds


def measure(bench: Bench, sizes: ReadingSizes) -> Finding:
    """Train one model per cell and seed, and measure its attention to relevant words."""
    seeds = bench.seeds(sizes.seeds)
    measured = iter(bench.starmap(_train_and_read, [(cell, seed, sizes) for cell in CELLS for seed in seeds]))
    models = {cell: [next(measured) for _ in seeds] for cell in CELLS}
    language_model = LanguageModel.load(bench.folder / "models" / f"{CELLS[LSTMN]}-{seeds[0]}")
    [reading] = language_model.read([FBI])
    numbers = {"seeds": seeds, "models": models, "sentence": reading.to_json()}
    figures, remarks = make_figures(numbers, reading), write_remarks(numbers)
    if bench.text:
        remark, figure = _read_text(language_model, bench.text)
        figures.insert(1, figure)
        remarks.append(remark)
    return Finding(numbers, verdict(models), figures, make_tables(numbers), remarks)


def _train_and_read(bench: Bench, cell: str, seed: int, sizes: ReadingSizes) -> dict[str, Any]:
    """Train one model; measure its attention in held-out sentences, and that of its initial weights."""
    splits = Newsroom().splits(train=sizes.train, valid=300, test=sizes.test, seed=bench.seed)
    config = {
        "preset": "lstmn-lm",
        "model": {
            "cell": CELLS[cell],
            "embedding_size": sizes.state,
            "state_size": sizes.state,
            "dropout": 0.1,
            "memory": {"energy": "additive", "size": sizes.state},
        },
        "training": train_for(sizes.updates, learning_rate=0.006, batch_sentences=64),
    }
    train = [example for example in splits.train if example.source != FBI]
    trained = LanguageModel.load(bench.train(f"{CELLS[cell]}-{seed}", config, train, splits.valid, seed=seed))
    bench.report(f"reading, seed {seed}")
    return {
        "seed": seed,
        "perplexity": trained.perplexity([example.source for example in splits.test]).perplexity,
        "trained": _measure_attention(trained, splits.test, sizes.farthest),
        "untrained": _measure_attention(_untrained(trained, seed), splits.test, sizes.farthest),
    }


def _untrained(trained: LanguageModel, seed: int) -> LanguageModel:
    """The same model with initial weights."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = LanguageModelNetwork(trained.model.config, trained.tokenizer.size)
    return LanguageModel(model.eval(), trained.tokenizer)


def _measure_attention(
    language_model: LanguageModel, examples: Sequence[Example], farthest: int
) -> dict[str, Any]:
    """Lifts, means by distance, and the share of attention on the word just before."""
    lines = [example.source.split() for example in examples]
    links = [example.gold.sure if example.gold else frozenset() for example in examples]
    readings = language_model.read([example.source for example in examples])
    alphas = [attention_between_words(reading) for reading in readings]
    newest = collect_pairs(alphas, lines, links)
    upcoming = collect_pairs(alphas, lines, [shift_to_prediction(own) for own in links])
    offered, farther = newest.with_choice(), newest.beyond(1)
    return {
        "by_place": lift(newest, newest.by_place).to_json(),
        "by_word": lift(newest, newest.by_word).to_json(),
        "offered": lift(offered, offered.by_place).to_json(),
        "farther": lift(farther, farther.by_place).to_json(),
        "next": lift(upcoming, upcoming.by_place).to_json(),
        "by_distance": {
            "newest": attention_by_distance(newest, farthest),
            "next": attention_by_distance(upcoming, farthest),
        },
        "word_before": newest.word_before,
    }


def attention_between_words(reading: Reading) -> NDArray[np.float64]:
    """Attention between the words of a line, (W, W), without the BOS that is read before them."""
    return reading.word_alpha()[1:, 1:]


def _read_text(language_model: LanguageModel, text: str) -> tuple[str, CaptionedFigure]:
    """Read the user's text; say which part of it, and which words are unknown."""
    words = re.sub(r"\s*([.,;:!?])", r" \1", text).split()
    line = " ".join(words[:_LONGEST])
    unknown = language_model.unknown_words(line)
    remark = f"Your text was read as “{line}”"
    if len(words) > _LONGEST:
        remark += f", the first {_LONGEST} of its {len(words)} words"
    if unknown:
        remark += (
            f". The model does not know {', '.join(unknown)}, and reads each of them as one and the same word"
        )
    remark += ". The model was trained only on the short news of its own dataset, where sentences begin with a capital."
    [reading] = language_model.read([line])
    return remark, CaptionedFigure(
        "text",
        "Your text as the same model read it: one row per word, the newest red, the words it attended to on blue.",
        reading.plot(),
    )


def verdict(models: Mapping[str, Sequence[Mapping[str, Any]]]) -> Verdict:
    """The lifts of each cell over the seeds, and what training added to them; see `EXPERIMENT.decides`."""
    checks, said = [], []
    for cell, runs in models.items():
        for by, what in (
            ("farther", "beyond the neighbouring word"),
            ("by_word", "for the same attended word"),
        ):
            values = [run["trained"][by]["value"] for run in runs]
            checks.append(Check.over_seeds(f"lift {what}, {cell}", values, "at least", BOUNDS["lift"], " ×"))
        gained = [run["trained"]["farther"]["value"] - run["untrained"]["farther"]["value"] for run in runs]
        what = f"lift beyond the neighbouring word, trained minus untrained, {cell}"
        checks.append(Check.over_seeds(what, gained, "at least", BOUNDS["gained"]))
        lifts = {by: mean_lift(runs, "trained", by) for by in ("farther", "by_place", "by_word", "next")}
        said.append(
            f"{cell}: farther back than the word before, words that belong to the newest one get "
            f"{lifts['farther']:.2f} times the attention of other words at the same step and distance "
            f"({mean_lift(runs, 'untrained', 'farther'):.2f} untrained), and at any distance {lifts['by_place']:.2f} "
            f"times; {lifts['by_word']:.2f} times what the same word gets there from unrelated words; words that "
            "belong "
            f"to the next word, which is predicted at that step, {lifts['next']:.2f} times."
        )
    return Verdict(checks, " ".join(said))


def make_figures(numbers: Mapping[str, Any], reading: Reading) -> list[CaptionedFigure]:
    """Attention against distance, and the sentence of the paper's figure, word by word.

    Args:
        numbers: of the experiment.
        reading: of that sentence, by the model of the first seed.
    """
    seeds = numbers["seeds"]
    return [
        *(
            CaptionedFigure(
                f"distance-{CELLS[cell]}",
                f"{cell}: mean attention against distance for words that belong to the newest word (above) or to the "
                "next, which is to be predicted (below), and for others at the same steps, over "
                f"{len(seeds)} models; the band is the 90 % interval. If only distance counted, the two curves of a "
                "panel would coincide.",
                draw_curves(_distance_panels(models), columns=2),
            )
            for cell, models in numbers["models"].items()
        ),
        CaptionedFigure(
            "sentence",
            f"The sentence of the paper’s figure, read by the LSTMN of seed {seeds[0]}, which has not seen it before: "
            "one row per word, the newest red, the words it attended to on blue. Read each row as a question: which of "
            "the words so far does the newest one need?",
            reading.plot(),
        ),
    ]


def _distance_panels(models: Sequence[Mapping[str, Any]]) -> list[Panel]:
    def curve(kind: str, of: str, name: str) -> Curve:
        rows = [model[kind]["by_distance"][of][name] for model in models]
        spreads = [Spread.of(values) for values in zip(*rows, strict=True)]
        return spread_curve(f"{name} words", range(1, len(spreads) + 1), spreads)

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


def make_tables(numbers: Mapping[str, Any]) -> list[Table]:
    """Every lift of every model, with its interval."""

    def with_interval(measured: dict[str, float]) -> str:
        return f"{measured['value']:.2f} ({measured['low']:.2f}–{measured['high']:.2f})"

    rows = [
        [
            cell,
            f"{model['seed']}",
            kind,
            *(with_interval(model[kind][by]) for by in ("by_place", "by_word", "offered", "farther", "next")),
            f"{100 * model[kind]['word_before']:.0f} %",
        ]
        for cell, models in numbers["models"].items()
        for model in models
        for kind in ("trained", "untrained")
    ]
    caption = (
        "Lift of relevant words with its 95 % interval: against words at the same step and distance; against the same "
        "word there; at the same step and distance, only of words that have a relevant word to attend to; only farther "
        "back than the word before; and of words that belong to the next word, which is to be predicted. Last, the "
        "share of attention on the word before."
    )
    columns = [
        "cell",
        "seed",
        "",
        "same place",
        "same word",
        "with a choice",
        "farther",
        "next",
        "word before",
    ]
    return [Table(caption, columns, rows)]


def write_remarks(numbers: Mapping[str, Any]) -> list[str]:
    """What a language model is trained for, and what the lifts leave out."""
    models = numbers["models"][LSTMN]
    before = Spread.of(model["trained"]["word_before"] for model in models).mean
    newest, upcoming = (mean_lift(models, "trained", by) for by in ("by_place", "next"))
    larger = "what the next word needs" if upcoming > newest else "the newest word’s own context"
    return [
        "The attention at a word is computed from that word and all before it, and the word after it is then "
        f"predicted. A language model is trained for the prediction only; here {larger} gets the greater share (a lift "
        f"of {upcoming:.2f} for the next word’s context compared with {newest:.2f} for the newest word’s). "
        f"{100 * before:.0f} % of the attention is on the word just before: an LSTMN has no other way to keep its own "
        "last state, so part of what looks like attention to a neighbour is plain memory, and a word with nothing "
        "relevant before it, such as an article, attends there too and counts among the others. Counting only words "
        f"that have a relevant word to attend to, the lift is {mean_lift(models, 'trained', 'offered'):.2f}; farther "
        f"back than the word before it is {mean_lift(models, 'trained', 'farther'):.2f}. Relevance is the grammar’s: a "
        "head, its dependents, a verb’s subject, a pronoun’s noun. Whatever else may help, such as the criminal when "
        "“run” of “on the run” is read, counts as other."
    ]


EXPERIMENT = Experiment(
    name="reading",
    title="What a reader with a memory looks at",
    claim="With self-attention a recurrent network pays attention to the context relevant to the new input.",
    source="Shusen Wang, the last slides of Self-Attention and of Seq2Seq Model with Attention (with the figure of "
    "Cheng, Dong & Lapata 2016)",
    method=(
        "Language models with an LSTMN and with the second lecture’s SimpleRNN + self-attention, α_i = align(h_i, "
        "h_t), "
        "both with additive energies, are trained on generated news of some 250 words, in which verbs agree with "
        "distant "
        "subjects, particles with their verbs and pronouns with their nouns, and in which each line knows which of its "
        "words belong together. On held-out lines, the attention each new word gives to such words is compared with "
        "what it gives to others: at the same step and distance, because near words get more anyway; and for the same "
        "word there, because some words may attract attention whatever is read. The same models with initial weights "
        "are the baseline. The figure’s own sentence is not in the training data."
    ),
    decides=(
        f"A ratio of {BOUNDS['lift']:g} is what a reader that ignores relevance would give. Beyond the neighbouring "
        "word, which gets most of the attention because it carries the state, and for the same attended word, the 90 % "
        "interval over the seeds must be above it, for both cells. And the effect must come from training: the lift "
        "beyond the neighbouring word must be greater than the same model’s untrained, seed by seed. Intervals in the "
        "table are over sentences."
    ),
    measure=measure,
    usual=REGISTERED.usual,
    full=REGISTERED.full,
    registration=REGISTERED,
    seconds=190,
    text="a sentence to be read",
)
