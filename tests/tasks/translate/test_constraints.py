import pytest

from regard.errors import ConfigError, DataError
from regard.search import TokenConstraints
from regard.tasks.translate.constraints import Constraints, encode_constraints, read_constraints
from regard.text import train_tokenizer

WORDS = train_tokenizer("word", ["the red house is small"], size=30)
PIECES = train_tokenizer("bpe", ["the red house is small the red house"] * 3, size=25)


def ids(text, tokenizer=WORDS):
    return tuple(tokenizer.encode(text))


@pytest.mark.parametrize("tokenizer", [WORDS, PIECES], ids=["word", "bpe"])
def test_text_becomes_ids(tokenizer):
    constraints = Constraints("the red", ["small", "red house"], ("is",))
    assert constraints.encode(tokenizer, "here") == TokenConstraints(
        prefix=ids("the red", tokenizer),
        include=(ids("small", tokenizer), ids("red house", tokenizer)),
        exclude=(ids("is", tokenizer),),
    )


def test_nothing_is_nothing():
    assert (
        Constraints().encode(WORDS, "here")
        == Constraints(prefix="  ").encode(WORDS, "here")
        == TokenConstraints()
    )


@pytest.mark.parametrize(
    ("constraints", "message"),
    [
        (
            Constraints(prefix="the green"),
            "here: prefix 'the green': the target vocabulary cannot spell 'green'; use words",
        ),
        (
            Constraints(include=("red zebra house",)),
            "here: include 'red zebra house': .* cannot spell 'zebra'",
        ),
        (Constraints(include=(" ",)), "here: include ' ': a phrase without words; leave it out"),
        (
            Constraints(prefix="the red house", exclude=("red house",)),
            "here: 'red house' is to be left out, and 'the red house' holds it; drop one of the two",
        ),
        (
            Constraints(include=("is small",), exclude=("small",)),
            "'small' is to be left out, and 'is small' holds it",
        ),
    ],
)
def test_what_cannot_be(constraints, message):
    with pytest.raises(ConfigError, match=message):
        constraints.encode(WORDS, "here")


def test_what_cannot_be_spelt_is_left_out_of_itself():
    """An unknown word that is to be excluded must not exclude all unknown words."""
    assert Constraints(exclude=("zebra", "red zebra", "red", " ")).encode(WORDS, "here") == TokenConstraints(
        exclude=(ids("red"),)
    )


def test_one_text_is_no_list():
    with pytest.raises(ConfigError, match=r"include: give a list of phrases, not one text: \['red'\]"):
        Constraints(include="red")


class TestOfManyLines:
    def test_one_for_all_or_one_for_each(self):
        assert (
            encode_constraints(Constraints("red"), WORDS, ["1", "2"])
            == [TokenConstraints(prefix=ids("red"))] * 2
        )
        assert encode_constraints([Constraints("red"), Constraints()], WORDS, ["1", "2"]) == [
            TokenConstraints(prefix=ids("red")),
            TokenConstraints(),
        ]

    def test_the_place_is_the_line_s(self):
        with pytest.raises(ConfigError, match=r"^line 8: prefix 'zebra'"):
            encode_constraints([Constraints("red"), Constraints("zebra")], WORDS, ["line 7", "line 8"])

    def test_too_few_and_too_many(self):
        with pytest.raises(DataError, match="line 8: there is no constraints for it; give one for each line"):
            encode_constraints([Constraints()], WORDS, ["line 7", "line 8"])
        with pytest.raises(DataError, match="2 constraints for 1 lines; give one for each line"):
            encode_constraints([Constraints(), Constraints()], WORDS, ["line 7"])


def test_files(tmp_path):
    (tmp_path / "asked").write_text(
        '{"prefix": "the", "include": ["red"], "exclude": ["is", "small"]}\n\n{}\n'
    )
    assert list(read_constraints(tmp_path / "asked")) == [
        Constraints("the", ("red",), ("is", "small")),
        Constraints(),
        Constraints(),
    ]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", r"asked:2: not JSON \(.*\); write an object such as \{"),
        ("3", "asked:2: '3' is no object"),
        ('{"prefx": ""}', "asked:2: no 'prefx'; did you mean 'prefix'"),
        ('{"include": "red"}', "asked:2: include must be a list of texts, not 'red'"),
        ('{"exclude": [1]}', r"asked:2: exclude must be a list of texts, not \[1\]"),
    ],
)
def test_bad_files(tmp_path, line, message):
    (tmp_path / "asked").write_text(f"\n{line}\n")
    with pytest.raises(DataError, match=message):
        list(read_constraints(tmp_path / "asked"))
