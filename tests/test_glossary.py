"""docs/glossary.md: every place in the code exists, and every public name and table key has an entry."""

import re
from pathlib import Path

import pytest

import regard
from regard.datasets import DATASETS
from regard.evaluation.metrics import METRICS
from regard.layers import CELLS, ENERGIES
from regard.models.decoders.config import DecoderConfig
from regard.tasks import TASKS

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
CODE = re.compile(r"`([\w/.]+\.py)` `(\w+)`")


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
    assert len(ROWS) >= 90
    for row in ROWS:
        assert len(row) == 4, row
        term, meaning, _, code = row
        assert term, row
        assert meaning.endswith("."), row
        assert CODE.fullmatch(code), row


def test_every_place_exists_and_has_its_symbol():
    faults = []
    for term, _, _, code in ROWS:
        path, symbol = CODE.fullmatch(code).groups()
        file = ROOT / "src" / "regard" / path
        if not file.is_file():
            faults.append(f"{term}: there is no {path}")
        elif not re.search(rf"\b{symbol}\b", file.read_text(encoding="utf-8")):
            faults.append(f"{term}: {path} has no {symbol}")
    assert not faults, "\n".join(faults)


def test_terms_are_in_alphabetical_order_within_their_group():
    for title, rows in tables().items():
        terms = [re.sub(r"[`_]", "", row[0]).casefold() for row in rows]
        assert terms == sorted(terms), title


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
    assert re.search(rf"(?<![\w-]){re.escape(key)}(?![\w-])", terms), key
