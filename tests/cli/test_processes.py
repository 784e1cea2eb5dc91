"""The command line under torchrun: who prints, what is shared, what is refused; and the launch files."""

import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from torch.distributed.run import parse_args

from regard.checkpoint import ModelFolder
from regard.cli import app
from regard.cli.console import notes

LAUNCH = Path(__file__).parents[2] / "examples" / "launch"


def test_two_processes_translate_a_file_in_order(regard, torchrun, model, tmp_path):
    """Three groups of lines; the last has a line that is too long, before which all are translated."""
    lines = [f"{'abcde'[k % 5]} {'abcde'[k % 3]}" for k in range(600)]
    lines[560] = "a b c d"
    (tmp_path / "lines").write_text("".join(f"{line}\n" for line in lines))
    options = ("translate", model, tmp_path / "lines", "--beam", "1", "--scores", "--max-length", "3", "-o")
    alone = regard(*options, tmp_path / "alone")
    together = torchrun("-m", "regard", *options, tmp_path / "together")
    assert (tmp_path / "together").read_bytes() == (tmp_path / "alone").read_bytes()
    assert len((tmp_path / "alone").read_text().splitlines()) == 560
    assert alone.status == 2
    assert together.returncode != 0
    errors = [line for line in together.stderr.splitlines() if "error: " in line and "lines:561" in line]
    assert errors == [line for line in alone.err.splitlines() if line.startswith("error: ")]


@pytest.fixture
def launched(monkeypatch):
    """Makes this process one of two, as torchrun does."""

    def launch(rank):
        monkeypatch.setattr(sys, "stdout", sys.stdout)
        monkeypatch.setattr(notes, "quiet", False)
        monkeypatch.setattr(app, "_WAIT", 0.0)
        for name, value in {"RANK": rank, "WORLD_SIZE": 2, "LOCAL_RANK": rank, "LOCAL_WORLD_SIZE": 2}.items():
            monkeypatch.setenv(name, str(value))
        monkeypatch.setenv("TORCHELASTIC_RUN_ID", "none")

    return launch


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["evaluate", "m", "x"], r"evaluate: 2 processes cannot share its work, .*run it without torchrun"),
        (["train", "m", "--seeds", "2", "--train", "x"], r"--seeds 2: 2 processes train one model"),
        (["translate", "m"], r"standard input: 2 processes cannot share it; name the files"),
    ],
)
def test_what_cannot_be_shared_is_refused(regard, launched, arguments, message):
    launched(0)
    ended = regard(*arguments)
    assert ended.status == 2
    assert re.match(rf"error: {message}", ended.err)


def test_an_error_of_another_process_says_whose_it_is(regard, launched, tmp_path):
    launched(1)
    ended = regard("translate", tmp_path / "none", "-")
    assert sys.stdout.name == os.devnull
    sys.stdout.close()
    assert ended.status == 2
    assert re.match(r"error: process 1 of 2 on .+: standard input", ended.err)


def test_the_slurm_file_trains(regard, process_environment, tmp_path):
    """With stand-ins for SLURM's own commands."""
    for name, line in {
        "scontrol": "echo localhost",
        "srun": 'shift; exec "$@"',
        "torchrun": f'exec {sys.executable} -m torch.distributed.run "$@"',
    }.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{line}\n")
        (tmp_path / name).chmod(0o755)
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    (tmp_path / "pairs.tsv").write_text("".join(f"{'ab'[k % 2]} {k % 7}\t{k % 7}\n" for k in range(60)))
    done = subprocess.run(
        ["bash", str(LAUNCH / "slurm.sh"), "model", "--train", "pairs.tsv", "--updates", "2"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        env={
            **process_environment,
            "PATH": f"{tmp_path}:{os.environ['PATH']}",
            "SLURM_JOB_NODELIST": "localhost",
            "SLURM_JOB_NUM_NODES": "1",
            "SLURM_JOB_ID": "7",
            "PROCESSES_PER_MACHINE": "2",
            "PORT": str(port),
        },
    )
    assert done.returncode == 0, done.stderr
    assert "training with 2 processes" in done.stderr
    assert done.stdout.count("trained") == 1, "the first process alone prints"
    ModelFolder(tmp_path / "model").load()


def test_the_kubernetes_file_agrees_with_itself():
    service, job = yaml.safe_load_all((LAUNCH / "kubernetes.yaml").read_text())
    pod = job["spec"]["template"]["spec"]
    [container] = pod["containers"]
    launcher = parse_args(container["command"][1:])
    assert int(launcher.nnodes) == job["spec"]["completions"] == job["spec"]["parallelism"]
    assert int(launcher.nproc_per_node) == container["resources"]["limits"]["nvidia.com/gpu"]
    assert pod["subdomain"] == service["metadata"]["name"]
    assert service["spec"]["selector"] == {"job-name": job["metadata"]["name"]}
    assert launcher.rdzv_endpoint == f"{job['metadata']['name']}-0.{pod['subdomain']}:29500"
    assert (launcher.module, launcher.training_script, launcher.training_script_args[0]) == (
        True,
        "regard",
        "train",
    )
    claimed = {volume["name"] for volume in pod["volumes"]}
    assert claimed == {mount["name"] for mount in container["volumeMounts"]}
