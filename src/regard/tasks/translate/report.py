"""The evaluation of a translator on files, for ``regard evaluate``, and on datasets, for ``regard demo``."""

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from regard.errors import ConfigError, DataError
from regard.evaluation.metrics import charted_metrics, format_score
from regard.evaluation.text import TextOptions
from regard.search.options import DEFAULT_SEARCH, SearchOptions
from regard.tasks.comparison import Outputs
from regard.tasks.evaluation import (
    DemoRun,
    DemoView,
    EvaluationOptions,
    EvaluationReport,
    EvaluationRun,
    ProgressCounter,
    ReportContext,
    ScoreTable,
    collect_gold_links,
    show_answer,
    write_lines,
)
from regard.tasks.generation import line_unit
from regard.tasks.translate.evaluation import Evaluation, evaluate, write_evaluation
from regard.tasks.translate.predictor import Translator
from regard.tasks.translate.result import Translation
from regard.text import LinkFormat, Source, format_gold, read_gold_links, read_pairs, source_text
from regard.text.links import GoldLinks

if TYPE_CHECKING:
    from rich.console import RenderableType

    from regard.datasets import Example

_SHOWN = 5
_MAX_CROSSINGS = 2  # more of them make a picture no better


def evaluate_files(options: EvaluationOptions) -> EvaluationRun:
    """A translator and one or two files of sentence pairs, perhaps with gold links."""
    translator = Translator.load(
        options.model, weights=options.weights, device=options.device, max_length=options.max_length
    )
    recognised: list[str] = []
    pairs = list(
        read_pairs(
            options.source,
            options.reference,
            columns=options.columns,
            features=options.features,
            known=translator.features,
            listener=recognised.append,
        )
    )
    if not pairs:
        raise DataError(f"{options.source}: an empty test set; give at least one pair")
    for path, texts in (
        (options.source, [pair.source for pair in pairs]),
        (options.reference or options.source, [pair.target for pair in pairs]),
    ):
        if not any(map(str.strip, texts)):
            side = "sources" if path is options.source else "references"
            raise DataError(f"{path}: its {side} are all blank; name a file, or a column, with text")
    if blank := sum(not pair.source.strip() or not pair.target.strip() for pair in pairs):
        recognised.append(
            f"{blank:,} of {len(pairs):,} pairs {'have' if blank > 1 else 'has'} a blank source or reference, and "
            f"{'count' if blank > 1 else 'counts'} as the others do"
        )
    links = None
    if options.gold is not None:
        links = read_gold_links(
            options.gold,
            [(pair.source, pair.target) for pair in pairs],
            LinkFormat.parse(options.gold_format, "--gold-format"),
            recognised.append,
        )
    if links is not None and not translator.attends:
        raise ConfigError(
            f"{options.model}: this model has no attention, so it has no alignments; train one whose decoder is of "
            "kind bahdanau or luong"
        )
    if options.replace_unknowns and not translator.attends:
        raise ConfigError(
            f"--replace-unknowns: {options.model} has no attention, which says what an unknown word stands for; leave "
            "it out"
        )
    references: dict[Source, list[str]] = {}
    for pair in pairs if options.any_reference else ():
        references.setdefault(pair.input, []).append(pair.target)
    if references and links is not None:
        raise ConfigError("--any-reference: gold links belong to one reference; leave out one of both")
    return _run(
        translator,
        list(references) or [pair.input for pair in pairs],
        list(references.values()) or [pair.target for pair in pairs],
        links,
        notes=tuple(recognised),
        replace_unknowns=options.replace_unknowns,
        search=options.search,
        tokenize=options.tokenize,
        lowercase=options.lowercase,
    )


