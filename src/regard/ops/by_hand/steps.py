"""Any recurrence in plain torch: one loop forwards, one back, their parts chosen by the description.

A step of the forward loop computes only what depends on the step before; inputs are projected for all steps at once.
The backward loop carries what the states receive and leaves the gradients of every matrix to large products after it.
Time comes first in what has steps, batch first in what is attended to. The derivations are in README.md of `ops`.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from regard.ops.affine import affine
from regard.ops.backends import ONE_LAYER, OTHER_ENERGY
from regard.ops.by_hand.cells import GRU, LSTM, RNN, Cell, outer
from regard.ops.by_hand.reading import Reading, windows_of
from regard.ops.differentiable import Passes, Tensors, differentiable
from regard.ops.recurrence import BLOCKS, Inputs, Outputs, Recurrence, Weights, parts_of
from regard.ops.tape.naive import cut
from regard.ops.tape.scoring import AdditiveScoring, DotScoring, Scoring
from regard.ops.unroll import State

CELLS = ("rnn", "rnn-sigmoid", "gru", "lstm", "lstm-plain", "lstm-peephole")
"""Those whose derivative is here."""


def supports(recurrence: Recurrence) -> str:
    """Why it does not compute a recurrence, a clause; empty if it does."""
    if any(read.energy == "other" for read in recurrence.reads):
        return OTHER_ENERGY
    if recurrence.layers > 1:
        return ONE_LAYER
    if recurrence.cell not in CELLS:
        return f"it has no derivative of the cell {recurrence.cell}"
    return ""


def run(recurrence: Recurrence, inputs: Inputs, weights: Weights, state: State) -> Outputs:
    """All steps of a recurrence; see `ops.run`."""
    # mixed precision narrows what comes in; the recurrence keeps the width of the parameters
    given = prepare(recurrence, inputs, weights, state, weights.U.dtype)
    with torch.autocast(inputs.x.device.type, enabled=False):
        made = differentiable(PASSES, Plan(recurrence, *scales_of(weights)), given)
    return finish(recurrence, inputs, given, made)


class Plan(NamedTuple):
    """What the passes take beside tensors: the description, and the scales of dot products."""

    recurrence: Recurrence
    past_scale: float = 1.0
    source_scale: float = 1.0


def scales_of(weights: Weights) -> tuple[float, float]:
    """Of energies of the own past and of the source."""
    past, source = (
        1.0 if asking is None else fused_weights(asking.scoring)[2]
        for asking in (weights.past, weights.source)
    )
    return past, source


def fused_weights(scoring: Scoring) -> tuple[Tensor | None, Tensor | None, float]:
    """The keys' matrix, v_a and the scale."""
    assert isinstance(scoring, AdditiveScoring | DotScoring), "no fused form for this energy"
    return *scoring.fused, scoring.scale


def project(inputs: Inputs, weights: Weights) -> Tensor:
    """W x + b of all steps, (B, T, ·); the rows of queries have no bias."""
    if weights.W is None:
        return inputs.x
    b = weights.b
    if b is not None and len(b) < len(weights.W):
        b = torch.nn.functional.pad(b, (0, len(weights.W) - len(b)))
    return affine(inputs.x, weights.W, b, weights.packed)


