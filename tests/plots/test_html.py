import re
from dataclasses import dataclass
from html.parser import HTMLParser

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.errors import DataError
from regard.plots.colours import cell_colour
from regard.plots.html import (
    Markup,
    attention_table,
    element,
    heatmap_html,
    join,
    link_key,
    stylesheet,
    table_html,
    tags_html,
    tree_html,
    words_html,
)
from regard.text.links import GoldLinks

ALPHA = np.array([[0.25, 0.75], [1e-4, 1.0]])
SOURCE, TARGET = ("the <b>", "</s>"), ("le", "</s>")


class Tags(HTMLParser):
    """Checks that every element that opens closes, and collects the text outside of style sheets."""

    def __init__(self, page):
        super().__init__()
        self.open, self.names, self.text = [], [], ""
        self.feed(page)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attributes):
        self.open.append(tag)
        self.names.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data if self.open[-1:] != ["style"] else ""


def test_each_weight_is_a_colour_and_a_number():
    table = attention_table(SOURCE, TARGET, ALPHA)
    first, second, full = map(cell_colour, (0.25, 0.75, 1))
    assert f'<td style="background:{first}">0.25</td><td style="background:{second}">0.75</td>' in table
    assert f'<td></td><td style="background:{full}">1.00</td>' in table  # a weight near 0 stays empty
    assert table.count("<tr>") == 3


def test_words_head_rows_and_columns():
    table = attention_table(SOURCE, TARGET, ALPHA)
    assert re.findall('scope="col"><span dir="auto">(.*?)</span>', table) == ["the &lt;b&gt;", "&lt;/s&gt;"]
    assert re.findall('scope="row" dir="auto">(.*?)</th>', table) == ["le", "&lt;/s&gt;"]


def test_gold_links_have_their_class():
    table = attention_table(SOURCE, TARGET, ALPHA, gold=GoldLinks(frozenset({(0, 0)}), frozenset({(0, 1)})))
    assert f'<td class="sure" style="background:{cell_colour(0.25)}">' in table
    assert '<td class="possible"></td>' in table
    assert table.count('class="sure"') == table.count('class="possible"') == 1


def test_predicted_links_are_marked_as_right_wrong_or_missed():
    alpha = np.array([[0.9, 0.0, 0.3], [0.0, 0.6, 0.0]])
    gold = GoldLinks(frozenset({(0, 0), (1, 0)}), frozenset({(1, 1), (0, 1)}))
    table = attention_table("abc", "xy", alpha, gold=gold, predicted={(0, 0), (1, 1), (2, 0)})
    cells = re.findall(r'<td(?: class="(.*?)")?(?: style=".*?")?>(.*?)</td>', table.split("<tbody>")[1])
    assert cells == [
        ("sure hit", "0.90 linked"),
        ("sure missed", "missed link"),
        ("wrong", "0.30 wrong link"),
        ("possible", ""),
        ("possible hit", "0.60 linked"),
        ("", ""),
    ]


def test_without_gold_links_none_is_wrong_and_with_empty_ones_all_are():
    links = {(0, 0), (1, 1)}
    for gold, mark in ((None, "hit"), (GoldLinks(frozenset()), "wrong")):
        table = attention_table(SOURCE, TARGET, ALPHA, gold=gold, predicted=links)
        assert re.findall('td class="(.*?)"', table) == [mark, mark]


def test_the_key_has_every_mark_and_outline():
    key = link_key(gold=True)
    assert re.findall('class="cell (.*?)"', key) == ["hit", "wrong", "sure missed", "sure", "possible"]
    assert "&lt;" not in key
    assert re.findall('class="cell (.*?)"', link_key(gold=False)) == ["hit"]
    for mark in ("hit", "wrong", "missed"):
        assert f".regard .{mark}::after" in stylesheet()


def test_alpha_of_another_shape_is_refused():
    with pytest.raises(DataError, match=r"shape \(2, 2\) for 1 target and 2 source"):
        heatmap_html(SOURCE, ("le",), ALPHA)


@dataclass
class Node:
    id: int
    parent: int | None
    token: str
    log_prob: float
    total: float
    score: float
    fate: str


