"""What precision and shortlist cost in BLEU and bring in speed, on a real model: Multi30k, German to English.

In: a model that `regard train` made of Multi30k's training pairs, and the folder of that data, which is read and never
copied. Out: a `Section`: for each variant BLEU of the test set of 2016 with beam 5 and greedily, how many outputs are
those of float32, and the search's speed with 32 sentences at a time and with one, as a share of float32's beside it.

    python -m benchmarks.quality MODEL --data FOLDER
"""

import argparse
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.contest import OURS, Run, Turn, in_turn, shares, spreads
from benchmarks.process import in_own_process
from benchmarks.report import markdown_table, write_report
from benchmarks.section import Section, Table, keep
from regard.checkpoint import ModelFolder
from regard.errors import RegardError
from regard.evaluation import measure
from regard.inference.shortlist import FILE as SHORTLIST
from regard.inference.shortlist import Shortlist, measure_coverage, train_shortlist
from regard.text import encode_pairs, read_pairs
from regard.text.formats import read_file

VARIANTS: dict[str, dict[str, Any]] = {
    OURS: {"precision": "float32", "shortlist": False},
    f"{OURS}, int8": {"precision": "int8", "shortlist": False},
    f"{OURS}, bf16": {"precision": "bfloat16", "shortlist": False},
    f"{OURS}, shortlist": {"precision": "float32", "shortlist": True},
    f"{OURS}, int8 and shortlist": {"precision": "int8", "shortlist": True},
}
"""What `Translator.load` is told; the first is what all others are held against."""
ALONE = 100
"""How many sentences are also translated one at a time."""


def file_of(data: Path, part: str, language: str) -> Path:
    """A file of Multi30k: lower-cased, normalised and tokenised by its authors."""
    return data / "multi30k" / "tok" / f"{part}.lc.norm.tok.{language}.xz"


@dataclass(frozen=True)
class Rated:
    """One run.

    Attributes:
        beam: translations with beam 5, 32 at a time.
        greedy: greedy ones.
        seconds: of all searches with beam 5.
        alone: of each search for a single sentence, with beam 5.
        words: the words of `beam`.
        peak_bytes: the most memory the process held.
    """

    beam: Sequence[str]
    greedy: Sequence[str]
    seconds: float
    alone: Sequence[float]
    words: int
    peak_bytes: int

    @property
    def tokens_per_second(self) -> float:
        """Of the target, 32 sentences at a time."""
        return self.words / self.seconds

    @property
    def sentences_per_second(self) -> float:
        """32 at a time."""
        return len(self.beam) / self.seconds

    @property
    def milliseconds(self) -> float:
        """Of a sentence alone."""
        return 1000 * median(self.alone)

    def to_json(self) -> dict[str, Any]:
        """All that was seen but the translations."""
        return {**asdict(self), "beam": [], "greedy": [], "alone": self.milliseconds / 1000}


def rate(variant: str, model: Path, data: Path, *, threads: int) -> Rated:
    """Translate the test set in a process of its own.

    Raises:
        RegardError: the run failed.
    """
    given = {"model": str(model.absolute()), "lines": str(file_of(data.absolute(), "test_2016_flickr", "de"))}
    seen = in_own_process("benchmarks.quality:translate", {**given, **VARIANTS[variant]}, threads=threads)
    return Rated(**seen)


def translate(model: str, lines: str, precision: Any, shortlist: bool) -> dict[str, Any]:
    """Translate in this process; what `rate` calls in its child."""
    from regard.tasks.translate.predictor import Translator

    translator = Translator.load(model, precision=precision, shortlist=shortlist)
    search, seconds = translator.search, []

    def timed(*arguments: Any, **options: Any) -> Any:
        started = time.perf_counter()
        found = search(*arguments, **options)
        seconds.append(time.perf_counter() - started)
        return found

    translator.search = timed  # type: ignore[method-assign]
    sources = list(read_file(lines))
    translator.translate(sources[:32])  # the matrices are laid out now
    seconds.clear()
    beam = translator.translate(sources)
    whole = sum(seconds)
    seconds.clear()
    for line in sources[:ALONE]:
        translator.translate([line])
    alone = list(seconds)
    greedy = translator.translate(sources, beam=1)
    texts = {"beam": [each.text for each in beam], "greedy": [each.text for each in greedy]}
    words = sum(len(each.tokens) for each in beam)
    return {**texts, "seconds": whole, "alone": alone, "words": words}


def learn(model: str, source: str, target: str) -> dict[str, Any]:
    """Learn the model's shortlist from the pairs it was trained on; for a process of its own."""
    loaded = ModelFolder(model).load()
    tokenizers = loaded.tokenizers["source"], loaded.tokenizers["target"]
    pairs = encode_pairs(read_pairs(source, target), *tokenizers)
    train_shortlist(loaded.model, pairs, *(each.size for each in tokenizers)).save(model)
    return {}


