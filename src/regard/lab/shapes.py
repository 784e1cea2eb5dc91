"""One to one, one to many, many to one, many to many: a small recurrent network of each shape, trained and shown.

Each is trained on a dataset of its own for a few seconds, and compared with a baseline without a state. One example is
shown for each: the first of the test set that is short enough for the figure (and, for tags, has an ambiguous word),
whatever the network makes of it. What decides: every shape but the first corrects at least half of its baseline's
errors.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from regard.config import Config
from regard.datasets import Dataset, Example, Microworld, PartsOfSpeech, Scenes, Sentiment, Splits
from regard.lab.measures.baselines import (
    BagOfWords,
    most_frequent,
    most_frequent_by_question,
    nearest_captions,
    word_for_word,
)
from regard.lab.measures.statistics import average
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
from regard.plots.figures.shapes import Shape, draw_shapes
from regard.tasks.caption.predictor import Captioner
from regard.tasks.classify.predictor import Classifier
from regard.tasks.tag.predictor import Tagger
from regard.tasks.translate.predictor import Translator

_SHOWN_ONLY = "one to one"
"""No network can beat its baseline."""
_SHOWN_LENGTHS = range(4, 9)
"""In words, of an example that fits the figure."""
_EMPTY = "–"
"""Shown for an output without a word."""


@dataclass(frozen=True)
class ShapeSizes(Config):
    """The size of the training and the test of one shape.

    Attributes:
        examples: training examples.
        updates: of 64 examples each.
        units: of a state; a word's embedding has half as many.
        test: test examples.
    """

    examples: int
    updates: int
    units: int = 128
    test: int = 500


@dataclass(frozen=True)
class ShapesSizes(Config):
    """The size of the experiment: one field per shape, and how many networks of each."""

    seeds: int
    one_to_one: ShapeSizes
    one_to_many: ShapeSizes
    many_to_one: ShapeSizes
    many_to_many_in_step: ShapeSizes
    many_to_many: ShapeSizes


REGISTERED = read_registration(__file__, ShapesSizes.from_mapping)
BOUNDS = REGISTERED.bounds


def measure(bench: Bench, sizes: ShapesSizes) -> Finding:
    """Train and score networks of each shape."""
    seeds = bench.seeds(sizes.seeds)
    measured = iter(
        bench.starmap(
            _train_shape,
            [
                (name, seed, getattr(sizes, network.__name__))
                for seed in seeds
                for name, network in NETWORKS.items()
            ],
        )
    )
    runs = [{name: next(measured) for name in NETWORKS} for _ in seeds]
    shapes = average(runs)
    numbers = {"seeds": seeds, "shapes": shapes, "runs": runs}
    return Finding(
        numbers, verdict(runs), make_figures(shapes, runs[0]), make_tables(shapes), write_remarks()
    )


def _train_shape(bench: Bench, name: str, seed: int, sizes: ShapeSizes) -> dict[str, Any]:
    """A network with its own data, weights and order of batches, in a folder of its own."""
    own = replace(bench, folder=bench.folder / f"seed-{seed}", seed=seed)
    return NETWORKS[name](own, sizes)


def one_to_one(bench: Bench, sizes: ShapeSizes) -> dict[str, Any]:
    """A word → its part of speech: the tagged sentences, word by word."""
    splits = _splits(PartsOfSpeech(), bench, sizes)
    train, valid, test = (single_words(part) for part in (splits.train, splits.valid, splits.test))
    tagger = Tagger.load(bench.train("one-to-one", _tagger(sizes), train, valid))
    predicted = [tagging.tags[0] for tagging in tagger.tag([word.source for word in test])]
    gold = [word.target for word in test]
    ambiguous = ambiguous_words(train)
    shown = next(k for k, word in enumerate(test) if word.source in ambiguous)
    return {
        "subtitle": "a word → its part of speech",
        "inputs": [test[shown].source],
        "outputs": [predicted[shown]],
        "meant": gold[shown],
        **_accuracy(predicted, _most_frequent_tags(train, test), gold),
        "against": "each word's most frequent tag",
    }


def one_to_many(bench: Bench, sizes: ShapeSizes) -> dict[str, Any]:
    """A vector → a caption: every state sees the vector, and each word is an input of the next state."""
    splits = _splits(Scenes(), bench, sizes)
    config = {
        "preset": "captioner",
        "model": {"summary_size": sizes.units, "decoder": _decoder(sizes)},
        "training": {**_training(sizes.updates), "label_smoothing": 0.0},
    }
    captioner = Captioner.load(bench.train("one-to-many", config, splits.train, splits.valid))
    features, gold = [e.features for e in splits.test], [e.target for e in splits.test]
    predicted = [each.text for each in captioner.caption(np.array(features, dtype=np.float32), beam=1)]
    shown = next(k for k, text in enumerate(gold) if len(text.split()) in _SHOWN_LENGTHS)
    words = predicted[shown].split() or [_EMPTY]
    return {
        "subtitle": "the features of a scene → a sentence",
        "inputs": [f"{len(features[shown])} numbers", *[None] * (len(words) - 1)],
        "outputs": words,
        "meant": gold[shown],
        **_bleu(predicted, nearest_captions(splits.train, features), gold),
        "against": "the caption of the nearest training scene",
    }


def many_to_one(bench: Bench, sizes: ShapeSizes) -> dict[str, Any]:
    """A sentence → its sentiment, from the last state alone."""
    splits = _splits(Sentiment(), bench, sizes)
    config = {
        "preset": "classifier",
        "model": {"encoder": {**_stack(sizes), "bidirectional": False}, "pooling": "last"},
        "training": _training(sizes.updates),
    }
    classifier = Classifier.load(bench.train("many-to-one", config, splits.train, splits.valid))
    sources, gold = [e.source for e in splits.test], [e.target for e in splits.test]
    predicted = [each.label for each in classifier.classify(sources)]
    bag = BagOfWords.fit(splits.train)
    shown = next(k for k, source in enumerate(sources) if len(source.split()) in _SHOWN_LENGTHS)
    words = sources[shown].split()
    return {
        "subtitle": "a sentence → its sentiment",
        "inputs": words,
        "outputs": [*[None] * (len(words) - 1), predicted[shown]],
        "meant": gold[shown],
        **_accuracy(predicted, [bag.label(source) for source in sources], gold),
        "against": "a bag of words",
    }


def many_to_many_in_step(bench: Bench, sizes: ShapeSizes) -> dict[str, Any]:
    """Words → their parts of speech, one for each, read from left to right."""
    splits = _splits(PartsOfSpeech(), bench, sizes)
    tagger = Tagger.load(bench.train("in-step", _tagger(sizes), splits.train, splits.valid))
    sources = [e.source for e in splits.test]
    predicted = [each.tags for each in tagger.tag(sources)]
    train, test = single_words(splits.train), single_words(splits.test)
    ambiguous = ambiguous_words(train)
    shown = next(
        k
        for k, source in enumerate(sources)
        if len(source.split()) in _SHOWN_LENGTHS and ambiguous & {*source.split()}
    )
    return {
        "subtitle": "words → their parts of speech",
        "inputs": sources[shown].split(),
        "outputs": list(predicted[shown]),
        "meant": splits.test[shown].target,
        **_accuracy(
            [tag for tags in predicted for tag in tags],
            _most_frequent_tags(train, test),
            [word.target for word in test],
        ),
        "against": "each word's most frequent tag",
    }


def many_to_many(bench: Bench, sizes: ShapeSizes) -> dict[str, Any]:
    """English → French: the decoder sees only the encoder's last state, s_t = g(y_{t−1}, s_{t−1}, c)."""
    splits = Microworld().splits(
        train=sizes.examples,
        valid=100,
        test=sizes.test,
        seed=bench.seed,
        shortest=3,
        longest=_SHOWN_LENGTHS[-1],
    )
    config = {
        "preset": "rnnencdec-small",
        "tokenizer": {"source": "word", "target": "word"},
        "model": {
            "encoder": {**_stack(sizes), "bidirectional": False},
            "decoder": _decoder(sizes),
        },
        "training": {**_training(sizes.updates), "label_smoothing": 0.0},
    }
    translator = Translator.load(bench.train("many-to-many", config, splits.train, splits.valid))
    sources, gold = [e.source for e in splits.test], [e.target for e in splits.test]
    predicted = [each.text for each in translator.translate(sources, beam=1)]
    shown = next(k for k, source in enumerate(sources) if len(source.split()) in range(4, 7))
    words, outputs = sources[shown].split(), predicted[shown].split() or [_EMPTY]
    return {
        "subtitle": "English → French",
        "inputs": [*words, *[None] * len(outputs)],
        "outputs": [*[None] * len(words), *outputs],
        "meant": gold[shown],
        **_bleu(predicted, word_for_word(splits.train, sources), gold),
        "against": "word for word",
    }


