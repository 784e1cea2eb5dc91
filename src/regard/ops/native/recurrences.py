"""The C backend: recurrences by kernels on the CPU, from a description to what the kernels take.

The loop over time runs in C, a share of the sentences to each thread. The gradients of the matrices are one large
product each, after the steps. Where U was packed for decoding, nothing is kept for a backward pass. The derivations are
in README.md of `ops`.
"""

import ctypes
from typing import Any, NamedTuple

import torch
from torch import Tensor

from regard.ops.affine import affine
from regard.ops.backends import NO_KERNEL, OTHER_ENERGY
from regard.ops.by_hand.steps import fused_weights, project, scales_of
from regard.ops.differentiable import Passes, Tensors, differentiable
from regard.ops.native import structs
from regard.ops.native.call import at, empty, flags, kernels, plain, threads_for, zeros
from regard.ops.native.choose import narrow_wanted
from regard.ops.native.fastest import fastest, large_product
from regard.ops.native.packed import Packed
from regard.ops.native.structs import ASKS, CELLS, ENTERS
from regard.ops.recurrence import Inputs, Outputs, Read, Recurrence, Weights, parts_of
from regard.ops.tape.naive import cut
from regard.ops.unroll import State


def supports(recurrence: Recurrence, inputs: Inputs, weights: Weights) -> str:
    """Why no kernel computes a recurrence, whatever the device; empty if one does."""
    if any(read.energy == "other" for read in recurrence.reads):
        return OTHER_ENERGY
    if any(layer.b is None for layer in weights.above):
        return NO_KERNEL
    past = recurrence.past
    cells: tuple[str, ...] = CELLS
    if past is not None:  # those that are tested
        cells = CELLS[:4] if past.asks == "last read" else ("rnn", "rnn-sigmoid")
    return "" if recurrence.cell in cells else NO_KERNEL


DECODING = ("lstm", "gru")
"""The cells that step with a packed U."""


def run(recurrence: Recurrence, inputs: Inputs, weights: Weights, state: State) -> Outputs:
    """All steps of a recurrence; see `ops.run`."""
    r, projected, parts = recurrence, project(inputs, weights), parts_of(recurrence, state)
    packed, there = None if weights.packed is None else weights.packed.of(weights.U), inputs.mask
    if there is None:
        there = torch.ones(projected.shape[:2], dtype=torch.bool, device="cpu")
    if packed is not None and r.cell in DECODING and not r.reads and inputs.state_mask is None:
        states = zeros(*there.shape, packed.shape[1])
        return Outputs(
            states, _decode(r.cell, projected, flags(there), state, packed, states, inputs.reverse)
        )
    given = {"projected": projected, "there": there, "h": parts.h, "c": parts.c, "s": parts.summary}
    given |= {"r": parts.reading, "fed": parts.fed, "U": weights.U, "p": weights.p}
    given |= {"state_mask": inputs.state_mask, "dropped": inputs.dropped}
    valid = None
    if r.past is not None:
        assert weights.past is not None
        assert parts.valid is not None
        keys, *written, was_valid = cut(parts.tapes, parts.valid, r.past.span)
        valid = torch.cat([was_valid, there.flip(1) if inputs.reverse else there], dim=1)  # (B, slots)
        given["U_a"], given["past_v"], _ = fused_weights(weights.past.scoring)
        given |= {"past_keys": keys, "past_values": torch.cat(written, dim=-1), "past_there": valid}
        given["past_matrix"] = weights.past.matrix
    if r.source is not None:
        given |= _source_of(r.source, inputs, weights)
    for k, (own, state) in enumerate(zip(weights.above, parts.above, strict=True)):
        layer = {"W": own.W, "U": own.U, "b": own.b, "p": own.p, **dict(zip("hc", state, strict=False))}
        layer |= {"dropped": inputs.between[k], "state_mask": inputs.state_masks[k]}
        given |= {_above(k, name): each for name, each in layer.items()}
    reads: tuple[tuple[str, Read, float], ...] = ()
    if r.reads:
        pairs = zip(("past", "source"), (r.past, r.source), scales_of(weights), strict=True)
        reads = tuple((name, read, scale) for name, read, scale in pairs if read is not None)
    options = _Options(r, narrow_wanted(), inputs.reverse, inputs.mask is not None, reads)
    made = differentiable(_PASSES, options, given)
    alpha, source_alpha = made.get("past_alpha"), made.get("source_alpha")
    if r.source is not None:
        contexts = made["source_reads"] if r.source.enters == "gates" else None
        return Outputs(
            made["readouts" if "readouts" in made else "states"], (), alpha, source_alpha, contexts
        )
    last = tuple(made[name] for name in ("h", "c", "s") if name in made)
    if valid is not None:
        tapes = [made["past_keys"], *torch.split(made["past_values"], parts.h.shape[1], dim=-1)]
        last = (*last, *cut(tapes, valid, r.past.span if r.past is not None else 0))
    return Outputs(made["states"], last, alpha)


