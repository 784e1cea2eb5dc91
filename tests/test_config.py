"""Strict reading and writing of configurations: mappings ↔ dataclasses ↔ TOML."""

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.config import LARGEST, Config, in_range, merge, one_of, read_toml, set_option, write_toml
from regard.errors import ConfigError


@dataclass(frozen=True)
class Shape(Config):
    name: str = "plain"


@dataclass(frozen=True)
class Round(Shape):
    radius: float = 1.0


@dataclass(frozen=True)
class Square(Shape):
    side: int = 2


Shape.variants = {"round": Round, "square": Square}


@dataclass(frozen=True)
class Picture(Config):
    place: ClassVar[str] = "not an option"

    shape: Shape = field(default_factory=Round)
    title: str | None = None
    copies: int = 1
    scale: float = 1.0
    bold: bool = False
    colours: tuple[str, ...] = ("red",)

    def __post_init__(self) -> None:
        in_range("picture.copies", self.copies, 1, 9)


class TestFromMapping:
    def test_every_kind_of_value(self):
        mapping = {
            "shape": {"kind": "square", "side": 5, "name": "box"},
            "title": "a",
            "copies": 3,
            "scale": 2,
            "bold": True,
            "colours": ["red", "blue"],
        }
        picture = Picture.from_mapping(mapping, "picture")
        assert picture == Picture(Square("box", 5), "a", 3, 2.0, True, ("red", "blue"))
        assert isinstance(picture.scale, float), "a whole number passes as a float, and becomes one"

    def test_what_is_left_out_is_the_default(self):
        assert Picture.from_mapping({}, "picture") == Picture()
        assert Picture.from_mapping({"shape": {}}, "picture").shape == Round(), "the first variant"

    def test_one_text_is_a_list_of_one(self):
        assert Picture.from_mapping({"colours": "blue"}, "picture").colours == ("blue",)

    @pytest.mark.parametrize(
        ("mapping", "message"),
        [
            ({"titel": "x"}, r"picture: no option 'titel'; did you mean 'title'\?"),
            ({"place": "x"}, r"picture: no option 'place'"),
            ({"xyz": 1}, r"picture: no option 'xyz'; known: bold, colours, copies, scale, shape, title"),
            ({"copies": "three"}, r"picture.copies: expected a whole number, got 'three'"),
            ({"copies": 1.0}, r"picture.copies: expected a whole number, got 1.0"),
            ({"copies": True}, r"picture.copies: expected a whole number, got True"),
            ({"scale": "big"}, r"picture.scale: expected a number, got 'big'"),
            ({"scale": False}, r"picture.scale: expected a number, got False"),
            ({"bold": 1}, r"picture.bold: expected true or false, got 1"),
            ({"title": 5.5}, r"picture.title: expected a text, got 5.5"),
            ({"colours": 5}, r"picture.colours: expected a list, got 5"),
            ({"colours": ["red", True]}, r"picture.colours: expected a text, got True"),
            ({"shape": "round"}, r"picture.shape: expected a table of options, got 'round'"),
            ({"shape": {"kind": "sqare"}}, r"picture.shape.kind: no 'sqare'; did you mean 'square'\?"),
            ({"shape": {"kind": 3}}, r"picture.shape.kind: no 3; known: round, square"),
            ({"shape": {"side": 3}}, r"picture.shape: no option 'side'; known: name, radius"),
            ({"copies": 12}, r"picture.copies: 12 is out of range; it must be from 1 to 9"),
        ],
    )
    def test_what_is_wrong_is_named_with_its_place(self, mapping, message):
        with pytest.raises(ConfigError, match=message):
            Picture.from_mapping(mapping, "picture")

    def test_a_whole_number_passes_as_a_text(self):
        assert Picture.from_mapping({"title": 32}, "picture").title == "32"


