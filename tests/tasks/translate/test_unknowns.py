import numpy as np
import pytest

from regard.errors import DataError
from regard.tasks.translate.result import Translation, read_dictionary, replace_unknowns


def make(text, tokens, target_words, alpha, **changes):
    """From "anna saw Kathmandu", its last word in two pieces that share what falls on it."""
    fields = {
        "source": "anna saw Kathmandu",
        "text": text,
        "source_tokens": ("anna", "saw", "Kath", "mandu", "</s>"),
        "tokens": tokens,
        "score": -0.2,
        "log_prob": -1.0,
        "token_log_probs": (-0.1,) * len(tokens),
        "alpha": None if alpha is None else np.array(alpha, dtype=np.float32),
        "source_words": (0, 1, 2, 2, None),
        "target_words": target_words,
    }
    return Translation(**{**fields, **changes})


ROWS = [
    [0.6, 0.1, 0.1, 0.1, 0.1],
    [0.1, 0.6, 0.1, 0.1, 0.1],
    [0.0, 0.4, 0.3, 0.3, 0.0],  # "saw" is the strongest token, "Kathmandu" the strongest word
    [0.0, 0.0, 0.0, 0.0, 1.0],
]


def saw(**changes):
    return make("anna vit <unk>", ("anna", "vit", "<unk>", "</s>"), (0, 1, 2, None), ROWS, **changes)


class TestReplace:
    def test_the_word_looked_at_most_is_copied_as_it_stands_in_the_line(self):
        assert replace_unknowns(saw()).text == "anna vit Kathmandu"

    def test_a_dictionary_goes_first(self):
        assert replace_unknowns(saw(), {"Kathmandu": "Katmandou", "saw": "scie"}).text == "anna vit Katmandou"

    def test_a_dictionary_in_lower_case(self):
        assert replace_unknowns(saw(), {"kathmandu": "Katmandou la grande"}).text == (
            "anna vit Katmandou la grande"
        )

    def test_nothing_else_changes(self):
        before = saw()
        after = replace_unknowns(before)
        assert (after.tokens, after.score, after.token_log_probs, after.links) == (
            before.tokens,
            before.score,
            before.token_log_probs,
            before.links,
        )
        assert after.alpha is before.alpha

    def test_alternatives_too(self):
        assert replace_unknowns(saw(alternatives=(saw(),))).alternatives[0].text == "anna vit Kathmandu"

    def test_a_word_with_an_unknown_piece_is_replaced_whole(self):
        rows = [ROWS[0], ROWS[2], ROWS[2], ROWS[3]]
        pieces = make("anna Kat<unk>", ("▁anna", "▁Kat", "<unk>", "</s>"), (0, 1, 1, None), rows)
        assert replace_unknowns(pieces).text == "anna Kathmandu"

    def test_a_character_model_keeps_its_blanks(self):
        tokens = ("a", "␣", "␣", "<unk>", "</s>")
        rows = [ROWS[0], ROWS[0], ROWS[0], ROWS[2], ROWS[3]]
        spelt = make("a  <unk>", tokens, (0, None, None, 1, None), rows)
        assert replace_unknowns(spelt).text == "a  Kathmandu"

    def test_a_known_word_stays(self):
        known = make("anna", ("anna", "</s>"), (0, None), [ROWS[0], ROWS[3]])
        assert replace_unknowns(known, {"anna": "Anne"}).text == "anna"

    def test_the_end_mark_is_no_word_to_copy(self):
        """Though it has nine tenths of the attention."""
        rows = [[0.0, 0.1, 0.0, 0.0, 0.9], ROWS[3]]
        assert replace_unknowns(make("<unk>", ("<unk>", "</s>"), (0, None), rows)).text == "saw"

    def test_a_look_at_nothing_but_the_end_mark_leaves_it(self):
        rows = [ROWS[3], ROWS[3]]
        assert replace_unknowns(make("<unk>", ("<unk>", "</s>"), (0, None), rows)).text == "<unk>"

    def test_without_attention_it_stays(self):
        assert replace_unknowns(make("<unk>", ("<unk>", "</s>"), (0, None), None)).text == "<unk>"

    def test_a_blank_line(self):
        assert replace_unknowns(Translation.blank("")).text == ""


class TestDictionary:
    def test_is_read(self, tmp_path):
        (tmp_path / "words").write_text("Wien\tVienna\n\nNew York\tNueva York\nWien\tno\n")
        assert read_dictionary(tmp_path / "words") == {"Wien": "Vienna", "New York": "Nueva York"}

    @pytest.mark.parametrize("line", ["Wien Vienna", "Wien\t", "\tVienna"])
    def test_a_line_that_is_no_entry(self, tmp_path, line):
        (tmp_path / "words").write_text(f"a\tb\n{line}\n")
        with pytest.raises(
            DataError, match=r"words:2: .* is not an entry of a dictionary; write a source word, a tab"
        ):
            read_dictionary(tmp_path / "words")
