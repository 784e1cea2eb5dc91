"""``regard demo``: a world is made, a model trained on it, tested, and looked into."""

import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.padding import Padding

from regard.cli.console import command_line, notes, print_json, results, score_table
from regard.cli.lines import LinesDisplay

if TYPE_CHECKING:
    from regard.evaluation import Evaluation
    from regard.output.translation import Translation
    from regard.text import GoldLinks
    from regard.translator import Translator
    from regard.worlds import Example

_SHOWN = 5
_CROSSINGS = 2  # more of them make a picture no better


def demo(
    context: typer.Context,
    world: Annotated[
        str, typer.Argument(help="microworld (English to French) or dates (as written, to ISO 8601).")
    ] = "microworld",
    out: Annotated[Path | None, typer.Option(help="Where to write; by default runs/demo-WORLD.")] = None,
    train_size: Annotated[
        int | None,
        typer.Option(help="Learn from so many pairs, and test on no more; by default what the world needs."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the world, the weights and the order.")] = 1,
    options: Annotated[
        list[str] | None,
        typer.Option("--set", help="Any option of the training, as --set training.max_updates=500."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Train a real attention model on a generated world, and look into it.

    Nothing is downloaded: the sentences are made here, with their gold word
    alignments. Takes about two minutes on two cores, and ends with test
    scores, translations, one alignment drawn here, and an HTML report.

    [bold]Examples[/]

      regard demo

      regard demo dates --seed 2 --out runs/dates
    """
    from regard.cli.progress import TrainingDisplay
    from regard.configuration import set_option
    from regard.report import report_of, write_evaluation
    from regard.training.demos import find_demo
    from regard.training.journal import read_journal
    from regard.training.presets import configure
    from regard.training.run import run_training
    from regard.translator import Translator
    from regard.worlds import find_world

    demonstration = find_demo(world).limited_to(train_size)
    folder = _free_folder(out or Path("runs") / f"demo-{world}")
    corpus = folder / "corpus"
    files = {
        name: [f"{corpus / name}.{side}" for side in ("source", "target")] for name in ("train", "valid")
    }
    overrides: dict[str, Any] = {"training": {"seed": seed}, "data": files}
    for assignment in options or []:
        set_option(overrides, assignment)
    config = configure(demonstration.config, overrides)
    made = find_world(world)()
    with notes.status(f"making the {world} world"):
        splits = made.splits(
            train=demonstration.train, valid=demonstration.valid, test=demonstration.test, seed=seed
        )
    _write_corpus(corpus, {"train": splits.train, "valid": splits.valid, "test": splits.test, **splits.extra})
    with TrainingDisplay() as display:
        trained = run_training(folder, config, listener=display)
    translator = Translator.load(folder)
    sets = {"test": splits.test, **splits.extra}
    extra = {
        name: _tested(translator, name, examples, demonstration.tokenize) for name, examples in sets.items()
    }
    evaluation = extra.pop("test")
    references = [example.target for example in splits.test]
    page = write_evaluation(
        folder,
        evaluation,
        references,
        _gold(splits.test),
        translator=translator,
        title=f"The {world} demo",
        subtitle=made.describes,
        command=command_line(context),
        facts=trained.report,
        journal=read_journal(folder),
        extra=extra,
    )
    if json:
        print_json(report_of(evaluation, trained.report, extra))
        return
    _print_scores({**evaluation.scores(), "train_seconds": trained.report["train_seconds"]}, extra)
    _print_translations(evaluation, references)
    results.print(f"\nthe model, its report and its corpus are in {folder}", markup=False)
    results.print(f"report: {page.resolve()}", markup=False)
    results.print(
        f"try:    echo {shlex.quote(splits.test[0].source)} | "
        f"{_program()} translate {shlex.quote(str(folder))} --alignments",
        markup=False,
    )


def _gold(examples: "Sequence[Example]") -> "list[GoldLinks] | None":
    """The gold links, where the world knows those of every example."""
    gold = [example.gold for example in examples if example.gold is not None]
    return gold if len(gold) == len(examples) else None


def _tested(
    translator: "Translator", name: str, examples: "Sequence[Example]", tokenize: str
) -> "Evaluation":
    from regard.evaluation import evaluate

    with LinesDisplay("testing" if name == "test" else f"testing ({name})", len(examples)) as display:
        return evaluate(
            translator,
            [example.source for example in examples],
            [example.target for example in examples],
            _gold(examples),
            tokenize=tokenize,
            listener=display,
        )


def _print_scores(scores: dict[str, Any], extra: "Mapping[str, Evaluation]") -> None:
    results.print(score_table(scores, title=f"[bold]{scores['num_sentences']:,} held-out sentences[/]"))
    for name, other in extra.items():
        results.print(
            f"[dim]{name}:[/] bleu {other.quality.bleu:.1f}, exact_match {100 * other.quality.exact_match:.1f} %"
        )


def _print_translations(evaluation: "Evaluation", references: Sequence[str]) -> None:
    from regard.output.pictures.terminal import TerminalAlignment

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
    from regard.output.alignment import threshold_links

    def interest(translation: "Translation") -> tuple[int, float]:
        assert translation.alpha is not None
        assert translation.word_alpha is not None
        links = sorted(threshold_links(translation.word_alpha.alpha, 0.75))  # those it is sure of
        crossings = sum(a[1] > b[1] for k, a in enumerate(links) for b in links[k + 1 :])
        return min(crossings, _CROSSINGS), float(translation.alpha.max(axis=1).mean())

    attending = [t for t in translations if t.alpha is not None]
    fitting = [t for t in attending if 8 <= len(t.source_tokens) <= 14]
    return max(fitting or attending, key=interest, default=None)


def _free_folder(path: Path) -> Path:
    """The path itself, or with a number behind it where a run is there already."""
    number, free = 2, path
    while (free / "regard.json").exists():
        free = path.with_name(f"{path.name}-{number}")
        number += 1
    return free


def _write_corpus(folder: Path, sets: "Mapping[str, Sequence[Example]]") -> None:
    """The world as files: to train on, and for `regard evaluate` and `regard align` to read."""
    from regard.text import format_gold
    from regard.whole_file import make_folder, write_whole_text

    make_folder(folder)
    for name, examples in sets.items():
        write_whole_text(folder / f"{name}.source", "".join(f"{e.source}\n" for e in examples))
        write_whole_text(folder / f"{name}.target", "".join(f"{e.target}\n" for e in examples))
        gold = _gold(examples)
        if gold is not None:
            write_whole_text(folder / f"{name}.links", "".join(f"{format_gold(links)}\n" for links in gold))


def _program() -> str:
    """How the user called us, for commands to try."""
    return sys.argv[0] if Path(sys.argv[0]).name == "regard" else "regard"
