import pytest

from regard.plots.colours import ACCENT
from regard.plots.figures import fonts
from regard.plots.figures.canvas import new_figure, page_axes, save
from regard.plots.figures.fonts import (
    Font,
    draw_scale,
    families_for,
    renderable,
    scale_width,
    text_width,
    uncovered,
)


def test_what_comes_with_matplotlib_is_always_there():
    assert "DejaVu Sans" in families_for(["plain words"])


def test_no_family_twice_and_none_for_nothing():
    families = families_for(["abc", "naïve", "→ ▁ ␣"])
    assert len(set(families)) == len(families) <= 2


def test_renderable_keeps_what_a_font_has_and_marks_the_rest():
    families = families_for(["é\ue000\n"])
    assert renderable("é", families) == "é"
    assert renderable("«\N{NO-BREAK SPACE}é\N{SOFT HYPHEN}", families) == "« é"
    assert (
        renderable("a\ue000b\nc", ("DejaVu Sans",)) == "a\N{REPLACEMENT CHARACTER}b\N{REPLACEMENT CHARACTER}c"
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
    monkeypatch.setattr(fonts, "_uncovered", set())
    assert families_for(["axyzq"]) == ("DejaVu Sans", "Also Most", "Noto Sans Z")
    assert renderable("axq", ("DejaVu Sans", "Most")) == "ax\N{REPLACEMENT CHARACTER}"
    assert uncovered() == "q"


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
    assert renderable(joined, ["ab"]) == "ab"
    assert renderable(joined, ["ab\N{ZERO WIDTH JOINER}"]) == joined


def test_nothing_is_mathematics_and_missing_glyphs_are_marked(tmp_path):
    font = Font.covering(["$x^2$", "a\nb"], 10)
    figure = new_figure(3, 1)
    axes = page_axes(figure)
    font.write(axes, 0.1, 0.5, "$x^2$")
    font.write(axes, 1.1, 0.5, "a\nb", bold=True, colour="#ff0000")
    save(figure, tmp_path / "a.svg")
    written = (tmp_path / "a.svg").read_text()
    assert ">$x^2$</text>" in written
    assert ">a\N{REPLACEMENT CHARACTER}b</text>" in written
    assert axes.texts[1].get_weight() == "bold"
    assert axes.texts[1].get_color() == "#ff0000"


def test_text_is_on_its_baseline_at_its_position():
    font = Font.covering(["mmm"], 24)
    figure = new_figure(3, 3)
    axes = page_axes(figure)
    for align in ("left", "center", "right"):
        font.write(axes, 1.5, 1.0, "mmm", align=align)
    font.write(axes, 1.5, 2.0, "mmm", turned=True)
    figure.canvas.draw()
    left, centre, right, turned = (text.get_window_extent() for text in axes.texts)
    assert left.x0 == pytest.approx(150, abs=2)
    assert right.x1 == pytest.approx(150, abs=2)
    assert (centre.x0 + centre.x1) / 2 == pytest.approx(150, abs=2)
    assert left.y0 <= 200 < left.y1  # its box goes down as far as a p
    assert left.y0 == pytest.approx(200 - 0.21 * 24 / 72 * 100, abs=2)
    assert turned.y0 == pytest.approx(100, abs=2)
    assert turned.height > turned.width
    assert left.width / 100 == pytest.approx(font.width("mmm"), rel=0.06)


def test_the_scale_runs_from_white_to_the_full_colour_and_says_where_it_ends(well_set):
    font = Font.covering(["weight"], 10)
    figure = new_figure(4, 1)
    axes = page_axes(figure)
    end = draw_scale(axes, font, 0.5, 0.5, "weight", end=0.3)
    assert end - 0.5 == pytest.approx(scale_width(font, "weight", end=0.3))
    assert [text.get_text() for text in axes.texts] == ["weight", "0", "0.3"]
    strip = axes.images[0]
    colours = strip.to_rgba(strip.get_array())[0]
    assert tuple(colours[0][:3]) == (1, 1, 1)
    assert tuple(round(255 * part) for part in colours[-1][:3]) == tuple(bytes.fromhex(ACCENT[1:]))
    assert axes.get_xlim() == (0, 4)
    well_set(figure)
