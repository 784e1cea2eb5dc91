"""Which score function? Several will do: one decoder, one task, and only the similarity is changed.

Luong's decoder is trained on short sentences of the microworld with each similarity, on the same pairs for the same
number of updates; the baseline is a decoder without attention. What decides: whether the worst similarity comes near
the best, does better than no attention, and aligns words better than the diagonal. Time is measured after training, all
models in turn on the same batches.
"""

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import torch

from regard.batches import pad_pairs
from regard.config import Config
from regard.datasets import Example, Splits
from regard.datasets.microworld import Microworld
from regard.evaluation.alignment import LabelledAlpha
from regard.lab.measures.aligners import diagonal_aer, gold_links, most_crossing, pair_json
from regard.lab.measures.statistics import Spread
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
from regard.plots.figures.bars import Measure, draw_bars
from regard.plots.figures.heatmap import HeatMap, draw_heatmaps
from regard.tasks.translate.evaluation import evaluate
from regard.tasks.translate.objective import TranslationObjective
from regard.tasks.translate.predictor import Translator
from regard.text import SentencePair, encode_pairs

FORMULAE = {
    "dot": "qᵀk",
    "scaled dot": "qᵀk/√p",
    "general": "qᵀWk",
    "additive": "vᵀ tanh(Wq + Uk)",
    "concat": "vᵀ tanh(W[q; k])",
    "local-m": "qᵀWk, near word t",
    "local-p": "qᵀWk, near a predicted position",
}
SIMILARITIES = ("dot", "scaled dot", "general", "additive", "concat")
"""What the claim is about."""
WINDOWS = ("local-m", "local-p")
"""Luong's windows, over general: not other similarities, but fewer words to compare."""
ATTENTIONS = (*SIMILARITIES, *WINDOWS)
NONE = "no attention"
KINDS = (*ATTENTIONS, NONE)
_BATCH_PAIRS = 64


@dataclass(frozen=True)
class EnergiesSizes(Config):
    """The size of the experiment.

    Attributes:
        drawn: training sentences sampled from the microworld, of which those of frequent words are kept.
        words: the number of frequent English words.
        longest: the longest English sentence, in words.
        test: held-out pairs.
        units: of embeddings, attention, readout and each direction of the encoder; the decoder has twice as many.
        window_size: D of the local windows. The paper's 10 would be whole sentences here.
        updates: of 64 pairs each.
        rates: learning rates; each kind is given the one with the lowest validation loss of the tuning seed.
        tuning_seed: by which learning rates are chosen; its models decide nothing.
        seeds: models of each kind; of the windows, which do not decide, one.
        rounds: batches on which the time of an update is measured.
    """

    drawn: int
    words: int
    longest: int
    test: int
    units: int
    window_size: int
    updates: int
    rates: tuple[float, ...]
    tuning_seed: int
    seeds: int
    rounds: int


REGISTERED = read_registration(__file__, EnergiesSizes.from_mapping)
BOUNDS = REGISTERED.bounds


@dataclass(frozen=True, eq=False)
class TrainedModel:
    """A model and its scores.

    Attributes:
        folder: where it is.
        learning_rate: of its training.
        loss: on the validation pairs.
        scores: in percent; without attention there is no AER.
        shown: its attention to the pair to be shown, if it attends.
    """

    folder: Path
    learning_rate: float
    loss: float
    scores: Mapping[str, float]
    shown: LabelledAlpha | None


