"""The figures, the table and the remark of the experiment on reading.

In: its numbers, and how a model read the figure's sentence. Out: drawings with captions, a table, a remark.
Nothing is measured here.

Claim: the LSTMN pays attention to the context relevant to the new input.

LSTMN language models are trained on the newsroom, a world of small news whose lines know which of their words belong
together. On held-out lines the attention to such words is held against what other words at the same step and distance
get, and against what the same word gets there from words that it has nothing to do with. An LSTMN that
has learnt nothing stands beside. Decides: the least of these ratios, over seeds, at the lower end of its interval.
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
from regard.lab.measures.relevance import by_distance, glances_of, lift, mean_lift, of_the_next
from regard.lab.measures.statistics import Spread
from regard.lab.runner import Bench, Check, Drawing, Experiment, Finding, Grid, Verdict
from regard.models import LanguageModelNetwork
from regard.plots.figures.curves import Curve, Panel, draw_curves
from regard.tasks.language_model.predictor import LanguageModel
from regard.tasks.language_model.result import Reading


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


_LONGEST = 40
"""Words of a user's text that are read; a picture has no room for more rows."""


@dataclass(frozen=True)
class Sizes:
    """How much is done.

    Attributes:
        train: sentences to learn from.
        test: held-out sentences that are read.
        state: units of the LSTMN, and of its embedding and its attention.
        updates: of each model.
        seeds: models, each with weights and an order of its own.
        farthest: the greatest distance drawn.
    """

    train: int
    test: int
    state: int
    updates: int
    seeds: int
    farthest: int = 9


USUAL = Sizes(train=30_000, test=600, state=96, updates=800, seeds=3)
FULL = Sizes(train=100_000, test=1000, state=96, updates=3000, seeds=5)


def run(bench: Bench) -> Finding:
    """Do it at the usual size, or at the full one."""
    return find(bench, bench.choose(USUAL, FULL))


def find(bench: Bench, sizes: Sizes) -> Finding:
    """Train, read, measure and draw."""
    seeds = bench.seeds(sizes.seeds)
    measured = bench.each(measure, [(seed, sizes) for seed in seeds])
    language_model = LanguageModel.load(bench.folder / "models" / f"lstmn-{seeds[0]}")
    [reading] = language_model.read([FBI])
    numbers = {"seeds": seeds, "models": measured, "sentence": reading.to_json()}
    drawings, remarks = draw_reading(numbers, reading), remark_reading(numbers)
    if bench.text:
        told, drawn = _of_the_user(language_model, bench.text)
        drawings.insert(1, drawn)
        remarks.append(told)
    return Finding(numbers, verdict(measured), drawings, tabulate_reading(numbers), remarks)


def measure(bench: Bench, arm: tuple[int, Sizes]) -> dict[str, Any]:
    """Train one LSTMN; say where it looks in held-out sentences, and where it looked before it had learnt."""
    seed, sizes = arm
    splits = Newsroom().splits(train=sizes.train, valid=300, test=sizes.test, seed=bench.seed)
    config = {
        "preset": "lstmn-lm",
        "model": {
            "embedding_size": sizes.state,
            "state_size": sizes.state,
            "dropout": 0.1,
            "memory": {"size": sizes.state},
        },
        "training": {
            "learning_rate": 0.006,
            "batch_sentences": 64,
            "max_epochs": 0,
            "max_updates": sizes.updates,
            "validate_every": sizes.updates,
        },
    }
    train = [example for example in splits.train if example.source != FBI]
    folder = bench.train(f"lstmn-{seed}", config, train, splits.valid, seed=seed)
    trained = LanguageModel.load(folder)
    bench.voice(f"reading, seed {seed}")
    return {
        "seed": seed,
        "perplexity": trained.perplexity([example.source for example in splits.test]).perplexity,
        "trained": _found(trained, splits.test, sizes.farthest),
        "untrained": _found(_untrained(trained, seed), splits.test, sizes.farthest),
    }


