import dataclasses
import re
from html import unescape
from html.parser import HTMLParser

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.errors import DataError
from regard.evaluation.metrics import METRICS, TextMetric, per_cent
from regard.plots.page import Report, ShownTranslation, render_report, write_report
from regard.plots.page.report import text_diff
from regard.tasks.translate.result import Translation
from regard.text.links import GoldLinks

EVIL = "<script>alert('&')</script>"


def translation(text="le chat noir", **changes):
    words = (0, 1, 2, None)
    fields = {
        "source": "the black cat", "text": text, "source_tokens": ("the", "black", "cat", "</s>"),
        "tokens": ("le", "chat", "noir", "</s>"), "score": -0.25, "log_prob": -1.0,
        "token_log_probs": (-0.25,) * 4, "alpha": np.eye(4)[[0, 2, 1, 3]], "source_words": words,
        "target_words": words,
    }  # fmt: skip
    return Translation(**{**fields, **changes})


LOG = [
    {"event": "train", "update": 100, "loss": 2.0, "learning_rate": 0.001},
    {"event": "train", "update": 200, "loss": 1.0, "learning_rate": 0.001},
    {"event": "validation", "update": 200, "loss": 0.9, "bleu": 50.0, "token_accuracy": 0.8,
     "free_running_accuracy": 0.7, "exact_match": 0.4, "chrf": 60.0},
]  # fmt: skip
FULL = Report(
    title="Microworld",
    subtitle="A small model.",
    command="regard demo microworld",
    scores={"bleu": 97.31, "exact_match": 0.934, "aer": 0.087, "train_seconds": 134.2, "chrf": 98.9},
    signatures={"bleu": "nrefs:1|tok:none"},
    log=LOG,
    by_length={
        "1–5": {"num_sentences": 41, "bleu": 97.0, "exact_match": 0.95, "perplexity": 1.31},
        "6–10": {"num_sentences": 7, "bleu": 61.2, "exact_match": 0.5, "perplexity": 2.46, "aer": 0.123},
    },
    shown=[
        ShownTranslation(
            "the black cat",
            "le chat gris",
            translation(alternatives=(translation("le noir chat", score=-0.5),)),
            GoldLinks(frozenset({(0, 0)}), frozenset({(2, 1)})),
        ),
        ShownTranslation("the black cat", "le chat noir", translation(alpha=None)),
        ShownTranslation("", None, Translation.blank("")),
    ],
    details={"cell": "GRU", "parameters": 912384},
    extra_scores={"long": {"bleu": 88.0}, "unseen": {"bleu": 94.1, "exact_match": 0.87}},
)


