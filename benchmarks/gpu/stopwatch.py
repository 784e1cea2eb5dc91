"""Time and memory on a GPU: the median of several runs by CUDA events, eager or as a CUDA graph; peak memory.

In: a function without arguments. Out: milliseconds, MiB. Knows nothing of what it runs.
"""

from collections.abc import Callable

import torch

Run = Callable[[], object]


def median_ms(run: Run, warmup: int = 3, repeats: int = 9) -> float:
    """The median time of `repeats` runs."""
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
    """The same run as a CUDA graph, without the time of launching kernels."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            run()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        run()
    return graph.replay


def peak_mib(run: Run) -> float:
    """The peak memory of a run, minus what was allocated before it."""
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    run()
    torch.cuda.synchronize()
    return float(torch.cuda.max_memory_allocated() - before) / 2**20
