from regard.datasets import Example
from regard.lab.measures.aligners import (
    LONG,
    MANY,
    REORDERING,
    WITHOUT,
    choose,
    in_words,
    most_crossing,
    where,
)
from regard.text import parse_pharaoh


def pair(source, target, gold):
    return Example(source, target, parse_pharaoh(gold, "here"))


PLAIN = pair("she eats .", "elle mange .", "0-0 1-1 2-2")
TURNED = pair("he sees them but not me", "il les voit mais moi pas", "0-0 1-2 2-1 3-3 4-5 5-4")
HELPED = pair("we will wash and will eat", "nous laverons et mangerons", "0-0 1?1 2-1 3-2 4?3 5-3")
MISSING = pair("she comes on Friday", "elle vient vendredi", "0-0 1-1 3-2")
LENGTHY = pair("because a cat that danced is bigger", "parce qu' un chat qui a dansé est plus grand",
               "0-0 0-1 1-2 2-3 3-4 4-5 4-6 5-7 6-8 6-9")  # fmt: skip
ALL = [PLAIN, TURNED, HELPED, MISSING, LENGTHY]


def test_each_is_the_first_of_its_kind():
    assert choose(ALL) == {REORDERING: 1, MANY: 2, WITHOUT: 3, LONG: 4}
    once = pair("he sees them", "il les voit", "0-0 1-2 2-1")
    assert choose([once, TURNED]) == {REORDERING: 1}, "two crossing words are few"
    assert choose([LENGTHY, *ALL]) == {REORDERING: 2, MANY: 3, WITHOUT: 4, LONG: 0}


def test_a_pair_is_shown_once_and_what_is_not_there_is_left_out():
    both = pair("he will see them on Sunday but will not hear me",
                "il les verra dimanche mais il ne moi entendra pas", "0-0 1?2 2-2 3-1 8-9 9-8 7?8 10-7")  # fmt: skip
    assert choose([both]) == {REORDERING: 0}, "it would do for the next two as well"
    assert choose([PLAIN]) == {}


def test_the_long_one_is_as_long_as_any():
    assert LONG not in choose([*ALL, pair("a b c d e f g h", "a b c d e f g h", "0-0")])


def test_where_to_look():
    assert where(REORDERING, TURNED) == "“sees them … not me” is “les voit … moi pas”"
    assert where(MANY, HELPED) == "“will wash” is “laverons”, “will eat” is “mangerons”"
    assert where(WITHOUT, MISSING) == "“on”"
    assert where(LONG, LENGTHY) == "“because” is “parce qu'”, “danced” is “a dansé”, “bigger” is “plus grand”"


def test_a_pair_in_words_can_be_read_again():
    told = in_words(HELPED)
    assert pair(told["source"], told["target"], told["gold"]) == HELPED


def test_the_first_with_the_most_crossing_words():
    few, more, same = (pair("a b c", "a b c", gold) for gold in ("0-1 1-0", "0-2 1-1 2-0", "0-2 2-0 1-1"))
    assert most_crossing([PLAIN, few, more, same]) == 2
