"""Recurrences with a tape on a GPU: one launch for each pass, whatever the cell and the order of a step.

Additive energies or dot products, no dropout of states; widths that callers pad to multiples of 64. The steps' kernels
are in `forward_kernels` and `backward_kernels`, which are imported only where Triton is; here are the buffers they fill
and the large products after them. The tanh of the energies is recomputed in the backward pass.
"""

import torch
from torch import Tensor

from regard.ops.by_hand.cells import outer
from regard.ops.by_hand.reading import real_before
from regard.ops.by_hand.steps import Plan, tape_of
from regard.ops.differentiable import Passes, Tensors
from regard.ops.kernels.arguments import Cell, Made, Memory, MemoryGrads, Sizes, Taken, Widths, steps_of
from regard.ops.kernels.gather import key_gradients, read_values
from regard.ops.kernels.tiles import Tiles, launch, tiles_of

MATRICES = ("U", "R", "past_matrix", "source_matrix", "past_keys", "past_v", "source_v")


def _memories(plan: Plan, given: Tensors, kept: Tensors) -> tuple[Memory, Memory | None]:
    """The own tape and, in deep fusion, the source's, as the kernels of the forward pass take them."""
    memories = []
    for name, scale in (("past", plan.past_scale), ("source", plan.source_scale)):
        if f"{name} keys" in kept:
            marks = kept[f"{name} marks"]
            keys, contents, queries, alpha, reads = (
                kept[f"{name} {part}"] for part in ("keys", "contents", "queries", "alpha", "reads")
            )
            spans = 1 if marks.dim() > 2 else None
            v_a, matrix = given.get(f"{name}_v"), given.get(f"{name}_matrix")
            asked = (queries, alpha, reads, kept.get(f"{name} share"))
            memories.append(Memory(keys, contents, marks, spans, v_a, scale, matrix, *asked))
    return memories[0], memories[1] if len(memories) > 1 else None


def _sizes(plan: Plan, given: Tensors, kept: Tensors) -> tuple[Sizes, Widths, Tiles]:
    """What the kernels of both passes take that is no tensor."""
    (T, B, p), alpha = kept["past queries"].shape, kept["past alpha"]
    d, n = kept["past contents"].shape[2], given["U"].shape[1] // (1 + plan.recurrence.keeps)
    words = kept["source alpha"].shape[2] if "source alpha" in kept else 0
    sizes = Sizes(T, B, alpha.shape[2], alpha.shape[2] - T, words)
    g = len(given["U"]) + (n if "R" in given else 0)
    tiles = tiles_of(kept["past keys"], max(alpha.shape[2], words), n, p, d, given["U"].shape[1])
    return sizes, Widths(n, p, d, g), tiles


def _forward(plan: Plan, given: Tensors) -> tuple[Tensors, Tensors]:
    """All steps; see `by_hand.steps.prepare` for what comes in."""
    from regard.ops.tape.forward_kernels import forward_steps

    r, x, kept = plan.recurrence, given["x"], Tensors()
    assert r.past is not None
    first, (T, B, _), n = r.past.asks == "last read", x.shape, given["s0"].shape[1]
    own = int(not first)
    kept["past keys"], kept["past contents"] = tape_of(given["keys0"], T), tape_of(given["written0"], T)
    kept["past marks"] = _marks_of(given["valid"], T, r.past.span, own)
    if r.source is not None:
        kept["source keys"], kept["source contents"] = (
            given[f"source_{name}"].contiguous() for name in ("keys", "values")
        )
        kept["source marks"] = given["source_mask"].contiguous().view(torch.int8)
    given = given | {name: given[name].contiguous() for name in MATRICES if name in given}
    g = len(given["U"]) + (n if "R" in given else 0)
    column = g
    for name, start in (("past", "s0"), ("source", "reading0")):
        if f"{name} keys" not in kept:
            continue
        (_, slots, p), d = kept[f"{name} keys"].shape, kept[f"{name} contents"].shape[2]
        kept[f"{name} queries"], kept[f"{name} reads"] = x.new_empty(T, B, p), x.new_empty(T + own, B, d)
        kept[f"{name} alpha"] = x.new_empty(T, B, slots, dtype=torch.float32)
        if first:
            share = kept[f"{name} share"] = (
                given[start] @ given[f"{name}_matrix"].T
            ).float()  # S s_0, (B, p)
            kept[f"{name} queries"][0] = x[0, :, column : column + p] + share
            column += p
        else:
            kept["past reads"][0] = given["s0"]
    if r.has_memory:
        kept["gates"] = x.new_empty(T, B, g)
    if r.keeps:
        kept["states"] = x.new_empty(T + 1, B, n)
        kept["states"][0] = given["h0"]
    words = None
    if "real" in given:
        words = given["real"].contiguous().view(torch.int8) if first else _last_rows(given["real"])
    past, source = _memories(plan, given, kept)
    cell = Cell(given["U"], given.get("R"), given.get("past_keys"), kept.get("gates"), kept.get("states"))
    sizes, widths, tiles = _sizes(plan, given, kept)
    launch(
        forward_steps, x, 3, T, steps_of(x), words, past, source, cell, widths, *sizes,
        FIRST=first, TANH=r.cell != "lstm-plain", TILES=tiles, num_warps=tiles.warps,
    )  # fmt: skip
    reads, written, new = kept["past reads"], kept["past contents"], slice(sizes.first, None)
    summaries = reads[own:, :, :n]
    if first and "real" in given:
        kept["summaries"] = _held(torch.cat([given["s0"].unsqueeze(0), summaries]), given["real"])
        summaries = kept["summaries"][1:]
    made = {"states": written[:, new, :n].transpose(0, 1).clone(), "alpha": kept["past alpha"].to(x.dtype)}
    if r.source is not None:
        made["source_alpha"] = kept["source alpha"].to(x.dtype)
    else:
        made |= {"summaries": summaries.clone(), "keys": kept["past keys"][:, new].transpose(0, 1).clone()}
        if r.has_memory:
            made["memories"] = written[:, new, n:].transpose(0, 1).clone()
    again = (*MATRICES, "real", "s0", "reading0")
    return made, {name: given[name] for name in again if name in given} | kept


