"""The plan of a translator: what the data decide, on kinds of files that people have."""

import random
from dataclasses import replace

import pytest

from regard.config import flatten
from regard.datasets import Copy, Dates, Microworld
from regard.tasks.plan import Budget
from regard.tasks.translate.config import TranslateRun
from regard.tasks.translate.plan import correlate_order, describe_pairs, plan_pairs
from regard.text import SentencePair
from regard.training.configure import configure

LETTERS = "abcdefghijklmnopqrstuvwxyz"
PHONES = {letter: f"{letter}ː" if letter in "aeiou" else letter for letter in LETTERS} | {
    "c": "t͡ʃ",
    "j": "d͡ʒʲ",
}


def words(count, seed=1):
    rng = random.Random(seed)
    return ["".join(rng.choices(LETTERS, k=rng.randint(2, 12))) for _ in range(count)]


def pairs_of(dataset, count):
    splits = dataset.splits(train=count, valid=1, test=1, seed=1)
    return [SentencePair(example.source, example.target) for example in splits.train]


def sentences(count, length, seed=1):
    """Two languages with many rare words, as real text has."""
    rng = random.Random(seed)
    common, rare = words(300), words(30_000, 2)

    def line():
        return " ".join(
            rng.choice(common) if rng.random() < 0.8 else rng.choice(rare)
            for _ in range(rng.randint(length // 2, length * 3 // 2))
        )

    return [SentencePair(line(), line()) for _ in range(count)]


def spelling(count):
    return [SentencePair(word, " ".join(PHONES[letter] for letter in word)) for word in words(count)]


def decide(pairs, **options):
    return plan_pairs(describe_pairs(pairs), **options)


def options_of(plan):
    return flatten(plan.options)


def kinds(plan):
    options = options_of(plan)
    return options["tokenizer.source"], options["tokenizer.target"], options["training.select"]


def without_blanks(count):
    """Sentences as in Japanese: of kana and Chinese characters, 12 to 20 of them."""
    rng = random.Random(3)
    letters = [chr(0x3042 + k) for k in range(80)] + [chr(0x4E00 + k) for k in range(400)]
    return ["".join(rng.choices(letters, k=rng.randint(12, 20))) for _ in range(count)]


def test_a_blank_side_is_no_trouble():
    """A plan is made before such pairs are left out."""
    pairs = [SentencePair("", "brauner b"), SentencePair("a b", ""), *sentences(20, 8)]
    assert "22 pairs" in decide([*pairs, SentencePair("x", "y")]).data


class TestWithoutBlanks:
    def test_their_translations_are_sentences(self):
        english = [pair.source for pair in sentences(2_000, 8)]
        pairs = [
            SentencePair(source, target)
            for source, target in zip(without_blanks(2_000), english, strict=True)
        ]
        plan = decide(pairs)
        assert kinds(plan) == ("bpe", "bpe", "bleu")
        assert "2,000" not in plan.data
        assert "sentences" in plan.data
        assert "no blanks between words in the source" in plan.data
        back = decide([SentencePair(pair.target, pair.source) for pair in pairs])
        assert kinds(back) == ("bpe", "bpe", "chrf")

    def test_both_sides(self):
        lines = without_blanks(1_000)
        plan = decide([SentencePair(line, line[::-1]) for line in lines])
        assert kinds(plan) == ("bpe", "bpe", "chrf")

    def test_words_and_their_sound_are_strings(self):
        words = [line[:9] for line in without_blanks(1_000)]
        phones = [" ".join("aiueo"[ord(letter) % 5] for letter in word) for word in words]
        plan = decide([SentencePair(word, sound) for word, sound in zip(words, phones, strict=True)])
        assert options_of(plan)["tokenizer.target"] == "word"
        assert "pairs of strings" in plan.data


class TestKindsOfFiles:
    def test_spelling_to_sound(self):
        plan = decide(spelling(3_600))
        assert kinds(plan) == ("char", "word", "wer")
        options = options_of(plan)
        assert 3_000 <= options["training.max_updates"] <= 4_000
        assert (options["model.encoder.state_size"], options["model.decoder.state_size"]) == (128, 256)
        assert options["model.decoder.kind"] == "hard-monotonic"
        assert "in the same order" in plan.data

    def test_eight_hundred_words_are_not_left_before_they_are_learned(self):
        statistics = describe_pairs(spelling(3_600))
        few, more = (options_of(plan_pairs(replace(statistics, num_pairs=number))) for number in (800, 8_000))
        assert few["training.max_updates"] == 3_000
        assert few["model.encoder.dropout"] > more["model.encoder.dropout"]
        assert (few["model.decoder.kind"], more["model.decoder.kind"]) == ("hard-monotonic", "bahdanau")

    def test_lemma_to_form(self):
        pairs = [SentencePair(word, f"{word}ed") for word in words(12_000)]
        plan = decide(pairs)
        assert kinds(plan) == ("char", "char", "wer")
        assert options_of(plan)["model.decoder.kind"] == "hard-monotonic"
        statistics = describe_pairs(pairs)
        widths = [
            options_of(plan_pairs(replace(statistics, num_pairs=number)))["model.encoder.state_size"]
            for number in (9_000, 12_000)
        ]
        assert widths == [128, 256]  # more data, a larger model

    def test_dates(self):
        plan = decide(pairs_of(Dates(), 2_000))
        assert kinds(plan) == ("char", "char", "wer")
        assert options_of(plan)["model.decoder.kind"] == "bahdanau"  # day, month and year change places

    def test_short_translations_of_a_closed_vocabulary(self):
        known, rng = words(200), random.Random(1)
        lines = [" ".join(rng.choices(known, k=6)) for _ in range(2_000)]
        plan = decide([SentencePair(line, line.upper()) for line in lines])
        assert kinds(plan) == ("word", "word", "bleu")

    def test_short_translations_with_new_words(self):
        assert kinds(decide(pairs_of(Microworld(), 2_000)))[:2] == ("bpe", "bpe")

    def test_long_translations(self):
        plan = decide(sentences(3_000, 40))
        assert kinds(plan) == ("bpe", "bpe", "bleu")
        options = options_of(plan)
        assert options["tokenizer.source_size"] == pytest.approx(3_000 * 40 / 60, rel=0.1)
        assert options["data.max_length"] > 80

    def test_symbols_on_both_sides(self):
        pairs = pairs_of(Copy(), 500)
        assert kinds(decide(pairs))[:2] == ("word", "word")

    def test_a_hundred_pairs(self):
        pairs = [SentencePair(word, word[::-1]) for word in words(100)]
        plan = decide(pairs)
        options = options_of(plan)
        assert kinds(plan) == ("char", "char", "loss")  # 5 pairs validate
        assert options["training.max_updates"] >= 1_000
        assert options["training.batch_sentences"] == 16
        assert (options["model.decoder.kind"], options["model.decoder.input_feeding"]) == ("luong", False)
        assert "reversed" in plan.data
        assert "100 % of the target's characters" in plan.data

    def test_a_hundred_thousand_pairs(self):
        few = describe_pairs(sentences(2_000, 10))
        many = replace(few, num_pairs=100_000, num_valid=1_000)
        small, large = options_of(plan_pairs(few)), options_of(plan_pairs(many))
        assert large["training.max_updates"] == 16_000  # ten passes of 64
        assert large["model.encoder.state_size"] > small["model.encoder.state_size"]
        assert large["model.encoder.dropout"] < small["model.encoder.dropout"]
        middle = options_of(plan_pairs(replace(few, num_pairs=20_000)))
        assert middle["training.max_updates"] == 6_200  # twenty passes of 64
        assert middle["model.encoder.dropout"] == 0.5


def test_hangul_is_decomposed_where_it_is_read_by_characters():
    rng = random.Random(1)
    syllables = [chr(0xAC00 + 28 * k) for k in range(300)]
    pairs = [SentencePair("".join(rng.choices(syllables, k=3)), "k a p a") for _ in range(400)]
    plan = decide(pairs)
    assert options_of(plan)["tokenizer.normalize"] == "nfd"
    by_words = decide(pairs, given={"tokenizer": {"source": "word"}})
    assert options_of(by_words)["tokenizer.normalize"] == "nfc"
    assert options_of(decide(spelling(400)))["tokenizer.normalize"] == "nfc"


@pytest.mark.parametrize("number", [1, 20, 100, 800, 3_600, 33_000, 100_000, 3_000_000])
@pytest.mark.parametrize("strings", [True, False])
def test_no_planned_run_ends_inside_its_warm_up(number, strings):
    statistics = replace(
        describe_pairs(spelling(50) if strings else sentences(50, 10)),
        num_pairs=number,
        num_valid=number // 20,
    )
    assert statistics.are_strings is strings
    training = plan_pairs(statistics).options["training"]
    assert training["max_updates"] >= 1_000
    assert training["max_epochs"] == 0
    assert training["warmup"] <= training["max_updates"] / 10
    assert training["validate_every"] * training["patience"] < training["max_updates"]
    assert training.get("validation_sentences") == (2_000 if strings else None)


@pytest.mark.parametrize("pairs", [spelling(60), sentences(60, 10)], ids=["strings", "sentences"])
def test_every_plan_is_a_legal_run_and_every_decision_has_a_reason(pairs):
    plan = decide(pairs, budget=Budget(5, 60e9))
    assert isinstance(configure(plan=plan.options), TranslateRun)
    assert all(decision.value and decision.reason and decision.options for decision in plan.decisions)
    paths = [path for decision in plan.decisions for path in flatten(decision.options)]
    assert len(paths) == len(set(paths))  # each option is decided once


class TestByHand:
    def test_decisions_follow_what_is_given(self):
        """WER is of phones and characters: subwords given by hand select by something else."""
        plan = decide(spelling(2_000), given={"tokenizer": {"target": "bpe"}})
        assert kinds(plan) == ("char", "bpe", "exact_match")

    @pytest.mark.parametrize(
        ("training", "length"),
        [({"max_updates": 20_000}, 20_000), ({"max_epochs": 10}, 313), ({"max_updates": 40}, 40)],
    )
    def test_the_schedule_follows_a_length_given_by_hand(self, training, length):
        statistics = replace(describe_pairs(spelling(200)), num_pairs=2_000, num_valid=100)
        planned = plan_pairs(statistics, {"training": training}).options["training"]
        assert planned["validate_every"] == max(min(length, 10), length // 25)
        assert planned["warmup"] == min(200, length // 20)

    @pytest.mark.parametrize(
        "training",
        [{name: value} for name in ("max_updates", "max_epochs") for value in (10**400, -1, 1e308)],
    )
    def test_a_length_without_bound_is_left_to_its_configuration(self, training):
        plan = decide(spelling(200), given={"training": training}).options["training"]
        assert plan["validate_every"] == decide(spelling(200)).options["training"]["validate_every"]

    def test_lines_mark_what_is_given_and_leave_out_what_is_wholly_given(self):
        plan = decide(spelling(2_000))
        given = {"tokenizer": {"normalize": "none"}, "training": {"learning_rate": 0.1}}
        lines = plan.lines(given)
        assert len(lines) == len(plan.decisions)  # the data and all but one
        assert not any("Unicode form" in line for line in lines)
        assert [line for line in lines if "by hand" in line] == [
            line for line in lines if line.endswith("by hand: training.learning_rate = 0.1")
        ]
        assert len(plan.lines()) == len(plan.decisions) + 1


class TestBudget:
    def test_a_smaller_model_where_the_time_is_much_too_short(self):
        statistics = replace(describe_pairs(sentences(2_000, 30)), num_pairs=100_000, num_valid=1_000)
        ample, short = (options_of(plan_pairs(statistics, budget=Budget(m, 60e9))) for m in (600, 5))
        assert ample["model.decoder.state_size"] == 512
        assert short["model.decoder.state_size"] == 256
        assert (ample["training.max_minutes"], short["training.max_minutes"]) == (600, 5)

    def test_a_small_model_has_little_dropout(self):
        statistics = describe_pairs(spelling(3_600))
        hurried, unhurried = (
            options_of(plan_pairs(statistics, budget=Budget(minutes, 30e9))) for minutes in (0.1, 1_000)
        )
        assert hurried["model.encoder.state_size"] < unhurried["model.encoder.state_size"]
        assert hurried["model.encoder.dropout"] < unhurried["model.encoder.dropout"] == 0.5

    def test_no_limit_without_one(self):
        assert "training.max_minutes" not in options_of(decide(spelling(100)))


class TestOrder:
    def test_monotone_reversed_and_neither(self):
        lines = [list(word) for word in words(500)]
        rng = random.Random(2)
        assert correlate_order([(line, [c.upper() for c in line]) for line in lines]) > 0.95
        assert correlate_order([(line, line[::-1]) for line in lines]) < -0.95
        assert abs(correlate_order([(line, rng.sample(line, len(line))) for line in lines])) < 0.3

    def test_an_excerpt_in_alphabetical_order(self):
        """All lemmas begin with an a, and most forms end with a suffix that no letter of the lemma stands for."""
        rng = random.Random(3)
        stems = ["a" + "".join(rng.sample("bcdfghjkmnpqstvwxz", 5)) for _ in range(300)]
        suffixes = ["lere", "iler", "leri", "u", "oy"]
        pairs = [SentencePair(stem, stem + rng.choice(suffixes)) for stem in stems]
        assert describe_pairs(pairs).are_monotone
        assert not describe_pairs(
            [SentencePair(pair.source, pair.target[::-1]) for pair in pairs]
        ).are_monotone

    def test_nothing_to_compare(self):
        assert correlate_order([]) == 0
        assert correlate_order([(["a"], ["b"])]) == 0
