"""Marian as a peer: PyPI's ``pymarian``, whose only entries are its command line and a translator.

In: a setting, the Python that has it, a working folder. Out: `TrainingResult` and `SearchTiming`, as for the others.
Its network is not theirs: the decoder and each direction of the encoder have one size, the decoder's LSTM has a second
cell that reads the context, and the output layer multiplies embeddings. So its embeddings are as wide here as makes an
update the same number of multiplications as Regard's. It has no minimum length, so after the training of the model
that searches, the bias of the end symbol is −10⁶; it has no threads within a sentence, so one sentence has one.
"""

import json
import os
import re
import signal
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.corpora import opposite_words
from benchmarks.lower_bound import Product, mean_lengths, products
from benchmarks.peers.commands import flags
from benchmarks.process import environment
from benchmarks.search_cases import FREQUENT, PER_WORD, SearchCase, SearchTiming, check_work
from benchmarks.settings import CLIP, LEARNING_RATE, SEED, Setting
from benchmarks.training import TrainingResult
from regard.errors import RegardError

NAME = "marian"
QUANTISED = f"{NAME}, int8 and shortlist"
VARIANTS = {NAME: [], QUANTISED: ["--gemm-type", "packed8"]}
"""What searches, and its options besides those of the case; ``packed8`` gives the words of float32."""
LIMIT = 600  # seconds a command may take
UPDATES = 12
"""Updates of the model that searches."""
_WORKER = Path(__file__).with_name("marian_worker.py")
_PAD = 8  # its kernels want vocabularies of a multiple of this
_PROGRESS = re.compile(r"Up\. (\d+) : .* : Cost ([\d.]+) \* ([\d,]+) @")
_MKL = "int mkl_serv_intel_cpu_true(void) { return 1; }\nint mkl_serv_intel_cpu(void) { return 1; }\n"
"""Its matrix library uses AVX-512 on processors of one maker only, by these two answers."""


def marian_products(setting: Setting, embedding_size: int, Tx: int, Ty: int) -> list[Product]:
    """The matrix products of an update of Marian's network; as `lower_bound.products`."""
    B, m, h, V = setting.batch, embedding_size, setting.encoder_size, setting.vocabulary
    return [
        Product("encoder, input", B, Tx, m, 8 * h),
        Product("encoder, recurrence", B, Tx, h, 8 * h, stepwise=True),
        Product("keys", B, Tx, 2 * h, 2 * h),
        Product("first state", B, 1, 2 * h, h),
        Product("decoder, first cell", B, Ty, m + h, 4 * h, stepwise=True),
        Product("query", B, Ty, h, 2 * h, stepwise=True),
        Product("context", B, Ty, Tx, 2 * h, stepwise=True, shared=False),
        Product("decoder, second cell", B, Ty, 3 * h, 4 * h, stepwise=True),
        Product("readout", B, Ty, m + 3 * h, m),
        Product("output", B, Ty, m, V),
    ]


def equal_embedding_size(setting: Setting) -> int:
    """The multiple of 8 with which an update has most nearly as many multiplications as that of Regard."""
    lengths = mean_lengths(setting)
    wanted = sum(product.operations for product in products(setting, "luong", *lengths))

    def distance(size: int) -> int:
        return abs(sum(each.operations for each in marian_products(setting, size, *lengths)) - wanted)

    return min(range(_PAD, 8 * setting.decoder_size, _PAD), key=distance)


def measure_training(
    setting: Setting, python: Path, data: Path, work: Path, *, threads: int
) -> TrainingResult:
    """Train and time each update by the lines of progress.

    Args:
        setting: the model, its corpus and the number of updates.
        python: the interpreter that has ``pymarian``.
        data: the folder of the corpus.
        work: for what it writes.
        threads: workers, each with its part of a batch.

    Raises:
        RegardError: it failed, or took too long.
    """
    _, seconds, tokens, losses, peak = _train(setting, python, data, work, setting.updates, threads)
    return TrainingResult(seconds, tokens, losses, peak, setting.warmup)


