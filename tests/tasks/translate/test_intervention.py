"""Interventions as text: a word is resolved where it occurs once, and refused with its positions otherwise."""

import pytest

from regard.errors import ConfigError
from regard.tasks.translate.constraints import Constraints, Intervention, swap_words
from regard.text import train_tokenizer

WORDS = train_tokenizer("word", ["the dog sees a red cat ."], size=20)
PIECES = train_tokenizer("bpe", ["ab ab ab a b"] * 3, size=9)


def encode(line, tokenizer=WORDS, **options):
    return Intervention(**options).encode(line, tokenizer.encode(line), tokenizer, WORDS)


class TestAttend:
    def test_a_word_is_resolved_to_its_position(self):
        assert encode("the dog sees a cat .", attend={2: "dog", 5: "cat"}).attend == {2: 1, 5: 4}

    def test_a_position_is_one_of_a_token_and_the_end_mark_is_the_last(self):
        assert encode("the dog", attend={0: 1, 3: 2, 4: "</s>"}).attend == {0: 1, 3: 2, 4: 2}

    def test_a_word_that_occurs_twice_needs_a_position(self):
        with pytest.raises(ConfigError, match=r"step 1: 'the' is at positions 0, 3 and 5; give the position"):
            encode("the dog sees the cat the", attend={1: "the"})

    def test_a_missing_word_is_refused_with_the_nearest(self):
        with pytest.raises(ConfigError, match=r"step 0: 'dogs' is not in the source; did you mean 'dog'"):
            encode("the dog sees", attend={0: "dogs"})

    def test_a_position_beyond_the_end_is_refused_with_all_tokens(self):
        with pytest.raises(ConfigError, match=r"no position 3; the tokens are 0:the 1:dog 2:</s>"):
            encode("the dog", attend={0: 3})

    def test_a_word_of_several_tokens_needs_the_position_of_one(self):
        line = "abab a"
        assert PIECES.tokens(PIECES.encode(line)) == ["▁ab", "a", "b", "▁a"]
        with pytest.raises(
            ConfigError,
            match=r"step 7: 'abab' has several tokens \('▁ab' at 0, 'a' at 1, 'b' at 2\); give the pos",
        ):
            encode(line, PIECES, attend={7: "abab"})
        # a word before a piece of another, a piece by its own name
        assert encode(line, PIECES, attend={0: "a", 1: "▁ab", 2: 2}).attend == {0: 3, 1: 0, 2: 2}

    def test_an_unknown_word_is_resolved_by_its_spelling(self):
        assert encode("the zebra sees", attend={0: "zebra"}).attend == {0: 1}

    def test_a_negative_step_is_refused(self):
        with pytest.raises(ConfigError, match="step -1"):
            Intervention(attend={-1: "dog"})


class TestSwap:
    @pytest.mark.parametrize(
        ("swap", "line"),
        [
            ({"red": "blue"}, "the blue  dog and the dog"),
            ({1: "blue", 5: "cat"}, "the blue  dog and the cat"),
            ({"red": "big red"}, "the big red  dog and the dog"),
            ({"red": ""}, "the   dog and the dog"),
        ],
    )
    def test_words_are_swapped_and_white_space_stays(self, swap, line):
        given = "the red  dog and the dog"
        assert swap_words(given, Intervention(swap=swap).swaps_by_position(given)) == line

    def test_a_word_that_occurs_twice_needs_its_position(self):
        with pytest.raises(ConfigError, match=r"swap: 'dog' is at positions 1 and 3; give the position"):
            Intervention(swap={"dog": "cat"}).swaps_by_position("the dog or dog")

    def test_one_word_is_swapped_once(self):
        with pytest.raises(ConfigError, match=r"swap: word 1, 'dog', is swapped twice"):
            Intervention(swap={"dog": "cat", 1: "cow"}).swaps_by_position("the dog")

    def test_something_must_be_left(self):
        with pytest.raises(ConfigError, match="nothing is left of 'dog'"):
            swap_words("dog", {0: " "})


def test_constraints_are_encoded_by_the_target_tokenizer():
    forced = encode("the dog", constraints=Constraints("a red", ("cat",), ("the",)))
    assert forced.prefix == tuple(WORDS.encode("a red"))
    assert forced.include == (tuple(WORDS.encode("cat")),)
    assert forced.exclude == (tuple(WORDS.encode("the")),)
    with pytest.raises(ConfigError, match="cannot spell 'zebra'"):
        encode("the dog", constraints=Constraints("a zebra"))


def test_no_intervention_is_refused():
    with pytest.raises(ConfigError, match="no intervention; give attend, swap, prefix"):
        Intervention()
