"""The service under load, and the studio's page: throughput and latency, overload, a replacement, the first paint.

The service runs in a process of its own, the load in this one, over loopback. Closed loop: each of N clients sends one
sentence, waits for its translation and sends the next; throughput and the quantiles of the latency, with batches and
one at a time. Overload: requests at ten times the throughput that was measured, whatever is answered; statuses, memory,
and the latency afterwards. Replacement: the model's folder is read again, several times during a closed loop. Before
anything is reported, sentences are translated in batches and one at a time, and have to be equal. The page: Chromium
opens the studio, each time with an empty cache, and types sentences.

Prints tables on standard output; with ``--docs`` writes them, and a plot, into docs/serving.md and docs/studio.md
between their markers.
"""

import argparse
import asyncio
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import NamedTuple

from benchmarks.process import ROOT, environment
from benchmarks.report import Table, machine, markdown_table, today
from regard.errors import RegardError

_BATCHES, _SINGLY = "batches", "one at a time"
_RELOADS = 3  # replacements during a load
_OPENED = 7  # times that the page is opened
_TYPED = 15  # sentences that are typed
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


class Running(NamedTuple):
    """A service, or a studio: its port, and its process."""

    port: int
    pid: int


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


def body(text: str, beam: int) -> bytes:
    """A request to translate one sentence."""
    return json.dumps({"texts": text, "options": {"beam": beam}}).encode()


async def send(connection: Connection, request: bytes, load: Load) -> None:
    """Send one sentence, and note the answer."""
    started = time.perf_counter()
    status, _ = await connection.call("POST", "/v1/translate", request)
    load.statuses[status] += 1
    if status == 200:
        load.latencies.append(time.perf_counter() - started)


async def closed_loop(port: int, requests: Sequence[bytes], clients: int, seconds: float) -> Load:
    """N clients, each with one request at a time."""
    load, until = Load(), time.perf_counter() + seconds

    async def client(number: int) -> None:
        connection, choices = Connection(port), random.Random(number)
        while time.perf_counter() < until:
            await send(connection, choices.choice(requests), load)
        connection.close()

    started = time.perf_counter()
    await asyncio.gather(*(client(number) for number in range(clients)))
    load.seconds = time.perf_counter() - started
    return load


