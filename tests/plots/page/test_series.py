from regard.plots.page.charts import Series, series

ROWS = [
    {"event": "train", "update": 1, "loss": 3.0},
    {"event": "validation", "update": 1, "loss": 2.5, "exact_match": 0.25},
    {"event": "train", "update": 2, "loss": float("nan")},
    {"event": "train", "update": 3},
    {"event": "train", "update": 4, "loss": None},
    {"event": "train", "loss": 9.0},
    {"event": "end", "update": 5, "loss": 1.0},
    {"event": "train", "update": 6, "loss": 1},
]


def test_picks_the_numbers_of_one_event():
    assert series(ROWS, "train", "loss") == Series((1.0, 6.0), (3.0, 1.0))


def test_scales():
    assert series(ROWS, "validation", "exact_match", scale=100) == Series((1.0,), (25.0,))


def test_what_was_never_noted_is_false():
    assert not series(ROWS, "validation", "bleu")
    assert series(ROWS, "train", "loss")
