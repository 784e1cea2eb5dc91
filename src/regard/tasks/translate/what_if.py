"""One line translated twice: as the model would, and as it does when something is told it.

In: both translations, and what was told. Out: `WhatIf`: where they part, how attention moved, a picture, JSON. Knows
nothing of models, tokenizers or tensors.

One line translated twice: as the model would, and as it does when something is told it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from regard.errors import ConfigError, DataError
from regard.search import SearchOptions
from regard.tasks.translate.constraints import Intervention, swapped
from regard.tasks.translate.result import Translation

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from regard.tasks.translate.predictor import Translator


@dataclass(frozen=True, eq=False)
class WhatIf:
    """A translation before and after something was told.

    Attributes:
        before: of the line as given, without being told anything.
        after: of the line with its words swapped, and as told.
        attend: target step → the source position whose alpha was told to be 1, both counted from 0.
        prefix: the words the translation had to begin with.
        swap: what stands instead of words of the line, by their places among the words, counted from 0.
        include: phrases it had to hold.
        exclude: phrases it could not hold.
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

    @property
    def changed(self) -> bool:
        """Whether the words came out differently."""
        return self.before.tokens != self.after.tokens

    @property
    def parting(self) -> int | None:
        """The first step at which the two say different words; None where they say the same."""
        pairs = zip(self.before.tokens, self.after.tokens, strict=False)
        return next((step for step, (one, other) in enumerate(pairs) if one != other), None)

    @property
    def unreached(self) -> tuple[int, ...]:
        """Steps that were told where to look and never came, since the translation had ended before."""
        return tuple(step for step in sorted(self.attend) if step >= len(self.after.tokens))

    @cached_property
    def alpha_difference(self) -> NDArray[np.float64] | None:
        """Alpha after less alpha before, (steps of the shorter, Tx), from −1 to 1.

        None without attention, and where the two sources differ in length.
        """
        before, after = self.before.alpha, self.after.alpha
        if before is None or after is None or before.shape[1] != after.shape[1]:
            return None
        steps = min(len(before), len(after))
        return after[:steps].astype(np.float64) - before[:steps].astype(np.float64)

    @property
    def step_labels(self) -> tuple[str, ...]:
        """What both said at each step of the shorter: a word, or two with an arrow between them."""
        pairs = zip(self.before.tokens, self.after.tokens, strict=False)
        return tuple(one if one == other else f"{one} → {other}" for one, other in pairs)

    def plot(self, path: str | PathLike[str] | None = None) -> Figure:
        """Draw both attentions side by side, what was told outlined, and their difference.

        Args:
            path: where to save the picture, its format by its ending; nowhere if None.

        Raises:
            MissingExtraError: matplotlib is not installed.
            DataError: the picture cannot be written.
        """
        from regard.plots.figures.canvas import save
        from regard.plots.figures.heatmap import draw_what_if

        figure = draw_what_if(self)
        if path is not None:
            save(figure, path)
        return figure

    def to_json(self) -> dict[str, Any]:
        """Give everything as a JSON object: what was told, both translations, and how attention moved."""
        moved = self.alpha_difference
        return {
            "attend": {str(step): position for step, position in sorted(self.attend.items())},
            "prefix": self.prefix,
            "swap": {str(place): word for place, word in sorted(self.swap.items())},
            "include": list(self.include),
            "exclude": list(self.exclude),
            "changed": self.changed,
            "parting": self.parting,
            "before": self.before.to_json(),
            "after": self.after.to_json(),
            "alpha_difference": None if moved is None else np.round(moved, 4).tolist(),
        }


def run_what_if(translator: "Translator", line: str, asked: Intervention, options: SearchOptions) -> WhatIf:
    """Translate a line before and after; see `Translator.what_if`.

    Args:
        translator: whose translations.
        line: what to translate.
        asked: what is to be different.
        options: how to search, both times.

    Raises:
        ConfigError: what is asked for cannot be done.
        DataError: the line is blank.
    """
    if not line.strip():
        raise DataError("what if: the line is blank; give it a word")
    if asked.attend and not translator.attends:
        raise ConfigError(
            "attend: this model has no attention that could be told where to look; ask for a prefix or a swap, or "
            "train one whose decoder is of kind bahdanau, luong or deep-fusion"
        )
    places = asked.places(line)
    told = swapped(line, places)
    ids, told_ids = translator.encode([line, told])
    constraints = asked.encode(told, told_ids, translator.source_tokenizer, translator.target_tokenizer)
    (before,) = translator.search([ids], options)
    (after,) = translator.search([told_ids], options, [constraints])
    return WhatIf(
        translator.rendered(line, ids, before.hypotheses),
        translator.rendered(told, told_ids, after.hypotheses),
        constraints.attend,
        asked.constraints.prefix,
        places,
        asked.constraints.include,
        asked.constraints.exclude,
    )