def _last_rows(real: Tensor) -> Tensor:
    """In which row of (T + 1) · B the last real word before a step left its state, (T, B)."""
    return (
        last_words(real)[:-1] * real.shape[1] + torch.arange(real.shape[1], device=real.device)
    ).contiguous()


def _backward(plan: Plan, kept: Tensors, taken: Tensors) -> Tensors:
    """From ∂/∂(what `_forward` made) to ∂/∂(what it was given)."""
    from regard.ops.tape.backward_kernels import backward_steps

    r, given = plan.recurrence, kept
    assert r.past is not None
    first = r.past.asks == "last read"
    (past, source), (sizes, widths, tiles) = _memories(plan, given, kept), _sizes(plan, given, kept)
    n, p, d, g = widths[:4]
    T, B, num_first = sizes.T, sizes.B, sizes.first
    # two of deep fusion's summands are the source's
    split, share = (
        _summands(tiles, len(given["U"]), p, 2 * (source is not None)) if first else (tiles.split, 0)
    )
    met = given["U"].shape[1]
    queries, floats = past.queries, past.alpha
    carried = floats.new_zeros(B, met) if "real" in given else None
    grads = [
        MemoryGrads(
            torch.empty_like(memory.queries),
            torch.zeros_like(memory.alpha),
            queries.new_empty(B, T, d),
            floats.new_empty(parts, B, met),
            down,
        )
        for memory, parts, down in ((past, split + share, carried), (source, 2, None))
        if memory is not None
    ]
    made = Made(
        queries.new_empty(T, B, g), torch.empty_like(queries), floats.new_empty(B, d),
        floats.new_empty(B, n) if r.keeps else None,
    )  # fmt: skip
    # alpha is 0 wherever the mask was
    transposed = [
        memory and memory._replace(matrix=_transposed(memory.matrix), mask=None, spans=None)
        for memory in (past, source)
    ]
    U, R, U_a = (_transposed(given.get(name)) for name in ("U", "R", "past_keys"))
    assert U is not None
    cell = Cell(U, R, U_a, kept.get("gates"))
    wanted = Taken(*(steps_of(taken.get(name)) for name in Taken._fields))
    d_alphas = tuple(None if d is None else d.contiguous() for d in map(taken.get, ("alpha", "source_alpha")))
    real = given["real"].contiguous().view(torch.int8) if "real" in given else None
    launch(
        backward_steps, queries, 3, T + first, real, *transposed, cell, wanted, d_alphas, made, grads[0],
        grads[1] if source is not None else None, widths, *sizes, FIRST=first, TANH=r.cell != "lstm-plain",
        SPLIT=split, SHARE=share, TILES=tiles, num_warps=tiles.warps,
    )  # fmt: skip
    d_past = grads[0]
    h = past.contents[:, num_first:, :n].transpose(0, 1)
    reads = kept["past reads"][..., :n]
    found: dict[str, Tensor | None] = {}
    found["keys0"], found["past_v"] = key_gradients(past, d_past.energy, num_first)
    found["written0"] = read_values(past.alpha[:, :, :num_first], d_past.reads)
    found["past_keys"] = outer(made.key, h) if "past_keys" in given else None
    d_x = [made.gates]
    if first:
        d_x += [each.queries for each in grads]
        asked = kept["summaries"] if "summaries" in kept else torch.cat([given["s0"].unsqueeze(0), reads])
        found["U"] = outer(made.gates[..., : len(given["U"])], reads)
        found["past_matrix"] = outer(d_past.queries, asked[:-1])
        d_s0 = d_past.queries[0] @ given["past_matrix"]
        found["s0"] = d_s0 if carried is None else d_s0 + carried.to(queries.dtype)
    else:
        last = _last_rows(given["real"])
        before = [x.flatten(0, 1)[last] for x in ((reads, kept["states"]) if r.keeps else (reads,))]
        found["U"] = outer(made.gates, torch.cat(before, dim=-1))
        found["past_matrix"] = outer(d_past.queries, h) if "past_matrix" in given else None
        assert carried is not None
        assert d_past.partial is not None
        d_before = (carried + d_past.partial.sum(dim=0)).to(queries.dtype)
        found |= {"s0": d_before[:, :n], "h0": d_before[:, n:] if r.keeps else None}
    if source is not None:
        found["source_keys"], found["source_v"] = key_gradients(source, grads[1].energy, sizes.words)
        found["source_values"] = read_values(source.alpha, grads[1].reads)
        readings = kept["source reads"][..., :n]
        found["R"] = outer(made.gates[..., 4 * n :], readings)
        asked = torch.cat([given["reading0"].unsqueeze(0), readings[:-1]])
        found["source_matrix"] = outer(grads[1].queries, asked)
        found["reading0"] = grads[1].queries[0] @ given["source_matrix"]
    found["x"] = torch.cat(d_x, dim=-1)
    return {name: each for name, each in found.items() if each is not None}


