"""The evaluation of a language model: perplexity and bits per character of a text.

In: files for ``regard evaluate``, datasets for ``regard demo``. Out: a `TextScore`; a folder with ``report.json``.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from regard.errors import DataError
from regard.tasks.evaluation import (
    DemoRun,
    DemoView,
    EvaluationOptions,
    EvaluationReport,
    EvaluationRun,
    ProgressCounter,
    ReportContext,
    write_lines,
    write_report_json,
)
from regard.tasks.language_model.predictor import LanguageModel
from regard.tasks.language_model.result import TextScore
from regard.text import read_lines

if TYPE_CHECKING:
    from regard.datasets import Example

_SAMPLES = 5
_SHOWN_STEPS = 8


def evaluate_text(
    language_model: LanguageModel, lines: Iterable[str], counter: ProgressCounter, *, mode: str = "sentences"
) -> TextScore:
    """Score a text, counting its lines."""
    total = TextScore()
    for line in language_model.score(lines, mode=mode):
        total = total.with_line(line)
        counter.count(len(line.tokens))
    return total


def evaluate_files(options: EvaluationOptions) -> EvaluationRun:
    """A language model and a text."""
    language_model = LanguageModel.load(options.model, weights=options.weights, device=options.device)
    mode = "continuous" if options.continuous else "sentences"

    def run(counter: ProgressCounter) -> EvaluationReport:
        score = evaluate_text(language_model, read_lines([str(options.source)]), counter, mode=mode)
        if not score.num_tokens:
            raise DataError(f"{options.source}: an empty test set; give at least one line of text")
        return _report(score, mode, str(options.model))

    return EvaluationRun("scoring", None, run)


def _report(score: TextScore, mode: str, model: str) -> EvaluationReport:
    def write(folder: Path, context: ReportContext) -> dict[str, Path]:
        return {"report": write_report_json(folder, context.report({**score.to_json(), "mode": mode}))}

    unknown = f"{score.unknown} to {model}, and each is read as the one unknown word"
    notes = (unknown,) if score.unknown else ()
    return EvaluationReport(score, score.to_json(), score.to_json(), write, notes=notes)


def write_examples(stem: Path, examples: "Sequence[Example]") -> list[str]:
    """Write one sentence per line."""
    return [write_lines(stem.with_suffix(".txt"), [example.source for example in examples])]


def evaluate_examples(
    language_model: LanguageModel, examples: "Sequence[Example]", demo: DemoRun
) -> EvaluationRun:
    """A language model and generated lines."""
    lines = [example.source for example in examples]
    return EvaluationRun(
        "scoring",
        len(lines),
        lambda counter: _report(evaluate_text(language_model, lines, counter), "sentences", str(demo.folder)),
    )


def show_demo(language_model: LanguageModel, evaluation: TextScore, demo: DemoRun) -> DemoView:
    """Some sampled lines, and one of them step by step."""
    from rich.padding import Padding
    from rich.text import Text

    from regard.plots.terminal.sample import TerminalSample

    samples = language_model.sample(count=_SAMPLES)
    known = {example.source for part in (demo.splits.train, demo.splits.test) for example in part}
    drawn = min(samples, key=lambda sample: abs(len(sample.steps) - _SHOWN_STEPS))
    picture = demo.folder / "growth.png"
    drawn.plot(picture, title=demo.title)
    return DemoView(
        ("perplexity",),
        [
            Text.assemble(("\nsampled lines", "bold"), " (= is in the corpus)"),
            *(Text(f"  {'=' if sample.text in known else ' '} {sample.text}") for sample in samples),
            Text.assemble(("\none of them, step by step", "bold"), " (each word with its alternatives)\n"),
            Padding(TerminalSample(drawn), (0, 0, 0, 2), expand=False),
        ],
        ("{regard} sample {folder} --watch", "{regard} score {folder} {folder}/corpus/test.txt"),
        picture,
        hidden=frozenset(evaluation.to_json()) - {"perplexity", "bits_per_character"},
        facts={"samples": [sample.text for sample in samples]},
    )