def measure(bench: Bench, sizes: EnergiesSizes) -> Finding:
    """Train every kind with every seed, then time one model of each."""
    splits = frequent_word_splits(
        sizes.drawn, 10 * sizes.test, sizes.words, bench.seed, longest=sizes.longest
    )
    splits = replace(splits, test=splits.test[: sizes.test])
    shown, seeds = most_crossing(splits.test), bench.seeds(sizes.seeds)
    tuned = _tune(bench, sizes, splits, shown)
    rates = {name: min(losses, key=losses.__getitem__) for name, losses in tuned.items()}
    rates |= dict.fromkeys(WINDOWS, rates["general"])
    arms = [(name, seed) for seed in seeds for name in KINDS if name not in WINDOWS or seed == seeds[0]]
    trained = bench.starmap(
        _train_and_score, [(name, seed, rates[name], sizes, splits, shown) for name, seed in arms]
    )
    models = dict(zip(arms, trained, strict=True))
    bench.report("measuring time")
    first = {name: models[name, seeds[0]] for name in KINDS}
    folders = {name: model.folder for name, model in first.items()}
    (seconds,) = bench.starmap(_time_updates, [(folders, splits.train, sizes.rounds)])
    pair = splits.test[shown]
    alphas = {name: model.shown for name, model in first.items() if model.shown}
    numbers = {
        "seeds": seeds,
        "rates": rates,
        "losses_by_rate": {
            name: {f"{learning_rate:g}": loss for learning_rate, loss in losses.items()}
            for name, losses in tuned.items()
        },
        "pairs": len(splits.train),
        "window_size": sizes.window_size,
        "diagonal_aer": diagonal_aer(splits.test),
        "kinds": {
            name: {
                score: Spread.of(models[arm].scores[score] for arm in arms if arm[0] == name).to_json()
                for score in model.scores
            }
            for name, model in first.items()
        },
        "time": time_ratios(seconds, "dot"),
        "seconds_an_update": seconds,
        "shown": {
            **pair_json(pair),
            "alpha": {name: np.round(each.alpha, 4).tolist() for name, each in alphas.items()},
        },
    }
    figures = [_scores_figure(numbers), _pair_figure(pair, alphas)]
    return Finding(numbers, verdict(numbers), figures, make_tables(numbers), write_remarks(numbers))


def frequent_word_splits(train: int, test: int, words: int, seed: int, *, longest: int) -> Splits:
    """The microworld with few enough words for a small model: pairs all of whose English words are frequent.

    Frequencies are those of the training pairs, so the held-out parts do not influence the choice.

    Args:
        train: training pairs to sample; fewer are kept.
        test: test pairs to sample, and validation pairs.
        words: the number of English words that are kept, the most frequent.
        seed: of the sampling.
        longest: the longest English sentence, in words.
    """
    sampled = Microworld().splits(train=train, valid=test, test=test, seed=seed, longest=longest)
    counts = Counter(word for example in sampled.train for word in example.source.split())
    frequent = {word for word, _ in counts.most_common(words)}
    train_pairs, valid_pairs, test_pairs = (
        [example for example in part if frequent.issuperset(example.source.split())]
        for part in (sampled.train, sampled.valid, sampled.test)
    )
    return Splits(train_pairs, valid_pairs, test_pairs, extra={})


def _tune(bench: Bench, sizes: EnergiesSizes, splits: Splits, shown: int) -> dict[str, dict[float, float]]:
    """The validation loss of the tuning seed at every learning rate, by kind; a window has its similarity's."""
    arms = [(name, learning_rate) for name in (*SIMILARITIES, NONE) for learning_rate in sizes.rates]
    trained = bench.starmap(
        _train_and_score,
        [(name, sizes.tuning_seed, learning_rate, sizes, splits, shown) for name, learning_rate in arms],
    )
    losses: dict[str, dict[float, float]] = {}
    for (name, learning_rate), model in zip(arms, trained, strict=True):
        losses.setdefault(name, {})[learning_rate] = model.loss
    return losses


def _train_and_score(
    bench: Bench, name: str, seed: int, learning_rate: float, sizes: EnergiesSizes, splits: Splits, shown: int
) -> TrainedModel:
    model, test = f"{name.replace(' ', '-')}-{seed}-{learning_rate:g}", splits.test
    folder = bench.train(model, _config(name, learning_rate, sizes), splits.train, splits.valid, seed=seed)
    translator = Translator.load(folder)
    gold = [gold_links(e) for e in test]
    report = evaluate(
        translator, [e.source for e in test], [e.target for e in test], gold, beam=1, tokenize="none"
    )
    scores = {"bleu": report.quality["bleu"], "exact_match": 100 * report.quality["exact_match"]}
    if report.alignment is not None:
        scores["aer"] = 100 * report.alignment.aer
    loss = float(translator.facts["loss"])
    return TrainedModel(folder, learning_rate, loss, scores, report.references_aligned[shown].word_alpha)


