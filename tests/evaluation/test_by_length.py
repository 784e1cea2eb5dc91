import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.errors import ConfigError, DataError
from regard.evaluation import METRICS, LengthBand, measure, measure_by_length
from regard.evaluation.quality import _automatic_bounds

WITHOUT_TER = METRICS.keys() - {"ter"}


def lines(lengths):
    return [" ".join(["w"] * length) for length in lengths]


@given(st.lists(st.integers(0, 90), min_size=1, max_size=25))
@settings(max_examples=40, deadline=None)
def test_every_sentence_falls_into_exactly_one_band(lengths):
    sources = lines(lengths)
    bands = measure_by_length(sources, sources, sources, metrics=WITHOUT_TER)
    for length in set(lengths):
        assert sum(band.lower <= length <= band.upper for band in bands) == 1
    for band in bands:
        assert band.num_sentences == sum(band.lower <= length <= band.upper for length in lengths) > 0
        assert band.quality.num_sentences == band.num_sentences
    assert sum(band.num_sentences for band in bands) == len(lengths)
    assert [band.lower for band in bands] == sorted(band.lower for band in bands)


@given(st.lists(st.integers(0, 5000), min_size=1, max_size=200))
@settings(max_examples=200)
def test_three_to_ten_bands_where_the_lengths_allow(lengths):
    bounds = _automatic_bounds(lengths)
    filled = {next(upper for upper in bounds if length <= upper) for length in lengths}
    distinct = len({max(length, 1) for length in lengths})
    assert min(distinct, 3) <= len(filled) <= 10


@pytest.mark.parametrize(
    ("lengths", "bands"),
    [
        (range(1, 31), [(1, 5), (6, 10), (11, 15), (16, 20), (21, 25), (26, 30)]),
        (range(1, 61), [(k + 1, k + 10) for k in range(0, 60, 10)]),
        ([4, 7, 9], [(3, 4), (7, 8), (9, 10)]),
        ([3, 4, 5], [(3, 3), (4, 4), (5, 5)]),
        ([7, 7], [(7, 7)]),
        ([0, 3, 8, 12], [(0, 5), (6, 10), (11, 15)]),
    ],
)
def test_automatic_bands(lengths, bands):
    sources = lines(lengths)
    found = measure_by_length(sources, sources, sources, metrics=WITHOUT_TER)
    assert [(band.lower, band.upper) for band in found] == bands


def test_given_edges_and_the_rest_beyond():
    sources = lines([1, 3, 4, 9, 40])
    bands = measure_by_length(sources, sources, sources, edges=[3, 6, 8], metrics=WITHOUT_TER)
    assert [(band.lower, band.upper, band.num_sentences) for band in bands] == [
        (1, 3, 2),
        (4, 6, 1),
        (9, 40, 2),
    ]


def test_a_band_is_measured_by_itself():
    sources = lines([2, 2, 7, 12])
    hypotheses, references = ["a b", "a c", "d e f g", "x"], ["a b", "a b", "d e f g", "y"]
    bands = measure_by_length(sources, hypotheses, references, tokenize="none", lowercase=True)
    assert bands[0] == LengthBand(
        1, 5, 2, measure(hypotheses[:2], references[:2], tokenize="none", lowercase=True)
    )
    assert [band.quality["exact_match"] for band in bands] == [0.5, 1.0, 0.0]
    assert bands[0].to_json() == {"lower": 1, "upper": 5, **bands[0].quality.to_json()}


def test_three_sides_of_one_length():
    with pytest.raises(DataError, match="2 sources, 1 hypotheses, 1 references"):
        measure_by_length(["a", "b"], ["a"], ["a"])


@pytest.mark.parametrize("edges", [[], [0, 5], [5, 5], [10, 5]])
def test_edges_must_ascend(edges):
    with pytest.raises(ConfigError, match="must ascend"):
        measure_by_length(["a"], ["a"], ["a"], edges=edges)
