"""Moves the links of docs/lectures.md and the places of docs/glossary.md: `python tools/relink.py [--check]`.

A link of the lectures is ``[path:line](../src/regard/path#Lline) `fragment` ``. If that line no longer holds the
fragment, the link moves to the one line of the file that does, or to the one line of the package if the file has none.
A place of the glossary is `` `path` `symbol` ``. If that file no longer defines the symbol, the place moves to the one
file of the package that does. What is on no line, or on several, is reported and left alone; the exit status is then 1.
"""

import argparse
import ast
import re
import sys
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
LECTURES = ROOT / "docs" / "lectures.md"
GLOSSARY = ROOT / "docs" / "glossary.md"
PACKAGE = ROOT / "src" / "regard"
LINK = re.compile(r"\[(?P<path>[\w/.]+):(?P<line>\d+)\]\([\w/.]+#L\d+\) `(?P<fragment>[^`]+)`")
PLACE = re.compile(r"`(?P<path>[\w/]+\.py)` `(?P<symbol>\w+)` \|$", re.MULTILINE)


def find_lines(path: Path, fragment: str) -> list[int]:
    """The lines of a file that hold a fragment, counted from 1; none if the file does not exist."""
    if not path.is_file():
        return []
    lines = path.read_text(encoding="utf-8").splitlines()
    return [number for number, line in enumerate(lines, start=1) if fragment in line]


def locate(package: Path, path: str, line: int, fragment: str) -> list[tuple[str, int]]:
    """The places that a link may mean; exactly one if it is decided.

    Args:
        package: the folder that paths are relative to.
        path: the file that the link names.
        line: the line that it names.
        fragment: what must be on that line.
    """
    here = find_lines(package / path, fragment)
    if line in here:
        return [(path, line)]
    if here:
        return [(path, number) for number in here]
    return [
        (file.relative_to(package).as_posix(), number)
        for file in sorted(package.rglob("*.py"))
        for number in find_lines(file, fragment)
    ]


def relink(text: str, package: Path) -> tuple[str, list[str]]:
    """Move every link of the lectures that is off its line.

    Args:
        text: the page.
        package: the folder that paths are relative to.

    Returns:
        The page, and a message for each link that could not be decided.
    """
    undecided = []

    def move(link: re.Match[str]) -> str:
        path, line, fragment = link["path"], int(link["line"]), link["fragment"]
        places = locate(package, path, line, fragment)
        if len(places) != 1:
            lines = ", ".join(f"{where}:{number}" for where, number in places) or "no line of the package"
            undecided.append(f"{path}:{line} `{fragment}` is on {lines}")
            return link[0]
        ((path, line),) = places
        return f"[{path}:{line}](../src/regard/{path}#L{line}) `{fragment}`"

    return LINK.sub(move, text), undecided


@cache
def definitions(path: Path) -> frozenset[str]:
    """The names that a file defines: classes, functions, parameters, variables, attributes, and keys of its tables."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.arg):
            names.add(node.arg)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            names.add(node.attr)
        elif isinstance(node, ast.Dict):
            names.update(
                key.value for key in node.keys if isinstance(key, ast.Constant) and isinstance(key.value, str)
            )
    return frozenset(names)


def defines(path: Path, symbol: str) -> bool:
    """Whether a file exists and defines a symbol."""
    return path.is_file() and symbol in definitions(path)


def find_definitions(package: Path, symbol: str) -> list[str]:
    """The files that define a symbol: as a class or function or, where there is none, in another way."""
    files = [path for path in sorted(package.rglob("*.py")) if symbol in definitions(path)]
    pattern = re.compile(rf"^ *(?:class|(?:async )?def) {symbol}\b", re.MULTILINE)
    strong = [path for path in files if pattern.search(path.read_text(encoding="utf-8"))]
    return [path.relative_to(package).as_posix() for path in strong or files]


def replace_places(text: str, package: Path) -> tuple[str, list[str]]:
    """Move every place of the glossary whose file does not define its symbol.

    Args:
        text: the page.
        package: the folder that paths are relative to.

    Returns:
        The page, and a message for each place that could not be decided.
    """
    undecided = []

    def move(place: re.Match[str]) -> str:
        path, symbol = place["path"], place["symbol"]
        if defines(package / path, symbol):
            return place[0]
        files = find_definitions(package, symbol)
        if len(files) != 1:
            undecided.append(
                f"{path} `{symbol}` is defined in {', '.join(files) or 'no file of the package'}"
            )
            return place[0]
        return f"`{files[0]}` `{symbol}` |"

    return PLACE.sub(move, text), undecided


def main() -> int:
    """Rewrite both pages; with ``--check``, only report what is out of place."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--check", action="store_true", help="write nothing; fail if anything is out of place"
    )
    arguments = parser.parse_args()
    status = 0
    for page, pattern, rewrite in ((LECTURES, LINK, relink), (GLOSSARY, PLACE, replace_places)):
        before = page.read_text(encoding="utf-8")
        after, undecided = rewrite(before, PACKAGE)
        pairs = zip(pattern.finditer(before), pattern.finditer(after), strict=True)
        moved = sum(old[0] != new[0] for old, new in pairs)
        if after != before and not arguments.check:
            page.write_text(after, encoding="utf-8")
        print(f"{page.name}: {moved} out of place, {len(undecided)} undecided", *undecided, sep="\n")
        status |= int(bool(undecided) or (arguments.check and moved > 0))
    return status


if __name__ == "__main__":
    sys.exit(main())
