"""Set-up of every test run: shapes are checked at each annotated call, new memory is filled with NaN, one thread.

The import hook must be in place before `regard.ops` and `regard.layers` are first imported; hence the order
of the lines. `tests/ops/test_shapes.py` tests the hook; `tests/ops/test_gru.py`, that memory is filled with NaN.
"""

import math
import os
import random
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import cycle
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import settings
from jaxtyping import install_import_hook
from torch import Tensor

_CHECKED = ("regard.ops", "regard.layers")
assert not any(name.startswith(_CHECKED) for name in sys.modules), "imported too early to be checked"
install_import_hook(_CHECKED, "beartype.beartype")

from regard import models  # noqa: E402 (after the hook)
from regard.config import merge  # noqa: E402 (after the hook)
from regard.layers import CELLS, ENERGIES, SelfAttentive, is_sized  # noqa: E402 (after the hook)
from regard.models import Seq2Seq  # noqa: E402 (after the hook)
from regard.ops.by_hand.steps import CELLS as DERIVED_CELLS  # noqa: E402 (after the hook)
from regard.tasks.config import TrainingConfig  # noqa: E402 (after the hook)
from regard.tasks.translate.config import DataConfig, TokenizerConfig  # noqa: E402 (after the hook)
from regard.tasks.translate.result import Translation  # noqa: E402 (after the hook)
from regard.tasks.translate.search_tree import PartialHypothesis, SearchTree  # noqa: E402 (after the hook)
from regard.tasks.translate.task import prepare  # noqa: E402 (after the hook)
from regard.text import SentencePair  # noqa: E402 (after the hook)
from regard.training.configure import configure  # noqa: E402 (after the hook)
from regard.training.fabric import build_fabric  # noqa: E402 (after the hook)

# a run started by nohup or in the background inherits ignored signals, which a training rightly goes on ignoring
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)

torch.set_num_threads(1)
os.environ["REGARD_PRODUCTS"] = "C"  # the same kernels on every machine, and in processes that tests start
torch.use_deterministic_algorithms(True)  # with it, torch fills new memory with NaN

# a shared machine may stall for longer than any reasonable deadline
settings.register_profile("regard", deadline=None)
settings.load_profile("regard")

Computation = Callable[..., Sequence[Tensor]]


def gradients(compute: Computation, tensors: Sequence[Tensor]) -> tuple[Sequence[Tensor], Sequence[Tensor]]:
    """Outputs of `compute`, and the gradients of a fixed weighted sum of them with respect to every tensor."""
    leaves = [tensor.detach().clone().requires_grad_() for tensor in tensors]
    outputs = compute(*leaves)
    generator = torch.Generator().manual_seed(7)
    weighted_sum = sum(
        (out * torch.randn(out.shape, generator=generator, dtype=out.dtype).to(out.device)).sum()
        for out in outputs
    )
    return outputs, torch.autograd.grad(weighted_sum, leaves)


@pytest.fixture(autouse=True)
def _seeded() -> None:
    """Every test gets the same random numbers, whatever ran before it."""
    torch.manual_seed(0)