def _source_of(read: Read, inputs: Inputs, weights: Weights) -> dict[str, Tensor | None]:
    """The source, how it is compared with, and what joins the gates; W_c meets the annotations once per sentence."""
    assert inputs.source is not None
    assert weights.source is not None
    keys, values, mask, memories = inputs.source
    given: dict[str, Tensor | None] = {"source_keys": keys, "source_values": values, "source_there": mask}
    given |= {"source_matrix": weights.source.matrix, "source_v": fused_weights(weights.source.scoring)[1]}
    if read.enters == "gates":
        return given | {"J": weights.C}
    if read.enters == "memory":
        assert memories is not None
        return given | {"J": weights.R, "source_values": torch.cat([values, memories], dim=-1)}
    assert weights.W_c is not None
    W_v, W_h = torch.split(weights.W_c, [values.shape[2], weights.U.shape[1]], dim=1)
    return given | {"J": weights.F, "source_values": affine(values, W_v), "W_h": W_h}  # (B, Tx, l), (l, n)


def _above(k: int, name: str) -> str:
    """The name of a tensor of the k-th layer above the first one."""
    return f"above{k}_{name}"


def _derivative(name: str) -> str:
    """The field for ∂/∂(a tensor)."""
    layer, _, own = name.rpartition("_")
    return f"{layer}_d_{own}" if layer.startswith("above") else f"d_{name}"


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
    kernels().regard_read(
        *(CELLS.index(cell), U.place, *map(at, (projected, mask, states, *(*last, None)[:2]))),
        *(batch, num_steps, int(reverse), threads_for(batch)),
    )
    return last


class _Options(NamedTuple):
    """What the passes take beside tensors.

    Attributes:
        recurrence: which.
        narrow: whether products may round their factors to bfloat16.
        reverse: read from the last position to the first.
        padded: whether there may be positions without a word.
        reads: what is read, by name, and the scale of dot products with it. A query that x has a share in has it in
            this order.
    """

    recurrence: Recurrence
    narrow: bool
    reverse: bool
    padded: bool
    reads: tuple[tuple[str, Read, float], ...]

    @property
    def reads_first(self) -> bool:
        """Whether the own past is read before the update."""
        return self.recurrence.past is not None and self.recurrence.past.asks == "last read"

    def fresh(self, *shape: int) -> Tensor:
        """A buffer of which kernels write what is at words, and which is zero elsewhere."""
        return zeros(*shape) if self.padded else empty(*shape)

    def summed(self, d: Tensor, x: Tensor, into: Tensor | None = None) -> Tensor:
        """Σ d xᵀ over all steps and sentences."""
        return large_product(d.flatten(0, 1).T, x.flatten(0, 1), narrow=self.narrow, into=into)


_TAPES = ("past_keys", "past_values")


