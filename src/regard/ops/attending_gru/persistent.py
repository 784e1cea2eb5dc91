"""RNNsearch's recurrence on a GPU: one launch for each pass, of the kernels in `ops/attending`.

Here are the buffers they fill, the tiles they take, and the large products before and after them. C multiplies the
annotations before the loop rather than the contexts inside it, and the contexts are one product after it: only the
readout needs them. Saved for the backward pass: states, gates, candidates, r ∘ s, queries and alpha; the tanh of the
energies is recomputed. Widths are padded with zeros to multiples of the tiles: a unit without weights stays at 0.
"""

from dataclasses import replace

import torch
from torch import Tensor

from regard.ops.by_hand.cells import outer
from regard.ops.by_hand.steps import Plan
from regard.ops.differentiable import Passes, Tensors
from regard.ops.kernels.arguments import Cell, Memory, MemoryGrads, Sizes, Taken, Widths, steps_of
from regard.ops.kernels.gather import key_gradients, read_values
from regard.ops.kernels.padding import cut, fitted
from regard.ops.kernels.tiles import WIDTH, Tiles, launch, narrow_columns, stream_of, tiles_of

MATRICES = ("source_matrix", "source_v", "U", "C")


def _source(kept: Tensors, matrix: Tensor) -> tuple[Memory, Sizes, Widths, Tiles]:
    """The source and what the steps ask it, as kernels take it, and what they take that is no tensor.

    Where weights and source do not fit into the second cache together, the weights stay.
    """
    keys, W, (T, B, words) = kept["keys"], kept["W"], kept["alpha"].shape
    n, a = W.shape[1], keys.shape[2]
    source = Memory(
        keys, kept["values"], kept["marks"], None, kept["v"], 1.0, matrix, kept["queries"], kept["alpha"]
    )  # fmt: skip
    stream = stream_of(keys, B * words * (a + 3 * n) + n * (3 * n + a))
    tiles = replace(tiles_of(keys, words, n, a, 3 * n, n), BJ=8, stream=stream)
    width = kept["source_matrix"].shape[1]
    return source, Sizes(T, B, words=words), Widths(n, a, 3 * n, 3 * n, a + 2 * n, width), tiles


def _forward(plan: Plan, given: Tensors) -> tuple[Tensors, Tensors]:
    """All steps; see `by_hand.steps.prepare` for what comes in."""
    from regard.ops.attending.forward_kernels import forward_steps

    x, W_a, dtype = given["x"], given["source_matrix"], given["source_keys"].dtype
    (T, B, _), (units, width), words = x.shape, W_a.shape, given["source_keys"].shape[1]
    n, a = (size + -size % WIDTH for size in (width, units))
    kept = {name: given[name] for name in MATRICES}
    kept["annotations"], kept["marks"] = (
        given["source_values"],
        given["source_mask"].contiguous().view(torch.int8),
    )
    keys = fitted(given["source_keys"].flatten(0, 1), 1, B * words, a, dtype)
    kept["keys"], kept["W"] = (
        keys.view(B, words, a),
        torch.cat([fitted(W_a, 1, a, n, dtype), fitted(given["U"], 3, n, n, dtype)]),
    )  # (a + 3n, n)
    kept["v"] = fitted(given["source_v"].unsqueeze(0), 1, 1, a, dtype).flatten()
    kept["C fitted"] = fitted(given["C"], 3, n, given["C"].shape[1], dtype)
    kept["values"] = kept["annotations"] @ kept["C fitted"].T  # (B, Tx, 3n)
    states, exact = x.new_empty(T + 1, B, n), x.new_zeros(B, n, dtype=torch.float32)
    exact[:, :width] = given["h0"]
    states[0] = exact
    kept["states"], kept["alpha"] = states, exact.new_empty(T, B, words)
    kept["gates"], kept["gated"], kept["queries"] = (x.new_empty(T, B, size) for size in (3 * n, n, a))
    source, _, widths, tiles = _source(kept, kept["W"])
    cell = Cell(
        kept["W"][a + 2 * n :], None, None, kept["gates"], states, gated=kept["gated"], exact=exact,
        shares=exact.new_empty(B, 3 * n),
    )  # fmt: skip
    launch(
        forward_steps, x, 3, T, steps_of(x), source, cell, None, widths, B, words, FEEDS=False, OWN=True,
        TILES=replace(tiles, BQ=narrow_columns(x, B, a, 2 * n)), num_warps=tiles.warps,
    )  # fmt: skip
    kept["weights"] = kept["alpha"].transpose(0, 1).to(dtype)  # (B, T, Tx)
    # Eq. 5
    contexts = torch.bmm(kept["weights"], kept["annotations"]).transpose(0, 1)
    alpha = kept["weights"].transpose(0, 1)
    return {"states": states[1:, :, :width], "contexts": contexts, "source_alpha": alpha}, kept


