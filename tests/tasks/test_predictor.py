"""What all predictors share, with no model in it: order, blanks, streams, and the line that is too long."""

import pytest

from regard.errors import DataError
from regard.tasks.predictor import (
    TooLongError,
    predict_by_length,
    predict_stream,
    refuse_text,
    refuse_too_long,
)


def test_results_come_back_in_order_and_blanks_stay():
    batches = []

    def predict(members):
        batches.append(members)
        return [f"result {k}" for k in members]

    results = predict_by_length(
        predict, [2, 0, 9, 2, 0, 5], ["blank"] * 6, batch_sentences=2, batch_tokens=10
    )
    assert results == ["result 0", "blank", "result 2", "result 3", "blank", "result 5"]
    assert batches == [[2], [5, 0], [3]], "longest first, under both limits"


def test_a_stream_is_read_in_chunks_and_knows_the_line_numbers():
    calls = []

    def predict(lines, first_line):
        calls.append((list(lines), first_line))
        return lines

    assert list(predict_stream(predict, iter("abcde"), chunk=2)) == list("abcde")
    assert calls == [(["a", "b"], 1), (["c", "d"], 3), (["e"], 5)]


def test_the_lines_before_one_that_is_too_long_are_not_lost():
    def predict(lines, first_line):
        refuse_too_long(lines, [len(line) for line in lines], 2, first_line=first_line, name="file:")
        return lines

    predicted = predict_stream(predict, ["a", "b", "c", "d", "long", "e"], chunk=3)
    assert [next(predicted) for _ in range(4)] == ["a", "b", "c", "d"]
    with pytest.raises(TooLongError, match=r"^file:5 \('long' …\) has 4 tokens, above the limit of 2"):
        next(predicted)


def test_one_text_is_not_a_list_of_lines():
    refuse_text(["a"], "tag")
    with pytest.raises(DataError, match=r"tag takes a list of lines, not one text: tag\(\['a text'\]\)"):
        refuse_text("a text", "tag")
