"""The parts of an attention by name (energy, normaliser, window), and the attention built from them."""

from collections.abc import Callable

from regard.errors import ConfigError, nearest
from regard.layers.attention.attention import Attention, Normalizer
from regard.layers.attention.energies import Additive, Bilinear, Concat, Dot, QueryKeyValue, ScaledDot
from regard.layers.attention.windows import LocalM, LocalP, Window
from regard.ops.attention import masked_softmax, sparsemax

ENERGIES: dict[str, Callable[..., Attention]] = {
    "additive": Additive,
    "concat": Concat,
    "dot": lambda query_size, annotation_size, size: Dot(query_size, annotation_size),
    "scaled-dot": lambda query_size, annotation_size, size: ScaledDot(query_size, annotation_size),
    "bilinear": lambda query_size, annotation_size, size: Bilinear(query_size, annotation_size),
    "qkv": QueryKeyValue,
}
"""(query size, annotation size, size) → the layer; a class that is `covering` takes the coverage as a fourth argument.
A class that is `sized` is named here itself; an energy made by a function has no size."""

NORMALIZERS: dict[str, Normalizer] = {"softmax": masked_softmax, "sparsemax": sparsemax}

WINDOWS: dict[str, Callable[[int, int], Window | None]] = {
    "global": lambda query_size, reach: None,
    "local-m": lambda query_size, reach: LocalM(reach),
    "local-p": LocalP,
}
"""(query size, reach) → where a query may attend."""


def is_sized(energy: str) -> bool:
    """Whether an energy of `ENERGIES` has a size."""
    return bool(getattr(ENERGIES[energy], "sized", False))


def is_covering(energy: str) -> bool:
    """Whether an energy of `ENERGIES` can see the coverage."""
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
    """Build an attention from its parts.

    Args:
        energy: one of `ENERGIES`.
        query_size: n; None for queries that come projected.
        annotation_size: d.
        size: alignment units, or the width of projected queries and keys.
        heads: of the energy qkv.
        normalizer: one of `NORMALIZERS`.
        window: one of `WINDOWS`; local-p needs to know the query's size.
        reach: D of a local window.
        coverage: whether the energies see the sum of the alphas so far.

    Raises:
        ConfigError: an unknown name, or parts that cannot be combined.
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
