import re

import numpy as np

from regard.evaluation.alignment import LabelledAlpha
from regard.plots.page.report import attention_table
from regard.text.links import GoldLinks

WORDS = LabelledAlpha(np.array([[0.25, 0.75], [1e-4, 1.0]]), ("the <b>", "</s>"), ("le", "</s>"))


def test_each_weight_is_shade_and_text():
    table = attention_table(WORDS, None)
    assert '<td style="--a:0.25">0.25</td><td style="--a:0.75">0.75</td>' in table
    assert '<td></td><td style="--a:1.00">1.00</td>' in table  # what is next to nothing stays empty
    assert table.count("<tr>") == 3


def test_words_head_rows_and_columns():
    table = attention_table(WORDS, None)
    assert re.findall('scope="col"><span dir="auto">(.*?)</span>', table) == ["the &lt;b&gt;", "&lt;/s&gt;"]
    assert re.findall('scope="row" dir="auto">(.*?)</th>', table) == ["le", "&lt;/s&gt;"]


def test_gold_links_have_their_class():
    table = attention_table(WORDS, GoldLinks(frozenset({(0, 0)}), frozenset({(0, 1)})))
    assert '<td class="sure" style="--a:0.25">' in table
    assert '<td class="possible"></td>' in table
    assert table.count('class="sure"') == table.count('class="possible"') == 1
