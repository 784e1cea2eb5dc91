"""An attention layer as the recurrences in `ops` take it: by its weights where they have a fused form for it."""

from torch import Tensor

from regard.layers.attention import Additive, Attention, Bilinear, Concat, Dot, ScaledDot
from regard.ops.shapes import Bool, Float
from regard.ops.tape import AdditiveScoring, DotScoring, Scoring


class ByLayer:
    """Any attention, asked a step at a time."""

    def __init__(self, attention: Attention) -> None:
        self.attention = attention

    def keys(self, states: Float[Tensor, "B t n"]) -> Float[Tensor, "B t p"]:
        """See `Attention.keys`."""
        return self.attention.keys(states)

    def values(self, states: Float[Tensor, "B t n"]) -> Float[Tensor, "B t n"]:
        """See `Attention.values`."""
        return self.attention.values(states)

    def attend(
        self,
        query: Float[Tensor, "B Q p"],
        keys: Float[Tensor, "B t k"],
        values: Float[Tensor, "B t d"],
        mask: Bool[Tensor, "B t"],
    ) -> tuple[Float[Tensor, "B Q d"], Float[Tensor, "B Q t"]]:
        """See `Attention.forward`."""
        context, alpha, _ = self.attention(query, keys, values, mask)
        return context, alpha


def scoring_of(attention: Attention) -> Scoring:
    """The fused families by their weights; anything else, one's own among it, by its own methods."""
    if not attention.plain:
        return ByLayer(attention)
    match attention:
        case Additive() if type(attention) is Additive:
            return AdditiveScoring(attention.U_a, attention.v_a)
        case Concat() if type(attention) is Concat:
            return AdditiveScoring(attention.W_a[:, -attention.annotation_size :], attention.v_a)
        case ScaledDot() if type(attention) is ScaledDot:
            return DotScoring(None, attention.annotation_size**-0.5)
        case Dot() if type(attention) is Dot:
            return DotScoring()
        case Bilinear() if type(attention) is Bilinear:
            return DotScoring(attention.W_a)
    return ByLayer(attention)


def query_matrix_of(attention: Attention) -> Tensor | None:
    """What the query is multiplied by, where `scoring_of` gives a scoring that does not do so itself."""
    if isinstance(scoring_of(attention), AdditiveScoring):
        if isinstance(attention, Concat):
            return attention.W_a[:, : attention.query_size]
        assert isinstance(attention, Additive)
        return attention.W_a
    return None
