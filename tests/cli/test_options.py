"""Flags from dataclasses: a field is a flag, with its default, its type and its help."""

import re
from dataclasses import dataclass, fields
from typing import Literal

import pytest
import typer
from typer.testing import CliRunner

from regard.cli.options import option_flags
from regard.cli.translate import translate
from regard.cli.tree import tree
from regard.cli.what_if import what_if
from regard.search.options import Options, SamplingOptions, SearchOptions, option


@dataclass(frozen=True)
class MoreOptions(SearchOptions):
    """What adding fields to `SearchOptions` amounts to."""

    prune_below: float = option(0.0, "Prune hypotheses this far below the best.", low=0)
    order: Literal["left", "right"] = option("left", "Which end comes first.", choices=("left", "right"))
    mirrored: bool = option(False, "Whether to mirror the output.")


def run(kind, *arguments, **flags):
    """Run a command with these options; return its result and the options that arrived."""
    arrived = []
    app = typer.Typer()

    @app.command()
    @option_flags(kind, "search", **flags)
    def command(name: str, search: kind = kind(), last: int = 1) -> None:  # noqa: B008
        arrived.append((name, search, last))

    return CliRunner().invoke(app, list(arguments), env={"COLUMNS": "200"}), arrived


def test_defaults_are_the_fields():
    result, arrived = run(MoreOptions, "x")
    assert result.exit_code == 0
    assert arrived == [("x", MoreOptions(), 1)]


def test_every_field_is_a_flag():
    flags = [
        "--prune-below",
        "1.5",
        "--order",
        "right",
        "--mirrored",
        "--no-unknowns",
        "--beam",
        "7",
        "--last",
        "3",
    ]
    result, arrived = run(MoreOptions, "x", *flags)
    assert result.exit_code == 0
    expected = MoreOptions(beam=7, unknowns=False, prune_below=1.5, order="right", mirrored=True)
    assert arrived == [("x", expected, 3)]


def test_the_help_is_the_fields_sentence():
    page = run(MoreOptions, "--help", panel="Search")[0].output
    assert "Prune hypotheses this far below the best." in page
    assert "--prune-below" in page
    assert "[default: 0.0]" in page


def test_the_dataclass_checks_the_values():
    with pytest.raises(Exception, match="--prune-below: -1 is out of range; it must be at least 0"):
        raise run(MoreOptions, "x", "--prune-below", "-1")[0].exception
    with pytest.raises(Exception, match="order: no 'rihgt'; did you mean 'right'"):
        raise run(MoreOptions, "x", "--order", "rihgt")[0].exception


def test_fields_can_be_left_out():
    result, arrived = run(SearchOptions, "x", "--n-best", "2", omit=("n_best",))
    assert result.exit_code == 2
    assert not arrived
    assert run(SearchOptions, "x", omit=("n_best",))[1] == [("x", SearchOptions(), 1)]


@pytest.mark.parametrize(
    ("command", "kinds"),
    [
        (translate, [SearchOptions, SamplingOptions]),
        (tree, [SearchOptions]),
        (what_if, [SearchOptions]),
    ],
    ids=["translate", "tree", "what-if"],
)
def test_every_option_is_a_flag_with_its_help(command, kinds: list[type[Options]]):
    app = typer.Typer(rich_markup_mode="rich")
    app.command()(command)
    page = CliRunner().invoke(app, ["--help"], env={"COLUMNS": "400", "TERMINAL_WIDTH": "400"}).output
    page = re.sub(r"\s+", " ", page)
    for kind in kinds:
        for field in fields(kind):
            assert f"--{field.name.replace('_', '-')}" in page
            assert field.metadata["help"] in page
