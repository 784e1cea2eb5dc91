"""Configurations: mappings ↔ frozen dataclasses ↔ TOML, read strictly, merged in layers, listed for `--list-options`.

A misspelt key, a value of the wrong type or out of range is an error that names the key, the value and the nearest
right name. Layers (a preset, a file, flags) are merged as plain mappings before any dataclass is built, so what was set
is known and never guessed from a value. Knows nothing of what is configured: allowed values are beside each dataclass.
"""

import ast
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
from regard.io import LARGEST, check_depth, read_whole

_MAX_TOML_BYTES = 1 << 20
_MAX_SECTIONS = 10

_WORDS = {int: "a whole number", float: "a number", str: "a text", bool: "true or false"}


@dataclass(frozen=True)
class Config:
    """Base of all configurations: `from_mapping` reads one strictly, `overlay` merges layers, `to_mapping` writes it.

    Alternatives are either classes or choices. A base class with `variants` is a tagged union: the key `variant_key`
    names the variant, the first by default, and each variant has options of its own. A choice is an option, such as
    ``energy``, that decides which of the others mean something: `lacking` says which do not.
    """

    variants: ClassVar[Mapping[str, type["Config"]]] = {}
    variant_key: ClassVar[str] = "kind"
    allowed_kinds: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """For a field whose variants are not all allowed in this configuration: those that are."""
    choice_defaults: ClassVar[Mapping[str, Any]] = {}
    """Options that only some choices have, with their default there; where the choice lacks one, its value is None."""

    @classmethod
    def lacking(cls, options: Mapping[str, Any]) -> Mapping[str, str]:
        """The options that mean nothing beside the choices made in `options`, each with the reason and the remedy.

        Args:
            options: some or all options of this configuration; a choice that is not among them is not made here.

        Returns:
            The option's name, or its path such as ``memory.heads`` → the end of an error message.
        """
        return {}

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
        if cls._is_union():
            kind = mapping.get(cls.variant_key, next(iter(cls.variants)))
            one_of(f"{inner}{cls.variant_key}", kind, cls.variants)
            rest = {key: value for key, value in mapping.items() if key != cls.variant_key}
            return cls.variants[kind].from_mapping(rest, place)  # type: ignore[return-value]
        hints = get_type_hints(cls)
        known = [field.name for field in fields(cls)]
        for key in mapping:
            if key not in known:
                raise ConfigError(f"{place or 'configuration'}: no option {key!r}; {nearest(key, known)}")
        return cls(**{key: _convert(value, hints[key], f"{inner}{key}") for key, value in mapping.items()})

    @classmethod
    def overlay(cls, below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
        """Lay one layer of options over another, table by table; the upper one wins.

        Where the upper layer chooses another variant, energy and so on, options of the lower layer that the new choice
        does not have are dropped. The upper layer's own options are all kept: `from_mapping` refuses what is wrong.

        Args:
            below: options as a file has them, a preset for instance.
            above: options as a file has them.
        """
        chosen: type[Config] = cls
        if cls._is_union():
            kind = {**below, **above}.get(cls.variant_key, next(iter(cls.variants)))
            chosen = cls.variants.get(kind, cls)
        dropped = set(chosen.lacking(above))
        if chosen is not cls and cls.variant_key in above:
            dropped |= below.keys() - {cls.variant_key, *(field.name for field in fields(chosen))}
        merged = _without(below, dropped)
        tables = cls.tables()
        for key, value in above.items():
            lower = merged.get(key)
            if key in tables and isinstance(lower, Mapping) and isinstance(value, Mapping):
                value = tables[key].overlay(lower, value)
            merged[key] = value
        return merged

    @classmethod
    def _is_union(cls) -> bool:
        """Whether a file has to say which of the variants is meant."""
        return bool(cls.variants) and cls not in cls.variants.values()

    @classmethod
    def tables(cls) -> dict[str, type["Config"]]:
        """The options that are tables, those of every variant."""
        members = cls.variants.values() if cls._is_union() else (cls,)
        hints = {name: _unwrap(hint) for each in members for name, hint in get_type_hints(each).items()}
        return {
            name: hint for name, hint in hints.items() if isinstance(hint, type) and issubclass(hint, Config)
        }

    def fill_choices(self) -> None:
        """Give each option of `choice_defaults` that is None its default, where the choices made have that option."""
        for name in self.choice_defaults.keys() - self.lacking(vars(self)).keys():
            if getattr(self, name) is None:
                object.__setattr__(self, name, self.choice_defaults[name])

    def check_choices(self, place: str) -> None:
        """Refuse an option that is set although the choices made do not have it.

        Args:
            place: what this configuration is called in messages, such as ``model.decoder.attention``.

        Raises:
            ConfigError: there is one.
        """
        for path, reason in self.lacking(vars(self)).items():
            *tables, name = path.split(".")
            owner: Any = self
            for table in tables:
                owner = getattr(owner, table, None)
            if owner is None or getattr(owner, name) == _unset(type(owner), name):
                continue
            value = getattr(owner, name)
            shown = "" if isinstance(value, Config) else f" = {toml_value(value)}"
            raise ConfigError(f"{place}.{path}{shown}: {reason}")

    @property
    def kind(self) -> str | None:
        """The name of this variant; None for a configuration that has no variants."""
        return next((name for name, variant in self.variants.items() if variant is type(self)), None)

    def to_mapping(self) -> dict[str, Any]:
        """The whole configuration as nested plain values, None left out."""
        plain: dict[str, Any] = {} if self.kind is None else {self.variant_key: self.kind}
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, Config):
                plain[field.name] = value.to_mapping()
            elif value is not None:
                plain[field.name] = list(value) if isinstance(value, tuple) else value
        return plain