def _backward(plan: Plan, kept: Tensors, taken: Tensors) -> Tensors:
    """From ∂/∂(what `_forward` made) to ∂/∂(what it was given)."""
    from regard.ops.attending.backward_kernels import backward_steps

    n, a, (units, width) = kept["W"].shape[1], kept["keys"].shape[2], kept["source_matrix"].shape
    annotations, states, weights = kept["annotations"], kept["states"], kept["weights"]
    d_alpha, d_contexts = taken.get("source_alpha"), None
    if "contexts" in taken:
        d_contexts = taken["contexts"].transpose(0, 1)
        through = torch.bmm(d_contexts, annotations.transpose(1, 2)).transpose(0, 1)
        d_alpha = through if d_alpha is None else d_alpha + through
    W_q, W_g, W_c = (part.T.contiguous() for part in torch.split(kept["W"], [a, 2 * n, n]))
    source, sizes, widths, tiles = _source(kept, W_q)
    d_gates, d_query, d_energy = (torch.empty_like(kept[name]) for name in ("gates", "queries", "alpha"))
    d_state = torch.zeros_like(states[0], dtype=torch.float32)
    tiles = replace(tiles, BJ=16, BK=(256 if n % 128 == 0 else 128) // states.element_size())
    launch(
        backward_steps, states, 3, sizes.T + 1, source,
        Cell(W_g, W_c, None, kept["gates"], states, gated=kept["gated"]), None,
        Taken(states=steps_of(taken.get("states"))), None if d_alpha is None else d_alpha.contiguous(),
        MemoryGrads(d_query, d_energy, d_gates), None, d_gates, d_state, None, widths, sizes.T, sizes.B, sizes.words,
        FEEDS=False, OWN=True, SPLIT=1, TILES=tiles, num_warps=tiles.warps,
    )  # fmt: skip
    d_keys, d_v = key_gradients(source, d_energy, sizes.words)
    assert d_v is not None
    d_W, before = torch.empty_like(kept["W"]), states[:-1]
    for part, d, x in zip(
        torch.split(d_W, [a, 2 * n, n]),
        (d_query, *torch.split(d_gates, [2 * n, n], dim=2)),
        (before, before, kept["gated"]),
        strict=True,
    ):
        torch.mm(d.flatten(0, 1).T, x.flatten(0, 1), out=part)
    # δ(C h_j) = Σ_i α_ij δx_i
    d_values = read_values(source.alpha, d_gates.transpose(0, 1))  # (B, Tx, 3n)
    d_annotations = d_values @ kept["C fitted"]
    if d_contexts is not None:
        d_annotations.baddbmm_(weights.transpose(1, 2), d_contexts)
    d_x = torch.unflatten(d_gates, 2, (3, n))[..., :width]
    found = {"x": d_x.flatten(2), "h0": d_state[:, :width].to(states.dtype)}
    found |= {"source_keys": d_keys[..., :units], "source_values": d_annotations, "source_v": d_v[:units]}
    found |= {"source_matrix": cut(d_W[:a], 1, kept["source_matrix"]), "U": cut(d_W[a:], 3, kept["U"])}
    return found | {"C": cut(outer(d_values, annotations), 3, kept["C"])}


PASSES = Passes(_forward, _backward)
