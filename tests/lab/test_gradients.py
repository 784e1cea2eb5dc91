"""The experiment on gradients at toy size, and its verdict on numbers that were made up."""

import copy
import json
import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from regard.lab import find_experiment
from regard.lab.gradients import (
    ATTENTION,
    EXPERIMENT,
    OWN_PAST,
    PLAIN,
    REGISTERED,
    GradientsSizes,
    LastStepReader,
    before_training,
    by_radius,
    descend,
    growth_per_step,
    loss_in_words,
    measure,
    sample_lines,
    verdict,
)
from regard.lab.runner import Bench
from regard.lab.runner.experiment import write_result
from regard.layers import CELLS

TOY = GradientsSizes(
    length=12,
    size=6,
    symbols=4,
    rows=4,
    seeds=3,
    taught_length=6,
    updates=6,
    rates=(0.01, 0.02),
    taught_seeds=1,
    radii=(0.5, 1.0, 1.5),
    clip_length=6,
    clip_updates=8,
    clip_radii=(1.5, 2.0),
    clip_rates=(0.1, 1.0),
    clip_seeds=2,
)


@pytest.fixture(scope="module")
def finding(tmp_path_factory):
    return measure(Bench(tmp_path_factory.mktemp("gradients")), TOY)


def test_norms_before_training_are_autograds_own_by_retained_gradients(finding):
    """Recomputed in another way: retain_grad on each state of a loop written here, seed by seed."""
    rows = []
    for seed in (1, 2, 3):
        reader = LastStepReader(CELLS["gru"], 4, 4, 6, attends=True, seed=seed).double()
        ids, answers = sample_lines(torch.Generator().manual_seed(seed), 4, 12, 4)
        h, states = torch.zeros(4, 6, dtype=torch.float64), []
        for t in range(12):
            (h,) = reader.cell.step(reader.cell.project(reader.embedding(ids[:, t])), (h,))
            h.retain_grad()
            states.append(h)
        logits = reader.logits(torch.stack(states, dim=1))
        torch.nn.functional.cross_entropy(logits, answers, reduction="sum").backward()
        rows.append([h.grad.norm(dim=-1).log().mean().exp().item() for h in reversed(states)])
    found = finding.numbers["before"]["GRU"][ATTENTION]
    assert found["median"] == pytest.approx(np.median(rows, axis=0).tolist(), rel=1e-9)
    assert found["low"] == pytest.approx(np.quantile(rows, 0.25, axis=0).tolist(), rel=1e-9)
    # of twelve lags the longer half is from 6 on
    assert found["growths"] == pytest.approx([growth_per_step(row, 6) for row in rows], rel=1e-9)
    assert found["growth"] == pytest.approx(np.median(found["growths"]))


def test_the_linear_recurrence_grows_in_proportion_to_the_radius(tmp_path):
    found = by_radius(Bench(tmp_path), TOY, True)
    for growths in found["growths"]:
        assert [growth / growths[1] for growth in growths] == pytest.approx(TOY.radii, rel=1e-9)


def test_clipping_starts_from_the_same_network_and_lines_with_the_given_radius(tmp_path, monkeypatch):
    calls = []
    monkeypatch.setattr(
        "regard.lab.gradients.train_reader",
        lambda reader, optimizer, lines, **options: calls.append(
            (reader.cell.U.detach(), next(lines), options)
        ),
    )
    for clip in (1.0, 0.0):
        with pytest.raises(AttributeError):  # nothing was trained, so there is no curve
            descend(Bench(tmp_path), replace(TOY, clip_seeds=1), 1.75, 0.1, clip)
    (U, (ids, answers), options), (other_U, (same, _), options_without) = calls
    assert torch.equal(U, other_U)
    assert torch.equal(ids, same)
    assert torch.equal(answers, ids[:, -4])
    assert torch.linalg.eigvals(U).abs().max().item() == pytest.approx(1.75, rel=1e-5)
    assert (options["clip"], options_without["clip"]) == (1.0, 0.0)


