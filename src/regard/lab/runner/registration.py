"""What decides an experiment, registered before the deciding run.

``NAME.toml`` beside an experiment's module has the first seed of the deciding run, the bounds of its checks and its two
sizes; none of this is in the module, so that a trial cannot move a bound unnoticed. ``REGISTERED`` beside it lists the
SHA-256 of every such file as ``sha256sum`` writes them, so ``sha256sum --check REGISTERED`` checks them all. Both are
committed before the deciding run. A result has the hash of its settings; one whose hash is not listed, or that was run
from another seed, is shown as not registered.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Generic, TypeVar

from regard.config import read_toml
from regard.errors import ConfigError

LISTED = "REGISTERED"
Sizes = TypeVar("Sizes")


@dataclass(frozen=True)
class Registration(Generic[Sizes]):
    """The settings of an experiment.

    Attributes:
        seed: the first of the deciding run; no trial used it or one of those after it.
        bounds: of the checks, by name.
        usual: the size of an ordinary run, which decides.
        full: the size of the longer run, ``--full``.
        sha256: of the file.
    """

    seed: int
    bounds: Mapping[str, float]
    usual: Sizes
    full: Sizes
    sha256: str


def read_registration(module: str, build: Callable[[Mapping[str, Any], str], Sizes]) -> Registration[Sizes]:
    """Read the settings beside a module.

    Args:
        module: its ``__file__``.
        build: makes a size from a table and the table's name, such as `Config.from_mapping`. The table ``full`` needs
            only what differs from ``usual``.

    Raises:
        ConfigError: the file is missing, or a table or a key in it is.
    """
    path = Path(module).with_suffix(".toml")
    tables = read_toml(path)
    missing = [name for name in ("seed", "bounds", "usual", "full") if name not in tables]
    if missing or len(tables) > 4:
        raise ConfigError(f"{path}: has {', '.join(tables)}; give seed, bounds, usual and full, no more")
    usual, full = tables["usual"], {**tables["usual"], **tables["full"]}
    return Registration(
        tables["seed"], tables["bounds"], build(usual, "usual"), build(full, "full"), _hash(path)
    )


def registered_hashes(folder: Path = Path(__file__).parents[1]) -> dict[str, str]:
    """The registered SHA-256 of each experiment, by its name.

    Args:
        folder: holds `LISTED`; by default the lab.
    """
    lines = (folder / LISTED).read_text(encoding="ascii").splitlines()
    return {name.removesuffix(".toml"): value for value, name in (line.split() for line in lines)}


def write_hashes(folder: Path) -> None:
    """List the settings in a folder as they are now, which registers them."""
    lines = [f"{_hash(path)}  {path.name}\n" for path in sorted(folder.glob("*.toml"))]
    (folder / LISTED).write_text("".join(lines), encoding="ascii")


def _hash(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest()
