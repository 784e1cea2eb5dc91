import numpy as np
import pytest

from regard.errors import FolderError
from regard.inference.shortlist import Shortlist, measure_coverage
from regard.text import EOS, UNK, EncodedPair


def make(target_size=20):
    """Source word 4 becomes 7 or 8, 5 becomes 9, the end mark 10; 11 and 12 are frequent."""
    words = {4: [8, 7], 5: [9], EOS: [10]}
    lists = [words.get(source, []) for source in range(7)]
    offsets = np.cumsum([0, *map(len, lists)])
    return Shortlist(
        offsets, np.concatenate(lists).astype(int), np.array([11, 12]), target_size, {"pairs": 3}
    )


def test_the_union_of_its_words():
    assert make().words_for([4, 6, 4]).tolist() == [UNK, EOS, 7, 8, 10, 11, 12]
    assert make().words_for([5]).tolist() == [UNK, EOS, 9, 10, 11, 12]


def test_words_that_are_asked_for_are_on_it():
    assert make().words_for([5], [(15, 9), (16,)]).tolist() == [UNK, EOS, 9, 10, 11, 12, 15, 16]


def test_saved_and_loaded_is_equal(tmp_path):
    path = make().save(tmp_path)
    assert path == tmp_path / "shortlist.safetensors"
    again = Shortlist.load(tmp_path, 7, 20)
    assert again.facts == {"pairs": 3}
    for source in range(7):
        assert again.words_for([source]).tolist() == make().words_for([source]).tolist()


class TestBadFiles:
    def test_none(self, tmp_path):
        with pytest.raises(FolderError, match="it has no shortlist yet; make one with `regard shortlist`"):
            Shortlist.load(tmp_path, 7, 20)

    def test_damaged(self, tmp_path):
        path = make().save(tmp_path)
        path.write_bytes(path.read_bytes()[:-8])
        with pytest.raises(FolderError, match=r"damaged: .*make it again"):
            Shortlist.load(tmp_path, 7, 20)

    def test_of_another_model(self, tmp_path):
        make().save(tmp_path)
        with pytest.raises(
            FolderError, match="made for vocabularies of 7 and 20 words, and the model has 7 and 21"
        ):
            Shortlist.load(tmp_path, 7, 21)


def test_coverage():
    pairs = [EncodedPair([4], [7, 11]), EncodedPair([5], [9, 13, 14, 12]), EncodedPair([], [7])]
    coverage = measure_coverage(make(), pairs)
    assert (coverage.tokens, coverage.sentences, coverage.num_pairs) == (4 / 6, 1 / 2, 2)
    assert coverage.mean_size == (7 + 6) / 2
    assert coverage.to_json()["covered_tokens"] == 4 / 6
