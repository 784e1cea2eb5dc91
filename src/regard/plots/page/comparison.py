"""A comparison of two systems as one self-contained HTML file, in the style of a report.

In: a `ComparisonPage`, plain data filled by the caller. Out: a page that loads nothing else: the scores with their
tests, and the sentences that differ most with both outputs and both alignments.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike

from regard.evaluation.alignment.words import LabelledAlpha
from regard.evaluation.metrics import METRICS, display_name, format_score, format_with_margin
from regard.evaluation.significance import PairedScore
from regard.plots.html import Markup, attention_table, element, label_width, shade_key
from regard.plots.page.report import fill_page, write_page

Marked = Sequence[tuple[str, bool]]
"""An output in pieces, each with whether it differs from the reference."""


@dataclass(frozen=True)
class ComparedSentence:
    """A sentence with two outputs.

    Attributes:
        number: of the sentence in the test set, from 1.
        source: what was read; empty if it is unknown.
        reference: the correct output.
        outputs: both, with what differs from the reference.
        scores: of both by themselves.
        alphas: the attention of both; None where there is none.
        joint: what separates the pieces of an output.
    """

    number: int
    source: str
    reference: str
    outputs: tuple[Marked, Marked]
    scores: tuple[float, float]
    alphas: Sequence[LabelledAlpha | None]
    joint: str = " "


@dataclass(frozen=True)
class ComparisonPage:
    """The contents of the page.

    Attributes:
        names: of the two systems, A and B.
        num_sentences: the size of the test set.
        scores: both systems' by key.
        tests: the tests of those scores that have them, by key.
        mcnemar: the p-value of McNemar's test, if there is one.
        shown: sentences whose outputs differ.
        num_differing: how many differ in all.
        by_sentence: the name of the score of single sentences.
        legend: what the columns of the tests mean.
        signatures: of sacrebleu, by the score's key.
        command: the command that repeats the comparison.
    """

    names: tuple[str, str]
    num_sentences: int
    scores: Mapping[str, tuple[float, float]]
    tests: Mapping[str, PairedScore]
    mcnemar: float | None
    shown: Sequence[ComparedSentence]
    num_differing: int
    by_sentence: str
    legend: str
    signatures: Mapping[str, str]
    command: str


def format_margin(key: str, value: float, test: PairedScore | None, system: int) -> str:
    """A score, with the margin of its confidence interval where it was tested."""
    if test is None:
        return format_score(key, value)
    return format_with_margin(key, value, test.margins[system])


def format_difference(key: str, difference: float) -> str:
    """A signed difference of two scores."""
    sign = "+" if difference > 0 else "\N{MINUS SIGN}" if difference < 0 else ""
    return sign + format_score(key, abs(difference))


def format_p_value(p: float) -> str:
    """Three decimals; a smaller probability is not 0."""
    return f"{p:.3f}" if p >= 0.0005 else "< 0.001"


def better_system(key: str, scores: tuple[float, float]) -> int | None:
    """Which of two systems has the better score, 0 or 1; None if neither."""
    if scores[0] == scores[1]:
        return None
    return int((scores[1] > scores[0]) == (METRICS[key].better == "higher"))


def score_rows(
    scores: Mapping[str, tuple[float, float]], tests: Mapping[str, PairedScore]
) -> list[tuple[str, str, str, str, str, str, str]]:
    """The rows of the table of scores: key, A, B, the difference, two p-values, and a mark for a significant one."""
    rows = []
    for key, values in scores.items():
        test = tests.get(key)
        cells = [format_margin(key, value, test, system) for system, value in enumerate(values)]
        p_values = (
            ["", ""] if test is None else [*map(format_p_value, (test.p_bootstrap, test.p_randomization))]
        )
        mark = ""
        if test is not None and test.is_significant:
            better = better_system(key, values)
            mark = "" if better is None else f"* {'AB'[better]}"
        rows.append((key, *cells, format_difference(key, values[1] - values[0]), *p_values, mark))
    return rows  # type: ignore[return-value]


def _scores(page: ComparisonPage) -> Markup:
    head = ("", "A", "B", "B \N{MINUS SIGN} A", "p, bootstrap", "p, shuffles", "")
    rows = [
        element(
            "tr",
            element("th", display_name(key), scope="row"),
            *(element("td", cell) for cell in cells),
        )
        for key, *cells in score_rows(page.scores, page.tests)
    ]
    table = element(
        "table",
        element("thead", element("tr", *(element("th", name, scope="col") for name in head))),
        element("tbody", *rows),
        class_="numbers",
    )
    parts = [element("div", table, class_="scroll")]
    notes = [f"{page.legend}."]
    if page.mcnemar is not None:
        notes.append(f" McNemar's test: p = {format_p_value(page.mcnemar)}.")
    parts.append(element("p", *notes, class_="facts"))
    if page.signatures:
        lines = [f"{display_name(key)}: {value}" for key, value in page.signatures.items()]
        parts.append(element("p", *(element("code", line) for line in lines), class_="signatures"))
    return element("section", element("h2", "Scores"), *parts)


def _sentence(one: ComparedSentence, by_sentence: str) -> Markup:
    lines: list[tuple[str, list[str]]] = [("source", [one.source])] if one.source else []
    lines.append(("reference", [one.reference]))
    for name, pieces in zip("AB", one.outputs, strict=True):
        words: list[str] = []
        for text, differs in pieces:
            words += [element("ins", text) if differs else text, one.joint]
        lines.append((name, words[:-1] or ["\N{EM DASH}"]))
    pairs = [
        element("div", element("dt", name), element("dd", *line, dir="auto"), class_=name)
        for name, line in lines
    ]
    facts = f"sentence {one.number:,} · {by_sentence} of A {one.scores[0]:.1f}, of B {one.scores[1]:.1f}"
    left = element(
        "div",
        element("dl", *pairs, class_="lines"),
        element("p", facts, class_="facts"),
        class_="words",
    )
    maps = [
        element(
            "div",
            element("p", f"attention of {name}", class_="name"),
            element(
                "div", attention_table(alpha.source_labels, alpha.target_labels, alpha.alpha), class_="scroll"
            ),
            element("p", "\N{NO-BREAK SPACE}", class_="readout"),
            class_="regard attention",
        )
        for name, alpha in zip("AB", one.alphas, strict=True)
        if alpha is not None
    ]
    widths = (
        len(alpha.source_labels) + label_width(alpha.target_labels)
        for alpha in one.alphas
        if alpha is not None
    )
    style = f"--widest:{max(widths, default=0):.1f}rem"  # with cells of 1 rem
    beside = [element("div", *maps, class_="maps", style=style)] if maps else []
    return element("article", left, *beside)


def render_comparison(page: ComparisonPage) -> str:
    """Render the page."""
    parts = [_scores(page)]
    if page.shown:
        legend: list[str] = [
            f"{page.num_differing:,} of {page.num_sentences:,} outputs differ. Shown are those whose "
            f"{page.by_sentence} differs most; underlined is what is not in the reference."
        ]
        if any(alpha is not None for one in page.shown for alpha in one.alphas):
            legend += [
                " The darker a cell, the more a system attends to the source above it: ",
                shade_key(),
                ".",
            ]
        sentences = [_sentence(one, page.by_sentence) for one in page.shown]
        parts.append(
            element(
                "section",
                element("h2", "Outputs that differ most"),
                element("p", *legend, class_="legend"),
                *sentences,
            )
        )
    command = element("pre", element("code", page.command))
    parts.append(element("section", element("h2", "To repeat this comparison"), command))
    first, second = page.names
    subtitle = f"A is {first}, B is {second}; {page.num_sentences:,} sentences"
    return fill_page("Two systems compared", subtitle, parts)


def write_comparison_page(path: str | PathLike[str], page: ComparisonPage) -> None:
    """Write the page atomically.

    Raises:
        DataError: the file cannot be written.
    """
    write_page(path, render_comparison(page))
