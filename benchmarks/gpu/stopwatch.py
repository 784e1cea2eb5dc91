"""A GPU's time and memory: the median of several runs by its own events, eager or as a captured graph; the peak.

In: something to run, as a function without arguments. Out: milliseconds, MiB. Knows nothing of what it runs.
"""

from collections.abc import Callable

import torch

Run = Callable[[], object]


def median_ms(run: Run, warmup: int = 3, repeats: int = 9) -> float:
    """How long a run takes, in the middle of `repeats`."""
    for _ in range(warmup):
        run()
    torch.cuda.synchronize()
    times = []
    for _ in range(repeats):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        run()
        end.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(end))
    return sorted(times)[len(times) // 2]


def graphed(run: Run) -> Run:
    """The same as a captured graph: what it costs without the time that launching takes."""
    aside = torch.cuda.Stream()
    aside.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(aside):
        for _ in range(3):
            run()
    torch.cuda.current_stream().wait_stream(aside)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        run()
    return graph.replay


def peak_mib(run: Run) -> float:
    """The most memory a run holds beyond what is held before it."""
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    run()
    torch.cuda.synchronize()
    return float(torch.cuda.max_memory_allocated() - before) / 2**20
