"""``regard show``: a model's configuration, its size and its score history."""

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from regard.cli.console import print_json, results, score_table
from regard.cli.options import Weights
from regard.evaluation.metrics import display_name, format_score

_NOT_SCORES = ("event", "update", "seconds", "best")


def show(
    model: Annotated[Path, typer.Argument(help="A model folder.")],
    json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
    weights: Weights = "best",
) -> None:
    """Show a model's configuration, its size and its score history.

    [bold]Examples[/]

      regard show model

      regard show model --json
    """
    from regard.checkpoint import ModelFolder, read_log

    loaded = ModelFolder(model).load(weights)
    sizes: dict[str, int] = {}
    for name, parameter in loaded.model.named_parameters():
        part = ".".join(name.split(".")[:2])
        sizes[part] = sizes.get(part, 0) + parameter.numel()
    facts: dict[str, Any] = {
        "task": loaded.task,
        **{
            f"{name} tokenizer": f"{tokenizer.kind}, {tokenizer.size:,} tokens"
            for name, tokenizer in loaded.tokenizers.items()
        },
        "parameters": loaded.model.num_parameters,
    }
    if loaded.labels:
        facts["labels"] = ", ".join(loaded.labels)
    history = [row for row in read_log(model) if row["event"] == "validation"]
    config = loaded.model.config.to_mapping()
    if json:
        print_json(
            {
                "task": loaded.task,
                "model": config,
                "sizes": {name: tokenizer.size for name, tokenizer in loaded.tokenizers.items()},
                "labels": list(loaded.labels),
                "num_parameters": loaded.model.num_parameters,
                "parameters": sizes,
                "weights": {"name": weights, **loaded.facts},
                "history": history,
            }
        )
        return
    results.print(str(model), style="bold", markup=False)
    results.print(score_table(facts))
    for part, options in _parts(config).items():
        results.print(score_table(options, title=f"\n[bold]{part}[/]"))
    results.print(score_table(sizes, title="\n[bold]parameters by part[/]"))
    if history:
        results.print(_history_table(history))
    results.print(f"\nweights: {weights}, {_origin(loaded.facts)}", markup=False)


def _origin(facts: dict[str, Any]) -> str:
    """Where weights come from: an update of a run, or the checkpoints they are the mean of."""
    if parts := facts.get("averaged"):
        return "the mean of " + ", ".join(f"{part['folder']} ({part['weights']})" for part in parts)
    return f"after update {facts.get('update', 'unknown')}"


def _flat(options: dict[str, Any], prefix: str = "") -> dict[str, str]:
    """A table's options by name, those of inner tables as ``table.option``."""
    flat: dict[str, str] = {}
    for name, value in options.items():
        place = f"{prefix}{name}"
        flat |= _flat(value, f"{place}.") if isinstance(value, dict) else {place: _plain(value)}
    return flat


def _parts(config: dict[str, Any]) -> dict[str, dict[str, str]]:
    """The options of each part of a model, and those of the model itself."""
    own = {name: _plain(value) for name, value in config.items() if not isinstance(value, dict)}
    tables = {name: _flat(value) for name, value in config.items() if isinstance(value, dict)}
    return {**tables, "model": own} if own else tables


def _plain(value: Any) -> str:
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)


def _history_table(history: list[dict[str, Any]]) -> Table:
    names = [name for name in history[-1] if name not in _NOT_SCORES]
    table = Table(box=None, pad_edge=False, title="\nscore history", title_justify="left", title_style="bold")
    table.add_column("update", justify="right", style="dim")
    for name in names:
        table.add_column(display_name(name), justify="right")
    table.add_column("")
    for row in history:
        cells = [format_score(name, row.get(name)) for name in names]
        table.add_row(f"{row['update']:,}", *cells, "best" if row.get("best") else "")
    return table
