"""The C backend: recurrences by kernels on the CPU, from a description to what the kernels take.

The loop over time runs in C, a share of the sentences to each thread. The gradients of the matrices are one large
product each, after the steps. Where U was packed for decoding, nothing is kept for a backward pass. The derivations are
in README.md of `ops`.
"""

import ctypes
from collections.abc import Mapping
from typing import NamedTuple

import torch
from torch import Tensor

from regard.ops.affine import affine
from regard.ops.backends import NO_DROPOUT, NO_KERNEL, OTHER_ENERGY
from regard.ops.by_hand.steps import fused_weights, project
from regard.ops.differentiable import Passes, Tensors, differentiable
from regard.ops.native.call import at, empty, flags, kernels, plain, source_of, threads_for, zeros
from regard.ops.native.choose import narrow_wanted
from regard.ops.native.packed import Packed
from regard.ops.native.product import product
from regard.ops.native.structs import CELLS, Source, Tape
from regard.ops.recurrence import Inputs, Outputs, Recurrence, Weights, parts_of
from regard.ops.tape.naive import cut
from regard.ops.unroll import State


def supports(recurrence: Recurrence, inputs: Inputs, weights: Weights) -> str:
    """Why no kernel computes a recurrence, whatever the device; empty if one does."""
    r, cell = recurrence, recurrence.cell
    if any(read.energy == "other" for read in r.reads):
        return OTHER_ENERGY
    if r.past is not None:
        known = CELLS[:4] if r.past.asks == "last read" else ("rnn", "rnn-sigmoid")
        return NO_KERNEL if r.source is not None or cell not in known else ""
    if inputs.state_mask is not None:
        return NO_DROPOUT
    if r.source is not None:
        if r.source.enters == "readout":
            return "" if cell == "lstm" else NO_KERNEL
        assert weights.source is not None
        return "" if cell in ("lstm", "gru") and weights.source.matrix is not None else NO_KERNEL
    return "" if cell == "gru" or cell in CELLS else NO_KERNEL


def run(recurrence: Recurrence, inputs: Inputs, weights: Weights, state: State) -> Outputs:
    """All steps of a recurrence; see `ops.run`."""
    if recurrence.past is not None:
        return _run_tape(recurrence, inputs, weights, state)
    if recurrence.source is not None:
        return (_run_attending if recurrence.source.enters == "gates" else _run_feeding)(
            recurrence, inputs, weights, state
        )
    projected, mask = project(inputs, weights), _mask_of(inputs)
    packed = None if weights.packed is None else weights.packed.of(weights.U)
    if packed is not None and recurrence.cell in DECODING:
        states = zeros(*mask.shape, packed.shape[1])
        return Outputs(
            states, _decode(recurrence.cell, projected, flags(mask), state, packed, states, inputs.reverse)
        )
    given = {"x": projected, "mask": mask, "h": state[0], "U": weights.U, "p": weights.p}
    given |= {"c": state[1] if recurrence.has_memory else None}
    made = differentiable(_PLAIN, _Options(recurrence, narrow_wanted(), inputs.reverse), given)
    return Outputs(made["states"], tuple(made[name] for name in ("h", "c") if name in made))


DECODING = ("lstm", "gru")
"""The cells that step with a packed U."""


def step(cell: str, projected: Tensor, state: State, U: Packed) -> State:
    """One step of a cell of `DECODING` from W x + b (B, gn), without a gradient."""
    return _decode(cell, projected.unsqueeze(1), None, state, U, None)


def _decode(
    cell: str,
    projected: Tensor,
    mask: Tensor | None,
    initial: State,
    U: Packed,
    states: Tensor | None,
    reverse: bool = False,
) -> State:
    """The last state, and h at each word written to `states`; nothing is kept for a backward pass."""
    last, projected = tuple(plain(part).clone() for part in initial), plain(projected)
    batch, num_steps, _ = projected.shape
    kernel = kernels().regard_lstm_read if cell == "lstm" else kernels().regard_gru_read
    kernel(
        U.place,
        *map(at, (projected, mask, states, *last)),
        batch,
        num_steps,
        int(reverse),
        threads_for(batch),
    )
    return last


