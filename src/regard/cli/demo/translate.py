"""A demonstration's translator: its scores on each set, some translations, and where it looked."""

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.padding import Padding

from regard.cli.console import print_json, results
from regard.cli.demo.shown import Trained, gold_of, print_end, print_scores
from regard.cli.progress import LinesDisplay

if TYPE_CHECKING:
    from regard.datasets import Example
    from regard.tasks.translate.evaluation import Evaluation
    from regard.tasks.translate.predictor import Translator
    from regard.tasks.translate.result import Translation

_SHOWN = 5
_CROSSINGS = 2  # more of them make a picture no better


def show_translator(trained: Trained, json: bool) -> None:
    """Translate the held-out sentences, write the report, and draw a sentence."""
    from regard.checkpoint import read_log
    from regard.tasks.translate.evaluation import report_of, write_evaluation
    from regard.tasks.translate.predictor import Translator

    translator = Translator.load(trained.folder)
    tokenize = trained.demonstration.tokenize
    extra = {name: _tested(translator, name, examples, tokenize) for name, examples in trained.sets.items()}
    evaluation = extra.pop("test")
    test = trained.splits.test
    references = [example.target for example in test]
    page = write_evaluation(
        trained.folder,
        evaluation,
        references,
        gold_of(test),
        translator=translator,
        title=trained.title,
        subtitle=trained.made.describes,
        command=trained.command,
        facts=trained.report,
        log=read_log(trained.folder),
        extra=extra,
    )
    if json:
        print_json(report_of(evaluation, trained.report, extra))
        return
    further = {
        name: {"bleu": other.quality["bleu"], "exact_match": other.quality["exact_match"]}
        for name, other in extra.items()
    }
    scores = {**evaluation.scores(), "train_seconds": trained.report["train_seconds"]}
    print_scores(scores, len(test), further)
    _print_translations(evaluation, references)
    sentence = shlex.quote(test[0].source)
    print_end(trained.folder, page, [f"echo {sentence} | {{regard}} translate {{folder}} --alignments"])


def _tested(
    translator: "Translator", name: str, examples: "Sequence[Example]", tokenize: str
) -> "Evaluation":
    from regard.tasks.translate.evaluation import evaluate

    with LinesDisplay("testing" if name == "test" else f"testing ({name})", len(examples)) as display:
        return evaluate(
            translator,
            [example.source for example in examples],
            [example.target for example in examples],
            gold_of(examples),
            tokenize=tokenize,
            listener=display,
        )


def _print_translations(evaluation: "Evaluation", references: Sequence[str]) -> None:
    from regard.plots.terminal.heatmap import TerminalAlignment

    results.print("\n[bold]some of them[/]")
    for translation, reference in list(zip(evaluation.translations, references, strict=True))[:_SHOWN]:
        right = translation.text == reference
        results.print(f"  {translation.source}", style="dim", markup=False)
        results.print(f"  {'✓' if right else '✗'} {translation.text}", markup=False)
        if not right:
            results.print(f"    {reference}", style="dim", markup=False)
    exact = [
        t for t, reference in zip(evaluation.translations, references, strict=True) if t.text == reference
    ]
    drawn = _worth_drawing(exact or evaluation.translations)
    if drawn is not None and drawn.shown_alpha is not None:
        shown = drawn.shown_alpha
        results.print("\n[bold]where it looked[/] (source above, translation down the left)\n")
        picture = TerminalAlignment(shown.alpha, shown.source_labels, shown.target_labels)
        results.print(Padding(picture, (0, 0, 0, 2), expand=False))


def _worth_drawing(translations: "Sequence[Translation]") -> "Translation | None":
    """A sentence of about eleven words that is reordered, read with as clear an eye as any."""
    from regard.evaluation.alignment import threshold_links

    def interest(translation: "Translation") -> tuple[int, float]:
        assert translation.alpha is not None
        assert translation.word_alpha is not None
        links = sorted(threshold_links(translation.word_alpha.alpha, 0.75))  # those it is sure of
        crossings = sum(a[1] > b[1] for k, a in enumerate(links) for b in links[k + 1 :])
        return min(crossings, _CROSSINGS), float(translation.alpha.max(axis=1).mean())

    attending = [t for t in translations if t.alpha is not None]
    fitting = [t for t in attending if 8 <= len(t.source_tokens) <= 14]
    return max(fitting or attending, key=interest, default=None)
