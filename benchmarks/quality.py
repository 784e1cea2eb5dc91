"""What precisions and shortlists cost in BLEU and gain in speed, on a real model: Multi30k, German to English.

In: a model that ``regard train`` trained on Multi30k, and the folder of that data, which is read and never copied.
Out: a `Section`: for each variant BLEU on the test set of 2016 with beam 5 and greedily, the fraction of outputs equal
to those of float32, and the speed of search in batches of 32 and one sentence at a time, relative to float32.

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

from benchmarks.interleave import REGARD, Measure, Trial, interleave, ratios, summarize
from benchmarks.process import run_in_subprocess
from benchmarks.report import Section, Table, markdown_table, save_section, write_report
from regard.checkpoint import ModelFolder
from regard.errors import RegardError
from regard.evaluation import measure_quality
from regard.inference.shortlist import FILE as SHORTLIST
from regard.inference.shortlist import Shortlist, measure_coverage, train_shortlist
from regard.text import encode_pairs, read_pairs
from regard.text.formats import read_file

VARIANTS: dict[str, dict[str, Any]] = {
    REGARD: {"precision": "float32", "shortlist": False},
    f"{REGARD}, int8": {"precision": "int8", "shortlist": False},
    f"{REGARD}, bf16": {"precision": "bfloat16", "shortlist": False},
    f"{REGARD}, shortlist": {"precision": "float32", "shortlist": True},
    f"{REGARD}, int8 and shortlist": {"precision": "int8", "shortlist": True},
}
"""Arguments of `Translator.load`; the first variant is the reference."""
NUM_SINGLE = 100
"""The number of sentences that are also translated one at a time."""


def data_file(data: Path, part: str, language: str) -> Path:
    """A file of Multi30k: lower-cased, normalised and tokenised by its authors."""
    return data / "multi30k" / "tok" / f"{part}.lc.norm.tok.{language}.xz"


@dataclass(frozen=True)
class QualityResult:
    """One run.

    Attributes:
        beam: translations with beam 5, in batches of 32.
        greedy: translations by greedy search.
        seconds: of all searches with beam 5.
        single_seconds: of each search for a single sentence, with beam 5.
        words: the number of words of `beam`.
        peak_bytes: peak memory of the process.
    """

    beam: Sequence[str]
    greedy: Sequence[str]
    seconds: float
    single_seconds: Sequence[float]
    words: int
    peak_bytes: int

    @property
    def tokens_per_second(self) -> float:
        """Target words per second, in batches of 32."""
        return self.words / self.seconds

    @property
    def sentences_per_second(self) -> float:
        """In batches of 32."""
        return len(self.beam) / self.seconds

    @property
    def milliseconds(self) -> float:
        """Per sentence, one at a time."""
        return 1000 * median(self.single_seconds)

    def to_json(self) -> dict[str, Any]:
        """All that was measured, without the translations."""
        return {**asdict(self), "beam": [], "greedy": [], "single_seconds": self.milliseconds / 1000}


def measure_variant(variant: str, model: Path, data: Path, *, threads: int) -> QualityResult:
    """Translate the test set in a subprocess.

    Raises:
        RegardError: the run failed.
    """
    arguments = {
        "model": str(model.absolute()),
        "lines": str(data_file(data.absolute(), "test_2016_flickr", "de")),
    }
    result = run_in_subprocess(
        "benchmarks.quality:translate", {**arguments, **VARIANTS[variant]}, threads=threads
    )
    return QualityResult(**result)


def translate(model: str, lines: str, precision: Any, shortlist: bool) -> dict[str, Any]:
    """Translate in this process; `measure_variant` calls this in a subprocess."""
    from regard.tasks.translate.predictor import Translator

    translator = Translator.load(model, precision=precision, shortlist=shortlist)
    search, seconds = translator.search, []

    def timed(*arguments: Any, **options: Any) -> Any:
        started = time.perf_counter()
        result = search(*arguments, **options)
        seconds.append(time.perf_counter() - started)
        return result

    translator.search = timed  # type: ignore[method-assign]
    sources = list(read_file(lines))
    translator.translate(sources[:32])  # the weights are packed now
    seconds.clear()
    beam = translator.translate(sources)
    total = sum(seconds)
    seconds.clear()
    for line in sources[:NUM_SINGLE]:
        translator.translate([line])
    single_seconds = list(seconds)
    greedy = translator.translate(sources, beam=1)
    texts = {
        "beam": [translation.text for translation in beam],
        "greedy": [translation.text for translation in greedy],
    }
    words = sum(len(translation.tokens) for translation in beam)
    return {**texts, "seconds": total, "single_seconds": single_seconds, "words": words}


def save_shortlist(model: str, source: str, target: str) -> dict[str, Any]:
    """Train the model's shortlist on its own training pairs, in this process."""
    loaded = ModelFolder(model).load()
    tokenizers = loaded.tokenizers["source"], loaded.tokenizers["target"]
    pairs = encode_pairs(read_pairs(source, target), *tokenizers)
    train_shortlist(loaded.model, pairs, *(tokenizer.size for tokenizer in tokenizers)).save(model)
    return {}