def prepare(
    recurrence: Recurrence, inputs: Inputs, weights: Weights, state: State, width: torch.dtype | None
) -> dict[str, Tensor | None]:
    """What the passes take, by name, in the precision `width`; that of the projected inputs if None."""
    x = project(inputs, weights).transpose(0, 1)  # (T, B, ·)
    width = x.dtype if width is None else width
    parts, source = parts_of(recurrence, state), inputs.source
    given: dict[str, Tensor | None] = {"x": x, "h0": parts.h, "c0": parts.c, "U": weights.U, "p": weights.p}
    masks: dict[str, Tensor | None] = {}
    if inputs.mask is not None:
        masks["real"] = inputs.mask.T.unsqueeze(-1)  # (T, B, 1)
    if inputs.reverse:
        given["x"] = x.flip(0)
        masks = {name: None if mask is None else mask.flip(0) for name, mask in masks.items()}
    if recurrence.past is not None:
        assert weights.past is not None
        assert parts.valid is not None
        keys, *written, was_valid = cut(parts.tapes, parts.valid, recurrence.past.span)
        real = masks.get("real")
        new = was_valid.new_ones(x.shape[1], x.shape[0]) if real is None else real.squeeze(-1).T  # (B, T)
        masks["valid"] = torch.cat([was_valid, new], dim=1)  # (B, slots)
        W_k, v_a, _ = fused_weights(weights.past.scoring)
        given |= {"s0": parts.summary, "keys0": keys, "written0": torch.cat(written, dim=-1)}
        given |= {"past_matrix": weights.past.matrix, "past_v": v_a, "past_keys": W_k}
    if recurrence.source is not None:
        assert weights.source is not None
        assert source is not None
        values = (
            source.values if source.memories is None else torch.cat([source.values, source.memories], dim=-1)
        )
        if recurrence.source.enters == "readout":
            # W_c multiplies the annotations once per sentence, so that a step needs no context
            assert weights.W_c is not None
            d = values.shape[2]
            values, given["W_h"] = (
                affine(values, weights.W_c[:, :d]),
                weights.W_c[:, d:],
            )  # (B, Tx, l), (l, n)
        masks["source_mask"] = source.mask
        given |= {"source_keys": source.keys, "source_values": values, "reading0": parts.reading}
        _, v_a, _ = fused_weights(weights.source.scoring)
        given |= {"source_matrix": weights.source.matrix, "source_v": v_a}
        given |= {"C": weights.C, "F": weights.F, "R": weights.R, "fed0": parts.fed}
    given["state_mask"] = inputs.state_mask
    given["dropped"] = None if inputs.dropped is None else inputs.dropped.transpose(0, 1)
    return {name: None if part is None else part.to(width) for name, part in given.items()} | masks


def finish(
    recurrence: Recurrence,
    inputs: Inputs,
    given: dict[str, Tensor | None],
    made: Tensors,
    ends: State | None = None,
) -> Outputs:
    """What the passes made (T, B, ·) as `Outputs`, batch first.

    Args:
        recurrence: which.
        inputs: what it ran over.
        given: from `prepare`.
        made: by the passes.
        ends: h (and c, and the summary) after the last real word; None if states over padding are as they were.
    """
    real, num_parts = given.get("real"), 1 + recurrence.has_memory

    def at_words(x: Tensor) -> Tensor:
        """What each step gave, zero on padding and at its word's position."""
        x = x if real is None else torch.where(real, x, 0.0)
        return (x.flip(0) if inputs.reverse else x).transpose(0, 1)

    contexts, source_alpha = (
        made[name].transpose(0, 1) if name in made else None for name in ("contexts", "source_alpha")
    )
    if recurrence.source is not None and recurrence.source.enters == "readout":
        return Outputs(made["readouts"].transpose(0, 1), source_alpha=source_alpha)
    states = at_words(made["states"])
    alpha = at_words(made["alpha"]) if "alpha" in made else None
    if recurrence.source is not None:
        return Outputs(states, (), alpha, source_alpha, contexts)
    if ends is None:
        ends = tuple(made[name][-1] for name in ("states", "memories", "summaries") if name in made)
    if recurrence.past is None:
        return Outputs(states, ends)
    written, valid, keys0 = given["written0"], given["valid"], given["keys0"]
    assert written is not None
    assert valid is not None
    assert keys0 is not None
    firsts = [keys0, *torch.split(written, states.shape[2], dim=-1)]
    news = [made[name] for name in ("keys", "states", "memories")[: 1 + num_parts]]
    tapes = [
        torch.cat([first, (new if real is None else torch.where(real, new, 0.0)).transpose(0, 1)], dim=1)
        for first, new in zip(firsts, news, strict=True)
    ]
    return Outputs(states, (*ends, *cut(tapes, valid, recurrence.past.span)), alpha)


