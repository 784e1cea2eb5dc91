"""An attention put together from its parts by their names: energy, normaliser, window, coverage."""

from collections.abc import Callable

from regard.errors import ConfigError, nearest
from regard.layers.attention.additive import Additive, Concat
from regard.layers.attention.attention import Attention, Normalizer
from regard.layers.attention.dot import Bilinear, Dot, ScaledDot
from regard.layers.attention.local import LocalM, LocalP, Window
from regard.layers.attention.query_key_value import QueryKeyValue
from regard.ops.attention import masked_softmax, sparsemax

ENERGIES: dict[str, Callable[..., Attention]] = {
    "additive": Additive,
    "concat": Concat,
    "dot": lambda query_size, annotation_size, size: Dot(query_size, annotation_size),
    "scaled-dot": lambda query_size, annotation_size, size: ScaledDot(query_size, annotation_size),
    "bilinear": lambda query_size, annotation_size, size: Bilinear(query_size, annotation_size),
    "qkv": QueryKeyValue,
}
"""(query size, annotation size, size) → the layer, and a fourth, the coverage, where the layer's class has `covering`.
A class that has `sized` is named here itself; what is made by a function has no size of its own."""

NORMALIZERS: dict[str, Normalizer] = {"softmax": masked_softmax, "sparsemax": sparsemax}

WINDOWS: dict[str, Callable[[int, int], Window | None]] = {
    "global": lambda query_size, reach: None,
    "local-m": lambda query_size, reach: LocalM(reach),
    "local-p": LocalP,
}
"""(query size, reach) → where a query may look."""


def is_sized(energy: str) -> bool:
    """Whether a size means something to an energy of `ENERGIES`, one's own among them."""
    return bool(getattr(ENERGIES[energy], "sized", False))


def is_covering(energy: str) -> bool:
    """Whether the coverage can join an energy of `ENERGIES`, one's own among them."""
    return bool(getattr(ENERGIES[energy], "covering", False))


def build_attention(
    energy: str,
    query_size: int | None,
    annotation_size: int,
    size: int,
    *,
    heads: int = 1,
    normalizer: str = "softmax",
    window: str = "global",
    reach: int = 10,
    coverage: bool = False,
) -> Attention:
    """Make an attention.

    Args:
        energy: one of `ENERGIES`.
        query_size: n; None for queries that come projected.
        annotation_size: d.
        size: alignment units, or the width of projected queries and keys.
        heads: of the energy qkv.
        normalizer: one of `NORMALIZERS`.
        window: one of `WINDOWS`; local-p needs to know the query's size.
        reach: D of a local window.
        coverage: whether the energies see what was attended to before.

    Raises:
        ConfigError: an unknown name, or parts that do not go together.
    """
    for what, name, known in (
        ("energy", energy, ENERGIES),
        ("normalizer", normalizer, NORMALIZERS),
        ("window", window, WINDOWS),
    ):
        if name not in known:
            raise ConfigError(f"attention: no {what} {name!r}; {nearest(name, known)}")
    if coverage and not is_covering(energy):
        legal = " and ".join(filter(is_covering, ENERGIES))
        raise ConfigError(f"attention: coverage is legal with {legal}, not with {energy!r}")
    if heads > 1 and energy != "qkv":
        raise ConfigError(f"attention: {heads} heads are legal with 'qkv', not with {energy!r}")
    if query_size is None and window != "global":
        raise ConfigError(f"attention: the window {window!r} needs queries that come unprojected")
    if heads > 1:
        attention: Attention = QueryKeyValue(query_size, annotation_size, size, heads)
    elif coverage:
        attention = ENERGIES[energy](query_size, annotation_size, size, True)
    else:
        attention = ENERGIES[energy](query_size, annotation_size, size)
    attention.normalize = NORMALIZERS[normalizer]
    attention.window = WINDOWS[window](query_size or 0, reach)
    return attention
