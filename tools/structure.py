"""Signs of good or bad structure, counted: how much code there is, how scattered it is, and how far one datum travels.

    python tools/structure.py [--root REPOSITORY] [--json] [--list] [--static]

In: a checkout of Regard. Out: a few numbers, to be compared before and after a change:

- files, lines and lines of code (no docstrings, comments or blank lines; imports count);
- modules that exactly one other module imports, which are usually part of that other; packages are counted apart;
- public names that several modules define: one name, several meanings;
- the files and functions that one sentence crosses, through a warm `Translator.translate` and through the command
  ``regard translate`` once the model is loaded; and those that one update of training crosses.

Knows no module of the package by name: only `regard.train`, `regard.Translator` and `regard.cli.main`, which it
imports from ``src`` of that checkout, and the options in `OPTIONS`. It counts Python only: what runs in C or Triton is
not traced.
"""

import argparse
import ast
import io
import json
import sys
import tempfile
import threading
import tokenize
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType
from typing import Any
from unittest.mock import patch

PACKAGE = "regard"

OPTIONS = ("training.max_updates=3", "training.batch_sentences=8", "training.device=cpu")
"""Of the traced run: an epoch of 50 pairs has more than three updates, so no validation falls between the last two."""

_FIRST, _LAST = 2, 3  # updates; what lies between their ends is traced

_NOT_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
}


@dataclass(frozen=True)
class Module:
    """A Python file of the package.

    Attributes:
        name: as it is imported, such as ``regard.models``.
        path: of the file.
        source: its text.
        tree: its syntax.
    """

    name: str
    path: Path
    source: str
    tree: ast.Module

    @property
    def package(self) -> str:
        """The package that relative imports of this module start from."""
        return self.name if self.path.name == "__init__.py" else self.name.rpartition(".")[0]


