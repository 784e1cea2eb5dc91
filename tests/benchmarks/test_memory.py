"""The benchmark of memory, at a small size."""

from benchmarks.memory import measure


def test_a_row_has_speed_memory_and_time():
    row = measure(300, updates=2, jobs=1, text_up_to=0)
    assert row[0] == "300"
    assert all(float(cell.replace(",", "")) > 0 for cell in row[1:5])
    assert row[5:] == ["–", "–"]
