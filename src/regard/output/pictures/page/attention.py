"""A heat map as an HTML table: legible at any size, read aloud cell by cell, copied as numbers.

In: attention over words. Out: `Markup`. The shade is the ink's opacity, so that it suits light and dark
pages and print alike; the style sheet does the rest.
"""

from regard.output.alignment.merge import LabelledAlpha
from regard.output.pictures.page.markup import Markup, element
from regard.text.links import GoldLinks

_FAINTEST = 0.005  # below it a cell is left empty


def attention_table(words: LabelledAlpha, gold: GoldLinks | None) -> Markup:
    """Draw a heat map, source along the top, target down the left.

    Args:
        words: attention, the end mark last in both directions.
        gold: links to outline.
    """
    columns = [element("th", element("span", word, dir="auto"), scope="col") for word in words.source_labels]
    rows = [element("tr", element("td"), *columns)]
    for i, (word, weights) in enumerate(zip(words.target_labels, words.alpha.tolist(), strict=True)):
        cells = [_cell(weight, _mark(j, i, gold)) for j, weight in enumerate(weights)]
        rows.append(element("tr", element("th", word, scope="row", dir="auto"), *cells))
    table = element(
        "table",
        element("thead", rows[0]),
        element("tbody", *rows[1:]),
        class_="map",
        style=f"--columns:{len(words.source_labels)}",
        aria_label="attention of each target word over the source words, from 0 to 1",
    )
    return element(
        "div",
        element("div", table, class_="scroll"),
        element("p", "\N{NO-BREAK SPACE}", class_="readout"),
        class_="attention",
    )


def _cell(weight: float, mark: str | None) -> Markup:
    if weight < _FAINTEST:
        return element("td", class_=mark)
    return element("td", f"{weight:.2f}", class_=mark, style=f"--a:{min(weight, 1):.2f}")


def _mark(j: int, i: int, gold: GoldLinks | None) -> str | None:
    if gold is None or (j, i) not in gold.possible:
        return None
    return "sure" if (j, i) in gold.sure else "possible"
