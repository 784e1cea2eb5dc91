import re

import numpy as np
import pytest

from regard.evaluation.alignment import AlignmentEvaluation, SoftLinks
from regard.plots.page.alignment import AlignmentPage, render_alignment, write_alignment_page
from regard.text.links import GoldLinks

SOURCE, TARGET = ("the", "<b>", "house"), ("la", "maison")
GOLD = GoldLinks(frozenset({(0, 0), (2, 1)}), frozenset({(1, 1), (0, 1)}))
WEIGHTS = np.array([[0.7, 0.2, 0.0], [0.0, 0.4, 0.3]])


def soft(*links):
    return SoftLinks(WEIGHTS, frozenset(links))


def page(gold=GOLD, other=None, source=SOURCE, alignment=None):
    evaluation = AlignmentEvaluation()
    found = {"forward": alignment or soft((0, 0), (1, 0), (1, 1))}
    evaluation.add(source, TARGET, found, gold, None if other is None else ("other", other))
    return AlignmentPage(
        "A <title>",
        "subtitle",
        "regard align --gold g",
        evaluation.rows,
        evaluation.num_sentences,
        evaluation.num_differing,
        evaluation.worst,
    )


def shown(contents):
    """The page with plain blanks."""
    return render_alignment(contents).replace("\N{NO-BREAK SPACE}", " ")


def test_scores_sentences_and_errors_in_words():
    assert "house\N{NO-BREAK SPACE}–\N{NO-BREAK SPACE}maison" in render_alignment(page())
    rendered = shown(page())
    text = re.sub(r"<[^>]*>", " ", rendered.split("</style>")[1])
    for piece in (
        "alignment error rate", "40.0 %", "66.7 %", "alignment F1",
        "1 of 1 pairs have errors", "&lt;b&gt; – la", "house – maison", "regard align --gold g",
        "pair 1 · alignment error rate 40.0", "A &lt;title&gt;",
    ):  # fmt: skip
        assert piece in text, piece
    assert 'wrong</dt><dd dir="auto">&lt;b&gt; – la</dd>' in rendered
    assert 'missed</dt><dd dir="auto">house – maison</dd>' in rendered


def test_gold_outlines_and_marks():
    table = render_alignment(page()).split("<tbody>")[2].split("</tbody>")[0]
    cells = re.findall(r'<td(?: class="(.*?)")?', table)
    assert cells == ["sure hit", "wrong", "", "possible", "possible hit", "sure missed"]


def test_two_alignments_beside_each_other():
    """Both marked by the gold links; without any, all links are alike."""
    rendered = shown(page(other=soft((0, 0), (2, 1))))
    assert rendered.count('class="map"') == 2
    assert "Pairs that differ most" in rendered
    assert 'only forward</dt><dd dir="auto">&lt;b&gt; – la · &lt;b&gt; – maison' in rendered
    assert 'only other</dt><dd dir="auto">house – maison' in rendered
    assert "alignment error rate of forward 40.0 %" in rendered
    assert "alignment error rate of other 0.0 %" in rendered
    rendered = shown(page(gold=None, other=soft((2, 1))))
    assert set(re.findall(r'<td class="(.*?)"', rendered)) == {"hit"}
    assert 'class="cell wrong"' not in rendered
    assert "3 links of forward · 1 links of other" in rendered


def test_no_errors_no_pictures():
    rendered = shown(page(alignment=soft((0, 0), (2, 1))))
    assert "<article" not in rendered
    assert "0.0 %" in rendered


@pytest.mark.parametrize(("num_words", "drawn", "wide"), [(20, 1, 0), (60, 1, 1), (20_000, 0, 0)])
def test_long_sentences_have_more_space_up_to_a_limit(num_words, drawn, wide):
    source = tuple("a" * num_words)
    rendered = render_alignment(
        page(source=source, alignment=SoftLinks(np.zeros((2, num_words)), frozenset()))
    )
    assert rendered.count('class="map"') == drawn
    assert rendered.count('class="wide"') == wide
    assert ("20,000 and 2 words, too many to draw" in rendered) == (not drawn)


def test_the_page_loads_nothing_else(tmp_path):
    write_alignment_page(tmp_path / "report.html", page())
    written = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert written == render_alignment(page())
    assert not re.search(r"""(?:src|href)=|url\(|@import""", written)
    assert "default-src 'none'" in written