def _config(name: str, learning_rate: float, sizes: EnergiesSizes) -> dict[str, Any]:
    """One configuration for all; what differs is the attention section, or that there is none."""
    n = sizes.units
    part = {"cell": "gru", "embedding_size": n, "dropout": 0.0}
    attentions: dict[str, dict[str, Any]] = {
        "dot": {"energy": "dot"},
        "scaled dot": {"energy": "scaled-dot"},
        "general": {"energy": "bilinear"},
        "additive": {"energy": "additive", "size": n},
        "concat": {"energy": "concat", "size": n},
        **{
            window: {"energy": "bilinear", "window": window, "window_size": sizes.window_size}
            for window in WINDOWS
        },
    }
    decoder: dict[str, Any] = {**part, "state_size": 2 * n, "readout_size": n}
    if name != NONE:
        decoder |= {"attention": attentions[name], "input_feeding": False}
    return {
        "preset": "rnnencdec-small" if name == NONE else "luong-small",
        "tokenizer": {"source": "word", "target": "word"},
        "model": {"tie": "target", "encoder": {**part, "state_size": n}, "decoder": decoder},
        "training": train_for(
            sizes.updates,
            learning_rate=learning_rate,
            warmup=min(100, sizes.updates),
            label_smoothing=0.0,
            batch_sentences=_BATCH_PAIRS,
            validation_sentences=1,
        ),
    }


def _time_updates(
    bench: Bench, folders: Mapping[str, Path], examples: Sequence[Example], rounds: int
) -> dict[str, list[float]]:
    """Seconds of updates by each model, on the same batches."""
    pairs = [SentencePair(e.source, e.target) for e in examples[: _BATCH_PAIRS * rounds]]
    return time_in_turn({name: make_update(folder, pairs) for name, folder in folders.items()}, rounds)


def make_update(folder: Path, pairs: Sequence[SentencePair]) -> Callable[[int], None]:
    """A function that updates a trained translator on the k-th batch of 64 pairs: forward, backward, Adam.

    Args:
        folder: of the model; it is not changed.
        pairs: the batches in order; the last of them may be smaller.
    """
    translator = Translator.load(folder)
    encoded = list(encode_pairs(pairs, translator.source_tokenizer, translator.target_tokenizer))
    batches = [pad_pairs(encoded[k : k + _BATCH_PAIRS]) for k in range(0, len(encoded), _BATCH_PAIRS)]
    objective = TranslationObjective(translator.model.train(), 0.0)
    optimizer = torch.optim.Adam(objective.parameters(), lr=1e-5)

    def update(k: int) -> None:
        batch = batches[k % len(batches)]
        (objective(batch) / batch.target_mask.sum()).backward()
        optimizer.step()
        optimizer.zero_grad()

    return update


def time_in_turn(
    functions: Mapping[str, Callable[[int], None]],
    rounds: int,
    *,
    warmup: int = 2,
    clock: Callable[[], float] = time.process_time,
) -> dict[str, list[float]]:
    """Time every function once per round, each round starting with another one, so that noise affects all equally.

    Args:
        functions: by name; called with the number of the round, all do the same work in the same round.
        rounds: that are counted.
        warmup: rounds before them that are not.
        clock: in seconds; by default those of this process only.

    Returns:
        Seconds per round, by name.
    """
    names = list(functions)
    seconds: dict[str, list[float]] = {name: [] for name in names}
    for k in range(-warmup, rounds):
        first = k % len(names)
        for name in names[first:] + names[:first]:
            started = clock()
            functions[name](k % rounds)
            if k >= 0:
                seconds[name].append(clock() - started)
    return seconds


def time_ratios(seconds: Mapping[str, Sequence[float]], reference: str) -> dict[str, float]:
    """The median over rounds of the seconds over those of the reference in the same round."""
    return {
        name: median(own / other for own, other in zip(rounds, seconds[reference], strict=True))
        for name, rounds in seconds.items()
    }


