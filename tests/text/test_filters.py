import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.errors import ConfigError, DataError
from regard.text import EncodedPair, FilterReport, Filters, Place


def pair(source, target, line=None):
    return EncodedPair([5] * source, [6] * target, None if line is None else Place("f", line))


def test_each_reason_is_counted_with_its_first_place():
    pairs = [
        pair(2, 2, 1),
        pair(0, 2, 2),
        pair(2, 0, 3),
        pair(5, 4, 4),
        pair(4, 5, 5),
        pair(4, 1, 6),
        pair(1, 4, 7),
        pair(2, 2, 8),
        pair(3, 1, 9),
        pair(0, 9, 10),
    ]
    kept, report = Filters(max_length=4, max_ratio=3, drop_duplicates=True).apply(pairs)
    assert kept == [pairs[0], pairs[8]]
    first = {"empty": "f:2", "too_long": "f:4", "odd_ratio": "f:6", "duplicates": "f:8"}
    assert report == FilterReport(2, empty=3, too_long=2, odd_ratio=2, duplicates=1, first=first)
    assert (report.total, report.removed) == (10, 8)
    assert report.sentences() == [
        "kept 2 of 10 pairs",
        "removed 3 pairs with an empty side (first at f:2)",
        "removed 2 pairs with a side above the length limit (first at f:4)",
        "removed 2 pairs with sides of too unequal length (first at f:6)",
        "removed 1 pair that occurred before (first at f:8)",
    ]
    assert str(report) == "; ".join(report.sentences())


def test_nothing_taken_out_is_said_in_one_sentence():
    assert Filters().apply([pair(1, 9)])[1].sentences() == ["kept 1 of 1 pair"]


def test_a_pair_without_a_place_is_counted_all_the_same():
    _, report = Filters().apply([pair(0, 1), pair(1, 1), pair(0, 1, 3)])
    assert report.sentences()[1] == "removed 2 pairs with an empty side (first at f:3)"


def test_duplicates_are_pairs_alike_on_both_sides():
    pairs = [EncodedPair([1], [2]), EncodedPair([1], [3]), EncodedPair([2], [2]), EncodedPair([1], [2])]
    assert Filters(drop_duplicates=True).apply(pairs)[0] == pairs[:3]
    assert Filters().apply(pairs)[0] == pairs
    # ids do not run over from one side into the other
    pairs = [EncodedPair([1], [2, 3]), EncodedPair([1, 2], [3])]
    assert Filters(drop_duplicates=True).apply(pairs)[0] == pairs


lengths = st.integers(0, 6)


@given(
    st.lists(st.tuples(lengths, lengths)),
    st.integers(1, 6),
    st.none() | st.floats(1, 4),
)
def test_kept_are_exactly_the_fit(sizes, max_length, max_ratio):
    pairs = [pair(1, 1), *(pair(a, b, n) for n, (a, b) in enumerate(sizes))]

    def fit(a, b):
        ratio_is_fine = max_ratio is None or (a <= max_ratio * b and b <= max_ratio * a)
        return a > 0 and b > 0 and a <= max_length and b <= max_length and ratio_is_fine

    kept, report = Filters(max_length, max_ratio).apply(pairs)
    assert kept == [p for p in pairs if fit(len(p.source_ids), len(p.target_ids))]
    assert report.kept == len(kept)
    assert report.total == len(pairs)


def test_an_empty_corpus_is_an_error():
    with pytest.raises(DataError, match="an empty corpus: no pair was read"):
        Filters().apply([])


def test_nothing_left_names_reasons_and_remedies():
    with pytest.raises(DataError) as caught:
        Filters(max_length=3, max_ratio=2).apply([pair(4, 4, 1), pair(1, 3, 2), pair(0, 0, 3)])
    message = str(caught.value)
    assert message.startswith(
        "an empty corpus: kept 0 of 3 pairs; removed 1 pair with an empty side (first at f:3)"
    )
    assert message.endswith(
        "; raise data.max_length (now 3) or raise data.max_ratio (now 2) or check that both sides hold text"
    )


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"max_length": 0}, "max_length is 0"),
        ({"max_ratio": 0.5}, "max_ratio is 0.5"),
        ({"max_ratio": float("nan")}, "max_ratio is nan"),
    ],
)
def test_impossible_limits(options, said):
    with pytest.raises(ConfigError, match=said):
        Filters(**options)
