"""`Translator.nearest_words`: words by the cosine of their embeddings."""

from pathlib import Path

import numpy as np
import pytest

from regard import Translator
from regard.text.specials import SPECIALS

FOLDER = Path(__file__).parents[2] / "fixtures" / "format-2" / "translate"


@pytest.fixture(scope="module")
def translator():
    return Translator.load(FOLDER)


def test_the_words_are_those_with_the_greatest_cosines(translator):
    matrix = translator.models[0].encoder.embedding.E.detach().numpy()
    unit = matrix / np.linalg.norm(matrix, axis=1, keepdims=True)
    (word,) = translator.source_tokenizer.encode("Hund")
    cosines = unit @ unit[word]
    order = [k for k in np.argsort(-cosines) if k >= len(SPECIALS) and k != word]
    given = translator.nearest_words("Hund", 4)
    assert [name for name, _ in given] == translator.source_tokenizer.tokens(order[:4])
    assert [value for _, value in given] == pytest.approx(cosines[order[:4]].tolist(), abs=1e-5)


@pytest.mark.parametrize("word", ["der", "das", "Katze"])
def test_neither_the_word_itself_nor_a_special_symbol_is_near(translator, word):
    names = [name for name, _ in translator.nearest_words(word, 50)]
    assert word not in names
    assert not set(names) & set(SPECIALS)
    assert len(names) == translator.source_tokenizer.size - len(SPECIALS) - 1


@pytest.mark.parametrize("word", ["xyzzy", "", "der Hund"])
def test_what_is_no_word_of_the_vocabulary_has_no_neighbours(translator, word):
    assert translator.nearest_words(word) == []
