"""`regard translate` as a process of its own: pipes, signals, endless input."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from regard.tasks.translate.predictor import Translator

ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1"}


@pytest.fixture
def started(model):
    """Start the command, and end it whatever happens."""
    running = []

    def start(*options, **streams):
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **streams}
        command = [sys.executable, "-m", "regard", "translate", str(model), *map(str, options)]
        running.append(subprocess.Popen(command, env=ENVIRONMENT, **pipes))
        return running[-1]

    yield start
    for process in running:
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe is not None:
                pipe.close()


def test_each_line_is_answered_when_the_input_pauses(started, model):
    """One line at a time through an open pipe; the next is sent only after the answer."""
    process = started()
    for line in ("a b", "c", "", "e d c"):
        process.stdin.write(f"{line}\n".encode())
        process.stdin.flush()
        assert process.stdout.readline().decode() == Translator.load(model).translate([line])[0].text + "\n"
    process.stdin.close()
    assert process.wait(60) == 0
    assert process.stderr.read() == b""


def test_ctrl_c_ends_it_quietly_and_loses_nothing(started, tmp_path):
    """What was translated is on the disk, though it was never read from a pipe."""
    with (tmp_path / "out").open("wb") as out:
        process = started(stdout=out)
        process.stdin.write(b"a b\nc\n")
        process.stdin.flush()
        deadline = time.monotonic() + 60
        while (tmp_path / "out").read_bytes().count(b"\n") < 2:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130
    assert process.stderr.read() in (b"", b"Aborted.\n")
    assert (tmp_path / "out").read_bytes().count(b"\n") == 2


def test_ctrl_c_in_the_middle_of_the_work(started, tmp_path):
    """Whole lines, no traceback, and the status of an interrupted program."""
    (tmp_path / "in").write_text("a b c d e\n" * 200_000)
    with (tmp_path / "out").open("wb") as out, (tmp_path / "in").open("rb") as lines:
        process = started("--beam", "1", stdin=lines, stdout=out)
        deadline = time.monotonic() + 60
        while (tmp_path / "out").stat().st_size == 0:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130
    said = process.stderr.read()
    assert b"Traceback" not in said
    assert said in (b"", b"Aborted.\n")
    assert (tmp_path / "out").read_bytes().endswith(b"\n")


def test_a_reader_that_goes_away_ends_an_endless_job(started):
    feeder = subprocess.Popen(["yes", "a b c"], stdout=subprocess.PIPE)
    try:
        process = started("--beam", "1", stdin=feeder.stdout)
        feeder.stdout.close()
        assert process.stdout.readline()
        process.stdout.close()
        assert process.wait(60) == 1
        assert process.stderr.read() == b""
    finally:
        feeder.kill()
        feeder.wait()


def resident(pid):
    """Megabytes that a process has in memory."""
    with open(f"/proc/{pid}/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS")) / 1024


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="memory is read from /proc")
def test_an_endless_input_takes_no_more_memory(started):
    """Lines of all lengths, without end: after the first thousands nothing is added."""
    endless = (
        "from itertools import count\n"
        "for i in count():\n    print(' '.join('abcde'[i * k % 5] for k in range(i % 23)))"
    )
    feeder = subprocess.Popen(
        [sys.executable, "-c", endless], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    try:
        process = started("--beam", "1", "--json", stdin=feeder.stdout)
        feeder.stdout.close()
        sizes = []
        for _ in range(4):
            for _ in range(1500):
                assert json.loads(process.stdout.readline())["source"] is not None
            sizes.append(resident(process.pid))
        assert sizes[-1] - sizes[0] < 8, sizes
    finally:
        feeder.kill()
        feeder.wait()


def test_nothing_heavy_is_loaded_that_translating_does_not_need(model, tmp_path):
    """Asked of the process itself, once it has translated with everything that costs no extra."""
    forbidden = {
        *("matplotlib", "PIL", "sacrebleu", "lightning", "lightning_fabric", "tensorboard", "torchmetrics"),
        *("pyarrow", "babel", "pandas", "scipy", "fastapi", "uvicorn", "torch._dynamo", "torch._inductor"),
        *(
            "regard.training",
            "regard.lab",
            "regard.datasets",
            "regard.tasks.translate.evaluation",
            "regard.tasks.translate.evaluation",
        ),
    }
    arguments = ["regard", "translate", str(model), str(tmp_path / "in"), "-o", str(tmp_path / "out")]
    code = (
        f"import sys\nsys.argv = {arguments!r}\n"
        "from regard.cli import main\n"
        "try:\n    main()\nexcept SystemExit as ended:\n    assert not ended.code\n"
        "print(*sys.modules)"
    )
    (tmp_path / "in").write_text("a b\n")
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120, env=ENVIRONMENT
    )
    loaded = set(done.stdout.split())
    assert "regard.tasks.translate.predictor" in loaded
    assert (tmp_path / "out").read_text().count("\n") == 1
    assert loaded & forbidden == set()
