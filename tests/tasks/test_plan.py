"""Plans of the tasks with one text, and the rules that all tasks share."""

import random
from dataclasses import replace

import pytest

from regard.config import flatten, toml_value
from regard.datasets import Language, Newsroom, PartsOfSpeech, Sentiment
from regard.tasks import TASKS
from regard.tasks.label_plan import plan_labels
from regard.tasks.language_model.plan import plan_text
from regard.tasks.plan import (
    Budget,
    Decision,
    Plan,
    choose_level,
    count_updates,
    describe_text,
    estimate_minutes,
    take_evenly,
)
from regard.training.configure import configure


def lines_of(dataset, count):
    return [example.source for example in dataset.splits(train=count, valid=1, test=1, seed=1).train]


class TestText:
    def test_counts(self):
        text = describe_text(["ab a", "ab c"])
        assert (text.num_lines, text.num_words, text.num_word_types) == (2, 4, 3)
        assert (text.mean_words, text.mean_characters, text.alphabet_size) == (2, 4, 3)
        assert text.new_word_rate == 2 / 4  # a and c occur once

    def test_composed_or_not_is_the_same_text(self):
        assert describe_text(["e\u0301"]) == describe_text(["é"])

    @pytest.mark.parametrize(
        ("lines", "are"),
        [
            (["t͡sˤʼ a b", "k aː"], True),
            (["AA1 B K", "EH0 T"], True),
            (["kat", "hond"], False),
            (["the cat sleeps", "a dog"], False),
        ],
    )
    def test_symbols(self, lines, are):
        assert describe_text(lines).are_symbols is are

    def test_no_lines(self):
        assert describe_text([]).mean_words == 0

    def test_samples_are_even(self):
        assert list(take_evenly(range(100), 4)) == [0, 25, 50, 75]
        assert take_evenly([1, 2], 4) == [1, 2]


def unspaced(count, length=15, first=0x4E00, size=600):
    """Sentences of a script without blanks between words, with a full stop."""
    rng = random.Random(1)
    return ["".join(chr(first + rng.randrange(size)) for _ in range(length)) + "。" for _ in range(count)]


class TestWithoutBlanks:
    def test_chinese_japanese_and_thai_sentences(self):
        for lines in (unspaced(200), unspaced(200, first=0x3041, size=80), unspaced(200, 40, 0x0E01, 58)):
            text = describe_text(lines)
            assert text.are_unspaced
            assert not text.are_single_words
            assert choose_level(text, strings=text.are_strings).kind == "bpe"

    @pytest.mark.parametrize(
        "lines",
        [
            ["ありがとう", "さくら"] * 30,
            ["二〇一四年五月三日", "二〇一五年六月十日"] * 30,
            ["안녕하세요", "감사합니다"] * 30,
            ["internationalization", "Donaudampfschiff"] * 30,
            ["吾輩 は 猫 で ある"] * 30,
            [],
        ],
        ids=["words", "dates", "Korean", "long words", "segmented", "none"],
    )
    def test_other_lines(self, lines):
        assert not describe_text(lines).are_unspaced

    def test_labelled_sentences_are_not_words_of_a_vocabulary(self):
        plan = plan_labels(describe_text(unspaced(300)), 300, 2, what="texts", words_only=False)
        assert flatten(plan.options)["tokenizer.text"] == "bpe"
        assert "16.0 characters without blanks" in plan.data

    def test_a_language_model_counts_their_length_in_characters(self):
        options = flatten(plan_text(describe_text(unspaced(300, 200)), 300).options)
        assert (options["tokenizer.text"], options["data.max_length"]) == ("bpe", 300)


def test_the_vocabulary_of_subwords_holds_the_alphabet():
    """Few words of many characters: training the tokenizer must not fail."""
    rng = random.Random(1)
    lines = [" ".join(chr(0x4E00 + rng.randrange(2_000)) * 2 for _ in range(5)) for _ in range(500)]
    level = choose_level(describe_text(lines), strings=False)
    assert level.kind == "bpe"
    assert level.size > 2_000


def test_updates():
    assert count_updates(32_000, 64, 10, 1_000, 40_000) == (5_000, "10 passes over the data")
    few, reason = count_updates(100, 16, 10, 1_000, 40_000)
    assert (few, "few" in reason) == (1_000, True)
    many, reason = count_updates(10_000_000, 64, 10, 1_000, 40_000)
    assert (many, "many" in reason) == (40_000, True)


