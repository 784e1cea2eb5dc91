"""Moves the links of docs/lectures.md to the lines they quote: `python tools/relink.py [--check]`.

A link is ``[path:line](../src/regard/path#Lline) `fragment` ``. Where that line no longer holds the fragment, the link
moves to the one line of the file that does, or to the one line of the package if the file has none. A fragment on no
line or on several is reported and left alone; the exit status is then 1.
"""

import argparse
import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "lectures.md"
PACKAGE = ROOT / "src" / "regard"
LINK = re.compile(r"\[(?P<path>[\w/.]+):(?P<line>\d+)\]\([\w/.]+#L\d+\) `(?P<fragment>[^`]+)`")


def find_lines(path: Path, fragment: str) -> list[int]:
    """The lines of a file that hold a fragment, counted from 1; none where there is no such file."""
    if not path.is_file():
        return []
    lines = path.read_text(encoding="utf-8").splitlines()
    return [number for number, line in enumerate(lines, start=1) if fragment in line]


def locate(package: Path, path: str, line: int, fragment: str) -> list[tuple[str, int]]:
    """The places a link may mean: exactly one where it is decided.

    Args:
        package: the folder that paths are relative to.
        path: the file the link names.
        line: the line it names.
        fragment: what must be on that line.
    """
    here = find_lines(package / path, fragment)
    if line in here:
        return [(path, line)]
    if here:
        return [(path, number) for number in here]
    files = sorted(package.rglob("*.py"))
    return [
        (file.relative_to(package).as_posix(), number)
        for file in files
        for number in find_lines(file, fragment)
    ]


def relink(text: str, package: Path) -> tuple[str, list[str]]:
    """Rewrite every link of a page that is off its line.

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
            found = ", ".join(f"{where}:{number}" for where, number in places) or "no line of the package"
            undecided.append(f"{path}:{line} `{fragment}` is on {found}")
            return link[0]
        ((path, line),) = places
        return f"[{path}:{line}](../src/regard/{path}#L{line}) `{fragment}`"

    return LINK.sub(move, text), undecided


def main() -> int:
    """Relink the page; with ``--check``, only say whether anything is off its line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a link is off its line")
    arguments = parser.parse_args()
    before = PAGE.read_text(encoding="utf-8")
    after, undecided = relink(before, PACKAGE)
    moved = sum(
        old[0] != new[0] for old, new in zip(LINK.finditer(before), LINK.finditer(after), strict=True)
    )
    if after != before and not arguments.check:
        PAGE.write_text(after, encoding="utf-8")
    print(f"{moved} links off their line, {len(undecided)} undecided", *undecided, sep="\n")
    return int(bool(undecided) or (arguments.check and moved > 0))


if __name__ == "__main__":
    sys.exit(main())
