"""The evaluation of a captioner: its captions by BLEU and the like, the references by perplexity.

In: a `Captioner` with features and references, files for ``regard evaluate``, datasets for ``regard demo``. Out: a
`CaptionEvaluation`, whose numbers are those printed and those of ``report.json``; a folder with ``report.json`` and
``captions.txt``.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from regard.errors import ConfigError, DataError
from regard.evaluation import Quality, measure_quality
from regard.evaluation.metrics import charted_metrics
from regard.evaluation.text import TextOptions
from regard.io import write_whole
from regard.search.options import DEFAULT_SEARCH, SearchOptions
from regard.tasks.caption.predictor import Captioner, Features
from regard.tasks.caption.result import Caption
from regard.tasks.comparison import Outputs
from regard.tasks.evaluation import (
    DemoRun,
    DemoView,
    EvaluationOptions,
    EvaluationReport,
    EvaluationRun,
    ProgressCounter,
    ReportContext,
    show_answer,
    write_lines,
    write_report_json,
)
from regard.tasks.generation import line_unit
from regard.tasks.language_model.result import perplexity
from regard.tasks.predictor import refuse_long_references
from regard.text import read_features, read_lines

if TYPE_CHECKING:
    from regard.datasets import Example

_CHUNK = 256  # rows captioned before the listener is called
_SHOWN = 6


@dataclass(frozen=True)
class CaptionEvaluation:
    """The scores of one test set.

    Attributes:
        quality: of the captions.
        perplexity: exp of the references' mean negative log-probability per token, EOS counted.
        captions: the output.
        seconds: how long captioning took.
    """

    quality: Quality
    perplexity: float
    captions: tuple[Caption, ...]
    seconds: float

    def scores(self) -> dict[str, float | int]:
        """The main scores by key, in the order they are printed."""
        return {
            **self.quality.scores,
            "perplexity": self.perplexity,
            "num_sentences": self.quality.num_sentences,
            "sentences_per_second": self.quality.num_sentences / self.seconds,
        }

    def to_json(self) -> dict[str, Any]:
        """All scores as a JSON object."""
        return {**self.scores(), "signatures": dict(self.quality.signatures)}

    def write(self, folder: Path, context: ReportContext) -> dict[str, Path]:
        """Write scores and captions.

        Raises:
            DataError: the folder cannot be written.
        """
        report = write_report_json(folder, context.report(self.to_json()))
        write_lines(folder / "captions.txt", [caption.text for caption in self.captions])
        return {"report": report}


def evaluate_captions(
    captioner: Captioner,
    features: Features,
    references: Sequence[str],
    *,
    search: SearchOptions = DEFAULT_SEARCH,
    tokenize: str = "13a",
    lowercase: bool = False,
    listener: Callable[[Caption], None] = lambda caption: None,
) -> CaptionEvaluation:
    """Caption a test set and score it.

    Args:
        captioner: the model.
        features: raw, one row per reference.
        references: the correct captions.
        search: how to search.
        tokenize: BLEU's tokenizer; "none" for tokenized text.
        lowercase: whether to ignore case.
        listener: is given each caption as it is made.

    Raises:
        DataError: rows and references differ in number, there are none, or the features cannot be used.
    """
    if len(features) != len(references) or not references:
        raise DataError(
            f"{len(features)} rows of features and {len(references)} references: give one of each, and at least one"
        )
    started = time.perf_counter()
    captions: list[Caption] = []
    for start in range(0, len(features), _CHUNK):
        part = captioner.caption(features[start : start + _CHUNK], search)
        captions.extend(part)
        for caption in part:
            listener(caption)
    seconds = time.perf_counter() - started
    scored = captioner.score(features, references)
    log_probs = [log_prob for caption in scored for log_prob in caption.token_log_probs]
    quality = measure_quality(
        [caption.text for caption in captions],
        references,
        tokenize=tokenize,
        lowercase=lowercase,
        unit=line_unit(captioner.tokenizer, references),
    )
    return CaptionEvaluation(quality, perplexity(-sum(log_probs) / len(log_probs)), tuple(captions), seconds)


def _run(
    captioner: Captioner, features: Features, references: Sequence[str], **options: Any
) -> EvaluationRun:
    def run(counter: ProgressCounter) -> EvaluationReport:
        evaluation = evaluate_captions(
            captioner,
            features,
            references,
            listener=lambda caption: counter.count(len(caption.tokens)),
            **options,
        )
        return EvaluationReport(
            evaluation,
            evaluation.scores(),
            evaluation.to_json(),
            evaluation.write,
            signatures=evaluation.quality.signatures,
            outputs=lambda: Outputs(
                "text",
                [""] * len(references),
                references,
                [caption.text for caption in evaluation.captions],
                evaluation.scores(),
                TextOptions(
                    options.get("tokenize", "13a"),
                    options.get("lowercase", False),
                    line_unit(captioner.tokenizer, references),
                ),
                signatures=evaluation.quality.signatures,
            ),
        )

    return EvaluationRun("captioning", len(features), run)


def evaluate_files(options: EvaluationOptions) -> EvaluationRun:
    """A captioner, a file of features and a file of references."""
    if options.reference is None:
        raise ConfigError(
            f"{options.model} captions feature vectors: name their file, then the references, as "
            f"`regard evaluate {options.model} {options.source} references.txt`"
        )
    captioner = Captioner.load(options.model, weights=options.weights, device=options.device)
    features = read_features(options.source, column=options.column, size=captioner.feature_size)
    references = list(read_lines([options.reference]))
    if len(features) != len(references):
        raise DataError(
            f"{options.source} has {len(features)} rows and {options.reference} has {len(references)} lines; give "
            "one line for each row"
        )
    refuse_long_references(references, captioner.tokenizer, options.max_length)
    return _run(
        captioner,
        features,
        references,
        search=options.search,
        tokenize=options.tokenize,
        lowercase=options.lowercase,
    )


def write_examples(stem: Path, examples: "Sequence[Example]") -> list[str]:
    """Write a matrix of features and the captions, a file each."""
    features = stem.with_suffix(".npy")
    matrix = np.array([example.features for example in examples], dtype=np.float32)
    write_whole(features, lambda file: np.save(file, matrix))
    return [str(features), write_lines(stem.with_suffix(".txt"), [example.target for example in examples])]


def evaluate_examples(captioner: Captioner, examples: "Sequence[Example]", demo: DemoRun) -> EvaluationRun:
    """A captioner and generated vectors."""
    features = np.array([example.features for example in examples], dtype=np.float32)
    references = [example.target for example in examples]
    return _run(captioner, features, references, tokenize=demo.demo.tokenize)


def show_demo(captioner: Captioner, evaluation: CaptionEvaluation, demo: DemoRun) -> DemoView:
    """Some captions of the test set, beside the references."""
    from rich.text import Text

    answers = [
        show_answer(caption.text, example.target)
        for caption, example in zip(evaluation.captions[:_SHOWN], demo.splits.test, strict=False)
    ]
    return DemoView(
        tuple(charted_metrics(evaluation.quality.scores)),
        [Text("\nexamples", style="bold"), *answers],
        ("{regard} caption {folder} {folder}/corpus/test.npy",),
    )
