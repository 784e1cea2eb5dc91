"""The README of the equations points at what is there, and leaves nothing out."""

import re
from pathlib import Path

from regard import ops

HERE = Path(ops.__file__).parent
TEXT = (HERE / "README.md").read_text(encoding="utf-8")
LINKS = re.findall(r"\]\(([^)]+)\)", TEXT)


def test_every_link_leads_somewhere():
    assert len(LINKS) > 20
    for link in LINKS:
        assert (HERE / link).exists(), link


def test_every_equation_is_listed():
    for path in (p for name in ("naive", "fused", "native", "persistent") for p in HERE.rglob(f"{name}.py")):
        assert str(path.relative_to(HERE)) in LINKS
