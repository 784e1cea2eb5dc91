"""Several models of one configuration, trained one after the other from different seeds, as one ensemble.

In: a configuration and a number of seeds. Out: a folder that is opened as one model: its members in ``seed-1``,
``seed-2``, …, a ``regard.json`` that names them, ``train.toml``, ``report.json`` and ``report.html``. All members have
the same validation split and so the same tokenizers; the ensemble is scored on it as one model. A finished seed is not
trained again, an interrupted one is resumed; the ensemble can be used from its first finished member on.
"""

import shutil
import statistics
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

import regard.training.run as single
from regard.checkpoint import WEIGHTS, ModelFolder
from regard.config import flatten, in_range, read_toml, toml_value, write_toml
from regard.errors import ConfigError, DataError
from regard.io import one_writer, parse_json, read_whole
from regard.plots.html import element
from regard.plots.page import Report
from regard.tasks import TASKS
from regard.tasks.config import RunConfig
from regard.tasks.evaluation import write_report_json
from regard.training.progress import Listener, Note, ignore
from regard.training.provenance import fingerprint, refuse_other_data

_MAX_REPORT_BYTES = 1 << 24
_MAX_SEEDS = 1000


@dataclass(frozen=True)
class TrainedEnsemble:
    """A finished run of several seeds.

    Attributes:
        folder: of the ensemble.
        report: what its ``report.json`` says: the members' reports, mean and deviation of each validation score, and
            the validation of the ensemble as one model.
    """

    folder: Path
    report: dict[str, Any]


def run_seeds(
    folder: str | Path,
    config: RunConfig,
    num_seeds: int,
    *,
    train: Sequence[Any] | None = None,
    valid: Sequence[Any] | None = None,
    listener: Listener = ignore,
    plan: Sequence[str] = (),
    command: str = "",
) -> TrainedEnsemble:
    """Train an ensemble, or what is missing of it.

    Args:
        folder: of the ensemble; it may hold some of its members already.
        config: of every member; the first has its seed, the others the seeds that follow.
        num_seeds: the number of members.
        train: the training examples; None reads the files of ``config.data``.
        valid: the validation examples; None reads the files of ``config.data``, or splits off training examples.
        listener: called with every event of every member's training.
        plan: how the configuration came about, in lines, as `run_training` takes it.
        command: what to type to train again, for the page.

    Raises:
        RegardError: the task has no ensembles, the folder holds another model or members of another configuration, or
            the data or the configuration cannot be used.
    """
    in_range("--seeds", num_seeds, 1, _MAX_SEEDS)
    spec = TASKS[config.task]
    if not spec.predictor().combines:
        able = ", ".join(other.purpose for other in TASKS.values() if other.predictor().combines)
        raise ConfigError(
            f"--seeds {num_seeds}: a model for {spec.purpose} cannot be an ensemble; one for {able} can"
        )
    ensemble = ModelFolder(folder)
    if any((ensemble.path / f"{name}.safetensors").exists() for name in WEIGHTS):
        raise DataError(
            f"{ensemble.path}: holds a single model; choose another folder for --seeds {num_seeds}"
        )
    first = config.training.seed
    members = {f"seed-{seed}": _with_seed(config, seed) for seed in range(first, first + num_seeds)}
    for name, run in members.items():  # before hours are spent on the others
        _check_member(ensemble.path / name, run)
    with one_writer(ensemble.path):
        for line in plan:
            listener(Note(line))
        single.write_options(ensemble.path, next(iter(members.values())), plan)
        reports = _train_members(ensemble, members, train, valid, listener)
        return _validate(ensemble, members, reports, train, valid, listener, command)


def _train_members(
    ensemble: ModelFolder,
    members: Mapping[str, RunConfig],
    train: Sequence[Any] | None,
    valid: Sequence[Any] | None,
    listener: Listener,
) -> dict[str, dict[str, Any]]:
    """Train what is missing of an ensemble, in a folder that no other process writes to; the members' reports."""
    reports: dict[str, dict[str, Any]] = {}
    for name, run in members.items():
        path = ensemble.path / name
        if is_finished(path):
            listener(Note(f"{name}: trained before, not trained again"))
            reports[name] = _read_report(path)
        else:
            listener(Note(f"{name}: model {len(reports) + 1} of {len(members)}"))
            if (
                _difference(path, run) or not (path / "checkpoints").is_dir()
            ):  # interrupted, and not to be resumed
                shutil.rmtree(path, ignore_errors=True)
            reports[name] = single.run_training(
                path, run, train=train, valid=valid, listener=listener, resume=True
            ).report
        ensemble.create_ensemble(run.task, list(reports))
    return reports