class _Options(NamedTuple):
    """What the passes take beside tensors.

    Attributes:
        recurrence: which.
        narrow: whether products round their factors to bfloat16.
        reverse: read from the last position to the first.
        scale: of dot products.
    """

    recurrence: Recurrence
    narrow: bool
    reverse: bool = False
    scale: float = 1.0

    def summed(self, d: Tensor, x: Tensor, into: Tensor | None = None) -> Tensor:
        """Σ d xᵀ over all steps and sentences."""
        return product(d.flatten(0, 1).T, x.flatten(0, 1), narrow=self.narrow, into=into)

    def d_recurrent(self, d_gates: Tensor, kept: Tensors) -> Tensor:
        """∂/∂U; the GRU's candidate meets the state after its reset gate."""
        previous, n = kept["previous"], kept["previous"].shape[2]
        if "gated" not in kept:
            return self.summed(d_gates, previous)
        d_U = empty(3 * n, n)
        self.summed(d_gates[..., : 2 * n], previous, d_U[: 2 * n])
        self.summed(d_gates[..., 2 * n :], kept["gated"], d_U[2 * n :])
        return d_U


def _mask_of(inputs: Inputs) -> Tensor:
    if inputs.mask is not None:
        return inputs.mask
    return torch.ones(inputs.x.shape[:2], dtype=torch.bool, device="cpu")


def _plainly(given: Tensors) -> Tensors:
    """As kernels take them: float32, or flags, without gaps."""
    return {name: flags(each) if each.dtype == torch.bool else plain(each) for name, each in given.items()}


def _taken(taken: Tensors, like: Mapping[str, Tensor]) -> list[Tensor]:
    """∂/∂(what was made), by the names of `like`; zeros of its shapes for what nothing took."""
    return [plain(taken[name]) if name in taken else torch.zeros_like(each) for name, each in like.items()]


def _plain_forward(options: _Options, given: Tensors) -> tuple[Tensors, Tensors]:
    """From x (B, T, gn), mask (B, T), the first h (and c), U, p to states (B, T, n), the last h (and c)."""
    given = _plainly(given)
    x, mask, U = given["x"], given["mask"], given["U"]
    (batch, num_steps, _), n = x.shape, U.shape[1]
    shape, cell = (batch, num_steps, n), options.recurrence.cell
    states, kept = zeros(*shape), {"mask": mask, "U": U, "previous": zeros(*shape), "gates": empty(*x.shape)}
    last: Tensors = {name: given[name].clone() for name in ("h", "c") if name in given}
    sizes = (*shape, int(options.reverse), int(options.narrow), threads_for(batch))
    if cell == "gru":
        kept["gated"] = zeros(*shape)
        tensors = (x, mask, U, states, kept["previous"], kept["gated"], kept["gates"], last["h"])
        kernels().regard_gru(*map(at, tensors), *sizes)
    else:
        kept |= {name: given[name] for name in ("c", "p") if name in given}
        if "c" in given:
            kept["memories"] = empty(*shape)
        found = (states, kept["previous"], kept.get("memories"), kept["gates"], last["h"], last.get("c"))
        kernels().regard_recurrence(CELLS.index(cell), *map(at, (x, mask, U, *found, given.get("p"))), *sizes)
    return {"states": states, **last}, kept


def _plain_backward(options: _Options, kept: Tensors, taken: Tensors) -> Tensors:
    mask, U, previous, gates = (kept[name] for name in ("mask", "U", "previous", "gates"))
    d_x, batch, cell = torch.zeros_like(gates), len(mask), options.recurrence.cell
    d_states, dh = _taken(taken, {"states": previous, "h": previous[:, 0]})
    found = {"x": d_x, "h": dh.clone()}
    sizes = (*previous.shape, int(options.reverse), int(options.narrow), threads_for(batch))
    if cell == "gru":
        tensors = (d_states, mask, U, previous, gates, found["h"], d_x)
        kernels().regard_gru_back(*map(at, tensors), *sizes)
    else:
        c, memories, p = (kept.get(name) for name in ("c", "memories", "p"))
        if c is not None:
            found["c"] = _taken(taken, {"c": c})[0].clone()
        given = (d_states, mask, U, memories, gates, c, found["h"], found.get("c"), d_x, p)
        kernels().regard_recurrence_back(CELLS.index(cell), *map(at, given), *sizes)
        if p is not None and c is not None and memories is not None:
            found["p"] = _d_peepholes(d_x, c, memories, options.reverse)
    return found | {"U": options.d_recurrent(d_x, kept)}


