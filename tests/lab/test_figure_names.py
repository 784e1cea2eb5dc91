"""Every file of figures is an experiment's and has the same three doors; the words of its numbers are tested there."""

from importlib import import_module
from pkgutil import iter_modules
from typing import get_type_hints

import pytest

from regard import lab as figures
from regard.lab import EXPERIMENTS
from regard.lab.runner import CaptionedFigure, Table

NAMES = [module.name for module in iter_modules(figures.__path__)]


def test_each_is_an_experiments():
    assert NAMES
    assert set(NAMES) <= set(EXPERIMENTS)


@pytest.mark.parametrize("name", NAMES)
def test_drawings_tables_and_remarks_come_as_lists(name):
    module = import_module(f"regard.lab.{name}")
    for verb, kind in (("draw", CaptionedFigure), ("tabulate", Table), ("remark", str)):
        assert get_type_hints(getattr(module, f"{verb}_{name}"))["return"] == list[kind]
