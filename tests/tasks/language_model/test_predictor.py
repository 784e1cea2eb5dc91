"""A language model at work: what it makes up, what it makes of given lines, where it looks."""

import math

import numpy as np
import pytest
import torch

from regard.checkpoint import ModelFolder
from regard.errors import ConfigError, DataError, FolderError
from regard.models import LanguageModelConfig, LanguageModelNetwork
from regard.tasks.language_model.predictor import LanguageModel
from regard.text import train_tokenizer

TEXT = ["a b c d <unk>"]
LINES = ["a b c", "", "d", "a a a a a a a", "  ", "b zebra a", "d"]


@pytest.fixture
def language_model():
    """A writer of a given cell, its weights scattered, in float64."""

    def build(cell="lstm", kind="word", **options):
        torch.manual_seed(3)
        tokenizer = train_tokenizer(kind, TEXT, size=20)
        sizes = {"embedding_size": 5, "state_size": 6}
        model = LanguageModelNetwork(LanguageModelConfig(cell=cell, **sizes, **options), tokenizer.size)
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.uniform_(-1, 1)
        return LanguageModel(model.double().eval(), tokenizer)

    return build


def agree(one, other):
    """The same words; the numbers to what another batch's order of summation leaves of float64."""
    assert (one.text, one.tokens) == (other.text, other.tokens)
    assert one.token_log_probs == pytest.approx(other.token_log_probs, abs=1e-9)


def test_scores_are_log_probabilities_step_by_step(language_model):
    made = language_model()
    for line, scored in zip(LINES, made.score(LINES), strict=True):
        assert scored.text == line
        if not line.strip():
            assert (scored.tokens, scored.perplexity) == ((), None)
            continue
        state, previous, expected = made.model.initial_state(1), 2, []
        ids = [made.tokenizer.encode(word if word in "abcd" else "<unk>")[0] for word in line.split()]
        with torch.no_grad():
            for token in [*ids, 3]:
                logits, state = made.model.step(torch.tensor([previous]), state)
                expected.append(float(logits.log_softmax(-1)[0, token]))
                previous = token
        assert scored.token_log_probs == pytest.approx(expected, abs=1e-9)
        assert scored.tokens[-1] == "</s>"
        assert scored.num_words == len(line.split()) + 1


@pytest.mark.parametrize("mode", ["sentences", "continuous"])
def test_chunks_change_nothing(language_model, mode):
    made = language_model()
    one, all_at_once = (list(made.score(LINES, mode=mode, chunk=size)) for size in (1, 99))
    for left, right in zip(one, all_at_once, strict=True):
        agree(left, right)


def test_lines_are_read_as_they_come(language_model):
    lines_read = []

    def endless():
        while True:
            lines_read.append(1)
            yield "a b"

    stream = language_model().score(endless(), chunk=4)
    next(stream)
    assert len(lines_read) == 4


def test_continuous_text_remembers(language_model):
    made = language_model()
    alone, within = list(made.score(["a b", "a b"])), list(made.score(["a b", "a b"], mode="continuous"))
    assert alone[0].log_prob == pytest.approx(alone[1].log_prob)
    assert within[0].log_prob == pytest.approx(alone[0].log_prob)
    assert abs(within[1].log_prob - alone[1].log_prob) > 1e-3
    # a blank line is an end of a line there
    assert [scored.tokens for scored in made.score(["", "a"], mode="continuous")] == [
        ("</s>",),
        ("a", "</s>"),
    ]


def test_perplexity_of_a_text(language_model):
    made = language_model(kind="char")
    score = made.perplexity(["ab cd", "d"])
    assert (score.num_tokens, score.num_words, score.num_characters) == (8, 5, 8)
    nats = -sum(scored.log_prob for scored in made.score(["ab cd", "d"]))
    assert score.perplexity == pytest.approx(math.exp(nats / 8))
    assert score.word_perplexity == pytest.approx(math.exp(nats / 5))
    assert score.bits_per_character == pytest.approx(nats / 8 / math.log(2))


@pytest.mark.parametrize("cell", ["lstm", "lstmn"])
def test_a_seed_gives_the_same_lines_however_many(language_model, cell):
    made = language_model(cell)
    many = made.sample(count=70, seed=5, max_length=8)
    for few, one in zip(made.sample(count=3, seed=5, max_length=8), many, strict=False):
        agree(few, one)
    assert len({sample.text for sample in many}) > 10
    other = made.sample(count=3, seed=6, max_length=8)
    assert [sample.text for sample in other] != [sample.text for sample in many[:3]]
    for number in (0, 2):
        grown = list(made.grow(number=number, seed=5, max_length=8))
        agree(grown[-1], many[number])
        assert [len(sample.steps) for sample in grown] == list(range(1, len(grown) + 1))


def test_a_sample_s_log_probabilities_are_its_score(language_model):
    """Of those that ended, with words as tokens: the text is exactly what was drawn."""
    made = language_model()
    ended = [sample for sample in made.sample(count=40, max_length=12) if sample.tokens[-1] == "</s>"]
    assert len(ended) > 5
    words = [sample for sample in ended if len(sample.tokens) > 1]
    for sample, scored in zip(words, made.score([sample.text for sample in words]), strict=True):
        if "<unk>" not in sample.tokens:
            assert sample.log_prob == pytest.approx(scored.log_prob, abs=1e-9)


