"""Damaged and hostile files against the command line: no traceback, no hang, no gigabytes.

``python -m benchmarks.fuzz --cases 1000`` damages a model folder, a run to resume, a shortlist, a training log, the
kernels' cache, a store that is complete or was begun, a configuration, an input of text or of feature vectors, once per
case, and runs a command on it. A case passes if the command ends within 20 seconds of the processor's time and 2 GB,
with status 0, 1 or 2 and without a traceback, and refuses damaged weights and ids, or says that it goes on from an
earlier checkpoint. Cases are numbered: ``--case 123`` repeats one. Most run in one process after another, with a limit
on its address space and a watchdog; ``--processes`` of them run the real command.
"""

import argparse
import io
import json
import os
import random
import resource
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pyarrow.feather
import pyarrow.ipc
import pyarrow.parquet
import torch

from benchmarks.damage import (
    NUMBERS,
    damage_bytes,
    forge,
    forge_arrays,
    forge_header,
    forge_json,
    forge_tensors,
    forge_tokenizer,
    replace_file,
    write_input,
)
from benchmarks.process import ROOT
from benchmarks.report import Table, markdown_table
from regard.batches.store import MANIFEST
from regard.checkpoint import LOG, ModelFolder
from regard.cli import main as command_line
from regard.inference.shortlist import FILE, Shortlist
from regard.io import LOCK
from regard.ops.native import library
from regard.tasks import TASKS
from regard.text import train_tokenizer
from regard.training.configure import configure
from regard.training.prepare import PrepareProgress, prepare_store
from regard.training.run import run_training

SECONDS = 20
"""The limit, of the processor's time."""
_WAITING = 3  # times as long by the clock: a busy machine lets a process wait
GIGABYTES = 2

_STACK = {"embedding_size": 4, "state_size": 4}
_DECODER = {**_STACK, "readout_size": 4, "state_size": 8}
_MODELS: dict[str, dict[str, Any]] = {
    "translate": {"encoder": _STACK, "decoder": {**_DECODER, "attention": {"size": 4}}},
    "language_model": _STACK,
    "classify": {"encoder": _STACK},
    "tag": {"encoder": _STACK},
    "caption": {"decoder": {**_DECODER, "kind": "cho"}, "summary_size": 4},
}
_TEXT = ["the old cat sees a bird .", "a dog runs ."]
_LABELS = ("one", "two", "three")
_LOG_ROWS = (
    {"event": "start", "update": 0, "num_valid": 10, "examples": "pairs"},
    {"event": "train", "update": 5, "loss": 3.5},
    {"event": "validation", "update": 10, "loss": 2.5, "bleu": 1.5, "best": True},
)


def write_models(folder: Path) -> None:
    """Write a random model of every task and kind of tokenizer into folders of their own."""
    torch.manual_seed(1)
    for task, options in _MODELS.items():
        for kind in ("word", "char", "bpe", "unigram") if task == "translate" else ("word",):
            spec = TASKS[task]
            tokenizers = {name: train_tokenizer(kind, _TEXT, size=60) for name in spec.texts}
            sizes = {"labels": len(_LABELS), "features": 3} | {name: t.size for name, t in tokenizers.items()}
            sizes = {name: sizes[name] for name in spec.sizes}
            config = spec.model_config().from_mapping(options, "model")
            model = ModelFolder(folder / f"{task}-{kind}")
            labels = _LABELS if "labels" in sizes else ()
            model.create(task, config, tokenizers, sizes=sizes, labels=labels)
            model.write_weights("best", spec.build(config, sizes), {"update": 10, "loss": 2.5})
            (model.path / LOG).write_text("".join(f"{json.dumps(row)}\n" for row in _LOG_ROWS))
            if task == "translate":
                words = np.arange(4, sizes["target"])
                offsets = np.linspace(0, len(words), sizes["source"] + 1).astype(np.int64)
                Shortlist(offsets, words, words[:3], sizes["target"], {"pairs": 3}).save(model.path)


