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

from regard.config import Config
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
from regard.lab.measures.statistics import Spread, average
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
from regard.models import Seq2Seq
from regard.plots.figures.bars import Measure, draw_bars
from regard.plots.figures.heatmap import HeatMap, draw_heatmaps
from regard.tasks.translate.predictor import Translator
from regard.tasks.translate.result import Translation

_NAMES = {"attention": "attention", "diagonal": "the diagonal", "untrained": "the untrained model"}
_ENOUGH = 20
"""Words without counterpart that are needed to conclude anything about them."""


@dataclass(frozen=True)
class AlignmentSizes(Config):
    """The size of the experiment.

    Attributes:
        train: training pairs.
        test: held-out pairs to align and translate.
        longest: the longest English sentence, in words.
        units: of embeddings, alignment model, readout and each direction of the encoder; the decoder has twice as many.
        updates: of 64 pairs each.
        seeds: models, each with its own weights and order of batches.
        short: the longest English sentence that counts as short, in words.
    """

    train: int
    test: int
    longest: int
    units: int
    updates: int
    seeds: int
    short: int


REGISTERED = read_registration(__file__, AlignmentSizes.from_mapping)


def measure(bench: Bench, sizes: AlignmentSizes) -> Finding:
    """Train one model per seed, and compare its attention with gold links."""
    splits = Microworld().splits(
        train=sizes.train, valid=100, test=sizes.test, seed=bench.seed, longest=sizes.longest
    )
    examples, shown, seeds = splits.test, choose_examples(splits.test), bench.seeds(sizes.seeds)
    measured = bench.starmap(_train_and_align, [(seed, sizes, splits) for seed in seeds])
    runs, forced = [numbers for numbers, _ in measured], measured[0][1]
    numbers = {
        "seeds": seeds,
        **average(runs),
        "runs": runs,
        "shown": {
            title: {**pair_json(examples[k]), "alpha": np.round(word_attention(forced[k]), 4).tolist()}
            for title, k in shown.items()
        },
    }
    heatmaps = [_pair_figure(examples, forced, shown)] if shown else []
    return Finding(
        numbers,
        verdict(runs),
        [*heatmaps, _kinds_figure(runs)],
        make_tables(numbers),
        write_remarks(numbers),
    )


def _train_and_align(
    bench: Bench, seed: int, sizes: AlignmentSizes, splits: Splits
) -> tuple[dict[str, Any], Sequence[Translation]]:
    """Train one model; its scores, and its forced decodings of the test pairs."""
    folder = bench.train(f"rnnsearch-{seed}", _config(sizes), splits.train, splits.valid, seed=seed)
    translator, examples = Translator.load(folder), splits.test
    sources, targets = [e.source for e in examples], [e.target for e in examples]
    bench.report("aligning and translating")
    decodings = Decodings(
        translator.align(sources, targets),
        untrained(translator, seed).align(sources, targets),
        translator.translate(sources, beam=5),
    )
    outputs = [each.text for each in decodings.output]
    short = [k for k, source in enumerate(sources) if len(source.split()) <= sizes.short]
    quality = score_translations(outputs, targets)
    return {
        "sentences": len(examples),
        "bleu": quality["bleu"],
        "exact_match": quality["exact_match"],
        "short_exact_match": score_translations([outputs[k] for k in short], [targets[k] for k in short])[
            "exact_match"
        ],
        **compare_aligners(examples, decodings),
    }, decodings.trained


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


def verdict(runs: Sequence[Mapping[str, Any]]) -> Verdict:
    """Three numbers per seed against their bounds, which `EXPERIMENT.decides` gives reasons for."""
    bounds, numbers = REGISTERED.bounds, average(runs)
    learned = Check.over_seeds(
        "short sentences translated word for word",
        [run["short_exact_match"] for run in runs],
        "at least",
        bounds["learned"],
        " %",
    )
    checks = [
        Check.over_seeds(
            "AER of attention over the lower of the diagonal's and the untrained model's",
            [_aer_ratio(run["aligners"]) for run in runs],
            "at most",
            bounds["aer_ratio"],
            given=learned,
        ),
        Check.over_seeds(
            "French words with crossing links linked correctly",
            [run["kinds"]["crossing"]["attention"] for run in runs],
            "at least",
            bounds["crossing"],
            " %",
            given=learned,
        ),
        Check.over_seeds(
            "attention of French words with crossing links that is on gold links",
            [run["crossing_weight"]["attention"] for run in runs],
            "at least",
            bounds["weight"],
            " %",
            given=learned,
        ),
    ]
    scores, crossing, weight = numbers["aligners"], numbers["kinds"]["crossing"], numbers["crossing_weight"]
    return Verdict(
        checks,
        f"The alignment error rate is {scores['attention']['aer']:.1f} %, that of the diagonal "
        f"{scores['diagonal']['aer']:.1f} % and that of the untrained model {scores['untrained']['aer']:.1f} %. Of the "
        f"French words whose links cross others, attention links {crossing['attention']:.0f} % correctly and the "
        f"diagonal {crossing['diagonal']:.0f} %; {weight['attention']:.0f} % of the attention of these words is on "
        f"gold links, compared with {weight['diagonal']:.0f} % for the diagonal (means over {len(runs)} seeds).",
    )


