"""tools/structure.py counts what it says, on a package of four modules."""

import importlib.util
import sys
from pathlib import Path

import pytest

_spec = importlib.util.spec_from_file_location(
    "structure", Path(__file__).parents[1] / "tools" / "structure.py"
)
structure = importlib.util.module_from_spec(_spec)
sys.modules["structure"] = structure  # dataclasses look their module up
_spec.loader.exec_module(structure)

FILES = {
    "__init__.py": '"""Nothing."""\n',
    "one.py": '"""A docstring\nof two lines."""\n\nfrom regard.part.two import f\n\n# a comment\nx = f()\n',
    "part/__init__.py": "from . import two\n",
    "part/two.py": "def f():\n    return 1\n\n\ndef g():\n    return 2\n",
    "part/three.py": "def _hidden():\n    from regard import one\n\n    return one\n\n\ndef g():\n    return 3\n",
}


@pytest.fixture
def checkout(tmp_path):
    for name, text in FILES.items():
        path = tmp_path / "src" / "regard" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def test_files_code_lines_importers_and_repeated_names_are_counted(checkout):
    numbers, lists = structure.measure(checkout, traced=False)
    assert numbers["files"] == 5
    assert numbers["lines"] == sum(len(text.splitlines()) for text in FILES.values())
    assert numbers["code_lines"] == 0 + 2 + 1 + 4 + 5
    # one is imported by three, inside a function; two by one and by its package
    assert lists["single_importer_modules"] == ["regard.one (by regard.part.three)"]
    assert lists["repeated_names"] == ["g: regard.part.three, regard.part.two"]


def test_a_crossing_records_the_functions_of_its_folder_that_ran():
    crossing = structure.Crossing(Path(structure.__file__).parent)
    crossing.start()
    structure.outside_ops(["regard.ops.gru", "regard.models"])
    crossing.stop()
    assert crossing.files == ["structure.py"]
    assert "structure.py:outside_ops" in crossing.functions


def test_a_folder_without_the_package_is_an_error(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(sys, "argv", ["structure.py", "--root", str(tmp_path)])
    with pytest.raises(SystemExit, match="2"):
        structure.main()
    assert "not a checkout of regard" in capsys.readouterr().err
