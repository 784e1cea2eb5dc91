"""Translates a file with Regard: the model folder loaded, every output so many words long.

Run by `translating` in a process of its own, as the peers' commands are; it imports what translating needs and no more.
"""

import argparse
from pathlib import Path

from regard.search import LengthLimit, SearchOptions
from regard.translator import Translator


def main() -> None:
    """Read the command line, translate, write."""
    parser = argparse.ArgumentParser("python -m benchmarks.translate_lines", description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("source", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--beam", type=int, required=True)
    parser.add_argument("--batch", type=int, required=True)
    parser.add_argument("--words", type=int, required=True)
    parser.add_argument("--precision", choices=["float32", "bfloat16", "int8"], default="float32")
    parser.add_argument("--shortlist", action="store_true")
    given = parser.parse_args()
    translator = Translator.load(
        given.model, weights="last", precision=given.precision, shortlist=given.shortlist
    )
    limit = LengthLimit(ratio=0, extra=given.words + 1)  # the end mark counts
    options = SearchOptions(beam=given.beam, min_length=given.words, limit=limit)
    lines = given.source.read_text(encoding="utf-8").splitlines()
    translations = translator.translate(lines, options, batch_sentences=given.batch, batch_tokens=10**6)
    given.output.write_text("".join(f"{each.text}\n" for each in translations), encoding="utf-8")


if __name__ == "__main__":
    main()
