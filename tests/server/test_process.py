"""One real process: it streams over a socket, cuts off slow clients, replaces its models, and drains at the end."""

import json
import os
import queue
import re
import runpy
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import httpx
import pytest

from regard import Client, SearchOptions

pytestmark = pytest.mark.journey


class Served:
    """A process of `regard serve`; what it writes is kept."""

    def __init__(self, *arguments, **environment):
        self.process = subprocess.Popen(
            [sys.executable, "-m", "regard", "serve", "--port", "0", *map(str, arguments)],
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": "1", **environment},
        )
        self.lines, self._news = [], queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()
        match = self.wait_for(r"listening on (http://127\.0\.0\.1:(\d+))")
        self.url, self.port = match[1], int(match[2])

    def _read(self):
        for line in self.process.stderr:
            self.lines.append(line)
            self._news.put(line)
        self._news.put(None)

    def wait_for(self, pattern, seconds=120):
        """The first line from here on that has a pattern."""
        until = time.monotonic() + seconds
        while True:
            line = self._news.get(timeout=max(0.1, until - time.monotonic()))
            assert line is not None, "".join(self.lines)
            if match := re.search(pattern, line):
                return match

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=30)

    def end(self):
        """Ask it to end; return its status."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(60)

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stderr.close()


@pytest.fixture(scope="module")
def served():
    models = Path(__file__).parents[1] / "fixtures" / "format-2"
    service = Served(
        f"de-en={models / 'translate'},int8,shortlist",
        models / "lm",
        models / "tag",
        *("--set", "limits.read_seconds=1.5", "--set", "limits.length=400", "--set", "limits.texts=1000"),
    )
    yield service
    service.close()


def test_it_says_what_it_serves(served):
    text = "".join(served.lines)
    assert re.search(
        r"^de-en: [\d,]+ parameters, /v1/translate, /v1/align, /v1/trace, /v1/tree, /v1/what-if, /v1/nearest$",
        text,
        re.MULTILINE,
    ), text
    assert "API keys" not in text  # it listens to this machine alone


def test_the_client_of_the_package(served):
    with Client(served.url) as client:
        models = {model["name"]: model for model in client.models()}
        assert (models["de-en"]["precision"], models["de-en"]["shortlist"]) == ("int8", True)
        (translation,) = client.translate(["der hund schläft ."])
        assert translation.text
        assert translation.alpha.shape == (len(translation.tokens), len(translation.source_tokens))
        events = list(client.stream_translations(["der hund schläft ."], SearchOptions(1)))
        assert [isinstance(value, str) for _, value in events] == [True] * (len(events) - 1) + [False]


def test_the_example_of_a_client(served, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    example = Path(__file__).parents[2] / "examples" / "my_client.py"
    runpy.run_path(str(example))["main"](served.url)
    first, *growing = capsys.readouterr().out.splitlines()
    assert growing[-1].removeprefix("0 ") == first.partition(" -")[0]
    assert (tmp_path / "attention.png").stat().st_size > 1000


def test_words_arrive_while_others_are_sampled(served):
    body = {"max_length": 400, "options": {"temperature": 100.0}, "stream": True, "count": 8}
    arrived = []
    with httpx.stream("POST", f"{served.url}/v1/sample", json=body, timeout=60) as answer:
        assert answer.status_code == 200
        for line in answer.iter_lines():
            if line.startswith("data: "):
                arrived.append((time.monotonic(), json.loads(line.removeprefix("data: "))))
    times = [when for when, data in arrived if "step" in data]
    assert len(times) > 8
    assert times[0] < times[-1]


def test_a_client_that_never_ends_its_headers_is_cut_off(served):
    with served.connect() as slow:
        slow.sendall(b"POST /v1/tag HTTP/1.1\r\nHost: localhost\r\n")
        assert slow.recv(100) == b""
    with served.connect() as silent:
        assert silent.recv(100) == b""


def test_a_client_that_trickles_its_headers_is_cut_off(served):
    with served.connect() as slow:
        slow.sendall(b"GET /healthz HTTP/1.1\r\n")
        sent = 0
        with suppress(OSError):  # a reset or a broken pipe
            while sent < 200:
                time.sleep(0.1)
                slow.sendall(b"X-Header: 1\r\n")
                sent += 1
        assert sent < 200


def test_a_slow_body_is_408(served):
    with served.connect() as slow:
        slow.sendall(
            b"POST /v1/tag HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{"
        )
        assert slow.recv(100).startswith(b"HTTP/1.1 408 ")


def test_long_headers_and_other_protocols_are_refused(served):
    for sent in (
        b"GET / HTTP/1.1\r\nX: " + b"a" * 100_000,
        b"\x16\x03\x01\x02\x00\x01\x00\x01",
        b"\r\n" * 10,
    ):
        with served.connect() as odd:
            odd.sendall(sent)
            with suppress(ConnectionResetError):
                assert odd.recv(100)[:12] in (b"HTTP/1.1 400", b"")


def test_a_client_that_takes_nothing_is_cut_off(served):
    body = json.dumps({"count": 700, "max_length": 400, "alternatives": 50, "options": {"temperature": 50.0}})
    sent = (
        f"POST /v1/sample HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n{body}"
    ).encode()
    with socket.socket() as lazy:
        lazy.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        lazy.settimeout(60)
        lazy.connect(("127.0.0.1", served.port))
        lazy.sendall(sent)
        received = lazy.recv(1000)
        length = int(re.search(rb"content-length: (\d+)", received)[1])
        time.sleep(6)  # longer than the service waits
        with suppress(ConnectionResetError):
            while piece := lazy.recv(1 << 20):
                received += piece
    assert len(received) < length
    assert httpx.get(f"{served.url}/readyz", timeout=60).status_code == 200


def test_models_are_replaced_under_load_without_a_failed_request(served):
    stop, statuses, versions = threading.Event(), [], set()

    def call():
        with httpx.Client(base_url=served.url, timeout=60) as client:
            while not stop.is_set():
                answer = client.post("/v1/translate", json={"texts": ["der hund", "ein kind"]})
                statuses.append(answer.status_code)
                versions.add(answer.json().get("version"))

    with ThreadPoolExecutor(6) as pool:
        calls = [pool.submit(call) for _ in range(6)]
        for version in (2, 3):
            time.sleep(0.3)
            served.process.send_signal(signal.SIGHUP)
            served.wait_for(rf"model de-en was replaced: version {version}")
        time.sleep(0.3)
        stop.set()
        for each in calls:
            each.result()
    assert set(statuses) == {200}
    assert versions >= {1, 3}


def test_at_the_end_what_has_arrived_is_answered(served):
    """The last test of the process."""
    body = {"max_length": 400, "count": 100, "options": {"temperature": 100.0}}
    with ThreadPoolExecutor(4) as pool:
        answers = [
            pool.submit(httpx.post, f"{served.url}/v1/sample", json={**body, "seed": seed}, timeout=60)
            for seed in range(4)
        ]
        while httpx.get(f"{served.url}/metrics").text.count('route="/v1/sample",status="200"} 2') > 1:
            time.sleep(0.01)
        until = time.monotonic() + 30
        while time.monotonic() < until:  # all four have arrived
            if "regard_requests_in_progress 5" in httpx.get(f"{served.url}/metrics").text:
                break
            if any(answer.done() for answer in answers):
                break
        assert served.end() == 0
        assert [answer.result().status_code for answer in answers] == [200] * 4
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{served.url}/healthz")