def _train(
    setting: Setting, python: Path, data: Path, work: Path, updates: int, threads: int
) -> tuple[Path, list[float], list[int], list[float], int]:
    """The model; seconds, target tokens and loss of each update; the peak memory."""
    model, size = work / "model.npz", equal_embedding_size(setting)
    vocabularies = _write_vocabularies(data, work)
    options: dict[str, Any] = {
        "type": "s2s",
        "enc-type": "bidirectional",
        "enc-cell": "lstm",
        "dec-cell": "lstm",
        "enc-depth": 1,
        "dec-depth": 1,
        "enc-cell-depth": 1,
        "dec-cell-base-depth": 2,
        "dim-rnn": setting.encoder_size,
        "dim-emb": size,
        "model": model,
        "max-length": 2 * setting.corpus.longest,
        "mini-batch": setting.batch,
        "maxi-batch": 100,
        "maxi-batch-sort": "trg",
        "mini-batch-round-up": "false",
        "dropout-rnn": setting.dropout,
        "optimizer": "adam",
        "learn-rate": LEARNING_RATE,
        "clip-norm": CLIP,
        "cost-type": "ce-sum",
        "cpu-threads": threads,
        "data-threads": 1,
        "workspace": 1024,
        "tempdir": work,
        "disp-freq": "1u",
        "after": f"{updates}u",
        "save-freq": "1000000u",
        "seed": SEED,
    }
    sides = [str(data / f"train.{side}") for side in ("source", "target")]
    lists = [
        "--dim-vocabs",
        *(str(_num_words(path)) for path in vocabularies),
        "--vocabs",
        *map(str, vocabularies),
    ]
    switches = ["--no-reload", "--overwrite", "--shuffle-in-ram", "--sync-sgd"]
    command = ["train", *flags(options), "--train-sets", *sides, *lists, *switches]
    lines, peak = _run(python, {"command": command}, work, "trained", threads)
    times, tokens, losses = [], [], []
    for at, line in lines:
        if found := _PROGRESS.search(line):
            times.append(at)
            losses.append(float(found[2]))
            tokens.append(int(found[3].replace(",", "")))
    if len(times) != updates:
        raise RegardError(
            f"{work / 'trained.log'}: {updates} updates were expected and {len(times)} reported"
        )
    seconds = [after - before for before, after in zip([0.0, *times], times, strict=False)]
    return model, seconds, tokens, losses, peak


def measure_search(
    name: str, setting: Setting, case: SearchCase, python: Path, data: Path, work: Path, *, threads: int
) -> SearchTiming:
    """Search with a model after a few updates, trained the first time.

    Its workers search several batches at once, so batches are not timed one by one: all are searched in one call, as
    often as there are batches, and a batch has its share of a call. The whole command has the first call only.

    Args:
        name: one of `VARIANTS`.
        setting: the model and its corpus.
        case: the sentences, the beam and the batch size.
        python: the interpreter that has ``pymarian``.
        data: the folder of the corpus and of the case's sentences.
        work: for what it writes.
        threads: workers, each with batches of its own.

    Raises:
        RegardError: it failed, took too long, or did other work than the case's.
    """
    model, words = _searching(setting, python, data, work, threads), setting.output_words
    alone = case.batch == 1
    options: dict[str, Any] = {
        "models": model,
        "cpu-threads": 1 if alone else threads,
        "beam-size": case.beam,
        "mini-batch": case.batch,
        "maxi-batch": case.calls,
        "maxi-batch-sort": "src",
        "max-length-factor": f"{(words - 0.05) / (words + 1):.4f}",
        "normalize": 0,
        "workspace": 256,
        "data-threads": 1,
    }
    arguments = [*flags(options), "--vocabs", *map(str, _write_vocabularies(data, work)), *VARIANTS[name]]
    if name == QUANTISED:
        arguments += ["--shortlist", str(_write_lexicon(setting, work)), str(FREQUENT), str(PER_WORD), "0"]
    switches = ["--quiet", "--quiet-translation", *(["--skip-cost"] if case.beam == 1 else [])]
    answer = work / "search.json"
    answer.unlink(missing_ok=True)
    job = {
        "options": " ".join([*arguments, *switches]),
        "sentences": str(data / f"{case.file_stem}.source"),
        "together": not alone,
        "repeats": case.calls,
        "answer": str(answer),
    }
    started = time.perf_counter()
    _, peak = _run(python, job, work, "searched", threads)
    total = time.perf_counter() - started
    made = json.loads(answer.read_text())
    share, again = (1, 0.0) if alone else (case.calls, sum(made["seconds"][1:]))
    measured = {
        "seconds": [seconds / share for seconds in made["seconds"]],
        "total_seconds": total - again,
        "peak_bytes": peak,
    }
    return check_work(measured, case, words, made["outputs"])


