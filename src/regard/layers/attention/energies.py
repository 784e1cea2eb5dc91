"""The attentions, one class per energy, and `build_attention`, which builds one from the names of its parts.

Additive is the alignment model of RNNsearch (Bahdanau et al. 2015, A.1.2); concat, dot and bilinear ("general") are
those of Luong et al. 2015 (§3.1); the projections and heads are those of Vaswani et al. 2017. To add an energy, write
a subclass of `Attention` and add a line to `ENERGIES`.
"""

from collections.abc import Callable
from typing import ClassVar

import torch
from torch import Tensor, nn

from regard.errors import ConfigError, nearest
from regard.layers.attention.attention import NORMALIZERS, Attention, EnergyWeights
from regard.layers.attention.windows import WINDOWS
from regard.ops.affine import affine
from regard.ops.attention import (
    additive_energies,
    bilinear_energies,
    bilinear_keys,
    concat_energies,
    concat_keys,
    concat_queries,
    covered_energies,
    dot_energies,
    head_contexts,
    head_energies,
    scaled_dot_energies,
)
from regard.ops.record import Equation, Equations
from regard.ops.shapes import Float


def _matrix(rows: int, columns: int) -> nn.Parameter:
    return nn.Parameter(nn.init.xavier_uniform_(torch.empty(rows, columns)))


def _vector(size: int) -> nn.Parameter:
    return nn.Parameter(torch.empty(size).uniform_(-(size**-0.5), size**-0.5))


class _TanhAttention(Attention):
    """An energy v_aᵀ tanh(…), with w_c C inside the tanh if coverage is on."""

    sized = covering = True

    def _add_vectors(self, size: int, coverage: bool) -> None:
        self.v_a = _vector(size)
        if coverage:
            self.w_c = _vector(size)

    def covered_score(
        self,
        projected: Float[Tensor, "B Q a"],
        keys: Float[Tensor, "B Tx a"],
        coverage: Float[Tensor, "B Q Tx"],
    ) -> Float[Tensor, "B Q Tx"]:
        """See `ops/attention/coverage`."""
        assert self.w_c is not None, "this attention has no coverage"
        return covered_energies(projected, keys, self.v_a, self.w_c, coverage)


class Additive(_TanhAttention):
    """e_ij = v_aᵀ tanh(W_a s_{i−1} + U_a h_j), the alignment model of Bahdanau et al. 2015 (A.1.2).

    With coverage, e_ij = v_aᵀ tanh(W_a s_{i−1} + U_a h_j + w_c C_{i−1,j}), C the sum of the alphas so far.

        context, alpha, _ = Additive(n, d, a)(query, annotations, mask)

    query (B, Ty, n), annotations (B, Tx, d), mask (B, Tx); context (B, Ty, d), alpha (B, Ty, Tx).

    Args:
        query_size: n; None for queries that come as W_a s already.
        annotation_size: 2n for a bidirectional encoder.
        size: a, the alignment units (the paper's n′).
        coverage: whether the energies see the sum of the alphas so far (see `ops/attention/coverage`).
    """

    W_a: nn.Parameter | None
    equations: ClassVar[Equations] = {
        "query": Equation("q_t = W_a s_{t−1}"),
        "keys": Equation("k_j = U_a h_j"),
        "energies": Equation("e_tj = v_aᵀ tanh(W_a s_{t−1} + U_a h_j)", axis="source"),
        "covered": Equation("e_tj = v_aᵀ tanh(W_a s_{t−1} + U_a h_j + w_c C_tj)", axis="source"),
    }

    def __init__(
        self, query_size: int | None, annotation_size: int, size: int, coverage: bool = False
    ) -> None:
        super().__init__(query_size, annotation_size, query_width=size)
        self.register_parameter("W_a", None if query_size is None else _matrix(size, query_size))
        self.U_a = _matrix(size, annotation_size)
        self._add_vectors(size, coverage)

    def keys(self, annotations: Float[Tensor, "B Tx d"]) -> Float[Tensor, "B Tx a"]:
        """U_a h_j."""
        return affine(annotations, self.U_a, packed=self.packed)

    def queries(self, query: Float[Tensor, "B Q n"]) -> Float[Tensor, "B Q a"]:
        """W_a s_{i−1}."""
        return query if self.W_a is None else affine(query, self.W_a, packed=self.packed)

    def energy_weights(self) -> EnergyWeights:
        """W_a, U_a and v_a."""
        return EnergyWeights(self.W_a, self.U_a, self.v_a)

    def score(
        self, projected: Float[Tensor, "B Q a"], keys: Float[Tensor, "B Tx a"]
    ) -> Float[Tensor, "B Q Tx"]:
        """See `ops/attention/additive`."""
        return additive_energies(projected, keys, self.v_a)


