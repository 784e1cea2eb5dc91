import pytest

from regard.plots.figures.canvas import new_figure, save, whole_page
from regard.plots.figures.lettering import Lettering, scale, scale_width
from regard.plots.style import FULL


def test_nothing_is_mathematics_and_what_has_no_shape_is_marked(tmp_path):
    letters = Lettering.of(["$x^2$", "a\nb"], 10)
    figure = new_figure(3, 1)
    axes = whole_page(figure)
    letters.write(axes, 0.1, 0.5, "$x^2$")
    letters.write(axes, 1.1, 0.5, "a\nb", bold=True, colour="#ff0000")
    save(figure, tmp_path / "a.svg")
    written = (tmp_path / "a.svg").read_text()
    assert ">$x^2$</text>" in written
    assert ">a\N{REPLACEMENT CHARACTER}b</text>" in written
    assert axes.texts[1].get_weight() == "bold"
    assert axes.texts[1].get_color() == "#ff0000"


def test_letters_stand_on_their_baseline_at_their_place():
    letters = Lettering.of(["mmm"], 24)
    figure = new_figure(3, 3)
    axes = whole_page(figure)
    for align in ("left", "center", "right"):
        letters.write(axes, 1.5, 1.0, "mmm", align=align)
    letters.write(axes, 1.5, 2.0, "mmm", turned=True)
    figure.canvas.draw()
    left, centre, right, turned = (text.get_window_extent() for text in axes.texts)
    assert left.x0 == pytest.approx(150, abs=2)
    assert right.x1 == pytest.approx(150, abs=2)
    assert (centre.x0 + centre.x1) / 2 == pytest.approx(150, abs=2)
    assert left.y0 <= 200 < left.y1  # its box goes down as far as a p
    assert left.y0 == pytest.approx(200 - 0.21 * 24 / 72 * 100, abs=2)
    assert turned.y0 == pytest.approx(100, abs=2)
    assert turned.height > turned.width
    assert left.width / 100 == pytest.approx(letters.width("mmm"), rel=0.06)


def test_the_scale_runs_from_white_to_the_full_shade_and_says_where_it_ends(well_set):
    letters = Lettering.of(["weight"], 10)
    figure = new_figure(4, 1)
    axes = whole_page(figure)
    end = scale(axes, letters, 0.5, 0.5, "weight", end=0.3)
    assert end - 0.5 == pytest.approx(scale_width(letters, "weight", end=0.3))
    assert [text.get_text() for text in axes.texts] == ["weight", "0", "0.3"]
    strip = axes.images[0]
    colours = strip.to_rgba(strip.get_array())[0]
    assert tuple(colours[0][:3]) == (1, 1, 1)
    assert tuple(round(255 * part) for part in colours[-1][:3]) == tuple(bytes.fromhex(FULL[1:]))
    assert axes.get_xlim() == (0, 4)
    well_set(figure)