def test_equal_benches_find_equal_numbers_whatever_the_cores(tmp_path):
    arguments = [(TOY, "rnn", False), (TOY, "lstmn", False)]
    alone = Bench(tmp_path).starmap(before_training, arguments)
    assert [before_training(Bench(tmp_path), *each) for each in arguments] == alone
    assert before_training(Bench(tmp_path, seed=2), *arguments[0]) != alone[0]


def test_the_finding_can_be_written(finding, tmp_path):
    options = {"command": "regard lab gradients", "full": False, "seed": 1, "seconds": 1.0}
    result = write_result(tmp_path, EXPERIMENT, finding, **options)
    assert len(result.verdict["checks"]) == len(verdict(finding.numbers).checks)
    for drawing in finding.figures:
        assert (tmp_path / f"{drawing.name}.png").stat().st_size > 5000
    numbers = json.loads((tmp_path / "result.json").read_text())["numbers"]
    assert set(numbers["before"]) == {"RNN", "GRU", "LSTM"}
    assert all(set(forms) == {PLAIN, ATTENTION, OWN_PAST} for forms in numbers["before"].values())
    for grid in result.tables:
        assert all(len(row) == len(grid["columns"]) for row in grid["rows"])


def form(growth, left, accuracy=()):
    """Two seeds with the same numbers."""
    norms = [2.0, growth, 2.0 * left]
    return {"growth": growth, "growths": [growth] * 2, "median": norms, "left": [left] * 2} | (
        {"accuracy": list(accuracy)} if accuracy else {}
    )


GOOD = {
    "before": {
        cell: {PLAIN: form(plain, 0.01), ATTENTION: form(1.0, 0.5), OWN_PAST: form(1.05, 0.5)}
        for cell, plain in (("RNN", 0.8), ("GRU", 0.95), ("LSTM", 0.96))
    },
    "after": {
        cell: {PLAIN: form(plain, 0.01, (0.65, 0.65)), ATTENTION: form(1.0, 0.5, (0.95, 0.95))}
        for cell, plain in (("RNN", 0.8), ("GRU", 0.95), ("LSTM", 0.96))
    },
    "radius": {
        "radii": [0.5, 1.0, 1.5],
        "linear": {"median": [0.5, 0.999, 1.5]},
        "tanh": {"median": [0.4, 0.9, 2.2], "growths": [[0.4, 0.9, 2.2]] * 2},
    },
}
HARM = {
    "lost from the last word to the first": lambda n: [
        n["before"]["RNN"][each].update(left=[left] * 2)
        for each, left in ((PLAIN, 0.2), (ATTENTION, 2.0), (OWN_PAST, 2.0))
    ],
    "LSTM over RNN, before": lambda n: n["before"]["LSTM"][PLAIN].update(growths=[0.85] * 2),
    "GRU over RNN, before": lambda n: n["before"]["GRU"][PLAIN].update(growths=[0.7] * 2),
    "LSTM over RNN, after": lambda n: n["after"]["LSTM"][PLAIN].update(growths=[0.85] * 2),
    "GRU over RNN, after": lambda n: n["after"]["GRU"][PLAIN].update(growths=[0.7] * 2),
    "with attention over plain": lambda n: n["before"]["GRU"][ATTENTION].update(left=[0.095] * 2),
    "with self-attention over plain": lambda n: n["before"]["LSTM"][OWN_PAST].update(left=[0.09] * 2),
    "recalled": lambda n: n["after"]["RNN"][ATTENTION].update(accuracy=[0.2, 0.2]),
    "begins to grow": lambda n: n["radius"]["linear"].update(median=[0.5, 0.8, 1.2]),
    "with tanh": lambda n: n["radius"]["tanh"].update(
        growths=[[0.4, 0.9, 2.1]] * 2
    ),  # over 3 steps 2.15 is tenfold
}


def test_numbers_that_speak_for_the_claim_hold():
    result = verdict(GOOD)
    assert result.word == "held"
    assert "the plain RNN loses 20 % of its gradient" in result.because
    assert "loses nothing per step, with self-attention nothing (it grows by 5 %)" in result.because
    assert "50 times as much is left with attention as without" in result.because
    assert "95 %" in result.because  # recalled with attention


