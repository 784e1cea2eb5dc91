"""Steps of a search captured as CUDA graphs: launched by one call, over tensors that stay where they are.

A graph belongs to the shapes it was captured with, so sources are padded to a few lengths and batches filled up to a
few sizes. The graphs of a decoder are kept for its next searches, the least recently used go first, and all of them
when the decoder does; they share one pool of memory, so that only one search at a time uses them. A decoder that is
made for one batch, as with a shortlist, has its graph captured anew: that costs about as much as one step without it.
"""

import gc
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass, replace
from threading import Lock
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn

from regard.models.state import Stepper
from regard.ops.paths import fused_wanted
from regard.search.frame import Frame, Rules, advance
from regard.search.options import SearchOptions

MOST_GRAPHS = 8
"""How many graphs of one decoder are kept."""

LENGTH_STEP = 8
"""Sources are padded to multiples of it."""

Capture = Callable[[Callable[[], None]], Callable[[], None]]
"""A function that is called again and again → one that does the same, faster."""


def tensors_of(value: Any) -> Iterator[Tensor]:
    """The tensors in dataclasses and tuples, from the outside in."""
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, tuple):
        for part in value:
            yield from tensors_of(part)
    elif is_dataclass(value):
        for each in fields(value):
            yield from tensors_of(getattr(value, each.name))


def _cloned(value: Any) -> Any:
    """The same value with tensors of its own."""
    if isinstance(value, Tensor):
        return value.clone()
    if isinstance(value, tuple):
        return tuple(_cloned(part) for part in value)
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{each.name: _cloned(getattr(value, each.name)) for each in fields(value)})
    return value


def signature(value: Any) -> Any:
    """What two values must have in common for one graph to serve both: all but the numbers in their tensors."""
    if isinstance(value, Tensor):
        return tuple(value.shape), value.dtype, value.device
    if isinstance(value, tuple):
        return tuple(signature(part) for part in value)
    if is_dataclass(value):
        return type(value), *(signature(getattr(value, each.name)) for each in fields(value))
    return value


class CapturedStep:
    """A step over a frame of its own.

    Args:
        decoder: whose step it is.
        frame: with the shapes of the step; it is copied.
        rules: of the search.
        capture: makes a graph of it.
    """

    def __init__(self, decoder: Stepper, frame: Frame, rules: Rules, capture: Capture) -> None:
        self.frame: Frame = _cloned(frame)
        self.rules = rules
        own = self.frame

        def step() -> None:
            state = own.state
            advance(decoder, own, rules)
            for ours, new in zip(tensors_of(state), tensors_of(own.state), strict=True):
                ours.copy_(new)
            own.state = state

        # neither the graph nor this object refers to the decoder
        self.replay = capture(step)

    def load(self, frame: Frame) -> None:
        """Go on from another frame of the same shapes."""
        for each in fields(Frame):
            ours, theirs = getattr(self.frame, each.name), getattr(frame, each.name)
            if each.name in ("chosen", "alphas") or ours is None:
                continue
            if theirs is None:  # a sum that has not begun
                ours.zero_()
                continue
            for our, their in zip(tensors_of(ours), tensors_of(theirs), strict=True):
                our.copy_(their)


@dataclass
class _Kept:
    """The graphs of one decoder.

    Attributes:
        steps: by what they were captured for, the least recently used first.
        lock: held by the search that uses them.
        pool: of the memory they share.
    """

    steps: "OrderedDict[Any, CapturedStep]"
    lock: Lock
    pool: Any


_kept: "WeakKeyDictionary[nn.Module, _Kept]" = WeakKeyDictionary()


