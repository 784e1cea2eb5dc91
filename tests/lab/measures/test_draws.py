"""Laws of drawing, on a model that has learnt nothing: they are the search's, not the weights'."""

import math
from dataclasses import replace

import pytest
import torch

from regard.lab.measures.samples import (
    first_words,
    miss_of_the_chain,
    miss_of_the_temperature,
    next_words,
    tree_of,
)
from regard.models import LanguageModelNetwork
from regard.models.language_model import LanguageModelConfig
from regard.tasks.language_model.predictor import LanguageModel
from regard.text import train_tokenizer

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
    found = miss_of_the_chain(language_model, samples)
    assert found["greatest_difference"] < 1e-4
    assert found["sentences"] + found["left_out"] == 200
    assert found["sentences"] > 50


def test_a_step_that_is_off_is_seen(language_model, samples):
    whole = next(one for one in samples if miss_of_the_chain(language_model, [one])["sentences"])
    first, *others = whole.token_log_probs
    off = replace(whole, token_log_probs=(first - 0.5, *others))
    assert miss_of_the_chain(language_model, [off])["greatest_difference"] == pytest.approx(0.5, abs=1e-4)


def test_a_sample_without_an_end_is_left_out(language_model):
    drawn = (language_model.sample(max_length=1, seed=seed)[0] for seed in range(50))
    found = miss_of_the_chain(language_model, [next(one for one in drawn if one.tokens != ("</s>",))])
    assert math.isnan(found.pop("greatest_difference"))
    assert found == {"sentences": 0, "left_out": 1}


def test_next_words_are_all_words_with_the_probabilities_of_the_model(language_model):
    words = next_words(language_model, prompt="the cat")
    assert sum(one.sampling_probability for one in words) == pytest.approx(1)
    assert len(words) == language_model.tokenizer.size - 2  # neither padding nor the begin mark
    [scored] = language_model.score(["the cat sees"])
    own = {one.token: one.model_probability for one in words}
    assert math.log(own["sees"]) == pytest.approx(scored.token_log_probs[2], abs=1e-5)
    assert [one.model_probability for one in words] == sorted(own.values(), reverse=True)


def test_first_words_come_as_often_as_they_should(language_model, samples):
    found = first_words(language_model, samples, 0.99)
    assert found["total_variation"] <= found["bound"]
    assert found["by_chance"] < found["bound"]
    counted = [sum(one.tokens[0] == word for one in samples) / 200 for word in found["words"]]
    assert found["share"] == pytest.approx(counted)
    # drawn too hot, they do not
    hot = language_model.sample(count=200, seed=5, temperature=6.0)
    assert first_words(language_model, hot, 0.99)["total_variation"] > found["bound"]


def test_the_law_of_temperature(language_model):
    assert miss_of_the_temperature(language_model, [0.3, 1.0, 2.5]) < 1e-9


def test_a_tree_follows_its_sample(language_model, samples):
    sample = next(one for one in samples if 3 <= len(one.steps) <= 5)
    node, words, chance = tree_of(language_model, sample), [], 1.0
    while taken := [one for one in node.after if one.taken]:
        [node_after] = taken
        rivals = [one for one in node.after if not one.taken]
        assert len(rivals) == 2
        assert node.after[1] is node_after  # a rival above, a rival below
        for rival in rivals:
            prompt = " ".join([*words, rival.word])
            following = next_words(language_model, prompt=prompt)[:2] if rival.word != "</s>" else []
            assert [(one.word, one.probability) for one in rival.after] == [
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
    tree = tree_of(language_model, sample, steps=2)
    assert tree.word == "…" + prompt[-20:]
    assert tree.probability is None
    assert [one.word for _, one in tree.walk() if one.taken] == list(sample.tokens[:2])