def _untrained(trained: LanguageModel, seed: int) -> LanguageModel:
    """The same model with the weights it might have begun with."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = LanguageModelNetwork(trained.model.config, trained.tokenizer.size)
    return LanguageModel(model.eval(), trained.tokenizer)


def _found(language_model: LanguageModel, examples: Sequence[Example], farthest: int) -> dict[str, Any]:
    """Read held-out lines: lifts, means by distance, and how much goes to the word just before."""
    lines = [example.source.split() for example in examples]
    links = [example.gold.sure if example.gold else frozenset() for example in examples]
    alphas = [
        _between_words(reading) for reading in language_model.read([example.source for example in examples])
    ]
    now = glances_of(alphas, lines, links)
    ahead = glances_of(alphas, lines, [of_the_next(own) for own in links])
    offered, farther = now.choosing(), now.beyond(1)
    return {
        "by_place": lift(now, now.by_place).to_json(),
        "by_word": lift(now, now.by_word).to_json(),
        "offered": lift(offered, offered.by_place).to_json(),
        "farther": lift(farther, farther.by_place).to_json(),
        "next": lift(ahead, ahead.by_place).to_json(),
        "by_distance": {"newest": by_distance(now, farthest), "next": by_distance(ahead, farthest)},
        "word_before": now.word_before,
    }


def _between_words(reading: Reading) -> NDArray[np.float64]:
    """Attention between the words of a line, without the begin mark that is read before them."""
    return reading.word_alpha()[1:, 1:]


def verdict(measured: Sequence[dict[str, Any]]) -> Verdict:
    """Hold the worst seed's lifts against 1, and against those of the untrained; see `EXPERIMENT.decides`."""
    place = float(np.min([one["trained"]["by_place"]["low"] for one in measured]))
    word = float(np.min([one["trained"]["by_word"]["low"] for one in measured]))
    learnt = place - float(np.max([one["untrained"]["by_place"]["high"] for one in measured]))
    means = {by: mean_lift(measured, "trained", by) for by in ("by_place", "by_word", "next")}
    return Verdict(
        [
            Check("lift at equal step and distance, lower end, least over seeds", place, "at least", 1.0),
            Check(
                "lift at equal step and distance for the same word looked at, likewise", word, "at least", 1.0
            ),
            Check("lift of the trained above the untrained, worst case", learnt, "at least", 0.0),
        ],
        f"Words that belong to the newest one get {means['by_place']:.2f} times the attention of other words at the "
        f"same step and distance, and {means['by_word']:.2f} times what the same word gets there from words that it "
        f"has nothing to do with; words that belong to the word to come, which is predicted at that step, get "
        f"{means['next']:.2f} times that of others. Untrained, all three are "
        f"{mean_lift(measured, 'untrained', 'by_place'):.2f}, {mean_lift(measured, 'untrained', 'by_word'):.2f} and "
        f"{mean_lift(measured, 'untrained', 'next'):.2f}.",
    )


def _of_the_user(language_model: LanguageModel, text: str) -> tuple[str, Drawing]:
    """Read the user's text; say what the model made of it."""
    words = re.sub(r"\s*([.,;:!?])", r" \1", text).split()
    line = " ".join(words[:_LONGEST])
    unknown = language_model.unknown_words(line)
    told = f"Your text was read as “{line}”"
    if len(words) > _LONGEST:
        told += f", the first {_LONGEST} of its {len(words)} words"
    if unknown:
        told += (
            f". The model does not know {', '.join(unknown)}, and reads each of them as one and the same word"
        )
    told += ". The model has read nothing but the small news of its own world, where sentences begin with a capital."
    [reading] = language_model.read([line])
    return told, Drawing(
        "text",
        "Your text as the same model read it: a row a word, the newest red, the words it attended to on blue.",
        reading.plot(),
    )


EXPERIMENT = Experiment(
    name="reading",
    title="What a reader with a memory looks at",
    claim="With self-attention a recurrent network pays attention to the context relevant to the new input.",
    source="Shusen Wang, Self-Attention (the last slide, with the figure of Cheng, Dong & Lapata 2016)",
    method=(
        "LSTMN language models are trained on generated news of some 250 words, in which verbs agree with far "
        "subjects, particles with their verbs and pronouns with their nouns, and in which each line knows which of its "
        "words belong together. On held-out lines, the attention each new word gives to such words is compared with "
        "what it gives to others: at the same step and distance, because near words get more anyway; and for the same "
        "word there, because some words may draw attention whatever is read. The same models with the weights "
        "they began with stand beside. The figure’s own sentence is kept out of the training."
    ),
    decides=(
        "A ratio of 1 is what a reader without regard for relevance would give, so 1 is the bound: the lower end of "
        "the 95 % interval (sentences redrawn) must not be below it in any seed, at the same step and distance and for "
        "the same word. And what is seen must be learnt: the trained models’ lowest lower end must lie above the "
        "untrained models’ highest upper end."
    ),
    run=run,
    seconds=96,
    text="a sentence to be read",
)
