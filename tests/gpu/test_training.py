"""Training on a GPU: a batch that does not fit, an exact resume in float16, one process under torchrun.

Run them on a machine with a GPU: ``python -m pytest tests/gpu``; elsewhere they are skipped.
"""

import gc
import itertools
import os
import subprocess
import sys

import pytest
import torch
from safetensors.torch import load_file

from regard.checkpoint import ModelFolder
from regard.training.loop import Loop
from regard.training.progress import Note
from regard.training.run import run_training
from regard.training.state import Checkpoints

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")

WIDE = {
    "encoder": {"embedding_size": 64, "state_size": 256},
    "decoder": {"embedding_size": 64, "state_size": 256, "attention": {"size": 256}, "readout_size": 256},
}


def weights(folder):
    return load_file(folder / "last.safetensors")


def are_equal(one, other):
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


@pytest.fixture
def long_pairs(pairs):
    """Pairs of about 40 words, so that a batch takes far more memory than the weights."""
    words = [pair.source for pair in pairs(200)]
    sources = [" ".join([*words[k:], *words[:k]][:20]) for k in range(200)]
    return [(source, " ".join(reversed(source.split()))) for source in sources]


def free_memory():
    gc.collect()
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()


def test_a_batch_that_does_not_fit_is_trained_on_in_parts(tmp_path, run_config, long_pairs):
    training = {
        "device": "cuda",
        "optimizer": "sgd",
        "learning_rate": 0.1,
        "batch_sentences": 190,
        "batch_tokens": 1_000_000,
        "max_updates": 2,
        "validate_every": 2,
        "validation_sentences": 1,
    }
    config = run_config(data={"max_length": 200}, model=WIDE, training=training)
    free_memory()
    before = torch.cuda.memory_allocated()
    run_training(tmp_path / "whole", config, train=long_pairs, valid=long_pairs[:2], page=False)
    needed = torch.cuda.max_memory_allocated() - before
    free_memory()
    total = torch.cuda.get_device_properties(0).total_memory
    heard = []
    torch.cuda.set_per_process_memory_fraction((torch.cuda.memory_allocated() + 0.7 * needed) / total)
    try:
        run_training(
            tmp_path / "parts",
            config,
            train=long_pairs,
            valid=long_pairs[:2],
            page=False,
            listener=heard.append,
        )
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0)
    notes = [event.text for event in heard if isinstance(event, Note)]
    assert any("a batch does not fit into the GPU's memory: it is trained on in" in note for note in notes)
    whole, parts = weights(tmp_path / "whole"), weights(tmp_path / "parts")
    for (
        name
    ) in whole:  # the same sums in another order; matrices may be multiplied in TF32, which rounds at 5e-4
        torch.testing.assert_close(parts[name], whole[name], rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("precision", ["32", "16"])
def test_a_resumed_run_has_the_scaler_and_the_random_numbers_of_an_unbroken_one(
    tmp_path, run_config, pairs, precision, monkeypatch
):
    def train(name, resume=False):
        config = run_config(
            model={"encoder": {"dropout": 0.3}, "decoder": {"dropout": 0.3}},
            auxiliary_losses={"scheduled_sampling": 0.3},
            training={
                "device": "cuda",
                "precision": precision,
                "max_updates": 12,
                "validate_every": 4,
            },
        )
        run_training(tmp_path / name, config, train=pairs(60), valid=pairs(10), resume=resume, page=False)
        checkpoint = Checkpoints(ModelFolder(tmp_path / name), 1).newest(lambda event: None)
        return checkpoint.state

    whole = train("whole")
    train("again")
    real, count = Loop._update, itertools.count(1)
    with monkeypatch.context() as patch:
        patch.setattr(Loop, "_update", lambda *args: _die() if next(count) == 7 else real(*args))
        with pytest.raises(Killed):  # two updates after the checkpoint of the fourth
            train("cut")
    cut = train("cut", resume=True)
    assert cut.scaler == whole.scaler
    assert bool(cut.scaler) == (precision == "16")
    random = {name: tensor for name, tensor in whole.tensors.items() if "random/" in name or "task/" in name}
    assert {"random/cuda"} < random.keys()
    assert are_equal(random, {name: cut.tensors[name] for name in random})
    if are_equal(weights(tmp_path / "whole"), weights(tmp_path / "again")):
        assert are_equal(weights(tmp_path / "whole"), weights(tmp_path / "cut"))
    else:  # sums by atomic additions, in any order: two unbroken runs differ as much
        for name, tensor in weights(tmp_path / "whole").items():
            torch.testing.assert_close(weights(tmp_path / "cut")[name], tensor, rtol=1e-2, atol=1e-3)


class Killed(BaseException):
    """The end of a process, as far as a test can have it."""


def _die():
    raise Killed


NCCL = """
import torch
from regard.processes import Processes, join_group

processes = Processes.launched()
assert (processes.rank, processes.world_size) == (0, 1)
join_group()
tensor = torch.ones(3, device="cuda")
torch.distributed.all_reduce(tensor)
torch.distributed.broadcast(tensor, 0)
gathered = [None]
torch.distributed.all_gather_object(gathered, {"rank": 0})
box = ["first"]
torch.distributed.broadcast_object_list(box, 0, device=torch.device("cpu"))
counts = torch.tensor([2.0], dtype=torch.float64)
torch.distributed.all_reduce(counts)
assert (tensor.tolist(), gathered, box, counts.item()) == ([1.0] * 3, [{"rank": 0}], ["first"], 2.0)
torch.distributed.destroy_process_group()
print("exchanged on", torch.cuda.get_device_name())
"""


def torchrun(num_processes, *arguments):
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node"]
    return subprocess.run(
        [*command, str(num_processes), *map(str, arguments)],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_one_process_under_torchrun_exchanges_through_nccl_and_gloo(tmp_path):
    (tmp_path / "nccl.py").write_text(NCCL)
    done = torchrun(1, tmp_path / "nccl.py")
    assert done.returncode == 0, done.stderr
    assert "exchanged on" in done.stdout


def test_one_process_under_torchrun_trains_and_more_than_gpus_are_refused(tmp_path, pairs):
    text = "".join(f"{pair.source}\t{pair.target}\n" for pair in pairs(60))
    (tmp_path / "pairs.tsv").write_text(text)
    options = ("--train", tmp_path / "pairs.tsv", "--updates", 4, "--device", "cuda")
    done = torchrun(1, "-m", "regard", "train", tmp_path / "model", *options)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "model" / "report.json").exists()
    num_gpus = torch.cuda.device_count()
    done = torchrun(num_gpus + 1, "-m", "regard", "train", tmp_path / "other", *options)
    assert done.returncode != 0
    assert f"{num_gpus + 1} processes on this machine, and {num_gpus} GPUs" in done.stderr
