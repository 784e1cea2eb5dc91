"""The experiment on growing sentences: identities at toy size, its verdict on made-up numbers."""

import json
import math
from collections import Counter

import pytest

from regard.datasets import Language
from regard.lab.runner import Bench
from regard.lab.runner.experiment import IN_PART, NOT_SEEN
from regard.lab.sampling import EXPERIMENT, SamplingSizes, measure, train_model, verdict, write_remarks
from regard.tasks.language_model.predictor import LanguageModel

TOY = SamplingSizes(train=300, test=20, state=8, updates=4, samples=24, temperatures=(0.5, 1.0, 1.5), seeds=1)
RISING = [0.1, 0.2, 0.4, 0.5, 0.7, 0.8]


def made_up(difference=1e-6, variation=0.05, law=1e-9, trigrams=RISING, perplexity=RISING):
    numbers = {
        "temperatures": [0.25, 0.5, 0.75, 1.0, 1.25, 1.5],
        "real_perplexity": 10.0,
        "chain": {"greatest_difference": difference},
        "first_words": {"total_variation": variation, "by_chance": 0.05, "bound": 0.06},
        "law": law,
        "heat": {"distinct_trigrams": trigrams, "judge_perplexity": perplexity},
    }
    return {**numbers, "runs": [numbers, numbers]}


@pytest.mark.parametrize(
    ("numbers", "held"),
    [
        (made_up(), [True] * 5),
        (made_up(difference=1e-3), [False, True, True, True, True]),
        (made_up(difference=math.nan), [False, True, True, True, True]),
        (made_up(variation=0.07), [True, False, True, True, True]),
        (made_up(law=1e-3), [True, True, False, True, True]),
        (made_up(trigrams=RISING[::-1]), [True, True, True, False, True]),
        (made_up(perplexity=[0.3] * 6), [True, True, True, True, False]),
        (made_up(perplexity=[2, 1, 3, 4, 5, 6]), [True] * 5),  # two neighbours change places
        (made_up(perplexity=[3, 1, 2, 4, 6, 5]), [True, True, True, True, False]),
    ],
)
def test_every_check_depends_on_its_number(numbers, held):
    assert [check.held for check in verdict(numbers).checks] == held


def test_identities_alone_are_no_sign_of_the_claim():
    assert verdict(made_up(law=1.0)).word == IN_PART
    assert verdict(made_up(variation=1, trigrams=RISING[::-1], perplexity=RISING[::-1])).word == NOT_SEEN


@pytest.mark.parametrize(("perplexity", "seen"), [(10.1, True), (10.0, False), (9.0, False)])
def test_the_judge_sees_something_only_where_samples_are_harder_than_real_text(perplexity, seen):
    numbers = made_up(perplexity=[1, 2, 3, perplexity, 20, 30])
    numbers["heat"] |= {"read_before": [0.0] * 6, "known_trigrams": [0.5] * 6}
    numbers["chain"]["left_out"] = 0
    [remark] = write_remarks(numbers)
    assert ("the judge sees" in remark) == seen
    assert f"is {perplexity:.1f} compared with 10.0 on real sentences" in remark


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    bench = Bench(tmp_path_factory.mktemp("sampling"), text="the xylophone")
    return bench, measure(bench, TOY)


def test_the_identities_hold_for_a_nearly_untrained_model(done):
    checks = done[1].verdict.checks
    assert [check.held for check in (checks[0], checks[2])] == [True] * 2
    assert done[1].numbers["chain"]["sentences"] > 0


def test_numbers_computed_in_a_simpler_way(done):
    bench, finding = done
    heat = finding.numbers["heat"]
    author, judge = (
        LanguageModel.load(bench.folder / "models" / f"{name}-1") for name in ("author", "judge")
    )
    for place, temperature in enumerate(TOY.temperatures):
        samples = author.sample(count=24, temperature=temperature, seed=1)
        lines = [sample.text for sample in samples if sample.text]
        assert heat["distinct_sentences"][place] == pytest.approx(len(set(lines)) / len(lines))
        scored = list(judge.score(lines))
        nats = -sum(one.log_prob for one in scored) / sum(len(one.tokens) for one in scored)
        assert heat["judge_perplexity"][place] == pytest.approx(math.exp(nats))
        firsts = Counter(sample.tokens[0] for sample in samples)
        bits = -sum(n / 24 * math.log2(n / 24) for n in firsts.values())
        assert heat["first_word_entropy"][place] == pytest.approx(bits)
    assert heat["first_word_entropy_computed"] == sorted(heat["first_word_entropy_computed"])


def test_author_and_judge_share_no_sentence(tmp_path, monkeypatch):
    given = {}
    monkeypatch.setattr(
        Bench, "train", lambda self, name, config, train, valid, seed: given.update({name: (train, seed)})
    )
    for name in ("author", "judge"):
        train_model(Bench(tmp_path), name, 1, TOY)
    (author, author_seed), (judge, judge_seed) = given["author-1"], given["judge-1"]
    assert len(author) == len(judge) == 300
    assert not {example.source for example in author} & {example.source for example in judge}
    assert author_seed != judge_seed
    splits = Language().splits(train=600, valid=0, test=0, seed=1)
    assert [*author, *judge] == splits.train


def test_figures_and_remarks(done):
    _, finding = done
    assert [drawing.name for drawing in finding.figures] == ["tree", "text", "temperature", "first-words"]
    json.dumps(finding.numbers)
    assert finding.remarks[-1].startswith("After your words the model continued: “the")
    assert "does not know xylophone" in finding.remarks[-1]
    assert len(finding.tables[0].rows) == 9
    assert EXPERIMENT.text
