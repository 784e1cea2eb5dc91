"""Regard's search, measured like the peers': a model from a short training, a subprocess, the same stopwatch.

In: a setting, a search case, a variant. Out: `SearchTiming`. The model and its shortlist are made once and used again;
``regard translate`` translates, and `Translator.search` is its search of a batch.
"""

import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.corpora import opposite_words
from benchmarks.interleave import REGARD
from benchmarks.peers.commands import Command, flags
from benchmarks.peers.run import run_command
from benchmarks.process import run_in_subprocess
from benchmarks.search_cases import FREQUENT, LARGE, PER_WORD, SearchCase, SearchTiming, check_work
from benchmarks.settings import Setting, build_run
from regard.checkpoint import ModelFolder
from regard.inference.shortlist import FILE as SHORTLIST
from regard.inference.shortlist import Shortlist
from regard.search.options import SearchOptions
from regard.training.run import run_training

VARIANTS: dict[str, list[str]] = {
    REGARD: [],
    f"{REGARD}, int8": ["--precision", "int8"],
    f"{REGARD}, bf16": ["--precision", "bfloat16"],
    f"{REGARD}, int8 and shortlist": ["--precision", "int8", "--shortlist"],
}
"""Options of ``regard translate`` besides those of the case; the first variant is the reference."""
UPDATES = 12


def variants(setting: Setting) -> list[str]:
    """Those of `VARIANTS` that make sense for a setting."""
    large = setting.vocabulary > LARGE
    return [name for name, options in VARIANTS.items() if large or "--shortlist" not in options]


def trained_model(setting: Setting, work: Path, *, threads: int) -> Path:
    """The folder of the setting's model and its shortlist; they are made if they are not there yet.

    Raises:
        RegardError: the training failed.
    """
    folder = work.absolute() / f"{REGARD}-{setting.name}-search"
    if not (folder / "report.json").exists():
        arguments = {"setting": setting.to_json(), "folder": str(folder)}
        run_in_subprocess("benchmarks.decoding:train", arguments, threads=threads)
    if not (folder / SHORTLIST).exists():
        write_shortlist(setting, folder)
    return folder


def train(setting: dict[str, Any], folder: str) -> dict[str, Any]:
    """Train in this process; `trained_model` calls this in a subprocess."""
    short = Setting.from_json({**setting, "updates": UPDATES})
    pairs, valid = short.corpus.pairs()
    return dict(run_training(folder, build_run(short, "luong"), train=pairs, valid=valid).report)


def measure(
    variant: str, setting: Setting, case: SearchCase, model: Path, data: Path, *, threads: int
) -> SearchTiming:
    """Translate with ``regard translate`` in a subprocess.

    Args:
        variant: one of `VARIANTS`.
        setting: has the length of the outputs.
        case: the sentences, the beam and the batch size.
        model: the model folder.
        data: the folder of the case's sentences.
        threads: the number of threads.

    Raises:
        RegardError: it failed, or did other work than the case's.
    """
    output, words = model / "output.txt", setting.output_words
    options = {
        "output": output,
        "weights": "last",
        "device": "cpu",
        "threads": threads,
        "beam": case.beam,
        "batch": case.batch,
        "min-length": words,
        "max-ratio": _length_ratio(words),
    }
    files = [str(model), str(data / f"{case.file_stem}.source")]
    command = Command("regard.cli:main", ["translate", *files, *flags(options), *VARIANTS[variant]])
    output.unlink(missing_ok=True)
    python, search = Path(sys.executable), "regard.tasks.translate.predictor:Translator.search"
    measured = run_command(python, command, model, "search", threads=threads, timed=search)
    return check_work(measured, case, words, output.read_text(encoding="utf-8").splitlines())


def _length_ratio(words: int) -> float:
    """The ``--max-ratio`` that allows exactly `words` words and the end symbol for a source of `words` words.

    The limit is the ratio's share plus ten tokens; half a token more than needed avoids rounding down.
    """
    return (words + 1 - SearchOptions().max_extra + 0.5) / words


def write_shortlist(setting: Setting, folder: Path) -> None:
    """Write a shortlist for a model whose attention is not trained yet.

    It is as long as that of ``regard shortlist``: for each source word at most `PER_WORD` target words, and the
    `FREQUENT` most frequent ones. A trained attention looks at the word being translated and its neighbours; here the
    candidates are the target words opposite these positions in the corpus.
    """
    tokenizers = ModelFolder(folder).load("last").tokenizers
    train, _ = setting.corpus.pairs()
    sources, targets = (
        tokenizers[side].encode_batch([pair[k] for pair in train])
        for k, side in enumerate(("source", "target"))
    )
    opposite = opposite_words(zip(sources, targets, strict=True))
    size = tokenizers["source"].size
    candidates = [[word for word, _ in opposite[k].most_common(PER_WORD)] for k in range(size)]
    frequent = Counter(word for ids in targets for word in ids).most_common(FREQUENT)
    Shortlist(
        np.cumsum([0, *map(len, candidates)]),
        np.array([word for words in candidates for word in words]),
        np.sort(np.array([word for word, _ in frequent])),
        tokenizers["target"].size,
        {"pairs": len(train), "per_word": PER_WORD, "frequent": FREQUENT},
    ).save(folder)