def test_minutes_grow_with_everything():
    base = estimate_minutes(1_000, 1e6, 500, 60e9)
    assert estimate_minutes(2_000, 1e6, 500, 60e9) == pytest.approx(2 * base)
    assert estimate_minutes(1_000, 2e6, 500, 60e9) > base
    assert estimate_minutes(1_000, 1e6, 500, 120e9) < base


def test_decisions_are_merged():
    plan = Plan(
        "some", (Decision("a", "1", "why", {"x": {"y": 1}}), Decision("b", "2", "why", {"x": {"z": 2}}))
    )
    assert plan.options == {"x": {"y": 1, "z": 2}}
    assert plan.lines({"x": {"y": 3}}) == ["plan: some", "  b: 2 (why)"]
    assert flatten(plan.options) == {"x.y": 1, "x.z": 2}


class TestTasks:
    def plan(self, task, examples, given=None, budget=None):
        spec = TASKS[task]
        plan = spec.plan_run(None, examples, None, given or {}, budget)
        configure({"task": task}, plan=plan.options)  # a valid run
        return flatten(plan.options), plan

    def test_labelled_texts(self):
        examples = Sentiment().splits(train=400, valid=1, test=1, seed=1).train
        options, plan = self.plan("classify", [(example.target, example.source) for example in examples])
        assert options["tokenizer.text"] == "word"
        assert options["training.select"] == "accuracy"
        assert options["training.max_updates"] == 1_000
        assert f"400 texts with {len({example.target for example in examples})} labels" in plan.data

    def test_labelled_words_are_read_by_characters(self):
        rng = random.Random(1)
        names = ["".join(rng.choices("abcdefghij", k=6)) for _ in range(300)]
        options, _ = self.plan("classify", [(rng.choice(["en", "de"]), name) for name in names])
        assert options["tokenizer.text"] == "char"

    def test_tagged_words(self):
        examples = PartsOfSpeech().splits(train=300, valid=1, test=1, seed=1).train
        options, plan = self.plan("tag", [(example.source, example.target) for example in examples])
        assert options["tokenizer.text"] == "word"
        assert options["training.select"] == "accuracy"
        assert "300 sentences" in plan.data

    def test_plain_text(self):
        lines = lines_of(Newsroom(), 2_000)
        options, _ = self.plan("language_model", [(line,) for line in lines], budget=Budget(3, 60e9))
        assert options["tokenizer.text"] == "word"  # a closed vocabulary
        assert options["training.select"] == "loss"
        assert options["training.max_minutes"] == 3
        rng = random.Random(1)
        open_text = [" ".join(str(rng.randrange(10**6)) for _ in range(8)) for _ in range(500)]
        options, _ = self.plan("language_model", [(line,) for line in open_text])
        assert options["tokenizer.text"] == "bpe"

    def test_a_level_given_by_hand(self):
        lines = [(line,) for line in lines_of(Language(), 200)]
        options, _ = self.plan("language_model", lines, {"tokenizer": {"text": "char"}})
        assert options["tokenizer.text"] == "char"
        assert "tokenizer.text_size" not in options

    @pytest.mark.parametrize(("num_lines", "units"), [(99_999, 200), (100_000, 400)])
    def test_much_text_has_a_larger_model(self, num_lines, units):
        options = flatten(plan_text(describe_text(["a b c d e"] * 50), num_lines).options)
        assert (options["model.embedding_size"], options["model.state_size"]) == (units, units)

    @pytest.mark.parametrize(("longest", "limit"), [(3, 100), (100, 150), (1000, 300)])
    def test_long_lines_are_not_left_out(self, longest, limit):
        text = replace(describe_text(["a b c"] * 50), long_words=longest)
        assert flatten(plan_text(text, 50).options)["data.max_length"] == limit

    @pytest.mark.parametrize(
        ("num_examples", "batch", "dropout"), [(999, 16, 0.5), (1_000, 32, 0.5), (5_000, 32, 0.3)]
    )
    def test_few_labels_have_small_batches_and_more_dropout(self, num_examples, batch, dropout):
        text = describe_text(["a b c"] * 50)
        plan = plan_labels(text, num_examples, 2, what="texts", words_only=False)
        options = flatten(plan.options)
        assert options["training.batch_sentences"] == batch
        assert options["model.encoder.dropout"] == options["model.dropout"] == dropout

    def test_captions_have_no_plan(self):
        assert TASKS["caption"].plan_run(None, [], None, {}) is None

    def test_values_can_be_written(self):
        lines = [(line,) for line in lines_of(Language(), 200)]
        options, _ = self.plan("language_model", lines)
        assert all(toml_value(value) for value in options.values())
