import json
import os
import unicodedata

import pytest
from benchmarks.damage import SECTIONS
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.errors import ConfigError, DataError, FolderError
from regard.text import (
    BOS,
    EOS,
    KINDS,
    NORMALIZATIONS,
    PAD,
    SPECIALS,
    UNK,
    FeaturedText,
    Tokenizer,
    train_tokenizer,
)

LINES = [
    "the quick brown fox jumps over the lazy dog",
    "</s> <s> <pad> <unk> are words like any other </s>",
    "</s></s><s><unk><pad>",
    "les élèves ont mangé à l'école , n'est-ce pas ?",
    "straße größe 東京 京都 ▁ x\u00a0y\tz",
] * 4

TOKENIZERS = {kind: train_tokenizer(kind, LINES, size=120) for kind in KINDS}
LOWERED = {kind: train_tokenizer(kind, LINES, size=120, lowercase=True) for kind in KINDS}

every_kind = pytest.mark.parametrize("kind", KINDS)
any_text = st.text(st.characters(exclude_categories=["Cs", "Cn"]))
known_text = st.text(sorted(set("".join(LINES))))
text = any_text | known_text | st.text(st.sampled_from(" ▁\t\u3000\u2028ab<é\u0301東"))


def plain(kind, line):
    """What must come back: the line in NFC, blanks folded unless they are tokens."""
    composed = unicodedata.normalize("NFC", line)
    if kind == "char":
        return "".join(" " if c.isspace() else c for c in composed)
    return " ".join(composed.replace("▁", " ").split())


@every_kind
@given(st.data())
def test_known_text_comes_back(kind, data):
    tokenizer = TOKENIZERS[kind]
    known = st.sampled_from([w for line in LINES for w in line.split()] + [" ", "  ", "\t"])
    line = data.draw(st.lists(known).map(" ".join) if kind == "word" else known_text)
    ids = tokenizer.encode(line)
    assert UNK not in ids
    assert tokenizer.decode(ids) == plain(kind, line)


@every_kind
@given(line=text)
def test_unknown_text_keeps_its_words(kind, line):
    tokenizer = TOKENIZERS[kind]
    ids = tokenizer.encode(line)
    assert not {PAD, BOS, EOS} & set(ids)
    expected, decoded = plain(kind, line).split(), tokenizer.decode(ids).split()
    assert len(decoded) == len(expected)
    for ours, theirs in zip(decoded, expected, strict=True):
        assert ours == theirs or "<unk>" in ours
    numbers = [word for word in tokenizer.words(ids) if word is not None]
    assert sorted(set(numbers)) == list(range(len(expected)))


@every_kind
@settings(max_examples=200)
@given(data=st.data())
def test_words_are_those_of_the_decoded_text(kind, data):
    tokenizer = TOKENIZERS[kind]
    ids = data.draw(st.lists(st.integers(0, 9) | st.integers(0, tokenizer.size - 1)))
    words = tokenizer.words(ids)
    decoded = tokenizer.decode(ids)
    assert len(words) == len(ids)
    numbers = [word for word in words if word is not None]
    assert numbers == sorted(numbers)
    assert sorted(set(numbers)) == list(range(len(decoded.split())))
    # the ids of one word alone spell that word
    for n, word in enumerate(decoded.split()):
        assert tokenizer.decode([i for i, w in zip(ids, words, strict=True) if w == n]) == word
    for i, word in zip(ids, words, strict=True):
        if i in (PAD, BOS, EOS):
            assert word is None
        if i == UNK:
            assert word is not None
        if kind == "char":
            assert (word is None) == (i in (PAD, BOS, EOS) or tokenizer.tokens([i]) == ["␣"])


@every_kind
@given(lines=st.lists(text))
def test_a_batch_is_its_lines(kind, lines):
    tokenizer = TOKENIZERS[kind]
    assert tokenizer.encode_batch(lines) == [tokenizer.encode(line) for line in lines]


@every_kind
@pytest.mark.parametrize(
    "line", [*SPECIALS, "a</s>b", " </s>", " <pad> <s>", "<unk><unk>", "</s></s><s><unk><pad>"]
)
def test_names_of_specials_in_text_are_text(kind, line, tmp_path):
    for tokenizer in (TOKENIZERS[kind], _reloaded(TOKENIZERS[kind], tmp_path)):
        ids = tokenizer.encode(line)
        assert not {PAD, BOS, EOS} & set(ids)
        if kind != "word" or line.strip() in LINES[1].split():
            assert UNK not in ids
            assert tokenizer.decode(ids) == plain(kind, line)
    stranger = train_tokenizer(kind, ["ab ba"], size=20)
    assert not {PAD, BOS, EOS} & set(stranger.encode(line))


