"""docs/lectures.md, third column: every experiment, run at toy size, runs the lines of its rows in the form they name.

Each experiment is run once, in this process and by the naive paths, while a trace records which of the linked lines
run, in which arm (the texts among the arguments of a call of `Bench.starmap`), and whether what is true of the row's
form is true there: its cell, its energy, its output.
"""

import importlib.util
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
import torch
from torch import nn

from regard.lab import EXPERIMENTS, find_experiment
from regard.lab.runner import Bench
from regard.layers import CELLS, LSTM, Cell
from regard.ops.paths import naive_only
from regard.ops.tape import AdditiveScoring

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "regard"
ROW = re.compile(
    r"^\| (?P<claim>.+?) \| \[[\w/.:]+\]\(\.\./src/regard/(?P<file>[\w/.]+)#L(?P<line>\d+)\) "
    r"`(?P<quoted>[^`]+)` \| (?P<named>.+) \|$"
)
NAMED = re.compile(r"`regard lab (\w+)`(?: \(`([^`]+)`\))?")

FORMS: dict[str, Callable[[dict[str, Any]], bool]] = {
    "h_t = o_t ∘ c_t": lambda here: here["output"] == "plain",
    "c_t = f_t ∘ c′_t": lambda here: here["output"] == "tanh",
    "SimpleRNN: h_1 = tanh(A": lambda here: here["activation"] == "tanh",
    "s_t = tanh(a_t)": lambda here: here["activation"] == "tanh",
    "h_t = sigm(": lambda here: here["activation"] == "sigmoid" and not here["cell"].bias,
    "y_t = W^{yh} h_t": lambda here: not isinstance(here["self"].b_o, nn.Parameter),
    "o_t = c + V s_t": lambda here: isinstance(here["self"].b_o, nn.Parameter),
    "Σ_m exp(q_n k_m)": lambda here: here.get("scaled") is False,
    "softmax(⟨W_Qᵀ e_bird": lambda here: here.get("scaled") is False,
    "context vector c (often c = h_T)": lambda here: not here["encoded"].backward_last,
    "h_t = f(x_t, h_{t−1}), c = q(": lambda here: type(here["self"].stack.layers[0]) is LSTM,
    "α_i from x_t, s_{t−1} and h_i, by": lambda here: isinstance(here["scoring"], AdditiveScoring),
    "LSTM with self-attention: s_t": lambda here: isinstance(here["scoring"], AdditiveScoring),
    "SimpleRNN + Self-Attention: h_1 =": lambda here: here["U"].shape[1] == here["U"].shape[0],
    '"of course x_1, c_0 and h_0 can': lambda here: here["U"].shape[1] == 2 * here["U"].shape[0],
    "weights α_i = align(h_i, h_t)": lambda here: isinstance(here["scoring"], AdditiveScoring),
    "c_4 = α_1 h_1": lambda here: isinstance(here["scoring"], AdditiveScoring),
}
"""By the beginning of a row: what must be true of the variables where its line runs; `cell` is the cell it runs in."""


@dataclass(frozen=True)
class Row:
    """A row of the page: what the lecture says, the line, and the experiments with their arms."""

    claim: str
    file: str
    line: int
    quoted: str
    named: tuple[tuple[str, str], ...]

    @property
    def form(self) -> Callable[[dict[str, Any]], bool] | None:
        return next((form for start, form in FORMS.items() if self.claim.startswith(start)), None)


def read_rows() -> list[Row]:
    found = []
    for line in (ROOT / "docs" / "lectures.md").read_text(encoding="utf-8").splitlines():
        if (match := ROW.match(line)) and "regard lab" in match["named"]:  # the others name presets
            named = tuple(NAMED.findall(match["named"]))
            found.append(Row(match["claim"], match["file"], int(match["line"]), match["quoted"], named))
    return found


ROWS = read_rows()


