"""The figure, the table and the remarks of the experiment on length.

In: its numbers. Out: a drawing with its caption, a table, remarks. Nothing is measured here.

The fixed vector fails on long sentences, attention does not: the four curves of Bahdanau et al. 2015, Figure 2.

RNNencdec, which hands one vector from encoder to decoder, and RNNsearch, which attends, each learn from sentences of up
to 15 words (-15) and of up to 30 (-30), and translate sentences of 3 to 60. What decides: the BLEU that each keeps at
lengths beyond its own, up to twice as long, of what it has on short sentences.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import Any

from regard.datasets import Example
from regard.datasets.microworld import Microworld
from regard.lab.measures.length import kept, mean_by_part, reach, score_written
from regard.lab.runner import Bench, Check, Drawing, Experiment, Finding, Grid, Verdict
from regard.plots.figures.curves import Curve, Mark, Panel, draw_curves
from regard.tasks.translate.predictor import Translator


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
    learning_rate: float


USUAL = Sizes(100_000, 15, 30, 60, 5, 60, units=96, batch_words=640, updates=1_300, learning_rate=0.006)
FULL = Sizes(400_000, 15, 30, 60, 5, 200, units=128, batch_words=1_280, updates=5_000, learning_rate=0.006)


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
    dataset = Microworld()
    data = dataset.splits(train=sizes.train, valid=200, test=0, seed=bench.seed, longest=sizes.long)
    bands = {
        (low, high): dataset.splits(
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
            "learning_rate": sizes.learning_rate,
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