def tape_of(first: Tensor, num_steps: int) -> Tensor:
    """A tape (B, t0 + T, p) that starts with the given slots (B, t0, p); the rest is to be written."""
    batch, num_first, width = first.shape
    tape = first.new_empty(batch, num_first + num_steps, width)
    tape[:, :num_first] = first
    return tape


class _Pass:
    """The buffers of all steps, and the parts that a description chooses; made anew for the backward pass.

    Args:
        plan: what is computed.
        given: what `prepare` names; in the backward pass, what of it is read again.
        kept: buffers of the forward pass, by name; empty before it.
    """

    def __init__(self, plan: Plan, given: Tensors, kept: Tensors) -> None:
        self.plan, self.given, self.kept = plan, given, kept
        r = self.recurrence = plan.recurrence
        self.enters = None if r.source is None else r.source.enters
        self.reads_first = r.past is not None and r.past.asks == "last read"
        if not kept:
            self._make(given["x"])
        self.states, self.memories = kept["states"], kept.get("memories")
        self.T, self.n = len(self.states) - 1, self.states.shape[2]
        self.past = None if r.past is None else self._past()
        self.source = None if r.source is None else self._source()
        self.first_slot = kept["keys"].shape[1] - self.T if r.past is not None else 0
        self.cell = self._cell()
        self.real = given.get("real")
        self.state_mask = given.get("state_mask")
        if self.state_mask is not None and r.keeps:
            self.state_mask = self.state_mask.repeat(1, 2)

    def _make(self, x: Tensor) -> None:
        """Allocate what the forward pass fills."""
        (T, B, _), r, given, kept = x.shape, self.recurrence, self.given, self.kept

        def after(first: str) -> Tensor:
            """A state before each step and after the last, (T + 1, B, ·); over padding it is as it was."""
            buffer = x.new_empty(T + 1, *given[first].shape)
            buffer[0] = given[first]
            return buffer

        kept["states"] = after("h0")
        if r.has_memory:
            kept["memories"], kept["squashed"] = after("c0"), torch.empty_like(kept["states"][1:])
        parts = {"gates": (BLOCKS[r.cell] + (self.enters == "memory")) * given["h0"].shape[1]}
        if r.past is not None:
            kept["keys"], kept["written"] = tape_of(given["keys0"], T), tape_of(given["written0"], T)
            kept["summaries"], kept["reads"] = after("s0"), x.new_empty(T, B, kept["written"].shape[2])
        if r.source is not None:
            kept["contexts"] = x.new_empty(T, B, given["source_values"].shape[2])
        if self.enters == "readout":
            kept["fed"], kept["readouts"] = after("fed0"), x.new_empty(T, *given["fed0"].shape)
        for name, read, keys in (
            ("past", r.past, kept.get("keys")),
            ("source", r.source, given.get("source_keys")),
        ):
            if read is not None and keys is not None:
                kept[f"{name}_alpha"] = x.new_zeros(T, B, keys.shape[1])
                kept[f"{name}_queries"] = x.new_empty(T, B, keys.shape[2])
                if read.asks == "last read":
                    parts[f"{name}_queries"] = keys.shape[2]
        for name, part in zip(parts, torch.split(x, list(parts.values()), dim=-1), strict=True):
            kept[name] = part.clone(memory_format=torch.contiguous_format)

    def _source(self) -> Reading:
        given, kept, read = self.given, self.kept, self.recurrence.source
        assert read is not None
        keys = given["source_keys"]
        return Reading(
            *(
                keys,
                given["source_values"],
                given["source_mask"],
                kept["source_queries"],
                kept["source_alpha"],
            ),
            *(given.get("source_matrix"), given.get("source_v"), self.plan.source_scale),
            adds=read.asks == "last read",
            windows=[(0, keys.shape[1])] * self.T,
        )

    def _past(self) -> Reading:
        given, kept, read = self.given, self.kept, self.recurrence.past
        assert read is not None
        return Reading(
            *(kept["keys"], kept["written"], given["valid"], kept["past_queries"], kept["past_alpha"]),
            *(given.get("past_matrix"), given.get("past_v"), self.plan.past_scale),
            adds=self.reads_first,
            windows=windows_of(given["valid"], self.T, read.span, own=int(not self.reads_first)),
            span=read.span,
        )

    def _cell(self) -> Cell:
        kind, gates, U = self.recurrence.cell, self.kept["gates"], self.given["U"]
        if kind == "gru":
            return GRU(gates, U)
        if not self.recurrence.has_memory:
            return RNN(gates, U, kind)
        fetched = self.kept["contexts"][..., self.n :] if self.enters == "memory" else None
        return LSTM(gates, U, kind == "lstm-plain", self.given.get("p"), fetched, self.kept["squashed"])

    def seen(self, x: Tensor) -> Tensor:
        """A state where it meets a matrix, after dropout; or a gradient on its way back."""
        return x if self.state_mask is None else x * self.state_mask

    def started(self, steps: int | slice) -> tuple[Tensor, Tensor | None]:
        """The state and the memory that a step starts from, or some steps."""
        r, n, kept = self.recurrence, self.n, self.kept
        if self.reads_first:
            read = kept["reads"][steps]
            return read[..., :n], read[..., n:] if r.has_memory else None
        state, before = self.states[:-1][steps], None if self.memories is None else self.memories[:-1][steps]
        if r.past is not None:
            summary = kept["summaries"][:-1][steps]
            state = torch.cat([summary, state], dim=-1) if r.keeps else summary
        return state, before

    def asks_source(self, steps: int | slice) -> Tensor:
        """What asks the source at a step, or at some."""
        read = self.recurrence.source
        assert read is not None
        if read.asks != "last read":
            return (self.states[:-1] if read.asks == "previous state" else self.states[1:])[steps]
        readings = self.kept["contexts"][..., : self.n]
        if isinstance(steps, slice):
            return torch.cat([self.given["reading0"].unsqueeze(0), readings[:-1]])
        return readings[steps - 1] if steps else self.given["reading0"]