NODES = [
    Node(0, None, "<a>", -0.1, -0.1, -0.1, "kept"),
    Node(1, None, "b", -2.0, -2.0, -2.0, "kept"),
    Node(2, 0, "</s>", -0.5, -0.6, -0.3, "finished"),
    Node(3, 1, "lost", -0.5, -2.5, -1.3, "pruned"),
]

PICTURES = {
    "heat map": heatmap_html(SOURCE, TARGET, ALPHA, caption="a < b"),
    "empty heat map": heatmap_html((), (), np.zeros((0, 0))),
    "tree": tree_html(NODES, attended=["<x>", "</s>"], caption="a < b"),
    "empty tree": tree_html([]),
    "words": words_html([(SOURCE, [0.2, 1.0])], caption="a < b"),
    "tags": tags_html(("<p>", "b"), ("DET", "X"), (0.9, 0.3)),
    "table": table_html(("a", "b"), [("<td>", "1")], caption="a < b"),
}


@pytest.mark.parametrize("name", PICTURES)
def test_each_picture_is_one_element_without_scripts_or_links(name):
    picture = PICTURES[name]
    tags = Tags(picture)
    assert picture.startswith('<div class="regard">')
    assert picture.endswith("</div>")
    assert "style" in tags.names
    assert not {"script", "link", "img", "a", "x", "p>"} & set(tags.names)
    assert "http" not in picture


def test_text_is_escaped():
    assert "a < b" in Tags(PICTURES["heat map"]).text
    assert {"<a>", "<x>"} <= set(re.findall(r"<\w>", Tags(PICTURES["tree"]).text))
    assert "<p>DET" in Tags(PICTURES["tags"]).text
    assert "X?" in Tags(PICTURES["tags"]).text


def test_a_heat_map_says_its_weights_on_hover():
    assert 'title="&lt;/s&gt; → le  0.75"' in PICTURES["heat map"]


def test_a_tree_marks_the_best_and_leaves_out_the_pruned_when_told():
    assert re.findall('class="best"[^>]*>(.*?)<', PICTURES["tree"]) == ["&lt;a&gt;", "&lt;/s&gt;"]
    assert ">lost<" in PICTURES["tree"]
    assert ">lost<" not in tree_html(NODES, pruned=False)
    assert len(re.findall('class="branch"', PICTURES["tree"])) == 2
    assert ">score −0.30<" in PICTURES["tree"]
    assert ">−0.10<" in PICTURES["tree"]  # log p of the others
    assert ">−2.50<" in PICTURES["tree"]


class Reader(HTMLParser):
    def __init__(self):
        super().__init__()
        self.seen = []

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.seen.append(data)


def read(markup):
    reader = Reader()
    reader.feed(markup)
    reader.close()
    return reader.seen


def test_text_is_escaped_and_markup_is_not():
    assert element("p", "a < b", element("b", "&")) == "<p>a &lt; b<b>&amp;</b></p>"
    assert join(["<", Markup("<br>")]) == "&lt;<br>"


def test_attributes():
    assert element("td", class_="x", aria_label='say "hi"', style=None, x=1.5) == (
        '<td class="x" aria-label="say &quot;hi&quot;" x="1.5"></td>'
    )


# HTML reads a carriage return as a line feed, and knows no null character
text = st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\r\0"), min_size=1)


@given(text, text)
def test_any_text_comes_back_as_text(child, value):
    (tag, attributes), *data = read(element("p", child, title=value))
    assert (tag, attributes) == ("p", {"title": value})
    assert "".join(data) == child


def test_right_to_left_words_keep_their_order_and_marks_their_form():
    page = words_html([(["שלום", "</s>"], [0.5, 0.1]), (["<s>", "peace", "שלום"], [0.5, 0.1, 0.2])])
    assert page.count('class="words" dir="rtl"') == page.count('class="words" dir="ltr"') == 1
    assert page.count('dir="auto">') == 5, "each word has its own direction, so that </s> is not turned round"
    assert 'class="tags" dir="rtl"' in tags_html(["שלום"], ["X"], [0.3])
    assert '<b dir="auto">שלום</b>' in tags_html(["שלום"], ["X"], [0.3])


def test_the_shades_of_tags_have_a_key():
    assert "probability of the tag 0" in tags_html(["a"], ["X"], [0.3])
