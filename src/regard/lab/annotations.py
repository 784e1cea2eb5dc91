"""An annotation of a bidirectional encoder knows the words on both sides; one of a one-way encoder, those before it.

RNNsearch is trained on English–French pairs of the microworld, once with a bidirectional encoder and once with a
forward one whose states are as wide. From the annotations of held-out sentences a linear probe then reads the words
before and after each word. What decides: how many of the following words the probe finds, what that costs of the
preceding ones, and whether translation gains.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from regard.batches import pad_sources
from regard.config import Config
from regard.datasets import Splits
from regard.datasets.microworld import Microworld
from regard.lab.measures.statistics import Spread, over_seeds, spread_curve
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
from regard.plots.figures.curves import Mark, Panel, draw_curves
from regard.tasks.translate.predictor import Translator
from regard.training.demos import translator_sizes

BOTH, ONE = "bidirectional", "forward only"
KINDS = (BOTH, ONE)
_DECIDING = 3
"""Offsets to either side that decide."""
_RIDGE = 1.0
"""The weight of the probe's squared norm: enough to keep it finite, as annotations are about as wide as they vary."""


@dataclass(frozen=True)
class AnnotationSizes(Config):
    """The size of the experiment.

    Attributes:
        seeds: models of each kind.
        train: training pairs.
        test: held-out pairs; the probe is fitted on the sources of one half and tested on those of the other.
        longest: the longest English sentence, in words.
        short: the longest one that counts as short.
        units: of each direction, n; the forward encoder has 2n, so that both have annotations of 2n.
        updates: of 64 pairs each.
        reach: the farthest offset that is probed.
    """

    seeds: int
    train: int
    test: int
    longest: int
    short: int
    units: int
    updates: int
    reach: int


REGISTERED = read_registration(__file__, AnnotationSizes.from_mapping)


def measure(bench: Bench, sizes: AnnotationSizes) -> Finding:
    """Train both kinds with every seed, translate, and probe."""
    data = Microworld().splits(
        train=sizes.train, valid=100, test=sizes.test, seed=bench.seed, longest=sizes.longest
    )
    seeds = bench.seeds(sizes.seeds)
    measured = iter(
        bench.starmap(_train_and_probe, [(kind, seed, sizes, data) for kind in KINDS for seed in seeds])
    )
    numbers = {
        "sizes": asdict(sizes),
        "seeds": seeds,
        "offsets": offsets(sizes.reach),
        "kinds": {kind: [next(measured) for _ in seeds] for kind in KINDS},
    }
    return Finding(
        numbers, verdict(numbers), make_figures(numbers), make_tables(numbers), write_remarks(numbers)
    )


def offsets(reach: int) -> list[int]:
    """From the farthest preceding word to the farthest following one; 0 is the word itself."""
    return list(range(-reach, reach + 1))


def _train_and_probe(
    bench: Bench, kind: str, seed: int, sizes: AnnotationSizes, data: Splits
) -> dict[str, Any]:
    """Train one model; its translations of half of the held-out pairs, and what its annotations contain."""
    name = f"{kind.replace(' ', '-')}-{seed}"
    folder = bench.train(name, _config(kind, sizes), data.train, data.valid, seed=seed)
    translator = Translator.load(folder)
    bench.report(f"{name}: translating and probing")
    half = len(data.test) // 2
    sources, targets = [e.source for e in data.test[half:]], [e.target for e in data.test[half:]]
    outputs = [translation.text for translation in translator.translate(sources, beam=1)]
    log_probs = [value for forced in translator.align(sources, targets) for value in forced.token_log_probs]
    short = [k for k, source in enumerate(sources) if len(source.split()) <= sizes.short]
    fitted, tested = (
        annotate(translator, [e.source for e in part]) for part in (data.test[:half], data.test[half:])
    )
    return {
        "parameters": translator.model.num_parameters,
        "surprisal": -math.fsum(log_probs) / len(log_probs),
        **score_translations(outputs, targets),
        "short": score_translations([outputs[k] for k in short], [targets[k] for k in short])["exact_match"],
        "probed": [probe(fitted, tested, offset) for offset in offsets(sizes.reach)],
    }


@torch.inference_mode()
def annotate(translator: Translator, lines: Sequence[str]) -> list[tuple[list[str], NDArray[np.float64]]]:
    """For each line its words, and their annotations (Tx, 2n), without that of EOS."""
    annotated = []
    for line, ids in zip(lines, translator.source_tokenizer.encode_batch(lines), strict=True):
        batch, words = pad_sources([ids]), line.split()
        annotations = translator.model.encode(batch.source_ids, batch.source_mask).annotations[
            0, : len(words)
        ]
        annotated.append((words, annotations.double().numpy()))
    return annotated


