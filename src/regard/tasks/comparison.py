"""Two systems on one test set: scores side by side, tests of their difference, the sentences that differ most.

In: a `System` each, which is the output of a model or of a file, with what an evaluation scored; the references. Out:
a `Comparison`: plain values to print, to write as JSON, and for a page. What a model does is the task's; which tests
there are is `evaluation.significance`'s.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any, Literal

from regard.errors import DataError
from regard.evaluation.alignment.words import LabelledAlpha
from regard.evaluation.metrics import METRICS
from regard.evaluation.quality import measure_quality
from regard.evaluation.significance import (
    NUM_RESAMPLES,
    NUM_SHUFFLES,
    PairedScore,
    compare_counts,
    compare_texts,
    mcnemar,
)
from regard.evaluation.text import TextOptions, chrf
from regard.io import make_folder
from regard.plots.page.comparison import ComparedSentence, ComparisonPage, write_comparison_page
from regard.tasks.evaluation import write_lines, write_report_json
from regard.text import format_pharaoh
from regard.text.links import Links

Kind = Literal["text", "label", "tags"]
"""What an output is: text, one label, or one tag per word."""


@dataclass(frozen=True)
class Outputs:
    """What a system made of a test set, one item per example.

    Attributes:
        kind: what an output is.
        sources: what it read; empty lines where that is unknown.
        references: the correct outputs.
        outputs: its own.
        scores: of its evaluation, by key.
        text: how outputs are compared as text.
        links: the word alignment of each output with its source; empty where there is no attention.
        alphas: the attention of each output; empty where there is none.
        signatures: of sacrebleu's metrics, by key.
    """

    kind: Kind
    sources: Sequence[str]
    references: Sequence[str]
    outputs: Sequence[str]
    scores: Mapping[str, float | int | None]
    text: TextOptions = field(default_factory=TextOptions)
    links: Sequence[Links] = ()
    alphas: Sequence[LabelledAlpha | None] = ()
    signatures: Mapping[str, str] = field(default_factory=dict)


def read_outputs(
    path: Path, lines: Sequence[str], sources: Sequence[str], references: Sequence[str], text: TextOptions
) -> Outputs:
    """The outputs of a file, scored.

    Args:
        path: of the file, for messages.
        lines: its lines.
        sources: of the test set.
        references: of the test set.
        text: how outputs are compared.

    Raises:
        DataError: the file does not have one line per sentence.
    """
    if len(lines) != len(references):
        raise DataError(
            f"{path}: {len(lines):,} lines, and the test set has {len(references):,} sentences; give one line of "
            "output per sentence, blank lines too"
        )
    quality = measure_quality(
        lines, references, tokenize=text.tokenize, lowercase=text.lowercase, unit=text.unit
    )
    scores: dict[str, float | int | None] = {**quality.scores, "num_sentences": quality.num_sentences}
    return Outputs("text", sources, references, lines, scores, text, signatures=quality.signatures)


@dataclass(frozen=True)
class Difference:
    """A sentence whose two outputs differ.

    Attributes:
        index: which example, from 0.
        scores: of both outputs against the reference: sentence chrF, or the fraction of correct labels in per cent.
    """

    index: int
    scores: tuple[float, float]


@dataclass(frozen=True)
class Comparison:
    """Two systems on one test set.

    Attributes:
        names: of the two systems.
        systems: their outputs.
        tests: the tests of each score that has them, by its key.
        mcnemar: the p-value of McNemar's test, for labels.
        differences: the examples whose outputs differ, those with the largest difference of scores first.
        num_resamples: of paired bootstrap resampling.
        num_shuffles: of approximate randomisation.
    """

    names: tuple[str, str]
    systems: tuple[Outputs, Outputs]
    tests: Mapping[str, PairedScore]
    mcnemar: float | None
    differences: tuple[Difference, ...]
    num_resamples: int
    num_shuffles: int

    @property
    def num_sentences(self) -> int:
        """How many examples were compared."""
        return len(self.systems[0].references)

    @property
    def keys(self) -> list[str]:
        """The scores that both have and that are a matter of quality, in the order of an evaluation."""
        first, second = (system.scores for system in self.systems)
        return [
            key
            for key, value in first.items()
            if key in METRICS
            and METRICS[key].better is not None
            and value is not None
            and second.get(key) is not None
            and not key.endswith("_per_second")
        ]

    @property
    def difference_score(self) -> str:
        """The name of the score by which sentences are compared."""
        return "chrF" if self.systems[0].kind == "text" else "% correct"

    @property
    def joint(self) -> str:
        """What separates the pieces of an output: nothing where it consists of characters."""
        first = self.systems[0]
        return "" if first.kind == "text" and first.text.unit == "characters" else " "

    def marked(self, index: int) -> tuple[list[tuple[str, bool]], list[tuple[str, bool]]]:
        """Both outputs of an example as pieces, each with whether it differs from the reference."""
        first, second = self.systems
        reference = first.references[index]
        by_character = not self.joint
        return (
            mark_differences(first.outputs[index], reference, by_character=by_character),
            mark_differences(second.outputs[index], reference, by_character=by_character),
        )

    def links(self, index: int) -> tuple[str | None, str | None]:
        """The word links of both outputs in Pharaoh format; None where a system has no attention."""
        first, second = (
            format_pharaoh(system.links[index]) if system.links else None for system in self.systems
        )
        return first, second

    def to_json(self, num_differences: int) -> dict[str, Any]:
        """Everything as a JSON object.

        Args:
            num_differences: how many sentences to include.
        """
        first, second = self.systems
        scores = {}
        for key in self.keys:
            values = [system.scores[key] for system in self.systems]
            scores[key] = {"scores": values, "difference": values[1] - values[0]}  # type: ignore[operator]
            if key in self.tests:
                scores[key] |= self.tests[key].to_json()
        return {
            "systems": list(self.names),
            "num_sentences": self.num_sentences,
            "num_differing": len(self.differences),
            "num_resamples": self.num_resamples,
            "num_shuffles": self.num_shuffles,
            "scores": scores,
            **({"p_mcnemar": self.mcnemar} if self.mcnemar is not None else {}),
            "signatures": dict(first.signatures or second.signatures),
            "differences": [
                {
                    "number": each.index + 1,
                    "source": first.sources[each.index],
                    "reference": first.references[each.index],
                    "outputs": [first.outputs[each.index], second.outputs[each.index]],
                    "scores": list(each.scores),
                    "links": list(self.links(each.index)),
                }
                for each in self.differences[:num_differences]
            ],
        }

    def write(self, folder: Path, command: str, num_differences: int) -> Path:
        """Write ``report.json``, ``report.html`` and both outputs, ``a.txt`` and ``b.txt``.

        Args:
            folder: made if it is missing.
            command: that repeats the comparison.
            num_differences: how many sentences the page shows.

        Returns:
            The page.

        Raises:
            DataError: the folder cannot be written.
        """
        make_folder(folder)
        write_report_json(folder, {**self.to_json(num_differences), "command": command})
        for name, system in zip(("a.txt", "b.txt"), self.systems, strict=True):
            write_lines(folder / name, system.outputs)
        page = folder / "report.html"
        write_comparison_page(page, self._page(command, num_differences))
        return page

    def _page(self, command: str, num_differences: int) -> ComparisonPage:
        first, second = self.systems
        shown = []
        for each in self.differences[:num_differences]:
            k = each.index
            alphas = [system.alphas[k] if system.alphas else None for system in self.systems]
            shown.append(
                ComparedSentence(
                    k + 1,
                    first.sources[k],
                    first.references[k],
                    self.marked(k),
                    each.scores,
                    alphas,
                    self.joint,
                )
            )
        values = {key: (first.scores[key], second.scores[key]) for key in self.keys}
        return ComparisonPage(
            self.names,
            self.num_sentences,
            values,  # type: ignore[arg-type]
            self.tests,
            self.mcnemar,
            shown,
            len(self.differences),
            self.difference_score,
            explain_tests(self.num_resamples, self.num_shuffles),
            first.signatures or second.signatures,
            command,
        )


def explain_tests(num_resamples: int, num_shuffles: int) -> str:
    """What the columns of tests mean."""
    return (
        f"± is half the 95 % confidence interval of {num_resamples:,} bootstrap resamples; p is the probability of "
        f"such a difference if there were none, by paired bootstrap resampling and by approximate randomisation "
        f"({num_shuffles:,} shuffles); * marks the better system where both p are below 0.05"
    )


def compare(
    names: tuple[str, str],
    first: Outputs,
    second: Outputs,
    *,
    num_resamples: int = NUM_RESAMPLES,
    num_shuffles: int = NUM_SHUFFLES,
) -> Comparison:
    """Compare two systems.

    Args:
        names: what they are called.
        first: the baseline.
        second: the other one, on the same test set.
        num_resamples: of paired bootstrap resampling.
        num_shuffles: of approximate randomisation.

    Raises:
        DataError: they were not run on the same test set, or do not do the same.
    """
    if first.kind != second.kind or list(first.references) != list(second.references):
        raise DataError(
            f"{names[0]} and {names[1]}: their outputs are of different test sets; give them the same one"
        )
    p_mcnemar = None
    if first.kind == "text":
        tests = compare_texts(
            first.outputs,
            second.outputs,
            first.references,
            first.text,
            num_resamples=num_resamples,
            num_shuffles=num_shuffles,
        )
        by_sentence = [chrf.by_sentence(each.outputs, each.references, each.text) for each in (first, second)]
    else:
        counts = [
            [count_correct(*pair, first.kind) for pair in zip(each.outputs, each.references, strict=True)]
            for each in (first, second)
        ]
        compared = compare_counts(*counts, num_resamples=num_resamples, num_shuffles=num_shuffles)
        tests = {"accuracy": compared}
        if first.kind == "label":
            pairs = [(one[0], other[0]) for one, other in zip(*counts, strict=True)]
            p_mcnemar = mcnemar(pairs.count((1, 0)), pairs.count((0, 1)))
        by_sentence = [[100 * right / max(total, 1) for right, total in each] for each in counts]
    differing = [
        Difference(k, (by_sentence[0][k], by_sentence[1][k]))
        for k in range(len(first.references))
        if first.outputs[k] != second.outputs[k]
    ]
    differing.sort(key=lambda each: (-abs(each.scores[0] - each.scores[1]), each.index))
    return Comparison(names, (first, second), tests, p_mcnemar, tuple(differing), num_resamples, num_shuffles)


def count_correct(output: str, reference: str, kind: Kind) -> tuple[float, float]:
    """How many labels are right, and how many there are."""
    if kind == "label":
        return float(output == reference), 1.0
    gold = reference.split()
    return float(sum(map(str.__eq__, output.split(), gold))), float(len(gold))


def mark_differences(output: str, reference: str, *, by_character: bool = False) -> list[tuple[str, bool]]:
    """An output in pieces, each with whether it differs from the reference.

    Args:
        output: a line.
        reference: its reference.
        by_character: whether characters are compared, and not blank-separated words.
    """
    ours: Sequence[str] = output if by_character else output.split()
    theirs: Sequence[str] = reference if by_character else reference.split()
    joint = "" if by_character else " "
    matcher = SequenceMatcher(a=theirs, b=ours, autojunk=False)
    pieces = []
    for operation, _, _, start, end in matcher.get_opcodes():
        if start < end:
            pieces.append((joint.join(ours[start:end]), operation != "equal"))
    return pieces
