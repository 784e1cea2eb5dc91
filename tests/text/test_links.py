import re
from itertools import islice, repeat

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.errors import ConfigError, DataError
from regard.text import links as module
from regard.text.links import (
    GoldLinks,
    LinkFormat,
    format_gold,
    format_pharaoh,
    parse_pharaoh,
    read_gold_links,
    read_links,
)

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


def test_gold_links_with_probabilities_can_be_members_of_sets():
    assert len({GoldLinks(frozenset({(0, 0)}), probabilities={(0, 0): 0.5}), GoldLinks(frozenset())}) == 2


@pytest.mark.parametrize(
    "piece", ["x", "1", "1-", "-1", "1-2-3", "1:2", "-1-2", "1.0-2", "1P2", "1--2", "1-2/", "1" * 5000 + "-1"]
)
def test_what_is_no_link_is_named_with_its_place(piece):
    with pytest.raises(DataError) as caught:
        parse_pharaoh(f"0-0 {piece} 1-1", "gold.txt:7")
    message = str(caught.value)
    assert message.startswith(f"gold.txt:7: {piece[:40]!r} is not a link; write source-target counted from 0")
    assert "as 0-0 1-2" in message
    assert "as 2?1" in message


@pytest.mark.parametrize("number", ["1.5", "-0.1", "nan", "inf", "x"])
def test_what_is_no_probability_is_named_with_its_place(number):
    with pytest.raises(
        DataError, match=f"f:1: '{number}' is not the probability of a link; write a number from"
    ):
        parse_pharaoh(f"0-0/{number}", "f:1")


def test_a_link_with_two_probabilities():
    assert parse_pharaoh("0-0/0.5 0-0/0.50", "f:1").probabilities == {(0, 0): 0.5}
    with pytest.raises(DataError, match=r"f:1: the link 0-0 has the probabilities 0.5 and 0.7; give it one"):
        parse_pharaoh("0-0/0.5 0?0/0.7", "f:1")


def test_links_are_written_by_target_and_then_by_source():
    assert format_pharaoh([(10, 0), (2, 1), (0, 2), (9, 1), (1, 0)]) == "1-0 10-0 2-1 9-1 0-2"
    assert format_pharaoh([]) == ""


def test_gold_is_written_in_the_same_order_with_its_marks():
    gold = GoldLinks(frozenset({(0, 1), (10, 0)}), frozenset({(2, 0), (0, 0)}), {(0, 1): 0.25})
    assert format_gold(gold) == "0?0 2?0 10-0 0-1/0.25"


@given(links, links)
def test_what_is_written_is_read_back(sure, possible):
    gold = GoldLinks(sure, possible)
    assert parse_pharaoh(format_gold(gold), "f:1") == gold
    assert parse_pharaoh(format_pharaoh(sure), "f:1") == GoldLinks(sure)


# Words that look like parts of the formats, and blanks of other scripts between them.
WORDS = st.sampled_from(
    ["a", "b", "A", "NULL", "({", "})", "1", "({1})", "#", "# Sentence pair (1)", "0-0", "é"]
)
LINES = st.lists(WORDS, max_size=5).map(
    lambda words: "\u3000".join(words) if len(words) == 2 else " ".join(words)
)


@st.composite
def linked_pairs(sample, *, possible=True, probabilities=True):
    """Sentences and links between their words."""
    pairs, gold = sample(st.lists(st.tuples(LINES, LINES), max_size=5)), []
    for source, target in pairs:
        num_source, num_target = len(source.split()), len(target.split())
        one = st.tuples(st.integers(0, max(num_source - 1, 0)), st.integers(0, max(num_target - 1, 0)))
        some = st.frozensets(one, max_size=6 if num_source and num_target else 0)
        sure, more = sample(some), sample(some) if possible else frozenset()
        chances = {}
        if probabilities and sample(st.booleans()):
            chances = {link: sample(st.floats(0, 1)) for link in sorted(sure | more)}
        gold.append(GoldLinks(sure, more, chances))
    return pairs, gold


def write(path, form, pairs, gold, first=1):
    text = [
        form.write(links, number, source.split(), target.split())
        for number, (links, (source, target)) in enumerate(zip(gold, pairs, strict=True), start=first)
    ]
    path.write_text("".join(text), encoding="utf-8")


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("links") / "links"


