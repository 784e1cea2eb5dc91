"""The experiment on forgetting: its lines, arms, learning rates and verdict, and accuracies counted by hand."""

import json
import math
from pathlib import Path
from typing import Any

import pytest

from regard.lab.forgetting import (
    ARMS,
    BOUNDS,
    EXPERIMENT,
    PLAIN_LSTM,
    PLAIN_RNN,
    REGISTERED,
    ForgettingSizes,
    Spread,
    TaskSizes,
    _config,
    _slug,
    delayed_lines,
    guess_accuracy,
    measure,
    training_lines,
    verdict,
)
from regard.lab.runner import Bench
from regard.lab.runner.experiment import HELD, IN_PART, NOT_DECIDED, NOT_SEEN
from regard.tasks.classify.predictor import Classifier
from regard.training.configure import configure

TOY = ForgettingSizes(
    seeds=2,
    updates=3,
    tuning_seed=9,
    tuning_updates=2,
    rates=(0.01, 0.02),
    test=20,
    state=6,
    embedding=4,
    batch=48,
    rnn=TaskSizes(by="filler", keys=4, values=4, delays=(0, 1, 2, 3, 4, 5), trained=3),
    lstm=TaskSizes(by="items", keys=6, values=4, delays=(0, 1, 2, 3, 4, 5), trained=3),
)
ATTENTIVE = [name for name, arm in ARMS.items() if arm.plain]


def made_up(plain: float, attentive: float, near: float = 100.0) -> dict[str, list[Spread]]:
    """Cells that know so much at delay 0 and at every other, with each of two seeds."""
    return {
        name: [Spread.of([each, each]) for each in (near, *[attentive if arm.plain else plain] * 5)]
        for name, arm in ARMS.items()
    }


def parse(line: Any) -> tuple[list[str], int, int]:
    """The items, the position of the one asked for, whose value must be the target, and the symbols after it."""
    *symbols, question = line.source.split()
    items = [symbol for symbol in symbols if symbol != "."]
    assert symbols[: len(items)] == items, "filler comes last"
    (queried,) = [k for k, item in enumerate(items) if item.startswith(question.replace("?", "="))]
    assert items[queried].split("=")[1] == line.target
    assert len({item.split("=")[0] for item in items}) == len(items)
    return items, queried, len(symbols) - len(items)


def test_a_question_is_so_many_symbols_after_its_answer() -> None:
    for delay in range(6):
        for task in (TOY.rnn, TOY.lstm):
            assert delayed_lines(task, delay, 20, 1) != delayed_lines(task, delay, 20, 2)
        for line in delayed_lines(TOY.lstm, delay, 20, 1):
            items, queried, filler = parse(line)
            assert (len(items), len(items) - 1 - queried, filler) == (max(delay + 1, 2), delay, 0)
        parsed = [parse(line) for line in delayed_lines(TOY.rnn, delay, 20, 1)]
        assert {(len(items), filler) for items, _, filler in parsed} == {(2, delay)}
        assert {queried for _, queried, _ in parsed} == {0, 1}


def test_one_pass_over_the_lines_is_the_training_and_no_delay_is_left_out() -> None:
    for task in (TOY.rnn, TOY.lstm):
        train, valid = training_lines(task, 144, 1)
        assert len(train) == 144
        assert valid
        assert training_lines(task, 144, 1)[0] == train
        assert training_lines(task, 144, 2)[0] != train
    parsed = [parse(line) for line in training_lines(TOY.lstm, 900, 1)[0]]
    assert {(len(items), queried) for items, queried, _ in parsed} == {
        (items, queried) for items in (2, 3, 4) for queried in range(items)
    }
    assert {filler for _, _, filler in map(parse, training_lines(TOY.rnn, 900, 1)[0])} == {0, 1, 2, 3}


@pytest.mark.parametrize(
    ("plain", "attentive", "word"),
    [
        (40, 90, HELD),
        (40, 50, HELD),
        (40, 49, NOT_SEEN),
        (90, 40, NOT_SEEN),
        (40, math.nan, NOT_SEEN),
    ],
)
def test_the_verdict_follows_from_the_leads(plain: float, attentive: float, word: str) -> None:
    assert verdict(made_up(plain, attentive), TOY).word == word


def test_each_form_has_a_check_of_its_own() -> None:
    for name in ATTENTIVE:
        accuracy = made_up(40, 90)
        accuracy[name] = [Spread.of([100.0, 100.0]), *[Spread.of([45.0, 45.0])] * 5]
        result = verdict(accuracy, TOY)
        assert result.word == IN_PART
        (failed,) = [check for check in result.checks if not check.held]
        assert failed.what == f"{name} ahead of {ARMS[name].plain} at the longer delays"
        assert f"{name} 45 % (the {ARMS[name].plain} 40 %)" in result.because


def test_a_lead_is_taken_within_a_seed() -> None:
    accuracy = made_up(40, 90)
    accuracy["LSTMN"] = [Spread.of([100.0, 100.0]), *[Spread.of([90.0, 45.0])] * 5]
    check = next(each for each in verdict(accuracy, TOY).checks if each.what.startswith("LSTMN ahead"))
    assert check.outcome == "not decided"
    accuracy[PLAIN_LSTM] = [Spread.of([100.0, 100.0]), *[Spread.of([80.0, 35.0])] * 5]
    check = next(each for each in verdict(accuracy, TOY).checks if each.what.startswith("LSTMN ahead"))
    assert check.interval == pytest.approx((10.0, 10.0))