def _forward(options: _Options, given: Tensors) -> tuple[Tensors, Tensors]:
    """Batch first; ``source/recurrence.h`` has the names and shapes. A tape comes as its first slots."""
    r, (batch, num_steps), n = options.recurrence, given["there"].shape, given["h"].shape[1]
    tensors = {name: flags(each) if each.dtype == torch.bool else plain(each) for name, each in given.items()}
    names = ["h", "c", "s", "r", "fed", *(_above(k, part) for k in range(r.layers - 1) for part in "hc")]
    heads = [name for name in names if name in given]
    first = {name: tensors[name] for name in heads}
    tensors |= {name: tensors[name].clone() for name in heads}
    widths = {"states": n, "previous": given["U"].shape[1]}
    unread = {"gates": len(given["U"]) + (len(given["J"]) if "r" in given else 0)}  # at padding
    if r.has_memory and not options.reads_first:
        unread["memories"] = n
    if r.cell == "gru":
        widths["gated"] = n
    for k in range(r.layers - 1):
        widths |= {_above(k, name): n for name in ("inputs", "previous")}
        unread[_above(k, "gates")] = len(given["U"])
        if r.has_memory:
            unread[_above(k, "memories")] = n
        if r.cell == "gru":
            widths[_above(k, "gated")] = n
    if "fed" in given:
        widths["readouts"] = given["fed"].shape[1]
        widths["previous"] += widths["readouts"]
    for name, *_ in options.reads:
        if name == "past":
            # what is at padding meets gradients of 0 in large products, so it has to be finite
            pad = (0, 0, 0, num_steps)
            tensors |= {tape: torch.nn.functional.pad(tensors[tape], pad) for tape in _TAPES}
        keys, values = tensors[f"{name}_keys"], tensors[f"{name}_values"]
        unread[f"{name}_queries"], widths[f"{name}_reads"] = keys.shape[2], values.shape[2]
        tensors[f"{name}_alpha"] = zeros(batch, num_steps, keys.shape[1])
    tensors |= {name: options.fresh(batch, num_steps, width) for name, width in widths.items()}
    tensors |= {name: empty(batch, num_steps, width) for name, width in unread.items()}
    _call(kernels().regard_recurrence, options, tensors)
    made = ["readouts"] if "fed" in given else ["states"]
    made += [f"{name}_alpha" for name, *_ in options.reads]
    if r.source is None:
        made += [*heads, *(name for name in _TAPES if name in given)]
    elif r.source.enters == "gates":
        made.append("source_reads")
    left_out = {"projected", *heads, "readouts"} | ({"states"} if "readouts" not in widths else set())
    kept = {name: each for name, each in tensors.items() if name not in left_out}
    return {name: tensors[name] for name in made}, kept | {
        name: each for name, each in first.items() if name in ("c", "r") or name.endswith("_c")
    }


def _backward(options: _Options, kept: Tensors, taken: Tensors) -> Tensors:
    """From ∂/∂(what `_forward` made) to ∂/∂(what it was given)."""
    r, U, previous, reads = options.recurrence, kept["U"], kept["previous"], options.reads
    (batch, num_steps, all_gates), (g, met) = kept["gates"].shape, U.shape
    n, fed = met // (1 + r.keeps), previous.shape[2] - met
    taken = {name: plain(each) for name, each in taken.items()}

    def begun(name: str, *shape: int) -> Tensor:
        """What the loss takes, to which the pass adds."""
        return taken[name].clone() if name in taken else zeros(*shape)

    shares = {name: kept[f"{name}_queries"].shape[2] for name, read, _ in reads if read.asks == "last read"}
    d_projected = options.fresh(batch, num_steps, all_gates + sum(shares.values()))
    d_gates, *d_shares = torch.split(d_projected, [all_gates, *shares.values()], dim=2)
    d_queries = dict(zip(shares, d_shares, strict=True))
    found = {"projected": d_projected, "h": begun("h", batch, n)}
    if r.has_memory:
        found["c"] = begun("c", batch, n)
    if r.past is not None:
        found["s"] = begun("s", batch, n)
    if all_gates > g:
        found["r"] = zeros(batch, n)
    if fed:
        found["fed"] = zeros(batch, fed)
    for k in range(r.layers - 1):
        found |= {_above(k, name): zeros(batch, n) for name in ("h", "c")[: 1 + r.has_memory]}
    tensors = {**kept, **{_derivative(name): each for name, each in found.items()}}
    tensors |= {_above(k, "d_gates"): options.fresh(batch, num_steps, g) for k in range(r.layers - 1)}
    tensors |= {f"d_{name}": taken[name] for name in ("states", "readouts") if name in taken}
    for name, read, _ in reads:
        keys, values, queries = (kept[f"{name}_{part}"] for part in ("keys", "values", "queries"))
        if name not in d_queries:
            d_queries[name] = tensors[f"{name}_d_queries"] = options.fresh(*queries.shape)
        shape = kept[f"{name}_reads"].shape
        taken_first = read.enters == "gates"  # by the loss, and then by the gates
        tensors[f"{name}_d_reads"] = begun(f"{name}_reads", *shape) if taken_first else options.fresh(*shape)
        tensors[f"{name}_d_keys"] = begun(f"{name}_keys", *keys.shape)
        tensors[f"{name}_d_v"] = zeros(batch, keys.shape[2])
        if name == "past":
            tensors["past_d_values"] = begun("past_values", *values.shape)
        if f"{name}_alpha" in taken:
            tensors[f"{name}_d_alpha"] = taken[f"{name}_alpha"]
    _call(kernels().regard_recurrence_back, options, tensors)
    return found | _products(options, kept, tensors, d_gates, d_queries)