_SHAPED = ("x", "h0", "c0", "s0", "fed0", "keys0", "written0")
"""What the buffers of the forward pass begin with, so that the backward pass does without."""


def _forward(plan: Plan, given: Tensors) -> tuple[Tensors, Tensors]:
    """All steps; see `prepare` for what comes in."""
    kept: Tensors = {}
    run = _Pass(plan, given, kept)
    n, states, memories, real, past, source = run.n, run.states, run.memories, run.real, run.past, run.source
    h, c = torch.empty_like(states[0]), None if memories is None else torch.empty_like(states[0])
    for t in range(run.T):
        if real is None:  # no padding whose state to keep
            h, c = states[t + 1], None if memories is None else memories[t + 1]
        # what asks before the update
        if past is not None and run.reads_first:
            past.read(t, kept["summaries"][t], kept["reads"][t])
        if source is not None and run.enters != "readout":
            source.read(t, run.asks_source(t), kept["contexts"][t])
        # what joins the gates, and the cell
        gates = kept["gates"][t]
        if run.enters == "gates":
            gates.addmm_(kept["contexts"][t], given["C"].T)
        elif run.enters == "memory":
            gates[:, 4 * n :].addmm_(run.seen(kept["contexts"][t, :, :n]), given["R"].T)
        elif run.enters == "readout":
            gates.addmm_(kept["fed"][t], given["F"].T)
        state, before = run.started(t)
        run.cell.step(t, state, run.seen(state), before, h, c)
        # the slot, and what asks after the update
        if past is not None:
            slot, reads, summaries = run.first_slot + t, kept["reads"][t], kept["summaries"]
            kept["written"][:, slot, :n] = h
            if c is not None:
                kept["written"][:, slot, n:] = c
            kept["keys"][:, slot] = h @ given["past_keys"].T if "past_keys" in given else h
            if not run.reads_first:
                past.read(t, h, reads)
            summaries[t + 1] = (
                reads[:, :n] if real is None else torch.where(real[t], reads[:, :n], summaries[t])
            )
        if source is not None and run.enters == "readout":
            source.read(t, h, kept["contexts"][t])
            readout = torch.addmm(kept["contexts"][t], h, given["W_h"].T, out=kept["readouts"][t]).tanh_()
            kept["fed"][t + 1] = readout * given["dropped"][t] if "dropped" in given else readout
        if real is not None:
            torch.where(real[t], h, states[t], out=states[t + 1])
            if memories is not None and c is not None:
                torch.where(real[t], c, memories[t], out=memories[t + 1])
    again = {name: tensor for name, tensor in given.items() if name not in _SHAPED}
    return _made(run), again | {f"kept {name}": tensor for name, tensor in kept.items()}