drawings = st.builds(
    Picture,
    shape=st.builds(Round, name=st.text(), radius=st.floats(-LARGEST, LARGEST))
    | st.builds(Square, side=st.integers(-LARGEST, LARGEST)),
    title=st.none() | st.text(),
    copies=st.integers(1, 9),
    scale=st.floats(-LARGEST, LARGEST),
    bold=st.booleans(),
    colours=st.lists(st.text(), max_size=3).map(tuple),
)


@given(drawings)
def test_written_whole_and_read_back_is_equal(picture):
    mapping = picture.to_mapping()
    assert Picture.from_mapping(mapping, "picture") == picture
    assert ("title" in mapping) == (picture.title is not None)
    assert mapping["shape"]["kind"] in ("round", "square")


toml_texts = st.text(st.characters(exclude_categories=["Cs"], max_codepoint=0xFFFF) | st.sampled_from("😀𝛼"))


@given(
    st.recursive(
        st.dictionaries(
            st.from_regex(r"[a-z_]{1,6}", fullmatch=True),
            st.booleans()
            | st.integers(-(2**63), 2**63 - 1)
            | st.floats(allow_nan=False)
            | toml_texts
            | st.lists(toml_texts, max_size=3),
            min_size=1,
            max_size=4,
        ),
        lambda inner: st.dictionaries(
            st.from_regex(r"[a-z_]{1,6}", fullmatch=True), inner, min_size=1, max_size=3
        ),
        max_leaves=4,
    )
)
def test_toml_written_is_read_back(tmp_path_factory, mapping):
    path = tmp_path_factory.getbasetemp() / "round_trip.toml"
    path.write_text(write_toml(mapping), encoding="utf-8", newline="")
    assert read_toml(path) == mapping


def test_toml_keeps_unprintable_characters_beyond_the_first_plane(tmp_path):
    path = tmp_path / "tag.toml"
    path.write_text(write_toml({"a": "\U000e0001"}), encoding="utf-8")
    assert read_toml(path) == {"a": "\U000e0001"}


def test_a_kind_that_is_no_text_is_refused():
    with pytest.raises(ConfigError, match=r"picture.shape.kind"):
        Picture.from_mapping({"shape": {"kind": ["round"]}}, "picture")


def test_a_table_is_no_list():
    with pytest.raises(ConfigError, match=r"picture.colours: expected a list"):
        Picture.from_mapping({"colours": {"red": 1}}, "picture")


def test_toml_is_laid_out_in_tables():
    text = write_toml({"a": 1, "deep": {"b": "x", "deeper": {"c": True}}, "last": {"d": [1.5, 2.0]}})
    assert text == 'a = 1\n\n[deep]\nb = "x"\n\n[deep.deeper]\nc = true\n\n[last]\nd = [1.5, 2.0]\n'


def test_a_file_that_is_missing_or_no_toml_is_named(tmp_path: Path):
    with pytest.raises(ConfigError, match=r"gone.toml: no such configuration file"):
        read_toml(tmp_path / "gone.toml")
    with pytest.raises(ConfigError, match="cannot be read"):
        read_toml(tmp_path)
    broken = tmp_path / "broken.toml"
    broken.write_text("a = \n", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"broken.toml: not valid TOML: .*line 1"):
        read_toml(broken)
    broken.write_bytes(b"a = '\xff'\n")
    with pytest.raises(ConfigError, match=r"broken.toml: cannot be read"):
        read_toml(broken)


