import pytest
from benchmarks.corpora import Corpus, write
from benchmarks.settings import SETTINGS

SMALL = Corpus(types=30, shortest=3, longest=9, train=60, valid=5, zipf=False)


def test_a_corpus_is_the_same_every_time_and_another_seeds_is_not():
    assert SMALL.pairs() == SMALL.pairs()
    assert SMALL.pairs() != Corpus(30, 3, 9, 60, 5, zipf=False, seed=21).pairs()


@pytest.mark.parametrize("corpus", [SMALL, *(setting.corpus for setting in SETTINGS.values())])
def test_every_type_is_there_on_both_sides_and_lengths_are_in_their_bounds(corpus):
    train, valid = corpus.pairs()
    assert (len(train), len(valid)) == (corpus.train, corpus.valid)
    for side in (0, 1):
        lines = [pair[side].split() for pair in train]
        assert len({word for line in lines for word in line}) == corpus.types
        assert min(map(len, lines)) >= corpus.shortest
        assert max(map(len, lines)) <= corpus.longest
        assert {len(line) for line in lines} == set(range(corpus.shortest, corpus.longest + 1))


def test_a_source_has_one_translation_of_nearly_its_length():
    for setting in SETTINGS.values():
        train, _ = setting.corpus.pairs()
        words = [sum(len(pair[side].split()) for pair in train) for side in (0, 1)]
        assert 1 < words[1] / words[0] < 1.15
    assert len(dict(SMALL.pairs()[0])) == len(set(SMALL.pairs()[0]))


def test_common_words_are_common_only_by_zipfs_law():
    def share(zipf):
        words = [w for s, _ in Corpus(30, 3, 9, 300, 0, zipf=zipf).pairs()[0] for w in s.split()[1:]]
        return words.count("s0") / len(words)

    assert share(True) > 0.15
    assert share(False) < 0.08


def test_files_hold_the_pairs_line_by_line(tmp_path):
    write(SMALL, tmp_path)
    train, valid = SMALL.pairs()
    source, target = ((tmp_path / f"train.{side}").read_text().splitlines() for side in ("source", "target"))
    assert list(zip(source, target, strict=True)) == train
    assert [tuple(line.split("\t")) for line in (tmp_path / "valid.tsv").read_text().splitlines()] == valid
    assert (tmp_path / "words.source").read_text().split() == sorted(f"s{k}" for k in range(30))


@pytest.mark.parametrize(("types", "train", "message"), [(21, 60, "one to one"), (30, 29, "make more")])
def test_sizes_that_break_a_promise_are_refused(types, train, message):
    with pytest.raises(ValueError, match=message):
        Corpus(types, 3, 9, train, 5, zipf=False)
