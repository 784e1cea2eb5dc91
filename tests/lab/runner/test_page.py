"""The lab's pages: everything of a result is on them, nothing breaks them, and they refer to nothing outside."""

import dataclasses
import re
from html.parser import HTMLParser

import pytest

from regard.errors import DataError
from regard.lab.runner import Bench, CaptionedFigure, Check, Experiment, Finding, Table, Verdict
from regard.lab.runner.page import _is_number, format_number, minutes, write_overview, write_page
from regard.lab.runner.run import run_experiment
from regard.plots.figures.curves import Curve, Panel, draw_curves

VOID = {"meta", "img", "br"}


class Balanced(HTMLParser):
    """Fails on an element that is closed twice or never."""

    def __init__(self):
        super().__init__()
        self.open = []

    def handle_starttag(self, tag, attrs):
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open[-1:] == [tag]
        self.open.pop()


def measure(bench, sizes):
    figure = draw_curves([Panel([Curve("a", [0, 1], [0, 1])], "x", "y")])
    checks = [Check("kept", 91.25, "at least", 80, " %"), Check("lost", 30.0, "at most", 20)]
    return Finding(
        {"n": 1},
        Verdict(checks, "It keeps 91 % & more."),
        [
            CaptionedFigure("one", "First <caption>.", figure),
            CaptionedFigure("two", "Second caption.", figure),
        ],
        [Table("Of bands", ["words", "BLEU"], [["3–7 <w>", "12.5"], ["8–9", "−1.0"]])],
        ["A remark on <b>.", "From s_{t−1} and α_i < 1."],
    )


EXPERIMENT = Experiment(
    "tried",
    "A <title>",
    "It & they hold.",
    "Lecture 1",
    "How <it> went.",
    "This decides.",
    measure,
    usual=None,
    full=None,
    seconds=1,
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("lab") / "tried"


@pytest.fixture(scope="module")
def result(folder):
    return run_experiment(EXPERIMENT, Bench(folder), "regard lab tried")


@pytest.fixture(scope="module")
def page(result, folder):
    return (folder / "page.html").read_text(encoding="utf-8")


def test_everything_is_on_the_page(page):
    for said in (
        "A &lt;title&gt;",
        "It &amp; they hold.",
        "How &lt;it&gt; went.",
        "This decides.",
        "It keeps 91\N{NO-BREAK SPACE}% &amp; more.",
        "First &lt;caption&gt;.",
        "Second caption.",
        "3–7 &lt;w&gt;",
        "A remark on &lt;b&gt;.",
        "regard lab tried",
        "91.2 %",
        "at least 80 %",
        "at most 20",
        "held in part",
    ):
        assert said in page, said


def test_subscripts_are_set(page):
    assert "<p>From s<sub>t−1</sub> and α<sub>i</sub> &lt; 1.</p>" in re.sub("</sub><sub>", "", page)


def test_the_page_is_whole_html_and_refers_to_nothing_outside(page):
    parser = Balanced()
    parser.feed(page)
    assert parser.open == []
    sources = re.findall(r'(?:src|href)="([^"]{0,22})', page)
    assert len([s for s in sources if s.startswith("data:image/png;base64,")]) == 2
    assert not [s for s in sources if not s.startswith(("data:", "#"))]
    assert "default-src 'none'" in page


def test_figures_are_shown_at_half_their_pixels(page, folder):
    width = int.from_bytes((folder / "one.png").read_bytes()[16:20])
    assert f'width="{width // 2}"' in page


def test_numbers_are_aligned_right_and_words_left(page):
    assert '<td class="figure">12.5</td>' in page
    assert _is_number("−1.0")
    assert _is_number("12 ms")
    assert _is_number("–")
    assert not _is_number("17.0 (always)")
    assert not _is_number("dot")


def test_the_report_lists_every_experiment_and_counts_the_verdicts(result, folder):
    other = dataclasses.replace(result, title="Another", verdict={**result.verdict, "word": "not seen here"})
    path = folder.parent / "report.html"
    write_overview(path, [result, other], folder.parent, seconds=1100, jobs=2)
    report = path.read_text(encoding="utf-8")
    parser = Balanced()
    parser.feed(report)
    assert parser.open == []
    assert "2 experiments in 18.3 min, 2 at a time on a core each" in report
    assert "1 held in part, 1 not seen here" in report
    assert report.count('href="#tried"') == 2
    assert report.count('id="tried"') == 2
    assert report.index("Experiment 1") < report.index("Experiment 2")
    assert 'class="word unseen"' in report


def test_a_missing_figure_is_an_error(result, tmp_path):
    with pytest.raises(DataError, match=r"one\.png: cannot be read .* run the experiment again"):
        write_page(tmp_path / "page.html", result, tmp_path)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (0.8123, "0.812"),
        (-3.14159, "−3.14"),
        (250.4, "250"),
        (1234567.0, "1.2 × 10⁶"),
        (2e-15, "2.0 × 10⁻¹⁵"),
        (None, "–"),
        ("∞", "∞"),
    ],
)
def test_numbers_have_three_digits(value, text):
    assert format_number(value) == text


def test_durations_in_seconds_or_minutes():
    assert minutes(12.4) == "12 s"
    assert minutes(100) == "1.7 min"
