"""What the tasks' data share: every option reaches the tokenizer, and a note says what is left out."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.errors import DataError
from regard.tasks.base import filter_by_length, train_text_tokenizer
from regard.tasks.config import TextTokenizerConfig


def test_every_option_reaches_the_tokenizer():
    lines = ["B b b", "a a", "c"]
    made = train_text_tokenizer(lines, TextTokenizerConfig(min_frequency=2))
    assert [made.tokens([k])[0] for k in range(4, made.size)] == ["a", "b"]
    assert train_text_tokenizer(lines, TextTokenizerConfig(text_size=5)).size == 5
    assert train_text_tokenizer(lines, TextTokenizerConfig(lowercase=True, text_size=5)).tokens([4]) == ["b"]
    assert train_text_tokenizer(lines, TextTokenizerConfig(text="char")).kind == "char"


@given(st.lists(st.text("ab", max_size=5)), st.integers(1, 5))
def test_all_are_kept_or_counted_in_a_note(texts, limit):
    fit = [text for text in texts if 0 < len(text) <= limit]
    blank, long = texts.count(""), sum(len(text) > limit for text in texts)
    if not fit:
        with pytest.raises(DataError) as caught:
            filter_by_length(texts, len, limit, what="words", unit="letters")
        account = f"of {len(texts)} training words {blank} are blank and {long} have more than {limit} letters; raise"
        assert account in str(caught.value)
        return
    kept, notes = filter_by_length(texts, len, limit, what="words", unit="letters")
    assert kept == fit
    blank_note = [f"training words: left out {blank} blank"] * bool(blank)
    note = f"training words: left out {long} of more than {limit} letters (data.max_length)"
    long_note = [note] * bool(long)
    assert notes == blank_note + long_note
