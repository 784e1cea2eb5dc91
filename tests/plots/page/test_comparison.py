import pytest

from regard.plots.page.comparison import format_p_value


@pytest.mark.parametrize(
    ("p", "written"),
    [(0.0, "< 0.001"), (0.0001, "< 0.001"), (0.0005, "0.001"), (0.042, "0.042"), (1, "1.000")],
)
def test_a_small_p_value_is_not_0(p, written):
    assert format_p_value(p) == written