class Graphs:
    """The graphs of a decoder, as one search uses them: inside a `with` block.

    Args:
        decoder: of the search.
        capture: how a step is captured; as a CUDA graph if None.

    Attributes:
        reason: why the last capture failed; empty if it did not.
    """

    def __init__(self, decoder: Stepper, capture: Capture | None = None) -> None:
        self.reason, self._held = "", False
        self._weights: tuple[int, ...] = ()
        if isinstance(decoder, nn.Module):
            tensors = (*decoder.parameters(), *decoder.buffers())
            self._weights = tuple(tensor.data_ptr() for tensor in tensors)
            kept = _kept.get(decoder)
            if kept is None:
                kept = _kept.setdefault(decoder, _new_graphs())
        else:
            kept = _new_graphs()
        self._mine = kept
        self._capture = capture or self._as_cuda_graph

    def __enter__(self) -> "Graphs | None":
        """None while another search uses the decoder's graphs."""
        self._held = self._mine.lock.acquire(blocking=False)
        if not self._held:
            self.reason = "another search uses the decoder's graphs"
        return self if self._held else None

    def __exit__(self, *_: object) -> None:
        """Let the next search use them."""
        if self._held:
            self._mine.lock.release()

    @staticmethod
    def batch_size(sentences: int) -> int:
        """The size of the frame for some sentences: the next power of two, or three quarters of it."""
        power = 1 << max(0, sentences - 1).bit_length()
        return power * 3 // 4 if power >= 4 and sentences <= power * 3 // 4 else power

    def fit(self, encoded: Any) -> Any:
        """The sources with a length and a number for which graphs are captured; the first one fills up."""
        batch, length = encoded.mask.shape
        if hasattr(encoded, "padded"):
            encoded = encoded.padded(-(-length // LENGTH_STEP) * LENGTH_STEP)
        missing = self.batch_size(batch) - batch
        if missing:
            rows = torch.arange(batch + missing, device=encoded.mask.device)
            encoded = encoded.select(rows.masked_fill(rows >= batch, 0))
        return encoded

    def lookup(self, frame: Frame, options: SearchOptions) -> CapturedStep | None:
        """The step that was captured for such a search, if there is one."""
        key = self._key(frame, options)
        if key in self._mine.steps:
            self._mine.steps.move_to_end(key)
        return self._mine.steps.get(key)

    def capture(
        self, decoder: Stepper, frame: Frame, rules: Rules, options: SearchOptions, state_before: Any
    ) -> CapturedStep | None:
        """Capture a step, of which one was made already; None, and a `reason`, if that cannot be.

        Args:
            decoder: whose step it is.
            frame: after a step.
            rules: of the search.
            options: of the search.
            state_before: the decoder's state before that step.
        """
        if signature(state_before) != signature(frame.state):
            self.reason = "the decoder's state grows from step to step"
            return None
        try:
            captured = CapturedStep(decoder, frame, rules, self._capture)
        except RuntimeError as error:  # such as a step that waits for the device
            self.reason = f"its step could not be captured: {str(error).splitlines()[0]}"
            return None
        self._mine.steps[self._key(frame, options)] = captured
        while len(self._mine.steps) > MOST_GRAPHS:
            self._mine.steps.popitem(last=False)
        return captured

    def _key(self, frame: Frame, options: SearchOptions) -> Any:
        autocast = torch.is_autocast_enabled("cuda") and torch.get_autocast_dtype("cuda")
        tf32 = torch.backends.cuda.matmul.allow_tf32
        rules = (options.n_best, options.coverage, options.unknowns)
        source = signature(frame.encoded), signature(frame.state), frame.shape
        return source, rules, self._weights, autocast, tf32, fused_wanted()

    def _as_cuda_graph(self, step: Callable[[], None]) -> Callable[[], None]:
        if self._mine.pool is None:
            self._mine.pool = torch.cuda.graph_pool_handle()
        graph = torch.cuda.CUDAGraph()
        stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream), no_garbage_collection():
            # unlike torch.cuda.graph, this does not give the cached memory back before it starts
            graph.capture_begin(self._mine.pool, capture_error_mode="thread_local")
            try:
                step()
            finally:
                graph.capture_end()
        torch.cuda.current_stream().wait_stream(stream)
        replay: Callable[[], None] = graph.replay
        return replay


@contextmanager
def no_garbage_collection() -> Iterator[None]:
    """Keep Python from collecting garbage meanwhile: an old graph that is freed during a capture makes it fail."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _new_graphs() -> _Kept:
    return _Kept(OrderedDict(), Lock(), None)
