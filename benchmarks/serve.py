"""The service under load: ``python -m benchmarks.serve MODEL``; see its ``--help``.

The service is one process, the load another: this one, over loopback. Closed loop: each of N clients sends one
sentence, waits for its translation and sends the next; throughput and the quantiles of the latency, with batches and
one at a time. Overload: requests at ten times the throughput that was measured, whatever is answered; statuses, memory,
and the latency afterwards. Before anything is reported, sentences are translated in batches and one at a time, and have
to be equal.

Prints tables on standard output; with ``--docs`` writes them, and a plot, into docs/serving.md between its markers.
"""

import argparse
import asyncio
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.process import ROOT, environment
from benchmarks.report import Table, machine, markdown_table, today
from regard.errors import RegardError

_MARKERS = "<!-- load -->", "<!-- end of load -->"
_WORKERS = 256  # connections of the overload
_QUEUE = 64  # texts that wait during the overload
_WAIT = 120.0  # seconds for the service to start


@dataclass
class Load:
    """What came of a load.

    Attributes:
        latencies: of the answers with status 200, in seconds.
        statuses: how many answers of each status; 0 for none.
        seconds: how long it lasted.
    """

    latencies: list[float] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)
    seconds: float = 0.0

    @property
    def throughput(self) -> float:
        """Translations per second."""
        return len(self.latencies) / self.seconds

    def quantile(self, share: float) -> float:
        """A quantile of the latency in milliseconds; nan without an answer."""
        ordered = sorted(self.latencies)
        return 1000 * ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else float("nan")


