"""Words that were renamed do not come back as identifiers; see tools/words.py."""

import ast
import importlib.util
from pathlib import Path

import pytest

_spec = importlib.util.spec_from_file_location("words", Path(__file__).parents[1] / "tools" / "words.py")
words = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(words)


def test_no_renamed_word_is_an_identifier():
    left = words.identifiers()
    assert not left, "\n".join(map(str, left))


@pytest.mark.parametrize(
    "code",
    [
        "class Wish: ...",
        "def score(wishes): ...",
        "from regard.search import Found",
        "x = y._rivals",
        "options(rate=0.1)",
        "def find(model): ...",
        "JOURNAL = 1",
    ],
)
def test_a_renamed_word_is_reported(code):
    names = words.names_of(ast.parse(code))
    assert [name for name, _, defined in names if words.remedy(name, defined, set()) is not None]


@pytest.mark.parametrize(
    "code", ["'a b'.find('b')", "learning_rate = 1", "@dataclass(frozen=True)\nclass C: ..."]
)
def test_names_of_other_libraries_and_longer_names_are_fine(code):
    names = words.names_of(ast.parse(code))
    assert not [name for name, _, defined in names if words.remedy(name, defined, set()) is not None]