def probe(
    fitted: Sequence[tuple[list[str], NDArray[np.float64]]],
    tested: Sequence[tuple[list[str], NDArray[np.float64]]],
    offset: int,
) -> float:
    """Percent of words at an offset that a linear probe reads off the annotation, by ridge regression to one-hot words.

    Args:
        fitted: words and annotations of each line, to fit the probe on.
        tested: those to test it on.
        offset: of the word that is to be read; positions without such a word are left out.
    """

    def rows(lines: Sequence[tuple[list[str], NDArray[np.float64]]]) -> tuple[NDArray[np.float64], list[str]]:
        vectors, words = [], []
        for line, annotations in lines:
            for j, vector in enumerate(annotations):
                if 0 <= j + offset < len(line):
                    vectors.append(np.append(vector, 1.0))
                    words.append(line[j + offset])
        return np.array(vectors), words

    x, words = rows(fitted)
    vocabulary = {word: k for k, word in enumerate(dict.fromkeys(words))}
    y = np.zeros((len(words), len(vocabulary)))
    y[np.arange(len(words)), [vocabulary[word] for word in words]] = 1
    weights = np.linalg.solve(x.T @ x + _RIDGE * np.eye(x.shape[1]), x.T @ y)  # (2n + 1, V)
    new, expected = rows(tested)
    guessed = (new @ weights).argmax(axis=1)
    return 100 * float(
        np.mean([vocabulary.get(word) == k for word, k in zip(expected, guessed, strict=True)])
    )


def _config(kind: str, sizes: AnnotationSizes) -> dict[str, Any]:
    """The same for both but for the encoder's directions and their width."""
    model = translator_sizes(sizes.units)
    model["encoder"] |= {} if kind == BOTH else {"bidirectional": False, "state_size": 2 * sizes.units}
    return {
        "preset": "rnnsearch-small",
        "tokenizer": {"source": "word", "target": "word"},
        "model": {"tie": "target", **model},
        "training": train_for(
            sizes.updates,
            learning_rate=0.006,
            label_smoothing=0.0,
            batch_sentences=64,
            validation_sentences=50,
        ),
    }


def probed(numbers: Mapping[str, Any], kind: str, chosen: Sequence[int]) -> Spread:
    """The mean over some offsets of what the probe reads, one number per seed."""
    places = [numbers["offsets"].index(offset) for offset in chosen]
    return Spread.of(np.mean([model["probed"][k] for k in places]) for model in numbers["kinds"][kind])


def verdict(numbers: Mapping[str, Any]) -> Verdict:
    """Following words, preceding words, and the surprisal of the references; see `EXPERIMENT.decides`."""
    bounds, kinds = REGISTERED.bounds, numbers["kinds"]
    after, before = range(1, _DECIDING + 1), range(-_DECIDING, 0)

    def lead(chosen: Sequence[int]) -> NDArray[np.float64]:
        both, one = (probed(numbers, kind, chosen).values for kind in KINDS)
        return np.subtract(both, one)

    learned = Check.over_seeds(
        "short sentences translated word for word, the worse kind",
        np.min([over_seeds(models, "short").values for models in kinds.values()], axis=0),
        "at least",
        bounds["learned"],
        " %",
    )
    near = f"the {_DECIDING} nearest"
    saved = np.subtract(
        over_seeds(kinds[ONE], "surprisal").values, over_seeds(kinds[BOTH], "surprisal").values
    )
    checks = [
        Check.over_seeds(
            f"following words read off an annotation ({near}), {BOTH} minus {ONE}",
            lead(after),
            "at least",
            bounds["following"],
            " points",
            given=learned,
        ),
        Check.over_seeds(
            f"preceding words read off an annotation ({near}), {BOTH} minus {ONE}",
            lead(before),
            "at least",
            bounds["preceding"],
            " points",
            control=True,
            given=learned,
        ),
        Check.over_seeds(
            f"surprisal of the references, {ONE} minus {BOTH}",
            saved,
            "at least",
            bounds["surprisal"],
            " nats per word",
            given=learned,
        ),
    ]
    texts = []
    for kind in KINDS:
        bleu = over_seeds(kinds[kind], "bleu")
        texts.append(
            f"{kind}: {probed(numbers, kind, before).mean:.0f} % of the {_DECIDING} words before, "
            f"{probed(numbers, kind, after).mean:.0f} % of those after, BLEU {bleu.mean:.1f} ± {bleu.half:.1f}"
        )
    spread = Spread.of(saved)
    return Verdict(
        checks,
        f"What a linear probe reads off an annotation, and how the model translates. {'; '.join(texts)}. The second "
        f"direction saves {spread.mean:.3f} ± {spread.half:.3f} nats per word of the references (mean and 90 % "
        f"interval over {len(numbers['seeds'])} seeds).".replace("-", "−"),
    )