_TRAINING = {"device": "cpu", "threads": 1, "max_updates": 1, "max_epochs": 0, "batch_sentences": 64}
_STORES: dict[str, dict[str, Any]] = {
    "store-translate": {"task": "translate", "tokenizer": {"source": "word", "target": "word"}},
    "store-classify": {"task": "classify", "tokenizer": {"text": "word"}},
    "store-language_model": {
        "task": "language_model",
        "tokenizer": {"text": "word"},
        "data": {"mode": "continuous"},
    },
}


def write_stores(folder: Path) -> None:
    """Write a small store of every form into a folder of its own, and what is left of one that was stopped.

    An update reads all of a store; its text is beside it.
    """
    for name, options in _STORES.items():
        task = options["task"]
        start = {"translate": "{}\t", "classify": "{}\t", "language_model": ""}[task]
        text = folder / f"{name}.txt"
        words = [f"{_TEXT[k % 2]} {k % 7}" for k in range(48)]
        lines = (f"{start.format(_LABELS[k % 3])}{line}\n" for k, line in enumerate(words))
        text.write_text("".join(lines))
        streams = {"batch_sentences": 1} if task == "language_model" else {}
        layers = {"model": _MODELS[task], "training": {**_TRAINING, **streams}}
        prepare_store(folder / name, [str(text)], {**options, **layers})
        with suppress(KeyboardInterrupt):
            prepare_store(folder / f"unfinished-{name}", [str(text)], options, progress=_stop)


def _stop(done: PrepareProgress) -> None:
    raise KeyboardInterrupt


_RUN_UPDATES = 2
_RUNS: dict[str, dict[str, Any]] = {
    "translate": {"training": {"moving_average": 0.9, "keep_best": 2}},
    "language_model": {"data": {"mode": "continuous", "steps": 4}, "training": {"batch_sentences": 4}},
}


def write_runs(folder: Path) -> None:
    """Write runs of two updates, each with its checkpoint, into ``runs/``; their text is beside them."""
    (folder / "runs").mkdir()
    for task, options in _RUNS.items():
        words = [f"{_TEXT[k % 2]} {k % 7}" for k in range(48)]
        text = folder / "runs" / f"{task}.txt"
        text.write_text(
            "".join(f"{line}\t{line}\n" if task == "translate" else f"{line}\n" for line in words)
        )
        training = {**_TRAINING, "max_updates": _RUN_UPDATES, "validate_every": 1, **options["training"]}
        tokenizer = dict.fromkeys(TASKS[task].texts, "word")
        data = {"train": [str(text)], **options.get("data", {})}
        given = {
            "task": task,
            "model": _MODELS[task],
            "tokenizer": tokenizer,
            "data": data,
            "training": training,
        }
        run_training(folder / "runs" / task, configure(given), page=False)


_CONFIG = """task = "translate"
[training]
learning_rate = 0.001
seed = 1
max_epochs = 1.5
[model.encoder]
state_size = 8
num_layers = 1
[tokenizer]
source_size = 100
"""


# Cases: what is damaged, and the command that meets it.

Damage = Callable[[random.Random, Path], None]
Prepared = tuple[list[str], bool]
"""The command's arguments, and whether tensor data or ids were damaged."""


def _use(rng: random.Random, folder: Path, work: Path) -> list[str]:
    """A command that reads a model."""
    (work / "text").write_text("the cat\n\na dog runs .\n")
    (work / "labelled").write_text("one\tthe cat\ntwo\ta dog\n")
    np.save(work / "features.npy", np.ones((2, 3), dtype=np.float32))
    text, model = str(work / "text"), str(folder)
    by_task = {
        "translate": [
            ["translate", model, text],
            ["translate", model, text, "--json", "--n-best", "2"],
            ["align", model, text, text],
            ["evaluate", model, text, text, "--json"],
        ],
        "language_model": [["score", model, text], ["sample", model, "--count", "2"]],
        "classify": [["classify", model, text], ["evaluate", model, str(work / "labelled")]],
        "tag": [["tag", model, text]],
        "caption": [["caption", model, str(work / "features.npy")]],
    }
    return rng.choice([*by_task[folder.name.split("-")[0]], ["show", model], ["show", model, "--json"]])


