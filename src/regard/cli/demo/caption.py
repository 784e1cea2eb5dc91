"""A demonstration's describer: its scores on each set, and what it said of some vectors."""

from typing import TYPE_CHECKING

from regard.cli.console import print_json, results
from regard.cli.demo.shown import Trained, print_end, print_scores
from regard.cli.progress import LinesDisplay

if TYPE_CHECKING:
    from collections.abc import Sequence

    from regard.datasets import Example
    from regard.tasks.caption.evaluation import CaptionEvaluation
    from regard.tasks.caption.predictor import Captioner

_SHOWN = 6


def show_captioner(trained: Trained, json: bool) -> None:
    """Describe the held-out vectors, and print some descriptions beside the right ones."""
    from regard.tasks.caption.evaluation import write_caption_evaluation
    from regard.tasks.caption.predictor import Captioner

    captioner = Captioner.load(trained.folder)
    found = {name: _evaluated(captioner, trained, name, examples) for name, examples in trained.sets.items()}
    test = found.pop("test")
    others = {name: evaluation.to_json() for name, evaluation in found.items()}
    report = write_caption_evaluation(trained.folder, test, facts={**trained.report, **others})
    if json:
        print_json(report)
        return
    scores = {**test.scores(), "train_seconds": trained.report["train_seconds"]}
    further = {
        name: {"bleu": each.quality["bleu"], "exact_match": each.quality["exact_match"]}
        for name, each in found.items()
    }
    print_scores(scores, len(trained.splits.test), further)
    results.print("\n[bold]some of them[/]")
    for description, example in list(zip(test.descriptions, trained.splits.test, strict=True))[:_SHOWN]:
        right = description.text == example.target
        results.print(f"  {'✓' if right else '✗'} {description.text}", markup=False)
        if not right:
            results.print(f"    {example.target}", style="dim", markup=False)
    print_end(trained.folder, None, ["{regard} describe {folder} {folder}/corpus/test.npy"])


def _evaluated(
    captioner: "Captioner", trained: Trained, name: str, examples: "Sequence[Example]"
) -> "CaptionEvaluation":
    import numpy as np

    from regard.tasks.caption.evaluation import evaluate_captions

    features = np.array([example.features for example in examples], dtype=np.float32)
    with LinesDisplay("describing" if name == "test" else f"describing ({name})", len(examples)) as display:
        return evaluate_captions(
            captioner,
            features,
            [example.target for example in examples],
            tokenize=trained.demonstration.tokenize,
            listener=display,
        )
