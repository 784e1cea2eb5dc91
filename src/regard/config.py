"""Strict reading and writing of configurations: mappings ↔ frozen dataclasses ↔ TOML.

A misspelt key, a value of the wrong type or out of range is an error that names the key, the value and the
nearest right name. Knows nothing of what is configured: legal values live beside each dataclass.

Every option of a configuration, for people to read: its name, its default, and what it means.

In: a configuration's class. Out: `Option`s. The sentences are the ones under the fields in the source, so that there is
one place to write them.
"""

import ast
import dataclasses
import inspect
import textwrap
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, dataclass, fields
from itertools import pairwise
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, ClassVar, Self, get_args, get_origin, get_type_hints

from regard.errors import ConfigError, nearest

_WORDS = {int: "a whole number", float: "a number", str: "a text", bool: "true or false"}


@dataclasses.dataclass(frozen=True)
class Config:
    """Base of all configurations; `from_mapping` reads one strictly, `to_mapping` writes it whole.

    A base class with `variants` is read as the variant that the key `variant_key` names, the first by default.
    """

    variants: ClassVar[Mapping[str, type["Config"]]] = {}
    variant_key: ClassVar[str] = "kind"
    legal_kinds: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """Of a field whose variants are not all legal in this configuration: those that are."""

    @classmethod
    def from_mapping(cls, mapping: Mapping[str, Any], place: str) -> Self:
        """Build from a mapping such as a TOML table.

        Args:
            mapping: keys and plain values.
            place: what the mapping is called in messages, such as ``model.encoder``; empty for a whole file.

        Raises:
            ConfigError: unknown key, wrong type, or a value the dataclass itself refuses.
        """
        inner = f"{place}." if place else ""
        if cls.variants and cls not in cls.variants.values():
            kind = mapping.get(cls.variant_key, next(iter(cls.variants)))
            one_of(f"{inner}{cls.variant_key}", kind, cls.variants)
            rest = {key: value for key, value in mapping.items() if key != cls.variant_key}
            return cls.variants[kind].from_mapping(rest, place)  # type: ignore[return-value]
        hints = get_type_hints(cls)
        known = [f.name for f in dataclasses.fields(cls)]
        for key in mapping:
            if key not in known:
                raise ConfigError(f"{place or 'configuration'}: no option {key!r}; {nearest(key, known)}")
        return cls(**{key: _convert(value, hints[key], f"{inner}{key}") for key, value in mapping.items()})

    @property
    def kind(self) -> str | None:
        """The name of this variant; None for a configuration that has no variants."""
        return next((name for name, variant in self.variants.items() if variant is type(self)), None)

    def to_mapping(self) -> dict[str, Any]:
        """The whole configuration as nested plain values, None left out."""
        plain: dict[str, Any] = {} if self.kind is None else {self.variant_key: self.kind}
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if isinstance(value, Config):
                plain[field.name] = value.to_mapping()
            elif value is not None:
                plain[field.name] = list(value) if isinstance(value, tuple) else value
        return plain


def _convert(value: Any, hint: Any, place: str) -> Any:
    """Check one value against its annotation; whole numbers pass as floats and as texts, lists as tuples."""
    if get_origin(hint) is UnionType:
        hint = next(option for option in get_args(hint) if option is not NoneType)
    if isinstance(hint, type) and issubclass(hint, Config):
        if not isinstance(value, Mapping):
            raise ConfigError(f"{place}: expected a table of options, got {value!r}")
        return hint.from_mapping(value, place)
    if get_origin(hint) is tuple:
        items = [value] if isinstance(value, str) else value
        if isinstance(items, Mapping) or not isinstance(items, Iterable):
            raise ConfigError(f"{place}: expected a list, got {value!r}")
        return tuple(_convert(item, get_args(hint)[0], place) for item in items)
    if hint in (float, str) and isinstance(value, int) and not isinstance(value, bool):
        return hint(value)
    if not isinstance(value, hint) or (isinstance(value, bool) and hint is not bool):
        raise ConfigError(f"{place}: expected {_WORDS[hint]}, got {value!r}")
    return value


def one_of(place: str, value: str, known: Iterable[str]) -> None:
    """Raise unless `value` is one of the known names."""
    if not isinstance(value, str) or value not in known:
        raise ConfigError(f"{place}: no {value!r}; {nearest(str(value), known)}")


def in_range(
    place: str, value: float, low: float, high: float | None = None, *, below: float | None = None
) -> None:
    """Raise unless low ≤ value ≤ high (or value < below)."""
    legal = f"at least {low:g}"
    if high is not None:
        legal = f"from {low:g} to {high:g}"
    elif below is not None:
        legal = f"from {low:g} to below {below:g}"
    if not low <= value or (high is not None and value > high) or (below is not None and value >= below):
        raise ConfigError(f"{place}: {value:g} is out of range; it must be {legal}")


def read_toml(path: Path) -> dict[str, Any]:
    """Read a TOML file.

    Raises:
        ConfigError: the file is missing or is no TOML.
    """
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ConfigError(f"{path}: no such configuration file") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: cannot be read ({error})") from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path}: not valid TOML: {error}") from None


def write_toml(mapping: Mapping[str, Any]) -> str:
    """Nested plain values → TOML text that `read_toml` reads back."""
    lines: list[str] = []
    _write_table(mapping, "", lines)
    return "\n".join(lines).lstrip("\n") + "\n"


def _write_table(mapping: Mapping[str, Any], prefix: str, lines: list[str]) -> None:
    plain = {key: value for key, value in mapping.items() if not isinstance(value, Mapping)}
    if prefix and plain:
        lines.append(f"\n[{prefix}]")
    lines.extend(f"{key} = {toml_value(value)}" for key, value in plain.items())
    for key, value in mapping.items():
        if isinstance(value, Mapping):
            _write_table(value, f"{prefix}.{key}" if prefix else key, lines)


def toml_value(value: Any) -> str:
    """One plain value as TOML writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        return '"' + "".join(c if c.isprintable() else _escape(c) for c in escaped) + '"'
    if isinstance(value, list | tuple):
        return "[" + ", ".join(toml_value(item) for item in value) + "]"
    return repr(value)


def _escape(character: str) -> str:
    code = ord(character)
    return f"\\u{code:04X}" if code < 0x10000 else f"\\U{code:08X}"


def set_option(mapping: dict[str, Any], assignment: str) -> None:
    """Apply one ``--set section.option=value``; the value is read as TOML, or else as plain text.

    Raises:
        ConfigError: there is no ``=``, or a part of the path is no section.
    """
    path, equals, text = assignment.partition("=")
    if not equals:
        raise ConfigError(f"--set {assignment}: write it as section.option=value")
    *sections, key = path.strip().split(".")
    table: Any = mapping
    for section in sections:
        table = table.setdefault(section, {})
        if not isinstance(table, dict):
            raise ConfigError(f"--set {assignment}: {section!r} is an option, not a section")
    try:
        table[key] = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        table[key] = text.strip()


def merge(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """`base` with `over` laid on top, table by table."""
    merged = dict(base)
    for key, value in over.items():
        old = merged.get(key)
        nested = isinstance(old, Mapping) and isinstance(value, Mapping)
        merged[key] = merge(old, value) if nested else value  # type: ignore[arg-type]
    return merged


@dataclass(frozen=True)
class Option:
    """One option as people read of it.

    Attributes:
        path: such as ``training.learning_rate``.
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
