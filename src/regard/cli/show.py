"""``regard show``: what a model is, how large, and how it came to its scores."""

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from regard.cli.console import print_json, results, score_table
from regard.output.wording import written

_HISTORY = (
    "loss",
    "perplexity",
    "token_accuracy",
    "free_running_accuracy",
    "gap",
    "bleu",
    "chrf",
    "exact_match",
)


def show(
    model: Annotated[Path, typer.Argument(help="A model folder.")],
    json: Annotated[bool, typer.Option("--json", help="Print it all as JSON.")] = False,
    weights: Annotated[str, typer.Option(help="best or last.")] = "best",
) -> None:
    """Show what a model is made of, its sizes, and its score history.

    [bold]Examples[/]

      regard show model

      regard show model --json
    """
    from regard.folder import ModelFolder
    from regard.training.journal import read_journal

    loaded = ModelFolder(model).load(weights)
    sizes: dict[str, int] = {}
    for name, parameter in loaded.model.named_parameters():
        part = ".".join(name.split(".")[:2])
        sizes[part] = sizes.get(part, 0) + parameter.numel()
    facts: dict[str, Any] = {
        "source tokenizer": f"{loaded.source_tokenizer.kind}, {loaded.source_tokenizer.size:,} tokens",
        "target tokenizer": f"{loaded.target_tokenizer.kind}, {loaded.target_tokenizer.size:,} tokens",
        "parameters": loaded.model.num_parameters,
    }
    history = [row for row in read_journal(model) if row["event"] == "validation"]
    config = loaded.model.config.to_mapping()
    if json:
        print_json(
            {
                "model": config,
                "source_size": loaded.source_tokenizer.size,
                "target_size": loaded.target_tokenizer.size,
                "num_parameters": loaded.model.num_parameters,
                "parameters": sizes,
                "weights": {"name": weights, **loaded.facts},
                "history": history,
            }
        )
        return
    results.print(str(model), style="bold", markup=False)
    results.print(score_table(facts))
    for part in ("encoder", "decoder"):
        results.print(
            score_table({k: _plain(v) for k, v in config[part].items()}, title=f"\n[bold]{part}[/]")
        )
    results.print(score_table(sizes, title="\n[bold]parameters by part[/]"))
    if history:
        results.print(_history_table(history))
    results.print(f"\nweights: {weights}, of update {loaded.facts.get('update', 'unknown')}")


def _plain(value: Any) -> str:
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)


def _history_table(history: list[dict[str, Any]]) -> Table:
    table = Table(box=None, pad_edge=False, title="\nscore history", title_justify="left", title_style="bold")
    table.add_column("update", justify="right", style="dim")
    for name in _HISTORY:
        table.add_column(name.replace("_", " "), justify="right")
    table.add_column("")
    for row in history:
        cells = [written(name, row.get(name)) for name in _HISTORY]
        table.add_row(f"{row['update']:,}", *cells, "best" if row.get("best") else "")
    return table
