"""A whole training run: pairs in, a model folder out.

The folder then holds, beside the model itself: ``train.toml`` (the whole configuration, to run again),
``journal.jsonl`` (what happened), and ``report.json`` (how it ended).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from regard.configuration import set_option, write_toml
from regard.errors import ConfigError, DataError
from regard.folder import WEIGHTS, ModelFolder
from regard.models import Seq2Seq
from regard.report import write_json
from regard.text import SentencePair
from regard.training.config import RunConfig
from regard.training.events import Listener, Note, ignore
from regard.training.fabric import build_fabric
from regard.training.journal import Journal
from regard.training.loop import Loop, LoopResult
from regard.training.prepare import Prepared, prepare, read_corpus
from regard.training.presets import configure
from regard.version import __version__
from regard.whole_file import make_folder, write_whole_text

Pairs = str | Path | Iterable[str | Path] | Iterable[tuple[str, str]] | Iterable[SentencePair]
"""A tab-separated file, two parallel files, or the pairs themselves."""


@dataclass(frozen=True)
class TrainedRun:
    """A finished run.

    Attributes:
        folder: where the model is.
        result: how it went.
        report: what ``report.json`` says.
    """

    folder: Path
    result: LoopResult
    report: dict[str, Any]


def train(
    folder: str | Path,
    train: Pairs | None = None,
    valid: Pairs | None = None,
    *,
    preset: str | None = None,
    config: Mapping[str, Any] | None = None,
    options: Iterable[str] = (),
    listener: Listener = ignore,
) -> TrainedRun:
    """Train a model, from a notebook or a script.

    Args:
        folder: where to write the model.
        train: the training pairs: files, or (source, target) tuples; None takes ``data.train`` of `config`.
        valid: the validation pairs likewise; None takes ``data.valid``, or sets some training pairs aside.
        preset: where to start from; see `regard.training.presets`.
        config: options as in a configuration file, such as ``{"training": {"max_epochs": 3}}``.
        options: single options, such as ``"training.max_epochs=3"``.
        listener: who is told how it goes.

    Raises:
        RegardError: the data, the configuration or the folder cannot be used.
    """
    chosen: dict[str, Any] = {}
    for assignment in options:
        set_option(chosen, assignment)
    train_files, train_pairs = _told_apart(train)
    valid_files, valid_pairs = _told_apart(valid)
    files = {name: files for name, files in (("train", train_files), ("valid", valid_files)) if files}
    run = configure(config or {}, {"data": files}, chosen, preset=preset)
    return run_training(folder, run, train=train_pairs, valid=valid_pairs, listener=listener)


def _told_apart(pairs: Pairs | None) -> tuple[list[str], list[SentencePair] | None]:
    """The names of files, or else the pairs themselves."""
    if pairs is None:
        return [], None
    items: list[Any] = [pairs] if isinstance(pairs, str | Path) else list(pairs)
    if items and all(isinstance(item, str | Path) for item in items):
        return [str(item) for item in items], None
    return [], [item if isinstance(item, SentencePair) else SentencePair(*item) for item in items]


def run_training(
    folder: str | Path,
    config: RunConfig,
    *,
    train: Sequence[SentencePair] | None = None,
    valid: Sequence[SentencePair] | None = None,
    listener: Listener = ignore,
) -> TrainedRun:
    """Train what a configuration describes.

    Args:
        folder: where to write the model; it may not hold one already.
        config: the whole run.
        train: the training pairs; None reads the files of ``config.data``.
        valid: the validation pairs, likewise.
        listener: who is told how it goes.

    Raises:
        RegardError: the data, the configuration or the folder cannot be used.
    """
    model_folder = ModelFolder(folder)
    if any((model_folder.path / f"{name}.safetensors").exists() for name in WEIGHTS):
        raise DataError(
            f"{model_folder.path}: holds a model already; choose another folder, or remove that one"
        )
    data = config.data
    if train is None:
        if not data.train:
            raise ConfigError(
                "data.train: no training pairs; name them with --train pairs.tsv, or --train a.de --train a.en"
            )
        train = read_corpus(data.train, data.columns)
    if valid is None and data.valid:
        valid = read_corpus(data.valid, data.columns)
    fabric = build_fabric(config.training)
    prepared = prepare(train, valid, data, config.tokenizer, config.training.seed)
    for note in prepared.notes:
        listener(Note(note))
    torch.manual_seed(config.training.seed)
    model = Seq2Seq(config.model, prepared.source_tokenizer.size, prepared.target_tokenizer.size)
    listener(
        Note(
            f"{len(prepared.train):,} pairs to learn from, {len(prepared.valid):,} to validate with; "
            f"vocabularies of {prepared.source_tokenizer.size:,} and {prepared.target_tokenizer.size:,}; "
            f"{model.num_parameters:,} parameters"
        )
    )
    make_folder(model_folder.path)
    with Journal(model_folder.path, config.training.tensorboard) as journal:
        model_folder.create(config.model, prepared.source_tokenizer, prepared.target_tokenizer)
        write_whole_text(model_folder.path / "train.toml", write_toml(config.to_mapping()))
        journal.write("start", 0, regard=__version__, torch=torch.__version__, notes=list(prepared.notes))
        result = Loop(model, prepared, config.training, model_folder, journal, listener, fabric).run()
        journal.write("end", result.updates, seconds=round(result.seconds, 3), stopped=result.stopped)
    report = _report(result, model, prepared)
    write_json(model_folder.path, report)
    return TrainedRun(model_folder.path, result, report)


def _report(result: LoopResult, model: Seq2Seq, prepared: Prepared) -> dict[str, Any]:
    """What ``report.json`` says of a run."""
    return {
        "train_seconds": round(result.seconds, 3),
        "updates": result.updates,
        "epochs": round(result.epochs, 4),
        "tokens_per_second": round(result.tokens_per_second, 1),
        "stopped": result.stopped,
        "best_update": result.best_update,
        "num_parameters": model.num_parameters,
        "num_train_pairs": len(prepared.train),
        "num_valid_pairs": len(prepared.valid),
        "validation": result.best.to_json(),
    }
