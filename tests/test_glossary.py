"""docs/glossary.md: every place defines its symbol, and every public name and table key has an entry."""

import re
import sys
from pathlib import Path

import pytest

import regard
from regard.datasets import DATASETS
from regard.evaluation.metrics import METRICS
from regard.layers import CELLS, ENERGIES
from regard.models.decoders.config import DecoderConfig
from regard.tasks import TASKS

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "regard"
sys.path.insert(0, str(ROOT / "tools"))
from relink import defines, find_definitions, replace_places  # noqa: E402

TEXT = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
CODE = re.compile(r"`([\w/.]+\.py)` `(\w+)`")
SENTENCE_END = re.compile(r"[.!?] [A-Z]")


def tables():
    """The rows of each group: (term, meaning, source, code)."""
    groups = {}
    for part in TEXT.split("\n## ")[1:]:
        title, _, body = part.partition("\n")
        lines = [line for line in body.splitlines() if line.startswith("| ")]
        groups[title] = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[1:]]
    return groups


ROWS = [row for rows in tables().values() for row in rows]


def test_every_row_has_a_term_one_sentence_and_a_place():
    assert len(ROWS) >= 150
    for row in ROWS:
        assert len(row) == 4, f"{row[0]}: {len(row)} cells; a row is | term | meaning | source | code |"
        term, meaning, _, code = row
        assert term, row
        assert meaning.endswith("."), f"{term}: the meaning does not end with a full stop"
        assert not SENTENCE_END.search(meaning), f"{term}: the meaning has more than one sentence"
        assert CODE.fullmatch(code), f"{term}: {code!r} is not `folder/file.py` `symbol`"


def test_no_term_has_two_entries():
    terms = [row[0] for row in ROWS]
    assert not {term for term in terms if terms.count(term) > 1}


def test_every_place_defines_its_symbol():
    """Defined, not only mentioned: a class, function, parameter, variable, attribute, or key of a table."""
    faults = []
    for term, _, _, code in ROWS:
        path, symbol = CODE.fullmatch(code).groups()
        if not defines(PACKAGE / path, symbol):
            missing = "does not define it" if (PACKAGE / path).is_file() else "does not exist"
            files = ", ".join(find_definitions(PACKAGE, symbol)) or "no file; has it been renamed?"
            faults.append(f"{term}: `{path}` `{symbol}`: the file {missing}; it is defined in {files}")
    assert not faults, "\n".join(["docs/glossary.md (python tools/relink.py moves most):", *faults])


def test_terms_are_in_alphabetical_order_within_their_group():
    for title, rows in tables().items():
        terms = [re.sub(r"[`_]", "", row[0]).casefold() for row in rows]
        for term, expected in zip(terms, sorted(terms), strict=True):
            assert term == expected, f"{title}: {expected!r} belongs before {term!r}"


def keys():
    yield from regard.__all__
    yield from CELLS
    yield from ENERGIES
    yield from DecoderConfig.variants
    yield from DATASETS
    yield from TASKS
    yield from METRICS


@pytest.mark.parametrize("key", sorted({*keys()}))
def test_every_public_name_and_every_key_has_an_entry(key):
    terms = " ".join(row[0] for row in ROWS)
    has_entry = re.search(rf"(?<![\w-]){re.escape(key)}(?![\w-])", terms)
    assert has_entry, f"{key}: add a row | `{key}` | one sentence. | paper | `folder/file.py` `{key}` |"


@pytest.mark.parametrize(
    ("place", "moved", "reported"),
    [
        ("`one.py` `Cell`", "`one.py` `Cell`", []),
        ("`gone.py` `Cell`", "`one.py` `Cell`", []),
        ("`two.py` `Cell`", "`one.py` `Cell`", []),
        ("`one.py` `size`", "`two.py` `size`", []),
        ("`gone.py` `both`", "`gone.py` `both`", ["gone.py `both` is defined in one.py, two.py"]),
        ("`one.py` `never`", "`one.py` `never`", ["one.py `never` is defined in no file of the package"]),
    ],
)
def test_relinking_moves_a_place_to_the_file_that_defines_its_symbol(tmp_path, place, moved, reported):
    (tmp_path / "one.py").write_text("class Cell:\n    both = 1\n")
    (tmp_path / "two.py").write_text("from one import Cell\n\n\ndef f(size):\n    both = Cell  # never\n")
    assert replace_places(f"| term | Meaning. | | {place} |\n", tmp_path) == (
        f"| term | Meaning. | | {moved} |\n",
        reported,
    )