def _unset(cls: type[Config], name: str) -> Any:
    """The value of an option that says nothing: None, one head, no coverage."""
    return next(field.default for field in fields(cls) if field.name == name)


def _without(table: Mapping[str, Any], paths: Iterable[str]) -> dict[str, Any]:
    """A table without some of its options; a path such as ``memory.heads`` leads into a table inside it."""
    kept = dict(table)
    for path in paths:
        name, _, rest = path.partition(".")
        if not rest:
            kept.pop(name, None)
        elif isinstance(kept.get(name), Mapping):
            kept[name] = _without(kept[name], [rest])
    return kept


def _convert(value: Any, hint: Any, place: str) -> Any:
    """Check one value against its annotation; whole numbers pass as floats and as texts, lists as tuples."""
    hint = _unwrap(hint)
    if isinstance(hint, type) and issubclass(hint, Config):
        if not isinstance(value, Mapping):
            raise ConfigError(f"{place}: expected a table of options, got {value!r}")
        return hint.from_mapping(value, place)
    if get_origin(hint) is tuple:
        items = [value] if isinstance(value, str) else value
        if isinstance(items, Mapping) or not isinstance(items, Iterable):
            raise ConfigError(f"{place}: expected a list, got {value!r}")
        return tuple(_convert(item, get_args(hint)[0], place) for item in items)
    if isinstance(value, int | float) and not abs(value) <= LARGEST:
        raise ConfigError(
            f"{place}: {_brief(value)} is not a number that can be used; give one of at most {LARGEST}"
        )
    if hint in (float, str) and isinstance(value, int) and not isinstance(value, bool):
        return hint(value)
    if not isinstance(value, hint) or (isinstance(value, bool) and hint is not bool):
        raise ConfigError(f"{place}: expected {_WORDS[hint]}, got {value!r}")
    return value


def one_of(place: str, value: str, known: Iterable[str]) -> None:
    """Raise unless `value` is one of the known names.

    Raises:
        ConfigError: it is not; the message has the nearest known name.
    """
    if not isinstance(value, str) or value not in known:
        raise ConfigError(f"{place}: no {value!r}; {nearest(str(value), known)}")


def in_range(
    place: str, value: float, low: float, high: float | None = None, *, below: float | None = None
) -> None:
    """Raise unless low ≤ value ≤ high (or value < below).

    Raises:
        ConfigError: it is not; the message has the allowed range.
    """
    allowed = f"at least {low:.15g}"
    if high is not None:
        allowed = f"from {low:.15g} to {high:.15g}"
    elif below is not None:
        allowed = f"from {low:.15g} to below {below:.15g}"
    elif value > LARGEST:
        high, allowed = LARGEST, f"at most {LARGEST}"
    if not low <= value or (high is not None and value > high) or (below is not None and value >= below):
        raise ConfigError(f"{place}: {_brief(value)} is out of range; it must be {allowed}")