EVERY_ORDER = [(from_1, target_first) for from_1 in (False, True) for target_first in (False, True)]


class TestEveryFormatIsReadBackUnchanged:
    """In either order of the sides, with and without its name."""

    @pytest.mark.parametrize(("from_1", "target_first"), EVERY_ORDER)
    @given(linked=linked_pairs())
    def test_pharaoh(self, path, linked, from_1, target_first):
        pairs, gold = linked
        form = LinkFormat("pharaoh", from_1, target_first)
        write(path, form, pairs, gold)
        assert read_gold_links(path, pairs, form) == gold
        assert read_gold_links(path, pairs, LinkFormat("", from_1, target_first)) == gold

    @pytest.mark.parametrize("first", [0, 1])
    @pytest.mark.parametrize("target_first", [False, True])
    @given(linked=linked_pairs())
    def test_wa(self, path, linked, target_first, first):
        """Numbered from 1; from 0, where the first sentence has links."""
        pairs, gold = linked
        form = LinkFormat("wa", target_first=target_first)
        if first == 0 and not (gold and gold[0].possible):
            first = 1
        write(path, form, pairs, gold, first)
        assert read_gold_links(path, pairs, form) == gold
        if any(each.possible for each in gold):
            assert read_gold_links(path, pairs, LinkFormat(target_first=target_first)) == gold

    @given(linked=linked_pairs(), start=st.integers(2, 10_000))
    def test_wa_numbered_from_anything(self, path, linked, start):
        """Said by the numbers themselves where the first and the last sentence have links."""
        pairs, gold = linked
        kept = [k for k, each in enumerate(gold) if each.possible]
        if not kept:
            return
        pairs, gold = pairs[kept[0] : kept[-1] + 1], gold[kept[0] : kept[-1] + 1]
        write(path, LinkFormat("wa"), pairs, gold, start)
        assert read_gold_links(path, pairs) == gold

    @pytest.mark.parametrize("target_first", [False, True])
    @given(linked=linked_pairs(possible=False, probabilities=False))
    def test_giza(self, path, linked, target_first):
        pairs, gold = linked
        form = LinkFormat("giza", target_first=target_first)
        write(path, form, pairs, gold)
        assert read_gold_links(path, pairs, form) == gold
        assert read_gold_links(path, pairs, LinkFormat(target_first=target_first)) == gold

    def test_as_the_formats_are_known(self, path):
        gold = [
            GoldLinks(frozenset({(0, 0), (1, 2)}), frozenset({(1, 1)}), {(0, 0): 0.5}),
            GoldLinks(frozenset()),
        ]
        pairs = [("the house", "la grande maison"), ("yes", "oui oui")]
        write(path, LinkFormat(), pairs, gold)
        assert path.read_text() == "0-0/0.5 1?1 1-2\n\n"
        write(path, LinkFormat("pharaoh", from_1=True, target_first=True), pairs, gold)
        assert path.read_text() == "1-1/0.5 2?2 3-2\n\n"
        write(path, LinkFormat("wa"), pairs, gold)
        assert path.read_text() == "1 1 1 S 0.5\n1 2 2 P\n1 2 3 S\n"
        sure = [GoldLinks(each.sure, probabilities=each.probabilities) for each in gold]
        write(path, LinkFormat("giza"), pairs, sure)
        assert path.read_text() == (
            "# Sentence pair (1) source length 2 target length 3 alignment score : 0.5\n"
            "la grande maison\nNULL ({ 2 }) the ({ 1 }) house ({ 3 })\n"
            "# Sentence pair (2) source length 1 target length 2 alignment score : 1\n"
            "oui oui\nNULL ({ 1 2 }) yes ({ })\n"
        )
        write(path, LinkFormat("giza", target_first=True), pairs[:1], sure[:1])
        assert path.read_text().splitlines()[1:] == [
            "the house",
            "NULL ({ }) la ({ 1 }) grande ({ }) maison ({ 2 })",
        ]

    def test_giza_cannot_write_possible_links(self):
        with pytest.raises(ConfigError, match="it cannot mark links as possible; write pharaoh or wa"):
            LinkFormat("giza").write(GoldLinks(frozenset(), frozenset({(0, 0)})), 1, ["a"], ["b"])


