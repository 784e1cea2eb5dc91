"""HTML that is safe to show anywhere: escaped elements, and whole pictures for a notebook.

In: tokens, alpha, scores. Out: strings. Every ``*_html`` function returns one ``<div>`` with its style inside, without
scripts; it takes the text colour of the page around it, so it is readable on light and dark backgrounds.
"""

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache
from html import escape
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray
from rich.cells import cell_len

from regard.errors import DataError
from regard.evaluation.metrics import hundredths
from regard.plots.beam_tree import BeamTree, Node, Position, TreeNode, layout, node_value
from regard.plots.colours import cell_colour, weight_colour
from regard.plots.text import before_and_after, is_character, is_right_to_left
from regard.text.links import GoldLinks, Link

_EMPTY_BELOW = 0.005  # a lighter cell is left empty
_LABEL_GAP, _LABEL_CHARACTER = 0.8, 0.5  # rem


LINK_MARKS = {"hit": "linked", "wrong": "wrong link", "missed": "missed link"}
"""What the marks of predicted links mean, by their CSS classes."""


class Markup(str):
    """A piece of finished HTML; a notebook shows it as such."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return str(self)


def element(name: str, *children: str, **attributes: str | float | None) -> Markup:
    """Make an element; plain strings among its children are escaped.

    Args:
        name: such as "p"; only elements that have an end tag.
        children: text, or `Markup`.
        attributes: by name, with ``_`` for ``-`` and one at the end to avoid a keyword (``class_``); None
            omits the attribute.
    """
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(str(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    return Markup(f"<{name}{written}>{join(children)}</{name}>")


def join(children: Iterable[str]) -> Markup:
    """Concatenate pieces, plain strings escaped."""
    return Markup("".join(child if isinstance(child, Markup) else escape(child) for child in children))


@cache
def stylesheet() -> str:
    """The CSS of everything in this module."""
    return files("regard.plots").joinpath("html.css").read_text(encoding="utf-8")


def self_contained(*children: str) -> Markup:
    """One ``<div>`` with its style inside."""
    return element("div", element("style", Markup(stylesheet())), *children, class_="regard")


def attention_table(
    source_tokens: Sequence[str],
    target_tokens: Sequence[str],
    alpha: NDArray[np.floating],
    *,
    gold: GoldLinks | None = None,
    predicted: Collection[Link] | None = None,
    titles: bool = False,
) -> Markup:
    """A heat map as a table: legible at any size, read cell by cell by a screen reader, copied as numbers.

    Args:
        source_tokens: Tx labels along the top.
        target_tokens: Ty labels down the left.
        alpha: (Ty, Tx) from 0 to 1.
        gold: links (source j, target i) to outline, with dashes where they are not sure.
        predicted: links to mark; where there are gold links, wrong ones differ, and sure ones that are missing are
            marked, too. None marks nothing.
        titles: whether each cell shows its tokens and weight on hover.

    Raises:
        DataError: alpha does not have one row per target token and one column per source token.
    """
    if alpha.shape != (len(target_tokens), len(source_tokens)):
        raise DataError(
            f"heat map: alpha has shape {alpha.shape} for {len(target_tokens)} target and {len(source_tokens)} "
            "source tokens; give one row per target token and one column per source token"
        )
    columns = [
        element(
            "th",
            element("span", word, dir="auto"),
            scope="col",
            class_="upright" if is_character(word) else None,
        )
        for word in source_tokens
    ]
    sure, possible = (gold.sure, gold.possible) if gold else ((), ())
    rows = []
    for i, (target, weights) in enumerate(zip(target_tokens, alpha.tolist(), strict=True)):
        cells = []
        for j, weight in enumerate(weights):
            link = "sure" if (j, i) in sure else "possible" if (j, i) in possible else None
            mark = None
            if predicted is not None and (j, i) in predicted:
                mark = "hit" if link or gold is None else "wrong"
            elif predicted is not None and link == "sure":
                mark = "missed"
            title = f"{before_and_after(source_tokens[j], target)}  {weight:.2f}" if titles else None
            filled = weight >= _EMPTY_BELOW
            cells.append(
                element(
                    "td",
                    " ".join(filter(None, (f"{weight:.2f}" if filled else "", mark and LINK_MARKS[mark]))),
                    class_=" ".join(filter(None, (link, mark))) or None,
                    style=f"background:{cell_colour(weight)}" if filled else None,
                    title=title,
                )
            )
        rows.append(element("tr", element("th", target, scope="row", dir="auto"), *cells))
    return element(
        "table",
        element("thead", element("tr", element("td"), *columns)),
        element("tbody", *rows),
        class_="map",
        style=f"--columns:{len(source_tokens)};--label:{label_width(target_tokens):.1f}rem",
        aria_label="attention of each target token over the source tokens, from 0 to 1",
    )


def link_key(*, gold: bool) -> Markup:
    """What the marks and outlines of an alignment mean.

    Args:
        gold: whether there are gold links.
    """
    meanings = {"hit": "link"}
    if gold:
        meanings = {
            "hit": "correct link",
            "wrong": "wrong link",
            "sure missed": "missed link",
            "sure": "sure gold link",
            "possible": "possible gold link",
        }
    return join(
        piece
        for kind, meaning in meanings.items()
        for piece in (
            element(
                "span",
                element("span", class_=f"cell {kind}"),
                f"\N{NO-BREAK SPACE}{meaning}",
                class_="shades",
            ),
            " ",
        )
    )


def label_width(words: Iterable[str]) -> float:
    """The room for the labels at the left of a heat map, in rem.

    Args:
        words: the labels.
    """
    return _LABEL_GAP + _LABEL_CHARACTER * max(map(cell_len, words), default=0)


def shade_key(
    name: str = "attention", colour: Callable[[float], str] = cell_colour, *, end: float = 1.0
) -> Markup:
    """What the shades of a picture mean: a name, and a strip from 0 to the weight of the darkest.

    Args:
        name: of the weight.
        colour: of a place on the strip, from 0 to 1; by default as in a heat map.
        end: the weight of the darkest.
    """
    strip = element(
        "span", class_="strip", style=f"background:linear-gradient(to right,{colour(0)},{colour(1)})"
    )
    return element(
        "span", f"{name} 0\N{NO-BREAK SPACE}", strip, f"\N{NO-BREAK SPACE}{end:g}", class_="shades"
    )


def heatmap_html(
    source_tokens: Sequence[str],
    target_tokens: Sequence[str],
    alpha: NDArray[np.floating],
    *,
    caption: str = "",
    key: str = "attention",
) -> Markup:
    """Draw attention as a self-contained heat map, source along the top, target down the left.

    Args:
        source_tokens: Tx labels.
        target_tokens: Ty labels.
        alpha: (Ty, Tx) from 0 to 1.
        caption: a line above it.
        key: what the shades mean.

    Raises:
        DataError: alpha does not have one row per target token and one column per source token.
    """
    table = attention_table(source_tokens, target_tokens, alpha, titles=True)
    below = [element("p", shade_key(key), class_="key")] if alpha.size else []
    return self_contained(*_caption(caption), element("div", table, class_="scroll"), *below)


def _caption(text: str) -> list[Markup]:
    return [element("p", text, class_="caption", dir="auto")] if text else []


_FONT, _SMALL = 13, 10  # pixels
_CHARACTER = 0.62  # of a font's size: the width of a column of text, rather too wide than too narrow
_ROW, _GAP, _LEAN, _STEM = 54, 16, 30, 8  # pixels


def tree_html(
    nodes: Iterable[TreeNode], *, attended: Sequence[str] = (), pruned: bool = True, caption: str = ""
) -> Markup:
    """Draw a beam search as a self-contained SVG tree that grows downwards.

    The best output is bold and runs straight down at the left; hypotheses that led to no output are paler, pruned
    ones palest. A branch is as thick as its token is probable. Below a token is the log-probability of all tokens so
    far, below a finished EOS its score, which is said.

    Args:
        nodes: partial hypotheses, parents before their children.
        attended: for each step of the best output its most attended source token, written at the left.
        pruned: whether pruned hypotheses are drawn.
        caption: a line above it.
    """
    tree = BeamTree(nodes)
    positions = layout(tree, _node_width, gap=_GAP, lean=_LEAN, pruned=pruned)
    margin = max((_text_width(word, _SMALL) for word in attended), default=0.0) + (16 if attended else 4)
    pieces = []
    for step, word in enumerate(attended):
        pieces.append(element("text", word, class_="small", x=0, y=_baseline(step), opacity=0.65))
    branches = [
        _branch(tree, node, positions, margin) for node in _drawn(tree, positions) if node.parent is not None
    ]
    words = [_word(tree, node, positions[node.id], margin) for node in _drawn(tree, positions)]
    width = round(margin + max((place.left + place.width for place in positions.values()), default=0.0) + 4)
    height = _ROW * (1 + max((place.row for place in positions.values()), default=0)) + 4
    drawing = element(
        "svg",
        *pieces,
        *branches,
        *words,
        class_="tree",
        width=width,
        height=height,
        viewBox=f"0 0 {width} {height}",
        role="img",
        aria_label="beam search: partial hypotheses by step",
    )
    key = "bold: best output · grey: kept, no output · palest: pruned · number: log p so far · score: when finished"
    return self_contained(
        *_caption(caption), element("div", drawing, class_="scroll"), element("p", key, class_="key")
    )


def _drawn(tree: BeamTree[Node], positions: Mapping[int, Position]) -> list[Node]:
    return [node for node in tree.nodes.values() if node.id in positions]


def _text_width(text: str, size: float) -> float:
    return _CHARACTER * size * cell_len(text)


def _node_width(node: TreeNode) -> float:
    return max(_text_width(node.token, _FONT), _text_width(node_value(node), _SMALL)) + 12


def _baseline(row: int) -> float:
    return row * _ROW + 18


def _word(tree: BeamTree[Node], node: Node, place: Position, margin: float) -> Markup:
    best = tree.is_best(node)
    x, y = round(margin + place.left, 1), _baseline(place.row)
    opacity = 0.45 if node.fate == "pruned" else 1 if node.id in tree.in_output else 0.65
    pieces = [
        element(
            "title",
            f"{node.token}: log p {hundredths(node.log_prob)}, of all so far {hundredths(node.total)}",
        )
    ]
    if node.fate == "finished":
        pieces.append(
            element("rect", class_="end", x=x, y=y - 14, width=round(place.width, 1), height=32, rx=4,
                    fill_opacity=0.45 if best else 0.18)
        )  # fmt: skip
    pieces.append(element("text", node.token, x=x + 6, y=y, class_="best" if best else None))
    pieces.append(element("text", node_value(node), class_="small", x=x + 6, y=y + 13))
    return element("g", *pieces, opacity=opacity)


def _branch(tree: BeamTree[Node], node: Node, positions: Mapping[int, Position], margin: float) -> Markup:
    place = positions[node.id]
    assert node.parent is not None, "the first step has no branches"
    start, end = (round(margin + left + _STEM, 1) for left in (positions[node.parent].left, place.left))
    above, below = _baseline(place.row - 1) + 18, _baseline(place.row) - 15
    half = (above + below) / 2
    opacity = 1.0 if tree.is_best(node) else 0.2 if node.fate == "pruned" else 0.5
    return element(
        "path",
        class_="branch",
        d=f"M{start} {above}C{start} {half} {end} {half} {end} {below}",
        stroke_width=round(0.5 + 2.5 * math.exp(min(node.log_prob, 0.0)), 2),
        opacity=opacity,
    )


def words_html(
    sentences: Iterable[tuple[Sequence[str], Sequence[float]]],
    *,
    caption: str = "",
    key: Markup | None = None,
    end: float = 1.0,
) -> Markup:
    """Write words on a background as dark as their weight, a self-contained paragraph per sentence.

    Args:
        sentences: the words of each, and their weights from 0 to `end`.
        caption: a line above them.
        key: what the shades mean, from `shade_key`.
        end: the weight of the darkest shade.
    """
    paragraphs = [
        element(
            "p",
            *(
                piece
                for word, weight in zip(words, weights, strict=True)
                for piece in (
                    element(
                        "span",
                        word,
                        style=f"background:{weight_colour(weight / end)}",
                        title=f"{weight:.2f}",
                        dir="auto",
                    ),
                    " ",
                )
            ),
            class_="words",
            dir=_direction(words),
        )
        for words, weights in sentences
    ]
    below = [element("p", key, class_="key")] if key else []
    return self_contained(*_caption(caption), *paragraphs, *below)


def _direction(words: Sequence[str]) -> str:
    """The direction of a paragraph whose words have their own, which ``dir="auto"`` would not look at."""
    return "rtl" if is_right_to_left(words) else "ltr"


def tags_html(words: Sequence[str], tags: Sequence[str], probabilities: Sequence[float]) -> Markup:
    """Write each word above its tag; a tag less probable than one half is followed by a question mark.

    Args:
        words: in their order.
        tags: one per word.
        probabilities: of the tags.
    """
    pieces = [
        element(
            "span",
            element("b", word, dir="auto"),
            element(
                "span",
                tag if probability >= 0.5 else f"{tag}?",
                style=f"background:{weight_colour(probability)}",
                dir="auto",
            ),
            title=f"{tag}: {probability:.2f}",
        )
        for word, tag, probability in zip(words, tags, probabilities, strict=True)
    ]
    key = element("p", shade_key("probability of the tag", weight_colour), " · ?: below 0.5", class_="key")
    return self_contained(element("p", *pieces, class_="tags", dir=_direction(words)), key)


def table_html(heading: Sequence[str], rows: Iterable[Sequence[str]], *, caption: str = "") -> Markup:
    """Write a self-contained table.

    Args:
        heading: the names of the columns.
        rows: the cells, as text.
        caption: a line above it.
    """
    head = element("tr", *(element("th", name, scope="col") for name in heading))
    body = [element("tr", *(element("td", cell, dir="auto") for cell in row)) for row in rows]
    table = element("table", element("thead", head), element("tbody", *body), class_="numbers")
    return self_contained(*_caption(caption), element("div", table, class_="scroll"))
