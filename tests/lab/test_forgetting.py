"""The experiment on forgetting: its lines, its guess, its verdict, and accuracies counted again by hand."""

import json
import math
from pathlib import Path

import pytest

from regard.lab.forgetting import (
    CELLS,
    COMPARED,
    EXPERIMENT,
    FULL,
    USUAL,
    Sizes,
    config,
    find,
    questions,
    remark_forgetting,
    training_lines,
    verdict,
)
from regard.lab.measures.passage import guess
from regard.lab.measures.statistics import Spread
from regard.lab.runner import Bench
from regard.lab.runner.experiment import HELD, IN_PART, NOT_SEEN
from regard.tasks.classify.predictor import Classifier
from regard.training.configure import configure

TOY = Sizes(seeds=2, updates=3, test=20, most=4, farthest=6, state=6, embedding=4, batch=48)


def made_up(rnn: float, taped_rnn: float, lstm: float, lstmn: float) -> dict[str, list[Spread]]:
    """Cells that know all at delay 0 and so much ever after, with each of two seeds."""
    accuracies = zip(CELLS, (rnn, taped_rnn, lstm, lstmn), strict=True)
    return {name: [Spread.of([each, each]) for each in (100.0, *[own] * 7)] for name, own in accuracies}


def test_a_question_stands_so_many_pairs_behind_its_answer() -> None:
    for delay in range(8):
        assert questions(delay, 30, 1) != questions(delay, 30, 2)
        for line in questions(delay, 30, 1):
            words = line.source.split()
            key = words[-1]
            assert words[words.index(key) + 1] == line.target
            assert (words.index("?") - words.index(key)) // 2 - 1 == delay
            assert len(words) == 2 * max(delay + 1, 2) + 2


def test_one_pass_over_the_lines_is_the_training_and_no_delay_is_left_out() -> None:
    train, valid = training_lines(TOY, 1)
    assert len(train) == TOY.updates * TOY.batch
    assert valid
    assert training_lines(TOY, 1)[0] == train
    assert training_lines(TOY, 2)[0] != train
    delays = set()
    for line in training_lines(Sizes(1, 20, 1), 1)[0]:
        words = line.source.split()
        delays.add((words.index("?") - words.index(words[-1])) // 2 - 1)
    assert delays == set(range(TOY.most))


@pytest.mark.parametrize(
    ("accuracies", "word"),
    [
        ((40, 90, 40, 90), HELD),
        ((40, 50, 40, 50), HELD),
        ((40, 90, 40, 49), IN_PART),
        ((40, 40, 40, 90), IN_PART),
        ((40, 49, 40, 49), NOT_SEEN),
        ((90, 40, 90, 40), NOT_SEEN),
        ((40, math.nan, 40, math.nan), NOT_SEEN),
    ],
)
def test_the_verdict_follows_from_the_leads(accuracies: tuple[float, ...], word: str) -> None:
    assert verdict(made_up(*accuracies), 4).word == word


@pytest.mark.parametrize(("first", "second"), [(90.0, 45.0), (45.0, 90.0), (90.0, math.nan)])
def test_a_lead_must_be_seen_in_every_seed(first: float, second: float) -> None:
    accuracy = made_up(40, 90, 40, 90)
    accuracy["LSTMN"] = [Spread.of([first, second])] * 8
    checks = verdict(accuracy, 4).checks
    assert [check.held for check in checks] == [True, True, False, False]
    assert checks[2].value == pytest.approx(
        min(first, second) - 40 if second == second else second, nan_ok=True
    )
    # seed by seed: the plain cell's worst seed is not set against the other's best
    accuracy["LSTM"] = [Spread.of([first - 10, second - 10])] * 8
    assert [check.held for check in verdict(accuracy, 4).checks] == [True, True, *[second == second] * 2]


def test_the_longer_delays_decide_and_the_shorter_do_not() -> None:
    taped, plain = [0.0, 0.0, 90.0, 90.0, 50.0, 50.0, 50.0, 50.0], [100.0, 100.0, *[45.0] * 6]
    told = verdict(
        {name: [Spread.of([each]) for each in (taped if CELLS[name].energy else plain)] for name in CELLS}, 4
    )
    assert [check.value for check in told.checks] == pytest.approx([45.0, 5.0] * 2)
    assert "LSTMN still finds 90 % of the values, LSTM 45 % (means over 1 seed)." in told.because


def test_who_only_guesses_is_named() -> None:
    def remarks(*accuracies: float) -> list[str]:
        spreads = {name: [each.to_json() for each in row] for name, row in made_up(*accuracies).items()}
        guesses = [guess(max(delay + 1, 2)) for delay in range(8)]
        return remark_forgetting({"accuracy": spreads, "guess": guesses, "sizes": {"most": 4}}, 10)

    stuck, slow, _ = remarks(guess(4), 99, guess(4) + 11, guess(4) + 9)
    assert "SimpleRNN, LSTMN." in stuck
    assert "Why the LSTMN" in slow
    assert "38 % of the time" in stuck
    assert len(remarks(50, 99, 50, 99)) == 1
    assert len(remarks(50, 99, 79, 79)) == 2
    assert len(remarks(50, 99, 80, 80)) == 1  # no worse for its attention, and nothing to explain


def test_all_cells_have_the_same_state_and_training_but_for_the_rate() -> None:
    for plain, taped in COMPARED:
        one, other = (config(name, USUAL) for name in (plain, taped))
        assert "memory" not in one["model"]["encoder"]
        for each in (one, other):
            del each["training"]["learning_rate"]
            each["model"]["encoder"].pop("memory", None)
            each["model"]["encoder"].pop("cell")
        assert one == other
    for sizes in (USUAL, FULL):
        for name in CELLS:
            assert configure(config(name, sizes), {}).model.pooling == "last"


def test_accuracies_are_those_of_the_models_on_disk(tmp_path: Path) -> None:
    finding = find(Bench(tmp_path), TOY)
    numbers = json.loads(json.dumps(finding.numbers))
    assert numbers["seeds"] == [1, 2]
    for name, cell in CELLS.items():
        spreads = numbers["accuracy"][name]
        assert len(spreads) == TOY.farthest
        for k, seed in enumerate(numbers["seeds"]):
            model = Classifier.load(tmp_path / "models" / f"{cell.cell}-{seed}")
            lines = questions(5, TOY.test, 1)
            right = [model.classify([line.source])[0].label == line.target for line in lines]
            assert spreads[5]["values"][k] == pytest.approx(100 * sum(right) / len(lines))
            assert numbers["parameters"][name] == sum(p.numel() for p in model.model.parameters())
    spread = {name: [Spread.of(each["values"]) for each in own] for name, own in numbers["accuracy"].items()}
    assert finding.verdict == verdict(spread, TOY.most)
    assert numbers["guess"] == pytest.approx([55.0, 55.0, *(guess(pairs) for pairs in range(3, 7))])
    assert [drawing.name for drawing in finding.drawings] == ["delays"]
    assert [row[0] for row in finding.grids[0].rows] == list(CELLS)


def test_it_is_named_as_its_file() -> None:
    assert EXPERIMENT.name == "forgetting"
