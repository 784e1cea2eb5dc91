"""``regard models``: which parts can be combined, the paper of each part, and the presets that use it."""

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from regard.cli.console import print_json, results

if TYPE_CHECKING:
    from regard.models.grid import Combination

_YES, _NO = "✓", "·"


def models(
    cell: Annotated[str | None, typer.Option(help="Show one cell, with the reason for each ·.")] = None,
    decoder: Annotated[str | None, typer.Option(help="Show one decoder, with the reason for each ·.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the whole grid as JSON.")] = False,
) -> None:
    """Show which cells, decoders and attentions can be combined.

    Every combination is checked as a configuration: ✓ is valid, · is not.
    Each part is listed with its paper and with presets that use it.

    [bold]Examples[/]

      regard models

      regard models --cell lstmn

      regard models --decoder deep-fusion --json
    """
    from regard.config import one_of
    from regard.layers import CELLS
    from regard.models import DecoderConfig
    from regard.models.grid import attention_combinations, cell_combinations, papers

    if cell is not None:
        one_of("--cell", cell, CELLS)
    if decoder is not None:
        one_of("--decoder", decoder, DecoderConfig.variants)
    in_roles = [s for s in cell_combinations() if cell in (None, s.row) and decoder in (None, s.column)]
    attending = [s for s in attention_combinations() if decoder in (None, s.group)]
    papers_by_kind, presets = papers(), presets_by_part()
    if json:
        parts = {
            kind: {
                name: {"paper": paper, "presets": presets.get((kind, name), [])}
                for name, paper in names.items()
            }
            for kind, names in papers_by_kind.items()
        }
        print_json(
            {
                "parts": parts,
                "cells": [s.to_json() for s in in_roles],
                "attention": [s.to_json() for s in attending],
            }
        )
        return
    for title, decodes in (("cells in their roles", False), ("\ncells in each decoder", True)):
        columns = dict.fromkeys(s.column for s in in_roles if (s.column in DecoderConfig.variants) == decodes)
        if columns:
            results.print(_grid(title, "cell", [s for s in in_roles if s.column in columns], list(columns)))
    for groups, squares in _merge_equal_groups(attending):
        options = list(dict.fromkeys(square.column for square in squares))
        results.print(_grid(f"\nattention: {', '.join(groups)}", "energy", squares, options))
    for kind, names in papers_by_kind.items():
        results.print(_parts(kind, names, presets))
    if cell or decoder:
        for reason in dict.fromkeys(s.refusal for s in (*in_roles, *attending) if not s.legal):
            results.print(f"{_NO} {reason}", style="dim", markup=False)
    else:
        results.print("\nreasons: regard models --cell NAME, --decoder NAME, or --json", style="dim")


def presets_by_part() -> dict[tuple[str, str], list[str]]:
    """(kind of part, its name) → the presets whose models use it."""
    from regard.training.configure import PRESETS

    keys = {
        "cell": "cells",
        "kind": "decoders",
        "energy": "energies",
        "window": "windows",
        "normalizer": "normalizers",
        "copy": "copying",
        "pooling": "poolings",
    }
    presets: dict[tuple[str, str], list[str]] = {}
    for name, preset in PRESETS.items():
        for key, value in _leaves(preset()["model"]):
            part = key if value is True else value  # an option that is on is a part of its own name
            if key in keys and value is not False and name not in presets.setdefault((keys[key], part), []):
                presets[keys[key], part].append(name)
    return presets


def _leaves(table: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from _leaves(value)
        else:
            yield key, value


def _merge_equal_groups(squares: "Iterable[Combination]") -> "list[tuple[list[str], list[Combination]]]":
    """Groups with equal grids together, with the squares of the first of them."""
    by_group: dict[str, list[Combination]] = {}
    for square in squares:
        by_group.setdefault(square.group, []).append(square)
    merged: dict[tuple[bool, ...], tuple[list[str], list[Combination]]] = {}
    for group, members in by_group.items():
        merged.setdefault(tuple(s.legal for s in members), ([], members))[0].append(group)
    return list(merged.values())


def _grid(title: str, rows: str, squares: "Iterable[Combination]", columns: list[str]) -> Table:
    table = Table(box=None, pad_edge=False, title=title, title_justify="left", title_style="bold")
    table.add_column(rows, style="bold")
    for column in columns:
        table.add_column(column.replace(" ", "\n").replace("-", "-\n"), justify="center", vertical="bottom")
    by_row: dict[str, dict[str, str]] = {}
    for square in squares:
        by_row.setdefault(square.row, {})[square.column] = _YES if square.legal else f"[dim]{_NO}[/]"
    for row, marks in by_row.items():
        table.add_row(row, *(marks[column] for column in columns))
    return table


def _parts(kind: str, names: Mapping[str, str], presets: Mapping[tuple[str, str], list[str]]) -> Table:
    table = Table(box=None, pad_edge=False, title=f"\n{kind}", title_justify="left", title_style="bold")
    table.add_column("name", style="bold")
    table.add_column("paper")
    table.add_column("preset", style="dim", overflow="fold")
    for name, paper in names.items():
        used = presets.get((kind, name), [])
        more = f" and {len(used) - 2} more" if len(used) > 3 else ""
        table.add_row(name, paper or "–", ", ".join(used[: 2 if more else 3]) + more)
    return table