@dataclass
class Record:
    """Which rows' lines ran, in which arms.

    Attributes:
        rows: whose lines are looked for.
        arm: that runs now.
        ran: (row, arm); the empty arm is any.
    """

    rows: Sequence[Row]
    arm: str = ""
    ran: set[tuple[Row, str]] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.lines: dict[tuple[str, int], list[Row]] = {}
        self.names: dict[str, list[Row]] = {}
        for row in self.rows:
            if kind := re.match(r"(?:def|class) (\w+)", row.quoted):
                self.names.setdefault(kind[1], []).append(row)
            else:
                self.lines.setdefault((str(PACKAGE / row.file), row.line), []).append(row)
        self.files = {file for file, _ in self.lines}

    def note(self, row: Row, frame: FrameType) -> None:
        if (row, self.arm) not in self.ran and (row.form is None or row.form(self.variables(frame))):
            self.ran |= {(row, ""), (row, self.arm)}

    @staticmethod
    def variables(frame: FrameType) -> dict[str, Any]:
        """Of a frame, and the cell that called it."""
        caller: FrameType | None = frame
        while caller is not None and not isinstance(caller.f_locals.get("self"), Cell):
            caller = caller.f_back
        return {**frame.f_locals, "cell": None if caller is None else caller.f_locals["self"]}

    def on_call(self, frame: FrameType, event: str, _: Any) -> Any:
        code = frame.f_code
        for row in self.names.get(code.co_name, ()):
            if code.co_filename == str(PACKAGE / row.file):
                self.note(row, frame)
        if code.co_name == "__init__":
            for kind in type(frame.f_locals.get("self")).__mro__:
                for row in self.names.get(kind.__name__, ()):
                    self.note(row, frame)
        return self.on_line if code.co_filename in self.files else None

    def on_line(self, frame: FrameType, event: str, _: Any) -> Any:
        if event == "line":
            for row in self.lines.get((frame.f_code.co_filename, frame.f_lineno), ()):
                self.note(row, frame)
        return self.on_line


@contextmanager
def traced(record: Record) -> Iterator[None]:
    before = sys.gettrace()
    sys.settrace(record.on_call)
    try:
        yield
    finally:
        sys.settrace(before)


@dataclass(frozen=True)
class RecordingBench(Bench):
    """Says which arm runs."""

    record: Record = field(default_factory=lambda: Record([]))

    def starmap(self, work: Callable[..., Any], arguments: Sequence[tuple[Any, ...]]) -> list[Any]:
        results = []
        for each in arguments:
            self.record.arm = " · ".join(one for one in each if isinstance(one, str))
            results.append(work(self, *each))
            self.record.arm = ""
        return results


def toy_of(name: str) -> Any:
    """The toy size of the experiment's own test."""
    spec = importlib.util.spec_from_file_location(f"toy_{name}", Path(__file__).parent / f"test_{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.TOY


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_row_s_line_is_run_by_its_experiment_in_its_form(name: str, tmp_path: Path) -> None:
    rows = [row for row in ROWS if name in dict(row.named)]
    assert rows, "every experiment has a row"
    record = Record(rows)
    with naive_only(), traced(record):
        find_experiment(name).measure(RecordingBench(tmp_path, record=record), toy_of(name))
    faults = [
        f"{row.claim[:60]} → {row.file}:{row.line} in {arm or 'any arm'}"
        for row in rows
        for experiment, arm in row.named
        if experiment == name and (row, arm) not in record.ran
    ]
    assert not faults, "\n".join([f"docs/lectures.md: `regard lab {name}` does not run", *faults])


def test_every_row_of_the_page_is_read() -> None:
    page = (ROOT / "docs" / "lectures.md").read_text(encoding="utf-8")
    assert len(ROWS) == len(re.findall(r"^\| .* \| .*`regard lab ", page, flags=re.MULTILINE)) > 100
    assert all(row.named for row in ROWS)


@pytest.mark.parametrize("start", FORMS)
def test_every_form_belongs_to_one_row(start: str) -> None:
    assert sum(row.claim.startswith(start) for row in ROWS) == 1


def test_a_line_that_is_not_run_or_run_in_another_form_is_noticed() -> None:
    starts = ("s_t = tanh(a_t)", "h_t = sigm(", "the standard LSTM")
    tanh, sigmoid, lstm = (next(row for row in ROWS if row.claim.startswith(start)) for start in starts)
    record = Record([tanh, sigmoid, lstm], "rnn")
    with naive_only(), traced(record):
        CELLS["rnn"](2, 2)(torch.zeros(1, 1, 2))
        CELLS["rnn-sigmoid"](2, 2)(torch.zeros(1, 1, 2))  # with a bias, which the lecture does not have
    assert record.ran == {(tanh, ""), (tanh, "rnn")}
    with naive_only(), traced(record):
        CELLS["rnn-sigmoid"](2, 2, bias=False)(torch.zeros(1, 1, 2))
    assert (sigmoid, "rnn") in record.ran