def _validate(
    ensemble: ModelFolder,
    members: Mapping[str, RunConfig],
    reports: Mapping[str, dict[str, Any]],
    train: Sequence[Any] | None,
    valid: Sequence[Any] | None,
    listener: Listener,
    command: str,
) -> TrainedEnsemble:
    """Score the ensemble as one model on the members' validation set, and write report and page."""
    config = next(iter(members.values()))
    refuse_other_data(ensemble.members[0].path, fingerprint(config.data.to_mapping(), train, valid))
    task = TASKS[config.task].task(config, train, valid)
    predictor = TASKS[config.task].predictor().load(ensemble.path, device=config.training.device)
    task.model = predictor.model
    scores = task.validate(torch.device(predictor.device)).to_json()
    report = _report(reports, [run.training.seed for run in members.values()]) | {"ensemble": scores}
    write_report_json(ensemble.path, report)

    def page() -> Report:
        select = report["select"]
        links = {name: element("a", name, href=f"{name}/{single.PAGE}") for name in reports}
        details = {key: value for key, value in report.items() if isinstance(value, int | float | str)}
        return Report(
            title=ensemble.path.resolve().name,
            subtitle=(
                f"{len(reports)} models that differ in their seeds, trained for {TASKS[task.name].purpose} on "
                f"{task.num_train:,} {task.examples} and used as one. The scores are of the ensemble, on "
                f"{single.scored_on(task)}."
            ),
            command=command,
            scores={select: scores[select]} | scores,
            members={links[name]: each["validation"] for name, each in reports.items()}
            | {"mean": {key: each["mean"] for key, each in report["validation"].items()}, "ensemble": scores},
            shown=task.show(predictor),
            details=details,
        )

    single.write_page(ensemble.path, page, listener)
    return TrainedEnsemble(ensemble.path, report)


def _read_report(folder: Path) -> dict[str, Any]:
    """The report of a member that was trained before.

    Raises:
        DataError: it is damaged.
    """
    path = folder / "report.json"
    try:
        report: dict[str, Any] = parse_json(read_whole(path, _MAX_REPORT_BYTES))
        _report({folder.name: report}, [0])  # it has all that the ensemble's report is made of
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise DataError(
            f"{path}: damaged ({error}); remove {folder} to train that model again, and repeat the command"
        ) from error
    return report


def _with_seed(config: RunConfig, seed: int) -> RunConfig:
    """The same run from another seed, with the first run's validation split."""
    training = replace(config.training, seed=seed, split_seed=config.training.seed_of_split)
    return replace(config, training=training)


def is_finished(folder: Path) -> bool:
    """Whether a training came to its end in a folder: its report is written last."""
    return (folder / "report.json").exists()


def _check_member(folder: Path, config: RunConfig) -> None:
    """Raise where a finished member was trained with another configuration."""
    if is_finished(folder) and (difference := _difference(folder, config)):
        raise DataError(
            f"{folder}: trained with {difference} now; the models of an ensemble differ only in their seeds: choose "
            "another folder, or remove that one"
        )


def _difference(folder: Path, config: RunConfig) -> str:
    """The first option in which a member's training differs from a configuration; empty where none does."""
    if not (folder / "train.toml").exists():
        return ""
    expected = flatten(tomllib.loads(write_toml(config.to_mapping())))
    trained = flatten(read_toml(folder / "train.toml"))
    for path in (*expected, *trained):
        if expected.get(path) != trained.get(path):
            before, now = (
                toml_value(options[path]) if path in options else "not set" for options in (trained, expected)
            )
            return f"{path} {before}, and it is {now}"
    return ""


def _report(reports: Mapping[str, dict[str, Any]], seeds: Sequence[int]) -> dict[str, Any]:
    """What ``report.json`` says of an ensemble."""
    all_reports = list(reports.values())
    scores = {
        key: [report["validation"][key] for report in all_reports]
        for key in all_reports[0]["validation"]
        if all(key in report["validation"] for report in all_reports)
    }
    counts = {
        key: value for key, value in all_reports[0].items() if key.startswith(("num_train_", "num_valid_"))
    }
    return {
        "task": all_reports[0]["task"],
        "select": all_reports[0]["select"],
        "train_seconds": round(sum(report["train_seconds"] for report in all_reports), 3),
        "num_parameters": sum(report["num_parameters"] for report in all_reports),
        **counts,
        "validation": {
            key: {"mean": statistics.fmean(values), "deviation": sample_deviation(values)}
            for key, values in scores.items()
        },
        "members": [
            {"seed": seed, "folder": name, **report}
            for seed, (name, report) in zip(seeds, reports.items(), strict=True)
        ],
    }


def sample_deviation(values: Sequence[float]) -> float | None:
    """The sample standard deviation, √(Σ (x − x̄)² / (n − 1)); None for a single value."""
    return statistics.stdev(values) if len(values) > 1 else None