def _searching(setting: Setting, python: Path, data: Path, work: Path, threads: int) -> Path:
    """A model that never ends a sentence by itself; trained the first time."""
    path = work / "endless.npz"
    if not path.exists():
        trained = _train(setting, python, data, work, UPDATES, threads)[0]
        weights = dict(np.load(trained))
        weights["decoder_ff_logit_l2_b"].reshape(-1)[0] = -1e6
        np.savez(path, **weights)
    return path


def _write_vocabularies(data: Path, work: Path) -> list[Path]:
    """The words of both sides by frequency, filled up to a multiple of 8 with words that do not occur."""
    paths = []
    for side in ("source", "target"):
        counts = Counter((data / f"train.{side}").read_text().split())
        words = ["</s>", "<unk>", *(word for word, _ in counts.most_common())]
        words += [f"unused{k}" for k in range(-len(words) % _PAD)]
        paths.append(work / f"{side}.yml")
        paths[-1].write_text("".join(f'"{word}": {k}\n' for k, word in enumerate(words)))
    return paths


def _num_words(path: Path) -> int:
    return len(path.read_text().splitlines())


def _write_lexicon(setting: Setting, work: Path) -> Path:
    """The candidates of `decoding.write_shortlist`, as lines of target word, source word, probability."""
    path = work / "lexicon"
    if not path.exists():
        pairs, _ = setting.corpus.pairs()
        lines = []
        for word, counts in opposite_words([side.split() for side in pair] for pair in pairs).items():
            total = counts.total()
            lines += [f"{other} {word} {n / total:.7f}\n" for other, n in counts.most_common(PER_WORD)]
        path.write_text("".join(lines))
    return path


def _run(
    python: Path, job: dict[str, Any], work: Path, name: str, threads: int
) -> tuple[Sequence[tuple[float, str]], int]:
    """Run the worker: what it wrote on standard error, line by line with its seconds, and its peak memory."""
    log, started = work / f"{name}.log", time.perf_counter()
    child = subprocess.Popen(
        [str(python), str(_WORKER), json.dumps(job)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        cwd=work,
        env={**environment(threads), "MKL_NUM_THREADS": "1", "LD_PRELOAD": _all_instructions(work)},
        start_new_session=True,
    )
    assert child.stderr is not None
    guard = threading.Timer(LIMIT, os.killpg, (child.pid, signal.SIGKILL))
    guard.start()
    with child.stderr as progress:
        lines = [(time.perf_counter() - started, line) for line in progress]
    guard.cancel()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    log.write_text("".join(line for _, line in lines))
    if child.returncode:
        raise RegardError(f"{log}: ended with status {child.returncode}; see there")
    return lines, usage.ru_maxrss * 1024


def _all_instructions(work: Path) -> str:
    """A library that lets its matrix library choose by the processor's instructions instead of its maker."""
    path = work / "instructions.so"
    if not path.exists():
        compiler = ["gcc", "-shared", "-fPIC", "-x", "c", "-", "-o", str(path)]
        subprocess.run(compiler, input=_MKL, text=True, check=True)
    return str(path)