def test_prompts_come_first_and_what_is_unknown_is_told(language_model):
    made = language_model()
    assert made.unknown_words("a zebra b") == ["zebra"]
    for sample in made.sample(count=5, prompt="a zebra", max_length=3):
        assert sample.text.startswith("a <unk>")
        assert sample.prompt == "a zebra"
        assert len(sample.tokens) <= 3
    # the corpus's own unknown word is the one that is read
    assert made.sample(prompt="a zebra", seed=4)[0].tokens == made.sample(prompt="a <unk>", seed=4)[0].tokens


def test_alternatives_tell_both_probabilities(language_model):
    made = language_model()
    [sample] = made.sample(temperature=0.5, top_k=2, max_length=6, seed=2)
    for step in sample.steps:
        everyone = [step.chosen, *step.alternatives]
        assert step.chosen not in step.alternatives
        assert sum(one.sampling_probability for one in everyone) == pytest.approx(1)
        assert sum(one.sampling_probability > 0 for one in everyone) == 2
        assert sum(one.model_probability for one in everyone) < 1
        first, second = sorted(everyone, key=lambda one: -one.model_probability)[:2]
        odds = (first.model_probability / second.model_probability) ** 2
        assert first.sampling_probability / second.sampling_probability == pytest.approx(odds)
    assert len(made.sample(temperature=0, count=3)) == 3
    assert len({sample.text for sample in made.sample(temperature=0, count=3)}) == 1


@pytest.mark.parametrize(("cell", "own"), [("lstmn", False), ("rnn-read", False), ("rnn-sum", True)])
def test_readings_look_back(language_model, cell, own):
    made = language_model(cell, num_layers=2)
    reading, blank = made.read(["a b zebra d", ""])
    assert reading.tokens == ("<s>", "a", "b", "<unk>", "d")
    assert reading.labels == ("<s>", "a", "b", "zebra", "d")
    assert len(reading.alpha) == 2
    for alpha in reading.alpha:
        assert alpha.shape == (5, 5)
        sums = alpha.sum(axis=1)
        # before the first word there is nothing to look at, unless it looks at itself
        np.testing.assert_allclose(sums, [float(own), 1, 1, 1, 1], atol=1e-6)
        assert (np.diag(alpha)[1:] > 0).all() == own
    assert reading.token_log_probs[0] is None
    [scored] = made.score(["a b zebra d"])
    assert reading.token_log_probs[1:] == pytest.approx(scored.token_log_probs[:-1], abs=1e-9)
    assert blank.tokens == ("<s>",)


def test_readings_of_half_precision_are_as_exact_as_scores(language_model):
    """Softmax of bfloat16 logits in bfloat16 would leave three digits."""
    made = language_model("rnn-read")
    made.model.bfloat16()
    [reading], [scored] = made.read(["a b c d"]), made.score(["a b c d"])
    assert reading.token_log_probs[1:] == pytest.approx(scored.token_log_probs[:-1], abs=1e-6)
    assert reading.alpha[0].dtype == np.float32


def test_refusals(language_model, tmp_path):
    with pytest.raises(
        ConfigError, match=r"this model's cells, gru, do not attend to their past.*lstmn, rnn-read"
    ):
        language_model("gru").read(["a"])
    with pytest.raises(
        ConfigError, match=r"lstmn cells attend to all they have read.*train one with model.memory.span"
    ):
        language_model("lstmn").score(["a"], mode="continuous")
    with pytest.raises(ConfigError, match="mode: no 'lines'"):
        language_model().score(["a"], mode="lines")
    with pytest.raises(ConfigError, match="count: 0 is out of range"):
        language_model().sample(count=0)
    with pytest.raises(ConfigError, match="top_p: 2 is out of range"):
        language_model().grow(top_p=2)
    with pytest.raises(DataError, match="score takes a list of lines, not one text"):
        language_model().score("a b")
    with pytest.raises(DataError, match="read takes a list of lines, not one text"):
        language_model("lstmn").read("a b")
    with pytest.raises(FolderError, match="no such model folder"):
        LanguageModel.load(tmp_path / "none")


def test_saved_and_loaded_is_equal(language_model, tmp_path):
    made = language_model("lstmn")
    made.model.float()
    folder = ModelFolder(tmp_path / "model")
    folder.create(
        "language_model", made.model.config, {"text": made.tokenizer}, sizes={"text": made.tokenizer.size}
    )
    folder.write_weights("best", made.model, {"update": 7})
    loaded = LanguageModel.load(tmp_path / "model")
    assert loaded.facts == {"update": 7}
    assert loaded.sample(count=4) == made.sample(count=4)


def test_rows_of_other_prompts_and_seeds_are_those_of_sample(language_model):
    made, seen = language_model(), {}
    rows = [("", 1, 0), ("a b", 1, 1), ("a b", 7, 2), ("d", 3, 0)]
    options = {"max_length": 9, "alternatives": 2}
    together = made.sample_rows(rows, **options, watch=lambda k, line: seen.setdefault(k, []).append(line))
    for (prompt, seed, number), line in zip(rows, together, strict=True):
        agree(line, made.sample(prompt=prompt, seed=seed, count=number + 1, **options)[number])
    for k, (prompt, seed, number) in enumerate(rows):
        growing = list(made.grow(prompt=prompt, seed=seed, number=number, **options))
        for one, other in zip(seen[k], growing, strict=True):
            agree(one, other)
