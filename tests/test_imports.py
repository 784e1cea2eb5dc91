"""The folders' order is the datum's way, and imports point up it only; read from the source, not from memory."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import regard

ROOT = Path(regard.__file__).parent

ORDER = (
    *(
        ("errors", "openmp", "version"),
        ("config", "device", "io", "processes", "progress", "terminal", "worker_pool"),
        ("tensors", "text"),
        ("datasets",),
        ("batches",),
    ),
    *(("ops",), ("layers",), ("models",), ("search",), ("evaluation",), ("plots",), ("checkpoint",)),
    *(("inference",), ("tasks",), ("server",), ("training",), ("lab",), ("exercises", "recipes", "studio")),
    *(("cli",), ("__init__", "__main__")),
)
"""Each folder or file may import what is before it, and what is beside it."""

_TENSORS = {
    "torch",
    "lightning",
    *(f"regard.{name}" for name in ("batches", "ops", "layers", "models", "search")),
}
_TEXT = {"regard.text", "regard.datasets"}
FORBIDDEN = {
    **dict.fromkeys(("text", "datasets", "evaluation", "plots"), _TENSORS),
    **dict.fromkeys(("ops", "layers"), _TEXT | {"regard.batches"}),
    **dict.fromkeys(("models", "search"), _TEXT),
}
"""Beyond the order: folders without tensors, equations without text, models that meet text only through batches."""

ALLOWED = {("search", "regard.text.specials"), ("checkpoint", "regard.tasks")}
"""The four ids of special symbols; the table of tasks, which imports nothing until it is called."""


def place_of(name: str) -> str:
    """The folder or file directly below the package: ``ops`` of ``regard.ops.gru``."""
    return name.split(".")[1] if "." in name else "__init__"


def imports_of(path: Path) -> set[str]:
    """Every module a file imports when it runs, at its top or inside a function, in full."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):  # what only type checkers read is not imported
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            node.body = []
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: a relative import hides where it points"
            names |= (
                {f"regard.{alias.name}" for alias in node.names}
                if node.module == "regard"
                else {str(node.module)}
            )
    return names


IMPORTS = {
    (path.relative_to(ROOT), path.relative_to(ROOT).parts[0].removesuffix(".py")): imports_of(path)
    for path in sorted(ROOT.rglob("*.py"))
}
"""(file, its folder or the file itself) → what it imports."""


def test_imports_point_one_way():
    rank = {place: number for number, places in enumerate(ORDER) for place in places}
    wrong = [
        f"{path} imports {name}"
        for (path, place), names in IMPORTS.items()
        for name in names
        if name.startswith("regard.") and (place, name) not in ALLOWED and rank[place_of(name)] > rank[place]
    ]
    assert not wrong, "imports against the order:\n" + "\n".join(wrong)


def test_what_a_folder_must_not_know():
    wrong = [
        f"{path} imports {name}"
        for (path, place), names in IMPORTS.items()
        for name in names
        for forbidden in FORBIDDEN.get(place, ())
        if (name == forbidden or name.startswith(f"{forbidden}.")) and (place, name) not in ALLOWED
    ]
    assert not wrong, "imports of what a folder must not know:\n" + "\n".join(wrong)


def test_ops_own_no_parameters():
    assert not [
        path for path in (ROOT / "ops").rglob("*.py") if "nn.Parameter" in path.read_text(encoding="utf-8")
    ]


LOADS = {
    "import regard": {"torch", "lightning", "matplotlib", "babel", "sacrebleu", "tokenizers"},
    "import regard.search": {"lightning", "matplotlib", "babel", "sacrebleu"},
}


@pytest.mark.parametrize(("statement", "heavy"), LOADS.items(), ids=LOADS.keys())
def test_what_is_heavy_is_loaded_when_it_is_used(statement, heavy):
    code = f"{statement}; import sys; print(*sys.modules)"
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120
    )
    loaded = {name.split(".")[0] for name in run.stdout.split()}
    assert "regard" in loaded
    assert not loaded & heavy
