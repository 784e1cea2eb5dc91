"""The experiment on long-term dependencies at toy size, and its verdict on made-up numbers."""

import json

import pytest
import torch

from regard.lab.lag import NAMES, LagSizes, longer_third, measure, verdict
from regard.lab.measures.gradients import LastStepReader, sample_lines, stream_lines, train_reader
from regard.lab.runner import Bench
from regard.lab.runner.experiment import HELD, IN_PART, NOT_DECIDED, NOT_SEEN
from regard.layers import CELLS

TOY = LagSizes(seeds=2, updates=4, lags=(1, 2, 4), state=6, symbols=4, rows=8, rates=(0.0, 0.05), test=40)


def made_up(rnn=20.0, gru=60.0, lstm=100.0, shortest=100.0):
    far = {"SimpleRNN": rnn, "GRU": gru, "LSTM": lstm}
    cells = {
        name: {
            "1": [{"accuracy": shortest}] * 2,
            "2": [{"accuracy": 0.0}] * 2,
            "4": [{"accuracy": value}] * 2,
        }
        for name, value in far.items()
    }
    return {"sizes": {"lags": (1, 2, 4), "symbols": 4}, "seeds": [1, 2], "cells": cells}


@pytest.mark.parametrize(
    ("numbers", "word"),
    [
        (made_up(), HELD),
        (made_up(gru=39.0), IN_PART),
        (made_up(rnn=90.0), NOT_SEEN),
        (made_up(shortest=80.0), NOT_DECIDED),
    ],
)
def test_the_verdict_follows_from_the_longer_lags(numbers, word):
    assert longer_third(numbers) == [4]
    assert verdict(numbers).word == word


def test_each_number_is_that_of_a_training_written_here(tmp_path):
    finding = measure(Bench(tmp_path, seed=5), TOY)
    models = finding.numbers["cells"]["GRU"]["2"]
    assert len(models) == 2
    for seed, model in zip((5, 6), models, strict=True):
        reader = LastStepReader(CELLS["gru"], 4, 4, 6, attends=False, seed=seed)
        optimizer = torch.optim.Adam(reader.parameters(), lr=0.05)
        curve = train_reader(reader, optimizer, stream_lines(seed, 8, 3, 4), updates=4, clip=1.0)
        ids, answers = sample_lines(torch.Generator().manual_seed(1_000_005), 40, 3, 4)
        # a learning rate of 0 learns nothing, so the other one counts
        assert model["learning_rate"] == 0.05
        assert model["loss"] == pytest.approx(curve.final_loss)
        assert model["accuracy"] == pytest.approx(
            100 * (reader(ids).argmax(-1) == answers).float().mean().item()
        )
        assert model["gradient"] == pytest.approx(reader.gradient_norms(ids[:8], answers[:8]))
        assert len(model["gradient"]) == 3
    assert len(finding.tables[0].rows) == len(NAMES) * 3
    json.dumps(finding.numbers)