def _model(rng: random.Random, base: Path, work: Path) -> Prepared:
    """A folder with one damaged file."""
    folder = _copy(rng, base, work)
    path = folder / rng.choice(
        ["regard.json", *(f"{name}.tokenizer.json" for name in _texts(folder)), "best.safetensors"]
    )
    damages: list[Damage] = [damage_bytes, replace_file]
    if path.suffix == ".safetensors":
        damages.append(forge_header)
    else:
        damages += [forge_json] * 4
    if "tokenizer" in path.name:
        damages += [forge_tokenizer] * 4
    before = _tensor_data(path)
    rng.choice(damages)(rng, path)
    return _use(rng, folder, work), before is not None and before != _tensor_data(path)


def _tensor_data(path: Path) -> bytes | None:
    """What follows the header of safetensors; None of another file."""
    if (
        path.suffix != ".safetensors"
        or path.is_symlink()
        or not path.is_file()
        or path.stat().st_size > 1 << 24
    ):
        return None
    content = path.read_bytes()
    return content[8 + int.from_bytes(content[:8], "little") :]


def _shortlist(rng: random.Random, base: Path, work: Path) -> Prepared:
    """A translator's folder with a damaged shortlist."""
    folder = _copy(rng, base, work, "translate")
    rng.choice([damage_bytes, replace_file, forge_header, forge_arrays, forge_arrays])(rng, folder / FILE)
    (work / "text").write_text("the cat\na dog runs .\n")
    return ["translate", str(folder), str(work / "text"), "--shortlist"], False


def _log(rng: random.Random, base: Path, work: Path) -> Prepared:
    """A folder with a damaged training log."""
    folder = _copy(rng, base, work)
    path = folder / LOG
    if rng.random() < 0.4:
        rng.choice([damage_bytes, replace_file])(rng, path)
    else:
        rows = [forge(rng, row) if rng.random() < 0.7 else row for row in _LOG_ROWS]
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return ["show", str(folder)], False


def _ensemble(rng: random.Random, base: Path, work: Path) -> Prepared:
    """A forged description of an ensemble."""
    folder = work / "translate-ensemble"
    for name in ("seed-1", "seed-2"):
        shutil.copytree(base / "translate-word", folder / name)
    ModelFolder(folder).create_ensemble("translate", ["seed-1", "seed-2"])
    forge_json(rng, folder / "regard.json")
    return _use(rng, folder, work), False


def _input(rng: random.Random, base: Path, work: Path) -> Prepared:
    """An input that nobody would write."""
    path = str(write_input(rng, work))
    (work / "text").write_text("the cat\na dog\n")
    text = str(work / "text")
    translator = str(
        base / rng.choice(["translate-word", "translate-char", "translate-bpe", "translate-unigram"])
    )
    return rng.choice(
        [
            ["translate", translator, path],
            ["translate", translator, text, "--constraints", path],
            ["align", translator, path, path],
            ["align", translator, text, path],
            ["evaluate", translator, text, path],
            ["evaluate", translator, path],
            ["evaluate", translator, text, text, "--gold", path],
            ["classify", str(base / "classify-word"), path],
            ["evaluate", str(base / "classify-word"), path],
            ["tag", str(base / "tag-word"), path],
            ["evaluate", str(base / "tag-word"), path],
            ["score", str(base / "language_model-word"), path],
            ["evaluate", str(base / "language_model-word"), path],
            ["caption", str(base / "caption-word"), path],
        ]
    ), False


def _features(rng: random.Random, base: Path, work: Path) -> Prepared:
    """A damaged file of feature vectors."""
    rows = np.arange(12, dtype=np.float32).reshape(4, 3)
    path = work / rng.choice(["features.npy", "features.parquet", "features.arrow"])
    table = pyarrow.table({"features": list(rows)})
    match path.suffix:
        case ".npy":
            np.save(path, rows)
        case ".parquet":
            pyarrow.parquet.write_table(table, path)
        case ".arrow":
            pyarrow.feather.write_feather(table, path)
    damages: list[Damage] = [damage_bytes] * 4 + [replace_file, _forge_features]
    rng.choice(damages)(rng, path)
    return ["caption", str(base / "caption-word"), str(path)], False


