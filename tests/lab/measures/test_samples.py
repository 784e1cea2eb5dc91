"""Diversity by hand; and laws of sampling, on an untrained model: they hold for any weights."""

import math
from dataclasses import replace
from itertools import product

import pytest
import torch

from regard.lab.measures.samples import (
    apply_temperature,
    chain_rule_error,
    chance_variation,
    compare_first_words,
    distinct_lines,
    distinct_ngrams,
    entropy,
    next_words,
    ngrams,
    sampling_tree,
    spearman,
    temperature_error,
    total_variation,
)
from regard.models import LanguageModelNetwork
from regard.models.language_model import LanguageModelConfig
from regard.tasks.language_model.predictor import LanguageModel
from regard.text import train_tokenizer


def test_ngrams():
    assert ngrams("a b c d", 3) == [("a", "b", "c"), ("b", "c", "d")]
    assert ngrams("a b", 3) == []


def test_shares_of_what_differs():
    assert distinct_lines(["a", "b", "a", "a"]) == 0.5
    assert distinct_ngrams(["a b a", "b a"], 2, 100) == pytest.approx(2 / 3)
    assert distinct_ngrams(["a b a", "b a"], 2, 2) == 1  # the first two alone
    assert math.isnan(distinct_ngrams(["a"], 2, 5))


def test_entropy_in_bits():
    assert entropy([0.25] * 4) == pytest.approx(2)
    assert entropy([1.0, 0.0]) == 0


def test_temperature():
    p = [0.5, 0.3, 0.2, 0.0]
    assert apply_temperature(p, 1.0) == pytest.approx(p)
    assert apply_temperature(p, 0.5) == pytest.approx([0.25 / 0.38, 0.09 / 0.38, 0.04 / 0.38, 0])
    assert entropy(apply_temperature(p, 0.5)) < entropy(p) < entropy(apply_temperature(p, 2.0))
    assert apply_temperature(p, 0.01)[0] == pytest.approx(1)


def test_total_variation():
    assert total_variation({"a": 0.5, "b": 0.5}, {"a": 3, "b": 1}) == pytest.approx(0.25)
    assert total_variation({"a": 1.0}, {"b": 2}) == pytest.approx(1)


def test_what_chance_gives_agrees_with_enumeration():
    p, draws = [0.7, 0.3], 4
    each = []
    for way in product((0, 1), repeat=draws):
        share = way.count(0) / draws
        each.append((math.prod(p[one] for one in way), abs(share - 0.7)))
    mean, high = chance_variation(p, draws, 0.99)
    assert mean == pytest.approx(sum(weight * off for weight, off in each), abs=0.01)
    assert high == pytest.approx(0.45)  # one of four or worse, one time in 12; none of four, one time in 123
    assert chance_variation(p, draws, 0.995)[1] == pytest.approx(0.7)
    assert chance_variation(p, 4000, 0.99)[1] < 0.03


def test_ranks():
    assert spearman([1, 2, 3, 4], [0.1, 5, 6, 100]) == pytest.approx(1)
    assert spearman([1, 2, 3], [3, 2, 1]) == pytest.approx(-1)
    # two neighbours of six change places
    assert spearman(range(6), [0, 1, 3, 2, 4, 5]) == pytest.approx(1 - 6 * 2 / (6 * 35))
    assert spearman([1, 2, 3, 4], [1, 2, 2, 3]) == pytest.approx(0.9486833)  # a tie shares its ranks
    assert math.isnan(spearman([1, 2, 3], [1, 1, 1]))


LINES = ["the cat sees a dog .", "a dog sees the cat .", "the cat sleeps .", "a dog runs ."]


@pytest.fixture(scope="module")
def language_model():
    tokenizer = train_tokenizer("word", LINES, size=100)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(3)
        model = LanguageModelNetwork(
            LanguageModelConfig(cell="lstm", embedding_size=6, state_size=6), tokenizer.size
        )
        for parameter in model.parameters():
            parameter.data *= 3
    return LanguageModel(model.eval(), tokenizer)