@dataclass
class Crossing:
    """The functions of a folder that ran during some span, whatever thread they ran on.

    A function is crossed when it is called or resumed, and also when it calls something: so the loop that was running
    before the span began is counted for what it does in the span. Comprehensions and lambdas count for their file but
    not as functions; code that was generated, such as a dataclass's ``__init__``, has no file.

    Attributes:
        folder: only files below it are recorded.
        code: what was crossed.
    """

    folder: Path
    code: set[CodeType] = field(default_factory=set)

    def start(self) -> None:
        """Record from here on."""
        threading.setprofile(self._record)
        if sys.version_info >= (3, 12):
            threading.setprofile_all_threads(self._record)
        else:
            sys.setprofile(self._record)

    def stop(self) -> None:
        """Record no more."""
        threading.setprofile(None)
        if sys.version_info >= (3, 12):
            threading.setprofile_all_threads(None)
        else:
            sys.setprofile(None)

    def _record(self, frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            self.code.add(frame.f_code)
            if frame.f_back is not None:
                self.code.add(frame.f_back.f_code)

    @property
    def functions(self) -> list[str]:
        """The functions, each as ``file:name``, sorted."""
        return sorted(
            {
                f"{self._inside(code)}:{code.co_qualname}"
                for code in self._ours()
                if not code.co_name.startswith("<")
            }
        )

    @property
    def files(self) -> list[str]:
        """Their files, relative to the folder, sorted."""
        return sorted({self._inside(code) for code in self._ours()})

    def _ours(self) -> Iterator[CodeType]:
        return (code for code in self.code if Path(code.co_filename).is_relative_to(self.folder))

    def _inside(self, code: CodeType) -> str:
        return Path(code.co_filename).relative_to(self.folder).as_posix()


def read_modules(source_folder: Path) -> list[Module]:
    """Read every Python file of the package.

    Args:
        source_folder: what holds the package's folder.
    """
    modules = []
    for path in sorted((source_folder / PACKAGE).rglob("*.py")):
        parts = path.relative_to(source_folder).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        source = path.read_text(encoding="utf-8")
        modules.append(Module(name, path, source, ast.parse(source, str(path))))
    return modules


def count_code_lines(module: Module) -> int:
    """Count the lines that hold code: no docstrings, comments or blank lines."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(module.source).readline):
        if token.type not in _NOT_CODE:
            lines.update(range(token.start[0], token.end[0] + 1))
    return len(lines - _docstring_lines(module.tree))


def _docstring_lines(tree: ast.Module) -> set[int]:
    """The lines of docstrings: those of modules, classes and functions, and those below a constant or a field."""
    lines: set[int] = set()
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        ):
            lines.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return lines


def find_importers(modules: Sequence[Module]) -> dict[str, set[str]]:
    """Find which modules import each module; imports inside functions and for type checkers alone count.

    Returns:
        The imported module's name → the names of the others that import it.
    """
    names = {module.name for module in modules}
    importers: dict[str, set[str]] = defaultdict(set)
    for module in modules:
        for imported in _imports(module, names):
            if imported != module.name:
                importers[imported].add(module.name)
    return importers


def _imports(module: Module, names: set[str]) -> Iterator[str]:
    """The modules of the package that a module imports; ``from a.b import c`` is a.b.c where that is a module."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in names)
        elif isinstance(node, ast.ImportFrom):
            origin = _origin(node, module.package)
            for alias in node.names:
                imported = f"{origin}.{alias.name}"
                if imported in names:
                    yield imported
                elif origin in names:
                    yield origin


def _origin(node: ast.ImportFrom, package: str) -> str:
    """What ``from … import`` names, the dots of a relative import resolved."""
    if not node.level:
        return node.module or ""
    parts = package.split(".")
    above = parts[: len(parts) - node.level + 1]
    return ".".join([*above, node.module] if node.module else above)


def find_repeated_names(modules: Sequence[Module]) -> dict[str, list[str]]:
    """Find the public classes and functions whose name is defined at the top level of more than one module.

    Returns:
        The name → the modules that define it.
    """
    homes: dict[str, set[str]] = defaultdict(set)
    for module in modules:
        for node in module.tree.body:
            if isinstance(
                node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
            ) and not node.name.startswith("_"):
                homes[node.name].add(module.name)
    return {name: sorted(where) for name, where in sorted(homes.items()) if len(where) > 1}


def outside_ops(names: Sequence[str]) -> list[str]:
    """The modules that are not of ``ops``, where one file to a backend, under one name, is the rule."""
    ops = f"{PACKAGE}.ops"
    return [name for name in names if name != ops and not name.startswith(f"{ops}.")]


def trace(source_folder: Path) -> dict[str, Crossing]:
    """Train a model on generated pairs and translate one sentence with it.

    Args:
        source_folder: what holds the package's folder; nothing of the package has been imported yet.

    Returns:
        ``translate``: what a second `Translator.translate` crosses; ``command``: what ``regard translate`` crosses
        once the model is loaded; ``update``: what one update crosses, from the end of the second to the end of the
        third: the next batch, forward, backward and the optimizer's step.

    Raises:
        ImportError: the package was imported from elsewhere.
    """
    sys.path.insert(0, str(source_folder))
    import regard

    folder = source_folder / PACKAGE
    if not Path(regard.__file__).resolve().is_relative_to(folder):
        raise ImportError(f"{PACKAGE} was imported from {regard.__file__}, not from {folder}")
    updating, translating, command = Crossing(folder), Crossing(folder), Crossing(folder)
    with tempfile.TemporaryDirectory() as temporary:
        model = Path(temporary) / "model"
        with _after_updates({_FIRST: updating.start, _LAST: updating.stop}):
            regard.train(model, _pairs(), options=OPTIONS)
        translator = regard.Translator.load(model)
        sentence = _pairs()[0][0]
        translator.translate([sentence])
        translating.start()
        translator.translate([sentence])
        translating.stop()
        _translate_by_command(model, sentence, Path(temporary), command)
    return {"translate": translating, "command": command, "update": updating}


def _translate_by_command(model: Path, sentence: str, folder: Path, crossing: Crossing) -> None:
    """Run ``regard translate`` in this process; the crossing starts when the model is loaded."""
    import regard
    from regard.cli import main

    source = folder / "source.txt"
    source.write_text(f"{sentence}\n", encoding="utf-8")
    arguments = ["regard", "translate", str(model), str(source), "--output", str(folder / "output.txt")]
    load = regard.Translator.load

    def load_and_start(*args: Any, **options: Any) -> Any:
        translator = load(*args, **options)
        crossing.start()
        return translator

    with patch.object(sys, "argv", arguments), suppress(SystemExit):
        main()  # imports what the command needs
    with (
        patch.object(sys, "argv", arguments),
        patch.object(regard.Translator, "load", load_and_start),
        suppress(SystemExit),
    ):
        main()
    crossing.stop()


def _pairs() -> list[tuple[str, str]]:
    """Fifty sentences of five numbers, each with its reversal."""
    words = ["null", "eins", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun"]
    sentences = [[words[(3 * row + place * place) % 10] for place in range(5)] for row in range(50)]
    return [(" ".join(sentence), " ".join(reversed(sentence))) for sentence in sentences]


@contextmanager
def _after_updates(actions: Mapping[int, Callable[[], None]]) -> Iterator[None]:
    """Act after single updates: the number of an update, counted from 1 → what to do when its optimizer has stepped.

    Raises:
        RuntimeError: there were fewer updates than that.
    """
    from torch.optim.optimizer import register_optimizer_step_post_hook

    updates = 0

    def count(*_: Any) -> None:
        nonlocal updates
        updates += 1
        if updates in actions:
            actions[updates]()

    hook = register_optimizer_step_post_hook(count)
    try:
        yield
    finally:
        hook.remove()
    if updates < max(actions):
        raise RuntimeError(
            f"{updates} updates were seen and {max(actions)} are needed; look at the options of the traced run"
        )


def measure(root: Path, *, traced: bool = True) -> tuple[dict[str, int], dict[str, list[str]]]:
    """Count everything.

    Args:
        root: of a checkout.
        traced: whether to train and translate too, which takes some seconds.

    Returns:
        The numbers by name, and what was counted: the modules, names, files and functions.
    """
    source_folder = root.resolve() / "src"
    modules = read_modules(source_folder)
    importers = find_importers(modules)
    packages = {module.name for module in modules if module.name == module.package}
    imported_once = sorted(name for name, others in importers.items() if len(others) == 1)
    single = [name for name in imported_once if name not in packages]
    single_packages = [name for name in imported_once if name in packages]
    repeated = find_repeated_names(modules)
    numbers = {
        "files": len(modules),
        "lines": sum(len(module.source.splitlines()) for module in modules),
        "code_lines": sum(map(count_code_lines, modules)),
        "single_importer_modules": len(single),
        "single_importer_modules_outside_ops": len(outside_ops(single)),
        "single_importer_packages": len(single_packages),
        "repeated_names": len(repeated),
        "repeated_names_outside_ops": sum(len(outside_ops(where)) > 1 for where in repeated.values()),
    }
    lists = {
        "single_importer_modules": [f"{name} (by {min(importers[name])})" for name in single],
        "repeated_names": [f"{name}: {', '.join(where)}" for name, where in repeated.items()],
    }
    if traced:
        for name, crossing in trace(source_folder).items():
            for kind in ("files", "functions"):
                lists[f"{name}_{kind}"] = getattr(crossing, kind)
                numbers[f"{name}_{kind}"] = len(lists[f"{name}_{kind}"])
    return numbers, lists


LABELS = {
    "files": "Python files",
    "lines": "lines",
    "code_lines": "lines of code",
    "single_importer_modules": "modules with exactly one importer",
    "single_importer_modules_outside_ops": "  of these outside ops/",
    "single_importer_packages": "packages with exactly one importer (__init__.py)",
    "repeated_names": "public names that several modules define",
    "repeated_names_outside_ops": "  of these outside ops/",
    "translate_files": "files that Translator.translate crosses",
    "translate_functions": "functions that Translator.translate crosses",
    "command_files": "files that regard translate crosses",
    "command_functions": "functions that regard translate crosses",
    "update_files": "files that an update crosses",
    "update_functions": "functions that an update crosses",
}
"""What is printed for each number."""


def main() -> None:
    """Read the arguments, count, print."""
    parser = argparse.ArgumentParser(description="Count signs of good or bad structure.")
    parser.add_argument(
        "--root", type=Path, default=Path(__file__).parents[1], help="a checkout; by default this one"
    )
    parser.add_argument("--json", action="store_true", help="print a JSON object")
    parser.add_argument("--list", action="store_true", help="name also what was counted")
    parser.add_argument(
        "--static", action="store_true", help="read the code only; train and translate nothing"
    )
    arguments = parser.parse_args()
    if not (arguments.root / "src" / PACKAGE).is_dir():
        parser.error(f"{arguments.root}: not a checkout of {PACKAGE}, because it has no src/{PACKAGE}")
    numbers, lists = measure(arguments.root, traced=not arguments.static)
    if arguments.json:
        text = json.dumps({**numbers, **({"lists": lists} if arguments.list else {})}, indent=2)
    else:
        rows = [f"{LABELS[name]:<50}{number:>8,}" for name, number in numbers.items()]
        for name, members in lists.items() if arguments.list else ():
            rows += ["", f"{LABELS[name]}:", *(f"  {member}" for member in members)]
        text = "\n".join(rows)
    print(text)


if __name__ == "__main__":
    main()
