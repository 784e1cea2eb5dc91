"""The LSTMN pays attention to the context relevant to the new input.

LSTMN language models are trained on the newsroom, a dataset of short news whose lines know which of their words belong
together. On held-out lines the attention to such words is compared with that to other words at the same step and
distance, and with the attention that the same word gets there from unrelated words. An untrained LSTMN is the baseline.
What decides: the smallest of these ratios over seeds, at the lower end of its interval.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

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
from regard.lab.runner import Bench, CaptionedFigure, Check, Experiment, Finding, Table, Verdict, train_for
from regard.models import LanguageModelNetwork
from regard.plots.figures.curves import Curve, Panel, draw_curves
from regard.tasks.language_model.predictor import LanguageModel
from regard.tasks.language_model.result import Reading

_LONGEST = 40
"""Words of a user's text that are read; a figure has no space for more rows."""


@dataclass(frozen=True)
class ReadingSizes:
    """The size of the experiment.

    Attributes:
        train: training sentences.
        test: held-out sentences.
        state: units of the LSTMN, and of its embedding and its attention.
        updates: of each model.
        seeds: models, each with its own weights and order of batches.
        farthest: the greatest distance plotted.
    """

    train: int
    test: int
    state: int
    updates: int
    seeds: int
    farthest: int = 9


USUAL = ReadingSizes(train=30_000, test=600, state=96, updates=800, seeds=3)
FULL = ReadingSizes(train=100_000, test=1000, state=96, updates=3000, seeds=5)


def measure(bench: Bench, sizes: ReadingSizes) -> Finding:
    """Train one LSTMN per seed, and measure its attention to relevant words."""
    seeds = bench.seeds(sizes.seeds)
    models = bench.starmap(_train_and_read, [(seed, sizes) for seed in seeds])
    language_model = LanguageModel.load(bench.folder / "models" / f"lstmn-{seeds[0]}")
    [reading] = language_model.read([FBI])
    numbers = {"seeds": seeds, "models": models, "sentence": reading.to_json()}
    figures, remarks = make_figures(numbers, reading), write_remarks(numbers)
    if bench.text:
        remark, figure = _read_text(language_model, bench.text)
        figures.insert(1, figure)
        remarks.append(remark)
    return Finding(numbers, verdict(models), figures, make_tables(numbers), remarks)


def _train_and_read(bench: Bench, seed: int, sizes: ReadingSizes) -> dict[str, Any]:
    """Train one LSTMN; measure its attention in held-out sentences, and that of its initial weights."""
    splits = Newsroom().splits(train=sizes.train, valid=300, test=sizes.test, seed=bench.seed)
    config = {
        "preset": "lstmn-lm",
        "model": {
            "embedding_size": sizes.state,
            "state_size": sizes.state,
            "dropout": 0.1,
            "memory": {"size": sizes.state},
        },
        "training": train_for(sizes.updates, learning_rate=0.006, batch_sentences=64),
    }
    train = [example for example in splits.train if example.source != FBI]
    trained = LanguageModel.load(bench.train(f"lstmn-{seed}", config, train, splits.valid, seed=seed))
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


def verdict(models: Sequence[Mapping[str, Any]]) -> Verdict:
    """The worst seed's lifts against 1, and against those of the untrained models; see `EXPERIMENT.decides`."""
    place = float(np.min([model["trained"]["by_place"]["low"] for model in models]))
    word = float(np.min([model["trained"]["by_word"]["low"] for model in models]))
    gained = place - float(np.max([model["untrained"]["by_place"]["high"] for model in models]))
    means = {by: mean_lift(models, "trained", by) for by in ("by_place", "by_word", "next")}
    return Verdict(
        [
            Check("lift at equal step and distance, lower end, least over seeds", place, "at least", 1.0),
            Check(
                "lift at equal step and distance for the same attended word, lower end, least over seeds",
                word,
                "at least",
                1.0,
            ),
            Check("lift of the trained above the untrained, worst case", gained, "at least", 0.0),
        ],
        f"Words that belong to the newest one get {means['by_place']:.2f} times the attention of other words at the "
        f"same step and distance, and {means['by_word']:.2f} times what the same word gets there from unrelated words; "
        f"words that belong to the next word, which is predicted at that step, get {means['next']:.2f} times that of "
        f"others. Untrained, the three are {mean_lift(models, 'untrained', 'by_place'):.2f}, "
        f"{mean_lift(models, 'untrained', 'by_word'):.2f} and {mean_lift(models, 'untrained', 'next'):.2f}.",
    )


def make_figures(numbers: Mapping[str, Any], reading: Reading) -> list[CaptionedFigure]:
    """The sentence of the paper's figure, word by word, and attention against distance.

    Args:
        numbers: of the experiment.
        reading: of that sentence, by the model of the first seed.
    """
    seeds = numbers["seeds"]
    return [
        CaptionedFigure(
            "sentence",
            f"The sentence of the paper’s figure, read by the LSTMN of seed {seeds[0]}, which has not seen it before: "
            "one row per word, the newest red, the words it attended to on blue. Read each row as a question: which of "
            "the words so far does the newest one need?",
            reading.plot(),
        ),
        CaptionedFigure(
            "distance",
            "Mean attention against distance for words that belong to the newest word (above) or to the next, which is "
            f"to be predicted (below), and for others at the same steps, over {len(seeds)} models; the band is one "
            "deviation. If only distance counted, the two curves of a panel would coincide.",
            draw_curves(_distance_panels(numbers["models"]), columns=2),
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

    def cell(measured: dict[str, float]) -> str:
        return f"{measured['value']:.2f} ({measured['low']:.2f}–{measured['high']:.2f})"

    rows = [
        [
            f"{model['seed']}",
            kind,
            *(cell(model[kind][by]) for by in ("by_place", "by_word", "offered", "farther", "next")),
            f"{100 * model[kind]['word_before']:.0f} %",
        ]
        for model in numbers["models"]
        for kind in ("trained", "untrained")
    ]
    caption = (
        "Lift of relevant words with its 95 % interval: against words at the same step and distance; against the same "
        "word there; at the same step and distance, only of words that have a relevant word to attend to; only farther "
        "back than the word before; and of words that belong to the next word, which is to be predicted. Last, the "
        "share of attention on the word before."
    )
    columns = ["seed", "LSTMN", "same place", "same word", "with a choice", "farther", "next", "word before"]
    return [Table(caption, columns, rows)]


def write_remarks(numbers: Mapping[str, Any]) -> list[str]:
    """What a language model is trained for, and what the lifts leave out."""
    models = numbers["models"]
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
    source="Shusen Wang, Self-Attention (the last slide, with the figure of Cheng, Dong & Lapata 2016)",
    method=(
        "LSTMN language models are trained on generated news of some 250 words, in which verbs agree with distant "
        "subjects, particles with their verbs and pronouns with their nouns, and in which each line knows which of its "
        "words belong together. On held-out lines, the attention each new word gives to such words is compared with "
        "what it gives to others: at the same step and distance, because near words get more anyway; and for the same "
        "word there, because some words may attract attention whatever is read. The same models with initial weights "
        "are the baseline. The figure’s own sentence is not in the training data."
    ),
    decides=(
        "A ratio of 1 is what a reader that ignores relevance would give, so 1 is the bound: the lower end of the 95 % "
        "interval (sentences resampled) must not be below it in any seed, at the same step and distance and for the "
        "same word. And the effect must come from training: the trained models’ lowest lower end must be above the "
        "untrained models’ highest upper end."
    ),
    measure=measure,
    usual=USUAL,
    full=FULL,
    seconds=96,
    text="a sentence to be read",
)
