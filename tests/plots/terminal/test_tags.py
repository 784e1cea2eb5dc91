from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from regard.plots.colours import tag_colours
from regard.plots.terminal.words import TerminalTagging
from regard.tasks.tag.result import Tagging

BIRDS = Tagging(("two", "herons", "fly", "."), ("NUM", "NOUN", "VERB", "PUNCT"), (1.0, 0.9, 0.4, 1.0))


def test_tags_are_below_their_words_and_doubtful_ones_have_a_question_mark(plain):
    assert plain(TerminalTagging(BIRDS)) == ["two herons fly   .", "NUM NOUN   VERB? PUNCT"]


def test_both_rows_wrap_together(plain):
    assert plain(TerminalTagging(BIRDS), width=12) == ["two herons", "NUM NOUN", "", "fly   .", "VERB? PUNCT"]


@given(
    st.lists(
        st.tuples(st.sampled_from(["a", "図書館", "word"]), st.sampled_from(["N", "ADVERB"])),
        min_size=1,
        max_size=20,
    ),
    st.integers(8, 60),
)
def test_every_tag_begins_where_its_word_does(pairs, width):
    one = Tagging(tuple(word for word, _ in pairs), tuple(tag for _, tag in pairs), (1.0,) * len(pairs))
    console = Console(width=width)
    lines = list(TerminalTagging(one).__rich_console__(console, console.options))
    found = []
    for above, below in zip(lines[::3], lines[1::3], strict=True):
        assert max(above.cell_len, below.cell_len) <= width
        words, tags = starts(above.plain), starts(below.plain)
        assert list(words) == list(tags)
        found += zip(words.values(), tags.values(), strict=True)
    assert found == pairs


def starts(line):
    """The words of a line by the columns they begin at."""
    column, found = 0, {}
    for word in line.split(" "):
        if word:
            found[column] = word
        column += cell_len(word) + 1
    return found


def test_with_colour_each_tag_has_its_background(coloured):
    for colours in (None, {"NUM": "#010203"}):
        red, green, blue = bytes.fromhex((colours or tag_colours(BIRDS.tags))["NUM"][1:])
        assert f"48;2;{red};{green};{blue}mNUM" in coloured(TerminalTagging(BIRDS, colours))


def test_nothing_draws_nothing_but_a_line(plain):
    assert "".join(plain(TerminalTagging(Tagging((), (), ())))) == ""