def _d_peepholes(d_gates: Tensor, c0: Tensor, memories: Tensor, reverse: bool) -> Tensor:
    """∂/∂p (3n,): the memory before each step met i and f, the one after it o."""
    first, n = c0.unsqueeze(1), c0.shape[1]
    before = torch.cat([memories[:, 1:], first] if reverse else [first, memories[:, :-1]], dim=1)
    pairs = ((0, before), (1, before), (3, memories))
    return torch.cat([(d_gates[..., k * n : (k + 1) * n] * x).sum(dim=(0, 1)) for k, x in pairs])


_PLAIN = Passes(_plain_forward, _plain_backward)


def _asked(inputs: Inputs, weights: Weights) -> tuple[dict[str, Tensor | None], float]:
    """The source and how it is compared with, by name, and the scale of dot products."""
    assert inputs.source is not None
    assert weights.source is not None
    _, v_a, scale = fused_weights(weights.source.scoring)
    keys, values, mask, _ = inputs.source
    return {"keys": keys, "values": values, "mask": mask, "W_a": weights.source.matrix, "v_a": v_a}, scale


def _source(options: _Options, given: Tensors, num_steps: int, n: int) -> Source:
    parts = (given["keys"], given["values"], given["mask"], given.get("W_a"), given.get("v_a"))
    return source_of(*parts, num_steps, n, narrow=options.narrow, scale=options.scale)


def _run_attending(recurrence: Recurrence, inputs: Inputs, weights: Weights, state: State) -> Outputs:
    given, scale = _asked(inputs, weights)
    given |= {"x": project(inputs, weights), "h": state[0], "U": weights.U, "C": weights.C}
    given |= {"c": state[1] if recurrence.has_memory else None}
    made = differentiable(_ATTENDING, _Options(recurrence, narrow_wanted(), scale=scale), given)
    return Outputs(made["states"], source_alpha=made["alpha"], contexts=made["contexts"])


def _attending_forward(options: _Options, given: Tensors) -> tuple[Tensors, Tensors]:
    """From x (B, Ty, gn), the first h (and c), the source and weights to states, contexts (B, Ty, d) and alpha."""
    given = _plainly(given)
    x, keys, values = given["x"], given["keys"], given["values"]
    (batch, num_steps, _), n, lstm = x.shape, given["U"].shape[1], options.recurrence.has_memory
    states, previous, own = (empty(batch, num_steps, n) for _ in range(3))  # own: the memories, or r ∘ s
    contexts, queries = empty(batch, num_steps, values.shape[2]), empty(batch, num_steps, keys.shape[2])
    gates, alpha = torch.empty_like(x), empty(batch, num_steps, keys.shape[1])
    source = _source(options, given, num_steps, n)
    tensors = (x, given["U"], given["C"], given["h"], *([given["c"]] if lstm else []))
    kernel = kernels().regard_attending_lstm if lstm else kernels().regard_attending_gru
    kernel(source.place, *map(at, (*tensors, states, previous, own, gates, contexts, queries, alpha)))
    kept = {name: each for name, each in given.items() if name not in ("x", "h")}
    kept |= {"previous": previous, "memories" if lstm else "gated": own}
    kept |= {"gates": gates, "contexts": contexts, "queries": queries, "alpha": alpha}
    return {"states": states, "contexts": contexts, "alpha": alpha}, kept


