"""What an experiment is, and what it hands back.

An experiment is one file of `regard.lab`: the claim, what is trained on what, what is drawn, and which numbers
decide. It ends in a `Finding`, plain data and figures; who runs it writes them down.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from regard.lab.bench.bench import Bench
from regard.lab.bench.verdict import Verdict

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False)
class Drawing:
    """A figure with what is to be said under it.

    Attributes:
        name: of its files, such as "curves".
        caption: what is drawn, in a sentence; what to see in it, in another.
        figure: drawn, with labelled axes; see `regard.output.pictures`.
    """

    name: str
    caption: str
    figure: Figure


@dataclass(frozen=True)
class Grid:
    """A table of numbers or words.

    Attributes:
        caption: what stands in it.
        columns: their headings.
        rows: of each, one cell a column, as they are to be read.
    """

    caption: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True, eq=False)
class Finding:
    """What an experiment found.

    Attributes:
        numbers: every number, as JSON; what the figures show can be drawn again from it.
        verdict: on the claim.
        drawings: the most telling one first.
        grids: tables.
        remarks: paragraphs on what else was seen, and why it may be so.
    """

    numbers: Mapping[str, Any]
    verdict: Verdict
    drawings: Sequence[Drawing] = ()
    grids: Sequence[Grid] = ()
    remarks: Sequence[str] = ()


@dataclass(frozen=True)
class Experiment:
    """A claim of the lectures, and how to see whether it holds.

    Attributes:
        name: what is typed after ``regard lab``.
        title: a heading.
        claim: what the lectures say, in a sentence.
        source: where they say it.
        method: what is trained on what, and what is measured.
        decides: which numbers decide, against which bounds, and why these.
        run: does it.
        seconds: about how long that takes on one core; the longest are begun first.
        alone: whether it measures time, so that nothing may run beside it.
        text: what a text of the user's is to it, such as "a sentence to be read"; empty where it takes none.
    """

    name: str
    title: str
    claim: str
    source: str
    method: str
    decides: str
    run: Callable[[Bench], Finding]
    seconds: int
    alone: bool = False
    text: str = ""
