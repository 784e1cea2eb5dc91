"""A trace as a page and in a notebook: step by step, each equation with its numbers beside it.

In: a `Trace`. Out: HTML that loads nothing else and needs no script; steps fold and unfold by themselves. A number's
cell is blue where it is positive and orange where it is negative, the deeper the greater in its row.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from regard.plots.equations import split_equation
from regard.plots.html import Markup, attention_table, element, join, self_contained, shade_key
from regard.plots.page.report import fill_page
from regard.plots.terminal.trace import written_number

if TYPE_CHECKING:
    from regard.tasks.trace import Trace, TracedPart, TracedSection, TracedStep

_DEEPEST = 70  # per cent of the colour at the greatest number of a row


def equation_markup(text: str) -> Markup:
    """An equation with its sub- and superscripts, letters in italics.

    Args:
        text: as in ``h_t = o_t ∘ tanh(c_{t−1})``.
    """
    pieces: list[str] = []
    for run in split_equation(text):
        piece = element("i", run.text) if run.italic else run.text
        pieces.append(element("sub" if run.level < 0 else "sup", piece) if run.level else piece)
    return join(pieces)


def render_trace(trace: "Trace", components: int = 6) -> str:
    """A whole page.

    Args:
        trace: what to show.
        components: how many units of a layer; 0 for all.
    """
    of = "letters of the papers" if trace.letters == "papers" else "letters of the slides"
    subtitle = f"{trace.output or 'Step by step'} · {of} · {trace.dtype}"
    return fill_page(
        trace.text, subtitle, [element("div", *_body(trace, components), class_="regard worked")]
    )


def trace_html(trace: "Trace", components: int = 6) -> str:
    """A self-contained piece of HTML for a notebook; arguments as for `render_trace`."""
    return self_contained(element("div", *_body(trace, components), class_="worked"))


def _body(trace: "Trace", components: int) -> list[Markup]:
    body = []
    if trace.alpha is not None and len(trace.tokens) == trace.alpha.shape[1]:
        table = attention_table(trace.tokens, trace.output_tokens, trace.alpha)
        body += [element("div", table, class_="scroll"), element("p", shade_key(), class_="key")]
    if trace.parameters:
        rows = [_parameter(name, value, components) for name, value in trace.parameters.items()]
        body.append(element("section", element("h2", "Parameters"), *rows))
    for section in trace.sections:
        steps = [_step(trace, section, number, components) for number in range(len(section.steps))]
        body.append(element("section", element("h2", section.title), *steps))
    return body


def _step(trace: "Trace", section: "TracedSection", number: int, components: int) -> Markup:
    step = section.steps[number]
    rows: list[Markup] = []
    layer = None
    for part in section.parts:
        if part.key.startswith("layer") and part.layer != layer and part.key in step.values:
            rows.append(element("p", f"layer {part.layer}", class_="layer"))
        layer = part.layer
        row = _part(trace, section, part, step, components)
        if row is not None:
            rows.append(row)
    if len(section.steps) == 1:
        return element("div", *rows, class_="step")
    heading = [element("span", str(number + 1), class_="number"), element("b", step.token, dir="auto")]
    if step.output is not None:
        heading += [element("span", "→", class_="to"), element("b", step.output, dir="auto")]
        if step.probability is not None:
            heading.append(element("span", written_number(step.probability), class_="chance"))
    return element(
        "details", element("summary", *heading), *rows, class_="step", open="open" if number == 0 else None
    )


def _part(
    trace: "Trace", section: "TracedSection", part: "TracedPart", step: "TracedStep", components: int
) -> Markup | None:
    if part.key not in step.values:
        return None
    value = step.values[part.key]
    if part.axis == "words":
        candidates = section.candidates(part, step)
        if not candidates:
            return None
        names, row = zip(*candidates, strict=True)
        numbers: list[str] = [_cells(np.array(row), names, components, value.shape[-1])]
    elif part.axis in ("source", "past"):
        labels = section.labels(part, step)
        numbers = [_cells(row, labels, 0) for row in np.atleast_2d(value)] if labels else ["nothing yet"]
    else:
        numbers = [_cells(value, (), components)]
    return _row(part.name.replace("_", " "), equation_markup(part.equations[trace.letters]), numbers)


def _row(name: str, equation: Markup, numbers: Sequence[str]) -> Markup:
    return element(
        "div",
        element("span", name, class_="name"),
        element("span", equation, class_="equation"),
        element("span", *numbers, class_="numbers-of"),
        class_="part",
    )


def _parameter(name: str, value: NDArray[np.floating], components: int) -> Markup:
    rows = [element("span", _cells(row, (), components), class_="line") for row in np.atleast_2d(value)]
    return _row("", equation_markup(name), rows)


def _cells(
    row: NDArray[np.floating], labels: Sequence[str], components: int, total: int | None = None
) -> Markup:
    shown = row[: components or None]
    greatest = float(np.abs(row[np.isfinite(row)]).max(initial=1e-9))
    cells = []
    for k, value in enumerate(shown.tolist()):
        share = round(_DEEPEST * min(abs(value) / greatest, 1.0)) if np.isfinite(value) else 0
        hue = "positive" if value >= 0 else "negative"
        label = [element("small", labels[k], dir="auto")] if len(labels) else []
        cells.append(element("span", *label, written_number(value), class_=hue, style=f"--share:{share}%"))
    total = len(row) if total is None else total
    if len(shown) < total:
        cells.append(element("span", f"… {total}", class_="more"))
    return element("span", *cells, class_="cells")