def _forge_features(rng: random.Random, path: Path) -> None:
    """Another archive of numbers, or numbers of another kind, under the same name."""
    with path.open("wb") as file:
        match rng.randrange(4):
            case 0:
                np.savez(file, a=np.ones(3))
            case 1:
                file.write(b"PK\x03\x04" + rng.randbytes(100))
            case 2:
                np.save(file, np.array([{"a": 1}, None], dtype=object), allow_pickle=True)
            case 3:
                kind = rng.choice([np.complex64, np.bool_, "U3", "M8[s]", "i1,f4"])
                np.save(file, np.zeros(rng.choice([(), (3,), (2, 3), (0, 3), (2, 0), (2, 3, 1)]), kind))


def _options(rng: random.Random, base: Path, work: Path) -> Prepared:
    """Numbers without bound on the command line and in a configuration."""
    value = str(rng.choice([*NUMBERS[:-3], "inf", "nan", "1e308", "-inf", "x"]))
    (work / "text").write_text("the cat\na dog\n")
    model, text = str(base / "translate-word"), str(work / "text")
    if rng.random() < 0.5:
        name = rng.choice(
            [
                "beam",
                "n-best",
                "max-ratio",
                "max-extra",
                "min-length",
                "min-ratio",
                "coverage",
                "seed",
                "max-length",
            ]
        )
        return ["translate", model, text, f"--{name}={value}"], False
    config = work / "run.toml"
    config.write_text(_CONFIG)
    _forge_toml(rng, config)
    if rng.random() < 0.3:
        rng.choice([damage_bytes, replace_file])(rng, config)
    (work / "pairs").write_text("".join(f"{line} {k}\t{line}\n" for k in range(20) for line in _TEXT))
    budget = ["--budget", value] if rng.random() < 0.3 else []
    command = ["train", str(work / "new"), "--config", str(config), "--train", str(work / "pairs"), "--plan"]
    return [*command, *budget], False


def _cache(rng: random.Random, base: Path, work: Path) -> Prepared:
    """A damaged library in the kernels' cache: it may not be trusted."""
    content = rng.randbytes(5000)
    path = work / f"kernels-key{library._fingerprint(content)}"
    path.write_bytes(content)
    path.chmod(0o700)
    assert library._is_whole(path)
    damage = rng.choice([damage_bytes, damage_bytes, replace_file, lambda _, path: path.chmod(0o777)])
    damage(rng, path)
    if library._is_whole(path) and path.read_bytes() != content:
        raise AssertionError(f"a damaged library is trusted: {path}")
    return ["--version"], False


def _store(rng: random.Random, base: Path, work: Path) -> Prepared:
    """A damaged store to train from."""
    store = work / "store"
    chosen = rng.choice(sorted(_STORES))
    shutil.copytree(base / chosen, store)
    path = store / rng.choice(sorted(each.name for each in store.iterdir() if each.name != LOCK))
    damages: list[Damage] = [damage_bytes, damage_bytes, replace_file]
    if path.name == MANIFEST:
        damages += [forge_json] * 6
    before = _stored(path)
    rng.choice(damages)(rng, path)
    must_be_refused = path.name != MANIFEST and _stored(path) != before
    return train_command(chosen, work / "new", store), must_be_refused


def _unfinished(rng: random.Random, base: Path, work: Path) -> Prepared:
    """A store that was begun, and then damaged, to go on with."""
    store, chosen = work / "store", rng.choice(sorted(_STORES))
    shutil.copytree(base / f"unfinished-{chosen}", store)
    path = rng.choice(sorted(path for path in store.rglob("*") if path.is_file() and path.name != LOCK))
    damages: list[Damage] = [
        damage_bytes,
        replace_file,
        *([forge_json] * 2 if path.suffix == ".json" else []),
    ]
    rng.choice(damages)(rng, path)
    options = _STORES[chosen]
    tokenizers = [f"tokenizer.{name}={kind}" for name, kind in options["tokenizer"].items()]
    mode = [f"data.{name}={value}" for name, value in options.get("data", {}).items()]
    given = [word for option in (*tokenizers, *mode) for word in ("--set", option)]
    text = str(base / f"{chosen}.txt")
    return ["prepare", str(store), "--train", text, "--task", options["task"], "--jobs", "1", *given], False


