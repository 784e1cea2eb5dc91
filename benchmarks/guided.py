"""Translators guided by an aligner: their alignments on gold links, and what guidance does to their translations.

``python -m benchmarks.guided FOLDER --corpus OUT --data DATA [--aligner MODEL | --links FILE]``: OUT is the corpus of
`benchmarks.align` (``src``, ``tgt``, ``gold.json``), DATA the folder that holds ``hansards-enfr``, whose ``dev2k`` and
``test2k`` are normalised as the corpus is. Two translators are trained on the pairs before those with gold links, one
of them with the links of an aligner. AER is of each translator's links of the reference, read by forced decoding, BLEU
of beam 5 on ``test2k``. What is finished in FOLDER is not done again.
"""

import argparse
import json
import lzma
import re
import sys
import unicodedata
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from typing import Any

from benchmarks.align import Part, score, write_parts
from benchmarks.process import run_regard
from benchmarks.report import Table, markdown_table, today
from regard.errors import RegardError
from regard.io import write_whole_text

_LANGUAGES = ("en", "fr")
TRANSLATOR = (
    "tokenizer.source=word",
    "tokenizer.target=word",
    "tokenizer.source_size=30000",
    "tokenizer.target_size=30000",
    "data.max_length=80",
    "training.max_epochs=6",
    "training.batch_sentences=128",
    "training.batch_tokens=6000",
)
"""Options beside the preset rnnsearch-small: words, so that links need no merging."""


def normalized(line: str) -> str:
    """Lower case, no accents, punctuation apart, a blank after an apostrophe between letters: as the corpus is."""
    text = unicodedata.normalize("NFD", line.strip().lower())
    text = "".join(character for character in text if not unicodedata.combining(character))
    text = re.sub(r"([.,;:!?()\"\-\[\]/$%])", r" \1 ", text)
    return " ".join(re.sub(r"(\w)'(\w)", r"\1' \2", text).split())


def write_files(corpus: Path, data: Path, folder: Path, parts: Sequence[Part]) -> None:
    """Write the training pairs, which have no gold links, and the pairs for validation and test."""
    for side, language in zip(("src", "tgt"), _LANGUAGES, strict=True):
        with (corpus / side).open(encoding="utf-8") as lines:
            write_whole_text(folder / f"train.{language}", "".join(islice(lines, parts[0].start)))
        for part in ("dev2k", "test2k"):
            path = data / "hansards-enfr" / f"{part}.{language}.xz"
            with lzma.open(path, "rt", encoding="utf-8", errors="replace") as lines:
                write_whole_text(
                    folder / f"{part}.{language}", "".join(f"{normalized(line)}\n" for line in lines)
                )


def guidance(args: argparse.Namespace) -> list[str]:
    """The flags of a translator that learns from links."""
    if args.aligner is not None:
        return ["--guided", str(args.aligner)]
    links = [
        f"data.train_links={args.links}",
        "auxiliary_losses.guided_alignment=0.5",
        "model.alignment_size=256",
    ]
    return [argument for option in links for argument in ("--set", option)]


def measure(model: Path, folder: Path, parts: Sequence[Part], given: Sequence[str]) -> Mapping[str, Any]:
    """Train a translator unless that is done, and score its links and its translations."""
    result = model.with_suffix(".json")
    if not result.exists():
        pairs = [f"{folder}/{part}.{language}" for part in ("train", "dev2k") for language in _LANGUAGES]
        files = ["--train", pairs[0], "--train", pairs[1], "--valid", pairs[2], "--valid", pairs[3]]
        report = json.loads(run_regard(["train", str(model), "--resume", "--json", *files, *given], 2))
        test = [f"{folder}/test2k.{language}" for language in _LANGUAGES]
        scored = json.loads(run_regard(["evaluate", str(model), *test, "--tokenize", "none", "--json"], 2))
        made = {"minutes": report["train_seconds"] / 60, "bleu": scored["bleu"]}
        for part in parts:
            scores = score([str(model)], part)
            made[f"aer {part.name}"] = scores[list(scores)[-1]]["aer"]
        write_whole_text(result, json.dumps(made))
    found: Mapping[str, Any] = json.loads(result.read_text())
    return found


def main() -> None:
    """Read the command line, measure, print."""
    about = (__doc__ or "").split("\n")[0]
    parser = argparse.ArgumentParser("python -m benchmarks.guided", description=about)
    parser.add_argument("folder", type=Path, help="of models and results")
    parser.add_argument("--corpus", type=Path, required=True, help="the folder of src, tgt and gold.json")
    parser.add_argument("--data", type=Path, required=True, help="the folder that holds hansards-enfr")
    teacher = parser.add_mutually_exclusive_group(required=True)
    teacher.add_argument("--aligner", type=Path, help="a model of the task align")
    teacher.add_argument("--links", type=Path, help="the training pairs' links, in place of an aligner")
    parser.add_argument("--seeds", type=int, default=1, help="translators of each kind")
    parser.add_argument("--workers", type=int, default=1, help="trainings at once")
    parser.add_argument(
        "--set", action="append", default=[], metavar="OPTION=VALUE", help="of every training"
    )
    args = parser.parse_args()
    options = [argument for option in (*TRANSLATOR, *args.set) for argument in ("--set", option)]
    kinds = {"unguided": [], "guided": guidance(args)}
    try:
        parts = write_parts(args.corpus, args.folder)
        write_files(args.corpus, args.data, args.folder, parts)
        with ThreadPoolExecutor(args.workers) as pool:
            jobs = {
                (kind, seed): pool.submit(
                    measure,
                    args.folder / f"{kind}-{seed}",
                    args.folder,
                    parts,
                    ["--preset", "rnnsearch-small", "--seed", str(seed), *options, *flags],
                )
                for seed in range(1, args.seeds + 1)
                for kind, flags in kinds.items()
            }
            found = {key: job.result() for key, job in jobs.items()}
    except (RegardError, OSError) as error:
        sys.exit(f"error: {error}")
    rows = [
        (
            f"{kind}, seed {seed}",
            *(f"{100 * of[f'aer {part.name}']:.1f}" for part in parts),
            f"{of['bleu']:.2f}",
            f"{of['minutes']:.1f}",
        )
        for (kind, seed), of in found.items()
    ]
    heads = ("translator", *(f"AER {part.name}" for part in parts), "BLEU test2k", "minutes")
    print("\n".join(markdown_table(Table(f"Translators, {today()}; AER in per cent.", heads, rows))))


if __name__ == "__main__":
    main()
