"""The exercise files: their titles, functions and equations, read from the files without running them; and verdicts.

A function returns one name per equation, and its docstring has a line ``(2) the forget gate: f_t = σ(…)`` for each.
"""

import ast
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from regard.config import one_of
from regard.errors import ConfigError
from regard.io import make_folder

_HERE = Path(__file__).parent
_EQUATION = re.compile(r"\((\d+)\) ([^:\n]+): (.+)")

EXERCISES = (
    *("rnn", "lstm", "gru", "language_model", "pooling", "seq2seq"),
    *("bahdanau", "luong", "query_key_value", "self_attentive_rnn", "lstmn"),
)
"""The names of the exercise files, in the order in which they build on each other."""


@dataclass(frozen=True)
class Equation:
    """One equation of a function to fill in.

    Attributes:
        name: of the variable that the function returns for it.
        number: as in the docstring.
        quantity: in words: "the forget gate".
        text: the equation itself.
    """

    name: str
    number: int
    quantity: str
    text: str


RIGHT, FOLLOWS, TO_DO, WRONG = "right", "follows", "to do", "wrong"
"""An equation: right; right for the learner's own, wrong, earlier values; not filled in; wrong."""

NOT_REACHED = "not reached"
"""The message of an equation that comes after an error."""


@dataclass(frozen=True)
class Verdict:
    """What the check says about one equation.

    Attributes:
        function: its name.
        number: of the equation.
        quantity: in words.
        equation: its text.
        status: `RIGHT`, `FOLLOWS`, `TO_DO` or `WRONG`.
        message: what is wrong, by how much and where; empty if nothing is.
        hint: the mistake that gives exactly these numbers; empty if none is known.
        difference: the largest difference, where the values can be compared.
    """

    function: str
    number: int
    quantity: str
    equation: str
    status: str
    message: str = ""
    hint: str = ""
    difference: float | None = None

    @classmethod
    def of(cls, function: str, equation: Equation, status: str, message: str = "") -> Self:
        """A verdict on an equation of a function."""
        return cls(function, equation.number, equation.quantity, equation.text, status, message)


@dataclass(frozen=True)
class Exercise:
    """A file of functions to fill in.

    Attributes:
        name: of the file, without its suffix.
        title: the first sentence of its docstring.
        functions: by name, the equations of each.
    """

    name: str
    title: str
    functions: dict[str, tuple[Equation, ...]]


def read_exercise(name: str) -> Exercise:
    """An exercise as its template describes it."""
    tree = ast.parse(template(name).read_text(encoding="utf-8"))
    functions = {node.name: _equations(node) for node in tree.body if isinstance(node, ast.FunctionDef)}
    return Exercise(name, (ast.get_docstring(tree) or "").partition(".\n")[0], functions)


def template(name: str) -> Path:
    """The file to fill in."""
    return _HERE / "templates" / f"{name}.py"


def solution(name: str) -> Path:
    """A solution of it."""
    return _HERE / "solutions" / f"{name}.py"


def notebooks() -> list[Path]:
    """The notebooks, one per lecture."""
    return sorted((_HERE / "notebooks").glob("*.ipynb"))


def returned_names(function: ast.FunctionDef) -> tuple[str, ...]:
    """The names in the last statement of a function, its ``return``."""
    last = function.body[-1]
    assert isinstance(last, ast.Return), f"{function.name}: the last statement is not a return"
    values = last.value.elts if isinstance(last.value, ast.Tuple) else [last.value]
    return tuple(value.id for value in values if isinstance(value, ast.Name))


def exercise_of(path: Path, name: str | None = None) -> str:
    """The exercise that a file belongs to: the one given, or the one of the file's name.

    Raises:
        ConfigError: there is no such exercise.
    """
    if name is not None:
        one_of("--exercise", name, EXERCISES)
        return name
    if path.stem not in EXERCISES:
        raise ConfigError(
            f"{path}: no exercise has this name; rename the file, or say which it is, as --exercise lstm "
            f"(known: {', '.join(EXERCISES)})"
        )
    return path.stem


def copy_files(folder: Path) -> list[Path]:
    """Copy the files to fill in and the notebooks into a folder; return the copies.

    Raises:
        ConfigError: one of them is there already.
        DataError: the folder cannot be made.
    """
    sources = [*(template(name) for name in EXERCISES), *notebooks()]
    copies = [folder / source.name for source in sources]
    for copy in copies:
        if copy.exists():
            raise ConfigError(
                f"--copy {folder}: {copy.name} is there already; choose another folder, or move it"
            )
    make_folder(folder)
    for source, copy in zip(sources, copies, strict=True):
        shutil.copyfile(source, copy)
    return copies


def _equations(function: ast.FunctionDef) -> tuple[Equation, ...]:
    lines = _EQUATION.findall(ast.get_docstring(function) or "")
    names = returned_names(function)
    return tuple(
        Equation(name, int(number), quantity, text)
        for name, (number, quantity, text) in zip(names, lines, strict=True)
    )
