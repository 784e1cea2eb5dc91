"""A sentence with one tag per word.

In: words, tags, probabilities. Out: `Tagging`: a plot, JSON. Knows nothing of models or of the meaning of tags.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from regard.errors import DataError
from regard.tasks.result import JsonResult, PlottedResult

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Tagging(PlottedResult, JsonResult):
    """A sentence and its tags.

    Attributes:
        words: in their order.
        tags: one per word.
        probabilities: of the tag of each word.
    """

    json_names = ("words", "tags", "probabilities")

    words: tuple[str, ...]
    tags: tuple[str, ...]
    probabilities: tuple[float, ...]

    def __post_init__(self) -> None:
        for name, given in (("tags", self.tags), ("probabilities", self.probabilities)):
            if len(given) != len(self.words):
                raise DataError(
                    f"tagging of {' '.join(self.words)!r}: {len(given)} {name} for {len(self.words)} words; "
                    "give one for each"
                )

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Tagging:
        """Read what `to_json` gives."""
        return cls(tuple(values["words"]), tuple(values["tags"]), tuple(values["probabilities"]))

    def __str__(self) -> str:
        return " ".join(self.tags)

    def figure(self, *, title: str | None = None) -> Figure:
        """Draw the words above their tags, with a title."""
        from regard.plots.figures.words import draw_tags

        return draw_tags([self], title=title)

    def _repr_html_(self) -> str:
        """The words above their tags, for a notebook."""
        from regard.plots.html import tags_html

        return tags_html(self.words, self.tags, self.probabilities)