@pytest.fixture(autouse=True)
def _signals_as_before() -> Iterator[None]:
    """A test that leaves a signal ignored or handled would change the tests of training after it."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    yield
    after = {number: signal.getsignal(number) for number in before}
    for number, handler in before.items():
        signal.signal(number, handler)
    assert after == before


@pytest.fixture
def agree() -> Callable[..., None]:
    """Assert that two computations agree: every output, and the gradient to every tensor, in float64.

    `loosely` is for one of them that computes in float32: which rtol and atol gradients, too, are compared with.
    """

    def check(
        one: Computation,
        other: Computation,
        tensors: Sequence[Tensor],
        loosely: Mapping[str, float] | None = None,
    ) -> None:
        outputs, grads = gradients(one, tensors)
        expected, expected_grads = gradients(other, tensors)
        assert len(outputs) == len(expected)
        # float64 leaves about 1e-16 a step; sums over 65 steps stay far below these
        for out, want in zip(outputs, expected, strict=True):
            torch.testing.assert_close(out, want, **(loosely or {"rtol": 1e-10, "atol": 1e-12}))
        for index, (grad, want) in enumerate(zip(grads, expected_grads, strict=True)):
            tolerance = loosely or {"rtol": 1e-9, "atol": 1e-11}
            torch.testing.assert_close(
                grad, want, **tolerance, msg=lambda text, k=index: f"gradient to tensor {k}: {text}"
            )

    return check


@pytest.fixture
def tiny_model() -> Callable[..., models.Seq2Seq]:
    """Build a model small enough for grids: float64, in evaluation mode, no parameter zero or alike.

    Vocabularies of 9 by default; annotations and decoder states 4 wide, as every decoder and energy allows.
    """

    def build(
        kind: str = "bahdanau",
        cell: str = "gru",
        num_layers: int = 1,
        target_size: int = 9,
        **options: object,
    ) -> models.Seq2Seq:
        encoder = {"cell": cell, "num_layers": num_layers, "embedding_size": 3, "state_size": 2}
        decoder = encoder | {"kind": kind, "state_size": 4}
        if kind in ("bahdanau", "luong", "deep-fusion", "hard-monotonic"):
            attention = {"energy": "additive", **options.pop("attention", {})}
            if is_sized(attention["energy"]):
                attention.setdefault("size", 6)
            decoder["attention"] = attention
        if kind not in ("sutskever", "deep-fusion") and options.get("readout") != "state":
            decoder["readout_size"] = 3
        mapping = {"encoder": encoder | options.pop("encoder", {}), "decoder": decoder | options}
        config = models.ModelConfig.from_mapping(mapping, "model")
        model = models.Seq2Seq(config, 9, target_size).double().eval()
        generator = torch.Generator().manual_seed(3)
        for parameter in model.parameters():
            torch.nn.init.normal_(parameter, std=0.7, generator=generator)
        return model

    return build


_ATTENDING = {
    "bahdanau": {"kind": "bahdanau"},
    "luong": {"kind": "luong", "input_feeding": False},
    "luong-feeding": {"kind": "luong", "input_feeding": True},
}
_ONE_WAY = {"bidirectional": False}
_SELF_ATTENTIVE = [name for name, kind in CELLS.items() if issubclass(kind, SelfAttentive)]
_PLAIN = [name for name in CELLS if name in (*DERIVED_CELLS, "gru-torch")]
_VARIANTS = [name for name in CELLS if name not in _PLAIN + _SELF_ATTENTIVE]
# every decoder × cell without a tape, of one layer and of two; every decoder × energy, over two cells
GRID = (
    {
        f"{name}-{cell}-{depth}": {**options, "cell": cell, "num_layers": depth}
        for name, options in _ATTENDING.items()
        for cell in _PLAIN
        for depth in (1, 2)
    }
    | {
        f"{name}-{cell}-{energy}": {**options, "cell": cell, "attention": {"energy": energy}}
        for name, options in _ATTENDING.items()
        for cell in ("gru", "lstm")
        for energy in ENERGIES
        if energy not in ("additive", "general")  # general is bilinear
    }
    | {
        f"{kind}-{cell}-{depth}": {"kind": kind, "cell": cell, "num_layers": depth}
        for kind in ("cho", "sutskever")
        for cell in _PLAIN
        for depth in (1, 2)
    }
)
# what else an attention may be, on every decoder: each part with several others
_ATTENTIONS = {
    "heads": {"energy": "qkv", "heads": 2},
    "sparse": {"energy": "scaled-dot", "normalizer": "sparsemax"},
    "local-m": {"energy": "bilinear", "window": "local-m", "window_size": 1},
    "local-p": {"energy": "dot", "window": "local-p", "window_size": 2},
    "local-p-sparse-heads": {
        "energy": "qkv",
        "heads": 2,
        "window": "local-p",
        "window_size": 1,
        "normalizer": "sparsemax",
    },
    "coverage": {"energy": "additive", "coverage": True},
    "coverage-local-m": {"energy": "concat", "coverage": True, "window": "local-m", "window_size": 2},
}
GRID |= {
    f"{name}-{cell}-{attention}": {**options, "cell": cell, "attention": chosen}
    for name, options in _ATTENDING.items()
    for (attention, chosen), cell in zip(_ATTENTIONS.items(), cycle(["gru", "lstm", "rnn"]), strict=False)
}
# variants of LSTM and GRU that have no path but the naive one: each in two decoders
GRID |= {
    f"{name}-{cell}": {**options, "cell": cell, "num_layers": depth}
    for cell, depth in zip(_VARIANTS, cycle([1, 2]), strict=False)
    for name, options in (
        ("bahdanau", {"kind": "bahdanau", "bridge": "copy"}),
        ("sutskever", {"kind": "sutskever"}),
    )
}
# cells that attend to their own past: each in every decoder, one or two layers, and what their own attention may be
_MEMORIES = {
    "rnn-read": {"energy": "bilinear", "span": 2},
    "rnn-sum": {"energy": "qkv", "size": 6, "heads": 2},
    "rnn-sum-keep": {"energy": "concat", "size": 5},
    "lstmn": {"energy": "additive", "size": 5, "output": "plain"},
}
GRID |= {
    f"{name}-{cell}": {**options, "cell": cell, "num_layers": depth}
    for cell, depth in zip(_SELF_ATTENTIVE, cycle([1, 2]), strict=False)
    for name, options in (_ATTENDING | {kind: {"kind": kind} for kind in ("cho", "sutskever")}).items()
} | {
    f"luong-feeding-{cell}-memory": {
        **_ATTENDING["luong-feeding"],
        "cell": cell,
        "memory": memory,
        "encoder": {"memory": memory},
    }
    for cell, memory in _MEMORIES.items()
}
_FUSED = {"kind": "deep-fusion", "cell": "lstmn", "encoder": _ONE_WAY | {"state_size": 4}}
GRID |= {
    "deep-fusion": _FUSED,
    "deep-fusion-dot": _FUSED
    | {"attention": {"energy": "scaled-dot"}, "memory": {"energy": "dot", "span": 2}},
    "deep-fusion-by-layers": _FUSED
    | {
        "attention": {"energy": "qkv"},
        "memory": {"normalizer": "sparsemax"},
        "encoder": _ONE_WAY | {"state_size": 4, "num_layers": 2},
    },
}
# decoders whose words are not chosen by one softmax: copies, and sums over hard alignments
GRID |= {
    f"{name}-copy-{cell}": {**options, "cell": cell, "copy": True, "attention": attention}
    for (name, options), cell, attention in zip(
        (_ATTENDING | {"bahdanau-more": _ATTENDING["bahdanau"]}).items(),
        ("gru", "rnn", "lstm", "lstmn"),
        (
            {},
            {"energy": "qkv", "heads": 2},
            {},
            {"energy": "additive", "coverage": True, "normalizer": "sparsemax"},
        ),
        strict=True,
    )
} | {
    f"hard-monotonic-{cell}-{energy}": {
        "kind": "hard-monotonic",
        "cell": cell,
        "num_layers": depth,
        "attention": {"energy": energy},
    }
    for cell, energy, depth in (("lstm", "bilinear", 1), ("gru", "additive", 2), ("lstmn", "dot", 1))
}
# and what further options change in the wiring
FURTHER = {
    "bahdanau-residual": {"kind": "bahdanau", "num_layers": 3, "residual": True},
    "luong-residual": {"kind": "luong", "num_layers": 2, "residual": True},
    "luong-project": {"kind": "luong", "bridge": "project", "cell": "lstm", "num_layers": 2},
    "bahdanau-copy": {"kind": "bahdanau", "bridge": "copy"},
    "bahdanau-copy-lstm": {"kind": "bahdanau", "bridge": "copy", "cell": "lstm"},
    "bahdanau-copy-lstmn": {"kind": "bahdanau", "bridge": "copy", "cell": "lstmn"},
    "bahdanau-state": {"kind": "bahdanau", "readout": "state"},
    "bahdanau-state-lstm": {"kind": "bahdanau", "readout": "state", "cell": "lstm", "copy": True},
    "cho-state": {"kind": "cho", "readout": "state", "cell": "rnn"},
    "lecture": {
        "kind": "bahdanau",
        "readout": "state",
        "bridge": "copy",
        "cell": "rnn",
        "encoder": _ONE_WAY | {"state_size": 4},
    },
    "bahdanau-values": {"kind": "bahdanau", "attention": {"energy": "qkv", "value_size": 3}},
    "luong-values": {"kind": "luong", "attention": {"energy": "qkv", "value_size": 6, "heads": 2}},
    "luong-values-lstm": {
        "kind": "luong",
        "cell": "lstm",
        "copy": True,
        "attention": {"energy": "qkv", "value_size": 5, "scaled": False},
    },
    "luong-unscaled-lstm": {
        "kind": "luong",
        "cell": "lstm",
        "attention": {"energy": "qkv", "value_size": 5, "scaled": False},
    },
    "rnn-sum-qk": {"cell": "rnn-sum", "memory": {"energy": "qk"}, "encoder": {"memory": {"energy": "qk"}}},
    "lstmn-unscaled": {"cell": "lstmn", "memory": {"energy": "qkv", "scaled": False}},
    "bahdanau-no-bias": {"kind": "bahdanau", "bias": False, "encoder": {"bias": False}},
    "luong-no-bias-lstm": {"kind": "luong", "cell": "lstm", "bias": False, "encoder": {"bias": False}},
    "sutskever-no-bias-sigmoid": {
        "kind": "sutskever",
        "cell": "rnn-sigmoid",
        "bias": False,
        "encoder": {"bias": False},
    },
    "bahdanau-one-way": {"kind": "bahdanau", "encoder": _ONE_WAY | {"state_size": 4}},
    "cho-reversed": {"kind": "cho", "encoder": _ONE_WAY | {"reverse": True, "cell": "lstm"}},
    "sutskever-reversed": {"kind": "sutskever", "encoder": _ONE_WAY | {"reverse": True, "state_size": 4}},
    "cho-reversed-lstmn": {"kind": "cho", "cell": "lstmn", "encoder": _ONE_WAY | {"reverse": True}},
}


@pytest.fixture(params=[pytest.param(options, id=name) for name, options in (GRID | FURTHER).items()])
def grid_options(request: pytest.FixtureRequest) -> dict[str, object]:
    """What `tiny_model` takes for every cell and every attention on each decoder: the laws hold for every one."""
    return dict(request.param)


@pytest.fixture
def grid_model(grid_options: dict[str, object], tiny_model: Callable[..., models.Seq2Seq]) -> models.Seq2Seq:
    """A tiny model of every cell and every attention on each decoder."""
    return tiny_model(**grid_options)


@contextmanager
def _largest_file(size: int) -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, handler)


@pytest.fixture
def largest_file():
    """A context manager in which no file can exceed a number of bytes: writing fails, as on a full disk."""
    return _largest_file


# Runs of at most a second: copying sentences of five words, models of a few units.


WORDS = "a b c d e"


def _pairs(count, seed=0):
    rng = random.Random(seed)
    lines = [" ".join(rng.choices(WORDS.split(), k=rng.randint(1, 6))) for _ in range(count)]
    return [SentencePair(line, line.upper()) for line in lines]


@pytest.fixture
def pairs():
    """Generates a number of pairs."""
    return _pairs


@pytest.fixture
def run_config():
    """Builds the configuration of a tiny run of five updates without dropout; keyword arguments override it."""

    def build(**over):
        tiny = {
            "preset": "rnnsearch-small",
            "tokenizer": {"source": "word", "target": "word"},
            "model": {
                "encoder": {"embedding_size": 4, "state_size": 4, "dropout": 0.0},
                "decoder": {
                    "embedding_size": 4,
                    "state_size": 8,
                    "attention": {"size": 4},
                    "readout_size": 4,
                    "dropout": 0.0,
                },
            },
            "training": {
                "learning_rate": 0.01,
                "schedule": "constant",
                "warmup": 0,
                "label_smoothing": 0.0,
                "batch_sentences": 8,
                "max_epochs": 0.0,
                "max_updates": 5,
                "select": "loss",
                "device": "cpu",
            },
        }
        return configure(merge(tiny, over))

    return build


@pytest.fixture(scope="session")
def fabric():
    return build_fabric(TrainingConfig(max_updates=1, device="cpu"))


@pytest.fixture
def prepared(pairs):
    """Forty training pairs and ten validation pairs, as ids."""
    return prepare(
        pairs(40), pairs(10, seed=1), DataConfig(), TokenizerConfig(source="word", target="word"), seed=1
    )


@pytest.fixture
def small_model(run_config, prepared):
    """A model for `prepared`, the same at each call."""

    def build(seed=1, **over):
        torch.manual_seed(seed)
        config = run_config(**over).model
        return Seq2Seq(config, prepared.tokenizers["source"].size, prepared.tokenizers["target"].size)

    return build


# Generated searches for plots of trees: partial hypotheses with their parents, as beam search returns them.


_WORDS = [
    "ein",
    "Donaudampfschiff",
    "a",
    "the",
    "comfortable",
    ".",
    "is",
    "where",
    "of",
    "l'",
    "grandfather",
    "we",
]


def _translation(path: list[PartialHypothesis], source: list[str]) -> Translation:
    tokens = tuple(partial.token for partial in path)
    return Translation(
        source=" ".join(source[:-1]),
        text=" ".join(tokens[:-1]),
        source_tokens=tuple(source),
        tokens=tokens,
        score=path[-1].score,
        log_prob=path[-1].total,
        token_log_probs=tuple(partial.log_prob for partial in path),
        alpha=None if path[0].alpha is None else np.stack([partial.alpha for partial in path]),
        source_words=(*range(len(source) - 1), None),
        target_words=(*range(len(tokens) - 1), None),
    )


@pytest.fixture
def grown() -> Callable[..., SearchTree]:
    """Generates a beam search over random probabilities, from a number of steps, a width and a seed."""

    def grow(num_steps: int = 6, width: int = 5, seed: int = 0, *, attends: bool = True) -> SearchTree:
        rng = random.Random(seed)
        source = [*rng.choices(_WORDS, k=4), "</s>"]
        partials: list[PartialHypothesis] = []
        steps: list[tuple[PartialHypothesis, ...]] = []
        alive: list[PartialHypothesis | None] = [None]
        num_finished = 0
        for t in range(num_steps):
            candidates = []
            for parent in alive:
                words = ["</s>"] if t == num_steps - 1 else rng.sample(_WORDS, width) + ["</s>"] * (t > 1)
                for word in words:
                    log_prob = math.log(rng.uniform(0.001, 0.05 if word == "</s>" else 0.9))
                    candidates.append(((parent.total if parent else 0.0) + log_prob, log_prob, word, parent))
            candidates.sort(key=lambda candidate: -candidate[0])
            step = []
            for rank, (total, log_prob, word, parent) in enumerate(candidates[: 2 * width]):
                fate = "finished" if word == "</s>" else "kept"
                fate = fate if rank < width - num_finished else "pruned"
                alpha = np.full(5, 0.1) + 0.5 * np.eye(5)[rng.randrange(5)] if attends else None
                number = len(partials)
                origin = None if parent is None else parent.id
                partial = PartialHypothesis(
                    number, origin, word, log_prob, total, total / (t + 1), fate, ((word, log_prob),), alpha
                )
                partials.append(partial)
                step.append(partial)
            steps.append(tuple(step))
            num_finished += sum(partial.fate == "finished" for partial in step)
            alive = [partial for partial in step if partial.fate == "kept"]
            if not alive:
                break
        best = max(
            (partial for partial in partials if partial.fate == "finished"), key=lambda partial: partial.score
        )
        path = [best]
        while path[0].parent is not None:
            path.insert(0, partials[path[0].parent])
        return SearchTree(_translation(path, source), tuple(steps))

    return grow


@pytest.fixture
def process_environment():
    """The environment of processes that are to import this package, of one thread each."""
    return {
        **{name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")},
        "PYTHONPATH": str(Path(models.__file__).parents[2]),
        "OMP_NUM_THREADS": "1",
    }


@pytest.fixture
def torchrun(process_environment):
    """Runs a script or a module in two processes that work together."""

    def run(*arguments, restarts=0):
        launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
        command = [*launcher, "--max-restarts", str(restarts), *map(str, arguments)]
        piped = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        with subprocess.Popen(command, env=process_environment, **piped) as process:
            try:
                out, err = process.communicate(timeout=120)
            except subprocess.TimeoutExpired:
                process.terminate()  # which ends its processes, too
                raise
        return subprocess.CompletedProcess(command, process.returncode, out, err)

    return run
