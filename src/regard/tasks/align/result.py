"""A sentence pair and the attention between its words, in both directions.

In: words, and weights of both directions. Out: `AlignedPair`: links, a plot, JSON. Knows nothing of models.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from regard.errors import DataError
from regard.evaluation.alignment import LabelledAlpha, LinkRule, SoftLinks
from regard.evaluation.alignment.links import MEAN, mean
from regard.tasks.result import PlottedResult
from regard.text.links import in_order

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SYMMETRIZATION = MEAN
"""How both directions become one alignment unless another rule is given."""
_NULL = "∅"


@dataclass(frozen=True, eq=False)
class AlignedPair(PlottedResult):
    """A sentence pair and the attention between its words.

    Attributes:
        source: its J words.
        target: its I words.
        forward: (I, J), of each target word over the source words; what is left to 1 is null's.
        backward: (I, J), of each source word over the target words, in the same way.
    """

    source: tuple[str, ...]
    target: tuple[str, ...]
    forward: NDArray[np.floating]
    backward: NDArray[np.floating]

    def __post_init__(self) -> None:
        shape = len(self.target), len(self.source)
        for name, weights in (("forward", self.forward), ("backward", self.backward)):
            if weights.shape != shape:
                raise DataError(
                    f"alignment of {' '.join(self.source)!r}: {name} has the shape {weights.shape}; give (target, "
                    f"source) words, {shape}"
                )

    def links(self, rule: LinkRule | None = None) -> dict[str, SoftLinks]:
        """The links as (source, target), of the directions ``forward`` and ``reverse`` and ``symmetrized``.

        Args:
            rule: how they are read from attention; None links words by the mean of both directions, see `LinkRule`.
        """
        rule = rule or LinkRule(None, SYMMETRIZATION)
        there = rule.one_direction(_with_null(self.forward, self.source, self.target))
        back = rule.one_direction(_with_null(self.backward.T, self.target, self.source)).flipped
        return {"forward": there, "reverse": back, "symmetrized": rule.combine(there, back)}

    @property
    def weights(self) -> NDArray[np.floating]:
        """(I, J), (α→ + α←) / 2: the probability of each link."""
        return mean(self.forward, self.backward)

    def figure(self, *, title: str | None = None) -> Figure:
        """Draw the probabilities of all links as a heat map."""
        from regard.plots.figures.heatmap import draw_heatmap

        return draw_heatmap(self.weights, self.source, self.target, title=title)

    def _repr_html_(self) -> str:
        """The probabilities as a heat map, for a notebook."""
        from regard.plots.html import heatmap_html
        from regard.plots.text import before_and_after

        caption = before_and_after(" ".join(self.source), " ".join(self.target))
        return heatmap_html(self.source, self.target, self.weights, caption=caption)

    def to_json(self, *, alpha: bool = True, rule: LinkRule | None = None) -> dict[str, Any]:
        """Everything as a JSON object, weights to four decimals.

        Args:
            alpha: whether to include the attention, which is most of the bytes.
            rule: how links are read from it.
        """
        links = self.links(rule)["symmetrized"]
        ordered = in_order(links.links)
        values: dict[str, Any] = {
            "source": list(self.source),
            "target": list(self.target),
            "links": ordered,
            "probabilities": [round(float(links.weights[i, j]), 4) for j, i in ordered],
        }
        if alpha:
            values |= {
                name: np.round(getattr(self, name).astype(np.float64), 4).tolist()
                for name in ("forward", "backward")
            }
        return values

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> AlignedPair:
        """Read what `to_json` gives with alpha."""
        source, target = tuple(values["source"]), tuple(values["target"])
        shape = len(target), len(source)
        forward, backward = (
            np.array(values[name], dtype=float).reshape(shape) for name in ("forward", "backward")
        )
        return cls(source, target, forward, backward)


def _with_null(
    weights: NDArray[np.floating], read: tuple[str, ...], written: tuple[str, ...]
) -> LabelledAlpha:
    """The attention of one direction with null as its last column, and a last row that is not used."""
    num_written, num_read = weights.shape
    alpha = np.zeros((num_written + 1, num_read + 1))
    alpha[:-1, :-1] = weights
    alpha[:-1, -1] = 1 - weights.sum(axis=1)
    return LabelledAlpha(alpha, (*read, _NULL), (*written, _NULL))