def verdict(numbers: Mapping[str, Any]) -> Verdict:
    """Three numbers per seed against their bounds, which `EXPERIMENT.decides` gives reasons for."""
    kinds, diagonal = numbers["kinds"], numbers["diagonal_aer"]

    def by_seed(score: str, chosen: Callable[[list[float]], float]) -> list[float]:
        return [
            chosen(list(values))
            for values in zip(*(kinds[name][score]["values"] for name in SIMILARITIES), strict=True)
        ]

    def percent(parts: list[float], wholes: list[float]) -> list[float]:
        return [
            100 * part / whole if whole else float("nan") for part, whole in zip(parts, wholes, strict=True)
        ]

    worst, best = by_seed("bleu", min), by_seed("bleu", max)
    without = kinds[NONE]["bleu"]["values"]
    learned = Check.over_seeds("BLEU of the best similarity", best, "at least", BOUNDS["learned"])
    aer = by_seed("aer", lambda values: float(np.max(values)))
    checks = [
        Check.over_seeds(
            "BLEU of the worst similarity, of the best one's",
            percent(worst, best),
            "at least",
            BOUNDS["of_best"],
            " %",
            given=learned,
        ),
        Check.over_seeds(
            "BLEU of the worst similarity, of that without attention",
            percent(worst, without),
            "at least",
            BOUNDS["of_none"],
            " %",
            given=learned,
        ),
        Check.over_seeds(
            "highest AER of a similarity, of the diagonal's",
            percent(aer, [diagonal] * len(aer)),
            "at most",
            BOUNDS["of_diagonal"],
            " %",
            given=learned,
        ),
    ]
    means = {name: kinds[name]["bleu"]["mean"] for name in SIMILARITIES}
    rates = [kinds[name]["aer"]["mean"] for name in SIMILARITIES]
    high, low = max(means, key=means.__getitem__), min(means, key=means.__getitem__)
    return Verdict(
        checks,
        f"The best similarity is {high} with BLEU {means[high]:.1f}, the worst {low} with {means[low]:.1f}; without "
        f"attention it is {kinds[NONE]['bleu']['mean']:.1f}. Alignment error rates range from {min(rates):.1f} to "
        f"{max(rates):.1f} %, that of the diagonal is {diagonal:.1f} % (means over {len(best)} seeds).",
    )


def _scores_figure(numbers: Mapping[str, Any]) -> CaptionedFigure:
    """Quality, alignment and time of every attention, with the value without attention above each panel."""
    kinds, times = numbers["kinds"], numbers["time"]

    def panel(score: str, label: str, title: str, ranging: tuple[float, float] | None = None) -> Measure:
        spreads = [Spread.of(kinds[name][score]["values"]) for name in ATTENTIONS]
        halves = [each.half for each in spreads]
        return Measure(label, [each.mean for each in spreads], halves, title=title, ranging=ranging)

    def without(score: str) -> str:
        return f"{NONE}: {kinds[NONE][score]['mean']:.1f}"

    panels = [
        panel("bleu", "BLEU", without("bleu"), (0, 100)),
        panel("exact_match", "exact match (%)", without("exact_match"), (0, 100)),
        panel("aer", "alignment error rate (%)", f"the diagonal: {numbers['diagonal_aer']:.1f}"),
        Measure(
            "time of an update (dot = 1)",
            [times[name] for name in ATTENTIONS],
            form="{:.2f}",
            title=f"{NONE}: {times[NONE]:.2f}",
        ),
    ]
    caption = (
        "BLEU and exact match on held-out sentences, alignment error rate against gold links, and time of an update, "
        f"by attention; whiskers are the 90 % interval over {len(numbers['seeds'])} seeds (the windows have one seed "
        "and no whisker). Above each panel is the value without it. Additive and concat are one function written in "
        "two ways: the difference between them is due to chance and to their initial weights."
    )
    return CaptionedFigure("scores", caption, draw_bars(ATTENTIONS, panels))


def _pair_figure(example: Example, alphas: Mapping[str, LabelledAlpha]) -> CaptionedFigure:
    maps = [
        HeatMap(labelled.alpha, labelled.source_labels, labelled.target_labels, example.gold, name)
        for name, labelled in alphas.items()
    ]
    caption = (
        "One held-out pair with each attention, by the models of the first seed: white 0, black 1, boxes are gold "
        "links (dashed: possible ones). It is the first pair with the most crossing links. If several similarities "
        "will do, the maps are alike; outside a local window the cells are white."
    )
    return CaptionedFigure("sheet", caption, draw_heatmaps(maps, columns=3))


def make_tables(numbers: Mapping[str, Any]) -> list[Table]:
    """All scores, with the formulae."""
    rows = []
    for name, scores in numbers["kinds"].items():
        cells = [
            f"{spread.mean:.1f}" + (f" ± {spread.half:.1f}" if len(spread.values) > 1 else "")
            if (spread := Spread.of(scores[score]["values"] if score in scores else ())).values
            else "–"
            for score in ("bleu", "exact_match", "aer")
        ]
        formula, learning_rate = FORMULAE.get(name, "–"), f"{numbers['rates'][name]:g}"
        rows.append([name, formula, learning_rate, *cells, f"{numbers['time'][name]:.2f}"])
    caption = (
        f"Mean over {len(numbers['seeds'])} seeds and half its 90 % interval. Exact match and AER are in percent; the "
        "time of an update is in units of dot's."
    )
    columns = [
        "attention",
        "energy of query q and key k",
        "learning rate",
        "BLEU",
        "exact match",
        "AER",
        "time",
    ]
    return [Table(caption, columns, rows)]