class Checker(HTMLParser):
    """Checks that tags nest, and collects text, tags and attributes."""

    def __init__(self):
        super().__init__()
        self.open, self.tags, self.attributes, self.text = [], [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def check(page):
    checker = Checker()
    checker.feed(page)
    checker.close()
    assert checker.open == []
    return checker


def test_all_parts_are_there():
    checker = check(render_report(FULL))
    text = " ".join("".join(checker.text).split())
    for piece in (
        "Microworld", "A small model.", "97.3", "93.4 %", "alignment error rate", "2 min 14 s",
        "nrefs:1|tok:none",
        "Further test sets", "87.0 %", "nats per prediction", "Quality, free-running", "Token accuracy",
        "Learning rate", "Quality by length", "6–10", "Translations", "le noir chat", "−0.500", "exact match",
        "912,384", "regard demo microworld",
    ):  # fmt: skip
        assert piece in text, piece
    assert text.count("exact match · score −0.250") == 1
    assert checker.tags.count("article") == 3
    assert checker.tags.count("svg") == 5
    assert checker.tags.count("ins") == checker.tags.count("del") == 1
    assert ("class", "sure") in checker.attributes
    assert ("class", "possible") in checker.attributes


def test_a_score_that_rounds_to_0_has_no_sign():
    near = translation(score=-0.0001, log_prob=-0.0004)
    checker = check(render_report(dataclasses.replace(FULL, shown=[ShownTranslation("x", None, near)])))
    assert "score 0.000 · log-probability 0.00" in " ".join("".join(checker.text).split())


def test_bands_of_length_show_all_their_scores():
    page = render_report(FULL)
    table = page.split("Quality by length")[1].split("<table")[1].split("</table>")[0]
    cells = [re.findall(r"<t[hd](?: [^>]*)?>(.*?)</t[hd]>", row) for row in table.split("</tr>")]
    assert cells[:3] == [
        ["source", "sentences", "BLEU", "exact match", "perplexity", "alignment error rate"],
        ["1–5 words", "41", "97.0", "95.0\N{NO-BREAK SPACE}%", "1.31", "–"],
        ["6–10 words", "7", "61.2", "50.0\N{NO-BREAK SPACE}%", "2.46", "12.3\N{NO-BREAK SPACE}%"],
    ]


def test_the_charts_read_the_table_of_metrics(monkeypatch):
    def names(page, title):
        chart = page.split(f"<b>{title}</b>")[1].split("</figure>")[0]
        return re.findall('class="key (\\w+)">(.*?)</span>', chart)

    usual = [("first", "BLEU"), ("third", "chrF"), ("second", "exact match (%)")]
    assert names(render_report(FULL), "Quality, free-running") == usual
    by_length = [("first", "BLEU"), ("second", "exact match (%)"), ("bars", "sentences")]
    assert names(render_report(FULL), "BLEU and exact match") == by_length
    half = TextMetric("half", per_cent, "higher", lambda *lines: 0.5, in_validation=True, by_length="chart")
    monkeypatch.setitem(METRICS, "half", half)
    bands = {name: {**scores, "half": 0.5} for name, scores in FULL.by_length.items()}
    page = render_report(dataclasses.replace(FULL, log=[{**LOG[-1], "half": 0.5}], by_length=bands))
    assert ("third", "half (%)") in names(page, "BLEU and exact match and half")
    assert ("third", "half (%)") in names(page, "Quality, free-running")
    assert ("fourth", "chrF") in names(page, "Quality, free-running")
    assert "half (%): 50" in page


def test_length_bins_without_a_charted_metric_keep_their_table():
    bands = {"1–5": {"num_sentences": 3, "perplexity": 1.5}}
    page = render_report(Report(title="T", subtitle="s", command="", scores={}, by_length=bands))
    assert "<table" in page
    assert "<svg" not in page


def test_a_single_word_shows_its_tokens_without_gold_links_between_words():
    spelt = translation("lcn", target_words=(0, 0, 0, None))
    gold = GoldLinks(frozenset({(0, 0)}))
    page = render_report(
        dataclasses.replace(FULL, shown=[ShownTranslation("the black cat", None, spelt, gold)])
    )
    assert re.findall('scope="row" dir="auto">(.*?)</th>', page) == ["le", "chat", "noir", "&lt;/s&gt;"]
    assert ("class", "sure") not in check(page).attributes


def test_refers_to_nothing_outside():
    page = render_report(FULL)
    checker = check(page)
    assert not {"link", "img", "iframe", "object"} & set(checker.tags)
    assert not {"src", "href", "srcset", "action"} & {name for name, _ in checker.attributes}
    assert not re.search(r"url\(|@import|https?:|//[a-z]", page)


def test_everything_is_escaped():
    row = {"event": EVIL, "update": 1, "loss": 1.0}
    hostile = translation(
        text=EVIL, source=EVIL, source_tokens=(EVIL,) * 3 + ("</s>",), tokens=(EVIL,) * 3 + ("</s>",),
        alternatives=(translation(EVIL),),
    )  # fmt: skip
    report = Report(
        title=EVIL, subtitle=EVIL, command=EVIL, scores={EVIL: EVIL}, signatures={EVIL: EVIL},
        log=[row, *LOG],
        by_length=FULL.by_length, shown=[ShownTranslation(EVIL, EVIL + " x", hostile)], details={EVIL: EVIL},
        extra_scores={EVIL: {EVIL: 1.0}},
    )  # fmt: skip
    page = render_report(report)
    assert EVIL not in page
    assert check(page).tags.count("script") == 1


def test_what_is_empty_is_left_out():
    page = render_report(Report(title="T", subtitle="s", command="", scores={}))
    checker = check(page)
    assert not {"section", "svg", "table"} & set(checker.tags)


def test_writes_the_page(tmp_path):
    path = tmp_path / "report.html"
    write_report(path, FULL)
    assert path.read_text(encoding="utf-8") == render_report(FULL)
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_a_lone_surrogate_is_replaced(tmp_path):
    write_report(tmp_path / "report.html", dataclasses.replace(FULL, subtitle="broken \ud800 text"))
    assert "broken ? text" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_a_folder_that_is_missing_is_named(tmp_path):
    with pytest.raises(DataError, match=r"gone/report\.html: cannot be written \(No such file"):
        write_report(tmp_path / "gone" / "report.html", FULL)


lines = st.lists(st.sampled_from(["le", "la", "chat", "<b>", "&"]), max_size=8).map(" ".join)


def test_what_the_other_side_lacks_is_marked():
    assert text_diff("le petit chat dort", "le chat noir dort") == (
        "le <ins>petit</ins> chat dort",
        "le chat <del>noir</del> dort",
    )


def test_characters_are_marked_one_by_one():
    assert text_diff("adurien", "adurid", by_character=True) == (
        "aduri<ins>en</ins>",
        "aduri<del>d</del>",
    )


def test_neighbouring_words_share_a_mark():
    assert text_diff("a x y", "a") == ("a <ins>x y</ins>", "a")


@given(lines, lines)
def test_marks_change_no_word(translation, reference):
    ours, theirs = text_diff(translation, reference)
    assert unescape(re.sub("</?ins>", "", ours)) == translation
    assert unescape(re.sub("</?del>", "", theirs)) == reference
    left = " ".join(re.sub("<ins>.*?</ins>", "", ours).split())
    assert left == " ".join(re.sub("<del>.*?</del>", "", theirs).split())


@given(lines)
def test_equal_lines_have_no_marks(line):
    ours, theirs = text_diff(line, line)
    assert "<ins>" not in ours
    assert "<del>" not in theirs
