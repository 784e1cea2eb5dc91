"""Trained on the reference's words, used on its own: an error of the decoder is its next input.

The task is a running sum: y_i = y_{i−1} + x_i modulo a small number, so that every word depends on the word before and
there is one right answer. RNNsearch is trained by teacher forcing, and again with scheduled sampling, in which some
inputs are words of its own. Both translate lines freely, by force, and after one wrong word. What decides: how much
larger the error is after the model's own words, how far one wrong word spreads, and whether scheduled sampling helps.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from regard.config import Config
from regard.datasets import Example
from regard.lab.bottleneck import force_targets
from regard.lab.measures.statistics import Spread, spread_curve
from regard.lab.measures.translations import mean_by_part, mean_by_position
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
from regard.tasks.translate.constraints import Constraints
from regard.tasks.translate.predictor import Translator

TEACHER, SAMPLED = "teacher forcing", "scheduled sampling"
FORCED, FREE, AFTER = "forced", "free", "after_error"
_BATCH = 64


@dataclass(frozen=True)
class ExposureSizes(Config):
    """The size of the experiment.

    Attributes:
        seeds: trainings of each kind.
        updates: of 64 lines each.
        test: lines, all of the greatest length.
        longest: numbers in the longest line; training lines have any length from 2 on.
        numbers: different ones; sums are modulo this.
        wrong: the position of the word that is made wrong, from 1.
        state: units of the decoder; the encoder has half as many per direction.
        learning_rate: at its highest.
        sampling: the final probability that a word of the model's own is its next input; it grows from 0.
    """

    seeds: int
    updates: int
    test: int
    longest: int
    numbers: int
    wrong: int
    state: int
    learning_rate: float
    sampling: float


REGISTERED = read_registration(__file__, ExposureSizes.from_mapping)


def measure(bench: Bench, sizes: ExposureSizes) -> Finding:
    """Train both ways with every seed; errors by position."""
    seeds = bench.seeds(sizes.seeds)
    measured = iter(
        bench.starmap(_train_and_test, [(kind, seed, sizes) for kind in (TEACHER, SAMPLED) for seed in seeds])
    )
    numbers = {
        "sizes": asdict(sizes),
        "seeds": seeds,
        "kinds": {kind: [next(measured) for _ in seeds] for kind in (TEACHER, SAMPLED)},
    }
    return Finding(
        numbers, verdict(numbers), make_figures(numbers), make_tables(numbers), write_remarks(numbers)
    )


def sum_line(rng: random.Random, length: int, numbers: int) -> Example:
    """Random numbers and their running sum: x2 x4 x1 → y2 y1 y2 modulo 5."""
    source = rng.choices(range(numbers), k=length)
    target = np.cumsum(source) % numbers
    return Example(" ".join(f"x{value}" for value in source), " ".join(f"y{value}" for value in target))


def _train_and_test(bench: Bench, kind: str, seed: int, sizes: ExposureSizes) -> dict[str, list[float]]:
    """Percent of words that are wrong at each position: by force, freely, and after a wrong word."""
    rng = random.Random(f"exposure {seed}")
    lines = [
        sum_line(rng, rng.randint(2, sizes.longest), sizes.numbers)
        for _ in range(_BATCH * sizes.updates + 100)
    ]
    name = f"{kind.replace(' ', '-')}-{seed}"
    folder = bench.train(name, _config(kind, sizes), lines[100:], lines[:100], seed=seed)
    bench.report(f"testing {name}")
    translator = Translator.load(folder)
    test_rng = random.Random(f"exposure, tested {bench.seed}")
    test = [sum_line(test_rng, sizes.longest, sizes.numbers) for _ in range(sizes.test)]
    sources = [line.source for line in test]
    correct, _ = force_targets(translator, test)
    prefixes = [Constraints(prefix=spoiled_prefix(test_rng, line, sizes)) for line in test]
    free = translator.translate(sources, beam=1)
    after = translator.translate(sources, beam=1, constraints=prefixes)
    return {
        FORCED: (100 * (1 - correct.double().mean(dim=0))).tolist(),
        FREE: errors_by_position([each.text for each in free], test),
        AFTER: errors_by_position([each.text for each in after], test),
    }


def spoiled_prefix(rng: random.Random, line: Example, sizes: ExposureSizes) -> str:
    """The first words of the target, the last of which is another than it should be."""
    words = line.target.split()[: sizes.wrong]
    others = [f"y{value}" for value in range(sizes.numbers) if f"y{value}" != words[-1]]
    return " ".join([*words[:-1], rng.choice(others)])


def errors_by_position(outputs: Sequence[str], lines: Sequence[Example]) -> list[float]:
    """Percent of lines whose output has another word at each position than the target, or none."""
    rows = []
    for output, line in zip(outputs, lines, strict=True):
        words, target = output.split(), line.target.split()
        rows.append([100.0 * (i >= len(words) or words[i] != target[i]) for i in range(len(target))])
    return mean_by_position(rows, max(len(row) for row in rows))


def _config(kind: str, sizes: ExposureSizes) -> dict[str, Any]:
    """The same for both but for scheduled sampling."""
    half = sizes.state // 2
    return {
        "preset": "rnnsearch-small",
        "data": {"max_length": sizes.longest + 1},
        "tokenizer": {"source": "word", "target": "word"},
        "model": {
            "encoder": {"embedding_size": half, "state_size": half, "dropout": 0.0},
            "decoder": {
                "embedding_size": half,
                "state_size": sizes.state,
                "attention": {"size": sizes.state},
                "readout_size": half,
                "dropout": 0.0,
            },
        },
        "auxiliary_losses": {"scheduled_sampling": sizes.sampling if kind == SAMPLED else 0.0},
        "training": train_for(
            sizes.updates,
            learning_rate=sizes.learning_rate,
            warmup=100,
            label_smoothing=0.0,
            batch_sentences=_BATCH,
            validation_sentences=1,
            select="loss",
        ),
    }


def by_third(numbers: Mapping[str, Any], kind: str, way: str, third: int) -> Spread:
    """The error in a third of the line, from 0, one number per seed."""
    return Spread.of(mean_by_part([model[way]], 3)[third] for model in numbers["kinds"][kind])


def spread_after(numbers: Mapping[str, Any], kind: str) -> Spread:
    """Percent of the words after the wrong one that are wrong too, one number per seed."""
    later = slice(numbers["sizes"]["wrong"], None)
    return Spread.of(np.mean(model[AFTER][later]) for model in numbers["kinds"][kind])


def verdict(numbers: Mapping[str, Any]) -> Verdict:
    """The gap, the spread of one error, and what scheduled sampling changes; see `EXPERIMENT.decides`."""
    bounds = REGISTERED.bounds
    learned = {
        kind: Check.over_seeds(
            f"words of the first third right after the reference's words, {kind}",
            (100 - error for error in by_third(numbers, kind, FORCED, 0).values),
            "at least",
            bounds["learned"],
            " %",
        )
        for kind in (TEACHER, SAMPLED)
    }
    free, forced = (by_third(numbers, TEACHER, way, 2) for way in (FREE, FORCED))
    sampled, after = by_third(numbers, SAMPLED, FREE, 2), spread_after(numbers, TEACHER)
    gap = Spread.of(np.subtract(free.values, forced.values))
    checks = [
        Check.over_seeds(
            "errors in the last third, after its own words minus after the reference's",
            gap.values,
            "at least",
            bounds["gap"],
            " points",
            given=learned[TEACHER],
        ),
        Check.over_seeds(
            "words after one wrong word that are wrong",
            after.values,
            "at least",
            bounds["amplified"],
            " %",
            given=learned[TEACHER],
        ),
        Check.over_seeds(
            f"errors in the last third after its own words, {TEACHER} minus {SAMPLED}",
            np.subtract(free.values, sampled.values),
            "at least",
            bounds["less"],
            " points",
            given=learned[SAMPLED],
        ),
    ]
    return Verdict(
        checks,
        f"In the last third of a line {forced.mean:.0f} % of the words are wrong after the reference's words and "
        f"{free.mean:.0f} % after the model's own, a gap of {gap.mean:.0f} ± {gap.half:.0f} points; after one wrong "
        f"word {after.mean:.0f} % of the words that follow are wrong. Trained with scheduled sampling, "
        f"{sampled.mean:.0f} ± {sampled.half:.0f} % of the last third are wrong after the model's own words (means and "
        f"90 % intervals over {len(numbers['seeds'])} seeds).",
    )


def make_figures(numbers: Mapping[str, Any]) -> list[CaptionedFigure]:
    """Error by position, one panel for each way of decoding."""
    positions = list(range(1, numbers["sizes"]["longest"] + 1))
    wrong = Mark(numbers["sizes"]["wrong"], "made wrong")
    panels = []
    for way, title in (
        (FORCED, "after the reference's words"),
        (FREE, "after its own words"),
        (AFTER, "after one wrong word"),
    ):
        curves = []
        for kind, models in numbers["kinds"].items():
            spreads = [Spread.of(values) for values in zip(*(model[way] for model in models), strict=True)]
            curves.append(spread_curve(kind, positions, spreads))
        panels.append(
            Panel(
                curves,
                "position of the word",
                "words wrong (%)" if way == FORCED else "",
                title,
                y_range=(0, 104),
                marks=[wrong] if way == AFTER else [],
            )
        )
    caption = (
        f"Words that are wrong at each position of lines of {positions[-1]}: when every word is predicted after the "
        "reference's words, as in training; after the model's own, as in use; and after its own when one of them was "
        "made wrong on purpose. Means over seeds with their 90 % intervals. The area between the first and the second "
        "panel is the exposure gap."
    )
    return [CaptionedFigure("positions", caption, draw_curves(panels))]


def make_tables(numbers: Mapping[str, Any]) -> list[Table]:
    """Errors by third for both kinds of training."""
    rows = []
    for kind in numbers["kinds"]:
        for way, name in ((FORCED, "the reference's words"), (FREE, "its own words")):
            thirds = [by_third(numbers, kind, way, third) for third in range(3)]
            rows.append([kind, name, *(f"{each.mean:.1f} ± {each.half:.1f}" for each in thirds)])
        later = spread_after(numbers, kind)
        rows.append([kind, "one wrong word", "–", "–", f"{later.mean:.1f} ± {later.half:.1f}"])
    caption = (
        "Percent of words that are wrong, by third of the line, mean and 90 % interval over seeds; after one wrong "
        "word, of all words that follow it."
    )
    return [Table(caption, ["training", "words wrong after", "first third", "second", "last"], rows)]


def write_remarks(numbers: Mapping[str, Any]) -> list[str]:
    """Why a sum shows it, and when the gap is absent."""
    return [
        "A running sum makes the previous word as important as it can be: teacher forcing teaches y_{i−1} + x_i, and "
        "then every error is carried to the end of the line. In translation a wrong word is often harmless.",
        "A model that makes no errors has no gap: in a trial with 700 updates in place of 500 nothing was wrong either "
        "way. The gap belongs to the errors a model still makes, and the spread of a wrong word to how it was "
        "trained.",
    ]


EXPERIMENT = Experiment(
    name="exposure",
    title="Teacher forcing and the decoder's own words",
    claim="The decoder s_t = g(y_{t−1}, s_{t−1}, c_t) is trained with the reference's y_{t−1} and used with its own: "
    "its errors are amplified along the output, and less so if it was trained on words of its own, by scheduled "
    "sampling.",
    source="g(y_{t−1}, …) is on slides of “Attention” (lecture 4) and “seq2seq & attention”; no lecture says which "
    "y_{t−1} it is in training. The claim is that of Bengio, Vinyals, Jaitly & Shazeer 2015, §1 and §2.4",
    method="RNNsearch writes the running sum of up to 12 numbers modulo 5, word by word. It is trained on the same "
    "lines by teacher forcing and with scheduled sampling, in which the probability that the decoder reads a word "
    "sampled from itself grows from 0 to a quarter. Lines of 12 are then decoded by force, freely, and freely after "
    "the third word was replaced by a wrong one.",
    decides=f"If at least {REGISTERED.bounds['learned']:.0f} % of the words of the first third are right after the "
    "reference's words: in the last third there must be at least "
    f"{REGISTERED.bounds['gap']:.0f} points more errors after the model's own words than after the reference's; one "
    f"wrong word must make at least {REGISTERED.bounds['amplified']:.0f} % of those after it wrong, which is more than "
    f"half; and scheduled sampling must lower the errors of the last third by at least "
    f"{REGISTERED.bounds['less']:.0f} points.",
    measure=measure,
    usual=REGISTERED.usual,
    full=REGISTERED.full,
    registration=REGISTERED,
    seconds=100,
)
