"""A demonstration's classifier or tagger: its scores on each set, and some sentences with what it made of them."""

import shlex
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from rich.padding import Padding

from regard.cli.console import print_json, results
from regard.cli.demo.shown import Trained, print_end, print_scores
from regard.cli.progress import LinesDisplay

if TYPE_CHECKING:
    from regard.datasets import Example
    from regard.tasks.classify.result import Classification
    from regard.tasks.labels import LabelEvaluation

_SHOWN = 6


def show_classifier(trained: Trained, json: bool) -> None:
    """Classify the held-out sentences, and draw what was weighed in some of them."""
    from regard.plots import draw_pooling, save
    from regard.plots.terminal.words import TerminalPooling
    from regard.tasks.classify.predictor import Classifier
    from regard.tasks.labels import evaluate_classifier
    from regard.text import LabelledText

    classifier = Classifier.load(trained.folder)

    def evaluate(examples: "Sequence[Example]", count: Callable[[int], None]) -> "LabelEvaluation":
        labelled = [LabelledText(example.target, (example.source,)) for example in examples]
        return evaluate_classifier(
            classifier, labelled, listener=lambda one: count(sum(map(len, one.tokens)))
        )

    test, extra = _evaluated(trained, evaluate)
    _written(trained, test, extra)
    shown: list[Classification] = list(test.predictions[:_SHOWN])  # type: ignore[arg-type]
    picture = trained.folder / ("weights.png" if classifier.attends else "confusion.png")
    if classifier.attends:
        save(draw_pooling(shown, title=trained.title), picture)
    if json:
        print_json(_report(trained, test, extra))
        return
    _scores(trained, test, extra)
    results.print("\n[bold]what it weighed[/]\n" if classifier.attends else "\n[bold]what it said[/]\n")
    for classification, example in zip(shown, trained.splits.test, strict=False):
        if classification.alpha is not None:
            results.print(Padding(TerminalPooling([classification]), (0, 0, 0, 2), expand=False))
        else:
            results.print(f"  {example.source}", style="dim", markup=False)
        _print_judged(classification.label, example.target)
    sentence = shlex.quote(trained.splits.test[0].source)
    print_end(trained.folder, picture, [f"echo {sentence} | {{regard}} classify {{folder}} --show"])


def show_tagger(trained: Trained, json: bool) -> None:
    """Tag the held-out sentences, and draw some of them."""
    from regard.plots import draw_tags, save
    from regard.plots.terminal.words import TerminalTagging
    from regard.tasks.labels import evaluate_tagger
    from regard.tasks.tag.predictor import Tagger
    from regard.text import TaggedSentence

    tagger = Tagger.load(trained.folder)

    def evaluate(examples: "Sequence[Example]", count: Callable[[int], None]) -> "LabelEvaluation":
        tagged = [TaggedSentence(tuple(e.source.split()), tuple(e.target.split())) for e in examples]
        return evaluate_tagger(tagger, tagged, listener=lambda one: count(len(one.words)))

    test, extra = _evaluated(trained, evaluate)
    _written(trained, test, extra)
    shown: list[Any] = list(test.predictions[:_SHOWN])
    picture = trained.folder / "tags.png"
    save(draw_tags(shown, title=trained.title), picture)
    if json:
        print_json(_report(trained, test, extra))
        return
    _scores(trained, test, extra)
    results.print("\n[bold]some of them[/]\n")
    for tagging, example in zip(shown, trained.splits.test, strict=False):
        results.print(Padding(TerminalTagging(tagging), (0, 0, 0, 2), expand=False))
        _print_judged(" ".join(tagging.tags), example.target)
    sentence = shlex.quote(trained.splits.test[0].source)
    print_end(trained.folder, picture, [f"echo {sentence} | {{regard}} tag {{folder}}"])


def _print_judged(said: str, right: str) -> None:
    """Whether an answer is right, and what would have been."""
    if said == right:
        results.print(f"  ✓ {said}\n", markup=False)
    else:
        results.print(f"  ✗ {said}", markup=False)
        results.print(f"    {right}\n", style="dim", markup=False)


def _evaluated(
    trained: Trained, evaluate: "Callable[[Sequence[Example], Callable[[int], None]], LabelEvaluation]"
) -> "tuple[LabelEvaluation, dict[str, LabelEvaluation]]":
    """The evaluation of the test set, and those of the further sets."""
    found = {}
    for name, examples in trained.sets.items():
        with LinesDisplay("testing" if name == "test" else f"testing ({name})", len(examples)) as display:
            found[name] = evaluate(examples, display.count)
    return found.pop("test"), found


def _report(trained: Trained, test: "LabelEvaluation", extra: "dict[str, LabelEvaluation]") -> dict[str, Any]:
    others = {name: evaluation.to_json() for name, evaluation in extra.items()}
    return {**test.to_json(), **trained.report, **others}


def _written(trained: Trained, test: "LabelEvaluation", extra: "dict[str, LabelEvaluation]") -> None:
    from regard.tasks.labels import write_label_evaluation

    write_label_evaluation(trained.folder, test, title=trained.title, facts=_report(trained, test, extra))


def _scores(trained: Trained, test: "LabelEvaluation", extra: "dict[str, LabelEvaluation]") -> None:
    scores = {name: value for name, value in test.scores().items() if name != "num_labels_scored"}
    scores["train_seconds"] = trained.report["train_seconds"]
    further = {name: {"accuracy": each.scores()["accuracy"]} for name, each in extra.items()}
    print_scores(scores, len(trained.splits.test), further)