def _attending_backward(options: _Options, kept: Tensors, taken: Tensors) -> Tensors:
    previous, gates, queries, alpha, keys = (
        kept[name] for name in ("previous", "gates", "queries", "alpha", "keys")
    )
    (batch, num_steps, n), lstm = previous.shape, options.recurrence.has_memory
    source = _source(options, kept, num_steps, n)
    shapes = {"states": previous, "contexts": kept["contexts"], "alpha": alpha}
    d_states, d_contexts, d_alpha = _taken(taken, shapes)
    d_context = d_contexts.clone()  # completed on the way
    d_x, d_query, d_keys, d_v = (
        torch.empty_like(gates),
        torch.empty_like(queries),
        torch.zeros_like(keys),
        None,
    )
    d_v = zeros(batch, keys.shape[2])
    ends = {name: empty(batch, n) for name in ("h", "c")[: 1 + lstm]}
    given = (kept["c"], queries, kept["memories"]) if lstm else (queries, previous)
    given = (kept["U"], kept["C"], *given, gates, alpha, d_states, d_alpha)
    kernel = kernels().regard_attending_lstm_back if lstm else kernels().regard_attending_gru_back
    kernel(source.place, *map(at, (*given, d_context, d_x, d_query, d_keys, d_v, *ends.values())))
    found = {"x": d_x, **ends, "keys": d_keys, "values": _d_values(alpha, d_context)}
    found |= {"W_a": options.summed(d_query, previous), "U": options.d_recurrent(d_x, kept)}
    found |= {"C": options.summed(d_x, kept["contexts"])}
    return found | ({"v_a": d_v.sum(dim=0)} if "v_a" in kept else {})


def _d_values(alpha: Tensor, d_read: Tensor) -> Tensor:
    """∂/∂values (B, Tx, d): Σ_t α_tj ∂/∂(what step t read)."""
    with torch.autocast("cpu", enabled=False):  # also if the backward pass is called under autocast
        return torch.bmm(alpha.transpose(1, 2), d_read)


_ATTENDING = Passes(_attending_forward, _attending_backward)


def _run_feeding(recurrence: Recurrence, inputs: Inputs, weights: Weights, state: State) -> Outputs:
    """W_c multiplies the annotations once per sentence, and two products are left in a step."""
    given, scale = _asked(inputs, weights)
    source, W_c, W_a = inputs.source, weights.W_c, given.pop("W_a")
    assert source is not None
    assert W_c is not None
    assert weights.F is not None
    d = source.values.shape[2]
    given["values"] = affine(source.values, W_c[:, :d])  # (B, Tx, l)
    given["W_q"] = W_c[:, d:] if W_a is None else torch.cat([W_a, W_c[:, d:]])  # (l, n), or (a + l, n)
    given["W"] = torch.cat([weights.U, weights.F], dim=1)  # (4n, n + l)
    given |= {"x": project(inputs, weights), "dropped": inputs.dropped}
    given |= dict(zip(("h", "c", "fed"), state, strict=True))
    made = differentiable(_FEEDING, _Options(recurrence, narrow_wanted(), scale=scale), given)
    return Outputs(made["readouts"], source_alpha=made["alpha"])


def _feeding_forward(options: _Options, given: Tensors) -> tuple[Tensors, Tensors]:
    """From x (B, Ty, 4n), the first h, c and h̃, and a source of values W_c h̄_s to readouts (B, Ty, l) and alpha."""
    given = _plainly(given)
    x, h, fed, W_q, keys = (given[name] for name in ("x", "h", "fed", "W_q", "keys"))
    (batch, num_steps, _), n, l = x.shape, h.shape[1], fed.shape[1]
    p = W_q.shape[0] - l  # of the query; 0 if the state itself is the query
    sizes = {"carried": n + l, "states": n, "memories": n, "gates": 4 * n, "asked": p + l}
    kept = {name: empty(batch, num_steps, size) for name, size in sizes.items()}
    readouts, kept["alpha"] = empty(batch, num_steps, l), empty(batch, num_steps, keys.shape[1])
    source = _source(options, given, num_steps, n)
    tensors = (x, given["W"], W_q, h, given["c"], fed, given.get("dropped"))
    made = (*(kept[name] for name in sizes), readouts, kept["alpha"])
    kernels().regard_input_feeding(source.place, p, *map(at, (*tensors, *made)))
    kept |= {name: each for name, each in given.items() if name not in ("x", "h", "fed")}
    return {"readouts": readouts, "alpha": kept["alpha"]}, kept