async def open_loop(
    port: int, requests: Sequence[bytes], per_second: float, seconds: float
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
            await send(connection, choices.choice(requests), load)
        connection.close()

    async def watch() -> None:
        while time.perf_counter() < started + seconds:
            memory.append(await megabytes(port))
            await asyncio.sleep(0.5)

    await asyncio.gather(watch(), *(worker() for _ in range(_WORKERS)))
    load.seconds = time.perf_counter() - started
    return load, memory


async def metric(port: int, name: str) -> float:
    """A number of the service now, of all its models."""
    connection = Connection(port)
    _, content = await connection.call("GET", "/metrics")
    connection.close()
    values = re.findall(rf"^{name}(?:\{{.*\}})? (\S+)$", content.decode(), re.MULTILINE)
    return sum(map(float, values)) if values else float("nan")


async def megabytes(port: int) -> float:
    """The memory of the service now."""
    return await metric(port, "process_resident_memory_bytes") / 1e6


async def replace_during(
    running: Running, requests: Sequence[bytes], clients: int, seconds: float
) -> tuple[Load, float]:
    """A closed loop during which the model is replaced several times; and how often it was."""
    before = await metric(running.port, "regard_model_version")

    async def reload() -> None:
        for _ in range(_RELOADS):
            await asyncio.sleep(seconds / (_RELOADS + 1))
            os.kill(running.pid, signal.SIGHUP)

    load, _ = await asyncio.gather(closed_loop(running.port, requests, clients, seconds), reload())
    for _ in range(100):  # the last one may still be loaded
        replaced = await metric(running.port, "regard_model_version") - before
        if replaced == _RELOADS:
            break
        await asyncio.sleep(0.1)
    return load, replaced


@contextmanager
def service(model: str, threads: int, *options: str, command: str = "serve") -> Iterator[Running]:
    """A service of a model in a process of its own.

    Raises:
        RegardError: it did not start.
    """
    whole = [sys.executable, "-m", "regard", command, f"model={model}", "--port", "0", *options]
    process = subprocess.Popen(whole, stderr=subprocess.PIPE, text=True, env=environment(threads))
    assert process.stderr is not None, "it is a pipe"
    try:
        printed = ""
        for line in process.stderr:
            printed += line
            if match := re.search(r"listening on http://127\.0\.0\.1:(\d+)", line):
                os.set_blocking(process.stderr.fileno(), False)
                yield Running(int(match[1]), process.pid)
                return
        raise RegardError(f"the service did not start: {printed[-2000:].strip()}")
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(_WAIT)
        process.stderr.close()


async def translations(port: int, requests: Sequence[bytes], together: bool) -> list[str]:
    """Every sentence, all at the same time or one after another."""

    async def one(request: bytes) -> str:
        connection = Connection(port)
        status, content = await connection.call("POST", "/v1/translate", request)
        connection.close()
        if status != 200:
            raise RegardError(f"status {status} for {request!r}: {content[:200]!r}")
        translation: str = json.loads(content)["translations"][0]["text"]
        return translation

    if together:
        return list(await asyncio.gather(*(one(request) for request in requests)))
    return [await one(request) for request in requests]


Loads = dict[tuple[str, int], list[Load]]
"""By the way of computing and the beam: a load for each number of clients."""


class Measured(NamedTuple):
    """What was measured of a service.

    Attributes:
        load: the table of the closed loops.
        overload: that of the overload.
        replacement: that of the replaced model.
        loads: what the first is made from.
    """

    load: Table
    overload: Table
    replacement: Table
    loads: Loads


def measure(
    model: str,
    texts: Sequence[str],
    clients: Sequence[int],
    seconds: float,
    threads: int,
    batch: int,
    beams: Sequence[int],
) -> Measured:
    """All loads; the overload and the replacement with the last beam.

    Raises:
        RegardError: the service did not start, or batches changed a translation.
    """
    own = ("--threads", str(threads))
    ways = {_BATCHES: ("--batch", str(batch)), _SINGLY: ("--batch", "1", "--delay", "0")}
    loads: Loads = {}
    for way, options in ways.items():
        with service(model, threads, *own, *options) as running:
            for beam in beams:
                port, requests = running.port, [body(text, beam) for text in texts]
                together = asyncio.run(translations(port, requests[:50], together=True))
                if together != asyncio.run(translations(port, requests[:50], together=False)):
                    raise RegardError("batches change translations; nothing is reported")
                loads[way, beam] = []
                for number in clients:
                    asyncio.run(closed_loop(port, requests, number, min(1.0, seconds)))  # warm-up
                    loads[way, beam].append(asyncio.run(closed_loop(port, requests, number, seconds)))
                    log(
                        f"{way}, beam {beam}, {number} clients: {loads[way, beam][-1].throughput:.1f} per second"
                    )
    usual = loads[_BATCHES, beams[-1]][-1]
    requests = [body(text, beams[-1]) for text in texts]
    queue = ("--set", f"limits.queue={_QUEUE}", "--set", "limits.texts=64")
    with service(model, threads, *own, "--batch", str(batch), *queue) as running:
        port = running.port
        asyncio.run(closed_loop(port, requests, clients[-1], min(2.0, seconds)))
        before = asyncio.run(closed_loop(port, requests, 1, min(2.0, seconds)))
        idle = asyncio.run(megabytes(port))
        over, memory = asyncio.run(open_loop(port, requests, 10 * usual.throughput, seconds))
        after = asyncio.run(closed_loop(port, requests, 1, min(2.0, seconds)))
        memory.append(asyncio.run(megabytes(port)))
    log(f"overload: {dict(over.statuses)}")
    with service(model, threads, *own, "--batch", str(batch)) as running:
        asyncio.run(closed_loop(running.port, requests, clients[-1], min(1.0, seconds)))
        during, replaced = asyncio.run(replace_during(running, requests, clients[-1], seconds))
    log(f"replaced {replaced:g} times: {dict(during.statuses)}")
    return Measured(
        load_table(clients, loads),
        overload_table(idle, over, memory, before, after, usual.throughput),
        replacement_table(clients[-1], during, replaced, usual),
        loads,
    )


def load_table(clients: Sequence[int], loads: Loads) -> Table:
    """Throughput and latency by the number of clients."""
    rows = []
    for (way, beam), of_way in loads.items():
        for number, load in zip(clients, of_way, strict=True):
            quantiles = [f"{load.quantile(share):,.0f}" for share in (0.50, 0.95, 0.99)]
            other = sum(load.statuses.values()) - load.statuses[200]
            name = f"{way}, beam {beam}, {number} client{'s' * (number > 1)}"
            rows.append([name, f"{load.throughput:,.1f}", *quantiles, str(other)])
    columns = ["", "translations per second", "p50 (ms)", "p95 (ms)", "p99 (ms)", "errors"]
    return Table("Throughput and latency.", columns, rows)


def gains(loads: Loads) -> str:
    """How many times the throughput of one at a time batches give with the most clients, by the beam."""
    shares = [
        f"{loads[_BATCHES, beam][-1].throughput / loads[_SINGLY, beam][-1].throughput:.1f} times (beam {beam})"
        for way, beam in loads
        if way == _BATCHES
    ]
    return " and ".join(shares)


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
        ["memory before, highest during, after (MB)", f"{idle:,.0f}, {max(memory):,.0f}, {memory[-1]:,.0f}"],
        ["p50 of one client before, after (ms)", f"{before.quantile(0.5):,.0f}, {after.quantile(0.5):,.0f}"],
        ["errors afterwards", str(sum(after.statuses.values()) - after.statuses[200])],
    ]
    return Table("Ten times the load.", ["overload", ""], rows)


