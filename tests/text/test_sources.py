"""Sources with features: parsed, found in columns, and encoded beside the characters of their text."""

import pytest

from regard.errors import ConfigError, DataError
from regard.text import FeaturedText, Tokenizer, parse_source, train_tokenizer
from regard.text.sources import SourceColumns, find_source_columns, read_source_groups
from regard.text.specials import UNK


@pytest.mark.parametrize(
    "given",
    [("run", "V;PST"), ("run", ("V", "PST")), ["run", ["V", "PST"]], FeaturedText("run", ("V", "PST"))],
)
def test_what_users_pass(given):
    assert parse_source(given) == FeaturedText("run", ("V", "PST"))


def test_a_text_is_a_source_and_nothing_else_is():
    assert parse_source("run") == "run"
    for given in (3, ("a",), ("a", "b", "c"), None):
        with pytest.raises(DataError, match=r"a source is a text, or a text with its features"):
            parse_source(given)


def char(*lines, features=("V", "PST", "V", "3")):
    return train_tokenizer("char", lines, size=100).with_features(features)


def test_columns_to_translate_by_their_names():
    lines = ["id\tanalysis\tword", "1\tV;PST\trun", "2\tV\tgo"]
    for column, features in (("word", "analysis"), (3, "analysis"), ("word", "2")):
        found = find_source_columns("f", lines, column=column, features=features, known=("V", "PST"))
        assert found == SourceColumns(3, 2, header=True)
    assert find_source_columns("f", lines, column="word") == SourceColumns(3, header=True)
    with pytest.raises(DataError, match="its first line has no column 'words'; did you mean 'word'"):
        find_source_columns("f", lines, column="words")
    with pytest.raises(ConfigError, match="one column cannot have both"):
        find_source_columns("f", lines, column="word", features=3, known=("V",))


class TestTokenizers:
    def test_features_are_symbols_of_their_own(self):
        tokenizer = char("VPST3 run")
        plain = tokenizer.encode("VPST3")
        ids = tokenizer.encode(FeaturedText("VPST3", ("V", "3")))
        assert ids[:5] == plain
        assert tokenizer.tokens(ids) == ["V", "P", "S", "T", "3", "V", "3"]
        assert not set(plain) & set(ids[5:])
        assert tokenizer.decode(plain) == "VPST3"
        assert tokenizer.token_to_id("V") == plain[0]
        assert tokenizer.token_to_id("PST") is None
        assert tokenizer.features == ("V", "3", "PST")
        assert max(ids) < tokenizer.size

    @pytest.mark.parametrize("kind", ["char", "word", "bpe", "unigram"])
    def test_back_and_forth(self, kind, tmp_path):
        tokenizer = train_tokenizer(kind, ["run to it"] * 5, size=100).with_features(["V", "PST"])
        source = FeaturedText("run to", ("PST", "V"))
        ids = tokenizer.encode(source)
        assert tokenizer.decode(ids) == str(source) == "run to PST V"
        assert tokenizer.words(ids)[-2:] == [2, 3]
        assert tokenizer.encode_batch([source, "run to"]) == [ids, ids[:-2]]
        tokenizer.save(tmp_path / "saved")
        loaded = Tokenizer.load(tmp_path / "saved")
        assert loaded.encode(source) == ids
        assert (loaded.size, loaded.features, tokenizer.difference(loaded)) == (
            tokenizer.size,
            ("PST", "V"),
            "",
        )
        assert "other features" in tokenizer.difference(tokenizer.with_features(["V"]))

    def test_an_unknown_feature_and_a_blank_text(self):
        tokenizer = char("run")
        assert tokenizer.encode(FeaturedText("r", ("FUT",)))[1:] == [UNK]
        assert tokenizer.encode(FeaturedText("", ("V",))) == []

    def test_case_is_of_the_text_only(self):
        tokenizer = train_tokenizer("char", ["Run"], size=20, lowercase=True).with_features(["V", "v"])
        assert tokenizer.tokens(tokenizer.encode(FeaturedText("Run", ("V", "v")))) == [
            "r",
            "u",
            "n",
            "V",
            "v",
        ]


KNOWN = ("V", "PST", "SG")


class TestColumns:
    def test_plain_text(self):
        assert find_source_columns("f", ["a b", "c\td", "e"]) == SourceColumns()
        assert find_source_columns("f", ["a\tb", "c\td"], column=2).source("a\tb") == "b"
        assert find_source_columns("f", []) == SourceColumns()

    @pytest.mark.parametrize(
        ("lines", "text", "features"),
        [
            (["run\tV;PST"], 1, 2),
            (["V;PST\trun"], 2, 1),
            (["run\tV,PST\tran", "go\tV,SG\tgoes"], 1, 2),
            (["run\tran\tV|PST", "go\tgoes\tV|SG"], 1, 3),
            (["x\tfeats\tlemma", "1\tV;PST\trun"], 3, 2),
        ],
    )
    def test_are_recognised(self, lines, text, features):
        columns = find_source_columns("f", lines, known=KNOWN)
        assert (columns.text, columns.features) == (text, features)
        assert f"text in column {text}, features in column {features}" in columns.note
        source = columns.source(lines[-1])
        assert isinstance(source, FeaturedText)
        assert source.features[0] == "V"

    def test_what_is_named_is_used(self):
        columns = find_source_columns("f", ["run\tV\tSG\tgo"], column=4, features=3, known=KNOWN)
        assert columns.source("run\tV\tSG\tgo") == FeaturedText("go", ("SG",))
        assert columns.note == ""

    @pytest.mark.parametrize(
        ("lines", "options", "message"),
        [
            (["a\tb", "c\td"], {}, "2 columns, .*where plain text is expected; .*--column 1.*--add"),
            (["the\tDT", "", "cat\tNN", "runs\tVBZ"], {}, "CoNLL"),
            (["a\t", "b\t"], {"column": 2}, "column 2 is blank"),
            (["run", "go"], {"known": KNOWN}, "plain text, without features, and this model .*--features 2"),
            (["run\tx", "go\ty"], {"known": KNOWN}, r"no features, .* \(V, PST, SG\)"),
            (["run\tx"], {"known": KNOWN, "features": 2}, "column 2 has none of the model's features"),
        ],
    )
    def test_wrong_files(self, lines, options, message):
        with pytest.raises(DataError, match=message):
            find_source_columns("f", lines, **options)

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"column": 0}, "--column 0: columns are counted from 1"),
            ({"features": 0, "known": KNOWN}, "--features 0: columns are counted from 1"),
            ({"column": 2, "features": 2, "known": KNOWN}, "one column cannot have both"),
            ({"features": 2}, "--features 2: this model was trained without features"),
        ],
    )
    def test_wrong_options(self, options, message):
        with pytest.raises(ConfigError, match=message):
            find_source_columns("f", ["a\tV"], **options)

    def test_lines_and_their_sources(self, tmp_path):
        (tmp_path / "f").write_text("lemma\tfeatures\nrun\tV;PST\n\ngo\n")
        notes = []
        groups = read_source_groups(tmp_path / "f", 10, known=KNOWN, listener=notes.append)
        assert next(groups) == [
            ("lemma\tfeatures", ""),
            ("run\tV;PST", FeaturedText("run", ("V", "PST"))),
            ("", ""),
        ]
        assert len(notes) == 1
        with pytest.raises(DataError, match=r"f:4: 1 column where column 2 is read.*--column and --features"):
            next(groups)
