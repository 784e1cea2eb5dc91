"""The experiment on greedy search and the beam: its numbers computed again, its verdict on made-up ones."""

import json

import pytest

from regard.datasets.microworld import Microworld
from regard.lab.beam import BeamSizes, compare, measure, verdict
from regard.lab.runner import Bench
from regard.lab.runner.experiment import HELD, IN_PART, NOT_DECIDED, NOT_SEEN
from regard.tasks.translate.predictor import Translator

TOY = BeamSizes(
    seeds=2,
    train=300,
    test=12,
    longest=8,
    short=5,
    units=12,
    updates=6,
    learning_rate=0.01,
    beams=(1, 2, 4),
)


def made_up(learned=60.0, more=30.0, two=0.6, bleu=1.0):
    width = {
        "1": {"short": learned, "bleu": 40.0, "gain": 0.0, "more_probable": 0.0},
        "2": {"bleu": 40.0, "gain": two, "more_probable": more},
        "4": {"bleu": 40.0 + bleu, "gain": 1.0, "more_probable": more},
    }
    return {"sizes": {"beams": (1, 2, 4)}, "models": [width, width]}


@pytest.mark.parametrize(
    ("numbers", "word"),
    [
        (made_up(), HELD),
        (made_up(two=0.4), IN_PART),
        (made_up(more=5.0, two=0.4, bleu=0.0), NOT_SEEN),
        (made_up(learned=20.0), NOT_DECIDED),
    ],
)
def test_the_verdict_follows_from_probabilities_and_bleu(numbers, word):
    assert verdict(numbers).word == word


def test_outputs_are_compared_sentence_by_sentence():
    assert compare([-3.0, -2.0, -1.0, -1.0], [-1.0, -2.0, -2.0, -1.00001]) == pytest.approx(
        {"gain": 0.25, "more_probable": 25.0, "less_probable": 25.0}, abs=1e-5
    )


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    bench = Bench(tmp_path_factory.mktemp("beam"), seed=3)
    return bench, measure(bench, TOY)


def test_log_probabilities_are_those_of_forced_decoding(done):
    bench, finding = done
    test = Microworld().splits(train=300, valid=100, test=12, seed=3, longest=8).test
    sources = [example.source for example in test]
    for seed, model in zip((3, 4), finding.numbers["models"], strict=True):
        translator = Translator.load(bench.folder / "models" / f"rnnsearch-{seed}")
        sums = {}
        for beam in TOY.beams:
            outputs = [
                translator.translate([source], beam=beam, length_penalty="none")[0].text for source in sources
            ]
            sums[beam] = [forced.log_prob for forced in translator.align(sources, outputs)]
        assert model["1"]["gain"] == 0
        for beam in TOY.beams:
            gain = sum(a - b for a, b in zip(sums[beam], sums[1], strict=True)) / 12
            assert model[str(beam)]["gain"] == pytest.approx(gain, abs=1e-3)


def test_what_is_found_can_be_written_and_drawn(done):
    _, finding = done
    assert [row[0] for row in finding.tables[0].rows] == ["1", "2", "4"]
    assert finding.figures[0].name == "widths"
    json.dumps(finding.numbers)
