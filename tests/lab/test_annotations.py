"""The experiment on both directions: a probe that must find what is there and nothing else, and the verdict."""

import json

import numpy as np
import pytest

from regard.lab.annotations import (
    BOTH,
    KINDS,
    ONE,
    AnnotationSizes,
    _config,
    annotate,
    measure,
    offsets,
    probe,
    verdict,
)
from regard.lab.runner import Bench
from regard.lab.runner.experiment import HELD, IN_PART, NOT_DECIDED, NOT_SEEN
from regard.tasks.translate.predictor import Translator
from regard.training.configure import configure

TOY = AnnotationSizes(seeds=2, train=300, test=40, longest=8, short=5, units=8, updates=4, reach=3)


def made_up(after=40.0, before=-2.0, saved=0.05, learned=70.0):
    """Both kinds read half of everything, the bidirectional one so much more or less."""

    def model(bonus):
        words = [50 + bonus * before] * 3 + [100.0] + [30 + bonus * after] * 3
        return {"short": learned, "surprisal": 1 - bonus * saved, "bleu": 60.0, "probed": words}

    return {"seeds": [1, 2], "offsets": offsets(3), "kinds": {BOTH: [model(1)] * 2, ONE: [model(0)] * 2}}


@pytest.mark.parametrize(
    ("numbers", "word"),
    [
        (made_up(), HELD),
        (made_up(saved=0.01), IN_PART),
        (made_up(before=-11.0), IN_PART),
        (made_up(after=10.0, saved=0.0), NOT_SEEN),
        (made_up(learned=10.0), NOT_DECIDED),
    ],
)
def test_the_verdict_follows_from_what_is_read(numbers, word):
    assert verdict(numbers).word == word


def lines(rng, count, seen):
    """Random words a to d, each annotated with the one-hot vectors of the words at the offsets `seen`, and noise."""
    found = []
    for _ in range(count):
        words = [str(word) for word in rng.choice(list("abcd"), size=6)]
        vectors = rng.normal(0, 0.01, size=(6, 4 * len(seen)))
        for j in range(6):
            for k, offset in enumerate(seen):
                if 0 <= j + offset < 6:
                    vectors[j, 4 * k + "abcd".index(words[j + offset])] += 1
        found.append((words, vectors))
    return found


def test_the_probe_finds_what_is_there_and_guesses_what_is_not():
    rng = np.random.default_rng(1)
    seen = (-1, 0, 2)
    fitted, tested = lines(rng, 200, seen), lines(rng, 200, seen)
    for offset in range(-3, 4):
        found = probe(fitted, tested, offset)
        assert found == 100 if offset in seen else 15 < found < 35


def test_the_kinds_differ_in_their_directions_alone():
    both, one = (configure(_config(kind, TOY)) for kind in KINDS)
    assert (both.training, both.model.decoder) == (one.training, one.model.decoder)
    assert (both.model.encoder.bidirectional, one.model.encoder.bidirectional) == (True, False)
    assert both.model.encoder.annotation_size == one.model.encoder.annotation_size == 16


def test_a_forward_annotation_does_not_depend_on_what_follows(tmp_path):
    bench = Bench(tmp_path, seed=3)
    finding = measure(bench, TOY)
    for kind, same in ((ONE, True), (BOTH, False)):
        translator = Translator.load(tmp_path / "models" / f"{kind.replace(' ', '-')}-3")
        (_, short), (_, long) = annotate(translator, ["the cat", "the cat sees the dog"])
        assert short.shape == (2, 16)
        assert np.allclose(short, long[:2], atol=1e-6) == same
    assert len(finding.numbers["kinds"][BOTH][0]["probed"]) == 7
    json.dumps(finding.numbers)
