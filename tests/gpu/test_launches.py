"""Launches of recurrences whose programs wait for each other: at once on two streams, and in two processes.

Run them on a machine with a GPU: ``python -m pytest tests/gpu``; elsewhere they are skipped.
"""

import os
import subprocess
import sys

import pytest
import torch

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")

STREAMS = """
import torch
from regard import ops
from regard.ops import Inputs, Recurrence, Weights

torch.manual_seed(1)
B, T, n = 64, 200, 512
W, U = (0.05 * torch.randn(3 * n, n, device="cuda", dtype=torch.bfloat16) for _ in range(2))
b = torch.zeros(3 * n, device="cuda", dtype=torch.bfloat16)
inputs = torch.randn(B, T, n, device="cuda", dtype=torch.bfloat16)
mask = torch.ones(B, T, dtype=torch.bool, device="cuda")
initial = (torch.zeros(B, n, device="cuda", dtype=torch.bfloat16),)


def states():
    return ops.run(Recurrence("gru"), Inputs(inputs, mask), Weights(U, W, b), initial).states


alone = states()
torch.cuda.synchronize()
streams = [torch.cuda.Stream() for _ in range(4)]
made = []
for _ in range(20):
    for stream in streams:
        with torch.cuda.stream(stream):
            made.append(states())
torch.cuda.synchronize()
assert all(torch.equal(each, alone) for each in made)
print("finished", float(alone.float().sum()))
"""


def start():
    return subprocess.Popen(
        [sys.executable, "-c", STREAMS],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ,
    )


def test_recurrences_on_several_streams_finish_and_compute_what_one_alone_does():
    done = start()
    out, error = done.communicate(timeout=120)
    assert done.returncode == 0, error
    assert out.startswith("finished")


def test_recurrences_of_two_processes_finish():
    running = [start() for _ in range(2)]
    printed = [each.communicate(timeout=120) for each in running]
    assert [each.returncode for each in running] == [0, 0], printed
    assert printed[0][0] == printed[1][0]
