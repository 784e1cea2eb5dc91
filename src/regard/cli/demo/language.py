"""A demonstration's language model: its perplexity, lines it makes up, and one of them as it grew."""

from typing import TYPE_CHECKING, Any

from rich.padding import Padding

from regard.cli.console import print_json, results
from regard.cli.demo.shown import Trained, print_end, print_scores
from regard.cli.progress import LinesDisplay

if TYPE_CHECKING:
    from regard.tasks.language_model.predictor import LanguageModel
    from regard.tasks.language_model.result import TextScore

_SAMPLES = 5


def show_language_model(trained: Trained, json: bool) -> None:
    """Score the held-out lines, make some up, and draw one of these."""
    from regard.plots.terminal.sample import TerminalSample
    from regard.tasks.language_model.predictor import LanguageModel
    from regard.tasks.translate.evaluation import write_json

    language_model = LanguageModel.load(trained.folder)
    found = {
        name: _scored(language_model, name, [e.source for e in examples])
        for name, examples in trained.sets.items()
    }
    test = found.pop("test")
    samples = language_model.sample(count=_SAMPLES)
    known = {example.source for part in (trained.splits.train, trained.splits.test) for example in part}
    report: dict[str, Any] = {
        **test.to_json(),
        **trained.report,
        "samples": [sample.text for sample in samples],
        **{name: score.to_json() for name, score in found.items()},
    }
    write_json(trained.folder, report)
    drawn = min(samples, key=lambda sample: abs(len(sample.steps) - 8))
    picture = trained.folder / "growth.png"
    drawn.plot(picture, title=trained.title)
    if json:
        print_json(report)
        return
    scores = {
        "perplexity": test.perplexity,
        "bits_per_character": test.bits_per_character,
        "train_seconds": trained.report["train_seconds"],
    }
    print_scores(
        scores,
        len(trained.splits.test),
        {name: {"perplexity": each.perplexity} for name, each in found.items()},
    )
    results.print("\n[bold]lines it made up[/] (= is one of the corpus)")
    for sample in samples:
        results.print(f"  {'=' if sample.text in known else ' '} {sample.text}", markup=False)
    results.print("\n[bold]how one of them grew[/] (each word with its likeliest rivals)\n")
    results.print(Padding(TerminalSample(drawn), (0, 0, 0, 2), expand=False))
    print_end(
        trained.folder,
        picture,
        ["{regard} sample {folder} --watch", "{regard} score {folder} {folder}/corpus/test.txt"],
    )


def _scored(language_model: "LanguageModel", name: str, lines: list[str]) -> "TextScore":
    from regard.tasks.language_model.result import TextScore

    total = TextScore()
    with LinesDisplay("scoring" if name == "test" else f"scoring ({name})", len(lines)) as display:
        for one in language_model.score(lines):
            total = total.with_line(one)
            display(one)
    return total
