"""The evaluation of a tagger: on sentences, on files for ``regard evaluate``, on datasets for ``regard demo``."""

import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from regard.errors import ConfigError, DataError
from regard.evaluation import score_tags
from regard.tasks.evaluation import (
    CHUNK,
    DemoRun,
    DemoView,
    EvaluationOptions,
    EvaluationRun,
    show_answer,
    write_lines,
)
from regard.tasks.label_evaluation import NUM_SHOWN, LabelEvaluation, evaluate_labels, label_run, label_view
from regard.tasks.tag.predictor import Tagger
from regard.tasks.tag.result import Tagging
from regard.text import TaggedSentence, read_tagged, read_vertical

if TYPE_CHECKING:
    from rich.console import RenderableType

    from regard.datasets import Example


def evaluate_tagger(
    tagger: Tagger,
    sentences: Sequence[TaggedSentence],
    *,
    listener: Callable[[Tagging], None] = lambda tagging: None,
) -> LabelEvaluation:
    """Tag a test set and score it.

    Args:
        tagger: the model.
        sentences: at least one.
        listener: is given each tagging as it is made.

    Raises:
        DataError: there is none, a tag is unknown to the model, or a sentence is too long.
    """
    if not sentences:
        raise DataError("cannot score an empty test set; give at least one tagged sentence")
    for sentence in sentences:
        for tag in sentence.tags:
            tagger.labels.id_of(tag, sentence.place)
    gold = [sentence.tags for sentence in sentences]
    return evaluate_labels(
        tagger.tag_stream((" ".join(sentence.words) for sentence in sentences), chunk=CHUNK),
        lambda made: score_tags(gold, [tagging.tags for tagging in made], tagger.labels.names),
        listener,
    )


def evaluate_files(options: EvaluationOptions) -> EvaluationRun:
    """A tagger and one or two files of tagged sentences."""
    if options.vertical and options.reference is not None:
        raise ConfigError(
            f"--vertical: words and tags are in one file; leave out {options.reference}, or --vertical"
        )
    tagger = Tagger.load(
        options.model, weights=options.weights, device=options.device, max_length=options.max_length
    )
    if options.vertical:
        sentences = list(read_vertical(options.source, columns=options.columns))
    else:
        sentences = list(read_tagged(options.source, options.reference, columns=options.columns))
    if not sentences:
        raise DataError(f"{options.source}: an empty test set; give at least one tagged sentence")
    return _run(tagger, sentences)


def _run(tagger: Tagger, sentences: Sequence[TaggedSentence]) -> EvaluationRun:
    return label_run(
        "tagging",
        [" ".join(sentence.words) for sentence in sentences],
        [" ".join(sentence.tags) for sentence in sentences],
        "tags",
        lambda tagging: len(tagging.words),
        lambda listener: evaluate_tagger(tagger, sentences, listener=listener),
    )


def write_examples(stem: Path, examples: "Sequence[Example]") -> list[str]:
    """Write words and tags, a file each."""
    return [
        write_lines(stem.with_suffix(".words"), [example.source for example in examples]),
        write_lines(stem.with_suffix(".tags"), [example.target for example in examples]),
    ]


def evaluate_examples(tagger: Tagger, examples: "Sequence[Example]", demo: DemoRun) -> EvaluationRun:
    """A tagger and generated sentences."""
    return _run(
        tagger,
        [
            TaggedSentence(tuple(example.source.split()), tuple(example.target.split()))
            for example in examples
        ],
    )


def show_demo(tagger: Tagger, evaluation: LabelEvaluation, demo: DemoRun) -> DemoView:
    """Some test sentences with their tags."""
    from rich.padding import Padding
    from rich.text import Text

    from regard.plots import draw_tags, save
    from regard.plots.terminal.words import TerminalTagging

    taggings: list[Tagging] = list(evaluation.predictions[:NUM_SHOWN])
    shown: list[RenderableType] = [Text("\nexamples\n", style="bold")]
    for tagging, example in zip(taggings, demo.splits.test, strict=False):
        shown.append(Padding(TerminalTagging(tagging), (0, 0, 0, 2), expand=False))
        shown += [show_answer(" ".join(tagging.tags), example.target), Text("")]
    picture = demo.folder / "tags.png"
    save(draw_tags(taggings, title=demo.title), picture)
    sentence = shlex.quote(demo.splits.test[0].source)
    return label_view(shown, f"echo {sentence} | {{regard}} tag {{folder}}", picture)