SENTENCES = (("a b", "A B C"), ("c", "D"))


@pytest.fixture
def read(tmp_path):
    def read(text, form="", sentences=SENTENCES, notes=None):
        (tmp_path / "links").write_text(text)
        found = [] if notes is None else notes
        return read_gold_links(tmp_path / "links", sentences, LinkFormat.parse(form), found.append)

    return read


def fails(read, text, message, form="", sentences=SENTENCES):
    with pytest.raises(DataError) as caught:
        read(text, form, sentences)
    assert re.search(message, str(caught.value)), caught.value


class TestAFileOfLinks:
    """A line for each pair, and no link between words that are not there."""

    def test_the_last_words_can_be_linked(self, read):
        assert read("1-2 0?0\n\n") == [parse_pharaoh("1-2 0?0", ""), GoldLinks(frozenset())]

    @pytest.mark.parametrize("link", ["2-0", "0-3", "2?0", "0p3"])
    def test_a_link_beyond_its_sentences(self, read, link):
        """A file counted from 1, or with its sides the other way round."""
        fails(
            read,
            f"{link}\n0-0\n",
            r"links:1: the link \d-\d points beyond its sentences of 2 and 3 words; links count from 0 in Pharaoh .* "
            "unless its format says from-1 or target-source",
        )

    @pytest.mark.parametrize("link", ["3-1", "1-4", "3p1"])
    def test_a_link_beyond_its_sentences_counted_from_1(self, read, link):
        fails(read, f"{link}\n\n", r"links:1: the link \d-\d points beyond .* of 2 and 3 words", "from-1")

    def test_counted_from_1_with_the_target_first(self, read):
        assert read("3-2 1p1/0.5\n1-1\n", "from-1,target-source") == [
            GoldLinks(frozenset({(1, 2)}), frozenset({(0, 0)}), {(0, 0): 0.5}),
            GoldLinks(frozenset({(0, 0)})),
        ]

    def test_a_0_in_a_file_counted_from_1(self, read):
        fails(
            read,
            "1-1\n1-0\n",
            "links:2: the link 1-0 in a file that counts from 1; .* leave out from-1",
            "from-1",
        )

    def test_no_line_for_a_pair(self, read):
        fails(read, "0-0\n", "links: 1 lines of links for 2 pairs; give one line per pair, a blank")
        fails(read, "0-0\n", "links: 1 lines of links for more than 1 pairs; give", sentences=iter(SENTENCES))

    def test_more_lines_than_pairs(self, read):
        fails(read, "0-0\n0-0\n9-9\n", "links: 3 lines of links for 2 pairs; give one line per pair")

    def test_it_is_said_what_was_read(self, read):
        for text, form, printed in (
            ("0-0\n0-0\n", "", ["Pharaoh, counted from 0, source first"]),
            ("1-1\n1-1\n", "from-1", ["Pharaoh, counted from 1, source first"]),
            ("\n\n", "target-source", ["Pharaoh, counted from 0, target first"]),
            (
                "1-1\n\n",
                "",
                [
                    "Pharaoh, counted from 0, source first",
                    "no link has a 0; if it counts from 1, its format is from-1",
                ],
            ),
            (
                "1 1 1 S\n",
                "",
                ["NAACL 2003, source first, links of 1 sentences, numbered from 1; 1 have none"],
            ),
            (
                "7 1 0 S\n7 1 1\n8 1 1 P\n",
                "",
                [
                    "NAACL 2003, source first, links of 2 sentences, numbered from 7; 1 lines link a word to none"
                ],
            ),
            (
                "# Sentence pair (2)\nD\nNULL ({ }) c ({ 1 })\n",
                "",
                ["Giza, source first", "1 of 2 pairs are not in it; they have no links"],
            ),
        ):
            notes = []
            read(text, form, notes=notes)
            assert [note.partition("links: ")[2] for note in notes] == printed

    def test_pairs_are_read_as_far_as_the_links(self, tmp_path):
        """So a file as long as a corpus takes no memory."""
        (tmp_path / "links").write_text("0-0\n" * 3000)
        pairs = repeat(("a", "b"))
        assert len(list(islice(read_links(tmp_path / "links", pairs), 3000))) == 3000
        giza = "".join(f"# Sentence pair ({k})\nb\nNULL ({{ }}) a ({{ 1 }})\n" for k in range(1, 1001))
        (tmp_path / "links").write_text(giza)
        assert len(list(islice(read_links(tmp_path / "links", pairs), 1000))) == 1000

    def test_what_is_in_no_known_format(self, read):
        fails(
            read,
            "\nfoo bar\n",
            r"links:2: 'foo' is not a link; .* 0-0 1-2 \(Pharaoh\), 1 1 2 S \(NAACL\) or # Sent",
        )