def _aer_ratio(aligners: Mapping[str, Mapping[str, float]]) -> float:
    baseline = min(aligners["diagonal"]["aer"], aligners["untrained"]["aer"])
    return aligners["attention"]["aer"] / baseline if baseline else float("nan")


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


def _kinds_figure(runs: Sequence[Mapping[str, Any]]) -> CaptionedFigure:
    counts = average(runs)["kinds"]
    measures = []
    for name in ALIGNERS:
        spreads = [Spread.of(run["kinds"][kind][name] for run in runs) for kind in KINDS]
        measures.append(
            Measure(
                "linked correctly (%)",
                [spread.mean for spread in spreads],
                [spread.half for spread in spreads],
                form="{:.0f}",
                title=_NAMES[name],
                ranging=(0, 100),
            )
        )
    return CaptionedFigure(
        "kinds",
        "French words linked to an English word that a gold link allows, by kind of word; in brackets, the number of "
        f"words of the kind. Whiskers are the 90 % interval over {len(runs)} seeds. The diagonal is a fair aligner as "
        "long as words keep their order. Crossing links show whether attention is more than that.",
        draw_bars([f"{kind} ({counts[kind]['words']:.0f})" for kind in KINDS], measures),
    )


def make_tables(numbers: Mapping[str, Any]) -> list[Table]:
    """The scores of each aligner, and of the attention during free decoding."""
    parts, own = ("aer", "precision", "recall", "weight"), numbers["own_output"]
    rows = {_NAMES[name]: numbers["aligners"][name] for name in ALIGNERS}
    last = ""
    if own["sentences"]:
        rows[f"attention, free decoding ({own['sentences']:.0f} pairs)"] = own
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
        f"The models translate {numbers['exact_match']:.0f} % of {numbers['sentences']:.0f} held-out sentences word "
        f"for word (BLEU {numbers['bleu']:.1f})."
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
        f"“Some words might have no counter-part”: an English word without a gold link ({without['words']:.0f} of "
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
    claim="The weights α_ij say which source word each target word belongs to. They are learned from "
    "translating alone, without supervision.",
    source="“Sequence to Sequence Model and Attention”: “Alignment in Machine Translation”; “seq2seq & attention”: "
    "“Soft alignment (attention)” and “Results”",
    method="RNNsearch (Bahdanau et al. 2015) is trained to translate the microworld's English into French from pairs "
    "of sentences alone. Held-out pairs are then decoded by force, and each French word is linked to the English word "
    "it attends to most. The links are compared with those of the grammar that generated the pairs. The baselines: the "
    "diagonal, which links French word i to English word i (T_x − 1)/(T_y − 1), and the same model untrained. Seeds "
    "determine the weights and the order of the batches.",
    decides=f"The alignment error rate is at most {REGISTERED.bounds['aer_ratio']:g} of the better baseline's: "
    "attention that only follows the order of words would do no better than the diagonal. Of the French words whose "
    f"links cross others, where order does not help, attention links at least {REGISTERED.bounds['crossing']:.0f} % "
    f"correctly, and at least {REGISTERED.bounds['weight']:.0f} % of the attention of these words is on gold links, or "
    "the highest weights would say little about the others. This counts only if the models have learned to translate: "
    f"at least {REGISTERED.bounds['learned']:.0f} % of the sentences of up to {REGISTERED.usual.short} words, word for "
    "word. Many-to-one and one-to-many links and words "
    "without counterpart are shown and decide nothing.",
    measure=measure,
    usual=REGISTERED.usual,
    full=REGISTERED.full,
    registration=REGISTERED,
    seconds=420,
)
