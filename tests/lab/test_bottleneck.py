"""The experiment on the bottleneck: its lines, its measures against plainer ones, its verdict."""

import json
import math
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from regard.evaluation import edit_distance
from regard.lab.bottleneck import (
    ATTENDING,
    BOUNDS,
    EXPERIMENT,
    FIXED,
    MODELS,
    REGISTERED,
    SYMBOLS,
    BottleneckSizes,
    _config,
    bits_through,
    copy_freely,
    copy_line,
    force_targets,
    guess_accuracy,
    measure,
    shuffled_recall_line,
    verdict,
    write_remarks,
)
from regard.lab.runner import Bench
from regard.lab.runner.experiment import HELD, IN_PART, NOT_DECIDED, NOT_SEEN
from regard.tasks.translate.predictor import Translator
from regard.training.configure import configure

TOY = BottleneckSizes(
    copy_updates=8,
    recall_updates=8,
    lengths=(6, 40),
    tested=12,
    recall_lines=120,
    longest=8,
    pairs=3,
    keys=20,
    state=8,
    learning_rate=0.006,
    batch_tokens=500,
    seeds=2,
)
FAR = replace(TOY, lengths=(16, 1000), pairs=8)


def made_up(copy: tuple[float, float], recall: tuple[float, float], bits: tuple[float, float]) -> Any:
    """What a vector and attention do at two lengths: all at the first, so much at the second."""
    return {
        "copy": {
            model: {"right": [100.0, copy[k]], "bits": [40.0, bits[k]], "exact": [100.0], "wrong": [0.0]}
            for k, model in enumerate((FIXED, ATTENDING))
        },
        "recall": {model: {"right": [100.0, recall[k]]} for k, model in enumerate((FIXED, ATTENDING))},
    }


def judged(found: Any) -> Any:
    """The verdict on two seeds with the same numbers."""
    return verdict([found, found], FAR)


def test_recall_asks_for_all_pairs_in_another_order() -> None:
    rng, moved = random.Random(1), 0
    for length in (16, 17, 1000):
        for _ in range(20):
            line = shuffled_recall_line(rng, FAR, 8, length)
            source, target = line.source.split(), line.target.split()
            assert len(source) == length
            pairs = source[:16]
            assert source == pairs + ["."] * (length - 16)
            pairs_by_key = dict(zip(pairs[0::2], pairs[1::2], strict=True))
            assert "." not in pairs
            assert len(pairs_by_key) == 8
            assert dict(zip(target[0::2], target[1::2], strict=True)) == pairs_by_key
            assert len(target) == 16
            moved += target != pairs
    assert moved > 55


def test_a_copy_is_its_source_and_its_symbols_are_all_as_likely() -> None:
    line = copy_line(random.Random(1), 24_000)
    assert line.source == line.target
    counts = [line.source.split().count(symbol) for symbol in SYMBOLS]
    assert sum(counts) == 24_000
    assert all(abs(count - 1000) < 150 for count in counts)


@pytest.mark.parametrize(
    ("copy", "recall", "bits", "word"),
    [
        ((14, 80), (39.9, 80), (-9, 400), HELD),
        ((5, 79), (25, 80), (-9, 400), IN_PART),
        ((5, 80), (40.1, 80), (-9, 400), IN_PART),
        ((5, 80), (25, 80), (41, 400), IN_PART),
        ((4, 5), (20, 30), (-9, 20), NOT_SEEN),  # a vector that fails beside an attention that fails
        ((90, 20), (90, 20), (300, 80), NOT_SEEN),
        ((math.nan, math.nan), (math.nan, math.nan), (300, math.nan), NOT_SEEN),
    ],
)
def test_the_verdict_follows_from_the_far_end(
    copy: tuple[float, float], recall: tuple[float, float], bits: tuple[float, float], word: str
) -> None:
    assert judged(made_up(copy, recall, bits)).word == word


@pytest.mark.parametrize(
    ("vector", "attention", "times"),
    [
        ([-3.0, -9.0], 500.0, math.inf),
        ([-3.0, 0.0], 500.0, math.inf),
        ([-3.0, -9.0], -100.0, math.nan),  # two that let nothing through have no ratio
        ([-3.0, -9.0], 0.0, math.nan),
        ([20.0, math.nan], 500.0, math.nan),
        ([20.0, -9.0], -100.0, -5.0),
    ],
)
def test_a_ratio_needs_bits_through_attention(vector: list[float], attention: float, times: float) -> None:
    found = made_up((5, 90), (20, 90), (0, attention))
    found["copy"][FIXED]["bits"] = vector
    result = judged(found)
    assert result.checks[2].value == pytest.approx(times, nan_ok=True)
    assert result.checks[2].held == (times == math.inf)
    assert ("attention none of 4,585" in result.because) == (attention <= 0)
    assert "-" not in result.because


def test_the_ceiling_is_the_most_at_any_length() -> None:
    checks = judged(made_up((5, 90), (20, 90), (-500, 3000))).checks
    assert checks[2].value == pytest.approx(3000 / 40)
    assert checks[0].bound == pytest.approx(100 / 24 + 10)
    assert checks[3].bound == pytest.approx(guess_accuracy(8) + 10)