NETWORKS: dict[str, Callable[[Bench, ShapeSizes], dict[str, Any]]] = {
    "one to one": one_to_one,
    "one to many": one_to_many,
    "many to one": many_to_one,
    "many to many, in step": many_to_many_in_step,
    "many to many": many_to_many,
}
"""By the lecture's names; "in step" is its per-frame classification."""


def _splits(dataset: Dataset, bench: Bench, sizes: ShapeSizes) -> Splits:
    return dataset.splits(train=sizes.examples, valid=100, test=sizes.test, seed=bench.seed)


def _stack(sizes: ShapeSizes) -> dict[str, Any]:
    """One layer of the paper's GRU, the same in every shape."""
    return {
        "cell": "gru",
        "num_layers": 1,
        "embedding_size": sizes.units // 2,
        "state_size": sizes.units,
        "dropout": 0.0,
    }


def _decoder(sizes: ShapeSizes) -> dict[str, Any]:
    """The lecture's decoder: each state from the previous word, the previous state, and one fixed vector."""
    return {"kind": "cho", **_stack(sizes), "readout_size": sizes.units // 2}


def _training(updates: int) -> dict[str, Any]:
    return train_for(updates, learning_rate=0.005, warmup=50, batch_sentences=64)


def _tagger(sizes: ShapeSizes) -> dict[str, Any]:
    model = {"encoder": {**_stack(sizes), "bidirectional": False}}
    return {"preset": "tagger", "model": model, "training": _training(sizes.updates)}


def single_words(examples: Iterable[Example]) -> list[Example]:
    """Tagged sentences, split into words that are examples of their own."""
    pairs = (zip(each.source.split(), each.target.split(), strict=True) for each in examples)
    return [Example(word, tag) for sentence in pairs for word, tag in sentence]


def ambiguous_words(words: Iterable[Example]) -> set[str]:
    """The words that have more than one tag."""
    tags: defaultdict[str, set[str]] = defaultdict(set)
    for word in words:
        tags[word.source].add(word.target)
    return {word for word, different in tags.items() if len(different) > 1}


def _most_frequent_tags(train: Sequence[Example], test: Sequence[Example]) -> list[str]:
    """The most frequent tag of each test word; of an unseen word, that of all words."""
    by_word = most_frequent_by_question((word.source, word.target) for word in train)
    overall = most_frequent(word.target for word in train)
    return [by_word.get(word.source, overall) for word in test]


def _accuracy(predicted: Sequence[str], guessed: Sequence[str], gold: Sequence[str]) -> dict[str, Any]:
    score, baseline = (100 * sum(map(str.__eq__, each, gold)) / len(gold) for each in (predicted, guessed))
    return {"measure": "accuracy", "score": score, "baseline": baseline}


def _bleu(predicted: Sequence[str], guessed: Sequence[str], gold: Sequence[str]) -> dict[str, Any]:
    score, baseline = (score_translations(each, gold)["bleu"] for each in (predicted, guessed))
    return {"measure": "BLEU", "score": score, "baseline": baseline}


def corrected(score: float, baseline: float) -> float:
    """Percent of the baseline's distance from 100 that a score gains; below 0 if it loses.

    Not a number if the baseline has 100, so that there is nothing to correct.
    """
    return 100 * (score - baseline) / (100 - baseline) if baseline < 100 else math.nan


def verdict(runs: Sequence[Mapping[str, Mapping[str, Any]]]) -> Verdict:
    """The same bound on every shape but the first, over the seeds; see `EXPERIMENT.decides`."""
    shapes = average(runs)
    checks = [
        Check.over_seeds(
            f"{name}: the baseline's errors corrected",
            [corrected(run[name]["score"], run[name]["baseline"]) for run in runs],
            "at least",
            BOUNDS["corrected"],
            " %",
        )
        for name in shapes
        if name != _SHOWN_ONLY
    ]
    scores = "; ".join(
        f"{name}: {shape['measure']} {shape['score']:.1f} ({shape['against']}: {shape['baseline']:.1f})"
        for name, shape in shapes.items()
    )
    return Verdict(checks, f"{scores[0].upper()}{scores[1:]} (means over {len(runs)} seeds).")


def make_figures(
    shapes: Mapping[str, Mapping[str, Any]], first: Mapping[str, Mapping[str, Any]]
) -> list[CaptionedFigure]:
    """All shapes in one figure, each with an example of the first seed's network."""
    caption = (
        "The lecture's boxes with a test example in each: inputs below, states in the middle, the trained network's "
        "own outputs above. A dashed line feeds an output to the next state; every state of a decoder sees the vector, "
        "or the encoder's last state, though only one arrow is shown; EOS is left out. The bar is the score on "
        "the test set, mean over the seeds, the notch the baseline. The shapes differ in which boxes exist: the cell "
        "in the middle is the "
        "same GRU."
    )
    drawn = [
        Shape(
            name,
            **_figure_fields({**shape, "score": shapes[name]["score"], "baseline": shapes[name]["baseline"]}),
        )
        for name, shape in first.items()
    ]
    return [CaptionedFigure("shapes", caption, draw_shapes(drawn))]


def _figure_fields(shape: Mapping[str, Any]) -> dict[str, Any]:
    """Outputs are fed back if a step has no input; the reference is shown if the output differs from it."""
    output = " ".join(word for word in shape["outputs"] if word is not None)
    return {
        **shape,
        "fed": None in shape["inputs"],
        "meant": "" if output == shape["meant"] else shape["meant"],
    }


def make_tables(shapes: Mapping[str, Mapping[str, Any]]) -> list[Table]:
    """Every network with its baseline."""
    rows = [
        [
            name,
            shape["subtitle"],
            f"{shape['measure']} {shape['score']:.1f}",
            f"{shape['baseline']:.1f} ({shape['against']})",
            f"{corrected(shape['score'], shape['baseline']):.0f} %".replace("-", "−"),
        ]
        for name, shape in shapes.items()
    ]
    columns = ["shape", "input → output", "network", "baseline", "errors corrected"]
    return [Table("All shapes on their test sets.", columns, rows)]


def write_remarks() -> list[str]:
    """What one step can do, how the last shape is made, and which examples are shown; the same for all numbers."""
    return [
        "One to one does not need a recurrent network: with one step there is no past. It is here because the lecture "
        "has it, and for comparison. From a word alone the best answer is its most frequent tag, so that table is its "
        "baseline and that of the same task in step; what is above it there comes from the words before.",
        "The last shape is two of the others: many to one encodes, one to many decodes, and a state is all that passes "
        "between them. The sentences are short here; the experiments length and bottleneck are about long ones. The "
        "decoder is the lecture's, which sees that state at every step. Where only its first state depended on the "
        "source, a run of this length, tried once, was no better than word for word (BLEU 28): the shape says what "
        "can be learned, not how soon.",
        "An example is the first of the test set that is short enough for the figure (and, for tags, has a word with "
        "several tags); how well the network does on it plays no part.",
    ]


EXPERIMENT = Experiment(
    name="shapes",
    title="One to many, many to one, many to many",
    claim="Recurrent networks process sequences of any shape: one to many, many to one, many to many; sequence to "
    "sequence is many to one and one to many together.",
    source="“Attention”: “Recurrent Neural Networks: Process Sequences”, “Sequence to Sequence (seq2seq)”",
    method="A GRU of one layer is trained in each shape: one word to its part of speech, a vector to a caption, a "
    "sentence to its sentiment, words to their parts of speech in step, English to French through one vector. Each is "
    "scored on held-out sentences or scenes, and compared with a baseline that counts or looks up but has no state.",
    decides=f"Every shape but the first corrects at least {BOUNDS['corrected']:.0f} % of its baseline's errors, what "
    "it "
    "misses of 100: as far from the baseline as from perfection is the least that can be called clearly better. "
    "Baselines are chosen to be "
    "hard where counting goes far: a bag of words, each word's most frequent tag, the nearest training scene, word for "
    "word with a dictionary from gold links. One to one is shown and decides nothing: no network can beat the table of "
    "most frequent tags.",
    measure=measure,
    usual=REGISTERED.usual,
    full=REGISTERED.full,
    registration=REGISTERED,
    seconds=280,
)