class TestSetOption:
    @pytest.mark.parametrize(
        ("assignment", "expected"),
        [
            ("a=1", {"a": 1, "deep": {"b": 2}}),
            ("deep.b=2.5", {"deep": {"b": 2.5}}),
            ("deep.c=true", {"deep": {"b": 2, "c": True}}),
            ("new.er.x='q'", {"deep": {"b": 2}, "new": {"er": {"x": "q"}}}),
            ("deep.b=plain text", {"deep": {"b": "plain text"}}),
            ("deep.b= a=b ", {"deep": {"b": "a=b"}}),
            ("deep.b=[1, 2]", {"deep": {"b": [1, 2]}}),
            ("deep.b=", {"deep": {"b": ""}}),
        ],
    )
    def test_a_value_is_toml_or_else_text(self, assignment, expected):
        mapping = {"deep": {"b": 2}}
        set_option(mapping, assignment)
        assert mapping == expected

    def test_no_equals_sign(self):
        with pytest.raises(ConfigError, match=r"--set deep.b: write it as section.option=value"):
            set_option({}, "deep.b")

    def test_an_option_is_no_section(self):
        with pytest.raises(ConfigError, match=r"--set b.c=1: 'b' is an option, not a section"):
            set_option({"b": 2}, "b.c=1")


def test_merging_lays_one_over_the_other_table_by_table():
    base = {"a": 1, "deep": {"b": 2, "c": 3}, "gone": {"x": 1}}
    over = {"a": 5, "deep": {"c": 4, "d": {"e": 6}}, "gone": 7}
    assert merge(base, over) == {"a": 5, "deep": {"b": 2, "c": 4, "d": {"e": 6}}, "gone": 7}
    assert base == {"a": 1, "deep": {"b": 2, "c": 3}, "gone": {"x": 1}}, "what is given is not changed"


@pytest.mark.parametrize(
    ("value", "limits", "legal"),
    [
        (0, {"low": 1}, "at least 1"),
        (10, {"low": 1, "high": 9}, "from 1 to 9"),
        (1, {"low": 0, "below": 1}, "from 0 to below 1"),
        (float("nan"), {"low": 0}, "at least 0"),
        (float("inf"), {"low": 0}, f"at most {LARGEST}"),
        (10**400, {"low": 0}, f"at most {LARGEST}"),
        (10**400, {"low": 0, "high": 9}, "from 0 to 9"),
    ],
)
def test_ranges(value, limits, legal):
    with pytest.raises(ConfigError, match=f"it: .* is out of range; it must be {legal}"):
        in_range("it", value, **limits)


@pytest.mark.parametrize("text", ["inf", "-inf", "nan", "1e300", "1" + "0" * 400])
@pytest.mark.parametrize("option", ["scale", "copies"])
def test_a_number_without_bound_is_refused_by_name(option, text):
    mapping = {}
    set_option(mapping, f"{option}={text}")
    with pytest.raises(
        ConfigError, match=rf"picture.{option}: \S+ is not a number that can be used; give one of"
    ):
        Picture.from_mapping(mapping, "picture")


@pytest.mark.parametrize("text", ["a = " + "[" * 100_000, "a = " + "1" * 10_000, "[" + "a." * 100_000 + "b]"])
def test_toml_without_bound_is_refused(tmp_path, text):
    (tmp_path / "deep.toml").write_text(text)
    with pytest.raises(ConfigError, match=r"deep.toml: not valid TOML"):
        read_toml(tmp_path / "deep.toml")


def test_a_configuration_is_an_ordinary_file_of_a_bounded_size(tmp_path):
    os.mkfifo(tmp_path / "fifo.toml")
    (tmp_path / "large.toml").write_bytes(b"#" * (1 << 20) + b"\n")
    with pytest.raises(ConfigError, match=r"fifo.toml: cannot be read .not an ordinary file"):
        read_toml(tmp_path / "fifo.toml")
    with pytest.raises(ConfigError, match=r"large.toml: cannot be read .more than 1,048,576 bytes"):
        read_toml(tmp_path / "large.toml")


def test_what_is_in_range_passes():
    in_range("it", 1, 1)
    in_range("it", 9, 1, 9)
    in_range("it", 0.999, 0, below=1)
    one_of("it", "a", ["a", "b"])


def test_an_option_is_not_in_endless_sections():
    with pytest.raises(ConfigError, match=r"--set a.a.*: 1000 sections; name an option of --list-options"):
        set_option({}, "a." * 1000 + "b=1")
