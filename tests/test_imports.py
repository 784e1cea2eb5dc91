"""The folders' order is the sentence's way, and imports point up it only; read from the source, not from memory."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import regard

ROOT = Path(regard.__file__).parent

ORDER = [
    *("text", "datasets", "batches", "ops", "layers", "models", "search"),
    *("evaluation", "plots", "checkpoint", "inference", "tasks", "training", "lab", "cli", "__main__"),
]
"""Each may import what stands before it."""

TABLES = {"regard.tasks"}
"""Tables that import nothing until they are called: a checkpoint's model is built through them."""

FREE = {"errors", "config", "device", "version", "io"}
"""They know nothing of the package, so all may know them."""

TORCHLESS = {"text", "datasets", "evaluation", "plots"}
"""Folders without tensors."""


def modules(*places: str) -> Iterator[tuple[Path, str]]:
    """Each module of the package, or of some of its folders and files, with the folder or file it belongs to."""
    for path in sorted(ROOT.rglob("*.py")):
        inside = path.relative_to(ROOT)
        place = inside.parts[0] if len(inside.parts) > 1 else inside.stem
        if place != "__init__" and (not places or place in places):
            yield path, place


def imported(path: Path) -> set[str]:
    """Every module a file imports when it runs, at its top or inside a function, in full."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):  # what only the type checker reads is no import
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            node.body = []
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: a relative import hides where it points"
            # `from regard import text` names a folder in its list
            whole = node.module == "regard"
            found |= {f"regard.{alias.name}" for alias in node.names} if whole else {node.module or ""}
    return found


def places_of(path: Path) -> set[str]:
    """The folders and files of our own that a file imports."""
    return {name.split(".")[1] for name in imported(path) - TABLES if name.startswith("regard.")}


def test_imports_point_one_way():
    wrong = []
    for path, place in modules():
        assert place in {*ORDER, *FREE}, f"{place} has no place in the order; give it one"
        allowed = FREE if place in FREE else {*FREE, *ORDER[: ORDER.index(place) + 1]}
        wrong += [f"{path.relative_to(ROOT)} imports {other}" for other in places_of(path) - allowed]
    assert not wrong, "imports against the order:\n" + "\n".join(wrong)


def test_folders_without_tensors_import_no_torch():
    wrong = []
    for path, _ in modules(*TORCHLESS):
        packages = {name.split(".")[0] for name in imported(path)}
        heavy = packages & {"torch", "lightning"} or places_of(path) - {*TORCHLESS, *FREE} or set()
        wrong += [f"{path.relative_to(ROOT)} imports {other}" for other in heavy]
    assert not wrong, "tensors where there are none:\n" + "\n".join(wrong)


def test_models_meet_text_only_through_batches():
    for path, _ in modules("models", "layers", "ops"):
        assert not places_of(path) & {"text", "datasets"}, path


def test_translating_needs_no_training_code():
    for path, _ in modules("search", "evaluation", "plots", "checkpoint", "inference", "tasks"):
        assert not places_of(path) & {"training", "cli"}, path


def test_search_knows_of_text_only_the_specials():
    for path, _ in modules("search"):
        known = {name for name in imported(path) if name.startswith("regard.text")}
        assert known <= {"regard.text.specials"}, path


def test_ops_know_no_layers_and_no_parameters():
    for path, _ in modules("ops"):
        assert places_of(path) <= {"ops", *FREE}
        assert "nn.Parameter" not in path.read_text(encoding="utf-8")


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
