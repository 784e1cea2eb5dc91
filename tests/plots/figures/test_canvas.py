import re
import sys

import numpy as np
import pytest

from regard.errors import ConfigError, DataError, MissingExtraError
from regard.plots.figures.canvas import new_figure, page_axes, save, style_axes
from regard.plots.figures.fonts import families_for


def test_without_matplotlib_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(
        MissingExtraError, match=r"drawing a picture needs matplotlib.*pip install matplotlib .*'plot'"
    ):
        new_figure(1, 1)


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_equal_pictures_are_equal_files(tmp_path, ending):
    for name in ("a", "b"):
        figure = new_figure(1, 1)
        figure.text(0.5, 0.5, "word")
        figure.add_axes((0.2, 0.2, 0.5, 0.5)).plot([0, 1])
        save(figure, tmp_path / f"{name}.{ending}")
    assert (tmp_path / f"a.{ending}").read_bytes() == (tmp_path / f"b.{ending}").read_bytes()


def test_the_extension_selects_the_format(tmp_path):
    figure = new_figure(1, 1)
    figure.text(0.1, 0.5, "word")
    save(figure, tmp_path / "a.PNG")
    save(figure, tmp_path / "bare")
    save(figure, tmp_path / "a.svg")
    assert (tmp_path / "a.PNG").read_bytes()[:4] == (tmp_path / "bare").read_bytes()[:4] == b"\x89PNG"
    assert ">word</text>" in (tmp_path / "a.svg").read_text()  # text stays text


def test_an_svg_keeps_the_gaps_of_a_key(tmp_path):
    figure = new_figure(1, 1)
    figure.text(0.1, 0.5, "bold: best    grey: <text kept>")
    save(figure, tmp_path / "a.svg")
    (element,) = re.findall("<text .*?</text>", (tmp_path / "a.svg").read_text())
    assert element.endswith(">bold: best    grey: &lt;text kept&gt;</text>")
    assert 'xml:space="preserve"' in element  # without it a viewer shows one blank


def test_an_unknown_extension_names_the_nearest(tmp_path):
    with pytest.raises(ConfigError, match=r"a\.pgn: .*did you mean 'png'\?"):
        save(new_figure(1, 1), tmp_path / "a.pgn")


def test_a_path_that_cannot_be_written_is_named(tmp_path):
    with pytest.raises(DataError, match="cannot be written"):
        save(new_figure(1, 1), tmp_path / "nowhere" / "a.png")


def test_page_axes_are_in_inches_from_the_upper_left_corner():
    figure = new_figure(4, 2)
    axes = page_axes(figure)
    figure.canvas.draw()
    corners = axes.transData.transform([(0, 0), (4, 2), (1, 0.5)])
    np.testing.assert_allclose(corners / figure.dpi, [(0, 2), (4, 0), (1, 1.5)], atol=1e-9)
    axes.plot([9, 10], [9, 10])
    assert axes.get_xlim() == (0, 4)


@pytest.mark.parametrize(
    ("grid", "lines"), [("x", (True, False)), ("y", (False, True)), ("both", (True, True))]
)
def test_styled_axes_have_two_sides_and_their_grid_lines(grid, lines):
    axes = new_figure(3, 2).add_axes((0.2, 0.2, 0.7, 0.7))
    families = families_for(["1"])
    style_axes(axes, families, grid=grid)
    assert {side for side, spine in axes.spines.items() if spine.get_visible()} == {"left", "bottom"}
    shown = tuple(
        any(line.get_visible() for line in axis.get_gridlines()) for axis in (axes.xaxis, axes.yaxis)
    )
    assert shown == lines
    assert all(label.get_family() == list(families) for label in axes.get_xticklabels())
