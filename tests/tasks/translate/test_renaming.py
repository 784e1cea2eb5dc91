"""Renaming symbols: which correspond, when a relation commutes with renaming, and what a renamed pair is."""

import random

import pytest
import torch

from regard.errors import ConfigError
from regard.tasks import prepare_task
from regard.tasks.translate.plan import describe_pairs, plan_pairs
from regard.tasks.translate.renaming import (
    Correspondence,
    find_correspondence,
    rename,
    share_in_place,
    share_written,
)
from regard.text import SentencePair

LETTERS = "abcdefghijklmnopqrstuvwxyz"

COMMUTING = {
    "doubled": lambda word: word + word,
    "reversed": lambda word: word[::-1],
    "in upper case": str.upper,
    "with a sign between": lambda word: f"{word}-{word}",
    "rotated": lambda word: word[1:] + word[0],
    "with y as i": lambda word: word.replace("y", "i"),  # commutes with what leaves the two alone
}
OTHER = {
    "sorted": lambda word: "".join(sorted(word)),
    "with an affix": lambda word: f"{word}ed",
    "without vowels": lambda word: "".join(letter for letter in word if letter not in "aeiou") or "y",
    "with one vowel": lambda word: "".join("a" if letter in "aeiou" else letter for letter in word),
}


def words(count, seed=1, alphabet=LETTERS):
    rng = random.Random(seed)
    return ["".join(rng.choices(alphabet, k=rng.randint(1, 9))) for _ in range(count)]


def pairs_of(relation, count=100, seed=1, alphabet=LETTERS):
    return [(word, relation(word)) for word in words(count, seed, alphabet)]


def fit(pairs):
    found = find_correspondence(pairs)
    return share_written(pairs, found), share_in_place(pairs, found)


def test_upper_case_is_found_by_counting():
    [members] = find_correspondence(pairs_of(str.upper)).classes
    assert dict(members) == {letter: letter.upper() for letter in LETTERS}


def test_symbols_written_twice_are_not_exchanged_with_symbols_written_once():
    def relation(word):
        return "".join(2 * letter if letter in "aeiou" else letter for letter in word)

    classes = find_correspondence(pairs_of(relation)).classes
    assert {frozenset(x for x, _ in members) for members in classes} == {
        frozenset("aeiou"),
        frozenset(set(LETTERS) - set("aeiou")),
    }


@pytest.mark.parametrize(
    ("source", "target"),
    [("bxq", "BXQ"), ("bx", "BXQ"), ("bxq", "BX")],
    ids=["either could be X", "x is written as XQ", "xq is written as X"],
)
def test_what_cannot_be_told_apart_keeps_its_name(source, target):
    pairs = [("ab", "AB"), ("ba", "BA"), ("aab", "AAB"), (source, target), ("b", "B")]
    assert dict(find_correspondence(pairs).pairs) == {"a": "A", "b": "B"}


def test_a_typing_error_does_not_hide_a_correspondence():
    pairs = pairs_of(str.upper, 300)
    pairs[7] = (pairs[7][0], "Q" + pairs[7][1][1:])
    assert len(find_correspondence(pairs).pairs) == 26
    assert min(fit(pairs)) > 0.99


@pytest.mark.parametrize("relation", COMMUTING.values(), ids=COMMUTING)
@pytest.mark.parametrize("alphabet", [LETTERS, "abcde"])
def test_renamed_pairs_are_pairs_of_the_relation(relation, alphabet):
    pairs = pairs_of(relation, alphabet=alphabet)
    found = find_correspondence(pairs)
    sources = set()
    for k, pair in enumerate(pairs):
        source, target = rename(pair, found, random.Random(k))
        assert "".join(target) == relation("".join(source))
        assert [source.index(x) for x in source] == [
            pair[0].index(x) for x in pair[0]
        ]  # repeats stay repeats
        sources.add("".join(source))
    assert len(sources - {word for word, _ in pairs}) > 50


def test_the_same_state_gives_the_same_names():
    found: Correspondence[str] = find_correspondence(pairs_of(str.upper))
    renamed = [rename(("regard", "REGARD"), found, random.Random(seed)) for seed in (1, 1, 2)]
    assert renamed[0] == renamed[1] != renamed[2]