def _run(rng: random.Random, base: Path, work: Path) -> Prepared:
    """A damaged run to go on with."""
    folder = work / "run"
    shutil.copytree(base / "runs" / rng.choice(sorted(_RUNS)), folder)
    path = rng.choice(sorted(path for path in folder.rglob("*") if path.is_file()))
    damages: list[Damage] = [damage_bytes, replace_file]
    match path.suffix:
        case ".safetensors":
            damages += [forge_header, forge_tensors, forge_tensors]
        case ".json":
            damages += [forge_json] * 4
        case ".toml":
            damages += [_forge_toml] * 4
    before = _tensor_data(path)
    damage = rng.choice(damages)
    damage(rng, path)
    is_newest = path.name.startswith(f"{_RUN_UPDATES:08d}.")
    must_be_refused = is_newest and damage is not forge_tensors and before != _tensor_data(path)
    return [
        "train",
        str(folder),
        "--resume",
        "--set",
        f"training.max_updates={_RUN_UPDATES + 1}",
    ], must_be_refused


def _forge_toml(rng: random.Random, path: Path) -> None:
    """Another value for one option."""
    lines = path.read_text().splitlines()
    place = rng.choice([k for k, line in enumerate(lines) if " = " in line])
    value = rng.choice([*NUMBERS, "inf", "nan", "[" * 5000, "{}", "[1]", "1" * 5000, '"x"', "true"])
    lines[place] = f"{lines[place].split(' = ')[0]} = {value}"
    path.write_text("\n".join(lines))


def train_command(name: str, folder: Path, store: Path) -> list[str]:
    """A training whose one update reads all of a store."""
    windows = ["--set", "data.steps=2000"] if "language_model" in name else []
    return ["train", str(folder), "--train", str(store), *windows]


def _stored(path: Path) -> Any:
    """What a file of a store says; None where that cannot be read."""
    if path.is_symlink() or not path.is_file() or path.stat().st_size > 1 << 24:
        return None
    content = path.read_bytes()
    if path.suffix != ".arrow" or path.name == "lengths.arrow":
        return content
    try:
        batch = pyarrow.ipc.open_file(content).get_batch(0)
        batch.validate(full=True)
        return batch.to_pydict()
    except (pyarrow.ArrowException, OSError, ValueError):
        return None


CASES: dict[str, Callable[[random.Random, Path, Path], Prepared]] = {
    "model folders": _model,
    "ensembles": _ensemble,
    "shortlists": _shortlist,
    "training logs": _log,
    "kernels' cache": _cache,
    "stores": _store,
    "unfinished stores": _unfinished,
    "runs": _run,
    "inputs": _input,
    "features": _features,
    "options": _options,
}
"""What is damaged → how; a case's number chooses among them."""
_SHARES = ("model folders",) * 8 + ("inputs",) * 4 + ("options",) * 3 + ("stores", "runs") * 3 + tuple(CASES)


def _copy(rng: random.Random, base: Path, work: Path, task: str = "") -> Path:
    """A copy of one of the models."""
    models = (path.parent.name for path in base.glob("*/regard.json"))
    chosen = rng.choice(sorted(name for name in models if name.startswith(task)))
    shutil.copytree(base / chosen, work / chosen)
    return work / chosen


def _texts(folder: Path) -> Sequence[str]:
    return TASKS[folder.name.split("-")[0]].texts


ACCEPTED = "damaged weights or ids were accepted"
OUT_OF_MEMORY = "out of memory"
_OTHER = "cannot be used"  # what a run says that goes on from an earlier checkpoint


@dataclass(frozen=True)
class Outcome:
    """What came of a case.

    Attributes:
        number: of the case.
        kind: a key of `CASES`.
        command: what was run.
        fault: what is wrong; empty if it passed.
        status: how the command ended.
        seconds: how long the processor worked on it.
        megabytes: the largest memory of the process so far.
        message: the end of what it said.
    """

    number: int
    kind: str
    command: str
    fault: str
    status: int | None
    seconds: float
    megabytes: int
    message: str = ""