def replacement_table(clients: int, during: Load, replaced: float, quiet: Load) -> Table:
    """A model replaced during a load."""
    sent = sum(during.statuses.values())
    rows = [
        ["clients, requests", f"{clients}, {sent:,}"],
        ["times that the model was replaced", f"{replaced:g}"],
        ["failed requests", f"{sent - during.statuses[200]:,}"],
        ["p99 without, with replacements (ms)", f"{quiet.quantile(0.99):,.0f}, {during.quantile(0.99):,.0f}"],
    ]
    return Table("A model replaced during the load.", ["replacement", ""], rows)


def measure_page(model: str, texts: Sequence[str], threads: int) -> Table:
    """The studio's page in Chromium: first paint, the time to an answer, and what is transferred.

    Raises:
        RegardError: the studio did not start, or there is no browser.
    """
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        raise RegardError(
            "the page is measured with playwright, which is not installed: pip install playwright"
        ) from None
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if chromium is None:
        raise RegardError("the page is measured with Chromium, which is not here: apt install chromium")
    paints, ready, answers, sizes = [], [], [], []
    with (
        service(model, threads, "--no-browser", command="studio") as running,
        sync_playwright() as driver,
        closing(
            driver.chromium.launch(executable_path=chromium, args=[] if os.geteuid() else ["--no-sandbox"])
        ) as browser,
    ):
        for _ in range(_OPENED):
            with closing(browser.new_context()) as context:  # its cache is empty
                page = context.new_page()
                received: list[int] = []
                page.on("response", lambda response, into=received: into.append(len(response.body())))
                page.goto(f"http://127.0.0.1:{running.port}/")
                page.wait_for_selector("body[data-ready]")
                paints.append(page.evaluate(_PAINT))
                ready.append(page.evaluate("performance.now()"))
                sizes.append(sum(received))
        page = browser.new_page()
        page.goto(f"http://127.0.0.1:{running.port}/")
        page.wait_for_selector("body[data-ready]")
        for text in texts[: _TYPED + 1]:
            page.locator("#text").fill("")
            page.locator("#text").fill(text)
            answers.append(page.evaluate(_ANSWER))
    answers = answers[1:]  # the first draws the views for the first time
    rows = [
        [
            "first contentful paint",
            "< 1,000 ms",
            *(f"{value:,.0f} ms" for value in (median(paints), max(paints))),
        ],
        ["ready to type", "", *(f"{value:,.0f} ms" for value in (median(ready), max(ready)))],
        [
            "from Enter to the translation",
            "< 100 ms",
            *(f"{value:,.0f} ms" for value in (median(answers), max(answers))),
        ],
        [
            "page, style, modules and models",
            "< 500 kB",
            *(f"{value / 1e3:,.0f} kB" for value in (median(sizes), max(sizes))),
        ],
    ]
    return Table("The page.", ["", "wanted", "median", "most"], rows)


