"""The experiment on where an LSTMN looks: its numbers against plainer ones, its verdict on made-up ones."""

import json
import math

import numpy as np
import pytest

from regard.datasets import Example, Newsroom, Splits
from regard.datasets.newsroom import FBI
from regard.lab.reading import EXPERIMENT, ReadingSizes, attention_between_words, measure, verdict
from regard.lab.runner import Bench
from regard.lab.runner.experiment import HELD, IN_PART, NOT_SEEN
from regard.tasks.language_model.predictor import LanguageModel

TOY = ReadingSizes(train=300, test=30, state=8, updates=4, seeds=2, farthest=5)


def lifted(value, spread=0.05):
    return {"value": value, "low": value - spread, "high": value + spread, "pairs": 10}


def made_up(place, word, untrained=1.0):
    kinds = {"trained": (place, word), "untrained": (untrained, 1.0)}
    return {
        kind: {"by_place": lifted(a), "by_word": lifted(b), "next": lifted(1.5), "offered": lifted(1.2)}
        for kind, (a, b) in kinds.items()
    }


@pytest.mark.parametrize(
    ("models", "word"),
    [
        ([made_up(1.5, 1.4), made_up(1.3, 1.2)], HELD),
        ([made_up(1.5, 1.4), made_up(1.0, 1.2)], IN_PART),  # one seed of two looks no more at relevant words
        ([made_up(1.5, 1.4, untrained=1.6)], IN_PART),  # as much was there before training
        ([made_up(1.02, 1.04)], NOT_SEEN),  # above 1, but not surely
        ([made_up(0.8, 0.9)], NOT_SEEN),
        ([made_up(1.5, 1.4), made_up(math.nan, math.nan, untrained=math.nan)], NOT_SEEN),
        ([made_up(1.5, 1.4), made_up(1.5, math.nan)], IN_PART),
        ([made_up(1.5, 1.4), made_up(1.5, 1.4, untrained=math.nan)], IN_PART),
    ],
)
def test_the_verdict_follows_from_the_least_seed(models, word):
    assert verdict(models).word == word


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    bench = Bench(tmp_path_factory.mktemp("reading"), text="The FBI is dancing, again!")
    return bench, measure(bench, TOY)


def test_the_lift_is_what_a_plain_count_gives(done):
    bench, finding = done
    examples = Newsroom().splits(train=0, valid=0, test=30, seed=1).test
    [first, second] = finding.numbers["models"]
    for one in (first, second):
        language_model = LanguageModel.load(bench.folder / "models" / f"lstmn-{one['seed']}")
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
    for one in done[1].numbers["models"]:
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
    assert [drawing.name for drawing in finding.figures] == ["sentence", "text", "distance"]
    json.dumps(finding.numbers)
    assert "“The FBI is dancing , again !”" in finding.remarks[-1]
    assert "dancing" in finding.remarks[-1].split("does not know")[1]
    assert len(finding.tables[0].rows) == 4
    assert finding.verdict.word in (HELD, IN_PART, NOT_SEEN)
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