class Concat(_TanhAttention):
    """e_ij = v_aᵀ tanh(W_a [s; h_j]) with one matrix over both (Luong et al. 2015, §3.1).

    Args:
        query_size: n; None for queries that come multiplied by their part of W_a already.
        annotation_size: the width of the annotations.
        size: a, the rows of W_a.
        coverage: whether the energies see the sum of the alphas so far (see `ops/attention/coverage`).
    """

    equations: ClassVar[Equations] = {
        "energies": Equation("e_tj = v_aᵀ tanh(W_a [s_{t−1}; h_j])", axis="source"),
        "covered": Equation("e_tj = v_aᵀ tanh(W_a [s_{t−1}; h_j] + w_c C_tj)", axis="source"),
        "query": Equation("q_t = W_a^{(s)} s_{t−1}"),
        "keys": Equation("k_j = W_a^{(h)} h_j"),
    }

    def __init__(
        self, query_size: int | None, annotation_size: int, size: int, coverage: bool = False
    ) -> None:
        super().__init__(query_size, annotation_size, query_width=size)
        columns = (query_size or 0) + annotation_size
        self.W_a = _matrix(size, columns)
        self._add_vectors(size, coverage)

    @property
    def _as_printed(self) -> bool:
        """Whether the energy is computed as printed, one matrix over [s; h_j], and not from two products."""
        return self.query_size is not None and self.w_c is None

    def keys(self, annotations: Float[Tensor, "B Tx d"]) -> Float[Tensor, "B Tx p"]:
        """The annotations' part of W_a [s; h_j]."""
        if self._as_printed:
            return concat_keys(annotations, self.W_a)
        return affine(annotations, self.W_a[:, -self.annotation_size :])

    def queries(self, query: Float[Tensor, "B Q n"]) -> Float[Tensor, "B Q p"]:
        """The query's part of W_a [s; h_j]."""
        if self._as_printed:
            return concat_queries(query, self.W_a)
        return query if self.query_size is None else query @ self.W_a[:, : self.query_size].T

    def energy_weights(self) -> EnergyWeights:
        """The two parts of W_a, and v_a: a product over [s; h_j] is a sum of two."""
        W_q = None if self.query_size is None else self.W_a[:, : self.query_size]
        W_k = self.W_a[:, -self.annotation_size :]
        return EnergyWeights(W_q, W_k, self.v_a, as_printed=self._as_printed)

    def score(
        self, projected: Float[Tensor, "B Q p"], keys: Float[Tensor, "B Tx k"]
    ) -> Float[Tensor, "B Q Tx"]:
        """See `ops/attention/concat`."""
        if self._as_printed:
            return concat_energies(projected, keys, self.W_a, self.v_a)
        return additive_energies(projected, keys, self.v_a)


class Dot(Attention):
    """e_ij = sᵀ h_j (Luong et al. 2015, §3.1); the state must be as wide as the annotations.

    Args:
        query_size: n; None for queries that come as wide as the annotations already.
        annotation_size: the width of the annotations.

    Raises:
        ConfigError: the widths differ.
    """

    equations: ClassVar[Equations] = {"energies": Equation("e_tj = s_{t−1}ᵀ h_j", axis="source")}

    def __init__(self, query_size: int | None, annotation_size: int) -> None:
        super().__init__(query_size, annotation_size, query_width=annotation_size)
        if query_size not in (None, annotation_size):
            raise ConfigError(
                f"dot-product attention compares decoder states of {query_size} units with annotations of "
                f"{annotation_size}; make them equal (a bidirectional encoder's annotations are twice its "
                "state_size wide), or use the bilinear energy"
            )

    def keys(self, annotations: Float[Tensor, "B Tx d"]) -> Float[Tensor, "B Tx d"]:
        """The annotations themselves."""
        return annotations

    def energy_weights(self) -> EnergyWeights:
        """Neither query nor keys are multiplied."""
        return EnergyWeights(None, None)

    def score(
        self, projected: Float[Tensor, "B Q n"], keys: Float[Tensor, "B Tx n"]
    ) -> Float[Tensor, "B Q Tx"]:
        """See `ops/attention/dot`."""
        return dot_energies(projected, keys)


class ScaledDot(Dot):
    """e_ij = sᵀ h_j / √p, p the width of both (Vaswani et al. 2017); arguments as for `Dot`."""

    equations: ClassVar[Equations] = {"energies": Equation("e_tj = s_{t−1}ᵀ h_j / √p", axis="source")}

    def score(
        self, projected: Float[Tensor, "B Q n"], keys: Float[Tensor, "B Tx n"]
    ) -> Float[Tensor, "B Q Tx"]:
        """See `ops/attention/dot`."""
        return scaled_dot_energies(projected, keys)

    def energy_weights(self) -> EnergyWeights:
        """1/√p."""
        return EnergyWeights(None, None, scale=self.annotation_size**-0.5)