def write_remarks(numbers: Mapping[str, Any]) -> list[str]:
    """What Luong found, what the differences can be due to, and how the experiment was set up."""
    bleu = {name: numbers["kinds"][name]["bleu"]["mean"] for name in ATTENTIONS}
    others = max(bleu[name] for name in SIMILARITIES if name != "concat")
    times, seeds = numbers["time"], len(numbers["seeds"])
    slowest = max(ATTENTIONS, key=times.__getitem__)
    return [
        "Luong et al. (2015, §5.3) found dot good for global attention, general better for local, and concat poor. "
        f"Here general minus dot is {_signed(bleu['general'] - bleu['dot'])} BLEU, and concat minus the best of the "
        f"others {_signed(bleu['concat'] - others)}.",
        "W[q; k] is W₁q + W₂k, so concat is additive with both matrices in one; only the initial weights are sampled "
        f"differently. The two are {abs(bleu['concat'] - bleu['additive']):.1f} BLEU apart: with {seeds} "
        f"seed{'s' if seeds > 1 else ''}, smaller differences than that mean nothing, and larger ones little.",
        f"The slowest is {slowest} with {times[slowest]:.2f} of dot's time. Most of an update is spent on what all "
        "share, the recurrences and the output layer; sentences are short, and energies are few.",
        f"The windows are over general and extend {numbers['window_size']} words to either side; the paper's 10 would "
        "be the whole sentence. They compute all energies and mask those outside, so they can save no time here.",
        "All have the same pairs in the same order and the same number of updates. Additive and concat have matrices "
        "and a vector of their own in the attention, general has one matrix, dot has no parameters. Where general is "
        "behind, a likely reason, not measured here, is that Adam moves every weight by about the learning rate, and "
        "so qᵀWk by up to that rate × ‖q‖₁‖k‖₁ in one update: the softmax can saturate before it has found the words.",
    ]


def _signed(difference: float) -> str:
    """With its sign, and a typographic minus."""
    return f"{difference:+.1f}".replace("-", "−")


EXPERIMENT = Experiment(
    name="energies",
    title="Which score function?",
    claim="Attention needs a similarity of query and key, and several will do: qᵀk, qᵀk/√p, qᵀWk, a small network, …",
    source="“Attention”: “Neural architecture”, the cases of similarity(kᵢ, q); the small network is f_att of its "
    "slides on seq2seq with attention, and in “Seq2Seq Model with Attention” and “seq2seq & attention”",
    method="Luong's decoder (GRU, no input feeding) is trained on English to French with short microworld sentences of "
    "frequent words, once with each similarity: dot, scaled dot, general, additive and concat; and with Luong's two "
    "local windows over general. Sizes, pairs and updates are the same; each kind has the learning rate of a fixed "
    "grid "
    "with the lowest validation loss in trainings of a tuning seed, which is not among those that decide (a window has "
    "general's). The baseline is the fixed-vector decoder of Cho et al. at the same sizes. Held-out sentences are "
    "translated greedily, and aligned by forced decoding. After training all models make updates in turn on the same "
    "batches; time is the median ratio to dot, in this process's own seconds.",
    decides=f"“Will do” is taken to mean: the worst of the five similarities reaches at least {BOUNDS['of_best']:.0f} "
    "% "
    "of the best one's BLEU, since with more than a tenth at stake the choice would matter; it has at least "
    f"{BOUNDS['of_none']:.0f} % of what no attention has, or the decoder could as well have ignored it; and none has "
    "an "
    f"alignment error rate above {BOUNDS['of_diagonal']:.0f} % of the diagonal's, so that each finds the words. Worst "
    "and best are taken within each seed. It counts only if the task was learned: BLEU of at least "
    f"{BOUNDS['learned']:.0f} with the best similarity. The windows and the time do not decide: the lecture does not "
    "mention them.",
    measure=measure,
    usual=REGISTERED.usual,
    full=REGISTERED.full,
    registration=REGISTERED,
    seconds=830,
)
