"""The folders' order is the sentence's way, and imports point up it only; read from the source, not from memory."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import regard

ROOT = Path(regard.__file__).parent

ORDER = [
    ("text",),
    ("worlds",),
    ("batches",),
    ("ops",),
    ("layers",),
    ("models",),
    ("search",),
    ("output",),
    ("folder", "device", "threads", "shortlist"),
    ("translator", "writer", "text_classifier", "text_tagger", "captioner", "average"),
    ("evaluation", "label_evaluation", "description_evaluation"),
    ("report", "label_report", "description_report"),
    ("training",),
    ("lab",),
    ("cli",),
    ("__main__",),
]
"""Each may import what stands before it, and what stands beside it."""

FREE = {"errors", "configuration", "options", "version", "whole_file"}
"""They know nothing of the package, so all may know them."""

RANK = {room: rank for rank, rooms in enumerate(ORDER) for room in rooms}

TORCHLESS = ("text", "worlds", "output")
"""Rooms without tensors."""


def modules():
    """(path, room) of every module; the package's own `__init__` belongs to no room."""
    for path in sorted(ROOT.rglob("*.py")):
        inside = path.relative_to(ROOT)
        room = inside.parts[0] if len(inside.parts) > 1 else inside.stem
        if room != "__init__":
            yield pytest.param(path, room, id=str(inside))


def imported(path: Path) -> set[str]:
    """Every module a file imports, at its top or inside a function, in full."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: a relative import hides where it points"
            # `from regard import text` names a room in its list
            whole = node.module == "regard"
            found |= {f"regard.{alias.name}" for alias in node.names} if whole else {node.module or ""}
    return found


def rooms(path: Path) -> set[str]:
    """The rooms of our own that a file imports."""
    return {name.split(".")[1] for name in imported(path) if name.startswith("regard.")}


every_module = pytest.mark.parametrize(("path", "room"), list(modules()))


@every_module
def test_imports_point_one_way(path, room):
    if room in FREE:
        assert rooms(path) <= FREE
        return
    assert room in RANK, f"{room} has no place in the order; give it one"
    for other in rooms(path) - FREE:
        assert other in RANK, f"{other} has no place in the order; give it one"
        assert RANK[other] <= RANK[room], (
            f"{path.relative_to(ROOT)} imports {other}, which comes after {room}"
        )


@every_module
def test_rooms_without_tensors_import_no_torch(path, room):
    if room in TORCHLESS:
        packages = {name.split(".")[0] for name in imported(path)}
        assert not packages & {"torch", "lightning"}
        # nor through a room that has them
        assert rooms(path) <= {*TORCHLESS, *FREE}


def test_models_meet_text_only_through_batches():
    for path in [
        *(ROOT / "models").rglob("*.py"),
        *(ROOT / "layers").rglob("*.py"),
        *(ROOT / "ops").rglob("*.py"),
    ]:
        assert not rooms(path) & {"text", "worlds"}, path


def test_translating_needs_no_training_code():
    for room in ("search", "output", "folder.py", "translator", "evaluation.py", "report.py"):
        place = ROOT / room
        for path in place.rglob("*.py") if place.is_dir() else [place]:
            assert not rooms(path) & {"training", "cli"}, path


def test_search_knows_of_text_only_the_specials():
    for path in (ROOT / "search").rglob("*.py"):
        known = {name for name in imported(path) if name.startswith("regard.text")}
        assert known <= {"regard.text.specials"}, path


def test_ops_know_no_layers_and_no_parameters():
    for path in (ROOT / "ops").rglob("*.py"):
        assert rooms(path) <= {"ops", *FREE}
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