class Bilinear(Attention):
    """e_ij = sᵀ W_a h_j, called "general" by Luong et al. 2015 (§3.1).

    Args:
        query_size: n; None for queries that come as W_aᵀ s already, which leaves a dot product.
        annotation_size: the width of the annotations.
    """

    W_a: nn.Parameter | None
    equations: ClassVar[Equations] = {"energies": Equation("e_tj = s_{t−1}ᵀ W_a h_j", axis="source")}

    def __init__(self, query_size: int | None, annotation_size: int) -> None:
        super().__init__(query_size, annotation_size, query_size or annotation_size)
        self.register_parameter("W_a", None if query_size is None else _matrix(query_size, annotation_size))

    def keys(self, annotations: Float[Tensor, "B Tx d"]) -> Float[Tensor, "B Tx p"]:
        """W_a h_j."""
        return annotations if self.W_a is None else bilinear_keys(annotations, self.W_a, self.packed)

    def energy_weights(self) -> EnergyWeights:
        """W_a is the keys'."""
        return EnergyWeights(None, self.W_a, as_printed=self.W_a is not None)

    def score(
        self, projected: Float[Tensor, "B Q n"], keys: Float[Tensor, "B Tx p"]
    ) -> Float[Tensor, "B Q Tx"]:
        """See `ops/attention/bilinear`."""
        if self.W_a is None:
            return dot_energies(projected, keys)
        return bilinear_energies(projected, keys, self.W_a)


class QueryKey(Attention):
    """e_ij = (W_Q s)ᵀ(W_K h_j) and c_i = Σ_j α_ij h_j: the align of lecture 1 with linear maps.

    Of the projections of Vaswani et al. 2017 these are two; there is neither 1/√p nor W_V.

    Args:
        query_size: n; None for queries that come as W_Q s already.
        annotation_size: d.
        size: p, the width of queries and keys.
    """

    sized = True
    equations: ClassVar[Equations] = {
        "query": Equation("q_t = W_Q s_{t−1}"),
        "keys": Equation("k_j = W_K h_j"),
        "energies": Equation("e_tj = q_tᵀ k_j", axis="source"),
    }
    W_Q: nn.Parameter | None

    def __init__(self, query_size: int | None, annotation_size: int, size: int) -> None:
        super().__init__(query_size, annotation_size, query_width=size)
        self.register_parameter("W_Q", None if query_size is None else _matrix(size, query_size))
        self.W_K = _matrix(size, annotation_size)

    @property
    def scale(self) -> float:
        """The factor of the dot products."""
        return 1.0

    def keys(self, annotations: Float[Tensor, "B Tx d"]) -> Float[Tensor, "B Tx p"]:
        """W_K h_j."""
        return affine(annotations, self.W_K, packed=self.packed)

    def queries(self, query: Float[Tensor, "B Q n"]) -> Float[Tensor, "B Q p"]:
        """W_Q s."""
        return query if self.W_Q is None else affine(query, self.W_Q, packed=self.packed)

    def energy_weights(self) -> EnergyWeights:
        """W_Q, W_K and the scale."""
        return EnergyWeights(self.W_Q, self.W_K, scale=self.scale)

    def score(
        self, projected: Float[Tensor, "B Q p"], keys: Float[Tensor, "B Tx p"]
    ) -> Float[Tensor, "B Q Tx"]:
        """See `ops/attention/query_key_value`, not scaled."""
        return dot_energies(projected, keys)