def shortlist_coverage(model: Path, data: Path) -> dict[str, Any]:
    """The length of the model's shortlists on the test set, and the fraction of the references' words in them."""
    loaded = ModelFolder(model).load()
    tokenizers = loaded.tokenizers["source"], loaded.tokenizers["target"]
    sizes = [tokenizer.size for tokenizer in tokenizers]
    test = [data_file(data, "test_2016_flickr", language) for language in ("de", "en")]
    pairs = encode_pairs(read_pairs(*test), *tokenizers)
    return {**measure_coverage(Shortlist.load(model, *sizes), pairs).to_json(), "vocabulary": sizes[1]}


def quality_section(
    trials: Sequence[Trial], references: Sequence[str], coverage: Mapping[str, Any]
) -> Section:
    """The table of all variants.

    Args:
        trials: in the order they ran.
        references: of the test set.
        coverage: the result of `shortlist_coverage`.
    """
    first: dict[str, Any] = {}
    for trial in trials:
        if trial.result is not None:
            first.setdefault(trial.name, trial.result)
    bleu = {
        name: {way: _bleu(getattr(result, way), references) for way in ("beam", "greedy")}
        for name, result in first.items()
    }
    batched, alone = ratios(trials), ratios(trials, lambda result: 1 / result.milliseconds)
    speed = summarize(trials, lambda result: float(result.sentences_per_second))
    single = summarize(trials, lambda result: float(result.milliseconds))
    rows = []
    for name, result in first.items():
        scores, reference = bleu[name], bleu[REGARD]
        pairs = zip(result.beam, first[REGARD].beam, strict=True)
        same = sum(output == expected for output, expected in pairs) / len(result.beam)
        rows.append(
            [
                name,
                *(f"{scores[way]:.2f} ({scores[way] - reference[way]:+.2f})" for way in ("beam", "greedy")),
                f"{same:.1%}",
                speed[name].format(",.0f"),
                "1" if name == REGARD else batched[name].format(".2f"),
                single[name].format(",.1f"),
                "1" if name == REGARD else alone[name].format(".2f"),
            ]
        )
    columns = ["", "BLEU, beam 5", "BLEU, greedy", "outputs equal to float32’s", "sentences/s, batches of 32",
               "× float32", "ms, one sentence", "× float32"]  # fmt: skip
    described = ", ".join(f"{name.replace('_', ' ')} {_number(value)}" for name, value in coverage.items())
    return Section(
        "quality",
        "What precisions and shortlists cost and gain",
        [
            "Multi30k, German to English, test set of 2016, tokenised and lower-cased; BLEU by sacrebleu "
            "without its tokenizer, in brackets the difference from float32. Speeds are of the search alone, with beam "
            "5; float32 runs before and after every other variant, and a ratio is to the mean of the two runs next to "
            "it.",
            f"The shortlist, from the model’s own alignments of the training pairs, on the test set: {described}.",
            *(f"{trial.name} failed: {trial.error}" for trial in trials if trial.error),
        ],
        [Table("Quality and speed of Regard’s variants.", columns, rows)],
        numbers={"bleu": bleu, "coverage": dict(coverage), "trials": [trial.to_json() for trial in trials]},
    )


def _bleu(lines: Sequence[str], references: Sequence[str]) -> float:
    return measure_quality(lines, references, tokenize="none", metrics=("bleu",))["bleu"]


def _number(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else f"{value:,}"


def main() -> None:
    """Read the command line, train the shortlist if there is none, measure, print."""
    parser = argparse.ArgumentParser("python -m benchmarks.quality", description=__doc__)
    parser.add_argument("model", type=Path, help="a model folder")
    parser.add_argument("--data", type=Path, required=True, help="the folder that holds multi30k/tok")
    parser.add_argument("--rounds", type=int, default=1, help="runs of each variant")
    parser.add_argument("--threads", type=int, default=2, help="threads of every process")
    parser.add_argument("--out", type=Path, default=Path("benchmark-out"), help="folder of results")
    args = parser.parse_args()
    try:
        if not (args.model / SHORTLIST).exists():
            train = {name: str(data_file(args.data.absolute(), "train", language))
                     for name, language in (("source", "de"), ("target", "en"))}  # fmt: skip
            arguments = {"model": str(args.model.absolute()), **train}
            run_in_subprocess("benchmarks.quality:save_shortlist", arguments, threads=args.threads)
        variants: dict[str, Measure] = {
            name: partial(measure_variant, name, args.model, args.data, threads=args.threads)
            for name in VARIANTS
        }
        regard = variants.pop(REGARD)
        trials = interleave(
            regard, variants, args.rounds, lambda name: print(name, file=sys.stderr, flush=True)
        )
        references = list(read_file(data_file(args.data, "test_2016_flickr", "en")))
        section = quality_section(trials, references, shortlist_coverage(args.model, args.data))
        save_section(section, args.out)
        write_report(args.out)
    except RegardError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
    print("\n".join([*section.paragraphs, "", *markdown_table(section.tables[0])]))


if __name__ == "__main__":
    main()
