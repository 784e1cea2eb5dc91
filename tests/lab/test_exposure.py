"""The experiment on teacher forcing: running sums, errors by position, and its verdict on made-up numbers."""

import json
import random

import pytest

from regard.datasets import Example
from regard.lab.exposure import (
    SAMPLED,
    TEACHER,
    ExposureSizes,
    _config,
    errors_by_position,
    measure,
    spoiled_prefix,
    sum_line,
    verdict,
)
from regard.lab.runner import Bench
from regard.lab.runner.experiment import HELD, IN_PART, NOT_DECIDED, NOT_SEEN
from regard.tasks.translate.predictor import Translator
from regard.training.configure import configure

TOY = ExposureSizes(
    seeds=2,
    updates=4,
    test=10,
    longest=6,
    numbers=5,
    wrong=2,
    state=8,
    learning_rate=0.01,
    sampling=0.5,
)


def made_up(forced=5.0, free=40.0, after=90.0, sampled=20.0, learned=0.0):
    def model(last):
        return {
            "forced": [learned, learned, 1.0, 1.0, forced, forced],
            "free": [0.0, 0.0, 10.0, 10.0, last, last],
            "after_error": [0.0, 100.0, *[after] * 4],
        }

    return {
        "sizes": {"wrong": 2, "longest": 6},
        "seeds": [1, 2],
        "kinds": {TEACHER: [model(free)] * 2, SAMPLED: [model(sampled)] * 2},
    }


@pytest.mark.parametrize(
    ("numbers", "word"),
    [
        (made_up(), HELD),
        (made_up(sampled=38.0), IN_PART),
        (made_up(free=6.0, after=20.0, sampled=6.0), NOT_SEEN),
        (made_up(learned=20.0), NOT_DECIDED),
    ],
)
def test_the_verdict_follows_from_the_errors(numbers, word):
    assert verdict(numbers).word == word


def test_a_line_is_its_running_sum():
    line = sum_line(random.Random(1), 30, 5)
    total = 0
    for source, target in zip(line.source.split(), line.target.split(), strict=True):
        total += int(source[1:])
        assert target == f"y{total % 5}"


def test_errors_are_counted_by_position():
    lines = [Example("", "a b c"), Example("", "a b c")]
    assert errors_by_position(["a x c d", "a"], lines) == [0, 100, 50]


def test_the_last_word_of_a_spoiled_prefix_is_wrong():
    line = Example("x1 x1 x1", "y1 y2 y3")
    for seed in range(20):
        first, second = spoiled_prefix(random.Random(seed), line, TOY).split()
        assert first == "y1"
        assert second != "y2"


def test_the_two_trainings_differ_in_sampling_alone():
    teacher, sampled = (configure(_config(kind, TOY)) for kind in (TEACHER, SAMPLED))
    assert (teacher.training, teacher.model) == (sampled.training, sampled.model)
    assert teacher.auxiliary_losses.scheduled_sampling == 0
    assert sampled.auxiliary_losses.scheduled_sampling == 0.5


def test_each_error_is_that_of_a_translator_asked_again(tmp_path):
    bench = Bench(tmp_path, seed=3)
    finding = measure(bench, TOY)
    rng = random.Random("exposure, tested 3")
    test = [sum_line(rng, 6, 5) for _ in range(10)]
    translator = Translator.load(tmp_path / "models" / "teacher-forcing-4")
    model = finding.numbers["kinds"][TEACHER][1]
    outputs = [translator.translate([line.source], beam=1)[0].text.split() for line in test]
    targets = [line.target.split() for line in test]
    wrong = [
        10 * sum(o[i : i + 1] != t[i : i + 1] for o, t in zip(outputs, targets, strict=True))
        for i in range(6)
    ]
    assert model["free"] == pytest.approx(wrong)
    # what was made wrong is wrong, what came before it is right
    assert model["after_error"][:2] == [0, 100]
    json.dumps(finding.numbers)