class QueryKeyValue(QueryKey):
    """e_ij = (W_Q s)ᵀ(W_K h_j)/√p and c_i = Σ_j α_ij W_V h_j, with several heads joined by W_O.

    The projections and heads are those of Vaswani et al. 2017, applied to recurrent states. Each head has an equal
    share of the rows of W_Q, W_K and W_V, and its energies are divided by √(p/H). The values of all heads together are
    as wide as the annotations, unless another width r is given, and so is the context. With one head there is no W_O,
    as in the lectures.

    Args:
        query_size: n; None for queries that come as W_Q s already.
        annotation_size: d.
        size: p, the width of queries and keys, all heads together; a multiple of the heads.
        heads: H.
        scaled: whether the energies are divided by √(p/H).
        value_size: r, the width of values and context, a multiple of the heads; 0 for d.

    Raises:
        ConfigError: a width does not divide among the heads.
    """

    equations: ClassVar[Equations] = {
        **QueryKey.equations,
        "values": Equation("v_j = W_V h_j"),
        "context": Equation("c_t = Σ_j α_tj v_j"),
    }
    W_O: nn.Parameter | None

    def __init__(
        self,
        query_size: int | None,
        annotation_size: int,
        size: int,
        heads: int = 1,
        *,
        scaled: bool = True,
        value_size: int = 0,
    ) -> None:
        super().__init__(query_size, annotation_size, size)
        r = self.context_size = value_size or annotation_size
        if size % heads or r % heads:
            raise ConfigError(
                f"{heads} heads cannot share queries of {size} units and values of {r}; make both multiples of the "
                "number of heads"
            )
        self.heads = heads
        self.scaled = scaled
        self.W_V = _matrix(r, annotation_size)
        self.register_parameter("W_O", None if heads == 1 else _matrix(r, r))

    @property
    def scale(self) -> float:
        """The factor of the dot products: 1/√(p/H), or 1."""
        return float((self.query_width // self.heads) ** -0.5) if self.scaled else 1.0

    def written(self) -> dict[str, Equation]:
        """The energies with their scale, where there is one."""
        equations = super().written()
        if self.scaled:
            equations["energies"] = Equation("e_tj = q_tᵀ k_j / √p", axis="source")
        return equations

    def values(self, annotations: Float[Tensor, "B Tx d"]) -> Float[Tensor, "B Tx r"]:
        """W_V h_j."""
        return affine(annotations, self.W_V, packed=self.packed)

    def score(
        self, projected: Float[Tensor, "B Q p"], keys: Float[Tensor, "B Tx p"]
    ) -> Float[Tensor, "B HQ Tx"]:
        """See `ops/attention/query_key_value`."""
        return head_energies(projected, keys, self.heads, self.scaled)

    def energy_weights(self) -> EnergyWeights:
        """Of one head; of several, `fast_weights` are none."""
        return super().energy_weights()

    def mix(self, alpha: Float[Tensor, "B HQ Tx"], values: Float[Tensor, "B Tx r"]) -> Float[Tensor, "B Q r"]:
        """The heads' contexts side by side, and W_O over them."""
        contexts = head_contexts(alpha, values, self.heads)
        return contexts if self.W_O is None else affine(contexts, self.W_O, packed=self.packed)


ENERGIES: dict[str, type[Attention]] = {
    "additive": Additive,
    "concat": Concat,
    "dot": Dot,
    "scaled-dot": ScaledDot,
    "bilinear": Bilinear,
    "general": Bilinear,
    "qk": QueryKey,
    "qkv": QueryKeyValue,
}
"""The attentions by the name of their energy; "general" is the name of Luong et al. 2015 for bilinear."""


def is_sized(energy: str) -> bool:
    """Whether an energy of `ENERGIES` has a size, its alignment units or the width of its queries and keys."""
    return ENERGIES[energy].sized


def is_covering(energy: str) -> bool:
    """Whether coverage can be added to an energy of `ENERGIES`."""
    return ENERGIES[energy].covering


def build_attention(
    energy: str,
    query_size: int | None,
    annotation_size: int,
    size: int,
    *,
    heads: int = 1,
    normalizer: str = "softmax",
    window: str = "global",
    window_size: int = 10,
    coverage: bool = False,
    scaled: bool = True,
    value_size: int = 0,
) -> Attention:
    """Build an attention from its parts.

    Args:
        energy: one of `ENERGIES`.
        query_size: n; None for queries that come projected.
        annotation_size: d.
        size: a, the alignment units, or the width of projected queries and keys; ignored by an energy without a size.
        heads: the number of heads, of the energy qkv.
        normalizer: one of `NORMALIZERS`.
        window: one of `WINDOWS`; local-p needs to know the query's size.
        window_size: D of a local window.
        coverage: whether the energies see the sum of the alphas so far.
        scaled: whether the energies of qkv are divided by √p.
        value_size: r, the width of the values of qkv; 0 for that of the annotations.

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
        allowed = " and ".join(filter(is_covering, ENERGIES))
        raise ConfigError(f"attention: coverage is allowed with {allowed}, not with {energy!r}")
    if energy != "qkv" and (heads > 1 or value_size or not scaled):
        what = f"{heads} heads are" if heads > 1 else "value_size is" if value_size else "scaled = false is"
        raise ConfigError(f"attention: {what} allowed with 'qkv', not with {energy!r}")
    if query_size is None and window != "global":
        raise ConfigError(f"attention: the window {window!r} needs queries that come unprojected")
    kind: Callable[..., Attention] = ENERGIES[energy]
    options: dict[str, int | bool] = {"coverage": True} if coverage else {}
    if energy == "qkv":
        options = {"heads": heads, "scaled": scaled, "value_size": value_size}
    attention = kind(query_size, annotation_size, *((size,) if is_sized(energy) else ()), **options)
    attention.normalize = NORMALIZERS[normalizer]
    attention.window = WINDOWS[window](query_size or 0, window_size)
    return attention
