"""Words that were renamed do not come back as identifiers; see tools/words.py."""

import ast
import importlib.util
from pathlib import Path

import pytest

_spec = importlib.util.spec_from_file_location("words", Path(__file__).parents[1] / "tools" / "words.py")
words = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(words)


def reported(code):
    names = words.names_of(ast.parse(code))
    return [name for name, _, defined in names if words.remedy(name, defined, set()) is not None]


def test_no_renamed_word_is_an_identifier():
    left = words.identifiers()
    assert not left, "\n".join(["renamed words are still identifiers:", *map(str, left)])


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
        "QuickStep()",
        "frozen = pack(model)",
        "typer.Option('--requests')",
    ],
)
def test_a_renamed_word_is_reported(code):
    assert reported(code)


@pytest.mark.parametrize(
    "code",
    [
        "'a b'.find('b')",
        "learning_rate = 1",
        "@dataclass(frozen=True)\nclass C: ...",
        "'rate'",
        "print('--- a verb ---')",
    ],
)
def test_names_of_other_libraries_longer_names_and_text_are_fine(code):
    assert not reported(code)


def test_the_words_of_the_repository_are_looked_for_in_all_its_folders():
    folders = {path.relative_to(words.ROOT).parts[0] for path in words.python_files()}
    assert folders == {"src", "tests", "benchmarks", "examples", "tools"}


def test_every_allowance_is_for_an_existing_path():
    for start, names in words.ALLOWED.items():
        folder = words.ROOT / start
        assert folder.exists() or [*folder.parent.glob(f"{folder.name}*")], start
        assert names, start


def test_paths_restrict_the_list():
    (path,) = words.python_files([words.ROOT / "tools" / "words.py"])
    assert path.name == "words.py"
