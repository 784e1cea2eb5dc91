"""The experiment on where an LSTMN looks: its numbers against plainer ones, its verdict on made-up ones."""

import json
import math

import numpy as np
import pytest

from regard.datasets import Example, Newsroom, Splits
from regard.datasets.newsroom import FBI
from regard.lab.reading import (
    CELLS,
    EXPERIMENT,
    LSTMN,
    SUM,
    ReadingSizes,
    attention_between_words,
    measure,
    verdict,
)
from regard.lab.runner import Bench
from regard.lab.runner.experiment import HELD, IN_PART, NOT_DECIDED, NOT_SEEN
from regard.tasks.language_model.predictor import LanguageModel

TOY = ReadingSizes(train=300, test=30, state=8, updates=4, seeds=2, farthest=5)


def lifted(value, spread=0.05):
    return {"value": value, "low": value - spread, "high": value + spread, "pairs": 10}


def made_up(farther, word, untrained=1.0):
    """One seed of a cell."""
    kinds = {"trained": (farther, word), "untrained": (untrained, 1.0)}
    return {
        kind: {
            "farther": lifted(a),
            "by_word": lifted(b),
            "by_place": lifted(1.01),
            "next": lifted(1.5),
            "offered": lifted(1.2),
        }
        for kind, (a, b) in kinds.items()
    }


@pytest.mark.parametrize(
    ("runs", "word"),
    [
        ([made_up(3.1, 1.4), made_up(3.0, 1.4), made_up(3.2, 1.5)], HELD),
        ([made_up(1.5, 1.4, untrained=1.6)] * 2, IN_PART),  # as much was there before training
        ([made_up(0.8, 0.9)] * 2, NOT_SEEN),
        ([made_up(1.3, 1.3), made_up(0.9, 0.9, untrained=1.2)], NOT_DECIDED),  # seeds disagree
        ([made_up(math.nan, math.nan, untrained=math.nan)] * 2, NOT_SEEN),
        ([made_up(1.5, math.nan)] * 2, IN_PART),
    ],
)
def test_the_verdict_follows_from_the_seeds_of_both_cells(runs, word):
    assert verdict({LSTMN: runs, SUM: runs}).word == word
    assert verdict({LSTMN: [made_up(3.0, 1.4)] * 2, SUM: runs}).word == (HELD if word == HELD else IN_PART)


def test_the_verdict_leads_with_what_is_beyond_the_neighbour():
    because = verdict({LSTMN: [made_up(3.16, 1.4)] * 2}).because
    assert because.startswith(
        "LSTMN: farther back than the word before, words that belong to the newest one get 3.16"
    )
    assert "at any distance 1.01 times" in because


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    bench = Bench(tmp_path_factory.mktemp("reading"), text="The FBI is dancing, again!")
    return bench, measure(bench, TOY)


def test_the_lift_is_what_a_plain_count_gives(done):
    bench, finding = done
    examples = Newsroom().splits(train=0, valid=0, test=30, seed=1).test
    first, second = finding.numbers["models"][LSTMN]
    for cell, one in ((LSTMN, first), (LSTMN, second), (SUM, finding.numbers["models"][SUM][0])):
        language_model = LanguageModel.load(bench.folder / "models" / f"{CELLS[cell]}-{one['seed']}")
        relevant, others = {}, {}
        for example, reading in zip(examples, language_model.read([e.source for e in examples]), strict=True):
            alpha = reading.alpha[0]
            for step in range(1, len(example.source.split()) - 1):
                for place in range(step):
                    side = relevant if (place, step) in example.gold.sure else others
                    # BOS is read first: word k is position k + 1
                    side.setdefault((step, place), []).append(alpha[step + 1, place + 1])
        shared = relevant.keys() & others.keys()
        given = sum(sum(relevant[each]) for each in shared)
        expected = sum(len(relevant[each]) * np.mean(others[each]) for each in shared)
        found = one["trained"]["by_place"]
        assert found["value"] == pytest.approx(given / expected)
        assert found["low"] <= found["value"] <= found["high"]
    assert first["trained"] != second["trained"]


def test_the_untrained_reader_does_not_care(done):
    for one in done[1].numbers["models"][LSTMN]:
        assert one["untrained"]["by_place"]["value"] == pytest.approx(1, abs=0.1)
        assert one["untrained"] != one["trained"]


def test_attention_between_words_leaves_out_the_begin_mark(done):
    language_model = LanguageModel.load(done[0].folder / "models" / "lstmn-1")
    [reading] = language_model.read([FBI])
    alpha = attention_between_words(reading)
    assert alpha.shape == (10, 10)
    assert alpha[3, 1] == pytest.approx(reading.alpha[0][4, 2])
    assert alpha[5, :5].sum() == pytest.approx(1 - reading.alpha[0][6, 0])


def test_what_is_drawn_and_told(done):
    _, finding = done
    assert [drawing.name for drawing in finding.figures] == [
        "distance-lstmn",
        "text",
        "distance-rnn-sum",
        "sentence",
    ]
    json.dumps(finding.numbers)
    assert "“The FBI is dancing , again !”" in finding.remarks[-1]
    assert "dancing" in finding.remarks[-1].split("does not know")[1]
    assert len(finding.tables[0].rows) == 8
    assert finding.verdict.word in (HELD, IN_PART, NOT_SEEN, NOT_DECIDED)
    assert EXPERIMENT.text


def test_the_figure_s_sentence_is_not_learnt_from(tmp_path, monkeypatch):
    class StoppedError(Exception):
        pass

    def train(self, name, config, train, valid, seed):
        learnt.extend(example.source for example in train)
        raise StoppedError

    learnt = []
    lines = [Example(FBI), Example("A bear escaped today .")]
    monkeypatch.setattr(Newsroom, "splits", lambda self, **sizes: Splits(lines, lines, lines, {}))
    monkeypatch.setattr(Bench, "train", train)
    with pytest.raises(StoppedError):
        measure(Bench(tmp_path), TOY)
    assert learnt == ["A bear escaped today ."]