_PAINT = "performance.getEntriesByName('first-contentful-paint')[0].startTime"
_ANSWER = """() => new Promise(resolve => {
    const answer = document.querySelector('#answer');
    const started = performance.now();
    new MutationObserver((_, observer) => {
        if (answer.textContent && !answer.classList.contains('partial')) {
            observer.disconnect();
            resolve(performance.now() - started);
        }
    }).observe(answer, {childList: true, attributes: true});
    document.querySelector('#text').dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter'}));
})"""


def plot_load(clients: Sequence[int], loads: Loads, path: Path) -> None:
    """Throughput and p95 against clients, as a picture."""
    from regard.plots.figures.canvas import save
    from regard.plots.figures.curves import Curve, Panel, draw_curves

    named = {f"{way}, beam {beam}": of_way for (way, beam), of_way in loads.items()}
    throughput = [
        Curve(name, clients, [load.throughput for load in of_way]) for name, of_way in named.items()
    ]
    latency = [
        Curve(name, clients, [load.quantile(0.95) for load in of_way]) for name, of_way in named.items()
    ]
    scales = {"x_scale": "log2", "y_scale": "log"}
    panels = [
        Panel(throughput, "clients", "translations per second", **scales),
        Panel(latency, "clients", "p95 of the latency (ms)", **scales),
    ]
    save(draw_curves(panels), path)


def write_docs(page: Path, name: str, lines: Sequence[str]) -> None:
    """Replace what is between the markers of a page.

    Args:
        page: the file.
        name: of the markers.
        lines: what is written.

    Raises:
        RegardError: it has no markers.
    """
    first, last = f"<!-- {name} -->", f"<!-- end of {name} -->"
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
    cores = len(os.sched_getaffinity(0))
    parser.add_argument(
        "--threads", type=int, default=cores, help="of the service; by default all, as it has"
    )
    parser.add_argument("--batch", type=int, default=32, help="the most texts in a batch")
    parser.add_argument("--beams", type=int, nargs="+", default=[1, 5], help="widths of the beam")
    parser.add_argument(
        "--parts", nargs="+", choices=("load", "page"), default=["load", "page"], help="what to measure"
    )
    parser.add_argument(
        "--docs", action="store_true", help="write docs/serving.md, docs/serving.png, docs/studio.md"
    )
    args = parser.parse_args()
    where = machine()
    place = f"{today()}, {where['processor']}, {where['cores']} cores"
    try:
        texts = sentences(args.texts)
        if "load" in args.parts:
            measured = measure(
                args.model, texts, args.clients, args.seconds, args.threads, args.batch, args.beams
            )
            lines = [
                f"{place} of which the load has its share, {args.threads} thread{'s' if args.threads > 1 else ''} of "
                f"the service, {args.seconds:g} s each.",
                "",
                *markdown_table(measured.load),
                "",
                f"With {args.clients[-1]} clients, batches give {gains(measured.loads)} the throughput of one at a "
                "time.",
                "",
                *markdown_table(measured.overload),
                "",
                *markdown_table(measured.replacement),
            ]
            print("\n".join(lines))
            if args.docs:
                picture = "![throughput and latency](serving.png)"
                write_docs(ROOT / "docs" / "serving.md", "load", [*lines, "", picture])
                plot_load(args.clients, measured.loads, ROOT / "docs" / "serving.png")
        if "page" in args.parts:
            lines = [f"{place}.", "", *markdown_table(measure_page(args.model, texts, args.threads))]
            print("\n".join(lines))
            if args.docs:
                write_docs(ROOT / "docs" / "studio.md", "page", lines)
    except (RegardError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