@every_kind
def test_specials_decode_to_nothing_but_the_unknown_shows(kind):
    tokenizer = TOKENIZERS[kind]
    ids = tokenizer.encode("the dog")
    assert tokenizer.decode([BOS, *ids[:1], PAD, *ids[1:], EOS, PAD]) == "the dog"
    assert tokenizer.decode([EOS, *ids]) == "the dog"
    assert tokenizer.decode([UNK]) == "<unk>"
    assert tokenizer.decode([]) == tokenizer.decode([PAD, EOS]) == ""
    assert tokenizer.tokens([PAD, UNK, BOS, EOS]) == list(SPECIALS)


def test_words_are_parted_by_one_blank_wherever_ids_come_from():
    for kind in ("bpe", "unigram"):
        mark, x = TOKENIZERS[kind].token_to_id("▁"), TOKENIZERS[kind].token_to_id("x")
        assert TOKENIZERS[kind].decode([mark, mark, x, x, mark, mark, x, mark]) == "xx x"


def test_display_forms():
    assert TOKENIZERS["char"].tokens(TOKENIZERS["char"].encode("a  é")) == ["a", "␣", "␣", "é"]
    assert TOKENIZERS["word"].tokens(TOKENIZERS["word"].encode("the 東京 cat")) == ["the", "東京", "<unk>"]
    for kind in ("bpe", "unigram"):
        tokens = TOKENIZERS[kind].tokens(TOKENIZERS[kind].encode("the dog"))
        assert "".join(tokens) == "▁the▁dog"


def test_a_bare_mark_belongs_to_the_word_it_opens():
    bpe = TOKENIZERS["bpe"]
    mark, x = bpe.token_to_id("▁"), bpe.token_to_id("x")
    assert bpe.words([x, mark, mark, UNK, x, mark]) == [0, None, 1, 1, 1, None]
    assert bpe.words([mark, BOS, x]) == [0, None, 0]
    assert bpe.words([mark, bpe.token_to_id("▁the"), x]) == [None, 0, 0]
    char = TOKENIZERS["char"]
    blank, x = char.token_to_id(" "), char.token_to_id("x")
    assert char.words([blank, x, blank, UNK]) == [None, 0, None, 1]


def test_an_unknown_stretch_is_one_unknown():
    for kind in ("bpe", "unigram"):
        ids = TOKENIZERS[kind].encode("the ЖЖЖ dog ЖxЖЖ")
        assert ids.count(UNK) == 3
        assert TOKENIZERS[kind].decode(ids) == "the <unk> dog <unk>x<unk>"


@every_kind
def test_ids_of_pieces(kind):
    tokenizer = TOKENIZERS[kind]
    for i, token in enumerate(tokenizer.tokens(range(tokenizer.size))):
        if token != "␣" and not (token in SPECIALS and i > UNK):
            assert tokenizer.token_to_id(token) == i
    assert [tokenizer.token_to_id(name) for name in SPECIALS] == [PAD, UNK, BOS, EOS]
    assert tokenizer.token_to_id("no such piece") is None


@given(line=text)
def test_lowered_text_is_the_text_of_lowered_letters(line):
    lowered = "".join(c.lower() for c in line)
    for kind, tokenizer in LOWERED.items():
        assert tokenizer.encode(line) == tokenizer.encode(lowered), kind
        assert TOKENIZERS[kind].encode(lowered) == tokenizer.encode(line)


@given(line=text)
def test_composed_or_not_is_the_same_text(line):
    for tokenizer in TOKENIZERS.values():
        assert tokenizer.encode(unicodedata.normalize("NFD", line)) == tokenizer.encode(line)


def _reloaded(tokenizer, folder):
    tokenizer.save(folder / "tokenizer.json")
    return Tokenizer.load(folder / "tokenizer.json")