def _run(
    translator: Translator,
    sources: Sequence[Source],
    references: Sequence[str | Sequence[str]],
    gold: Sequence[GoldLinks] | None,
    *,
    notes: tuple[str, ...] = (),
    search: SearchOptions = DEFAULT_SEARCH,
    **options: Any,
) -> EvaluationRun:
    def run(counter: ProgressCounter) -> EvaluationReport:
        evaluation = evaluate(
            translator,
            sources,
            references,
            gold,
            options=search,
            listener=lambda translation: counter.count(len(translation.tokens)),
            **options,
        )

        def write(folder: Path, context: ReportContext) -> dict[str, Path]:
            page = write_evaluation(
                folder,
                evaluation,
                evaluation.references,
                gold,
                translator=translator,
                title=context.title,
                subtitle=context.subtitle or f"{len(sources):,} sentences, beam {search.beam}",
                command=context.command,
                facts=context.facts,
                log=context.log,
                extra={name: report.evaluation for name, report in context.extra.items()},
            )
            return {"report": page}

        return EvaluationReport(
            evaluation,
            evaluation.scores(),
            evaluation.to_json(),
            write,
            tables=(_by_length(evaluation),),
            signatures=evaluation.quality.signatures,
            outputs=lambda: Outputs(
                "text",
                [source_text(source) for source in sources],
                evaluation.references,
                [translation.text for translation in evaluation.translations],
                evaluation.scores(),
                TextOptions(
                    options.get("tokenize", "13a"),
                    options.get("lowercase", False),
                    line_unit(translator.target_tokenizer, evaluation.references),
                ),
                [translation.links for translation in evaluation.translations] if translator.attends else (),
                [translation.shown_alpha for translation in evaluation.translations]
                if translator.attends
                else (),
                evaluation.quality.signatures,
            ),
            notes=notes,
        )

    return EvaluationRun("translating", len(sources), run)


def _by_length(evaluation: Evaluation) -> ScoreTable:
    """The scores by source length."""
    bands = {band.name: band.scores() for band in evaluation.bands}
    keys = list(dict.fromkeys(key for scores in bands.values() for key in scores))
    return ScoreTable(
        f"by source length in {evaluation.source_unit}",
        (evaluation.source_unit, *(key.replace("num_", "") for key in keys)),
        tuple(
            (name, *(format_score(key, scores.get(key)) for key in keys)) for name, scores in bands.items()
        ),
    )


def write_examples(stem: Path, examples: "Sequence[Example]") -> list[str]:
    """Write sources, targets and gold links, a file each."""
    gold = collect_gold_links(examples)
    if gold is not None:
        write_lines(stem.with_suffix(".links"), [format_gold(links) for links in gold])
    return [
        write_lines(stem.with_suffix(".source"), [example.source for example in examples]),
        write_lines(stem.with_suffix(".target"), [example.target for example in examples]),
    ]


def evaluate_examples(translator: Translator, examples: "Sequence[Example]", demo: DemoRun) -> EvaluationRun:
    """A translator and generated sentence pairs."""
    return _run(
        translator,
        [example.source for example in examples],
        [example.target for example in examples],
        collect_gold_links(examples),
        tokenize=demo.demo.tokenize,
    )


def show_demo(translator: Translator, evaluation: Evaluation, demo: DemoRun) -> DemoView:
    """Some translations of the test set, and the attention of one."""
    from rich.padding import Padding
    from rich.text import Text

    from regard.plots.terminal.heatmap import TerminalAlignment

    pairs = list(zip(evaluation.translations, demo.splits.test, strict=True))
    shown: list[RenderableType] = [Text("\nexamples", style="bold")]
    for translation, example in pairs[:_SHOWN]:
        shown += [
            Text(f"  {translation.source}", style="dim"),
            show_answer(translation.text, example.target),
        ]
    exact = [translation for translation, example in pairs if translation.text == example.target]
    drawn = _choose_drawn(exact or evaluation.translations)
    if drawn is not None and drawn.shown_alpha is not None:
        alpha = drawn.shown_alpha
        picture = TerminalAlignment(alpha.alpha, alpha.source_labels, alpha.target_labels)
        shown += [
            Text.assemble(("\nattention", "bold"), " (source above, translation down the left)\n"),
            Padding(picture, (0, 0, 0, 2), expand=False),
        ]
    sentence = shlex.quote(demo.splits.test[0].source)
    return DemoView(
        tuple(charted_metrics(evaluation.quality.scores)),
        shown,
        (f"echo {sentence} | {{regard}} translate {{folder}} --alignments",),
    )


def _choose_drawn(translations: Sequence[Translation]) -> Translation | None:
    """A sentence of about eleven words with reordering and sharp attention."""
    from regard.evaluation.alignment import threshold_links

    def interest(translation: Translation) -> tuple[int, float]:
        assert translation.alpha is not None
        assert translation.linked_alpha is not None
        links = sorted(threshold_links(translation.linked_alpha.alpha, 0.75))  # the sure ones
        crossings = sum(a[1] > b[1] for k, a in enumerate(links) for b in links[k + 1 :])
        return min(crossings, _MAX_CROSSINGS), float(translation.alpha.max(axis=1).mean())

    attending = [translation for translation in translations if translation.alpha is not None]
    fitting = [translation for translation in attending if 8 <= len(translation.source_tokens) <= 14]
    return max(fitting or attending, key=interest, default=None)
