"""Reading the source backwards helps the fixed vector (Sutskever et al. 2014, §3.3).

An LSTM hands its last state to another; there is no attention. The one thing that differs is the order in which the
source is read: as it stands, or from its last word to its first, which brings the first words of both sides together.
The same sentences, updates and seeds both ways. What decides: perplexity and BLEU, each difference held against how
far it differs from seed to seed.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from regard.lab.bench import Bench, Check, Experiment, Finding, Verdict
from regard.lab.figures.reversal import draw_reversal, remark_reversal, tabulate_reversal
from regard.lab.measures.along import mean_by_place
from regard.lab.measures.lag import mean_lags
from regard.lab.measures.spread import Spread, over_seeds
from regard.lab.measures.student import critical_t, t_of
from regard.lab.measures.written import score_written
from regard.translator import Translator
from regard.worlds import Splits
from regard.worlds.microworld import Microworld

WAYS = {"forwards": False, "backwards": True}
"""The two ways to read a source, and whether the encoder reverses it."""


@dataclass(frozen=True)
class Sizes:
    """How large everything is.

    Attributes:
        train: pairs to learn from.
        test: held-out pairs.
        longest: the most English words in a pair.
        units: of the embeddings and of the one layer of each LSTM.
        batch_words: in an update, of the longer side, padding counted.
        updates: of each model.
        rate: the learning rate at its highest.
        seeds: how many models are trained each way.
    """

    train: int
    test: int
    longest: int
    units: int
    batch_words: int
    updates: int
    rate: float
    seeds: int


USUAL = Sizes(40_000, 500, 7, units=160, batch_words=320, updates=800, rate=0.006, seeds=5)
FULL = Sizes(200_000, 2_000, 10, units=192, batch_words=480, updates=2_500, rate=0.006, seeds=8)


@dataclass(frozen=True)
class Arm:
    """One model.

    Attributes:
        way: one of `WAYS`.
        seed: of its weights and of the order of its batches.
        sizes: of everything.
        data: what it learns from, and what it then translates and reads.
    """

    way: str
    seed: int
    sizes: Sizes
    data: Splits


def run(bench: Bench) -> Finding:
    """Train both ways and compare."""
    return find(bench, bench.choose(USUAL, FULL))


def find(bench: Bench, sizes: Sizes) -> Finding:
    """The whole experiment."""
    data = Microworld().splits(
        train=sizes.train, valid=200, test=sizes.test, seed=bench.seed, longest=sizes.longest
    )
    seeds = bench.seeds(sizes.seeds)
    arms = [Arm(way, seed, sizes, data) for way in WAYS for seed in seeds]
    measured = bench.each(_measure, arms)
    numbers = {
        "seeds": seeds,
        "sentences": len(data.test),
        "ways": {
            way: [each for arm, each in zip(arms, measured, strict=True) if arm.way == way] for way in WAYS
        },
        "lags": {way: mean_lags(data.test, reverse=reverse) for way, reverse in WAYS.items()},
    }
    drawings, grids = draw_reversal(numbers), tabulate_reversal(numbers)
    return Finding(numbers, verdict(numbers), drawings, grids, remark_reversal(numbers))


def _measure(bench: Bench, arm: Arm) -> dict[str, Any]:
    """Train one model; let it translate the test sentences, and read their references."""
    name, data = f"{arm.way}-{arm.seed}", arm.data
    path = bench.train(name, _config(arm.way, arm.sizes), data.train, data.valid, seed=arm.seed)
    translator = Translator.load(path)
    sources, targets = [e.source for e in data.test], [e.target for e in data.test]
    written = [each.text for each in translator.translate(sources, beam=1)]
    surprise = [[-value for value in read.token_log_probs] for read in translator.align(sources, targets)]
    words = [value for row in surprise for value in row]
    return {
        "perplexity": math.exp(math.fsum(words) / len(words)),
        **score_written(written, targets),
        "surprise": mean_by_place(surprise, arm.sizes.longest),
    }


def _config(way: str, sizes: Sizes) -> dict[str, Any]:
    n = sizes.units
    stack = {"cell": "lstm", "embedding_size": n, "state_size": n, "num_layers": 1, "dropout": 0.0}
    return {
        "preset": "sutskever-small",
        "tokenizer": {"source": "word", "target": "word"},
        "model": {
            "tie": "target",  # one matrix learns the many French forms from both of its uses
            "encoder": {**stack, "reverse": WAYS[way]},
            "decoder": stack,
        },
        "training": {
            "rate": sizes.rate,
            "label_smoothing": 0.0,
            "batch_sentences": sizes.batch_words,
            "batch_tokens": sizes.batch_words,
            "max_epochs": 0,
            "max_updates": sizes.updates,
            "validate_every": sizes.updates,
            "validation_sentences": 50,
        },
    }


def gains(numbers: Mapping[str, Any], part: str) -> Spread:
    """How much more of a number the backward model has than the forward one of the same seed."""
    pairs = zip(numbers["ways"]["backwards"], numbers["ways"]["forwards"], strict=True)
    return Spread.of(backward[part] - forward[part] for backward, forward in pairs)


def verdict(numbers: Mapping[str, Any]) -> Verdict:
    """The same bound on both numbers; see `EXPERIMENT.decides`."""
    perplexity, bleu = gains(numbers, "perplexity"), gains(numbers, "bleu")
    after = {part: over_seeds(numbers["ways"]["backwards"], part).mean for part in ("perplexity", "bleu")}
    return Verdict(
        [
            Check(
                "Perplexity lost by reading backwards: t over the seeds",
                -t_of(perplexity),
                "at least",
                critical_t(len(perplexity.values)),
            ),
            Check(
                "BLEU gained by reading backwards: t over the seeds",
                t_of(bleu),
                "at least",
                critical_t(len(bleu.values)),
            ),
        ],
        f"Read backwards instead of forwards, perplexity changes by {perplexity.mean:+.2f} ± "
        f"{perplexity.deviation:.2f} to {after['perplexity']:.2f}, and BLEU by {bleu.mean:+.1f} ± {bleu.deviation:.1f} "
        f"to {after['bleu']:.1f} (mean and deviation over {len(bleu.values)} seeds).".replace("-", "−"),
    )


EXPERIMENT = Experiment(
    name="reversal",
    title="Reading the source backwards",
    claim="Where a fixed vector is all that the decoder gets, reading the source from its last word to its first makes "
    "the translation better, because the first words of both sides come close to each other.",
    source="Sutskever, Vinyals & Le 2014, §3.3, the first paper of the lecture “seq2seq & attention”",
    method="An LSTM encoder–decoder without attention learns the microworld's English → French from short sentences, "
    "once reading the source forwards and once backwards, with several seeds each. Seed by seed all else is the same: "
    "sentences, their order, first weights, updates. Measured on held-out sentences: perplexity of the references, "
    "BLEU of greedy translations, and −log p of the references' words by their place.",
    decides="The difference backwards less forwards, seed by seed: its mean must be in the claimed direction, and "
    "further from 0 than chance would have it one time in twenty (Student's t, one-sided), in perplexity and in BLEU.",
    run=run,
    seconds=280,
)