class TestNAACL:
    def test_marks_and_probabilities_are_optional_and_order_is_free(self, read):
        text = "0002 1 1 P 0.5\n\n0001 2 3\n0001 1 1 0.25\n 0001\t1 1 P\n"
        assert read(text) == [
            GoldLinks(frozenset({(1, 2), (0, 0)}), probabilities={(0, 0): 0.25}),
            GoldLinks(frozenset(), frozenset({(0, 0)}), {(0, 0): 0.5}),
        ]

    def test_a_word_linked_to_the_empty_word_has_no_link(self, read):
        assert read("1 1 0 S\n1 0 1 S\n2 1 1 S\n") == [GoldLinks(frozenset()), GoldLinks(frozenset({(0, 0)}))]

    @pytest.mark.parametrize("numbers", [(1, 2), (0, 1), (5, 6), (38, 39)])
    def test_sentences_are_numbered_from_anything(self, read, numbers):
        first, second = numbers
        assert read(f"{second} 1 1 S\n{first} 2 2 S\n") == [
            GoldLinks(frozenset({(1, 1)})),
            GoldLinks(frozenset({(0, 0)})),
        ]

    def test_numbers_that_fit_start_from_1(self, read):
        assert read("2 1 1 S\n") == [GoldLinks(frozenset()), GoldLinks(frozenset({(0, 0)}))]

    def test_numbers_that_do_not_say_where_they_start(self, read):
        fails(
            read,
            "7 1 1 S\n",
            "links: its sentences are numbered from 7 to 7, and there are 2 pairs; number the sent",
        )

    def test_more_sentences_than_pairs(self, read):
        fails(
            read,
            "1 1 1 S\n3 1 1 S\n",
            "numbered from 1 to 3, and there are 2 pairs; give all pairs that it has links",
        )

    @pytest.mark.parametrize("line", ["1 3 1 S", "1 1 4 S", "2 1 2 P"])
    def test_a_link_beyond_its_sentences(self, read, line):
        fails(
            read,
            f"1 1 1 S\n{line}\n",
            rf"links:2: the link {line[:5]} points beyond its sentences of \d and \d words",
        )

    @pytest.mark.parametrize(
        "line", ["1 -1 1 S", "1 1", "1 1 1 X", "1 1 1 S x", "1.5 1 1 S", "1 1 1 S 0.5 9", "1" * 5000 + " 1 1"]
    )
    def test_what_is_no_link(self, read, line):
        fails(
            read,
            f"1 1 1 S\n{line}\n",
            r"links:2: .* is not a link of the NAACL format; .* perhaps a probability",
        )

    def test_a_probability_out_of_range(self, read):
        fails(
            read,
            "1 1 1 S 1.5\n",
            "links:1: '1.5' is not the probability of a link; write a number from 0 to 1",
        )

    def test_more_links_than_are_held_in_memory(self, read, monkeypatch):
        monkeypatch.setattr(module, "_MAX_LISTED", 2)
        fails(
            read,
            "1 1 1 S\n" * 3,
            "links:3: more than 2 links, and this format is held in memory; use Pharaoh or Giza",
        )


