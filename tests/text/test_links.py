import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.errors import DataError
from regard.text.links import GoldLinks, format_gold, format_pharaoh, parse_pharaoh, read_gold_links

links = st.frozensets(st.tuples(st.integers(0, 120), st.integers(0, 120)), max_size=20)


def test_marks_of_sure_and_possible_links():
    gold = parse_pharaoh(" 0-0 1?2\t2p1  10-11\n", "f:1")
    assert gold.sure == {(0, 0), (10, 11)}
    assert gold.possible == {(0, 0), (10, 11), (1, 2), (2, 1)}


def test_a_blank_line_has_no_links():
    assert parse_pharaoh("", "f:1") == parse_pharaoh(" \n", "f:1") == GoldLinks(frozenset())


def test_a_link_named_both_ways_is_sure():
    assert parse_pharaoh("3?4 3-4", "f:1") == GoldLinks(frozenset({(3, 4)}))


def test_sure_links_are_possible_too():
    assert GoldLinks(frozenset({(0, 1)}), frozenset({(2, 3)})).possible == {(0, 1), (2, 3)}


@pytest.mark.parametrize("piece", ["x", "1", "1-", "-1", "1-2-3", "1:2", "-1-2", "1.0-2", "1P2", "1--2"])
def test_what_is_no_link_is_named_with_its_place(piece):
    with pytest.raises(DataError) as caught:
        parse_pharaoh(f"0-0 {piece} 1-1", "gold.txt:7")
    message = str(caught.value)
    assert message.startswith(f"gold.txt:7: {piece!r} is not a link; write source-target counted from 0")
    assert "as 0-0 1-2" in message
    assert "as 2?1" in message


def test_links_are_written_by_target_and_then_by_source():
    assert format_pharaoh([(10, 0), (2, 1), (0, 2), (9, 1), (1, 0)]) == "1-0 10-0 2-1 9-1 0-2"
    assert format_pharaoh([]) == ""


def test_gold_is_written_in_the_same_order_with_its_marks():
    gold = GoldLinks(frozenset({(0, 1), (10, 0)}), frozenset({(2, 0), (0, 0)}))
    assert format_gold(gold) == "0?0 2?0 10-0 0-1"


@given(links, links)
def test_what_is_written_is_read_back(sure, possible):
    gold = GoldLinks(sure, possible)
    assert parse_pharaoh(format_gold(gold), "f:1") == gold
    assert parse_pharaoh(format_pharaoh(sure), "f:1") == GoldLinks(sure)


class TestAFileOfLinks:
    """A line for each pair, and no link between words that are not there."""

    SENTENCES = (("a b", "A B C"), ("c", "D"))

    @pytest.fixture
    def links(self, tmp_path):
        def read(text):
            (tmp_path / "links").write_text(text)
            return read_gold_links(tmp_path / "links", self.SENTENCES)

        return read

    def test_the_last_words_can_be_linked(self, links):
        assert links("1-2 0?0\n\n") == [parse_pharaoh("1-2 0?0", ""), GoldLinks(frozenset())]

    @pytest.mark.parametrize("link", ["2-0", "0-3", "2?0", "0p3"])
    def test_a_link_beyond_its_sentences(self, links, link):
        """A file counted from 1, or with its sides the other way round."""
        with pytest.raises(
            DataError, match=r"links:1: the link \d-\d points beyond .* of 2 and 3 words; links count"
        ):
            links(f"{link}\n0-0\n")

    @pytest.mark.parametrize(("text", "count"), [("0-0\n", 1), ("0-0\n0-0\n9-9\n", 3)])
    def test_a_line_for_each_pair(self, links, text, count):
        with pytest.raises(
            DataError, match=f"links: {count} lines of links for 2 pairs; give one line per pair"
        ):
            links(text)