def _feeding_backward(options: _Options, kept: Tensors, taken: Tensors) -> Tensors:
    W, W_q, keys, alpha = (kept[name] for name in ("W", "W_q", "keys", "alpha"))
    states, gates, asked = (kept[name] for name in ("states", "gates", "asked"))
    (batch, num_steps, n), l = states.shape, kept["values"].shape[2]
    p = W_q.shape[0] - l
    source = _source(options, kept, num_steps, n)
    d_readouts, d_alpha = _taken(taken, {"readouts": asked[..., p:], "alpha": alpha})
    d_gates, d_asked = torch.empty_like(gates), torch.empty_like(asked)
    d_keys, d_v = torch.zeros_like(keys), zeros(batch, keys.shape[2])
    d_first, dc = empty(batch, n + l), empty(batch, n)
    given = (W, W_q, kept["c"], kept.get("dropped"), states, kept["memories"], gates, asked, alpha)
    found = (d_gates, d_asked, d_keys, d_v, d_first, dc)
    kernels().regard_input_feeding_back(
        source.place, p, *map(at, (*given, plain(d_readouts), d_alpha, *found))
    )
    gradients = {"x": d_gates, "h": d_first[:, :n], "c": dc, "fed": d_first[:, n:], "keys": d_keys}
    gradients |= {"values": _d_values(alpha, d_asked[..., p:]), "W": options.summed(d_gates, kept["carried"])}
    gradients |= {"W_q": options.summed(d_asked, states)}
    return gradients | ({"v_a": d_v.sum(dim=0)} if "v_a" in kept else {})


_FEEDING = Passes(_feeding_forward, _feeding_backward)


def _run_tape(recurrence: Recurrence, inputs: Inputs, weights: Weights, state: State) -> Outputs:
    parts, read, asking, mask = parts_of(recurrence, state), recurrence.past, weights.past, _mask_of(inputs)
    assert read is not None
    assert asking is not None
    assert parts.valid is not None
    first_keys, *first, was_valid = cut(parts.tapes, parts.valid, read.span)
    valid = torch.cat([was_valid, mask.flip(1) if inputs.reverse else mask], dim=1)  # (B, slots)
    U_a, v_a, scale = fused_weights(asking.scoring)
    given = {"projected": project(inputs, weights), "h": parts.h, "c": parts.c, "s": parts.summary}
    given |= {"keys": first_keys, "written": torch.cat(first, dim=-1), "valid": valid, "there": mask}
    given |= {"U": weights.U, "S": asking.matrix, "U_a": U_a, "v": v_a, "dropped": inputs.state_mask}
    made = differentiable(_TAPE, _Options(recurrence, narrow_wanted(), inputs.reverse, scale), given)
    heads = (made[name] for name in ("h", "c", "s") if name in made)
    tapes = [made["keys"], *torch.split(made["written"], parts.h.shape[1], dim=-1)]
    return Outputs(made["states"], (*heads, *cut(tapes, valid, read.span)), made["alpha"])


def _tape_forward(options: _Options, given: Tensors) -> tuple[Tensors, Tensors]:
    """Batch first; ``source/tape.h`` has the names and shapes. `keys` and `written` come as their first slots."""
    first = {name: given[name] for name in ("keys", "written")}
    tensors = _plainly(given)
    (batch, num_steps), num_first, met = given["there"].shape, first["keys"].shape[1], given["U"].shape[1]
    slots, n = num_first + num_steps, given["h"].shape[1]
    for name, tape in first.items():
        tensors[name] = zeros(batch, slots, tape.shape[2])
        tensors[name][:, :num_first] = tape
    # what the steps leave out at padding meets gradients of 0 in large products, so it has to be finite
    by_step = {
        "states": n,
        "alpha": slots,
        "queries": first["keys"].shape[2],
        "reads": first["written"].shape[2],
    }
    by_step |= {"carried": met, "gates": given["U"].shape[0]}
    tensors |= {name: zeros(batch, num_steps, width) for name, width in by_step.items()}
    tensors |= {name: tensors[name].clone() for name in ("h", "c", "s") if name in tensors}
    kernels().regard_tape(ctypes.byref(_tape(options, tensors)))
    names = ("states", "alpha", "s", "h", "c", "keys", "written")
    made = {name: tensors[name] for name in names if name in tensors}
    return made, {
        name: each for name, each in tensors.items() if name not in ("projected", "s", "h", "states")
    }