PASSES = Passes(_forward, _backward)


def _transposed(matrix: Tensor | None) -> Tensor | None:
    return None if matrix is None else matrix.T.contiguous()


def _marks_of(valid: Tensor, num_steps: int, span: int, own: int) -> Tensor:
    """Which slots each step may read: (B, slots), or (T, B, slots) with a span, as bytes.

    Args:
        valid: (B, slots), True where a slot holds a real word; each of the last `num_steps` slots is a step's own.
        num_steps: T; a step looks no further than the slots written before it.
        span: how many real slots a row reads; 0 for all.
        own: 1 if a step reads the slot it has just written, too.
    """
    if not span:
        return valid.contiguous().view(torch.int8)
    slots = valid.shape[1]
    before = real_before(valid)  # (B, slots + 1)
    ends = before[:, slots - num_steps + own : slots + own].T.unsqueeze(-1)  # (T, B, 1)
    return (valid & (ends - before[:, :slots] <= span)).contiguous().view(torch.int8)


def _summands(tiles: Tiles, gates: int, query: int, others: int) -> tuple[int, int]:
    """Into how many summands ∂/∂s is cut: of the backward pass from the gates, and from the query, by their widths.

    `others` programs of each tile have something else to do.
    """
    split = tiles.split - others
    share = max(1, round(split * query / (gates + query)))
    return max(1, split - share), share


def _held(summaries: Tensor, real: Tensor) -> Tensor:
    """s_0 … s_T (T + 1, B, n), over padding (real: (T, B, 1)) as they were before it."""
    return summaries.gather(0, last_words(real).unsqueeze(-1).expand_as(summaries))


def last_words(real: Tensor) -> Tensor:
    """Before each step and after the last, (T + 1, B): how many steps there were up to the last real word."""
    steps = torch.arange(1, real.shape[0] + 1, device=real.device).unsqueeze(1)
    return torch.nn.functional.pad((steps * real.squeeze(-1)).cummax(dim=0).values, (0, 0, 1, 0))


def last_real(states: Tensor, initial: Tensor, real: Tensor) -> Tensor:
    """The state (B, n) after the last real word: of states (T, B, n), real (T, B, 1); the first if there is none."""
    rows = torch.arange(real.shape[1], device=real.device)
    return torch.cat([initial.unsqueeze(0), states])[last_words(real)[-1], rows]
