"""An LSTM that attends to the source on a GPU, RNNsearch's or with input feeding: one launch for each pass.

Additive energies or dot products, no dropout of states; widths that callers pad to multiples of 64. The steps' kernels
are in `forward_kernels` and `backward_kernels`, which are imported only where Triton is; here are the buffers they
fill, the tiles they take, and the large products after them. The tanh of additive energies is computed again on the way
back.
"""

from dataclasses import replace

import torch
from torch import Tensor

from regard.ops.by_hand.cells import outer
from regard.ops.by_hand.steps import Plan
from regard.ops.differentiable import Passes, Tensors
from regard.ops.kernels.arguments import Cell, Memory, MemoryGrads, Sizes, Taken, Widths, steps_of
from regard.ops.kernels.gather import key_gradients, read_values
from regard.ops.kernels.tiles import Tiles, launch, narrow_columns, power_of, stream_of, tiles_of


def _source(plan: Plan, kept: Tensors) -> Memory:
    """The source and what the steps ask it, as kernels take it."""
    parts = (kept[name] for name in ("queries", "alpha", "reads"))
    given = (kept["source_keys"], kept["source_values"], kept["marks"], None, kept.get("source_v"))
    return Memory(*given, plan.source_scale, kept.get("asking"), *parts)


def _sizes(feeds: bool, kept: Tensors) -> tuple[Sizes, Widths, Tiles]:
    """What the kernels of both passes take that is no tensor.

    Where weights and source do not fit into the second cache together, the weights stay; with input feeding, where they
    fill half of it: a processor is near to one half, and what it reads from the other lies in both.
    """
    (T, B, q), (_, words, p) = kept["queries"].shape, kept["source_keys"].shape
    d, n = kept["source_values"].shape[2], kept["states"].shape[2]
    tiles = tiles_of(kept["source_keys"], words, n, q, d, n + d)
    if feeds:
        columns = narrow_columns(kept["source_keys"], B, q)
        tiles = replace(tiles, BQ=columns, BA=power_of(p), BJ=8 if d >= 1024 else 16)
    units = B * words * (p + d) + 4 * n * (n + d) + q * n
    tiles = replace(tiles, stream=stream_of(kept["source_keys"], units * (1 + feeds)))
    return Sizes(T, B, words=words), Widths(n, p, d, 4 * n, q), tiles


def _forward(plan: Plan, given: Tensors) -> tuple[Tensors, Tensors]:
    """All steps; see `by_hand.steps.prepare` for what comes in."""
    from regard.ops.attending.forward_kernels import forward_steps

    feeds, x = "F" in given, given["x"]
    (T, B, _), n = x.shape, given["U"].shape[1]
    R = given["F" if feeds else "C"].contiguous()
    again = ("source_keys", "source_values", "source_v", "U", "dropped")
    kept = {name: given[name].contiguous() for name in again if name in given}
    asking = [given[name] for name in ("source_matrix", "W_h") if name in given]
    kept |= {"R": R, "asking": torch.cat(asking).contiguous()}
    kept["marks"] = given["source_mask"].contiguous().view(torch.int8)
    kept["states"], kept["gates"] = x.new_empty(T + 1, B, n), x.new_empty(T, B, 4 * n)
    kept["memories"] = x.new_empty(T + 1, B, n, dtype=torch.float32)
    kept["states"][0], kept["memories"][0] = given["h0"], given["c0"]
    kept["queries"] = x.new_empty(T, B, len(kept["asking"]))
    kept["reads"] = x.new_empty(T + feeds, B, R.shape[1])
    if feeds:
        kept["reads"][0] = given["fed0"]
    kept["alpha"] = x.new_empty(T, B, given["source_keys"].shape[1], dtype=torch.float32)
    sizes, widths, tiles = _sizes(feeds, kept)
    cell = Cell(kept["U"], R, None, kept["gates"], kept["states"], kept["memories"])
    launch(
        forward_steps, x, 3, T, steps_of(x), _source(plan, kept), cell, steps_of(kept.get("dropped")), widths, B,
        sizes.words, FEEDS=feeds, OWN="source_matrix" in given, TILES=tiles, num_warps=tiles.warps,
    )  # fmt: skip
    made = {"source_alpha": kept["alpha"].to(x.dtype)}
    if feeds:
        return made | {"readouts": kept["reads"][1:]}, kept
    return made | {"states": kept["states"][1:], "contexts": kept["reads"]}, kept


def _backward(plan: Plan, kept: Tensors, taken: Tensors) -> Tensors:
    """From ∂/∂(what `_forward` made) to ∂/∂(what it was given)."""
    from regard.ops.attending.backward_kernels import backward_steps

    r = plan.recurrence
    feeds = r.source is not None and r.source.enters == "readout"
    source, (sizes, widths, tiles) = _source(plan, kept), _sizes(feeds, kept)
    n, p, d, _, q, _ = widths
    T, B = sizes.T, sizes.B
    states, memories, gates = kept["states"], kept["memories"], kept["gates"]
    own = not feeds or q > d
    W = torch.cat([kept["U"], kept["R"]], dim=1)  # (4n, n + d)
    partial = (memories.new_zeros if feeds else memories.new_empty)(tiles.split, B, n + d)
    grads = MemoryGrads(
        torch.empty_like(source.queries),
        torch.empty_like(source.alpha),
        source.queries.new_empty(0 if feeds else T, B, d),
        partial,
    )
    d_gates, d_initial, d_memory = (
        torch.empty_like(gates),
        torch.empty_like(memories[0]),
        torch.zeros_like(memories[0]),
    )
    d_asking = None if own else states.new_empty(T, B, n)
    wanted = Taken(
        states=steps_of(taken.get("states")) if own else steps_of(d_asking),
        reads=steps_of(taken.get("readouts" if feeds else "contexts")),
    )
    assert source.matrix is not None
    d_alpha = taken.get("source_alpha")
    launch(
        backward_steps, gates, 3, T + (not feeds), source._replace(matrix=source.matrix.T.contiguous()),
        Cell(W.T.contiguous(), None, None, gates, states, memories), steps_of(kept.get("dropped")), wanted,
        None if d_alpha is None else d_alpha.contiguous(), grads, d_asking, d_gates, d_initial, d_memory, widths, T, B,
        sizes.words, FEEDS=feeds, OWN=own, SPLIT=tiles.split, TILES=tiles, num_warps=tiles.warps,
    )  # fmt: skip
    d_read = grads.queries[..., q - d :] if feeds else grads.reads
    queries = (source.queries[..., :p] if own else states[1:]).contiguous()
    found: dict[str, Tensor | None] = {"x": d_gates, "U": outer(d_gates, states[:-1])}
    found["source_keys"], found["source_v"] = key_gradients(
        source._replace(queries=queries), grads.energy, sizes.words
    )
    found["source_values"] = read_values(source.alpha, d_read.transpose(0, 1))
    d_W = outer(grads.queries, states[int(feeds) :][:T])
    found["source_matrix"], found["c0"] = d_W[:p] if own else None, d_memory.to(states.dtype)
    if feeds:
        d_h0, d_fed0 = torch.split(d_gates[0] @ W, [n, d], dim=1)
        found |= {"W_h": d_W[q - d :], "F": outer(d_gates, kept["reads"][:-1]), "h0": d_h0, "fed0": d_fed0}
    else:
        found |= {"C": outer(d_gates, kept["reads"]), "h0": d_initial.to(states.dtype)}
    return {name: each for name, each in found.items() if each is not None}


PASSES = Passes(_forward, _backward)