def _products(
    options: _Options, kept: Tensors, tensors: Tensors, d_gates: Tensor, d_queries: Tensors
) -> Tensors:
    """The gradients that are one product over all steps each: of the matrices and of the values read.

    Args:
        options: as the passes take them.
        kept: what the forward pass kept.
        tensors: what the kernel filled, by the names of its fields.
        d_gates: ∂/∂(pre-activations), (B, T, g), in deep fusion with the fifth gate.
        d_queries: ∂/∂(queries) of each memory, (B, T, p).
    """
    r, U, previous, reads = options.recurrence, kept["U"], kept["previous"], options.reads
    num_steps, (g, met) = previous.shape[1], U.shape
    n, fed = met // (1 + r.keeps), previous.shape[2] - met
    found: Tensors = {}

    def seen(x: Tensor) -> Tensor:
        """States, and h̃ after them, as they met a matrix: the states after dropout."""
        if "state_mask" not in kept:
            return x
        mask = kept["state_mask"].repeat(1, met // n)
        return x * torch.nn.functional.pad(mask, (0, x.shape[2] - met), value=1.0).unsqueeze(1)

    state = kept["past_reads"][..., :n] if options.reads_first else previous
    state = seen(torch.cat([state, previous[..., met:]], dim=2) if options.reads_first and fed else state)
    if r.cell == "gru":
        met_last = torch.cat([kept["gated"], previous[..., n:]], dim=2) if fed else kept["gated"]
        found["U"] = empty(g, n + fed)
        options.summed(d_gates[..., : 2 * n], state, found["U"][: 2 * n])
        options.summed(d_gates[..., 2 * n :], met_last, found["U"][2 * n :])
    else:
        found["U"] = options.summed(d_gates[..., :g], state)
    if fed:
        found["U"], found["J"] = torch.split(found["U"], [met, fed], dim=1)
    if "p" in kept:
        found["p"] = _d_peepholes(d_gates, kept["c"], kept["memories"], options.reverse)
    num_first, written = 0, kept.get("states")
    if r.past is not None:
        num_first = kept["past_keys"].shape[1] - num_steps
        slots = kept["past_values"][:, num_first:, :n]  # h in the order of the steps
        written = slots.flip(1) if options.reverse else slots
        d_keys = tensors["past_d_keys"]
        found |= {"past_keys": d_keys[:, :num_first], "past_values": tensors["past_d_values"][:, :num_first]}
        if "U_a" in kept:
            found["U_a"] = options.summed(d_keys[:, num_first:], slots)
    for name, read, _ in reads:
        if f"{name}_matrix" in kept:
            asked = written if read.asks == "new state" else previous[..., :n]
            if name == "source" and read.asks == "last read":
                asked = torch.cat([kept["r"].unsqueeze(1), kept["source_reads"][:, :-1, :n]], dim=1)
            assert asked is not None
            found[f"{name}_matrix"] = options.summed(d_queries[name], asked)
        if f"{name}_v" in kept:
            found[f"{name}_v"] = tensors[f"{name}_d_v"].sum(dim=0)
    if r.source is not None:
        d_reads = tensors["source_d_reads"]
        with torch.autocast("cpu", enabled=False):  # also if the backward pass is called under autocast
            d_values = torch.bmm(kept["source_alpha"].transpose(1, 2), d_reads)
        found |= {"source_keys": tensors["source_d_keys"], "source_values": d_values}
        if r.source.enters == "gates":
            found["J"] = options.summed(d_gates, kept["source_reads"])
        elif r.source.enters == "memory":
            found["J"] = options.summed(d_gates[..., g:], seen(kept["source_reads"][..., :n]))
        else:
            found["W_h"] = options.summed(d_reads, kept["states"])
    for k in range(r.layers - 1):
        found |= _products_above(options, kept, tensors[_above(k, "d_gates")], k)
    return found


def _products_above(options: _Options, kept: Tensors, d_gates: Tensor, k: int) -> Tensors:
    """Those of the k-th layer above the first one."""
    r, met = options.recurrence, kept[_above(k, "previous")]
    n = met.shape[2]
    if (mask := kept.get(_above(k, "state_mask"))) is not None:
        met = met * mask.unsqueeze(1)
    if r.cell == "gru":
        d_U = empty(3 * n, n)
        options.summed(d_gates[..., : 2 * n], met, d_U[: 2 * n])
        options.summed(d_gates[..., 2 * n :], kept[_above(k, "gated")], d_U[2 * n :])
    else:
        d_U = options.summed(d_gates, met)
    found = {"W": options.summed(d_gates, kept[_above(k, "inputs")]), "U": d_U, "b": d_gates.sum(dim=(0, 1))}
    if _above(k, "p") in kept:
        memories = kept[_above(k, "memories")]
        found["p"] = _d_peepholes(d_gates, kept[_above(k, "c")], memories, options.reverse)
    return {_above(k, name): each for name, each in found.items()}


def _d_peepholes(d_gates: Tensor, c0: Tensor, memories: Tensor, reverse: bool) -> Tensor:
    """∂/∂p (3n,): the memory before each step met i and f, the one after it o."""
    first, n = c0.unsqueeze(1), c0.shape[1]
    before = torch.cat([memories[:, 1:], first] if reverse else [first, memories[:, :-1]], dim=1)
    pairs = ((0, before), (1, before), (3, memories))
    return torch.cat([(d_gates[..., k * n : (k + 1) * n] * x).sum(dim=(0, 1)) for k, x in pairs])


_PASSES = Passes(_forward, _backward)


def _call(kernel: Any, options: _Options, tensors: Tensors) -> None:
    """Hand a kernel tensors by the names of its fields, those of a memory after ``past`` or ``source``."""
    r, (batch, num_steps), met = options.recurrence, tensors["there"].shape, tensors["U"].shape[1]
    wide, places = tensors["gates"].shape[2], {name: at(each) for name, each in tensors.items()}
    readings = {}
    for name, read, scale in options.reads:
        sizes = (*tensors[f"{name}_keys"].shape[1:], tensors[f"{name}_values"].shape[2], read.span)
        adds = read.asks == "last read"
        given = (*sizes, wide if adds else 0)
        options_of = {"scale": scale, "asks": ASKS.index(read.asks)}
        readings[name] = _fields_of(structs.Reading, places, f"{name}_", *given, **options_of)
        wide += adds * sizes[1]
    places |= {name: ctypes.addressof(reading) for name, reading in readings.items()}
    above = (structs.Level * (r.layers - 1))(
        *(_fields_of(structs.Level, places, _above(k, "")) for k in range(r.layers - 1))
    )
    if r.layers > 1:
        places["above"] = ctypes.addressof(above)
    whole = structs.Recurrence(
        *(batch, num_steps, met // (1 + r.keeps), met, wide, r.layers - 1),
        cell=CELLS.index(r.cell),
        enters=0 if r.source is None else ENTERS.index(r.source.enters),
        reverse=int(options.reverse),
        narrow=int(options.narrow and fastest().rounds_steps),
        threads=threads_for(batch),
        **places,
    )
    kernel(ctypes.byref(whole))


def _fields_of(kind: Any, places: dict[str, int | None], prefix: str, *given: Any, **options: Any) -> Any:
    """A structure of the tensors whose names have a prefix; they are taken out of `places`."""
    mine = [each for each in places if each.startswith(prefix)]
    return kind(*given, **options, **{each.removeprefix(prefix): places.pop(each) for each in mine})
