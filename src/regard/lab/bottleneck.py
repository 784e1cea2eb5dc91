"""“Input sequence bottlenecked through fixed-sized vector. What if T = 1000?”: copying and recall, up to that length.

An encoder–decoder whose decoder sees one vector and one whose decoder attends are trained on short lines to copy
symbols and to recall which value belongs to which key; both are then tested on up to 1000 symbols. What decides: the
accuracy at T = 1000 (of recall, on the first value asked for), and the number of bits that get through.
"""

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from regard.batches import pad_pairs
from regard.config import Config
from regard.datasets import Example
from regard.datasets.memory import KEYS, VALUES
from regard.evaluation import edit_distance
from regard.lab.measures.baselines import guess_accuracy
from regard.lab.measures.statistics import Spread, average, spread_curve
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
from regard.plots.figures.curves import Curve, Mark, Panel, draw_curves
from regard.tasks.translate.predictor import Translator
from regard.text import EncodedPair

FIXED, ATTENDING = "fixed vector", "attention"
MODELS: dict[str, dict[str, Any]] = {
    FIXED: {"preset": "rnnencdec-small", "decoder": {"kind": "cho"}},
    ATTENDING: {"preset": "luong-small", "decoder": {"kind": "luong", "attention": {"energy": "bilinear"}}},
}
TASKS = ("copy", "recall")
SYMBOLS = tuple(f"s{number}" for number in range(24))
_BATCH_LINES = 100
"""Lines decoded in one batch: as many of the longest as fit into memory."""


@dataclass(frozen=True)
class BottleneckSizes(Config):
    """The size of the experiment.

    Attributes:
        copy_updates: of the training to copy, the same for both models.
        recall_updates: of the training to recall.
        lengths: T of the test lines, in symbols of the source.
        tested: symbols copied at each length, in at least four lines.
        recall_lines: lines of recall at each length; in each the first question counts.
        longest: T of the longest training line; most are shorter, as their logarithms are uniformly distributed.
        pairs: of a key and a value in each test line of recall, the rest being filler; the most in a training line.
        keys: different keys, of which each is seen the more often the fewer they are.
        state: units of the vector and of the decoder; the encoder has half as many per direction.
        learning_rate: at its highest.
        batch_tokens: the most tokens in a batch of 64 lines.
        seeds: trainings of each model on each task, each with its own weights, order of batches and lines.
    """

    copy_updates: int
    recall_updates: int
    lengths: tuple[int, ...]
    tested: int
    recall_lines: int
    longest: int
    pairs: int
    keys: int
    state: int
    learning_rate: float
    batch_tokens: int
    seeds: int


REGISTERED = read_registration(__file__, BottleneckSizes.from_mapping)
BOUNDS = REGISTERED.bounds


def measure(bench: Bench, sizes: BottleneckSizes) -> Finding:
    """Train both models on both tasks with every seed, and test each at every length."""
    seeds = bench.seeds(sizes.seeds)
    arms = [(task, model, seed, sizes) for seed in seeds for task in TASKS for model in MODELS]
    measured = iter(bench.starmap(_train_and_test, arms))
    runs = [{task: {model: next(measured) for model in MODELS} for task in TASKS} for _ in seeds]
    numbers = {
        "seeds": seeds,
        "sizes": asdict(sizes),
        "lengths": list(sizes.lengths),
        "bits to be had": [length * math.log2(len(SYMBOLS)) for length in sizes.lengths],
        "guess": {"copy": 100 / len(SYMBOLS), "recall": guess_accuracy(sizes.pairs)},
        **average(runs),
        "runs": runs,
    }
    return Finding(
        numbers, verdict(runs, sizes), make_figures(numbers), make_tables(numbers), write_remarks(numbers)
    )


