"""The figures, the table and the remarks of the experiment on alignment.

In: its numbers, and how the model read the pairs that were chosen. Out: drawings with captions, a table, remarks.
Nothing is measured here.

Attention is soft alignment: RNNsearch learns to translate, and nobody tells it which word belongs to which.

Trained on English–French pairs of the microworld; the gold links between their words are kept from it. The model then
reads held-out pairs, and each French word is linked to the English word it attends to most. Beside it stand two
aligners that know nothing: the diagonal, and the same model before its first update. What decides: the alignment
error rate, the words whose links cross, and how much of their attention lies on gold links.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from regard.datasets import Example, Splits
from regard.datasets.microworld import Microworld
from regard.evaluation import measure
from regard.evaluation.metrics import power_of_ten
from regard.lab.measures.aligners import ALIGNERS, KINDS, Reading, alpha_of, choose, compare, in_words, where
from regard.lab.runner import Bench, Check, Drawing, Experiment, Finding, Grid, Verdict
from regard.models import Seq2Seq
from regard.plots.figures.bars import Measure, draw_bars
from regard.plots.figures.heatmap import HeatMap, draw_heatmaps
from regard.tasks.translate.predictor import Translator
from regard.tasks.translate.result import Translation

_NAMES = {"attention": "attention", "diagonal": "the diagonal", "untrained": "the untrained model"}
_ENOUGH = 20  # words, to speak of what they get


def draw_alignment(
    numbers: Mapping[str, Any],
    examples: Sequence[Example],
    read: Sequence[Translation],
    shown: Mapping[str, int],
) -> list[Drawing]:
    """The chosen pairs as heat maps in one picture, unless none was chosen; and what is found of each kind of word.

    Args:
        numbers: of the experiment.
        examples: all pairs.
        read: as the model reads each of them.
        shown: the places of the chosen ones, by title.
    """
    pairs = [_pairs(examples, read, shown)] if shown else []
    return [*pairs, _kinds(numbers)]


def _pairs(examples: Sequence[Example], read: Sequence[Translation], shown: Mapping[str, int]) -> Drawing:
    maps = []
    for title, k in shown.items():
        drawn = read[k].word_alpha
        assert drawn is not None, "RNNsearch attends"
        maps.append(HeatMap(drawn.alpha, drawn.source_labels, drawn.target_labels, examples[k].gold, title))
    places = ". ".join(f"{t[0].upper()}{t[1:]}: {where(t, examples[k])}" for t, k in shown.items())
    caption = (
        "Attention while reading held-out pairs, in the paper's manner: English along the top, French down the side, "
        "black 0 and white 1. Boxes are gold links (broken: possible ones), which the model never saw; the pairs were "
        f"chosen by them alone. Where attention is alignment, white falls into boxes. {places}."
    )
    return Drawing("sheet", caption, draw_heatmaps(maps))


def _kinds(numbers: Mapping[str, Any]) -> Drawing:
    kinds = numbers["kinds"]
    measures = [
        Measure(
            "linked rightly (%)",
            [kinds[kind][name] for kind in KINDS],
            form="{:.0f}",
            title=_NAMES[name],
            ranging=(0, 100),
        )
        for name in ALIGNERS
    ]
    return Drawing(
        "kinds",
        "French words linked to an English word that a gold link allows, by kind of word; in brackets, how many words "
        "are of the kind. The diagonal is a fair aligner as long as words keep their order. Whether attention is more "
        "than that shows where links cross.",
        draw_bars([f"{kind} ({kinds[kind]['words']})" for kind in KINDS], measures),
    )


def tabulate_alignment(numbers: Mapping[str, Any]) -> list[Grid]:
    """The scores of each aligner, and of the attention while the model writes."""
    parts, own = ("aer", "precision", "recall", "weight"), numbers["own_output"]
    rows = {_NAMES[name]: numbers["aligners"][name] for name in ALIGNERS}
    last = ""
    if own["sentences"]:
        rows[f"attention while writing ({own['sentences']} pairs)"] = own
        last = " The last row is the model writing by itself with a beam of 5, where what it writes is the reference."
    grid = Grid(
        f"Links against gold links, in percent; weight is how much of the attention of French words that have "
        f"a gold link lies on gold links.{last}",
        ["aligner", "AER", "precision", "recall", "weight"],
        [[name, *(f"{row[part]:.1f}" for part in parts)] for name, row in rows.items()],
    )
    return [grid]


def remark_alignment(numbers: Mapping[str, Any]) -> list[str]:
    """How good the model is, what its attention passes over, and a slip of a lecture."""
    own, without, found = numbers["own_output"], numbers["without_counterpart"], numbers["aligners"]
    quality = (
        f"The model translates {numbers['exact_match']:.0f} % of {numbers['sentences']} held-out sentences word for "
        f"word (BLEU {numbers['bleu']:.1f})."
    )
    if own["sentences"]:
        quality += (
            " Where it writes the reference by itself, its attention differs from that of reading it by at most "
            f"{power_of_ten(own['furthest_from_forced'])}: forced decoding shows what the model does."
        )
    remarks = [
        quality,
        "Each French word is given one English word, the strongest; of several sure links to one word all but one are "
        "missed. “No sure link” is what the grammar calls only possible, such as “est-ce qu'” for a question.",
        f"Attention is soft: {found['attention']['weight']:.0f} % of the attention of French words that have a gold "
        f"link lies on gold links, and {found['attention']['precision']:.0f} % of the strongest weights do. The "
        f"diagonal puts all its weight on one word, so that its {found['diagonal']['weight']:.0f} % are the words it "
        "links rightly.",
        "One lecture prints Σ_i a_{t,i} = 0 under the softmax. The weights sum to 1: no row here is further from it "
        f"than {power_of_ten(numbers['sum_of_a_row'])}.",
    ]
    if without["words"]:
        remarks.insert(1, _without_counterpart(without))
    return remarks


def _without_counterpart(without: Mapping[str, float]) -> str:
    """What English words get that no gold link touches, and what that says where there are enough of them."""
    told = (
        f"“Some words might have no counter-part”: an English word that no gold link touches ({without['words']} of "
        f"them) gets {without['received']:.2f} from all French words together, another English word "
        f"{without['received_by_others']:.2f}, where 1 is all the attention of one French word. "
    )
    if without["words"] < _ENOUGH:
        return told + "These are too few to say more."
    if without["received"] < without["received_by_others"] / 2:
        return told + "It is passed over."
    return told + (
        "It is not passed over. A possible reason: the annotation of a word tells of its neighbours too, and looking "
        "at “on” can be as good as looking at “Friday”."
    )


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
    quality = measure(
        [each.text for each in reading.output],
        [e.target for e in examples],
        tokenize="none",
        metrics=("bleu", "exact_match"),
    )
    numbers = {
        "seed": bench.seed,
        "sentences": len(examples),
        "bleu": quality["bleu"],
        "exact_match": 100 * quality["exact_match"],
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
            "learning_rate": 0.006,
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
