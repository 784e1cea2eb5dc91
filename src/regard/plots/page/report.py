"""The report of a training run or an evaluation as one self-contained HTML file.

In: a `Report`, plain data filled by the caller. Out: a page with its style and a short script inside; it loads nothing
else. Empty parts are left out.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from html import escape
from importlib.resources import files
from itertools import cycle
from os import PathLike
from string import Template
from typing import TYPE_CHECKING, Any

from regard.evaluation.metrics import (
    METRICS,
    charted_metrics,
    display_name,
    format_score,
    label_metrics,
    text_metrics,
)
from regard.io import write_whole
from regard.plots.html import Markup, attention_table, element, join, shade_key, stylesheet
from regard.plots.page.charts import STYLES, Line, line_chart, logged
from regard.text.links import GoldLinks

if TYPE_CHECKING:
    from regard.tasks.translate.result import Translation


Value = float | int | str


@dataclass(frozen=True)
class ShownTranslation:
    """One sentence shown in full.

    Attributes:
        source: the line as displayed.
        reference: its reference translation, if known.
        translation: with attention and alternatives, if any.
        gold: links to outline in the heat map, if known.
    """

    source: str
    reference: str | None
    translation: "Translation"
    gold: GoldLinks | None = None


@dataclass(frozen=True)
class ShownResult:
    """One example of another task.

    Attributes:
        lines: what there is to read, by name, such as the text, the model's label and the correct one.
        picture: the result as HTML that needs nothing else, as a notebook shows it; empty for none.
        is_right: whether the model's answer is the correct one; None where there is none.
    """

    lines: Mapping[str, str]
    picture: str = ""
    is_right: bool | None = None


@dataclass(frozen=True)
class Report:
    """The contents of the page; empty parts are left out.

    Attributes:
        title: the heading.
        subtitle: one sentence under it.
        command: the command that reproduces it.
        scores: by their key, such as "bleu" or "exact_match"; the first four are set large.
        signatures: of sacrebleu, by the score's key.
        log: rows of the training log, as dicts with "event" and "update".
        by_length: scores by key for each bin of source length, by its name such as "6–10"; "num_sentences" is required.
        length_unit: what source length counts.
        shown: examples shown in full.
        details: facts about the model and the run, by name.
        extra_scores: scores by key for each further test set.
        members: scores by key for each model of an ensemble; names may be links.
    """

    title: str
    subtitle: str
    command: str
    scores: Mapping[str, Value]
    signatures: Mapping[str, str] = field(default_factory=dict)
    log: Sequence[Mapping[str, Any]] = ()
    by_length: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    length_unit: str = "words"
    shown: Sequence[ShownTranslation | ShownResult] = ()
    details: Mapping[str, Value] = field(default_factory=dict)
    extra_scores: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    members: Mapping[str, Mapping[str, float]] = field(default_factory=dict)


_SET_LARGE = 4


def _scores(report: Report) -> list[Markup]:
    """The scores, the first few set large, and sacrebleu's signatures."""
    figures = list(report.scores.items())
    parts = [_figures(figures[:_SET_LARGE], "headline"), _figures(figures[_SET_LARGE:], "figures")]
    if report.signatures:
        lines = [f"{display_name(key)}: {value}" for key, value in report.signatures.items()]
        parts.append(element("p", *(element("code", line) for line in lines), class_="signatures"))
    return [element("section", *parts, class_="scores", aria_label="scores")] if figures else []


def _figures(figures: Sequence[tuple[str, Value]], kind: str) -> Markup:
    pairs = [
        element("div", element("dt", display_name(key)), element("dd", format_score(key, value)))
        for key, value in figures
    ]
    return element("dl", *pairs, class_=kind)


def _further_tests(report: Report) -> list[Markup]:
    """A table of further test sets."""
    if not report.extra_scores:
        return []
    return [_section("Further test sets", table_of_scores("test set", report.extra_scores))]


def _members(report: Report) -> list[Markup]:
    """A table of the models of an ensemble."""
    return [_section("Models", table_of_scores("model", report.members))] if report.members else []


def table_of_scores(first: str, figures: Mapping[str, Mapping[str, float]]) -> Markup:
    """Scores by row and key; a dash where a row lacks one.

    Args:
        first: the name of the first column.
        figures: the scores of each row by key.
    """
    keys = list(dict.fromkeys(key for values in figures.values() for key in values))
    head = [element("th", name, scope="col") for name in (first, *map(display_name, keys))]
    rows = [
        element(
            "tr",
            element("th", name, scope="row"),
            *(element("td", format_score(key, values.get(key))) for key in keys),
        )
        for name, values in figures.items()
    ]
    table = element(
        "table", element("thead", element("tr", *head)), element("tbody", *rows), class_="numbers"
    )
    return element("div", table, class_="scroll")