def _train_and_test(bench: Bench, task: str, model: str, seed: int, sizes: BottleneckSizes) -> dict[str, Any]:
    """Accuracy and, for copies, bits at each length; free-running copies at the training lengths."""
    rng = random.Random(f"bottleneck {task} {seed}")
    updates = sizes.copy_updates if task == "copy" else sizes.recall_updates
    lines = [_training_line(task, rng, sizes) for _ in range(64 * updates + 100)]
    name = f"{task}-{model.replace(' ', '-')}-{seed}"
    folder = bench.train(name, _config(model, updates, sizes), lines[100:], lines[:100], seed=seed)
    translator = Translator.load(folder)
    result: dict[str, Any] = {"parameters": translator.model.num_parameters, "right": []}
    if task == "copy":
        result |= {"bits": [], "exact": [], "wrong": []}
    for length in sizes.lengths:
        bench.report(f"testing {name} at {length}")
        test = random.Random(f"bottleneck, tested {task} {length} {bench.seed}")
        if task == "recall":
            lines = [
                shuffled_recall_line(test, sizes, sizes.pairs, length) for _ in range(sizes.recall_lines)
            ]
            correct, _ = force_targets(translator, lines)
            # the value after the first key: later ones could be inferred by elimination
            result["right"].append(100 * correct[:, 1].double().mean().item())
            continue
        lines = [copy_line(test, length) for _ in range(max(4, sizes.tested // length))]
        correct, log_probs = force_targets(translator, lines)
        result["right"].append(100 * correct.double().mean().item())
        result["bits"].append(bits_through(log_probs, len(SYMBOLS)).mean().item())
        if length <= sizes.longest:
            exact, wrong = copy_freely(translator, lines[:40])
            result["exact"].append(exact)
            result["wrong"].append(wrong)
    return result


def copy_line(rng: random.Random, length: int) -> Example:
    """A line of independent random symbols, to be copied."""
    line = " ".join(rng.choices(SYMBOLS, k=length))
    return Example(line, line)


def shuffled_recall_line(rng: random.Random, sizes: BottleneckSizes, pairs: int, length: int) -> Example:
    """Pairs of a key and a value, then filler; as the target the same pairs in another order.

    The keys of the target are the questions, which cannot be predicted; the values are the answers.
    """
    pair = [
        f"{key} {value}"
        for key, value in zip(
            rng.sample(KEYS[: sizes.keys], pairs), rng.choices(VALUES, k=pairs), strict=True
        )
    ]
    source = " ".join([*pair, *["."] * (length - 2 * pairs)])
    rng.shuffle(pair)
    return Example(source, " ".join(pair))


def _training_line(task: str, rng: random.Random, sizes: BottleneckSizes) -> Example:
    """Short lines often, long ones seldom."""
    pairs = rng.randint(1, sizes.pairs)
    shortest = 2 if task == "copy" else 2 * pairs
    length = round(shortest * (sizes.longest / shortest) ** rng.random())
    return copy_line(rng, length) if task == "copy" else shuffled_recall_line(rng, sizes, pairs, length)


def _config(model: str, updates: int, sizes: BottleneckSizes) -> dict[str, Any]:
    """The run of one model: encoder, sizes and training are the same for both."""
    half = sizes.state // 2
    decoder = {
        **MODELS[model]["decoder"],
        "cell": "gru",
        "embedding_size": half,
        "state_size": sizes.state,
        "readout_size": half,
        "dropout": 0.0,
    }
    return {
        "preset": MODELS[model]["preset"],
        "data": {"max_length": sizes.longest},
        "tokenizer": {"source": "word", "target": "word", "shared": True},
        "model": {
            "tie": "all",
            "encoder": {"cell": "gru", "embedding_size": half, "state_size": half, "dropout": 0.0},
            "decoder": decoder,
        },
        "training": train_for(
            updates,
            learning_rate=sizes.learning_rate,
            warmup=100,
            label_smoothing=0.0,
            batch_sentences=64,
            batch_tokens=sizes.batch_tokens,
            validation_sentences=1,
            select="loss",
        ),
    }


def bits_through(log_probs: Tensor, symbols: int) -> Tensor:
    """T·log₂ S minus the cross-entropy in bits: Σ_t (log₂ S + log₂ p_t).

    A model that knows nothing gives each of S symbols 1/S, and nothing gets through; one that is certain and right lets
    all T·log₂ S bits through; one that is certain and wrong comes out below 0.

    Args:
        log_probs: natural logarithms of the correct symbols' probabilities, (B, T).
        symbols: S, the number of equally likely symbols.

    Returns:
        Bits of each row, (B,).
    """
    return (log_probs.double() / math.log(2) + math.log2(symbols)).sum(dim=1)  # (B,)


def force_targets(translator: Translator, lines: Sequence[Example]) -> tuple[Tensor, Tensor]:
    """Forced decoding of targets that all have the same length T.

    Returns:
        Whether the most probable symbol is the correct one, and the correct one's log-probability, both (B, T), without
        EOS.
    """
    batches = [
        _force_batch(translator, lines[k : k + _BATCH_LINES]) for k in range(0, len(lines), _BATCH_LINES)
    ]
    correct, log_probs = zip(*batches, strict=True)
    return torch.cat(correct), torch.cat(log_probs)


@torch.inference_mode()
def _force_batch(translator: Translator, lines: Sequence[Example]) -> tuple[Tensor, Tensor]:
    sources = translator.source_tokenizer.encode_batch([line.source for line in lines])
    targets = translator.target_tokenizer.encode_batch([line.target for line in lines])
    batch = pad_pairs([EncodedPair(*pair) for pair in zip(sources, targets, strict=True)])
    logits = translator.model(batch).logits.view(*batch.target_ids.shape, -1)  # (B, T + 1, V)
    log_probs = logits.log_softmax(dim=-1).gather(2, batch.target_ids.unsqueeze(2)).squeeze(2)  # (B, T + 1)
    return (logits.argmax(dim=-1) == batch.target_ids)[:, :-1], log_probs[:, :-1]


def copy_freely(translator: Translator, lines: Sequence[Example]) -> tuple[float, float]:
    """Greedy, free-running copies: percent of lines without an error, and percent of symbols wrong."""
    outputs = [translation.text for translation in translator.translate([e.source for e in lines], beam=1)]
    exact = sum(text == line.target for text, line in zip(outputs, lines, strict=True))
    errors = sum(
        edit_distance(text.split(), line.target.split()) for text, line in zip(outputs, lines, strict=True)
    )
    return 100 * exact / len(lines), 100 * errors / sum(len(line.target.split()) for line in lines)


def verdict(runs: Sequence[Mapping[str, Any]], sizes: BottleneckSizes) -> Verdict:
    """Accuracy at the greatest length, and bits, against their bounds, over the seeds; see `EXPERIMENT.decides`."""
    numbers, shortest, longest = average(runs), sizes.lengths[0], sizes.lengths[-1]
    guess = {"copy": 100 / len(SYMBOLS), "recall": guess_accuracy(sizes.pairs)}

    def at(task: str, model: str, k: int) -> list[float]:
        return [run[task][model]["right"][k] for run in runs]

    checks = []
    for task, what in (("copy", "symbols copied right"), ("recall", "first values recalled")):
        learned = {
            model: Check.over_seeds(
                f"{what} at T = {shortest}, {model}", at(task, model, 0), "at least", BOUNDS["learned"], " %"
            )
            for model in MODELS
        }
        vector = f"{what} at T = {longest}, {FIXED}"
        attention = f"{what} at T = {longest}, {ATTENDING}"
        bound = guess[task] + BOUNDS["above_guess"]
        checks += [
            # a vector that fails is half of the claim, but no evidence for it where attention fails too
            Check.over_seeds(
                vector, at(task, FIXED, -1), "at most", bound, " %", control=True, given=learned[FIXED]
            ),
            Check.over_seeds(
                attention, at(task, ATTENDING, -1), "at least", BOUNDS["kept"], " %", given=learned[ATTENDING]
            ),
        ]
        if task == "copy":
            times = [
                _times(run["copy"][ATTENDING]["bits"][-1], float(np.max(run["copy"][FIXED]["bits"])))
                for run in runs
            ]
            what_bits = "bits through attention, times the most through the vector"
            checks.append(
                Check.over_seeds(what_bits, times, "at least", BOUNDS["times"], given=learned[FIXED])
            )
    copy, recall = numbers["copy"], numbers["recall"]
    most, through = float(np.max(copy[FIXED]["bits"])), copy[ATTENDING]["bits"][-1]
    because = (
        f"Of {longest} symbols, each after the correct ones before it, the fixed vector copies "
        f"{copy[FIXED]['right'][-1]:.0f} % correctly, attention {copy[ATTENDING]['right'][-1]:.0f} %; at no length "
        f"tested do more than {max(most, 0):.0f} bits get through the vector, and through attention "
        f"{f'{through:,.0f}' if through > 0 else 'none'} of {longest * math.log2(len(SYMBOLS)):,.0f}. Asked first for "
        f"one of {sizes.pairs} pairs that {longest - 2 * sizes.pairs} fillers follow, the vector is right "
        f"{recall[FIXED]['right'][-1]:.0f} % of the time, attention {recall[ATTENDING]['right'][-1]:.0f} %; the most "
        f"frequent value of the line would be right {guess['recall']:.0f} % of the time (means over {len(runs)} seeds)."
    )
    return Verdict(checks, because)


def _times(through: float, most: float) -> float:
    """The bits through attention over the most through the vector.

    Infinite if only attention lets any through; nan if neither does, or if the vector's are not a number.
    """
    if most > 0:
        return through / most
    return math.inf if most <= 0 < through else math.nan


def make_figures(numbers: Mapping[str, Any]) -> list[CaptionedFigure]:
    """Three panels over T: accuracy and bits of copying, accuracy of recall."""
    lengths, models = numbers["lengths"], list(numbers["copy"])
    edge = Mark(numbers["sizes"]["longest"], "longest training line")
    shared: dict[str, Any] = {"x_label": "T (symbols in the source)", "x_scale": "log"}

    def accuracy(task: str, title: str, y_label: str) -> Panel:
        curves = []
        for model in models:
            rows = zip(*(run[task][model]["right"] for run in numbers["runs"]), strict=True)
            curves.append(spread_curve(model, lengths, [Spread.of(values) for values in rows]))
        marks = [edge, Mark(numbers["guess"][task], "guess", axis="y")]
        return Panel(curves, y_label=y_label, title=title, y_range=(0, 102), marks=marks, **shared)

    # a logarithmic axis has no place for what is not above 0
    bits = [
        Curve(model, lengths, [n if n > 0 else math.nan for n in numbers["copy"][model]["bits"]])
        for model in models
    ]
    bits.append(Curve("all there is", lengths, numbers["bits to be had"]))
    panels = [
        accuracy("copy", "Copy: symbols", "symbols right (%)"),
        Panel(
            bits, y_label="bits that get through", title="Copy: bits", y_scale="log", marks=[edge], **shared
        ),
        accuracy("recall", "Recall", "values right (%)"),
    ]
    caption = (
        "Symbols copied correctly and bits that get through, against the length of the line; first values recalled, "
        "against the length to which filler extends the line. Each symbol is scored after the correct ones before it. "
        f"Means over {len(numbers['seeds'])} seeds; bands are the 90 % interval. "
        "Where the dashed curve of attention follows the dotted one of all there is, the whole line gets through; a "
        "flat curve of bits is a vector that is full."
    )
    return [CaptionedFigure("lengths", caption, draw_curves(panels))]


def make_tables(numbers: Mapping[str, Any]) -> list[Table]:
    """A row for each length: forced and free-running copies, and recall."""
    rows = []
    for k, length in enumerate(numbers["lengths"]):
        cells = [str(length)]
        for copy in numbers["copy"].values():
            free = k < len(copy["exact"])
            cells += [
                f"{copy['right'][k]:.1f}",
                f"{copy['bits'][k]:,.0f}".replace("-", "−"),
                f"{copy['exact'][k]:.0f} / {copy['wrong'][k]:.0f}" if free else "–",
            ]
        cells += [f"{recall['right'][k]:.1f}" for recall in numbers["recall"].values()]
        rows.append(cells)
    columns = [f"{what}, {model}" for model in numbers["copy"] for what in ("right", "bits", "free")]
    caption = (
        "Copying, each symbol after the correct ones: percent right, and bits; and free-running, after the model’s own "
        "symbols: percent of lines without an error / of symbols wrong. Last, percent of first values recalled."
    )
    return [Table(caption, ["T", *columns, *(f"recall, {model}" for model in numbers["recall"])], rows)]


def write_remarks(numbers: Mapping[str, Any]) -> list[str]:
    """What a reader should not conclude."""
    recall, lengths, state = numbers["recall"], numbers["lengths"], numbers["sizes"]["state"]
    remarks = [
        f"The vector has {state} numbers, capacity for far more bits than it was found to hold: what is measured is "
        "how much this training made it store, not what it could store. The ceiling may rise with --full; that there "
        "is one does not change, since the line grows and the vector does not. Below 0 bits a model is certain of "
        "wrong symbols, for example at lengths it was not trained on; such points are left out of the figure.",
        "In copying, attention has only the neighbouring symbols to find its position by, and among many symbols the "
        "same few neighbours occur again: this is where it may fail at great lengths, besides a softmax over many more "
        "positions than in training. And it pays for T positions at each of T steps (see cost).",
        "From trials: of recall only the first question counts, because values already given can be excluded at the "
        "later ones; Bahdanau’s RNNsearch (additive score) did not learn to copy in one trial, so the attending model "
        "is Luong’s; embeddings are tied, and a target asks for all pairs. One learning rate serves all trainings.",
    ]
    near, far = (recall[FIXED]["right"][k] for k in (0, -1))
    if near >= BOUNDS["learned"] and far >= near - BOUNDS["above_guess"]:
        remarks.append(
            f"In recall the fixed vector is right {near:.0f} % of the time at T = {lengths[0]} and {far:.0f} % "
            f"at T = {lengths[-1]}: what it has stored stays there while filler is read. It is the amount that meets a "
            "bottleneck, not the length by itself."
        )
    return remarks


EXPERIMENT = Experiment(
    name="bottleneck",
    title="What if T = 1000?",
    claim="An input sequence is bottlenecked through a fixed-sized vector; with attention it is not. What if T = 1000?",
    source="the lecture Attention: “Sequence-to-Sequence with RNNs”, and “… with RNNs and Attention”",
    method=(
        "Two encoder–decoders with the same bidirectional GRU and a GRU decoder of the same size: in one the decoder "
        "sees one vector of 96 numbers (Cho’s), in the other it attends to all annotations (Luong’s, general score). "
        "Both are trained for the same number of updates, on lines of at most 60 symbols (120 in the longer run), to "
        "copy random symbols out of 24, and to recall: pairs of a key and a value, then filler, and in the target the "
        "keys in another order, each followed by its value. Copying tests how much is kept, recall how long. Tested "
        "from the shortest line to T = 1000 by forced decoding: each symbol is scored after the correct ones before "
        "it; "
        "in recall only the first question counts. Seeds determine lines, weights and order; one learning rate serves "
        "all trainings."
    ),
    decides=(
        f"At T = 1000 the fixed vector must be no more than {BOUNDS['above_guess']:.0f} points better than a guess, "
        "and "
        f"attention right at least {BOUNDS['kept']:.0f} % of the time, in copying and in recall. A guess is one symbol "
        "of 24, and in recall the most frequent value of the line, the best that can be done without the keys. That "
        "the vector fails is no evidence for the claim where attention fails too. And attention must let through at "
        f"least {BOUNDS['times']:.0f} times the bits that the vector does at its best length: a bottleneck is a "
        "ceiling, and an order of magnitude above it is not under it. A model counts only in a task that it has "
        f"learned: at least {BOUNDS['learned']:.0f} % right in the shortest lines."
    ),
    measure=measure,
    usual=REGISTERED.usual,
    full=REGISTERED.full,
    registration=REGISTERED,
    seconds=450,
)
