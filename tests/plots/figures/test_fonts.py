import pytest

from regard.plots.figures import lettering as fonts
from regard.plots.figures.canvas import new_figure
from regard.plots.figures.lettering import families_for, text_width, writable


def test_what_comes_with_matplotlib_is_always_there():
    assert "DejaVu Sans" in families_for(["plain words"])


def test_no_family_twice_and_none_for_nothing():
    families = families_for(["abc", "naïve", "→ ▁ ␣"])
    assert len(set(families)) == len(families) <= 2


def test_writable_keeps_what_a_font_has_and_marks_the_rest():
    families = families_for(["é\ue000\n"])
    assert writable("é", families) == "é"
    assert writable("«\N{NO-BREAK SPACE}é\N{SOFT HYPHEN}", families) == "« é"
    assert (
        writable("a\ue000b\nc", ("DejaVu Sans",)) == "a\N{REPLACEMENT CHARACTER}b\N{REPLACEMENT CHARACTER}c"
    )


def test_the_family_that_writes_most_of_what_is_missing_is_added(monkeypatch):
    glyphs = {
        "DejaVu Sans": "ab",
        "Few": "x",
        "Most": "xy",
        "Also Most": "xy",
        "Noto Sans Z": "z",
        "Ancient": "z\N{ZERO WIDTH JOINER}",
    }
    monkeypatch.setattr(fonts, "_installed", lambda: dict.fromkeys(glyphs))
    monkeypatch.setattr(
        fonts, "_covered", lambda family, characters: {c for c in characters if c in glyphs[family]}
    )
    assert families_for(["ab\N{ZERO WIDTH JOINER}"]) == ("DejaVu Sans",)  # no font for a joiner alone
    assert families_for(["axyzq"]) == ("DejaVu Sans", "Also Most", "Noto Sans Z")
    assert writable("axq", ("DejaVu Sans", "Most")) == "ax\N{REPLACEMENT CHARACTER}"


def test_width_grows_with_text_and_size():
    families = families_for(["mmmm"])
    assert text_width("mmmm", 10, families) == pytest.approx(4 * text_width("m", 10, families), rel=0.1)
    assert text_width("mmmm", 20, families) == pytest.approx(2 * text_width("mmmm", 10, families), rel=0.1)


def test_bold_is_wider():
    families = families_for(["gardener"])
    assert text_width("gardener", 12, families, bold=True) > text_width("gardener", 12, families)


def test_no_text_is_wider_than_measured_on_a_screen_or_in_a_file():
    families = families_for(["negative"])
    for size in (8.25, 9, 11, 12):
        figure = new_figure(4, 1)
        drawn = figure.text(0.1, 0.5, "negative", size=size, family=families)
        for dots_per_inch in (100, 200):
            figure.set_dpi(dots_per_inch)
            width = drawn.get_window_extent(figure.canvas.get_renderer()).width / dots_per_inch
            assert width <= text_width("negative", size, families) + 1 / dots_per_inch


def test_width_is_of_what_is_written():
    families = families_for(["$m$"])
    # no mathematics: the dollars are as wide as anywhere; a pixel of rounding a glyph
    assert text_width("$m$", 20, families) == pytest.approx(text_width("$$m", 20, families), abs=0.03)
    assert text_width("\ue000", 20, families) == text_width("\N{REPLACEMENT CHARACTER}", 20, families) > 0


def test_joiners_are_kept_where_a_font_has_them_and_else_dropped(monkeypatch):
    monkeypatch.setattr(fonts, "_covered", lambda family, characters: {c for c in characters if c in family})
    joined = "a\N{ZERO WIDTH JOINER}b"
    assert writable(joined, ["ab"]) == "ab"
    assert writable(joined, ["ab\N{ZERO WIDTH JOINER}"]) == joined
