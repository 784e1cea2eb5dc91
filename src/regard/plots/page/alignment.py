"""Alignments and their scores as one self-contained HTML file, in the style of a report.

In: an `AlignmentPage`, plain data filled by the caller. Out: a page that loads nothing else: the scores, and the worst
pairs, each as a heat map of its weights with the gold links outlined and the predicted ones marked.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike

from regard.evaluation.alignment import ScoredPair, SoftLinks, score_alignments
from regard.evaluation.metrics import display_name, format_score
from regard.plots.html import Markup, attention_table, element, label_width, link_key, shade_key
from regard.plots.page.report import fill_page, table_of_scores, write_page

_COLUMN = 34.0  # rem; a wider picture is below the sentences rather than beside them
_MAX_CELLS = 20_000  # of a heat map that a browser scrolls smoothly


@dataclass(frozen=True)
class AlignmentPage:
    """The contents of the page.

    Attributes:
        title: the heading.
        subtitle: one sentence under it.
        command: that makes the page again.
        scores: by key for each alignment, by its name.
        num_sentences: how many pairs were scored.
        num_differing: how many of them have errors, or differ.
        shown: the worst pairs, or those that differ most.
    """

    title: str
    subtitle: str
    command: str
    scores: Mapping[str, Mapping[str, float]]
    num_sentences: int
    num_differing: int
    shown: Sequence[ScoredPair]


def _lines(pair: ScoredPair) -> list[tuple[str, str]]:
    """Both sentences, and what is wrong with the alignment, or how two alignments differ."""
    lines = [("source", " ".join(pair.source)), ("target", " ".join(pair.target))]
    if len(pair.alignments) > 1:
        lines += [(f"only {name}", pair.in_words(pair.only(name))) for name in pair.alignments]
    elif pair.gold is not None:
        (alignment,) = pair.alignments.values()
        lines += [
            ("wrong", pair.in_words(alignment.links - pair.gold.possible)),
            ("missed", pair.in_words(pair.gold.sure - alignment.links)),
        ]
    # a link is not broken between its words
    return [
        (name, line.replace(" – ", "\N{NO-BREAK SPACE}–\N{NO-BREAK SPACE}")) for name, line in lines if line
    ]


def _facts(pair: ScoredPair) -> str:
    facts = [f"pair {pair.number:,}"]
    for name, each in pair.alignments.items():
        whose = f" of {name}" if len(pair.alignments) > 1 else ""
        if pair.gold is None:
            facts.append(f"{len(each.links):,} links{whose}")
        else:
            error_rate = score_alignments([each.links], [pair.gold]).aer
            facts.append(f"{display_name('aer')}{whose} {format_score('aer', error_rate)}")
    return " · ".join(facts)


def _map(pair: ScoredPair, name: str, alignment: SoftLinks) -> Markup:
    table = attention_table(
        pair.source, pair.target, alignment.weights, gold=pair.gold, predicted=alignment.links
    )
    heading = [element("p", name, class_="name")] if len(pair.alignments) > 1 else []
    return element(
        "div",
        *heading,
        element("div", table, class_="scroll"),
        element("p", "\N{NO-BREAK SPACE}", class_="readout"),
        class_="regard attention",
    )


def _pair(pair: ScoredPair) -> Markup:
    lines = [
        element("div", element("dt", name), element("dd", line, dir="auto")) for name, line in _lines(pair)
    ]
    facts = element("p", _facts(pair), class_="facts")
    left = element("div", element("dl", *lines, class_="lines"), facts, class_="words")
    if len(pair.source) * len(pair.target) > _MAX_CELLS:
        too_long = f"{len(pair.source):,} and {len(pair.target):,} words, too many to draw"
        return element("article", left, element("p", too_long, class_="facts"))
    maps = [_map(pair, name, alignment) for name, alignment in pair.alignments.items()]
    width = len(pair.source) + label_width(pair.target)  # in rem, with cells of 1 rem
    drawn = element("div", *maps, class_="maps", style=f"--widest:{width:.1f}rem")
    return element("article", left, drawn, class_="wide" if width * len(maps) > _COLUMN else None)


def render_alignment(page: AlignmentPage) -> str:
    """Render the page."""
    parts = [element("section", element("h2", "Scores"), table_of_scores("alignment", page.scores))]
    if page.shown:
        compared = any(len(pair.alignments) > 1 for pair in page.shown)
        gold = any(pair.gold is not None for pair in page.shown)
        what = "differ" if compared else "have errors"
        errors = "links that only one of the two has" if compared else "wrong and missed links"
        legend = element(
            "p",
            f"{page.num_differing:,} of {page.num_sentences:,} pairs {what}. Shown are those with many {errors} for "
            "their length.",
            class_="legend",
        )
        key = element("p", link_key(gold=gold), shade_key("weight"), class_="regard links-key")
        heading = "Pairs that differ most" if compared else "The worst pairs"
        parts.append(element("section", element("h2", heading), legend, key, *map(_pair, page.shown)))
    command = element("pre", element("code", page.command))
    parts.append(element("section", element("h2", "To make this page again"), command))
    return fill_page(page.title, page.subtitle, parts)


def write_alignment_page(path: str | PathLike[str], page: AlignmentPage) -> None:
    """Write the page atomically.

    Raises:
        DataError: the file cannot be written.
    """
    write_page(path, render_alignment(page))
