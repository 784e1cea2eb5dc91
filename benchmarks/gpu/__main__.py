"""Measure Regard on a GPU: first agreement with the naive paths, then time. Prints rows, and writes them as JSON."""

import argparse
import json
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import torch

from benchmarks.gpu import decoding
from benchmarks.gpu.recurrences import PRECISIONS, RECURRENCES, SIZES, Size, agreement, timing
from benchmarks.gpu.training_step import profile_update, throughput

AGREEMENT_SIZES = (Size(128, 50, 1024), Size(7, 9, 192), Size(33, 21, 1000))
"""The sizes at which agreement is checked: the largest, a small one, and one whose widths are padded."""

PARTS = ["agreement", "timing", "step", "profile", "decoding", "search-profile"]


def collect(
    title: str, make: Callable[..., dict[str, Any]], cases: Iterable[tuple[Any, ...]]
) -> list[dict[str, Any]]:
    """A row for each case, printed at once; a case that fails has its message as a row."""
    print(f"\n{title}", flush=True)
    rows: list[dict[str, Any]] = []
    for case in cases:
        try:
            row = make(*case)
        except Exception as error:  # one failure must not lose the other figures
            row = {"case": [str(part) for part in case], "failed": f"{type(error).__name__}: {error}"[:500]}
        shown = (
            f"{key} {value:.4g}" if isinstance(value, float) else f"{key} {value}"
            for key, value in row.items()
        )
        print("  " + " · ".join(shown), flush=True)
        rows.append(row)
        torch.cuda.empty_cache()
    return rows


def main() -> None:
    """Read the command line, measure, print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gpu", description=__doc__)
    parser.add_argument("--out", type=Path, help="a JSON file for all figures")
    parser.add_argument("--short", action="store_true", help="bf16 and the first size only")
    parser.add_argument(
        "--only",
        nargs="*",
        default=[*RECURRENCES],
        choices=[*RECURRENCES],
        metavar="RECURRENCE",
        help="recurrences of agreement and timing; default: all",
    )
    parser.add_argument(
        "--parts",
        nargs="*",
        default=PARTS,
        choices=PARTS,
        metavar="PART",
        help="default: " + ", ".join(PARTS),
    )
    args = parser.parse_args()
    # torch does not store nn.LSTM's bfloat16 weights contiguously, and warns at every call
    warnings.filterwarnings("ignore", message="RNN module weights are not part of single contiguous chunk")
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    precisions, sizes = (["bf16"], SIZES[:1]) if args.short else ([*PRECISIONS], SIZES)
    figures: dict[str, Any] = {"gpu": torch.cuda.get_device_name(), "torch": torch.__version__}
    parts: dict[str, Callable[[], list[dict[str, Any]]]] = {
        "agreement": lambda: collect(
            "Relative distance from the naive path in float64", agreement,
            [(name, size, precision) for name in args.only for size in AGREEMENT_SIZES for precision in precisions],
        ),
        "timing": lambda: collect(
            "Forward and backward against nn.LSTM", timing,
            [(name, size, precision) for precision in precisions for size in sizes for name in args.only],
        ),
        "step": lambda: collect(
            "A whole update of RNNsearch-50, bf16", throughput,
            [(sentences, whole) for sentences in (80, 128) for whole in (False, True)],
        ),
        "profile": lambda: collect("Profile of that update, 80 sentences of 50 words", lambda row: row,
                                   [(row,) for row in profile_update(80)]),
        "decoding": lambda: collect(
            "Search with RNNsearch-50", decoding.measure,
            [(128, beam, precision, lengths, path)
             for precision in (["bf16"] if args.short else decoding.PRECISIONS)
             for lengths in ("all 50", "as in a corpus") for path in decoding.PATHS for beam in (1, 5)],
        ),
        "search-profile": lambda: collect("Profile of that search", lambda row: row,
                                          [(row,) for beam in (1, 5) for row in decoding.profile_search(beam)]),
    }  # fmt: skip
    for part in args.parts:
        figures[part] = parts[part]()
        if args.out:
            args.out.write_text(json.dumps(figures, indent=1))


main()
