"""Attention is soft alignment: RNNsearch is trained to translate, without word alignments.

It is trained on English–French pairs of the microworld, without their gold links. The model then decodes held-out pairs
by force, and each French word is linked to the English word it attends to most. Two aligners that know nothing are the
baselines: the diagonal, and the same model before its first update. What decides: the alignment error rate, the words
whose links cross, and how much of their attention is on gold links.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from regard.datasets import Example, Splits
from regard.datasets.microworld import Microworld
from regard.evaluation.metrics import power_of_ten
from regard.lab.measures.aligners import (
    ALIGNERS,
    KINDS,
    Decodings,
    choose_examples,
    compare_aligners,
    linked_words,
    pair_json,
    word_attention,
)
from regard.lab.measures.translations import score_translations
from regard.lab.runner import Bench, CaptionedFigure, Check, Experiment, Finding, Table, Verdict, train_for
from regard.models import Seq2Seq
from regard.plots.figures.bars import Measure, draw_bars
from regard.plots.figures.heatmap import HeatMap, draw_heatmaps
from regard.tasks.translate.predictor import Translator
from regard.tasks.translate.result import Translation

_NAMES = {"attention": "attention", "diagonal": "the diagonal", "untrained": "the untrained model"}
_ENOUGH = 20
"""Words without counterpart that are needed to conclude anything about them."""


@dataclass(frozen=True)
class AlignmentSizes:
    """The size of the experiment.

    Attributes:
        train: training pairs.
        test: held-out pairs to align and translate.
        longest: the longest English sentence, in words.
        units: of embeddings, alignment model, readout and each direction of the encoder; the decoder has twice as many.
        updates: of 64 pairs each.
    """

    train: int
    test: int
    longest: int
    units: int
    updates: int


USUAL = AlignmentSizes(train=80_000, test=500, longest=15, units=96, updates=1_600)
FULL = AlignmentSizes(train=300_000, test=2_000, longest=15, units=128, updates=8_000)


def measure(bench: Bench, sizes: AlignmentSizes) -> Finding:
    """Train one model, and compare its attention with gold links."""
    splits = Microworld().splits(
        train=sizes.train, valid=100, test=sizes.test, seed=bench.seed, longest=sizes.longest
    )
    (decodings,) = bench.starmap(_train_and_decode, [(sizes, splits)])
    examples, shown = splits.test, choose_examples(splits.test)
    quality = score_translations([each.text for each in decodings.output], [e.target for e in examples])
    numbers = {
        "seed": bench.seed,
        "sentences": len(examples),
        "bleu": quality["bleu"],
        "exact_match": quality["exact_match"],
        **compare_aligners(examples, decodings),
        "shown": {
            title: {
                **pair_json(examples[k]),
                "alpha": np.round(word_attention(decodings.trained[k]), 4).tolist(),
            }
            for title, k in shown.items()
        },
    }
    heatmaps = [_pair_figure(examples, decodings.trained, shown)] if shown else []
    return Finding(
        numbers,
        verdict(numbers),
        [*heatmaps, _kinds_figure(numbers)],
        make_tables(numbers),
        write_remarks(numbers),
    )


def _train_and_decode(bench: Bench, sizes: AlignmentSizes, splits: Splits) -> Decodings:
    translator = Translator.load(bench.train("rnnsearch", _config(sizes), splits.train, splits.valid))
    sources, targets = [e.source for e in splits.test], [e.target for e in splits.test]
    bench.report("aligning and translating")
    return Decodings(
        translator.align(sources, targets),
        untrained(translator, bench.seed).align(sources, targets),
        translator.translate(sources, beam=5),
    )


def _config(sizes: AlignmentSizes) -> dict[str, Any]:
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
        "training": train_for(
            sizes.updates,
            learning_rate=0.006,
            label_smoothing=0.0,
            batch_sentences=64,
            validation_sentences=50,
        ),
    }


def untrained(translator: Translator, seed: int) -> Translator:
    """A translator of the same shape with its initial weights."""
    source, target = translator.source_tokenizer, translator.target_tokenizer
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = Seq2Seq(translator.model.config, source.size, target.size)
    return Translator(model.eval(), source, target)


def verdict(numbers: Mapping[str, Any]) -> Verdict:
    """Three numbers against their bounds, which `EXPERIMENT.decides` gives reasons for."""
    scores, crossing, weight = numbers["aligners"], numbers["kinds"]["crossing"], numbers["crossing_weight"]
    attention = scores["attention"]["aer"]
    baseline = min(scores["diagonal"]["aer"], scores["untrained"]["aer"])
    ratio = attention / baseline if baseline else float("nan")
    return Verdict(
        [
            Check(
                "AER of attention over the lower of the diagonal's and the untrained model's",
                ratio,
                "at most",
                0.5,
            ),
            Check(
                "French words with crossing links linked correctly",
                crossing["attention"],
                "at least",
                50,
                " %",
            ),
            Check(
                "attention of French words with crossing links that is on gold links",
                weight["attention"],
                "at least",
                50,
                " %",
            ),
        ],
        f"The alignment error rate is {attention:.1f} %, that of the diagonal {scores['diagonal']['aer']:.1f} % and "
        f"that of the untrained model {scores['untrained']['aer']:.1f} %. Of the French words whose links cross "
        f"others, attention links {crossing['attention']:.0f} % correctly and the diagonal "
        f"{crossing['diagonal']:.0f} %; {weight['attention']:.0f} % of the attention of these words is on gold links, "
        f"compared with {weight['diagonal']:.0f} % for the diagonal.",
    )


def _pair_figure(
    examples: Sequence[Example], forced: Sequence[Translation], shown: Mapping[str, int]
) -> CaptionedFigure:
    """The chosen pairs as heat maps."""
    maps = []
    for title, k in shown.items():
        labelled = forced[k].word_alpha
        assert labelled is not None, "RNNsearch attends"
        maps.append(
            HeatMap(labelled.alpha, labelled.source_labels, labelled.target_labels, examples[k].gold, title)
        )
    where = ". ".join(f"{t[0].upper()}{t[1:]}: {linked_words(t, examples[k])}" for t, k in shown.items())
    caption = (
        "Attention in forced decoding of held-out pairs, in the paper's layout: English along the top, French down the "
        "side, white 0 and black 1. Boxes are gold links (dashed: possible ones), which the model never saw; the pairs "
        f"were chosen by them alone. If attention is alignment, the white cells are in the boxes. {where}."
    )
    return CaptionedFigure("sheet", caption, draw_heatmaps(maps))


def _kinds_figure(numbers: Mapping[str, Any]) -> CaptionedFigure:
    kinds = numbers["kinds"]
    measures = [
        Measure(
            "linked correctly (%)",
            [kinds[kind][name] for kind in KINDS],
            form="{:.0f}",
            title=_NAMES[name],
            ranging=(0, 100),
        )
        for name in ALIGNERS
    ]
    return CaptionedFigure(
        "kinds",
        "French words linked to an English word that a gold link allows, by kind of word; in brackets, the number of "
        "words of the kind. The diagonal is a fair aligner as long as words keep their order. Crossing links show "
        "whether attention is more than that.",
        draw_bars([f"{kind} ({kinds[kind]['words']})" for kind in KINDS], measures),
    )


def make_tables(numbers: Mapping[str, Any]) -> list[Table]:
    """The scores of each aligner, and of the attention during free decoding."""
    parts, own = ("aer", "precision", "recall", "weight"), numbers["own_output"]
    rows = {_NAMES[name]: numbers["aligners"][name] for name in ALIGNERS}
    last = ""
    if own["sentences"]:
        rows[f"attention, free decoding ({own['sentences']} pairs)"] = own
        last = " The last row is free decoding with a beam of 5, for outputs that equal the reference."
    caption = (
        "Links against gold links, in percent; weight is how much of the attention of French words that have a gold "
        f"link is on gold links.{last}"
    )
    cells = [[name, *(f"{row[part]:.1f}" for part in parts)] for name, row in rows.items()]
    return [Table(caption, ["aligner", "AER", "precision", "recall", "weight"], cells)]


def write_remarks(numbers: Mapping[str, Any]) -> list[str]:
    """How good the model is, which words its attention skips, and an error in a lecture."""
    own, without, scores = numbers["own_output"], numbers["without_counterpart"], numbers["aligners"]
    quality = (
        f"The model translates {numbers['exact_match']:.0f} % of {numbers['sentences']} held-out sentences word for "
        f"word (BLEU {numbers['bleu']:.1f})."
    )
    if own["sentences"]:
        quality += (
            " Where its own output is the reference, its attention differs from that of forced decoding by at most "
            f"{power_of_ten(own['furthest_from_forced'])}: forced decoding shows what the model does."
        )
    remarks = [
        quality,
        "Each French word is linked to one English word, the one with the highest weight; of several sure links to one "
        "word all but one are missed. “No sure link” is what the grammar calls only possible, such as “est-ce qu'” for "
        "a question.",
        f"Attention is soft: {scores['attention']['weight']:.0f} % of the attention of French words that have a gold "
        f"link is on gold links, and {scores['attention']['precision']:.0f} % of the highest weights are. The diagonal "
        f"puts all its weight on one word, so its {scores['diagonal']['weight']:.0f} % are the words it links "
        "correctly.",
        "One lecture prints Σ_i a_{t,i} = 0 under the softmax. The weights sum to 1: no row here differs from it by "
        f"more than {power_of_ten(numbers['sum_of_a_row'])}.",
    ]
    if without["words"]:
        remarks.insert(1, _without_counterpart(without))
    return remarks


def _without_counterpart(without: Mapping[str, float]) -> str:
    """The attention to English words without a gold link, and a conclusion if there are enough of them."""
    text = (
        f"“Some words might have no counter-part”: an English word without a gold link ({without['words']} of "
        f"them) gets {without['received']:.2f} from all French words together, another English word "
        f"{without['received_by_others']:.2f}, where 1 is all the attention of one French word. "
    )
    if without["words"] < _ENOUGH:
        return text + "These are too few for a conclusion."
    if without["received"] < without["received_by_others"] / 2:
        return text + "It is skipped."
    return text + (
        "It is not skipped. A possible reason: the annotation of a word also encodes its neighbours, and attending to "
        "“on” can be as good as attending to “Friday”."
    )


EXPERIMENT = Experiment(
    name="alignment",
    title="Attention is soft alignment",
    claim="The weights α_ij say which source word each target word belongs to. They are learnt from "
    "translating alone, without supervision.",
    source="“Sequence to Sequence Model and Attention”: “Alignment in Machine Translation”; “seq2seq & attention”: "
    "“Soft alignment (attention)” and “Results”",
    method="RNNsearch (Bahdanau et al. 2015) is trained to translate the microworld's English into French from pairs "
    "of sentences alone. Held-out pairs are then decoded by force, and each French word is linked to the English word "
    "it attends to most. The links are compared with those of the grammar that generated the pairs. The baselines: the "
    "diagonal, which links French word i to English word i (T_x − 1)/(T_y − 1), and the same model untrained.",
    decides="The alignment error rate is at most half that of the better baseline: attention that only follows the "
    "order of words would do no better than the diagonal. Of the French words whose links cross others, where order "
    "does not help, attention links at least half correctly, and at least half of the attention of these words is on "
    "gold links, or the highest weights would say little about the others. Many-to-one and one-to-many links and words "
    "without counterpart are shown and decide nothing.",
    measure=measure,
    usual=USUAL,
    full=FULL,
    seconds=140,
)