def test_gates_count_after_training_only_in_a_cell_that_has_learned():
    numbers = copy.deepcopy(GOOD)
    numbers["after"]["GRU"][PLAIN].update(accuracy=[0.2, 0.2], growths=[0.7] * 2)
    (undecided,) = [check for check in verdict(numbers).checks if check.outcome == "not decided"]
    assert undecided.what == "rate of decay or growth per step, GRU over RNN, after training"
    assert "first symbol recalled after training, plain GRU is 20 %" in undecided.undecided


@pytest.mark.parametrize("what", HARM)
def test_each_number_can_speak_against_it(what):
    numbers = copy.deepcopy(GOOD)
    HARM[what](numbers)
    failed = [check.what for check in verdict(numbers).checks if not check.held]
    # a GRU or LSTM that falls faster or slower changes what it is compared with, never for the worse
    assert any(what in name for name in failed)
    assert len(failed) == 1
    assert verdict(numbers).word == "held in part"


def test_the_claim_can_be_not_seen_at_all():
    numbers = copy.deepcopy(GOOD)
    for table in (numbers["before"], numbers["after"]):
        for forms in table.values():
            for each in forms.values():
                each.update(growth=0.99, growths=[0.99] * 2, left=[0.8] * 2)
    for what in ("recalled", "with tanh"):
        HARM[what](numbers)
    assert verdict(numbers).word == "not seen here", (
        "that a linear gradient grows from radius 1 on is no sign"
    )


def test_what_explodes_helps_no_gradient():
    """The LSTM's grows as fast as the RNN's falls: gates that do that are no better."""
    numbers = copy.deepcopy(GOOD)
    numbers["before"]["LSTM"][PLAIN].update(growths=[1.25] * 2)
    (failed,) = [check for check in verdict(numbers).checks if not check.held]
    assert "LSTM over RNN" in failed.what
    assert failed.value == pytest.approx(1)


@pytest.mark.parametrize("length", [3, 100, 200])
def test_tenfold_is_over_the_whole_line(length):
    numbers = copy.deepcopy(GOOD)
    numbers["before"]["RNN"][PLAIN].update(median=[2.0] * (length - 1) + [0.02])
    assert verdict(numbers).checks[-1].bound ** length == pytest.approx(10)


def test_what_is_not_a_number_is_not_hidden():
    numbers = copy.deepcopy(GOOD)
    numbers["before"]["GRU"][ATTENTION].update(growth=math.nan, left=[math.nan] * 2)
    numbers["radius"]["linear"].update(median=[0.5, 0.6, 0.7])
    result = verdict(numbers)
    assert "the cell that loses most loses an unknown share per step" in result.because
    assert "A linear gradient begins to grow at none of these radii." in result.because
    failed = [check.what for check in result.checks if not check.held]
    assert len(failed) == 2
    assert "with attention over plain" in failed[0]


@pytest.mark.parametrize(
    ("share", "words"),
    [
        (0.2, "20 %"),
        (0.006, "1 %"),
        (0.004, "less than 1 %"),
        (0.0, "nothing"),
        (-0.001, "nothing"),
        (-0.04, "nothing (it grows by 4 %)"),
        (math.nan, "an unknown share"),
    ],
)
def test_a_loss_in_words(share, words):
    assert loss_in_words(share) == words


def test_the_remarks_say_where_self_attention_s_gradient_is_large(finding):
    norms = finding.numbers["before"]["RNN"][OWN_PAST]["median"]
    text = (
        f"the RNN’s is {norms[1] / norms[6]:.2g} times as large at lag 1 and {norms[11] / norms[6]:.2g} times"
    )
    assert any(text in remark for remark in finding.remarks)


def test_it_is_in_the_lab_under_its_name():
    assert find_experiment("gradients") is EXPERIMENT
    assert set(REGISTERED.usual.clip_radii) <= set(REGISTERED.usual.radii)
    assert not EXPERIMENT.alone
