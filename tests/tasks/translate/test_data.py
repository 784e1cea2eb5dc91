import pytest

from regard.errors import ConfigError, DataError
from regard.tasks.translate.config import DataConfig, TokenizerConfig
from regard.tasks.translate.data import prepare, read_corpus, with_gold_links
from regard.text import SentencePair

WORD = TokenizerConfig(source="word", target="word")


def test_validation_pairs_are_set_aside_and_not_learnt_from():
    pairs = [SentencePair(f"s{k}", f"t{k}") for k in range(100)]
    prepared = prepare(pairs, None, DataConfig(), WORD, seed=3)
    assert (len(prepared.train), len(prepared.valid)) == (95, 5)
    known = {prepared.source_tokenizer.decode(pair.source_ids) for pair in prepared.train}
    aside = {pair.source for pair in prepared.valid_pairs}
    assert known | aside == {pair.source for pair in pairs}
    assert not known & aside
    assert prepared.notes == (
        "no validation pairs given: 5 of the training pairs are split off for validation",
    )
    # the tokenizers have not seen them either
    assert all(prepared.source_tokenizer.token_to_id(source) is None for source in aside)


def test_the_same_seed_sets_the_same_pairs_aside():
    pairs = [SentencePair(f"s{k}", f"t{k}") for k in range(100)]
    chosen = [prepare(pairs, None, DataConfig(), WORD, seed).valid_pairs for seed in (1, 1, 2)]
    assert chosen[0] == chosen[1] != chosen[2]


@pytest.mark.parametrize(("count", "aside"), [(2, 1), (39, 1), (40, 2), (30_000, 1000)])
def test_how_many_are_set_aside(count, aside):
    pairs = [SentencePair(f"a{k}", "b") for k in range(count)]
    prepared = prepare(pairs, None, DataConfig(), WORD, seed=1)
    assert (len(prepared.train), len(prepared.valid)) == (count - aside, aside)


def test_a_source_that_occurs_often_stands_on_one_side_only():
    pairs = [SentencePair(f"s{k % 10}", f"t{k}") for k in range(100)]
    prepared = prepare(pairs, None, DataConfig(), WORD, seed=1)
    aside = {pair.source for pair in prepared.valid_pairs}
    assert (len(aside), len(prepared.valid), len(prepared.train)) == (1, 10, 90)
    assert all(prepared.source_tokenizer.token_to_id(source) is None for source in aside)


def test_what_the_filters_took_out_is_told():
    train = [
        SentencePair("a b", "b a"),
        SentencePair("", "b"),
        SentencePair("a b c", "a"),
        SentencePair("a b", "b a"),
        SentencePair("a " * 9, "a " * 9),
    ]
    data = DataConfig(max_length=8, max_ratio=2, drop_duplicates=True)
    prepared = prepare(train, [SentencePair("a", "b"), SentencePair("a", "")], data, WORD, seed=1)
    assert len(prepared.train) == 1
    training, validation = prepared.notes
    assert training.startswith("training pairs: kept 1 of 5 pairs; removed 1 pair with an empty side")
    for reason in ("above the length limit", "of too unequal length", "that occurred before"):
        assert reason in training
    assert validation == "validation pairs: took out 1 with an empty side"
    assert len(prepared.valid) == len(prepared.valid_pairs) == 1


def test_long_validation_pairs_stay():
    """They are to be scored, not learnt from."""
    prepared = prepare(
        [SentencePair("a", "b")] * 3, [SentencePair("a " * 9, "b")], DataConfig(max_length=2), WORD, seed=1
    )
    assert len(prepared.valid[0].source_ids) == 9
    assert prepared.notes == ()


def test_one_vocabulary_for_both_sides():
    shared = TokenizerConfig(source="word", target="word", shared=True)
    prepared = prepare(
        [SentencePair("a b", "c d")] * 2, [SentencePair("a", "c")], DataConfig(), shared, seed=1
    )
    assert prepared.source_tokenizer is prepared.target_tokenizer
    assert prepared.source_tokenizer.size == 4 + 4


def test_tokenizer_options_arrive():
    config = TokenizerConfig(source="char", target="word", target_size=6, lowercase=True, min_frequency=2)
    prepared = prepare(
        [SentencePair("Ab", "X y x y z")] * 2, [SentencePair("a", "x")], DataConfig(), config, 1
    )
    assert prepared.source_tokenizer.kind == "char"
    assert prepared.target_tokenizer.size == 6
    assert prepared.source_tokenizer.decode(prepared.source_tokenizer.encode("AB")) == "ab"


@pytest.mark.parametrize(
    ("train", "valid", "message"),
    [
        ([], None, "an empty corpus: 0 examples"),
        ([SentencePair("", "b")] * 3, None, "an empty corpus: 3 examples, all of them empty"),
        (
            [SentencePair("a", "b"), SentencePair("a", "c")],
            None,
            "2 examples are too few .* with: all have the same content; give more, "
            "or name a validation file with --valid",
        ),
        ([], [SentencePair("a", "b")], "an empty corpus"),
        (
            [SentencePair("a", "b")] * 2,
            [SentencePair("", "b")],
            "the validation pairs are all empty; give some",
        ),
        ([SentencePair("a", "b")] * 2, [], "the validation pairs are all empty"),
        ([SentencePair("a b c", "b")] * 2, [SentencePair("a", "b")], r"raise data.max_length \(now 2\)"),
    ],
)
def test_nothing_to_learn_from(train, valid, message):
    with pytest.raises(DataError, match=message):
        prepare(train, valid, DataConfig(max_length=2), WORD, seed=1)


def test_files(tmp_path):
    (tmp_path / "s").write_text("a\nb\n")
    (tmp_path / "t").write_text("A\nB\n")
    (tmp_path / "tsv").write_text("0\tA\ta\n1\tB\tb\n")
    files = [str(tmp_path / name) for name in ("s", "t")]
    expected = [("a", "A"), ("b", "B")]
    assert [(pair.source, pair.target) for pair in read_corpus(files, ())] == expected
    tsv = [str(tmp_path / "tsv")]
    assert [(pair.source, pair.target) for pair in read_corpus(tsv, (3, 2))] == expected
    (tmp_path / "s").write_text("")
    (tmp_path / "t").write_text("")
    with pytest.raises(DataError, match=r"s and .*/t: an empty corpus, .*; give one sentence pair a line"):
        read_corpus(files, ())
    with pytest.raises(ConfigError, match=r"--columns 1 2 .* belongs to one tab-separated file"):
        read_corpus(files, (1, 2))


def test_gold_links_are_checked_against_their_words(tmp_path):
    pairs = [SentencePair("a b", "A"), SentencePair("c", "C D")]
    (tmp_path / "links").write_text("1-0\n0-1\n")
    found = with_gold_links(pairs, str(tmp_path / "links"))
    assert [sorted(pair.gold.sure) for pair in found] == [[(1, 0)], [(0, 1)]]
    (tmp_path / "links").write_text("1-0\n1-0\n")
    with pytest.raises(DataError, match="links:2: the link 1-0 points beyond its sentences of 1 and 2 words"):
        with_gold_links(pairs, str(tmp_path / "links"))