class Connection:
    """A connection that sends sentences: little more than a socket, so that the service has the processors."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def call(self, method: str, path: str, body: bytes = b"") -> tuple[int, bytes]:
        """Status and body of an answer; status 0 where there was none."""
        try:
            if self._streams is None:
                self._streams = await asyncio.open_connection("127.0.0.1", self._port)
            reader, writer = self._streams
            head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
            header = (await reader.readuntil(b"\r\n\r\n")).lower()
            length = re.search(rb"content-length: (\d+)", header)
            content = await reader.readexactly(int(length[1])) if length else b""
            if b"connection: close" in header:
                self.close()
            return int(header[9:12]), content
        except (OSError, asyncio.IncompleteReadError):
            self.close()
            return 0, b""

    def close(self) -> None:
        """Close it; the next call opens another."""
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None


async def send(connection: Connection, text: str, load: Load) -> None:
    """Send one sentence, and note the answer."""
    started = time.perf_counter()
    status, _ = await connection.call("POST", "/v1/translate", json.dumps({"texts": text}).encode())
    load.statuses[status] += 1
    if status == 200:
        load.latencies.append(time.perf_counter() - started)


async def closed_loop(port: int, texts: Sequence[str], clients: int, seconds: float) -> Load:
    """N clients, each with one request at a time."""
    load, until = Load(), time.perf_counter() + seconds

    async def client(number: int) -> None:
        connection, choices = Connection(port), random.Random(number)
        while time.perf_counter() < until:
            await send(connection, choices.choice(texts), load)
        connection.close()

    started = time.perf_counter()
    await asyncio.gather(*(client(number) for number in range(clients)))
    load.seconds = time.perf_counter() - started
    return load


async def open_loop(
    port: int, texts: Sequence[str], per_second: float, seconds: float
) -> tuple[Load, list[float]]:
    """Requests at a given frequency, as far as the connections allow; and the memory of the service in MB."""
    load, memory, choices = Load(), [], random.Random(0)
    started = time.perf_counter()
    planned = iter(range(int(per_second * seconds)))

    async def worker() -> None:
        connection = Connection(port)
        for number in planned:
            await asyncio.sleep(max(0.0, started + number / per_second - time.perf_counter()))
            if time.perf_counter() > started + seconds:
                break
            await send(connection, choices.choice(texts), load)
        connection.close()

    async def watch() -> None:
        while time.perf_counter() < started + seconds:
            memory.append(await megabytes(port))
            await asyncio.sleep(0.5)

    await asyncio.gather(watch(), *(worker() for _ in range(_WORKERS)))
    load.seconds = time.perf_counter() - started
    return load, memory


async def megabytes(port: int) -> float:
    """The memory of the service now."""
    connection = Connection(port)
    _, content = await connection.call("GET", "/metrics")
    connection.close()
    value = re.search(rb"^process_resident_memory_bytes (\S+)", content, re.MULTILINE)
    return float(value[1]) / 1e6 if value else float("nan")


@contextmanager
def service(model: str, threads: int, *options: str) -> Iterator[int]:
    """A service of a model in a process of its own, as its port.

    Raises:
        RegardError: it did not start.
    """
    command = [sys.executable, "-m", "regard", "serve", f"model={model}", "--port", "0", *options]
    process = subprocess.Popen(
        [*command, "--threads", str(threads)], stderr=subprocess.PIPE, text=True, env=environment(threads)
    )
    assert process.stderr is not None, "it is a pipe"
    try:
        printed = ""
        for line in process.stderr:
            printed += line
            if match := re.search(r"listening on http://127\.0\.0\.1:(\d+)", line):
                os.set_blocking(process.stderr.fileno(), False)
                yield int(match[1])
                return
        raise RegardError(f"the service did not start: {printed[-2000:].strip()}")
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(_WAIT)
        process.stderr.close()


async def translations(port: int, texts: Sequence[str], together: bool) -> list[str]:
    """Every sentence, all at the same time or one after another."""

    async def one(text: str) -> str:
        connection = Connection(port)
        status, content = await connection.call("POST", "/v1/translate", json.dumps({"texts": text}).encode())
        connection.close()
        if status != 200:
            raise RegardError(f"status {status} for {text!r}: {content[:200]!r}")
        translation: str = json.loads(content)["translations"][0]["text"]
        return translation

    if together:
        return list(await asyncio.gather(*(one(text) for text in texts)))
    return [await one(text) for text in texts]


def measure(
    model: str, texts: Sequence[str], clients: Sequence[int], seconds: float, threads: int, batch: int
) -> tuple[Table, Table, dict[str, list[Load]]]:
    """All loads: the table of the closed loops, that of the overload, and what they are made from.

    Raises:
        RegardError: the service did not start, or batches changed a translation.
    """
    ways = {"batches": ("--batch", str(batch)), "one at a time": ("--batch", "1", "--delay", "0")}
    loads: dict[str, list[Load]] = {}
    for way, options in ways.items():
        with service(model, threads, *options) as port:
            checked = texts[:50]
            together = asyncio.run(translations(port, checked, together=True))
            if together != asyncio.run(translations(port, checked, together=False)):
                raise RegardError("batches change translations; nothing is reported")
            loads[way] = []
            for number in clients:
                asyncio.run(closed_loop(port, texts, number, min(1.0, seconds)))  # warm-up
                loads[way].append(asyncio.run(closed_loop(port, texts, number, seconds)))
                log(f"{way}, {number} clients: {loads[way][-1].throughput:.1f} per second")
    capacity = loads["batches"][-1].throughput
    queue = ("--set", f"limits.queue={_QUEUE}", "--set", "limits.texts=64")
    with service(model, threads, "--batch", str(batch), *queue) as port:
        asyncio.run(closed_loop(port, texts, clients[-1], min(2.0, seconds)))
        before = asyncio.run(closed_loop(port, texts, 1, min(2.0, seconds)))
        idle = asyncio.run(megabytes(port))
        over, memory = asyncio.run(open_loop(port, texts, 10 * capacity, seconds))
        after = asyncio.run(closed_loop(port, texts, 1, min(2.0, seconds)))
    log(f"overload: {dict(over.statuses)}")
    return load_table(clients, loads), overload_table(idle, over, memory, before, after, capacity), loads


def load_table(clients: Sequence[int], loads: dict[str, list[Load]]) -> Table:
    """Throughput and latency by the number of clients."""
    rows = []
    for way, of_way in loads.items():
        for number, load in zip(clients, of_way, strict=True):
            quantiles = [f"{load.quantile(share):,.0f}" for share in (0.50, 0.95, 0.99)]
            other = sum(load.statuses.values()) - load.statuses[200]
            rows.append([f"{way}, {number} clients", f"{load.throughput:,.1f}", *quantiles, str(other)])
    columns = ["", "translations per second", "p50 (ms)", "p95 (ms)", "p99 (ms)", "errors"]
    return Table("Throughput and latency.", columns, rows)


def overload_table(
    idle: float, over: Load, memory: Sequence[float], before: Load, after: Load, capacity: float
) -> Table:
    """Ten times the load."""
    sent = sum(over.statuses.values())
    refused = over.statuses[429] + over.statuses[503]
    other = sent - refused - over.statuses[200]
    rows = [
        ["requests per second: planned, sent", f"{10 * capacity:,.0f}, {sent / over.seconds:,.0f}"],
        ["answered (200), refused (429 or 503), other", f"{over.statuses[200]:,}, {refused:,}, {other:,}"],
        ["memory before, highest during (MB)", f"{idle:,.0f}, {max(memory, default=float('nan')):,.0f}"],
        ["p50 of one client before, after (ms)", f"{before.quantile(0.5):,.0f}, {after.quantile(0.5):,.0f}"],
        ["errors afterwards", str(sum(after.statuses.values()) - after.statuses[200])],
    ]
    return Table("Ten times the load.", ["overload", ""], rows)


def plot_load(clients: Sequence[int], loads: dict[str, list[Load]], path: Path) -> None:
    """Throughput and p95 against clients, as a picture."""
    from regard.plots.figures.canvas import save
    from regard.plots.figures.curves import Curve, Panel, draw_curves

    throughput = [Curve(way, clients, [load.throughput for load in of_way]) for way, of_way in loads.items()]
    latency = [Curve(way, clients, [load.quantile(0.95) for load in of_way]) for way, of_way in loads.items()]
    scales = {"x_scale": "log2", "y_scale": "log"}
    panels = [
        Panel(throughput, "clients", "translations per second", **scales),
        Panel(latency, "clients", "p95 of the latency (ms)", **scales),
    ]
    save(draw_curves(panels), path)


def write_docs(page: Path, lines: Sequence[str]) -> None:
    """Replace what is between the markers of a page.

    Raises:
        RegardError: it has no markers.
    """
    first, last = _MARKERS
    before, found, rest = page.read_text(encoding="utf-8").partition(first)
    _, closed, after = rest.partition(last)
    if not found or not closed:
        raise RegardError(f"{page}: no {first} … {last}; add them where the tables belong")
    text = "\n".join([before + first, "", *lines, "", last + after])
    page.write_text(text, encoding="utf-8")


def log(message: str) -> None:
    """Say how far it is."""
    print(message, file=sys.stderr, flush=True)


def sentences(path: Path | None) -> list[str]:
    """The lines of a file, or of the dataset microworld."""
    if path is not None:
        return [line for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    from regard.datasets import DATASETS

    splits = DATASETS["microworld"]().splits(train=1, valid=1, test=500, seed=1)
    return [pair.source for pair in splits.test]


def main() -> None:
    """Read the command line, measure, print."""
    parser = argparse.ArgumentParser("python -m benchmarks.serve", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("model", help="the folder of a translator")
    parser.add_argument("--texts", type=Path, help="sentences, one per line; by default those of microworld")
    parser.add_argument("--clients", type=int, nargs="+", default=[1, 8, 64], help="of the closed loops")
    parser.add_argument("--seconds", type=float, default=20.0, help="of each load")
    parser.add_argument("--threads", type=int, default=1, help="of the service")
    parser.add_argument("--batch", type=int, default=32, help="the most texts in a batch")
    parser.add_argument("--docs", action="store_true", help="write docs/serving.md and docs/serving.png")
    args = parser.parse_args()
    try:
        texts = sentences(args.texts)
        tables = measure(args.model, texts, args.clients, args.seconds, args.threads, args.batch)
        of_load, of_overload, loads = tables
        gain = loads["batches"][-1].throughput / loads["one at a time"][-1].throughput
        where = machine()
        lines = [
            f"{today()}, {where['processor']}, {where['cores']} cores of which the load has its share, "
            f"{args.threads} thread{'s' if args.threads > 1 else ''} of the service, beam 5, {args.seconds:g} s each.",
            "",
            *markdown_table(of_load),
            "",
            f"With {args.clients[-1]} clients, batches give {gain:.1f} times the throughput of one at a time.",
            "",
            *markdown_table(of_overload),
        ]
        if args.docs:
            write_docs(ROOT / "docs" / "serving.md", [*lines, "", "![throughput and latency](serving.png)"])
            plot_load(args.clients, loads, ROOT / "docs" / "serving.png")
    except (RegardError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
    print("\n".join(lines))


if __name__ == "__main__":
    main()