@every_kind
def test_saved_and_loaded_is_equal(kind, tmp_path):
    for tokenizer in (TOKENIZERS[kind], LOWERED[kind]):
        loaded = _reloaded(tokenizer, tmp_path)
        assert (loaded.kind, loaded.size) == (kind, tokenizer.size)
        assert loaded.tokens(range(loaded.size)) == tokenizer.tokens(range(tokenizer.size))
        lines = [*LINES, "E\u0301 unseen ЖЖ  words", "THE DOG", "a\u2028b", ""]
        assert loaded.encode_batch(lines) == tokenizer.encode_batch(lines)
        ids = [i for line in lines for i in tokenizer.encode(line)]
        assert loaded.words(ids) == tokenizer.words(ids)
        first = (tmp_path / "tokenizer.json").read_bytes()
        assert json.loads(first)["kind"] == kind
        loaded.save(tmp_path / "again.json")
        assert (tmp_path / "again.json").read_bytes() == first


def test_a_write_broken_off_leaves_the_file_before(tmp_path, monkeypatch):
    path = tmp_path / "tokenizer.json"
    TOKENIZERS["word"].save(path)
    before = path.read_bytes()

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(DataError, match=r"tokenizer\.json: cannot be written \(No space left on device\)"):
        TOKENIZERS["bpe"].save(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_loading_what_is_no_tokenizer_names_the_file(tmp_path):
    path = tmp_path / "tokenizer.json"
    with pytest.raises(FolderError, match=r"tokenizer\.json: no tokenizer can be read there \(No such file"):
        Tokenizer.load(path)
    TOKENIZERS["bpe"].save(path)
    whole = path.read_text(encoding="utf-8")
    content = json.loads(whole)
    damaged = {"kind": "bpe", "tokenizer": content["tokenizer"] | {"model": {"type": "BPE", "vocab": 3}}}
    foreign_order = json.loads(whole.replace(" <pad>", " <bad>"))
    for text, said in (
        (whole[: len(whole) // 2], "damaged, for it is not JSON"),
        ("[]", "not a tokenizer saved by this package"),
        ("{}", "not a tokenizer saved by this package"),
        (json.dumps(content["tokenizer"]), "not a tokenizer saved by this package"),
        (json.dumps(content | {"kind": "words"}), "'words' is not a kind of tokenizer; did you mean 'word'"),
        (json.dumps(damaged), "the tokenizer in it is damaged"),
        (json.dumps(foreign_order), "its vocabulary does not begin with the specials"),
    ):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(FolderError) as caught:
            Tokenizer.load(path)
        assert str(caught.value).startswith(f"{path}: {said}")
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(FolderError, match="is not JSON"):
        Tokenizer.load(path)


class TestUnicodeForms:
    """한 is one syllable of three letters; é is one character, or e and an accent."""

    LINES = ("한국", "café", "ﬁn")

    def train(self, normalize, kind="char"):
        return train_tokenizer(kind, self.LINES, size=100, normalize=normalize)

    def test_nfd_has_a_token_for_each_part_and_composes_again(self, tmp_path):
        tokenizer = self.train("nfd")
        ids = tokenizer.encode("한")
        assert tokenizer.tokens(ids) == ["ㅎ", "ㅏ", "ㄴ"]  # letters by themselves, not parts of a syllable
        assert tokenizer.tokens(tokenizer.encode("é")) == ["e", "◌\u0301"]
        for line in ("한국", "café"):
            assert tokenizer.decode(tokenizer.encode(line)) == line
        tokenizer.save(tmp_path / "t.json")
        loaded = Tokenizer.load(tmp_path / "t.json")
        assert loaded.decode(loaded.encode("한국")) == "한국"

    def test_a_syllable_of_known_letters_is_known(self):
        assert UNK not in self.train("nfd").encode("간")
        assert self.train("nfc").encode("간") == [UNK]

    def test_nfkc_folds_ligatures_and_none_leaves_text_as_it_is(self):
        tokenizer = self.train("nfkc")
        assert tokenizer.decode(tokenizer.encode("ﬁn")) == "fin"
        decomposed = unicodedata.normalize("NFD", "é")
        plain = train_tokenizer("char", ["é", decomposed], size=100, normalize="none")
        assert [len(plain.encode("é")), len(plain.encode(decomposed))] == [1, 2]
        assert plain.decode(plain.encode(decomposed)) == decomposed

    @pytest.mark.parametrize("kind", ["word", "bpe", "unigram"])
    def test_every_kind_composes(self, kind):
        tokenizer = self.train("nfd", kind)
        assert tokenizer.decode(tokenizer.encode("café 한국")) == "café 한국"

    def test_an_unknown_form_is_refused(self):
        with pytest.raises(ConfigError, match="normalize: no 'nfdc'; did you mean 'nf"):
            self.train("nfdc")


class TestUnknowns:
    """The extended vocabulary of a model that copies: ids for what the vocabulary does not have."""

    @pytest.mark.parametrize(
        ("kind", "line", "symbols"),
        [
            ("char", "aqbz q", ("q", "z")),
            ("word", "ab  qq ba zq qq", ("qq", "zq")),
            ("bpe", "abq qq ba", ("q", "qq")),
            ("unigram", "abq zz ba", ("q", "zz")),
        ],
    )
    def test_back_and_forth(self, kind, line, symbols):
        tokenizer = train_tokenizer(kind, ["ab ba aab", "ba ab"] * 3, size=30)
        ids, found = tokenizer.encode_unknowns(line)
        assert found == symbols
        plain = tokenizer.encode(line)
        assert [UNK if i >= tokenizer.size else i for i in ids] == plain
        assert {i for i in ids if i >= tokenizer.size} == set(
            range(tokenizer.size, tokenizer.size + len(symbols))
        )
        extended = tokenizer.extend(found)
        assert extended.decode(ids) == (line if kind == "char" else " ".join(line.split()))
        assert set(symbols) <= set(extended.tokens(ids))
        assert extended.words(ids) == tokenizer.words(plain)
        assert tokenizer.encode_unknowns("ab") == (tokenizer.encode("ab"), ())

    def test_given_symbols_only(self):
        tokenizer = train_tokenizer("word", ["a b"], size=20)
        ids, symbols = tokenizer.encode_unknowns("x a y", ("y", "z"))
        assert ids == [UNK, tokenizer.token_to_id("a"), tokenizer.size]
        assert symbols == ("y", "z")

    def test_what_is_decomposed_is_composed_again(self):
        tokenizer = train_tokenizer("char", ["eo"], size=20, normalize="nfd")
        ids, symbols = tokenizer.encode_unknowns("éö")
        assert symbols == ("\u0301", "\u0308")
        assert tokenizer.extend(symbols).decode(ids) == "éö"

    def test_features_stay_unknown(self):
        tokenizer = train_tokenizer("char", ["ab"], size=20).with_features(["V"])
        ids, symbols = tokenizer.encode_unknowns(FeaturedText("ax", ("V", "PST")))
        assert symbols == ("x",)
        assert ids[1:] == [tokenizer.size, tokenizer.encode(FeaturedText("a", ("V",)))[-1], UNK]


@pytest.fixture
def forge(tmp_path):
    """Save a tokenizer and change its JSON; the path of the file."""

    def write(kind, change):
        path = tmp_path / "tokenizer.json"
        train_tokenizer(kind, ["a b ab"], size=30).save(path)
        content = json.loads(path.read_text())
        change(content["tokenizer"])
        path.write_text(json.dumps(content))
        return path

    return write


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("section", SECTIONS)
def test_sections_of_others_are_refused(forge, kind, section):
    """They would pad a line to gigabytes, cut it, or give ids that the model does not have."""
    path = forge(kind, lambda content: content.update({section: SECTIONS[section]}))
    with pytest.raises(
        FolderError, match=f"its {section} is .*, which no tokenizer of this package has; train or copy"
    ):
        Tokenizer.load(path)


@pytest.mark.parametrize("kind", ["char", "word", "bpe"])
@pytest.mark.parametrize("number", [4, 999, 2**32 - 1])
def test_forged_ids_are_refused(forge, kind, number):
    path = forge(kind, lambda content: content["model"]["vocab"].update({"b": number}))
    with pytest.raises(FolderError, match=r"the ids of its .* pieces are not those from 0 to"):
        Tokenizer.load(path)


@pytest.mark.parametrize(
    ("kind", "name", "value"),
    [
        ("word", "unk_token", "a"),
        ("bpe", "dropout", 1.0),
        ("bpe", "unk_token", None),
        ("unigram", "unk_id", 2),
    ],
)
def test_a_model_with_other_options_is_refused(forge, kind, name, value):
    path = forge(kind, lambda content: content["model"].update({name: value}))
    with pytest.raises(FolderError, match="its model is"):
        Tokenizer.load(path)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("normalize", NORMALIZATIONS)
@pytest.mark.parametrize("lowercase", [False, True])
def test_every_tokenizer_of_this_package_is_loaded(tmp_path, kind, normalize, lowercase):
    made = train_tokenizer(kind, ["A b é"], size=30, normalize=normalize, lowercase=lowercase)
    made.save(tmp_path / "it")
    assert not Tokenizer.load(tmp_path / "it").difference(made)
