"""How links are read out of attention: the strongest or all strong ones, of one direction or of two.

In: alpha over words of a pair, read source→target and, where there is a second model, target→source. Out:
`Links`. Knows nothing of the models that attended.
"""

from dataclasses import dataclass

from regard.errors import ConfigError, nearest
from regard.evaluation.alignment.links import (
    SYMMETRIZERS,
    argmax_links,
    check_threshold,
    flip,
    threshold_links,
)
from regard.evaluation.alignment.words import LabelledAlpha
from regard.text.links import Links


@dataclass(frozen=True)
class LinkRule:
    """What makes a link.

    Attributes:
        threshold: the least weight of a link; None links each target word to its strongest source word.
        symmetrize: how two directions become one, a name out of `SYMMETRIZERS`; None where there is but one.

    Raises:
        ConfigError: a threshold out of range, or an unknown name.
    """

    threshold: float | None = None
    symmetrize: str | None = None

    def __post_init__(self) -> None:
        if self.threshold is not None:
            check_threshold(self.threshold)
        if self.symmetrize is not None and self.symmetrize not in SYMMETRIZERS:
            hint = nearest(self.symmetrize, SYMMETRIZERS)
            raise ConfigError(f"symmetrize = {self.symmetrize!r}: there is no such rule; {hint}")

    def links(self, forward: LabelledAlpha | None, backward: LabelledAlpha | None = None) -> Links:
        """Link the words of one pair, as (source, target).

        Args:
            forward: the attention of a source→target model, as `Translation.word_alpha` has it; None, that of a
                blank pair, has no links.
            backward: the attention of a target→source model; looked at only where two directions become one.
        """
        links = self._one_way(forward)
        if self.symmetrize is None:
            return links
        return SYMMETRIZERS[self.symmetrize](links, flip(self._one_way(backward)))

    def _one_way(self, attention: LabelledAlpha | None) -> Links:
        if attention is None:
            return frozenset()
        if self.threshold is None:
            return argmax_links(attention.alpha)
        return threshold_links(attention.alpha, self.threshold)