def _training(report: Report) -> list[Markup]:
    """Curves of the training log; those without values are left out."""
    in_validation = [key for key, metric in text_metrics().items() if metric.in_validation]
    errors = [key for key in in_validation if METRICS[key].better == "lower"]
    quality = [key for key in in_validation if METRICS[key].better == "higher"]
    labels = [key for key, _ in label_metrics()]
    styles = _styles(errors) | _styles(quality) | _styles(labels)
    plans: list[tuple[str, str, float | None, list[tuple[str, str, str, str]]]] = [
        ("Loss", "nats per prediction", None, [
            ("training", "quiet", "train", "loss"),
            # label smoothing adds to the loss of training alone
            ("validation, unsmoothed", "first", "validation", "loss")]),
        ("Error rates, free-running", "per cent", None, [
            (display_name(key), styles[key], "validation", key) for key in errors]),
        ("Labels", "per cent", 100, [
            (display_name(key), styles[key], "validation", key) for key in labels]),
        ("Quality, free-running", "0 to 100", 100, [
            (_name_to_100(key), styles[key], "validation", key) for key in quality]),
        ("Token accuracy", "per cent", 100, [
            ("teacher-forced", "first", "validation", "token_accuracy"),
            ("free-running", "second", "validation", "free_running_accuracy")]),
        ("Bits per character", "", None, [("validation", "first", "validation", "bits_per_character")]),
        ("Learning rate", "", None, [("learning rate", "quiet", "train", "learning_rate")]),
    ]  # fmt: skip
    charts = []
    for title, unit, top, lines in plans:
        curves = [
            Line(name, style, logged(report.log, event, key, scale=_scale_to_100(key)))
            for name, style, event, key in lines
        ]
        if any(curve.points for curve in curves):
            shown = [curve for curve in curves if curve.points]
            charts.append(line_chart(title, shown, x_label="updates", y_label=unit, top=top))
    return [_section("Training", element("div", *charts, class_="charts"))] if charts else []


def _by_length(report: Report) -> list[Markup]:
    """The metrics that are charted against source length, and a table of all scores."""
    bands = report.by_length
    if not bands:
        return []
    keys = charted_metrics(
        key for key in next(iter(bands.values())) if all(key in scores for scores in bands.values())
    )
    styles = _styles(keys)
    curves = [
        Line(
            _name_to_100(key),
            styles[key],
            [(k, _scale_to_100(key) * y) for k, y in enumerate(_row(bands, key))],
        )
        for key in keys
    ]
    rows = {f"{name} {report.length_unit}": scores for name, scores in bands.items()}
    parts = [table_of_scores("source", rows)]
    if keys:
        chart = line_chart(
            " and ".join(map(display_name, keys)),
            curves,
            x_label=f"source length in {report.length_unit}",
            y_label="0 to 100",
            x_names=list(bands),
            bars=[int(count) for count in _row(bands, "num_sentences")],
            top=100,
        )
        parts.insert(0, element("div", chart, class_="charts"))
    return [_section("Quality by length", *parts)]


def _styles(keys: Sequence[str]) -> dict[str, str]:
    """A line style per metric; those charted by length come first, so that they look alike in both charts."""
    charted = charted_metrics(keys)
    ordered = sorted(keys, key=lambda key: key not in charted)
    return dict(zip(ordered, cycle(STYLES), strict=False))


def _name_to_100(key: str) -> str:
    return f"{display_name(key)} (%)" if METRICS[key].is_fraction else display_name(key)


def _scale_to_100(key: str) -> float:
    """The factor that brings a score, or another logged quantity, to the scale of its chart."""
    return 100 if key in METRICS and METRICS[key].is_fraction else 1


def _row(bands: Mapping[str, Mapping[str, float]], key: str) -> list[float]:
    """One score of all length bins."""
    return [scores[key] for scores in bands.values()]


def _translations(report: Report) -> list[Markup]:
    """Sentences in full, each with its heat map and its alternatives."""
    shown = [one for one in report.shown if isinstance(one, ShownTranslation)]
    if not shown:
        return []
    legend: list[str] = [
        "The darker a cell, the more the model attends to the source above it when it generates the target beside it: ",
        shade_key(),
        ".",
    ]
    if any(one.gold for one in shown):
        legend.append(" Outlined cells are the gold alignment, dashed where a link is only possible.")
    parts = [_shown(one) for one in shown]
    return [_section("Translations", element("p", *legend, class_="legend"), *parts)]


def _examples(report: Report) -> list[Markup]:
    """Examples of other tasks, each with its picture."""
    articles = []
    for one in (each for each in report.shown if isinstance(each, ShownResult)):
        lines = [
            element("div", element("dt", name), element("dd", line or "\N{EM DASH}", dir="auto"), class_=name)
            for name, line in one.lines.items()
        ]
        mark = (
            []
            if one.is_right is None
            else [element("p", "right" if one.is_right else "wrong", class_="facts")]
        )
        picture = [Markup(one.picture)] if one.picture else []
        left = element("div", element("dl", *lines, class_="lines"), *mark, class_="words")
        articles.append(element("article", left, *picture))
    return [_section("Examples", *articles)] if articles else []