def test_the_longer_delays_decide_and_the_shorter_do_not() -> None:
    accuracy = {
        name: [
            Spread.of([each] * 2)
            for each in ([90, 0, 90, 90, 50, 50] if arm.plain else [100, 100, *[45] * 4])
        ]
        for name, arm in ARMS.items()
    }
    assert verdict(accuracy, TOY).checks[0].value == pytest.approx(25.0)


def test_what_is_not_learned_at_delay_0_is_not_forgotten() -> None:
    result = verdict(made_up(40, 90, near=BOUNDS["learned"] - 1), TOY)
    assert result.word == NOT_DECIDED
    assert "at delay 0, the lower of LSTMN and LSTM is 79 %" in " ".join(result.undecided)
    accuracy = made_up(40, 90)
    accuracy[PLAIN_RNN][0] = Spread.of([50.0, 50.0])
    outcomes = {check.what.split(" ahead")[0]: check.outcome for check in verdict(accuracy, TOY).checks}
    assert {name for name, outcome in outcomes.items() if outcome == "not decided"} == {
        name for name in ATTENTIVE if ARMS[name].plain == PLAIN_RNN
    }


def test_the_arms_are_the_lectures_forms_with_both_energies() -> None:
    built = set()
    for name in ARMS:
        encoder = configure(_config(name, 0.01, 7, REGISTERED.usual), {}).model.encoder
        built.add(
            (encoder.cell, encoder.memory and encoder.memory.energy, encoder.memory and encoder.memory.output)
        )
    attends = [(cell, energy) for cell, energy, _ in built if energy]
    assert {"rnn-read", "rnn-sum", "rnn-sum-keep", "lstmn"} == {cell for cell, _ in attends}
    assert {energy for cell, energy in attends if cell == "lstmn"} == {"additive", "bilinear"}
    assert {energy for cell, energy in attends if cell == "rnn-sum"} == {"additive", "bilinear"}
    assert ("lstmn", "additive", "plain") in built
    assert len(built) == len(ARMS)


def test_all_cells_have_the_same_state_and_training_but_for_the_rate() -> None:
    def rest(name: str) -> dict[str, Any]:
        config = _config(name, 0.01, 7, REGISTERED.usual)
        config["model"]["encoder"].pop("memory", None)
        config["model"]["encoder"].pop("cell")
        return config

    assert all(rest(name) == rest(PLAIN_RNN) for name in ARMS)
    assert configure(_config("LSTMN", 0.01, 7, REGISTERED.usual), {}).model.pooling == "last"
    for sizes in (REGISTERED.usual, REGISTERED.full):
        for task in (sizes.rnn, sizes.lstm):
            assert task.trained in task.delays
            assert task.delays[-1] > 2 * task.trained
        assert sizes.lstm.keys > sizes.lstm.delays[-1]


def test_numbers_are_those_of_the_models_on_disk(tmp_path: Path) -> None:
    finding = measure(Bench(tmp_path), TOY)
    numbers = json.loads(json.dumps(finding.numbers))
    assert numbers["seeds"] == [1, 2]
    for name in ("SimpleRNN", "SimpleRNN, reading first", "LSTMN, h = o∘c"):
        spreads = numbers["accuracy"][name]
        lines = delayed_lines(TOY.task(name), 5, TOY.test, 1)
        assert len(spreads) == 6
        losses = {}
        for learning_rate in TOY.rates:
            folder = tmp_path / "models" / f"{_slug(name)}-9-{learning_rate:g}"
            losses[learning_rate] = Classifier.load(folder).facts["loss"]
        assert numbers["rates"][name] == min(losses, key=losses.__getitem__)
        assert numbers["losses_by_rate"][name] == {
            f"{learning_rate:g}": loss for learning_rate, loss in losses.items()
        }
        for k, seed in enumerate(numbers["seeds"]):
            folder = tmp_path / "models" / f"{_slug(name)}-{seed}"
            assert f"learning_rate = {numbers['rates'][name]}" in (folder / "train.toml").read_text()
            model = Classifier.load(folder)
            right = [model.classify([line.source])[0].label == line.target for line in lines]
            assert spreads[5]["values"][k] == pytest.approx(100 * sum(right) / len(lines))
            assert numbers["parameters"][name] == sum(p.numel() for p in model.model.parameters())
    spread = {name: [Spread.of(each["values"]) for each in own] for name, own in numbers["accuracy"].items()}
    assert finding.verdict == verdict(spread, TOY)
    assert numbers["guess"]["LSTMN"] == pytest.approx([guess_accuracy(max(n, 2), 4) for n in range(1, 7)])
    assert numbers["guess"]["SimpleRNN"] == pytest.approx([guess_accuracy(2, 4)] * 6)
    assert [drawing.name for drawing in finding.figures] == ["delays"]
    # ten names in one legend: no two look the same
    lines = [
        line
        for axes in finding.figures[0].figure.axes
        for line in axes.get_lines()
        if line.get_marker() != "None"
    ]
    assert len({(line.get_color(), line.get_marker()) for line in lines}) == len(ARMS) + 1
    assert [row[0] for row in finding.tables[0].rows] == list(ARMS)
    assert EXPERIMENT.name == "forgetting"
