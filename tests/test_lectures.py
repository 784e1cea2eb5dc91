"""docs/lectures.md: each link leads to the line that it quotes, each experiment exists in the lab."""

import re
import sys
from pathlib import Path

import pytest

from regard.config import set_option
from regard.lab import EXPERIMENTS
from regard.lab.runner.experiment import HELD, IN_PART, NOT_DECIDED, NOT_SEEN
from regard.training.configure import PRESETS, configure

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tools"))
from relink import relink  # noqa: E402

PAGE = ROOT / "docs" / "lectures.md"
TEXT = PAGE.read_text(encoding="utf-8")
ROW = "| the lecture | the code | the experiment |"
NAMED = re.compile(r"`regard lab (\w+)`(?: \(`([^`]+)`\))?")
LINK = re.compile(r"\[([\w/.]+):(\d+)\]\(([\w/.]+)#L(\d+)\) `([^`]+)`")


def find_fault(label, number, target, anchor, fragment):
    """What is wrong with a link to a line, and where the line is now; empty if the link is right."""
    if target != f"../src/regard/{label}" or number != anchor:
        return f"[{label}:{number}] links to {target}#L{anchor}; let both name the same line"
    file = (PAGE.parent / target).resolve()
    if not file.is_file():
        return f"{label}: no such file; if it moved, run python tools/relink.py"
    lines = file.read_text(encoding="utf-8").splitlines()
    if int(number) <= len(lines) and fragment in lines[int(number) - 1]:
        return ""
    now = [str(k) for k, line in enumerate(lines, 1) if fragment in line]
    where = f"it is on line {' and '.join(now)} now" if now else "no line of the file contains it"
    return f"{label}:{number} is not `{fragment}`; {where}"


def rows(heading=ROW):
    """The cells of each row of the page's tables with this heading."""
    found, inside = [], False
    for line in TEXT.splitlines():
        if not line.startswith("|"):
            inside = False
        elif inside and not line.startswith("|---"):
            found.append(line.strip("| ").split(" | "))
        inside = inside or line == heading
    return found


def test_every_link_leads_to_the_line_it_quotes():
    links = LINK.findall(TEXT)
    assert len(links) > 100
    faults = [fault for fault in (find_fault(*link) for link in links) if fault]
    assert not faults, "\n".join(["docs/lectures.md (python tools/relink.py moves links):", *faults])


def test_every_link_to_a_line_has_the_checked_form():
    assert len(re.findall(r"#L\d+", TEXT)) == len(LINK.findall(TEXT))


def test_every_row_has_a_claim_a_line_and_an_experiment():
    assert len(rows()) > 80
    for cells in rows():
        assert len(cells) == 3, cells
        assert cells[0], cells
        assert LINK.fullmatch(cells[1]), cells[1]
        assert re.fullmatch(rf"{NAMED.pattern}(, {NAMED.pattern})*", cells[2]), cells[2]


def test_every_experiment_of_the_lab_is_named():
    named = {name for cells in rows() for name in re.findall(r"`regard lab (\w+)`", cells[2])}
    assert named == set(EXPERIMENTS)


def test_every_experiment_s_verdict_is_there():
    found = rows("| the experiment | the verdict | what was measured |")
    assert [cells[0].strip("`") for cells in found] == list(EXPERIMENTS)
    for cells in found:
        assert len(cells) == 3, cells
        assert cells[1] in (HELD, IN_PART, NOT_SEEN, NOT_DECIDED), cells


def test_every_row_of_a_model_has_a_claim_a_line_and_options_that_configure_it():
    options = [cells[2] for cells in rows("| the lecture | the code | the preset |")]
    assert len(options) >= 25
    named = set()
    for cells in rows("| the lecture | the code | the preset |"):
        assert len(cells) == 3, cells
        assert LINK.fullmatch(cells[1]), cells[1]
        preset, *assigned = re.fullmatch(r"`--preset ([\w-]+)((?: --set \S+)*)`", cells[2]).groups()[0:2]
        changed = {}
        for assignment in assigned[0].split(" --set ")[1:]:
            set_option(changed, assignment)
        configure(changed, preset=preset)
        named.add(preset)
    assert named == {name for name in PRESETS if name.startswith("lecture-")}


def test_the_five_lectures_are_in_order_and_linked_from_the_top():
    headings = re.findall(r"^## (\d)\. (.+)$", TEXT, flags=re.MULTILINE)
    assert [int(number) for number, _ in headings] == [1, 2, 3, 4, 5]
    for number, title in headings:
        slug = re.sub(r"[^\w -]", "", f"{number} {title}".lower()).replace(" ", "-")
        assert f"{number}. [{title}](#{slug})" in TEXT


def test_every_other_link_exists():
    targets = [target for target in re.findall(r"\]\(([^)#\s]+)", TEXT) if "#" not in target]
    for target in targets:
        assert re.match(r"https?://", target) or (PAGE.parent / target).exists(), target


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"number": "37", "anchor": "38"}, "let both name the same line"),
        ({"number": "36", "anchor": "36"}, r"is not `projected \+ recurrent @ U.T`; it is on line \d+ now"),
        ({"number": "9999", "anchor": "9999"}, r"it is on line \d+ now"),
        ({"label": "ops/none.py", "target": "../src/regard/ops/none.py"}, "no such file"),
        ({"fragment": "no such words"}, "no line of the file contains it"),
        ({"target": "../src/regard/ops/gru/naive.py"}, "let both name the same line"),
    ],
)
def test_a_wrong_link_is_reported_with_its_remedy(change, message):
    right = dict(
        zip(
            ("label", "number", "target", "anchor", "fragment"),
            ("ops/rnn/naive.py", "47", "../src/regard/ops/rnn/naive.py", "47", "projected + recurrent @ U.T"),
            strict=True,
        )
    )
    assert not find_fault(**right)
    assert re.search(message, find_fault(**(right | change)))


def link(path, line, fragment):
    return f"[{path}:{line}](../src/regard/{path}#L{line}) `{fragment}`"


@pytest.fixture
def package(tmp_path):
    (tmp_path / "ops").mkdir()
    (tmp_path / "ops" / "here.py").write_text("import torch\n\na = W @ x\nb = a\nb = a\n")
    (tmp_path / "moved.py").write_text("# Eq. 5\ncontext = alpha @ h\n")
    return tmp_path


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (("ops/here.py", 3, "a = W @ x"), ("ops/here.py", 3, "a = W @ x")),
        (("ops/here.py", 1, "a = W @ x"), ("ops/here.py", 3, "a = W @ x")),
        (("ops/here.py", 5, "b = a"), ("ops/here.py", 5, "b = a")),
        (("ops/gone.py", 9, "context = alpha @ h"), ("moved.py", 2, "context = alpha @ h")),
        (("ops/here.py", 9, "context = alpha @ h"), ("moved.py", 2, "context = alpha @ h")),
    ],
)
def test_relinking_moves_a_link_to_the_line_it_quotes(package, before, after):
    page = f"| claim | {link(*before)} | `regard lab x` |"
    assert relink(page, package) == (f"| claim | {link(*after)} | `regard lab x` |", [])


@pytest.mark.parametrize(
    ("fragment", "reported"),
    [("b = a", "ops/here.py:4, ops/here.py:5"), ("no such", "no line of the package")],
)
def test_relinking_reports_a_link_it_cannot_decide_and_leaves_it(package, fragment, reported):
    page = link("ops/here.py", 1, fragment)
    assert relink(page, package) == (page, [f"ops/here.py:1 `{fragment}` is on {reported}"])