@contextmanager
def _case(number: int, base: Path) -> Iterator[tuple[str, list[str], bool]]:
    """A folder with something damaged in it: what, the command to run on it, and whether it must refuse it."""
    rng = random.Random(number)
    kind = _SHARES[number % len(_SHARES)]
    with tempfile.TemporaryDirectory() as work:
        command, tensors = CASES[kind](rng, base, Path(work))
        yield kind, command, tensors


class _HangError(BaseException):
    """Raised by the alarm: no ``except Exception`` stops it."""


def _alarm(*_: object) -> None:
    raise _HangError


def run_case(number: int, base: Path, seconds: int = SECONDS) -> Outcome:
    """Damage something and run a command on it, in this process.

    Args:
        number: of the case.
        base: where `write_models` wrote.
        seconds: the limit, of the processor's time.
    """
    with _case(number, base) as (kind, command, tensors):
        streams = sys.argv, sys.stdin, sys.stdout, sys.stderr
        out, err = io.TextIOWrapper(io.BytesIO()), io.TextIOWrapper(io.BytesIO())
        sys.argv, sys.stdin, sys.stdout, sys.stderr = (
            ["regard", *command],
            io.TextIOWrapper(io.BytesIO()),
            out,
            err,
        )
        fault, status, started = "", None, time.process_time()
        handlers = {number: signal.signal(number, _alarm) for number in (signal.SIGALRM, signal.SIGPROF)}
        signal.setitimer(signal.ITIMER_PROF, seconds)
        signal.alarm(_WAITING * seconds)
        try:
            command_line()
        except SystemExit as ended:
            status = ended.code if isinstance(ended.code, int) else 0
        except _HangError:
            fault = f"a hang of more than {seconds} seconds"
        except BaseException:  # a bug, a panic of a library: what the fuzz looks for
            fault = traceback.format_exc()
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.alarm(0)
            for name, handler in handlers.items():
                signal.signal(name, handler)
            sys.argv, sys.stdin, sys.stdout, sys.stderr = streams
        err.flush()
        said = err.buffer.getvalue().decode("utf-8", "replace")  # type: ignore[attr-defined]
        if not fault and status not in (0, 1, 2):
            fault = f"status {status}"
        if not fault and tensors and status == 0 and _OTHER not in said:
            fault = ACCEPTED
        if not fault and OUT_OF_MEMORY in said:
            fault = f"more than {GIGABYTES} GB: {said[-300:]}"
        if not fault and status == 2 and "rror" not in said:
            fault = f"status 2 without a message: {said!r}"
        megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        if not fault and megabytes > GIGABYTES * 1024:
            fault = f"{megabytes} MB"
        seconds_taken = round(time.process_time() - started, 3)
        return Outcome(
            number,
            kind,
            " ".join(command),
            fault,
            status,
            seconds_taken,
            megabytes,
            message=said[-300:],
        )


def run_command(number: int, base: Path) -> Outcome:
    """The same through the real command, a process of its own; its seconds are those of the processor."""
    with _case(number, base) as (kind, command, tensors):
        started = _child_seconds()
        fault, status, said = "", None, b""
        try:
            ended = subprocess.run(
                [sys.executable, "-m", "regard", *command],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                timeout=SECONDS * _WAITING,
                check=False,
            )
            status, said = ended.returncode, ended.stderr
        except subprocess.TimeoutExpired:
            fault = f"a hang of more than {SECONDS * _WAITING} seconds"
        if b"Traceback" in said or (not fault and status not in (0, 1, 2)):
            fault = f"status {status}: {said[-2000:].decode('utf-8', 'replace')}"
        if not fault and tensors and status == 0 and _OTHER.encode() not in said:
            fault = ACCEPTED
        seconds = round(_child_seconds() - started, 3)
        megabytes = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
        if not fault and megabytes > GIGABYTES * 1024:
            fault = f"{megabytes} MB"
        return Outcome(number, kind, " ".join(command), fault, status, seconds, megabytes)


