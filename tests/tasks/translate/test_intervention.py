"""What is asked for, in words: found where it stands once, refused with its places where it stands more often."""

import pytest

from regard.errors import ConfigError
from regard.tasks.translate.constraints import Constraints, Intervention, swapped
from regard.text import train_tokenizer

WORDS = train_tokenizer("word", ["the dog sees a red cat ."], size=20)
PIECES = train_tokenizer("bpe", ["ab ab ab a b"] * 3, size=9)


def encode(line, tokenizer=WORDS, **asked):
    return Intervention(**asked).encode(line, tokenizer.encode(line), tokenizer, WORDS)


class TestAttend:
    def test_a_word_is_found_where_it_stands(self):
        assert encode("the dog sees a cat .", attend={2: "dog", 5: "cat"}).attend == {2: 1, 5: 4}

    def test_a_position_is_one_of_a_token_and_the_end_mark_is_the_last(self):
        assert encode("the dog", attend={0: 1, 3: 2, 4: "</s>"}).attend == {0: 1, 3: 2, 4: 2}

    def test_a_word_that_stands_twice_needs_a_position(self):
        with pytest.raises(
            ConfigError, match=r"step 1: 'the' stands at positions 0, 3 and 5; give the position"
        ):
            encode("the dog sees the cat the", attend={1: "the"})

    def test_a_word_that_is_not_there_is_told_its_neighbour(self):
        with pytest.raises(ConfigError, match=r"step 0: 'dogs' is not in the source; did you mean 'dog'"):
            encode("the dog sees", attend={0: "dogs"})

    def test_a_position_beyond_the_end_is_told_what_there_is(self):
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

    def test_an_unknown_word_is_found_by_how_it_is_written(self):
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
    def test_words_are_swapped_and_blanks_stay(self, swap, line):
        given = "the red  dog and the dog"
        assert swapped(given, Intervention(swap=swap).places(given)) == line

    def test_a_word_that_stands_twice_needs_its_place(self):
        with pytest.raises(ConfigError, match=r"swap: 'dog' stands at positions 1 and 3; give the position"):
            Intervention(swap={"dog": "cat"}).places("the dog or dog")

    def test_one_word_is_swapped_once(self):
        with pytest.raises(ConfigError, match=r"swap: word 1, 'dog', is swapped twice"):
            Intervention(swap={"dog": "cat", 1: "cow"}).places("the dog")

    def test_something_must_be_left(self):
        with pytest.raises(ConfigError, match="nothing is left of 'dog'"):
            swapped("dog", {0: " "})


def test_constraints_are_spelt_by_the_target():
    asked = encode("the dog", constraints=Constraints("a red", ("cat",), ("the",)))
    assert asked.prefix == tuple(WORDS.encode("a red"))
    assert asked.include == (tuple(WORDS.encode("cat")),)
    assert asked.exclude == (tuple(WORDS.encode("the")),)
    with pytest.raises(ConfigError, match="cannot spell 'zebra'"):
        encode("the dog", constraints=Constraints("a zebra"))


def test_nothing_asked_is_refused():
    with pytest.raises(ConfigError, match="nothing is asked for; give attend, swap, prefix"):
        Intervention()