def make_figures(numbers: Mapping[str, Any]) -> list[CaptionedFigure]:
    """What the probe reads, by offset."""
    curves = [
        spread_curve(kind, numbers["offsets"], [probed(numbers, kind, [k]) for k in numbers["offsets"]])
        for kind in KINDS
    ]
    panel = Panel(
        curves,
        "offset of the word from the annotated one",
        "words read off the annotation (%)",
        y_range=(0, 104),
        marks=[Mark(0, "the word itself")],
    )
    caption = (
        "How many of the words at each offset a linear probe reads off the annotation h_j: to the left of the line "
        "those before word j, to its right those after it. Means over seeds with their 90 % intervals. The annotation "
        "of a one-way encoder falls to what the grammar lets it guess as soon as it must look ahead."
    )
    return [CaptionedFigure("offsets", caption, draw_curves([panel]))]


def make_tables(numbers: Mapping[str, Any]) -> list[Table]:
    """Every model, one row each."""
    rows = [
        [
            kind,
            str(seed),
            f"{model['parameters']:,}",
            f"{model['surprisal']:.3f}",
            f"{model['bleu']:.1f}",
            f"{model['exact_match']:.0f}",
            f"{model['short']:.0f}",
        ]
        for kind, models in numbers["kinds"].items()
        for seed, model in zip(numbers["seeds"], models, strict=True)
    ]
    columns = ["encoder", "seed", "parameters", "surprisal", "BLEU", "exact match, %", "short, %"]
    caption = (
        "Every model on held-out pairs: nats per word of the references, BLEU and exact match of greedy translations, "
        "and exact match on short sentences."
    )
    return [Table(caption, columns, rows)]


def write_remarks(numbers: Mapping[str, Any]) -> list[str]:
    """What follows by construction, and what a one-way encoder does instead."""
    nearest = probed(numbers, ONE, [1])
    return [
        "That a forward encoder does not contain the words to come follows by construction. What it reads nevertheless "
        f"({nearest.mean:.0f} % of the next words) is what the grammar lets one guess from the words so far. What had "
        "to be measured is that the second direction's contents are there after training for translation alone, and "
        "what they are worth.",
        "A one-way encoder need not translate badly: the decoder may attend to a later word, whose annotation contains "
        "the earlier ones. Its alignments are then late; see `alignment` for those of the bidirectional encoder.",
        "Annotations are equally wide; the forward encoder has more parameters, since a matrix of 2n × 2n is twice two "
        "of n × n.",
    ]


EXPERIMENT = Experiment(
    name="annotations",
    title="Both directions in an annotation",
    claim="“In this way the annotation h_j contains the summaries of both the preceding words and the following "
    "words.”",
    source="“seq2seq & attention”: “Encoder: Bidirectional RNN for annotation sequences”",
    method="RNNsearch is trained to translate the microworld's English into French, with a bidirectional GRU of 64 "
    "units each way and with a forward GRU of 128, on the same pairs and for the same number of updates. A linear "
    "probe (ridge regression on one half of the held-out sentences) then reads the words at offsets −4 to 4 off each "
    "annotation of the other half, which is also translated.",
    decides="If both kinds have learned to translate short sentences "
    f"({REGISTERED.bounds['learned']:.0f} % of those of up to {REGISTERED.usual.short} words, word for word): the "
    f"probe must find at least {REGISTERED.bounds['following']:.0f} points more of the three following words in the "
    "bidirectional annotations, with at most "
    f"{-REGISTERED.bounds['preceding']:.0f} points fewer of the three preceding ones, for which there is half the room "
    f"(a control); and this must be of use: at least {REGISTERED.bounds['surprisal']:g} nats per word of the "
    "references, a perplexity 2 % lower.",
    measure=measure,
    usual=REGISTERED.usual,
    full=REGISTERED.full,
    registration=REGISTERED,
    seconds=200,
)