def _brief(number: float) -> str:
    """A number for a message; a whole number that no float holds is cut short."""
    return f"{number:.15g}" if abs(number) < LARGEST or isinstance(number, float) else f"{str(number)[:12]}…"


def read_toml(path: Path) -> dict[str, Any]:
    """Read a TOML file.

    Raises:
        ConfigError: the file is missing, too large or not TOML.
    """
    try:
        return _parse_toml(read_whole(path, _MAX_TOML_BYTES).decode("utf-8"))
    except FileNotFoundError:
        raise ConfigError(f"{path}: no such configuration file") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: cannot be read ({error}); name another file") from None
    except (ValueError, RecursionError) as error:  # also of an endless number, or of tables too deep
        raise ConfigError(f"{path}: not valid TOML: {error}") from None


def _parse_toml(text: str) -> dict[str, Any]:
    parsed = tomllib.loads(text)
    check_depth(parsed)
    return parsed


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
        ConfigError: the ``=`` is missing, or a part of the path is not a section.
    """
    path, equals, text = assignment.partition("=")
    if not equals:
        raise ConfigError(f"--set {assignment}: write it as section.option=value")
    *sections, key = path.strip().split(".")
    if len(sections) > _MAX_SECTIONS:
        raise ConfigError(
            f"--set {assignment[:60]}…: {len(sections)} sections; name an option of --list-options"
        )
    table: Any = mapping
    for section in sections:
        table = table.setdefault(section, {})
        if not isinstance(table, dict):
            raise ConfigError(f"--set {assignment}: {section!r} is an option, not a section")
    table[key] = parse_value(text)


def parse_value(text: str) -> Any:
    """A value as TOML writes it, or else plain text."""
    try:
        return _parse_toml(f"value = {text}")["value"]
    except (ValueError, RecursionError):
        return text.strip()


def flatten(mapping: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Options by path, such as ``training.learning_rate``, from tables inside tables."""
    flat: dict[str, Any] = {}
    for key, value in mapping.items():
        path = f"{prefix}{key}"
        flat |= flatten(value, f"{path}.") if isinstance(value, Mapping) else {path: value}
    return flat


def merge(*layers: Mapping[str, Any]) -> dict[str, Any]:
    """Lay each layer on those before it, table by table, whatever options mean; `Config.overlay` knows choices."""
    merged: dict[str, Any] = {}
    for layer in layers:
        for key, value in layer.items():
            old = merged.get(key)
            nested = isinstance(old, Mapping) and isinstance(value, Mapping)
            merged[key] = merge(old, value) if nested else value  # type: ignore[arg-type]
    return merged


@dataclass(frozen=True)
class Option:
    """One option, as ``--list-options`` prints it.

    Attributes:
        path: such as ``training.learning_rate``.
        default: as TOML writes it; that of the choices which have the option.
        sentence: what it means.
        value: as TOML writes it, where the options of one configuration are listed; else None.
    """

    path: str
    default: str
    sentence: str
    value: str | None = None


def list_options(cls: type[Config], prefix: str = "", values: Config | None = None) -> list[Option]:
    """List every option of a configuration, with the docstring below its field in the source.

    Args:
        cls: the configuration.
        prefix: of the paths, such as ``model.``.
        values: a configuration of this class whose values are listed too; of its tables only the chosen variants are,
            and of its options only those that the choices made have.
    """
    options: list[Option] = []
    hints = get_type_hints(cls)
    for field in fields(cls):
        path, hint = f"{prefix}{field.name}", _unwrap(hints[field.name])
        if isinstance(hint, type) and issubclass(hint, Config):
            inner = None if values is None else getattr(values, field.name)
            for kind, variant in (hint.variants or {"": hint}).items():
                if kind not in cls.allowed_kinds.get(field.name, (kind,)):
                    continue
                if values is not None and type(inner) is not variant:
                    continue
                options.extend(list_options(variant, f"{path}[{kind}]." if kind else f"{path}.", inner))
            continue
        default = cls.choice_defaults.get(field.name, () if field.default is MISSING else field.default)
        value = None if values is None else getattr(values, field.name)
        if values is not None and value is None:
            continue
        shown = None if values is None else toml_value(value)
        options.append(Option(path, toml_value(default), _sentence(cls, field.name), shown))
    return options


def _unwrap(hint: Any) -> Any:
    """T of ``T | None``; any other annotation as it is."""
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