def _tape_backward(options: _Options, kept: Tensors, taken: Tensors) -> Tensors:
    keys, written, carried, reads, U = (kept[name] for name in ("keys", "written", "carried", "reads", "U"))
    (batch, num_steps), g, p, past = carried.shape[:2], U.shape[0], keys.shape[2], options.recurrence.past
    assert past is not None
    num_first, after = keys.shape[1] - num_steps, past.asks == "new state"
    n = written.shape[2] // (1 + options.recurrence.has_memory)
    taken = {name: plain(each) for name, each in taken.items()}
    # each is what the loss takes when it comes in and all that is taken when it goes out
    like = {
        "s": reads[:, 0, :n],
        "h": reads[:, 0, :n],
        "c": reads[:, 0, :n],
        "keys": keys,
        "written": written,
    }
    ds, dh, dc, d_keys, d_written = (each.clone().contiguous() for each in _taken(taken, like))
    d_projected = zeros(batch, num_steps, g if after else g + p)
    d_queries = zeros(batch, num_steps, p) if after else d_projected[..., g:]
    d_v = zeros(batch, p)  # by sentence, so that it does not depend on the number of threads
    tensors: dict[str, Tensor | None] = {
        **kept,
        "d_states": taken.get("states"),
        "d_alpha": taken.get("alpha"),
    }
    tensors |= {"d_keys": d_keys, "d_written": d_written, "d_projected": d_projected, "d_queries": d_queries}
    tensors |= {"d_reads": empty(*reads.shape), "ds": ds, "dh": dh, "dc": dc, "d_v": d_v}
    kernels().regard_tape_back(ctypes.byref(_tape(options, tensors)))
    h = written[:, num_first:, :n]  # in the order of the steps
    seen = carried if after else reads[..., :n]
    if "dropped" in kept:
        seen = seen * kept["dropped"].repeat(1, seen.shape[2] // n).unsqueeze(1)
    found = {
        "projected": d_projected,
        "s": ds,
        "h": dh,
        "c": dc,
        "U": options.summed(d_projected[..., :g], seen),
    }
    found |= {"keys": d_keys[:, :num_first], "written": d_written[:, :num_first]}
    if "S" in kept:
        found["S"] = options.summed(d_queries, (h.flip(1) if options.reverse else h) if after else carried)
    if "U_a" in kept:
        found["U_a"] = options.summed(d_keys[:, num_first:], h)
    return found | ({"v": d_v.sum(dim=0)} if "v" in kept else {})


_TAPE = Passes(_tape_forward, _tape_backward)


def _tape(options: _Options, tensors: Mapping[str, Tensor | None]) -> Tape:
    """What the kernels take; the caller keeps the tensors alive."""
    keys, U, there, written = (tensors[name] for name in ("keys", "U", "there", "written"))
    past, r = options.recurrence.past, options.recurrence
    assert past is not None
    assert keys is not None
    assert written is not None
    assert U is not None
    assert there is not None
    (batch, num_steps), (_, slots, p), n = there.shape, keys.shape, written.shape[2] // (1 + r.has_memory)
    return Tape(
        *(batch, num_steps, slots - num_steps, n, p, U.shape[1], past.span),
        scale=options.scale,
        cell=CELLS.index(r.cell),
        after=int(past.asks == "new state"),
        reverse=int(options.reverse),
        narrow=int(options.narrow),
        threads=threads_for(batch),
        **{name: at(tensor) for name, tensor in tensors.items()},
    )
