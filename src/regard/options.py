"""Every option of a configuration, for people to read: its name, its default, and what it means.

In: a configuration's class. Out: `Option`s. The sentences are the ones under the fields in the source, so that there is
one place to write them.
"""

import ast
import inspect
import textwrap
from dataclasses import MISSING, dataclass, fields
from itertools import pairwise
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

from regard.configuration import Config, toml_value


@dataclass(frozen=True)
class Option:
    """One option as people read of it.

    Attributes:
        path: such as ``training.rate``.
        default: as TOML writes it.
        sentence: what it means.
    """

    path: str
    default: str
    sentence: str


def options_of(cls: type[Config], prefix: str = "") -> list[Option]:
    """Every option that is legal in a configuration, with the sentence that stands under it in the source."""
    found: list[Option] = []
    hints = get_type_hints(cls)
    for field in fields(cls):
        path, hint = f"{prefix}{field.name}", _given(hints[field.name])
        if isinstance(hint, type) and issubclass(hint, Config):
            for kind, variant in (hint.variants or {"": hint}).items():
                if kind not in cls.legal_kinds.get(field.name, (kind,)):
                    continue
                found.extend(options_of(variant, f"{path}[{kind}]." if kind else f"{path}."))
            continue
        default = field.default if field.default is not MISSING else ()
        found.append(Option(path, toml_value(default), _sentence(cls, field.name)))
    return found


def _given(hint: Any) -> Any:
    """What an optional value is when it is given: T of ``T | None``."""
    if get_origin(hint) is UnionType:
        return next(option for option in get_args(hint) if option is not NoneType)
    return hint


def _sentence(cls: type, name: str) -> str:
    """The text under an attribute of a class or of one it inherits from, on one line."""
    for base in cls.__mro__:
        if name not in inspect.get_annotations(base):
            continue
        body = ast.parse(textwrap.dedent(inspect.getsource(base))).body[0]
        assert isinstance(body, ast.ClassDef)
        for line, after in pairwise(body.body):
            named = isinstance(line, ast.AnnAssign) and ast.unparse(line.target) == name
            if named and isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
                return " ".join(str(after.value.value).split())
    return ""
