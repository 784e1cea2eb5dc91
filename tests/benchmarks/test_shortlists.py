from benchmarks.settings import SETTINGS
from benchmarks.shortlists import write_shortlist
from benchmarks.translating import VARIANTS, model_of, variants

from regard.checkpoint import ModelFolder
from regard.inference.shortlist import Shortlist


def test_a_word_keeps_what_stands_opposite_and_beside(toy, tmp_path):
    folder = model_of(toy, tmp_path, threads=1)
    tokenizers = ModelFolder(folder).load("last").tokenizers
    source, target = tokenizers["source"], tokenizers["target"]
    shortlist = Shortlist.load(folder, source.size, target.size)
    train, _ = toy.corpus.pairs()
    first = next(pair for pair in train if len(pair[0].split()) == len(pair[1].split()) > 2)
    (source_ids,), (target_ids,) = source.encode_batch([first[0]]), target.encode_batch([first[1]])
    for place, opposite in ((0, target_ids[:2]), (1, target_ids[:3])):
        word = source_ids[place]
        own = shortlist.words[shortlist.offsets[word] : shortlist.offsets[word + 1]]
        assert {*opposite} <= {*own}
    assert len(shortlist.frequent) <= target.size


def test_no_word_has_more_than_a_learnt_shortlist_gives_it(toy, tmp_path, monkeypatch):
    folder = model_of(toy, tmp_path, threads=1)
    monkeypatch.setattr("benchmarks.shortlists.PER_WORD", 2)
    monkeypatch.setattr("benchmarks.shortlists.FREQUENT", 3)
    write_shortlist(toy, folder)
    shortlist = Shortlist.load(folder, toy.vocabulary, toy.vocabulary)
    assert max(shortlist.offsets[1:] - shortlist.offsets[:-1]) == 2
    assert len(shortlist.frequent) == 3


def test_only_a_large_vocabulary_has_a_shortlist():
    assert variants(SETTINGS["mt"]) == [*VARIANTS]
    assert not any("shortlist" in name for name in variants(SETTINGS["char"]))