def _shown(one: ShownTranslation) -> Markup:
    translation = one.translation
    text: str = translation.text
    lines = [("source", one.source)]
    if one.reference is not None:
        text, reference = text_diff(
            translation.text, one.reference, by_character=translation.target_characters
        )
        lines += [("translation", text), ("reference", reference)]
    else:
        lines.append(("translation", text))
    pairs = [
        element("div", element("dt", name), element("dd", line or "\N{EM DASH}", dir="auto"), class_=name)
        for name, line in lines
    ]
    pieces = [element("dl", *pairs, class_="lines"), _facts(one)]
    if translation.alternatives:
        pieces.append(_alternatives(one))
    left = element("div", *pieces, class_="words")
    drawn = translation.shown_alpha
    if drawn is None:
        return element("article", left)
    table = attention_table(
        drawn.source_labels,
        drawn.target_labels,
        drawn.alpha,
        gold=one.gold if translation.shows_words else None,
    )
    attention = element(
        "div",
        element("div", table, class_="scroll"),
        element("p", "\N{NO-BREAK SPACE}", class_="readout"),
        class_="regard attention",
    )
    return element("article", left, attention)


def text_diff(translation: str, reference: str, *, by_character: bool = False) -> tuple[Markup, Markup]:
    """Mark what only one line has: ``<ins>`` in the translation, ``<del>`` in the reference.

    Args:
        translation: a line.
        reference: its reference.
        by_character: whether characters are compared, and not blank-separated words.

    Returns:
        the translation, and the reference.
    """
    split = list if by_character else str.split
    joint = "" if by_character else " "
    ours, theirs = split(translation), split(reference)
    matcher = SequenceMatcher(a=theirs, b=ours, autojunk=False)
    extra: list[str] = []
    missing: list[str] = []
    for operation, start, end, our_start, our_end in matcher.get_opcodes():
        same = operation == "equal"
        _append(missing, theirs[start:end], joint, None if same else "del")
        _append(extra, ours[our_start:our_end], joint, None if same else "ins")
    return join(extra), join(missing)


def _append(pieces: list[str], words: Sequence[str], joint: str, mark: str | None) -> None:
    if not words:
        return
    if pieces:
        pieces.append(joint)
    text = joint.join(words)
    pieces.append(element(mark, text) if mark else text)


def _facts(one: ShownTranslation) -> Markup:
    facts = [
        f"score {_signed(one.translation.score, 3)}",
        f"log-probability {_signed(one.translation.log_prob, 2)}",
    ]
    if one.reference is not None and one.translation.text.strip() == one.reference.strip():
        facts.insert(0, "exact match")
    return element("p", " · ".join(facts), class_="facts")


def _alternatives(one: ShownTranslation) -> Markup:
    items = [
        element(
            "li",
            element("span", other.text, dir="auto"),
            " ",
            element("span", _signed(other.score, 3), class_="score"),
        )
        for other in one.translation.alternatives
    ]
    count = len(items)
    summary = element(
        "summary", f"{count} more hypotheses of the beam" if count > 1 else "the next hypothesis of the beam"
    )
    return element("details", summary, element("ol", *items, start=2))


def _signed(number: float, decimals: int) -> str:
    return f"{number:z.{decimals}f}".replace("-", "\N{MINUS SIGN}")


def _model_and_run(report: Report) -> list[Markup]:
    """The model, and the command that reproduces the run."""
    parts = []
    if report.details:
        parts.append(_definitions(report.details))
    if report.command:
        parts.append(element("p", "To reproduce this run:"))
        parts.append(element("pre", element("code", report.command)))
    return [_section("Model and run", *parts)] if parts else []


def _definitions(details: Mapping[str, Value]) -> Markup:
    pairs = [
        element("div", element("dt", display_name(key)), element("dd", format_score(key, value)))
        for key, value in details.items()
    ]
    return element("dl", *pairs, class_="details")


def _section(heading: str, *parts: str) -> Markup:
    return element("section", element("h2", heading), *parts)


def render_report(report: Report) -> str:
    """Render the page.

    Args:
        report: its contents.
    """
    parts = [
        *_scores(report),
        *_members(report),
        *_further_tests(report),
        *_training(report),
        *_by_length(report),
        *_translations(report),
        *_examples(report),
        *_model_and_run(report),
    ]
    return fill_page(report.title, report.subtitle, parts)


def fill_page(title: str, subtitle: str, sections: Sequence[Markup]) -> str:
    """A whole page with its style and script.

    Args:
        title: the heading.
        subtitle: one sentence under it.
        sections: the body.
    """
    folder = files("regard.plots.page")
    template = Template(folder.joinpath("page.html").read_text(encoding="utf-8"))
    return template.substitute(
        title=escape(title),
        subtitle=escape(subtitle),
        style=stylesheet() + folder.joinpath("page.css").read_text(encoding="utf-8"),
        body=join(sections),
    )


def write_report(path: str | PathLike[str], report: Report) -> None:
    """Write the page atomically.

    Args:
        path: the HTML file.
        report: its contents.

    Raises:
        DataError: the file cannot be written.
    """
    write_page(path, render_report(report))


def write_page(path: str | PathLike[str], page: str) -> None:
    """Write a rendered page atomically.

    Raises:
        DataError: the file cannot be written.
    """
    content = page.encode("utf-8", errors="replace")
    write_whole(path, lambda file: file.write(content))