@pytest.fixture(scope="module")
def samples(language_model):
    return language_model.sample(count=200, seed=5)


def test_steps_add_up(language_model, samples):
    found = chain_rule_error(language_model, samples)
    assert found["greatest_difference"] < 1e-4
    assert found["sentences"] + found["left_out"] == 200
    assert found["sentences"] > 50


def test_a_step_that_is_off_is_seen(language_model, samples):
    whole = next(one for one in samples if chain_rule_error(language_model, [one])["sentences"])
    first, *others = whole.token_log_probs
    off = replace(whole, token_log_probs=(first - 0.5, *others))
    assert chain_rule_error(language_model, [off])["greatest_difference"] == pytest.approx(0.5, abs=1e-4)


def test_a_sample_without_an_end_is_left_out(language_model):
    drawn = (language_model.sample(max_length=1, seed=seed)[0] for seed in range(50))
    found = chain_rule_error(language_model, [next(one for one in drawn if one.tokens != ("</s>",))])
    assert math.isnan(found.pop("greatest_difference"))
    assert found == {"sentences": 0, "left_out": 1}


def test_next_words_are_all_words_with_the_probabilities_of_the_model(language_model):
    words = next_words(language_model, prompt="the cat")
    assert sum(one.sampling_probability for one in words) == pytest.approx(1)
    assert len(words) == language_model.tokenizer.size - 2  # neither padding nor BOS
    [scored] = language_model.score(["the cat sees"])
    own = {one.token: one.model_probability for one in words}
    assert math.log(own["sees"]) == pytest.approx(scored.token_log_probs[2], abs=1e-5)
    assert [one.model_probability for one in words] == sorted(own.values(), reverse=True)


def test_first_words_come_as_often_as_they_should(language_model, samples):
    found = compare_first_words(language_model, samples, 0.99)
    assert found["total_variation"] <= found["bound"]
    assert found["by_chance"] < found["bound"]
    counted = [sum(one.tokens[0] == word for one in samples) / 200 for word in found["words"]]
    assert found["share"] == pytest.approx(counted)
    # drawn too hot, they do not
    hot = language_model.sample(count=200, seed=5, temperature=6.0)
    assert compare_first_words(language_model, hot, 0.99)["total_variation"] > found["bound"]


def test_the_law_of_temperature(language_model):
    assert temperature_error(language_model, [0.3, 1.0, 2.5]) < 1e-9


def test_a_tree_follows_its_sample(language_model, samples):
    sample = next(one for one in samples if 3 <= len(one.steps) <= 5)
    node, words, chance = sampling_tree(language_model, sample), [], 1.0
    while taken := [one for one in node.after if one.taken]:
        [node_after] = taken
        alternatives = [one for one in node.after if not one.taken]
        assert len(alternatives) == 2
        assert node.after[1] is node_after  # a alternative above, a alternative below
        for alternative in alternatives:
            prompt = " ".join([*words, alternative.word])
            following = next_words(language_model, prompt=prompt)[:2] if alternative.word != "</s>" else []
            assert [(one.word, one.probability) for one in alternative.after] == [
                (one.token, one.sampling_probability) for one in following
            ]
        words.append(node_after.word)
        chance *= node_after.probability
        node = node_after
    assert tuple(words) == sample.tokens
    # the model's own, once what may never be said is left out
    assert math.log(chance) == pytest.approx(
        sum(math.log(step.chosen.sampling_probability) for step in sample.steps)
    )


def test_a_tree_is_cut_and_begins_with_its_prompt(language_model):
    prompt = "the cat sees a dog the cat"
    drawn = (language_model.sample(prompt=prompt, seed=seed)[0] for seed in range(50))
    sample = next(one for one in drawn if len(one.steps) > 3)
    tree = sampling_tree(language_model, sample, steps=2)
    assert tree.word == "…" + prompt[-20:]
    assert tree.probability is None
    assert [one.word for _, one in tree.walk() if one.taken] == list(sample.tokens[:2])
