from benchmarks.decoding import VARIANTS, trained_model, variants, write_shortlist
from benchmarks.settings import SETTINGS

from regard.checkpoint import ModelFolder
from regard.inference.shortlist import Shortlist


def test_a_shortlist_has_the_words_opposite_and_next_to_them(toy, tmp_path):
    folder = trained_model(toy, tmp_path, threads=1)
    tokenizers = ModelFolder(folder).load("last").tokenizers
    source, target = tokenizers["source"], tokenizers["target"]
    shortlist = Shortlist.load(folder, source.size, target.size)
    train, _ = toy.corpus.pairs()
    first = next(pair for pair in train if len(pair[0].split()) == len(pair[1].split()) > 2)
    (source_ids,), (target_ids,) = source.encode_batch([first[0]]), target.encode_batch([first[1]])
    for position, opposite in ((0, target_ids[:2]), (1, target_ids[:3])):
        word = source_ids[position]
        candidates = shortlist.words[shortlist.offsets[word] : shortlist.offsets[word + 1]]
        assert {*opposite} <= {*candidates}
    assert len(shortlist.frequent) <= target.size


def test_a_shortlist_is_as_short_as_a_trained_one(toy, tmp_path, monkeypatch):
    folder = trained_model(toy, tmp_path, threads=1)
    monkeypatch.setattr("benchmarks.decoding.PER_WORD", 2)
    monkeypatch.setattr("benchmarks.decoding.FREQUENT", 3)
    write_shortlist(toy, folder)
    shortlist = Shortlist.load(folder, toy.vocabulary, toy.vocabulary)
    assert max(shortlist.offsets[1:] - shortlist.offsets[:-1]) == 2
    assert len(shortlist.frequent) == 3


def test_only_a_large_vocabulary_has_a_shortlist():
    assert variants(SETTINGS["mt"]) == [*VARIANTS]
    assert not any("shortlist" in name for name in variants(SETTINGS["char"]))
