"""The parts of the page, in the order they are read.

In: a `Report`. Out: one `Markup` a part, or none where the report has nothing to say.
"""

from collections.abc import Mapping, Sequence

from regard.output.pictures.page.attention import attention_table
from regard.output.pictures.page.charts import Curve, line_chart
from regard.output.pictures.page.differences import marked
from regard.output.pictures.page.markup import Markup, element
from regard.output.pictures.page.report import Figure, Report, ShownTranslation
from regard.output.pictures.series import series
from regard.output.wording import name_of, written

_SET_LARGE = 4


def scores(report: Report) -> list[Markup]:
    """The headline figures, the first few set large, and sacrebleu's signatures."""
    figures = list(report.scores.items())
    parts = [_figures(figures[:_SET_LARGE], "headline"), _figures(figures[_SET_LARGE:], "figures")]
    if report.signatures:
        lines = [f"{name_of(key)}: {value}" for key, value in report.signatures.items()]
        parts.append(element("p", *(element("code", line) for line in lines), class_="signatures"))
    return [element("section", *parts, class_="scores", aria_label="scores")] if figures else []


def _figures(figures: Sequence[tuple[str, Figure]], kind: str) -> Markup:
    pairs = [
        element("div", element("dt", name_of(key)), element("dd", written(key, value)))
        for key, value in figures
    ]
    return element("dl", *pairs, class_=kind)


def further_tests(report: Report) -> list[Markup]:
    """A table of further test sets."""
    if not report.extra_scores:
        return []
    return [_section("Further test sets", _table("test set", report.extra_scores))]


def _table(first: str, figures: Mapping[str, Mapping[str, float | None]]) -> Markup:
    """Figures by row and key; a dash where a row lacks one."""
    keys = list(dict.fromkeys(key for values in figures.values() for key in values))
    head = [element("th", name, scope="col") for name in (first, *map(name_of, keys))]
    rows = [
        element(
            "tr",
            element("th", name, scope="row"),
            *(element("td", written(key, values.get(key))) for key in keys),
        )
        for name, values in figures.items()
    ]
    table = element(
        "table", element("thead", element("tr", *head)), element("tbody", *rows), class_="numbers"
    )
    return element("div", table, class_="scroll")


def training(report: Report) -> list[Markup]:
    """Curves out of the journal; those without numbers are left out."""
    plans: list[tuple[str, str, float | None, list[tuple[str, str, str, str, float]]]] = [
        ("Loss, teacher-forced", "nats per token", None, [
            ("training", "quiet", "train", "loss", 1), ("validation", "first", "validation", "loss", 1)]),
        ("Quality, free-running", "0 to 100", 100, [
            ("BLEU", "first", "validation", "bleu", 1), ("chrF", "third", "validation", "chrf", 1),
            ("exact match (%)", "second", "validation", "exact_match", 100)]),
        ("Token accuracy", "per cent", 100, [
            ("teacher-forced", "first", "validation", "token_accuracy", 100),
            ("free-running", "second", "validation", "free_running_accuracy", 100)]),
        ("Learning rate", "", None, [("rate", "quiet", "train", "rate", 1)]),
    ]  # fmt: skip
    charts = []
    for title, unit, top, wanted in plans:
        found = [
            (name, kind, series(report.journal, event, key, scale=scale))
            for name, kind, event, key, scale in wanted
        ]
        curves = [
            Curve(name, kind, list(zip(s.updates, s.values, strict=True))) for name, kind, s in found if s
        ]
        if curves:
            charts.append(line_chart(title, curves, x_label="updates", y_label=unit, top=top))
    return [_section("Training", element("div", *charts, class_="charts"))] if charts else []


def by_length(report: Report) -> list[Markup]:
    """BLEU and exact match against source length, and a table of all scores."""
    bands = report.by_length
    if not bands:
        return []
    curves = [
        Curve("BLEU", "first", list(enumerate(_row(bands, "bleu")))),
        Curve("exact match (%)", "second", [(k, 100 * y) for k, y in enumerate(_row(bands, "exact_match"))]),
    ]
    chart = line_chart(
        "BLEU and exact match",
        curves,
        x_label="source length in words",
        y_label="0 to 100",
        x_names=list(bands),
        bars=[int(count) for count in _row(bands, "num_sentences")],
        top=100,
    )
    rows = {f"{name} words": scores for name, scores in bands.items()}
    return [_section("Quality by length", element("div", chart, class_="charts"), _table("source", rows))]


def _row(bands: Mapping[str, Mapping[str, float]], key: str) -> list[float]:
    """One score of all bands."""
    return [scores[key] for scores in bands.values()]


def translations(report: Report) -> list[Markup]:
    """Sentences in full, each with its heat map and its alternatives."""
    if not report.shown:
        return []
    legend = [
        "The stronger a cell, the more the model looks at the source word above it while it writes the "
        "target word beside it."
    ]
    if any(one.gold for one in report.shown):
        legend.append(
            " Outlined cells are the gold alignment, with broken lines where a link is only possible."
        )
    parts = [_shown(one) for one in report.shown]
    return [_section("Translations", element("p", *legend, class_="legend"), *parts)]


def _shown(one: ShownTranslation) -> Markup:
    translation = one.translation
    text: str = translation.text
    lines = [("source", one.source)]
    if one.reference is not None:
        text, reference = marked(translation.text, one.reference)
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
    between_words = drawn is translation.word_alpha
    return element("article", left, attention_table(drawn, one.gold if between_words else None))


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
    summary = element("summary", f"{count} more of the beam" if count > 1 else "the next of the beam")
    return element("details", summary, element("ol", *items, start=2))


def _signed(number: float, decimals: int) -> str:
    return f"{number:.{decimals}f}".replace("-", "\N{MINUS SIGN}")


def facts(report: Report) -> list[Markup]:
    """What the model is, and how to have it again."""
    parts = []
    if report.details:
        parts.append(_definitions(report.details))
    if report.command:
        parts.append(element("p", "To have all this again:"))
        parts.append(element("pre", element("code", report.command)))
    return [_section("Model and run", *parts)] if parts else []


def _definitions(details: Mapping[str, Figure]) -> Markup:
    pairs = [
        element("div", element("dt", name_of(key)), element("dd", written(key, value)))
        for key, value in details.items()
    ]
    return element("dl", *pairs, class_="details")


def _section(heading: str, *parts: str) -> Markup:
    return element("section", element("h2", heading), *parts)