@pytest.mark.parametrize("relation", COMMUTING.values(), ids=COMMUTING)
def test_the_plan_renames_where_the_relation_commutes_with_it(relation):
    statistics = describe_pairs([SentencePair(*pair) for pair in pairs_of(relation)])
    assert statistics.in_place == 1
    assert statistics.are_renamable
    assert plan_pairs(statistics).options["data"]["rename_symbols"]


@pytest.mark.parametrize("relation", OTHER.values(), ids=OTHER)
def test_the_plan_leaves_other_relations_alone(relation):
    statistics = describe_pairs([SentencePair(*pair) for pair in pairs_of(relation)])
    assert not statistics.are_renamable
    plan = plan_pairs(statistics)
    assert "rename_symbols" not in plan.options["data"]
    assert plan.options["training"]["patience"] > 0


def test_nothing_is_known_of_the_places_in_two_pairs():
    assert fit([("ab", "AB"), ("ac", "AC")]) == (1, 0)
    assert fit([]) == (0, 0)


def test_features_are_symbols_of_their_own():
    """The copied feature b is not the letter b: lemmas that are copied can be renamed, whatever their features."""
    features = [("V", "b"), ("N",)]
    pairs = [SentencePair(word, word, features=features[k % 2]) for k, word in enumerate(words(200))]
    statistics = describe_pairs(pairs)
    assert (statistics.written, statistics.in_place) == (1, 1)


class TestPlan:
    pairs = tuple(SentencePair(word, word + word) for word in words(100))

    def test_all_decisions_follow(self):
        plan = plan_pairs(describe_pairs(self.pairs))
        options = plan.options
        assert options["data"]["rename_symbols"]
        training = options["training"]
        assert training["validate_every"] == training["max_updates"]
        assert training["patience"] == 0
        lines = "\n".join(plan.lines())
        assert "100 % of the target's symbols stand for one source symbol each" in lines
        assert "once, at the end; the last weights are kept" in lines

    def test_by_hand(self):
        statistics = describe_pairs(self.pairs)
        for given in ({"data": {"rename_symbols": False}}, {"tokenizer": {"target": "bpe"}}):
            options = plan_pairs(statistics, given).options
            assert "rename_symbols" not in options["data"]
            assert options["training"]["patience"] > 0

    def test_many_pairs_need_no_renaming(self):
        many = [SentencePair(word, word + word) for word in words(1_100)]
        assert describe_pairs(many).written == 0, "counted for nothing"
        assert describe_pairs(many[:900]).are_renamable


class TestTask:
    def task(self, run_config, pairs=None, **over):
        made = prepare_task(
            run_config(data={"rename_symbols": True}, tokenizer={"source": "char", "target": "char"}, **over),
            pairs or pairs_of(str.upper, 40),
            [("ab", "AB")],
        )
        torch.manual_seed(1)
        made.build()
        return made

    def text(self, task, epoch):
        """The pairs of an epoch, batch by batch."""
        texts = []
        for members in task.plan(epoch):
            batch = task.batch(members)
            decoded = [
                [task.tokenizers[side].decode(row) for row in ids.tolist()]
                for side, ids in (("source", batch.source_ids), ("target", batch.target_ids))
            ]
            texts.append(list(zip(*decoded, strict=True)))
        return texts

    def test_every_epoch_has_new_pairs_of_the_relation(self, run_config):
        task = self.task(run_config)
        epochs = [[pair for batch in self.text(task, epoch) for pair in batch] for epoch in (0, 1)]
        for pairs in epochs:
            assert len(pairs) == 40
            assert all(target == source.upper() for source, target in pairs)
        assert len(set(epochs[0]) & set(epochs[1])) < 10  # single letters may come again
        assert any("26" in note and "100 %" in note for note in task.notes)

    def test_a_batch_follows_from_seed_and_epoch_alone(self, run_config):
        first, again = self.task(run_config), self.task(run_config)
        self.text(first, 0)  # a run that started earlier
        assert self.text(first, 5) == self.text(again, 5)
        other = self.task(run_config, training={"seed": 2})
        same_pair = [made.batch([205]).source_ids for made in (again, other)]
        assert not torch.equal(*same_pair), "the batches differ in more than their order"

    def test_nothing_to_rename_is_an_error(self, run_config):
        rng = random.Random(1)
        pairs = [(word, "".join(rng.choices("xyz", k=4))) for word in words(40)]
        with pytest.raises(ConfigError, match=r"data\.rename_symbols: .*set data\.rename_symbols = false"):
            self.task(run_config, pairs)
