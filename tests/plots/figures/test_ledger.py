import pytest
from matplotlib.colors import to_hex

from regard.errors import DataError
from regard.plots.figures.lookup import Block, Ledger, draw_ledgers
from regard.plots.style import shade

VECTOR = Block("k", [["1.00", "−2.50"], ["0.25", "4.00"]], "key")
WEIGHT = Block("a", [["0.20"], ["0.80"]], foot=["1.00"], shades=[0.2, 0.8], sign="→")


def texts(figure):
    return {text.get_text(): text for text in figure.axes[0].texts}


def test_numbers_of_a_row_stand_on_its_line_and_of_a_column_below_each_other():
    written = texts(draw_ledgers([Ledger(["one", "two"], [VECTOR, WEIGHT], chosen=1, foot="Σ")]))
    place = {name: text.get_position() for name, text in written.items()}
    for name, *cells in (("one", "1.00", "−2.50", "0.20"), ("two", "0.25", "4.00", "0.80")):
        assert all(place[cell][1] == place[name][1] for cell in cells if cell != "1.00")
    assert place["−2.50"][0] == place["4.00"][0] < place["0.20"][0] == place["0.80"][0]
    assert place["k"][1] < place["key"][1] < place["one"][1] < place["two"][1] < place["Σ"][1]
    assert place["k"][0] < place["→"][0] < place["a"][0]
    assert (written["two"].get_weight(), written["4.00"].get_weight()) == ("bold", "bold")
    assert (written["one"].get_weight(), written["−2.50"].get_weight()) == ("normal", "normal")


def test_weights_shade_their_ground():
    axes = draw_ledgers([Ledger(["one", "two"], [VECTOR, WEIGHT])]).axes[0]
    assert {shade(0.2), shade(0.8)} <= {to_hex(patch.get_facecolor()) for patch in axes.patches}


def test_vectors_have_brackets_and_numbers_have_none():
    assert len(draw_ledgers([Ledger(["one", "two"], [VECTOR])]).axes[0].lines) == 2
    assert not draw_ledgers([Ledger(["one", "two"], [WEIGHT])]).axes[0].lines


def test_ledgers_stand_apart():
    other = Block("q", [["3.00", "5.00"]])
    written = texts(draw_ledgers([Ledger(["one", "two"], [VECTOR]), Ledger(["three"], [other])]))
    at = {name: written[name].get_position()[1] for name in ("one", "two", "q", "three")}
    line = at["two"] - at["one"]
    assert at["three"] - at["q"] == pytest.approx(line)
    assert at["q"] - at["two"] > 2 * line


def test_nothing_is_cut_off():
    figure = draw_ledgers(
        [Ledger(["one", "two"], [VECTOR, WEIGHT], foot="Σ"), Ledger(["", ""], [VECTOR] * 3)]
    )
    width, height = figure.get_size_inches()
    renderer = figure.canvas.get_renderer()
    for text in figure.axes[0].texts:
        if text.get_text():
            box = text.get_window_extent(renderer)
            assert 0 <= box.x0 < box.x1 <= width * figure.dpi, text.get_text()
            assert 0 <= box.y0 < box.y1 <= height * figure.dpi, text.get_text()


def test_what_does_not_fit_is_told():
    with pytest.raises(DataError, match="at least one"):
        draw_ledgers([])
    with pytest.raises(DataError, match=r"block 'k': 2 rows of cells and 0 shades for 3 names"):
        draw_ledgers([Ledger(["a", "b", "c"], [VECTOR])])
    with pytest.raises(DataError, match=r"block 'k': rows of \[1, 2\] numbers"):
        draw_ledgers([Ledger(["a", "b"], [Block("k", [["1"], ["1", "2"]])])])
    with pytest.raises(DataError, match=r"2 rows of cells and 1 shades"):
        draw_ledgers([Ledger(["a", "b"], [Block("k", [["1"], ["2"]], shades=[0.5])])])
