"""Attention is soft alignment: RNNsearch learns to translate, and nobody tells it which word belongs to which.

Trained on English–French pairs of the microworld; the gold links between their words are kept from it. The model then
reads held-out pairs, and each French word is linked to the English word it attends to most. Beside it stand two
aligners that know nothing: the diagonal, and the same model before its first update. What decides: the alignment
error rate, the words whose links cross, and how much of their attention lies on gold links.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from regard.lab.bench import Bench, Check, Experiment, Finding, Verdict
from regard.lab.figures.alignment import draw_alignment, remark_alignment, tabulate_alignment
from regard.lab.measures.aligners import Reading, alpha_of, compare
from regard.lab.measures.telling_pairs import choose, in_words
from regard.models import Seq2Seq
from regard.output.quality import measure
from regard.output.translation import Translation
from regard.translator import Translator
from regard.worlds import Example, Splits
from regard.worlds.microworld import Microworld


@dataclass(frozen=True)
class Sizes:
    """How large everything is.

    Attributes:
        train: pairs to learn from.
        test: held-out pairs to align and translate.
        longest: the most English words in a pair.
        units: of embeddings, alignment model, readout and each of the encoder's directions; the decoder has twice as
            many.
        updates: of 64 pairs each.
    """

    train: int
    test: int
    longest: int
    units: int
    updates: int


USUAL = Sizes(train=80_000, test=500, longest=15, units=96, updates=1_600)
FULL = Sizes(train=300_000, test=2_000, longest=15, units=128, updates=8_000)


def run(bench: Bench) -> Finding:
    """Train, align and draw."""
    return find(bench, bench.choose(USUAL, FULL))


def find(bench: Bench, sizes: Sizes) -> Finding:
    """Train one model, and hold what it attends to against gold links."""
    splits = Microworld().splits(
        train=sizes.train, valid=100, test=sizes.test, seed=bench.seed, longest=sizes.longest
    )
    (reading,) = bench.each(_read, [(sizes, splits)])
    examples, shown = splits.test, choose(splits.test)
    quality = measure([each.text for each in reading.output], [e.target for e in examples], tokenize="none")
    numbers = {
        "seed": bench.seed,
        "sentences": len(examples),
        "bleu": quality.bleu,
        "exact_match": 100 * quality.exact_match,
        **compare(examples, reading),
        "shown": {title: _shown(examples[k], reading.trained[k]) for title, k in shown.items()},
    }
    drawings = draw_alignment(numbers, examples, reading.trained, shown)
    grids = tabulate_alignment(numbers)
    return Finding(numbers, verdict(numbers), drawings, grids, remark_alignment(numbers))


def _read(bench: Bench, arm: tuple[Sizes, Splits]) -> Reading:
    sizes, splits = arm
    translator = Translator.load(bench.train("rnnsearch", _config(sizes), splits.train, splits.valid))
    sources, targets = [e.source for e in splits.test], [e.target for e in splits.test]
    bench.voice("aligning and translating")
    return Reading(
        translator.align(sources, targets),
        untrained(translator, bench.seed).align(sources, targets),
        translator.translate(sources, beam=5),
    )


def _config(sizes: Sizes) -> dict[str, Any]:
    """`regard demo microworld`, shorter."""
    n = sizes.units
    return {
        "preset": "rnnsearch-small",
        "tokenizer": {"source": "word", "target": "word"},
        "model": {
            "tie": "target",
            "encoder": {"embedding_size": n, "state_size": n, "dropout": 0.0},
            "decoder": {
                "embedding_size": n,
                "state_size": 2 * n,
                "attention": {"size": n},
                "readout_size": n,
                "dropout": 0.0,
            },
        },
        "training": {
            "rate": 0.006,
            "label_smoothing": 0.0,
            "batch_sentences": 64,
            "max_epochs": 0,
            "max_updates": sizes.updates,
            "validate_every": sizes.updates,
            "validation_sentences": 50,
        },
    }


def untrained(translator: Translator, seed: int) -> Translator:
    """A translator of the same shape, with weights as they are drawn."""
    source, target = translator.source_tokenizer, translator.target_tokenizer
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = Seq2Seq(translator.model.config, source.size, target.size)
    return Translator(model.eval(), source, target)


def verdict(numbers: Mapping[str, Any]) -> Verdict:
    """Three numbers against their bounds, which `EXPERIMENT.decides` gives reasons for."""
    found, crossing, weight = numbers["aligners"], numbers["kinds"]["crossing"], numbers["crossing_weight"]
    ours, ignorant = found["attention"], min(found["diagonal"]["aer"], found["untrained"]["aer"])
    ratio = ours["aer"] / ignorant if ignorant else float("nan")
    return Verdict(
        [
            Check(
                "AER of attention over the lower of the diagonal's and the untrained model's",
                ratio,
                "at most",
                0.5,
            ),
            Check(
                "French words with crossing links linked rightly", crossing["attention"], "at least", 50, " %"
            ),
            Check(
                "attention of French words with crossing links that lies on gold links",
                weight["attention"],
                "at least",
                50,
                " %",
            ),
        ],
        f"The alignment error rate is {ours['aer']:.1f} %, where the diagonal has {found['diagonal']['aer']:.1f} % "
        f"and the untrained model {found['untrained']['aer']:.1f} %. Of the French words whose links cross others, "
        f"attention links {crossing['attention']:.0f} % rightly and the diagonal {crossing['diagonal']:.0f} %; "
        f"{weight['attention']:.0f} % of the attention of these words lies on gold links, where the diagonal has "
        f"{weight['diagonal']:.0f} %.",
    )


def _shown(example: Example, read: Translation) -> dict[str, Any]:
    return {**in_words(example), "alpha": np.round(alpha_of(read), 4).tolist()}


EXPERIMENT = Experiment(
    name="alignment",
    title="Attention is soft alignment",
    claim="The weights α_ij say which source word each target word belongs to. Translating teaches them; nobody "
    "supervises them.",
    source="“Sequence to Sequence Model and Attention”: “Alignment in Machine Translation”; “seq2seq & attention”: "
    "“Soft alignment (attention)” and “Results”",
    method="RNNsearch (Bahdanau et al. 2015) learns to translate the microworld's English into French from pairs of "
    "sentences alone. It then reads held-out pairs by forced decoding, and each French word is linked to the English "
    "word it attends to most. The links are compared with those the grammar made the pairs with. Beside it: the "
    "diagonal, which links French word i to English word i (T_x − 1)/(T_y − 1), and the same model untrained.",
    decides="The alignment error rate is at most half that of the better of the two that know nothing: an attention "
    "that only follows the order of words would do no better than the diagonal. Of the French words whose links cross "
    "others, where order does not help, attention links at least half rightly, and at least half of the attention "
    "of these words lies on gold links, or the strongest weights would speak for few of the others. Links that are "
    "many-to-one or one-to-many and words without counterpart are shown and decide nothing.",
    run=run,
    seconds=140,
)
