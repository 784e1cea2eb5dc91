import re
from html import unescape

from hypothesis import given
from hypothesis import strategies as st

from regard.plots.page.report import word_diff

lines = st.lists(st.sampled_from(["le", "la", "chat", "<b>", "&"]), max_size=8).map(" ".join)


def test_what_the_other_side_lacks_is_marked():
    assert word_diff("le petit chat dort", "le chat noir dort") == (
        "le <ins>petit</ins> chat dort",
        "le chat <del>noir</del> dort",
    )


def test_neighbouring_words_share_a_mark():
    assert word_diff("a x y", "a") == ("a <ins>x y</ins>", "a")


@given(lines, lines)
def test_marks_add_and_take_nothing(translation, reference):
    ours, theirs = word_diff(translation, reference)
    assert unescape(re.sub("</?ins>", "", ours)) == translation
    assert unescape(re.sub("</?del>", "", theirs)) == reference
    left = " ".join(re.sub("<ins>.*?</ins>", "", ours).split())
    assert left == " ".join(re.sub("<del>.*?</del>", "", theirs).split())


@given(lines)
def test_equal_lines_have_no_marks(line):
    ours, theirs = word_diff(line, line)
    assert "<ins>" not in ours
    assert "<del>" not in theirs
