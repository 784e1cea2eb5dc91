"""``regard show``: a model's configuration, its size and its score history."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.cells import cell_len
from rich.markup import escape
from rich.table import Table

from regard.cli.console import print_json, results, score_table
from regard.cli.options import Weights
from regard.errors import ConfigError
from regard.evaluation.metrics import METRICS, display_name, format_score
from regard.io import parse_json, read_whole

if TYPE_CHECKING:
    from regard.checkpoint import ModelFolder
    from regard.models import Model
    from regard.ops import Choice

_MAX_REPORT_BYTES = 1 << 24


def show(
    model: Annotated[Path, typer.Argument(help="A model folder.")],
    json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
    weights: Weights = "best",
    paths: Annotated[
        bool,
        typer.Option(
            "--paths", help="Show which backend computes what on the CPU, and why not a faster one."
        ),
    ] = False,
) -> None:
    """Show a model's configuration, its size and its score history.

    [bold]Examples[/]

      regard show model

      regard show model --paths

      regard show model --json
    """
    from regard.checkpoint import ModelFolder, read_log
    from regard.text.formats.layout import FEATURE_SEPARATORS
    from regard.text.sources import list_features

    folder = ModelFolder(model)
    if folder.is_ensemble:
        if paths:
            raise ConfigError(f"--paths is for one model, such as {folder.members[0].path}")
        _show_ensemble(folder, weights, json)
        return
    loaded = folder.load(weights)
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
    features = [name for tokenizer in loaded.tokenizers.values() for name in tokenizer.features]
    if features:
        facts["features"] = f"{len(features):,}: {list_features(features)}"
    if loaded.labels:
        facts["labels"] = ", ".join(loaded.labels)
    log = read_log(model)
    history = [row for row in log if row["event"] == "validation"]
    config = loaded.model.config.to_mapping()
    if json:
        print_json(
            {
                "task": loaded.task,
                "model": config,
                "sizes": {name: tokenizer.size for name, tokenizer in loaded.tokenizers.items()},
                "labels": list(loaded.labels),
                "features": features,
                "num_parameters": loaded.model.num_parameters,
                "parameters": sizes,
                "weights": {"name": weights, **loaded.facts},
                "history": history,
                **({"paths": [asdict(choice) for choice in _choices(loaded.model)]} if paths else {}),
            }
        )
        return
    results.print(str(model), style="bold", markup=False)
    results.print(score_table(facts))
    if features:
        example = FEATURE_SEPARATORS[0].join(features[:2])
        results.print(
            f"\na line is a text, a tab and its features, split at {' '.join(FEATURE_SEPARATORS)} or blanks: "
            f"…⇥{example}\ncolumns in another order are recognised by the features, or given: --column 1 --features 2",
            markup=False,
            highlight=False,
        )
    for part, options in _parts(config).items():
        results.print(score_table(options, title=f"\n[bold]{part}[/]"))
    results.print(score_table(sizes, title="\n[bold]parameters by part[/]"))
    if history:
        results.print(_history_table(history, _validated_on(log[0]), results.width))
    if paths:
        from regard.ops.native.fastest import describe_products

        results.print(_paths_table(_choices(loaded.model)))
        results.print(f"\nlarge products in training: {describe_products()}", markup=False, highlight=False)
    results.print(f"\nweights: {weights}, {_origin(loaded.facts)}", markup=False)


def _choices(model: "Model") -> "list[Choice]":
    """Which backend computes each op in training, and a step of its decoder in search."""
    from regard.inference.packing import step_lacks
    from regard.models.decoders import Decoder
    from regard.models.explained import explain_model
    from regard.ops.backends import Choice, without

    choices = explain_model(model)
    for module in model.modules():
        if isinstance(module, Decoder):
            lacks = step_lacks(module)
            choices.append(Choice("a step of search", "torch" if lacks else "C", without(lacks, "C")))
    return choices


def _paths_table(choices: "list[Choice]") -> Table:
    """An op a row; what is faster, and why it does not compute it, beside it."""
    table = Table(
        box=None, pad_edge=False, title="\npaths on the CPU", title_justify="left", title_style="bold"
    )
    for column in ("op", "computed by", "not by"):
        table.add_column(column, style="dim" if column == "op" else None)
    for choice in choices:
        why = "; ".join(f"{name}: {reason}" for name, reason in choice.reasons.items())
        table.add_row(escape(choice.op), choice.backend, escape(why))
    return table


def _show_ensemble(folder: "ModelFolder", weights: str, json: bool) -> None:
    """The members of an ensemble, with the validation of each; `regard show` of a member says more."""
    members = {str(member.path): member.load(weights) for member in folder.members}
    num_parameters = sum(loaded.model.num_parameters for loaded in members.values())
    together = _ensemble_scores(folder) if weights == "best" else {}
    if json:
        print_json(
            {
                "task": folder.task,
                "num_parameters": num_parameters,
                "validation": together,
                "ensemble": [
                    {
                        "folder": path,
                        "num_parameters": loaded.model.num_parameters,
                        "weights": {"name": weights, **loaded.facts},
                    }
                    for path, loaded in members.items()
                ],
            }
        )
        return
    results.print(str(folder.path), style="bold", markup=False)
    facts = {"task": folder.task, "ensemble": f"{len(members)} models", "parameters": num_parameters}
    results.print(score_table(facts))
    keys = [key for key in next(iter(members.values())).facts if key == "update" or key in METRICS]
    table = Table(box=None, pad_edge=False, title="\nmodels", title_justify="left", title_style="bold")
    table.add_column("", style="dim")
    for path in members:
        table.add_column(escape(Path(path).name), justify="right")
    if together:
        table.add_column("ensemble", justify="right", style="bold")
    for key in keys:
        cells = [escape(format_score(key, loaded.facts.get(key))) for loaded in members.values()]
        table.add_row(key, *cells, *([escape(format_score(key, together.get(key)))] if together else []))
    results.print(table)
    results.print(f"\nweights: {weights}; one model in full: regard show {next(iter(members))}", markup=False)


def _ensemble_scores(folder: "ModelFolder") -> dict[str, float]:
    """The validation of the ensemble as one model; empty where not all of its members are in the report."""
    try:
        report = parse_json(read_whole(folder.path / "report.json", _MAX_REPORT_BYTES))
        members = [member["folder"] for member in report["members"]]
        scores = dict(report["ensemble"])
    except (OSError, ValueError, LookupError, TypeError):
        return {}
    if members != [member.path.name for member in folder.members]:
        return {}
    return {key: value for key, value in scores.items() if key in METRICS and isinstance(value, float)}


def _origin(facts: dict[str, Any]) -> str:
    """Where weights come from: an update of a run, or the checkpoints they are the mean of."""
    parts = facts.get("averaged")
    if isinstance(parts, list) and all(isinstance(part, dict) for part in parts):
        return "the mean of " + ", ".join(f"{part.get('folder')} ({part.get('weights')})" for part in parts)
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


def _validated_on(start: dict[str, Any]) -> str:
    """On how many examples a run was validated, from the first row of its log; empty in a log of an older version."""
    number, decoded = start.get("num_valid"), start.get("num_decoded")
    if not isinstance(number, int):
        return ""
    some = f", the first {decoded:,} decoded" if isinstance(decoded, int) and decoded != number else ""
    return f" on {number:,} validation {start.get('examples')}{some}"


def _history_table(history: list[dict[str, Any]], validated_on: str, width: int) -> Table:
    """A validation a row: the first scores of the log that fit into the width, and the names of the others below."""
    names = [name for name in history[-1] if name in METRICS]
    headings = {name: display_name(name).split(" (")[0] for name in names}
    cells = {name: [escape(format_score(name, row.get(name))) for row in history] for name in names}
    num_shown, left = 0, width - len("update") - len("  best")
    for name in names:
        left -= 2 + max(map(cell_len, [*headings[name].split(), *cells[name]]))
        num_shown += left >= 0
    hidden = [headings[name] for name in names[num_shown:]]
    table = Table(
        box=None,
        pad_edge=False,
        title=f"\nscore history{escape(validated_on)}",
        title_justify="left",
        title_style="bold",
        caption=f"in a wider window, or with --json: {', '.join(hidden)}" if hidden else None,
        caption_justify="left",
    )
    table.add_column("update", justify="right", style="dim")
    for name in names[:num_shown]:
        table.add_column(headings[name], justify="right")
    table.add_column("")
    for number, row in enumerate(history):
        shown = (cells[name][number] for name in names[:num_shown])
        table.add_row(f"{row['update']:,}", *shown, "best" if row.get("best") else "")
    return table
