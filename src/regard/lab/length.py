"""The fixed vector fails on long sentences, attention does not: the four curves of Bahdanau et al. 2015, Figure 2.

RNNencdec, which hands one vector from encoder to decoder, and RNNsearch, which attends, each learn from sentences of up
to 15 words (-15) and of up to 30 (-30), and translate sentences of 3 to 60. What decides: the BLEU that each keeps at
lengths beyond its own, up to twice as long, of what it has on short sentences.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import Any

from regard.lab.bench import Bench, Check, Experiment, Finding, Verdict
from regard.lab.figures.length import draw_length, remark_length, tabulate_length
from regard.lab.measures.along import mean_by_part
from regard.lab.measures.kept import kept
from regard.lab.measures.written import score_written
from regard.translator import Translator
from regard.worlds import Example
from regard.worlds.microworld import Microworld

Band = tuple[int, int]
"""The fewest and the most English words of some test sentences."""

KEPT, LOST = 80.0, 50.0
"""Percent of the short sentences' BLEU: what attention must keep at least, and the fixed vector at most."""


@dataclass(frozen=True)
class Sizes:
    """How large everything is.

    Attributes:
        train: pairs of up to `long` words; those of up to `short` among them are the -15 models' data.
        short: the most English words a -15 model learns from; what is no longer is a short sentence for all.
        long: the most English words a -30 model learns from.
        longest: the most English words in a test sentence.
        width: of a band of test lengths, in words; it divides the three above.
        test: sentences in a band.
        units: of embeddings, alignment model, readout and each of RNNsearch's two directions; the decoder, and the one
            direction of RNNencdec, have twice as many.
        batch_words: in an update, of the longer side, padding counted.
        updates: of each of the four models.
        rate: the learning rate at its highest.
    """

    train: int
    short: int
    long: int
    longest: int
    width: int
    test: int
    units: int
    batch_words: int
    updates: int
    rate: float


USUAL = Sizes(100_000, 15, 30, 60, 5, 60, units=96, batch_words=640, updates=1_300, rate=0.006)
FULL = Sizes(400_000, 15, 30, 60, 5, 200, units=128, batch_words=1_280, updates=5_000, rate=0.006)


@dataclass(frozen=True)
class Arm:
    """One of the four models.

    Attributes:
        kind: RNNencdec or RNNsearch.
        longest: the most words it learns from.
        sizes: of everything.
        train: what it learns from.
        valid: what it is validated with.
        bands: the test sentences, by their fewest and most words.
    """

    kind: str
    longest: int
    sizes: Sizes
    train: Sequence[Example]
    valid: Sequence[Example]
    bands: Mapping[Band, Sequence[Example]]

    @property
    def name(self) -> str:
        """As in the paper's figure."""
        return f"{self.kind}-{self.longest}"


def run(bench: Bench) -> Finding:
    """Train the four models and let them translate."""
    return find(bench, bench.choose(USUAL, FULL))


def find(bench: Bench, sizes: Sizes) -> Finding:
    """The whole experiment."""
    world = Microworld()
    data = world.splits(train=sizes.train, valid=200, test=0, seed=bench.seed, longest=sizes.long)
    bands = {
        (low, high): world.splits(
            train=0, valid=0, test=sizes.test, seed=bench.seed, shortest=low, longest=high
        ).test
        for low, high in lengths(sizes)
    }
    arms = [
        Arm(kind, longest, sizes, _up_to(longest, data.train), _up_to(longest, data.valid), bands)
        for kind in ("RNNencdec", "RNNsearch")
        for longest in (sizes.short, sizes.long)
    ]
    models = dict(zip([arm.name for arm in arms], bench.each(_measure, arms), strict=True))
    numbers = {"seed": bench.seed, "short": sizes.short, "long": sizes.long, "models": models}
    grids = tabulate_length(numbers, KEPT)
    return Finding(numbers, verdict(numbers), draw_length(numbers), grids, remark_length(numbers, KEPT))


def lengths(sizes: Sizes) -> list[Band]:
    """The bands of test lengths, from the three words that a sentence has at least."""
    return [
        (max(high - sizes.width + 1, 3), high) for high in range(sizes.width, sizes.longest + 1, sizes.width)
    ]


def _up_to(longest: int, examples: Sequence[Example]) -> list[Example]:
    return [example for example in examples if len(example.source.split()) <= longest]


