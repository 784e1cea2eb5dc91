"""Before and after an intervention: where they diverge, how attention moved, JSON, HTML, figures."""

import json

import numpy as np
import pytest

from regard.tasks.translate.result import Translation
from regard.tasks.translate.what_if import WhatIf


def translation(text, alpha, source="ein Hund </s>"):
    tokens = tuple(text.split())
    return Translation(
        source=source,
        text=text,
        source_tokens=tuple(source.split()),
        tokens=tokens,
        score=-0.5,
        log_prob=-1.5,
        token_log_probs=tuple(-0.5 for _ in tokens),
        alpha=None if alpha is None else np.array(alpha, np.float32),
        source_words=(*range(len(source.split()) - 1), None),
        target_words=(*range(len(tokens) - 1), None),
    )


BEFORE = translation("a dog </s>", [[0.9, 0.1, 0.0], [0.2, 0.8, 0.0], [0.0, 0.0, 1.0]])
AFTER = translation("a an dog </s>", [[0.9, 0.1, 0.0], [1.0, 0.0, 0.0], [0.2, 0.8, 0.0], [0.0, 0.0, 1.0]])


def test_where_they_diverge_and_how_attention_moved():
    result = WhatIf(BEFORE, AFTER, {1: 0})
    assert result.changed
    assert result.divergence == 1
    assert result.step_labels == ("a", "dog → an", "</s> → dog")
    np.testing.assert_allclose(
        result.alpha_difference, [[0, 0, 0], [0.8, -0.8, 0], [0.2, 0.8, -1]], atol=1e-6
    )
    assert result.unreached == ()
    assert WhatIf(BEFORE, AFTER, {1: 0, 4: 0, 9: 1}).unreached == (4, 9)


def test_the_same_words_do_not_diverge():
    same = WhatIf(BEFORE, BEFORE, {0: 0})
    assert not same.changed
    assert same.divergence is None


@pytest.mark.parametrize(
    "after", [translation("a dog </s>", None), translation("a </s>", [[0.5, 0.5], [0.0, 1.0]], "Hund </s>")]
)
def test_without_attention_or_with_a_longer_source_nothing_is_compared(after):
    result = WhatIf(BEFORE, after, swap={0: ""})
    assert result.alpha_difference is None
    assert result.to_json()["alpha_difference"] is None


def test_it_is_plain_json():
    result = json.loads(json.dumps(WhatIf(BEFORE, AFTER, {1: 0}, "a", {0: "ein"}).to_json()))
    assert result["attend"] == {"1": 0}
    assert result["prefix"] == "a"
    assert result["swap"] == {"0": "ein"}
    assert (result["before"]["text"], result["after"]["text"]) == (BEFORE.text, AFTER.text)
    assert result["alpha_difference"][1] == [0.8, -0.8, 0.0]
    assert (result["changed"], result["divergence"]) == (True, 1)


def test_a_notebook_shows_both_translations():
    page = WhatIf(BEFORE, AFTER, {1: 0})._repr_html_()
    assert page.startswith("<div>")
    assert page.endswith("</div>")
    assert page.count('class="map"') == 2
    assert "a dog" in page
    assert "a an dog" in page


class TestFigure:
    def test_two_maps_and_their_difference_with_forced_positions_outlined(self):
        figure = WhatIf(BEFORE, AFTER, {1: 0}).plot()
        before, after, moved, *keys = figure.axes
        assert [len(axes.patches) for axes in (before, after, moved)] == [0, 1, 0]
        assert len(keys) == 1, "the keys of weights and of differences stand in one strip"
        (box,) = after.patches
        assert box.get_xy() == pytest.approx((-0.42, 0.58)), "around column 0 of row 1"
        assert [text.get_text() for text in moved.get_yticklabels()] == ["a", "dog → an", "</s> → dog"]
        titles = [text.get_text() for text in figure.texts]
        assert titles == [
            "before: score −0.50",
            "after: score −0.50",
            "after minus before",
        ]

    def test_sources_of_two_lengths_have_no_difference(self):
        after = translation("a </s>", [[0.5, 0.5], [0.0, 1.0]], "Hund </s>")
        assert len(WhatIf(BEFORE, after, swap={0: ""}).plot().axes) == 3, "two maps and the key"

    def test_without_attention_there_are_two_lines(self, tmp_path):
        plain = translation("a dog </s>", None)
        figure = WhatIf(plain, plain, prefix="a").plot(tmp_path / "two.png")
        assert [text.get_text() for text in figure.texts] == [
            "before: score −0.50, a dog </s>",
            "after: score −0.50, a dog </s>",
        ]
        assert (tmp_path / "two.png").stat().st_size > 1000