def test_a_task_that_was_not_learned_in_the_shortest_lines_does_not_count() -> None:
    found = made_up((5, 90), (20, 90), (-9, 400))
    assert judged(found).word == HELD
    found["recall"][FIXED]["right"][0] = BOUNDS["learned"] - 1
    assert [check.outcome for check in judged(found).checks] == [*["yes"] * 3, "not decided", "yes"]
    assert "first values recalled at T = 16, fixed vector is 79 %" in judged(found).undecided[0]
    for task in ("copy", "recall"):
        for model in MODELS:
            found[task][model]["right"][0] = 50.0
    assert judged(found).word == NOT_DECIDED


def remarks(found: Any) -> list[str]:
    """On numbers at two lengths."""
    numbers = {**found, "lengths": [16, 1000], "sizes": {"state": 96}, "guess": {"recall": guess_accuracy(8)}}
    return write_remarks(numbers)


def test_a_vector_that_keeps_what_it_has_learned_is_remarked_on() -> None:
    found = made_up((5, 90), (44, 99), (-500, 3000))
    assert len(remarks(found)) == 3
    found["recall"][FIXED]["right"] = [90.0, 81.0]
    assert "90 % of the time at T = 16 and 81 % at T = 1000" in remarks(found)[3]
    found["recall"][FIXED]["right"] = [39.0, 39.0]  # nothing was learned, so nothing is kept
    assert len(remarks(found)) == 3


def test_both_models_have_the_same_encoder_state_and_training() -> None:
    for sizes in (REGISTERED.usual, REGISTERED.full):
        one, other = (configure(_config(model, 7, sizes), {}) for model in MODELS)
        assert one.model.encoder == other.model.encoder
        assert one.training == other.training
        for name in ("cell", "embedding_size", "state_size", "readout_size", "dropout"):
            assert getattr(one.model.decoder, name) == getattr(other.model.decoder, name)
        assert not one.model.decoder.attends
        assert other.model.decoder.attends
        assert sizes.lengths[-1] == 1000
        assert 64 * (sizes.longest + 1) >= sizes.batch_tokens / 2


def test_the_numbers_are_those_of_the_models_on_disk(tmp_path: Path) -> None:
    finding = measure(Bench(tmp_path), TOY)
    numbers = json.loads(json.dumps(finding.numbers))
    assert numbers["bits to be had"] == pytest.approx([6 * math.log2(24), 40 * math.log2(24)])
    for model in MODELS:
        translator = Translator.load(tmp_path / "models" / f"copy-{model.replace(' ', '-')}-1")
        test = random.Random("bottleneck, tested copy 40 1")
        lines = [copy_line(test, 40) for _ in range(4)]
        # a plainer way: the library's own reading of given pairs, one line at a time
        read = [translator.align([line.source], [line.target])[0] for line in lines]
        log_probs = [each.token_log_probs[:-1] for each in read]
        bits = sum(math.log2(24) + p / math.log(2) for row in log_probs for p in row) / 4
        assert numbers["runs"][0]["copy"][model]["bits"][1] == pytest.approx(bits, rel=1e-4)
        right, own = force_targets(translator, lines)
        assert own.tolist() == [pytest.approx(row, abs=1e-4) for row in log_probs]
        assert right.shape == (4, 40)
        assert bits_through(own, 24).mean().item() == pytest.approx(bits, rel=1e-4)
        said = [each.text for each in translator.translate([line.source for line in lines], beam=1)]
        faults = sum(edit_distance(a.split(), b.target.split()) for a, b in zip(said, lines, strict=True))
        assert copy_freely(translator, lines) == pytest.approx((0.0, 100 * faults / 160))
        assert len(numbers["copy"][model]["exact"]) == 1
        # of recall only the first value is counted, which stands behind the first key
        translator = Translator.load(tmp_path / "models" / f"recall-{model.replace(' ', '-')}-1")
        test = random.Random("bottleneck, tested recall 6 1")
        questions = [shuffled_recall_line(test, TOY, 3, 6) for _ in range(TOY.recall_lines)]
        alone = [force_targets(translator, [line])[0] for line in questions]  # one at a time, not a hundred
        firsts = [right[0, 1].item() for right in alone]
        assert 0 < sum(firsts) != sum(right[0, 3].item() for right in alone)
        assert numbers["runs"][0]["recall"][model]["right"][0] == pytest.approx(
            100 * sum(firsts) / TOY.recall_lines
        )
        assert len(numbers["recall"][model]["right"]) == 2
    assert finding.verdict.word == verdict(finding.numbers["runs"], TOY).word
    assert [drawing.name for drawing in finding.figures] == ["lengths"]
    assert [row[0] for row in finding.tables[0].rows] == ["6", "40"]


def test_it_is_named_as_its_file() -> None:
    assert EXPERIMENT.name == "bottleneck"


@pytest.mark.parametrize(("length", "symbols"), [(1, 2), (7, 26), (1000, 24)])
def test_a_uniform_predictor_carries_nothing(length, symbols):
    guess = torch.full((3, length), -math.log(symbols), dtype=torch.float64)
    assert bits_through(guess, symbols).tolist() == pytest.approx([0.0] * 3, abs=1e-9)


@pytest.mark.parametrize(("length", "symbols"), [(1, 2), (7, 26), (1000, 24)])
def test_a_perfect_one_carries_all(length, symbols):
    assert bits_through(torch.zeros(2, length), symbols).tolist() == pytest.approx(
        [length * math.log2(symbols)] * 2
    )


def test_rows_are_summed_apart_and_a_sure_mistake_is_worse_than_a_guess():
    right = torch.tensor([[0.5, 0.5], [1.0, 0.25], [1 / 1024, 0.25]])
    assert bits_through(right.log(), 4).tolist() == pytest.approx([2.0, 2.0, -8.0])