def _made(run: _Pass) -> Tensors:
    """The outputs: states in tensors of their own, since callers may overwrite them."""
    kept, r = run.kept, run.recurrence
    if run.enters == "readout":
        return {"readouts": kept["fed"][1:].clone(), "source_alpha": kept["source_alpha"]}
    made = {"states": kept["states"][1:].clone()}
    if run.enters == "gates":
        made["contexts"] = kept["contexts"]
    if r.source is not None:
        made["source_alpha"] = kept["source_alpha"]
    elif r.has_memory:
        made["memories"] = kept["memories"][1:].clone()
    if r.past is not None:
        made["alpha"] = kept["past_alpha"]
        if r.source is None:
            made["summaries"] = kept["summaries"][1:].clone()
            made["keys"] = kept["keys"][:, run.first_slot :].transpose(0, 1).clone()
    return made


def _plus(*terms: Tensor | None) -> Tensor | None:
    """The sum of what is there."""
    there = [term for term in terms if term is not None]
    return sum(there[1:], there[0]) if there else None


def _backward(plan: Plan, saved: Tensors, taken: Tensors) -> Tensors:
    """From ∂/∂(what `_forward` made) to ∂/∂(what it was given)."""
    kept = {name.removeprefix("kept "): each for name, each in saved.items() if name.startswith("kept ")}
    given = {name: each for name, each in saved.items() if not name.startswith("kept ")}
    run, r = _Pass(plan, given, kept), plan.recurrence
    n, real, past, source, zero = run.n, run.real, run.past, run.source, torch.zeros_like(run.states[0])
    asking = [reading for reading in (past, source) if reading is not None and reading.adds]
    sizes = [kept["gates"].shape[2], *(reading.queries.shape[2] for reading in asking)]
    d_x = zero.new_empty(run.T, len(zero), sum(sizes))
    d_gates, *d_queries = torch.split(d_x, sizes, dim=-1)
    for reading, name in ((past, "alpha"), (source, "source_alpha")):
        if reading is not None:
            buffer = d_queries.pop(0) if reading.adds else torch.empty_like(reading.queries)
            reading.begin_backward(buffer, taken.get(name))
    all_states, all_before = run.started(slice(None))
    run.cell.begin_backward(d_gates, all_states, run.seen(all_states), all_before)
    d_key = None if past is None else torch.empty_like(past.queries)
    d_read = None if past is None else torch.zeros_like(kept["reads"][0])
    d_fetch = torch.empty_like(kept["contexts"][0]) if run.enters == "memory" else None
    to_readout = d_readouts = None
    if run.enters == "readout":
        to_readout, d_readouts = 1 - kept["readouts"] ** 2, torch.empty_like(kept["readouts"])
        to_readout = to_readout * given["dropped"] if "dropped" in given else to_readout

    def here(t: int, d: Tensor | None, name: str) -> tuple[Tensor | None, Tensor | None]:
        """∂/∂(a state after step t) and what the loss takes: of what the step made, and of what padding passed on."""
        d = _plus(d, taken[name][t] if name in taken else None)
        if real is None or d is None:
            return d, None
        return d * real[t], d * ~real[t]

    dh: Tensor | None = None
    dc: Tensor | None = torch.zeros_like(zero) if r.has_memory else None
    ds: Tensor | None = None
    d_reading: Tensor | None = None
    d_fed: Tensor | None = None
    for t in reversed(range(run.T)):
        (dh, old_h), (dc, old_c) = here(t, dh, "states"), here(t, dc, "memories")
        ds, old_s = here(t, ds, "summaries")
        # the readout, and what asked after the update
        if source is not None and to_readout is not None and d_readouts is not None:
            d_fed, _ = here(t, d_fed, "readouts")
            taking = torch.zeros_like(to_readout[t]) if d_fed is None else d_fed
            dz = torch.mul(taking, to_readout[t], out=d_readouts[t])
            dh = _plus(dh, dz @ given["W_h"], source.back(t, dz))
        if past is not None and d_key is not None and d_read is not None:
            if not run.reads_first:
                d_read[:, :n] = zero if ds is None else ds
                dh = _plus(dh, past.back(t, d_read))
            # the slot: all that this step, later ones and the loss took from it
            d_slot = past.d_value(run.first_slot + t, t + int(run.reads_first))  # (B, d)
            torch.add(
                past.d_key(run.first_slot + t), taken["keys"][t] if "keys" in taken else 0, out=d_key[t]
            )
            dh = _plus(d_slot[:, :n], dh, d_key[t] @ given["past_keys"] if "past_keys" in given else d_key[t])
            dc = _plus(d_slot[:, n:], dc) if r.has_memory else None
        # the cell
        d_met, d_state, d_before = run.cell.back(t, zero if dh is None else dh, dc)
        d_met = run.seen(d_met)
        d_met = d_met if d_state is None else d_met + d_state
        # what joined the gates
        if source is not None and run.enters == "gates":
            d_context, _ = here(t, d_gates[t] @ given["C"], "contexts")
            assert d_context is not None
            old_h = _plus(old_h, source.back(t, d_context))
        elif source is not None and d_fetch is not None and dc is not None:
            d_fetch[:, :n] = run.seen(d_gates[t, :, 4 * n :] @ given["R"])
            if d_reading is not None:
                d_fetch[:, :n] += d_reading
            torch.mul(dc, kept["gates"][t, :, 4 * n :], out=d_fetch[:, n:])
            d_reading = source.back(t, d_fetch)
        elif run.enters == "readout":
            d_fed = d_gates[t] @ given["F"]
        # what the step started from
        new_s, dh, dc, ds = ds, old_h, old_c, old_s
        if past is not None and d_read is not None and run.reads_first:
            d_read[:, :n] = d_met if new_s is None else d_met + new_s
            if d_before is not None:
                d_read[:, n:] = d_before
            ds = _plus(past.back(t, d_read), old_s)
            continue
        dc = _plus(d_before, old_c)
        if past is None:
            dh = _plus(d_met, old_h)
        else:
            ds, dh = _plus(d_met[:, :n], old_s), _plus(d_met[:, n:], old_h) if r.keeps else old_h
    found: dict[str, Tensor | None] = {"x": d_x, "reading0": d_reading, "fed0": d_fed}
    # a state that nothing read but padding has a gradient of 0
    found |= {name: zero if d is None else d for name, d in (("h0", dh), ("c0", dc), ("s0", ds))}
    found |= run.cell.d_weights()
    if past is not None and d_key is not None:
        first = slice(0, run.first_slot)
        found |= {"keys0": past.d_key(first), "written0": past.d_first_values(run.first_slot)}
        found |= past.d_weights("past", kept["summaries"][:-1] if run.reads_first else run.states[1:])
        found["past_keys"] = outer(d_key, run.states[1:]) if "past_keys" in given else None
    if source is not None:
        words = given["source_keys"].shape[1]
        found |= {"source_keys": source.d_key(slice(0, words)), "source_values": source.d_first_values(words)}
        found |= source.d_weights("source", run.asks_source(slice(None)))
    if run.enters == "gates":
        found["C"] = outer(d_gates, kept["contexts"])
    elif run.enters == "memory":
        found["R"] = outer(d_gates[..., 4 * n :], run.seen(kept["contexts"][..., :n]))
    elif d_readouts is not None:
        found |= {"F": outer(d_gates, kept["fed"][:-1]), "W_h": outer(d_readouts, run.states[1:])}
    return {name: each for name, each in found.items() if each is not None}


PASSES = Passes(_forward, _backward)