def coverage_of(model: Path, data: Path) -> dict[str, Any]:
    """How long the model's shortlists are on the test set, and which share of the references' words they have."""
    loaded = ModelFolder(model).load()
    tokenizers = loaded.tokenizers["source"], loaded.tokenizers["target"]
    sizes = [each.size for each in tokenizers]
    test = [file_of(data, "test_2016_flickr", language) for language in ("de", "en")]
    pairs = encode_pairs(read_pairs(*test), *tokenizers)
    return {**measure_coverage(Shortlist.load(model, *sizes), pairs).to_json(), "vocabulary": sizes[1]}


def quality_section(turns: Sequence[Turn], references: Sequence[str], coverage: Mapping[str, Any]) -> Section:
    """The table of all variants.

    Args:
        turns: as they were taken.
        references: of the test set.
        coverage: what `coverage_of` found.
    """
    first: dict[str, Any] = {}
    for turn in turns:
        if turn.measured is not None:
            first.setdefault(turn.name, turn.measured)
    bleu = {
        name: {way: _bleu(getattr(seen, way), references) for way in ("beam", "greedy")}
        for name, seen in first.items()
    }
    batched, alone = shares(turns), shares(turns, lambda seen: 1 / seen.milliseconds)
    speed = spreads(turns, lambda seen: float(seen.sentences_per_second))
    single = spreads(turns, lambda seen: float(seen.milliseconds))
    rows = []
    for name, seen in first.items():
        ours, it = bleu[OURS], bleu[name]
        same = sum(a == b for a, b in zip(seen.beam, first[OURS].beam, strict=True)) / len(seen.beam)
        rows.append(
            [
                name,
                *(f"{it[way]:.2f} ({it[way] - ours[way]:+.2f})" for way in ("beam", "greedy")),
                f"{same:.1%}",
                speed[name].written(",.0f"),
                "1" if name == OURS else batched[name].written(".2f"),
                single[name].written(",.1f"),
                "1" if name == OURS else alone[name].written(".2f"),
            ]
        )
    columns = ["", "BLEU, beam 5", "BLEU, greedy", "outputs as float32’s", "sentences/s, batches of 32", "× float32",
               "ms, one sentence", "× float32"]  # fmt: skip
    told = ", ".join(f"{name.replace('_', ' ')} {_number(value)}" for name, value in coverage.items())
    return Section(
        "quality",
        "What precision and shortlist cost and bring",
        [
            "Multi30k, German to English, test set of 2016, tokenised and lower-cased; BLEU by sacrebleu without a "
            "tokenizer of its own, in brackets the difference from float32. Speeds are of the search alone, with beam "
            "5; float32 runs before and after every other variant, and a ratio is to the mean of the two beside it.",
            f"The shortlist, learnt from the model’s own alignments of the training pairs, on the test set: {told}.",
            *(f"{turn.name} failed: {turn.failed}" for turn in turns if turn.failed),
        ],
        [Table("Quality and speed of Regard’s variants.", columns, rows)],
        numbers={"bleu": bleu, "coverage": dict(coverage), "turns": [turn.to_json() for turn in turns]},
    )


def _bleu(lines: Sequence[str], references: Sequence[str]) -> float:
    return measure(lines, references, tokenize="none", metrics=("bleu",))["bleu"]


def _number(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else f"{value:,}"


def main() -> None:
    """Read the command line, learn the shortlist where there is none, measure, tell."""
    parser = argparse.ArgumentParser("python -m benchmarks.quality", description=__doc__)
    parser.add_argument("model", type=Path, help="a model folder")
    parser.add_argument("--data", type=Path, required=True, help="the folder that holds multi30k/tok")
    parser.add_argument("--rounds", type=int, default=1, help="turns of each variant")
    parser.add_argument("--threads", type=int, default=2, help="of every process")
    parser.add_argument("--out", type=Path, default=Path("benchmark-out"), help="where results go")
    given = parser.parse_args()
    try:
        if not (given.model / SHORTLIST).exists():
            train = {name: str(file_of(given.data.absolute(), "train", language))
                     for name, language in (("source", "de"), ("target", "en"))}  # fmt: skip
            asked = {"model": str(given.model.absolute()), **train}
            in_own_process("benchmarks.quality:learn", asked, threads=given.threads)
        each: dict[str, Run] = {
            name: partial(rate, name, given.model, given.data, threads=given.threads) for name in VARIANTS
        }
        ours = each.pop(OURS)
        turns = in_turn(ours, each, given.rounds, lambda name: print(name, file=sys.stderr, flush=True))
        references = list(read_file(file_of(given.data, "test_2016_flickr", "en")))
        section = quality_section(turns, references, coverage_of(given.model, given.data))
        keep(section, given.out)
        write_report(given.out)
    except RegardError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
    print("\n".join([*section.words, "", *markdown_table(section.tables[0])]))


if __name__ == "__main__":
    main()
