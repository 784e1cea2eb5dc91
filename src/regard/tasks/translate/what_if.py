"""`WhatIf`: one line translated twice, as it is and under an intervention.

In: both translations and the intervention. Out: where they diverge, how attention moved, a figure, JSON. Knows
nothing of models, tokenizers or tensors.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from regard.tasks.result import PlottedResult
from regard.tasks.translate.result import Translation

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False)
class WhatIf(PlottedResult):
    """A translation before and after an intervention.

    Attributes:
        before: of the line as given, without constraints.
        after: of the line with its words swapped, under the constraints.
        attend: target step → the source position whose alpha was forced to 1, both counted from 0.
        prefix: the forced first words.
        swap: position among the words of the line, counted from 0 → the word that replaces it.
        include: the required phrases.
        exclude: the excluded phrases.
    """

    before: Translation
    after: Translation
    attend: Mapping[int, int] = field(default_factory=dict)
    prefix: str = ""
    swap: Mapping[int, str] = field(default_factory=dict)
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.before.text} → {self.after.text}"

    def __repr__(self) -> str:
        return f"WhatIf({self.before.text!r} → {self.after.text!r})"

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> WhatIf:
        """Read what `to_json` gives."""
        return cls(
            before=Translation.from_json(values["before"]),
            after=Translation.from_json(values["after"]),
            attend={int(step): position for step, position in values["attend"].items()},
            prefix=values["prefix"],
            swap={int(word): other for word, other in values["swap"].items()},
            include=tuple(values["include"]),
            exclude=tuple(values["exclude"]),
        )

    @property
    def changed(self) -> bool:
        """Whether the two translations differ."""
        return self.before.tokens != self.after.tokens

    @property
    def divergence(self) -> int | None:
        """The first step at which the two translations have different tokens; None where they are the same."""
        pairs = zip(self.before.tokens, self.after.tokens, strict=False)
        return next((step for step, (before, after) in enumerate(pairs) if before != after), None)

    @property
    def unreached(self) -> tuple[int, ...]:
        """Steps of forced attention that the translation never reached."""
        return tuple(step for step in sorted(self.attend) if step >= len(self.after.tokens))

    @cached_property
    def alpha_difference(self) -> NDArray[np.float64] | None:
        """Alpha after minus alpha before, (steps of the shorter, Tx), from −1 to 1.

        None without attention, and where the two sources differ in length.
        """
        before, after = self.before.alpha, self.after.alpha
        if before is None or after is None or before.shape[1] != after.shape[1]:
            return None
        steps = min(len(before), len(after))
        return after[:steps].astype(np.float64) - before[:steps].astype(np.float64)

    @property
    def step_labels(self) -> tuple[str, ...]:
        """The tokens at each step of the shorter: one, or two with an arrow between them where they differ."""
        from regard.plots.text import before_and_after

        pairs = zip(self.before.tokens, self.after.tokens, strict=False)
        return tuple(
            before if before == after else before_and_after(before, after) for before, after in pairs
        )

    def figure(self) -> Figure:
        """Draw both attentions side by side, forced positions outlined, and their difference."""
        from regard.plots.figures.heatmap import draw_what_if

        return draw_what_if(self)

    def _repr_html_(self) -> str:
        """Both translations with their attention, for a notebook."""
        return f"<div>{self.before._repr_html_()}{self.after._repr_html_()}</div>"

    def to_json(self) -> dict[str, Any]:
        """Give everything as a JSON object: the intervention, both translations, and how attention moved."""
        moved = self.alpha_difference
        return {
            "attend": {str(step): position for step, position in sorted(self.attend.items())},
            "prefix": self.prefix,
            "swap": {str(place): word for place, word in sorted(self.swap.items())},
            "include": list(self.include),
            "exclude": list(self.exclude),
            "changed": self.changed,
            "divergence": self.divergence,
            "before": self.before.to_json(),
            "after": self.after.to_json(),
            "alpha_difference": None if moved is None else np.round(moved, 4).tolist(),
        }