def _measure(bench: Bench, arm: Arm) -> dict[str, Any]:
    """Train one model; let it translate the test sentences, and read their references."""
    translator = Translator.load(bench.train(arm.name, _config(arm.kind, arm.sizes), arm.train, arm.valid))
    bench.voice(f"{arm.name} translates")
    written, likely = {}, {}
    for band, examples in arm.bands.items():
        sources, targets = [e.source for e in examples], [e.target for e in examples]
        written[band] = [each.text for each in translator.translate(sources, beam=1)]
        # a probability above ½ is the greatest of all, so the word would have been chosen
        likely[band] = [
            [float(value > -log(2)) for value in read.token_log_probs]
            for read in translator.align(sources, targets)
        ]

    def score(bands: Sequence[Band]) -> dict[str, float]:
        lines = [line for band in bands for line in written[band]]
        return score_written(lines, [e.target for band in bands for e in arm.bands[band]])

    beyond = [band for band in arm.bands if arm.longest < band[0] and band[1] <= 2 * arm.longest]
    return {
        "longest": arm.longest,
        "pairs": len(arm.train),
        "parameters": translator.model.num_parameters,
        "bands": [
            {"lower": band[0], "upper": band[1], "middle": sum(band) / 2, **score([band])}
            | {"likely": 100 * mean_by_part(likely[band], 1)[0]}
            for band in arm.bands
        ],
        "short": score([band for band in arm.bands if band[1] <= arm.sizes.short]),
        "beyond": score(beyond),
        "thirds": [
            100 * share for share in mean_by_part([row for band in beyond for row in likely[band]], 3)
        ],
    }


def _config(kind: str, sizes: Sizes) -> dict[str, Any]:
    """Equal but for the attention, and for the encoder's second direction, which only attention has a use for."""
    n, attends = sizes.units, kind == "RNNsearch"
    encoder = {"embedding_size": n, "dropout": 0.0}
    decoder = {"kind": "cho", **encoder, "state_size": 2 * n, "readout_size": n}
    return {
        "preset": "rnnsearch-small",
        "tokenizer": {"source": "word", "target": "word"},
        "model": {
            "tie": "target",
            "encoder": {**encoder, "bidirectional": attends, "state_size": n if attends else 2 * n},
            "decoder": {**decoder, "kind": "bahdanau", "attention": {"size": n}} if attends else decoder,
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


def verdict(numbers: Mapping[str, Any]) -> Verdict:
    """Two bounds on two models each; see `EXPERIMENT.decides`."""
    checks = []
    for name, model in numbers["models"].items():
        what = f"BLEU kept at {model['longest'] + 1}–{2 * model['longest']} words, {name}"
        if name.startswith("RNNsearch"):
            checks.append(Check(what, kept(model), "at least", KEPT, " %"))
        else:
            checks.append(Check(what, kept(model), "at most", LOST, " %"))
    told = "; ".join(
        f"{name} goes from {model['short']['bleu']:.1f} to {model['beyond']['bleu']:.1f} ({kept(model):.0f} % kept)"
        for name, model in numbers["models"].items()
    )
    return Verdict(checks, f"From short sentences to those longer than any it learnt from, BLEU of {told}.")


EXPERIMENT = Experiment(
    name="length",
    title="The fixed vector fails on long sentences",
    claim="“The final state is incapable of remembering a long sequence.” An encoder–decoder that must press a "
    "sentence into one vector copes badly with long sentences, “especially those that are longer than the sentences "
    "in the training corpus”; attention need not.",
    source="“Seq2Seq Model with Attention”: “Shortcoming”; “seq2seq & attention”: “Limitation of seq2seq based LSTM” "
    "and “Results”, after Bahdanau et al. 2015, Figure 2",
    method="RNNencdec (one vector, Cho's decoder) and RNNsearch (attention, Bahdanau's decoder), with equal states, "
    "learn the microworld's English → French from sentences of up to 15 and of up to 30 words: four models, the same "
    "updates, the same words in an update, the same rate. Each then translates sentences of 3 to 60 words, equally "
    "many of each length, none of which it has met, always with the likeliest next word (greedy search). There is one "
    "seed and one rate for all four models, not tuned for either kind.",
    decides="What a model keeps of its BLEU on short sentences (up to 15 words) at the lengths from one word more than "
    "it learnt from to twice as many. Attention must keep at least 80 %, so that the curve may sag but not fall; the "
    "fixed vector must have lost most of its own, so keep at most 50 %. Both for both training lengths.",
    run=run,
    seconds=430,
)