def _child_seconds() -> float:
    """The processor time of all processes that ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _work(base: Path) -> None:
    """Run the cases whose numbers come on standard input, each with its outcome as a line on standard output."""
    answers = os.fdopen(os.dup(1), "w")
    pyarrow.array([1])  # for its first array it reserves a gigabyte of addresses, which is no memory
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + (GIGABYTES << 30)
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    for line in sys.stdin:
        print(json.dumps(asdict(run_case(int(line), base))), file=answers, flush=True)


class _Worker:
    """A process that runs cases; a hang that no alarm ends, or a crash, costs the process."""

    def __init__(self, base: Path) -> None:
        self._base = base
        self._process: subprocess.Popen[str] | None = None

    def run(self, number: int) -> Outcome:
        """The outcome of a case."""
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "benchmarks.fuzz", "--worker", str(self._base)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                cwd=ROOT,
            )
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(f"{number}\n")
        process.stdin.flush()
        ready, _, _ = select.select([process.stdout], [], [], 6 * SECONDS)
        line = process.stdout.readline() if ready else ""
        if line:
            return Outcome(**json.loads(line))
        self.close()
        fault = f"a crash with status {process.returncode}" if ready else "a hang that no alarm ends"
        return Outcome(number, _SHARES[number % len(_SHARES)], "", fault, None, 0.0, 0)

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


def outcome_table(outcomes: Sequence[Outcome]) -> Table:
    """The outcomes, a row for each kind of case."""
    rows = []
    for kind in [*CASES, "all"]:
        of_kind = [outcome for outcome in outcomes if kind in (outcome.kind, "all")]
        if not of_kind:
            continue
        by_status = Counter(outcome.status for outcome in of_kind)
        rows.append(
            (
                kind,
                str(len(of_kind)),
                str(sum(bool(outcome.fault) for outcome in of_kind)),
                str(by_status[2] + by_status[1]),
                str(by_status[0]),
                f"{max(outcome.seconds for outcome in of_kind):.1f}",
                str(max(outcome.megabytes for outcome in of_kind)),
            )
        )
    columns = (
        "damaged",
        "cases",
        "faults",
        "refused",
        "accepted",
        "most s",
        "most MB",
    )
    return Table("Damaged and hostile files", columns, rows)


def main() -> None:
    """Read the command line and run the cases."""
    parser = argparse.ArgumentParser("python -m benchmarks.fuzz", description=__doc__)
    parser.add_argument("--cases", type=int, default=1000, help="how many cases; default: 1000")
    parser.add_argument("--first", type=int, default=0, help="the number of the first case; default: 0")
    parser.add_argument(
        "--processes", type=int, default=20, help="cases run through the real command; default: 20"
    )
    parser.add_argument("--case", type=int, help="run one case in this process, and print its outcome")
    parser.add_argument("--verbose", action="store_true", help="print what each command said")
    parser.add_argument("--worker", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker is not None:
        _work(arguments.worker)
        return
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder)
        write_models(base)
        write_stores(base)
        write_runs(base)
        if arguments.case is not None:
            print(json.dumps(asdict(run_case(arguments.case, base)), indent=2).replace("\\n", "\n"))
            return
        worker, outcomes = _Worker(base), []
        try:
            numbers = range(arguments.first, arguments.first + arguments.cases)
            real = set(random.Random(0).sample(numbers, min(arguments.processes, len(numbers))))
            for number in numbers:
                outcome = run_command(number, base) if number in real else worker.run(number)
                outcomes.append(outcome)
                if arguments.verbose:
                    took = f"{outcome.seconds:.1f} s, status {outcome.status}"
                    print(f"case {number} ({outcome.kind}), {took}: {outcome.message}", flush=True)
                if outcome.fault:
                    print(
                        f"case {number} ({outcome.kind}): {outcome.command}\n{outcome.fault}",
                        file=sys.stderr,
                        flush=True,
                    )
        finally:
            worker.close()
    table = outcome_table(outcomes)
    print("\n".join([table.caption, "", *markdown_table(table)]))
    sys.exit(any(outcome.fault for outcome in outcomes))


if __name__ == "__main__":
    main()