class TestGiza:
    PAIR = "# Sentence pair (1) source length 2 target length 3 alignment score : 1e-5\n"

    def test_as_giza_writes_it(self, read):
        """With a blank at the end of the line, and words in lower case."""
        text = self.PAIR + "a B c \nNULL ({ }) A ({ 1 3 }) b ({ 3 }) \n"
        assert read(text)[0] == GoldLinks(frozenset({(0, 0), (0, 2), (1, 2)}))

    def test_pairs_that_are_missing_have_no_links(self, read):
        assert read(self.PAIR.replace("1", "2", 1) + "D\nNULL ({ }) c ({ 1 })\n") == [
            GoldLinks(frozenset()),
            GoldLinks(frozenset({(0, 0)})),
        ]

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            (
                "A B C\nNULL ({ }) a ({ 4 }) b ({ })\n",
                r"links:3: a \(\{ 4 \}\) points beyond the sentence above it, of 3",
            ),
            ("A B C\nNULL ({ }) a ({ 0 }) b ({ })\n", r"links:3: a \(\{ 0 \}\) points beyond"),
            (
                "A B C\nNULL ({ }) a ({ -1 }) b ({ })\n",
                r"links:3: 'a \(\{ -1 \}\) b.* is not a word with the positions",
            ),
            ("A B C\na ({ 1 }) b ({ })\n", r"links:3: .* is not a word .*; write NULL \(\{ 2 \}\) word"),
            ("A B C\n", "links:1: '' is not a word with the positions"),
            ("", "links:1: '' is not a word with the positions"),
            ("A B C\nNULL ({ }) a ({ 1 }) b\n", "links:3: 'b' is not a word with the positions"),
            (
                "A B\nNULL ({ }) a ({ 1 }) b ({ })\n",
                "links:1: its words are not .* 'a b' and 'A B C'; give the text",
            ),
            (
                "a b\nNULL ({ }) A ({ 1 }) B ({ }) C ({ })\n",
                "the other way round: its format is target-source",
            ),
            (
                "A B C\nNULL ({ }) a ({ 1 }) b ({ })\nmore\n",
                "links:4: 'more' is not the first line of a sentence pair",
            ),
        ],
    )
    def test_what_does_not_fit(self, read, text, message):
        fails(read, self.PAIR + text, message)

    def test_sentences_the_other_way_round(self, read):
        fails(
            read,
            self.PAIR + "A B C\nNULL ({ }) a ({ 1 }) b ({ })\n",
            "round: leave out target-source",
            "target-source",
        )

    def test_pairs_out_of_order(self, read):
        pair = self.PAIR + "A B C\nNULL ({ }) a ({ 1 }) b ({ })\n"
        fails(read, pair + pair, "links:4: sentence pair 1 comes twice or too late; number the pairs from 1")
        fails(read, pair.replace("(1)", "(0)"), "links:1: sentence pair 0 comes twice or too late")

    def test_more_pairs_than_sentences(self, read):
        third = "# Sentence pair (3)\nx\nNULL ({ }) y ({ })\n"
        fails(
            read,
            self.PAIR + "A B C\nNULL ({ }) a ({ 1 }) b ({ })\n" + third,
            "links:4: sentence pair 3, and there are 2",
        )


class TestTheNameOfAFormat:
    def test_parts_in_any_order(self):
        assert LinkFormat.parse("") == LinkFormat()
        assert LinkFormat.parse("from-1, pharaoh") == LinkFormat("pharaoh", from_1=True)
        assert LinkFormat.parse("wa,target-source") == LinkFormat("wa", target_first=True)

    def test_what_is_no_part_of_a_format(self):
        with pytest.raises(
            ConfigError, match=r"--format phraoh: 'phraoh' is not part of .* did you mean 'pharaoh'\?"
        ):
            LinkFormat.parse("phraoh", "--format")
        with pytest.raises(ConfigError, match="a file has one format; leave one of pharaoh and wa"):
            LinkFormat.parse("pharaoh,wa")
        with pytest.raises(
            ConfigError, match=r"format = 'naacl': there is no such format; known: giza, pharaoh, wa"
        ):
            LinkFormat("naacl")

    def test_a_file_that_is_in_another_format_than_named(self, read):
        fails(read, "0-0\n\n", "links:1: '0-0' is not a link of the NAACL format", "wa")
        fails(read, "1 1 1 S\n\n", "links:1: '1' is not a link; write source-target", "pharaoh")
        fails(read, "0-0\n\n", "links:1: '0-0' is not the first line of a sentence pair", "giza")
