"""Counters, gauges and histograms, and the text in which Prometheus reads them (exposition format 0.0.4).

In: names, labels and numbers, from any thread. Out: text. Labels are few: routes, models and operations of the
configuration, never words of a request, so that memory is bounded.
"""

import resource
import sys
from bisect import bisect_left
from collections.abc import Callable, Mapping
from pathlib import Path
from threading import Lock

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_TEXTS = (1, 2, 4, 8, 16, 32, 64, 128, 256)

COUNTERS = {
    "regard_requests_total": "Answers by route and status.",
    "regard_texts_total": "Texts computed, by model and operation.",
    "regard_batches_total": "Calls of a model, by model and operation.",
    "regard_rejected_total": "Requests that were refused, by reason.",
    "regard_reloads_total": "Models replaced, by model and result.",
}
HISTOGRAMS = {
    "regard_request_seconds": ("From arrival to the end of the answer, by route.", _SECONDS),
    "regard_batch_seconds": ("Time of a model's call, by model and operation.", _SECONDS),
    "regard_batch_texts": ("Texts in a batch, by model and operation.", _TEXTS),
}
GAUGES = {
    "regard_queue_texts": "Texts that wait.",
    "regard_requests_in_progress": "Requests that are read or answered.",
    "regard_model_version": "How often a model was loaded, by model.",
    "process_resident_memory_bytes": "Memory of this process.",
}

Labels = tuple[tuple[str, str], ...]


class Metrics:
    """The numbers of one service."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._counts: dict[tuple[str, Labels], float] = {}
        self._buckets: dict[
            tuple[str, Labels], list[float]
        ] = {}  # counts below each bound, then all, then the sum
        self._gauges: dict[str, Callable[[], Mapping[Labels, float]]] = {
            "process_resident_memory_bytes": lambda: {(): resident_bytes()}
        }

    def count(self, name: str, number: float = 1, **labels: str) -> None:
        """Add to a counter."""
        key = (name, tuple(labels.items()))
        with self._lock:
            self._counts[key] = self._counts.get(key, 0) + number

    def observe(self, name: str, value: float, **labels: str) -> None:
        """Add a value to a histogram."""
        key, bounds = (name, tuple(labels.items())), HISTOGRAMS[name][1]
        with self._lock:
            row = self._buckets.setdefault(key, [0] * (len(bounds) + 2))
            row[bisect_left(bounds, value)] += 1
            row[-1] += value

    def gauge(self, name: str, read: Callable[[], Mapping[Labels, float]]) -> None:
        """Say how a gauge is read: labels → number."""
        self._gauges[name] = read

    def total(self, name: str, **labels: str) -> float:
        """A counter summed over all labels that are not given."""
        with self._lock:
            return sum(
                value
                for (each, given), value in self._counts.items()
                if each == name and labels.items() <= dict(given).items()
            )

    def render(self) -> str:
        """Everything as text."""
        lines: list[str] = []
        with self._lock:
            counts = sorted(self._counts.items())
            buckets = sorted((key, list(row)) for key, row in self._buckets.items())
        for name, help in COUNTERS.items():
            lines += [f"# HELP {name} {help}", f"# TYPE {name} counter"]
            lines += [
                f"{name}{_labels(labels)} {value:g}" for (each, labels), value in counts if each == name
            ]
        for name, help in GAUGES.items():
            lines += [f"# HELP {name} {help}", f"# TYPE {name} gauge"]
            if name in self._gauges:
                lines += [f"{name}{_labels(key)} {value:.15g}" for key, value in self._gauges[name]().items()]
        for name, (help, bounds) in HISTOGRAMS.items():
            lines += [f"# HELP {name} {help}", f"# TYPE {name} histogram"]
            for (each, labels), (*row, total) in buckets:
                if each == name:
                    below = 0.0
                    for bound, number in zip((*map(str, bounds), "+Inf"), row, strict=True):
                        below += number
                        lines.append(f"{name}_bucket{_labels((*labels, ('le', bound)))} {below:g}")
                    lines += [
                        f"{name}_sum{_labels(labels)} {total:.9g}",
                        f"{name}_count{_labels(labels)} {below:g}",
                    ]
        return "\n".join(lines) + "\n"


def _labels(labels: Labels) -> str:
    escaped = (
        (name, value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")) for name, value in labels
    )
    inside = ",".join(f'{name}="{value}"' for name, value in escaped)
    return f"{{{inside}}}" if inside else ""


def resident_bytes() -> float:
    """The memory of this process now; where the system does not say it, the most it has had."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
        return pages * resource.getpagesize()
    except (OSError, ValueError, IndexError):
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak * (1 if sys.platform == "darwin" else 1024)
