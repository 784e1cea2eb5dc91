from regard.datasets.microworld import Microworld
from regard.lab.measures.energies import common_splits


def test_kept_is_what_has_common_words_alone():
    splits = common_splits(1000, 100, 120, seed=3, longest=8)
    drawn = Microworld().splits(train=1000, valid=100, test=100, seed=3, longest=8)
    words = [word for example in drawn.train for word in example.source.split()]
    ranked = sorted(
        dict.fromkeys(words), key=words.count, reverse=True
    )  # of equals the first seen comes first
    common = set(ranked[:120])
    for ours, theirs in ((splits.train, drawn.train), (splits.valid, drawn.valid), (splits.test, drawn.test)):
        assert ours == [example for example in theirs if set(example.source.split()) <= common]
        assert 0 < len(ours) < len(theirs)
    assert splits.extra == {}
