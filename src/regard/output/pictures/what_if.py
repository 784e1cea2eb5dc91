"""Attention before and after something was told, side by side, and what moved.

In: a `WhatIf`. Out: a matplotlib `Figure` of two heat maps, what was told outlined in the second, and a third of their
difference where the sources are of one length. Without attention, two lines of text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from regard.output.pictures.heatmap import HeatMap, sheet
from regard.output.translation import Translation
from regard.output.what_if import WhatIf
from regard.output.wording import hundredths
from regard.text.links import GoldLinks

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_what_if(what_if: WhatIf) -> Figure:
    """Draw both attentions, by tokens, as steps are.

    Args:
        what_if: before and after.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    told = frozenset((position, step) for step, position in what_if.attend.items())
    maps = [
        _map(what_if.before, "before"),
        _map(what_if.after, "after", GoldLinks(told, told) if told else None),
    ]
    moved = what_if.alpha_difference
    if moved is not None:
        maps.append(
            HeatMap(
                moved,
                what_if.after.source_tokens,
                what_if.step_labels,
                title="after less before: blue more, red less",
                signed=True,
            )
        )
    return sheet(maps, columns=len(maps))


def _map(translation: Translation, name: str, told: GoldLinks | None = None) -> HeatMap:
    title = f"{name}: score {hundredths(translation.score)}"
    if translation.alpha is None:
        return HeatMap(np.zeros((0, 0)), (), (), title=f"{title}, {translation.text}")
    return HeatMap(translation.alpha, translation.source_tokens, translation.tokens, told, title)
