import json
import os
import subprocess
import sys
from dataclasses import replace

import pytest
import torch

from regard import device as threads
from regard.device import (
    SMALL_MODEL,
    ProcessorTimes,
    ThreadChoice,
    allowed_processors,
    choose_threads,
    threads_for_training,
    threads_set_to,
    use_threads,
)
from regard.errors import ConfigError
from regard.openmp import SPIN_COUNT
from regard.tasks.config import TrainingConfig


@pytest.fixture(autouse=True)
def restored():
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


@pytest.fixture
def container(tmp_path, monkeypatch):
    """A container of eight processors with a share of them."""

    def share(text, name="cpu.max"):
        (tmp_path / name).write_text(text)
        monkeypatch.setattr(threads, "_QUOTAS", (tmp_path / "cpu.max", tmp_path / "quota"))
        monkeypatch.setattr(threads, "_PERIOD", tmp_path / "period")
        monkeypatch.setattr(os, "sched_getaffinity", lambda pid: range(8))

    return share


def test_as_many_as_asked_for():
    assert use_threads(3) == torch.get_num_threads() == 3


def test_no_more_than_the_container_has(container):
    container("150000 100000\n")
    torch.set_num_threads(6)
    assert use_threads() == torch.get_num_threads() == 2


def test_fewer_stay_fewer(container):
    """Somebody said so, by OMP_NUM_THREADS for instance."""
    container("max 100000\n")
    torch.set_num_threads(1)
    assert use_threads() == 1


@pytest.mark.parametrize(("text", "allowed"), [("max 100000", 8), ("50000 100000", 1), ("rubbish", 8)])
def test_shares(container, text, allowed):
    container(text)
    assert allowed_processors() == allowed


def test_an_older_kernel(container, tmp_path):
    container("300000", "quota")
    (tmp_path / "period").write_text("100000")
    assert allowed_processors() == 3
    (tmp_path / "quota").write_text("-1")
    assert allowed_processors() == 8


def test_none_at_all():
    with pytest.raises(ConfigError, match="threads: 0 is out of range; it must be from 1 to 1024"):
        use_threads(0)
    with pytest.raises(ConfigError, match="threads: 100000 is out of range"):
        use_threads(100_000)


class TestChoice:
    """`choose_threads`, of four processors."""

    @pytest.mark.parametrize(
        ("busy", "limit", "number"),
        [(0, 4, 4), (0.4, 4, 4), (0.6, 4, 3), (3, 4, 1), (9, 4, 1), (1, 2, 2), (2.6, 2, 1), (0, 1, 1)],
    )
    def test_no_more_than_are_free(self, busy, limit, number):
        choice = choose_threads(SMALL_MODEL, limit, 4, busy)
        assert choice.number == number
        assert ("programs of equal or higher priority keep" in choice.reason) == (number < limit)

    def test_a_small_model_has_one(self):
        assert choose_threads(SMALL_MODEL - 1, 4, 4, 0).number == 1
        assert str(choose_threads(1000, 4, 4, 0)) == "1 thread: below 200,000 parameters, more gain nothing"

    def test_what_is_said(self):
        busy = choose_threads(SMALL_MODEL, 4, 4, 1.96)
        assert str(busy) == ("2 threads: programs of equal or higher priority keep 2.0 of 4 processors busy")
        assert str(choose_threads(1000, 1, 4, 0)) == "1 thread: as many as this process may use"

    def test_by_hand(self, container, monkeypatch):
        container("max 100000\n")
        torch.set_num_threads(4)
        since = ProcessorTimes(0, None, 0)
        monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
        assert threads_for_training(3, 10, since) == ThreadChoice(3, "training.threads")
        assert threads_for_training(0, 10, since).number == 1
        assert threads_for_training(0, SMALL_MODEL, since).number == 4
        monkeypatch.setenv("OMP_NUM_THREADS", "4")
        assert threads_for_training(0, 10, since) == ThreadChoice(4, "OMP_NUM_THREADS")


class TestLoad:
    """`ProcessorTimes` on a machine with three processors, of which this process may use two."""

    @pytest.fixture
    def machine(self, tmp_path, monkeypatch):
        ticks = os.sysconf("SC_CLK_TCK")
        monkeypatch.setattr(os, "getpriority", lambda which, who: 0)

        def tell(user, *, nice=0.0, system=0.0, load):
            times = [round(seconds * ticks) for seconds in (user, nice, system, 1e6, 1e6, 0, 0, 1e6)]
            line = " ".join(map(str, times))
            (tmp_path / "stat").write_text(f"cpu  {line}\ncpu0 {line}\ncpu1 {line}\ncpu2 {line}\nintr 5\n")
            monkeypatch.setattr(threads, "_STAT", tmp_path / "stat")
            monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 2})
            monkeypatch.setattr(os, "getloadavg", lambda: (load, 0, 0))

        return tell

    def since(self, machine, **given):
        """The work of others in ten seconds, of which this process worked four."""
        machine(100, load=0)
        before = ProcessorTimes.read()
        machine(**given)
        return replace(before, clock=before.clock - 10, own=before.own - 4).busy_with_others()

    def test_others_since_the_beginning(self, machine):
        assert self.since(machine, user=105, load=9) == pytest.approx(0.6, abs=0.05)
        assert self.since(machine, user=100, system=5, load=9) == pytest.approx(0.6, abs=0.05)

    def test_a_neighbour_of_a_moment_does_not_count(self, machine):
        assert self.since(machine, user=110, load=0.7) == 0.7
        assert self.since(machine, user=110, load=0.4) == 0

    def test_neither_do_programs_that_give_way(self, machine):
        assert self.since(machine, user=102, nice=10, load=9) == pytest.approx(0, abs=0.05)

    def process(self, tmp_path, number, *, user, system=0.0, nice, processor=0):
        """A process in `/proc`, with a name that looks like its fields."""
        ticks = os.sysconf("SC_CLK_TCK")
        cells = ["S", *["0"] * 36]
        for column, value in (
            (14, round(user * ticks)),
            (15, round(system * ticks)),
            (19, nice),
            (39, processor),
        ):
            cells[column - 3] = str(value)
        (tmp_path / str(number)).mkdir(exist_ok=True)
        (tmp_path / str(number) / "stat").write_text(f"{number} (a) b) {' '.join(cells)}\n")

    def busy(self, machine, tmp_path, monkeypatch, *, own, user=0.0, nice=0.0, others=()):
        """Others' work of ten seconds, of which this process, at the priority `own`, worked none."""
        monkeypatch.setattr(os, "getpriority", lambda which, who: own)
        machine(100, nice=100, load=9)
        for number, (its_nice, _) in enumerate(others, start=50):
            self.process(tmp_path, number, user=7, nice=its_nice)
        before = ProcessorTimes.read()
        machine(100 + user, nice=100 + nice, load=9)
        for number, (its_nice, seconds) in enumerate(others, start=50):
            self.process(tmp_path, number, user=7 + seconds, nice=its_nice)
        return replace(before, clock=before.clock - 10).busy_with_others()

    def test_equals_of_a_nice_training_count(self, machine, tmp_path, monkeypatch):
        """Each of two processors works ten seconds for programs that are as nice."""
        busy = self.busy(machine, tmp_path, monkeypatch, own=10, nice=10, others=[(10, 20)])
        assert busy == pytest.approx(2, abs=0.05)

    def test_those_below_it_do_not(self, machine, tmp_path, monkeypatch):
        busy = self.busy(machine, tmp_path, monkeypatch, own=10, nice=10, others=[(19, 15), (10, 5)])
        assert busy == pytest.approx(0.5, abs=0.05)

    def test_those_above_it_do(self, machine, tmp_path, monkeypatch):
        busy = self.busy(machine, tmp_path, monkeypatch, own=10, user=10, others=[(0, 20)])
        assert busy == pytest.approx(2, abs=0.05)

    def test_the_own_work_of_a_nice_training_is_no_one_else_s(self, machine, monkeypatch):
        monkeypatch.setattr(os, "getpriority", lambda which, who: 10)
        machine(100, load=9)
        before = ProcessorTimes.read()
        machine(110, nice=4, load=9)  # of two processors: 20 s of others, 8 of this process
        since = replace(before, clock=before.clock - 10, own=before.own - 8)
        assert since.busy_with_others() == pytest.approx(2, abs=0.05)

    def test_of_programs_run_with_nice_only_the_systems_work_was_counted(
        self, machine, tmp_path, monkeypatch
    ):
        monkeypatch.setattr(os, "getpriority", lambda which, who: 0)
        machine(100, load=9)
        self.process(tmp_path, 50, user=0, nice=10)
        before = ProcessorTimes.read()
        machine(
            105, nice=10, system=5, load=9
        )  # of two processors: 10 s of others; 20 and 10 of the nice program
        self.process(tmp_path, 50, user=20, system=10, nice=10)
        since = replace(before, clock=before.clock - 10)
        assert since.busy_with_others() == pytest.approx(1, abs=0.05)

    def test_work_on_other_processors_was_not_counted(self, machine, tmp_path, monkeypatch):
        monkeypatch.setattr(os, "getpriority", lambda which, who: 10)
        machine(100, load=9)
        self.process(tmp_path, 50, user=0, nice=19, processor=9)
        before = ProcessorTimes.read()
        machine(105, load=9)
        self.process(tmp_path, 50, user=10, nice=19, processor=9)
        since = replace(before, clock=before.clock - 10)
        assert since.busy_with_others() == pytest.approx(1, abs=0.05)

    def test_a_process_that_ended_changes_nothing(self, machine, tmp_path, monkeypatch):
        monkeypatch.setattr(os, "getpriority", lambda which, who: 0)
        machine(100, load=9)
        self.process(tmp_path, 50, user=1e3, system=1e3, nice=5)
        before = ProcessorTimes.read()
        (tmp_path / "50" / "stat").unlink()
        machine(105, load=9)
        assert replace(before, clock=before.clock - 10).busy_with_others() == pytest.approx(1, abs=0.05)

    def test_a_system_that_does_not_say_it(self, machine, tmp_path, monkeypatch):
        machine(100, load=9)
        monkeypatch.setattr(threads, "_STAT", tmp_path / "nothing")
        assert ProcessorTimes.read().total is None
        assert ProcessorTimes.read().busy_with_others() == 0

    def test_this_machine(self):
        before = ProcessorTimes.read()
        assert 0 <= before.busy_with_others() < 10_000


def test_the_number_of_before_comes_back():
    torch.set_num_threads(1)

    def fail():
        with threads_set_to(2):
            assert torch.get_num_threads() == 2
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert torch.get_num_threads() == 1


@pytest.mark.parametrize("value", [-1, 1025])
def test_a_run_with_an_impossible_number(value):
    with pytest.raises(
        ConfigError, match=f"training.threads: {value} is out of range; it must be from 0 to 1024"
    ):
        TrainingConfig(max_epochs=1, threads=value)


class TestWaiting:
    """The environment that libgomp reads when torch is imported."""

    def run(self, code, **variables):
        kept = {k: v for k, v in os.environ.items() if k not in ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY")}
        command, env = [sys.executable, "-c", code], kept | variables
        return subprocess.run(command, env=env, capture_output=True, text=True, check=True, timeout=60)

    def environment(self, code, **variables):
        report = "print(json.dumps([os.environ.get('GOMP_SPINCOUNT'), spins_long()]))"
        imports = "import json, os\nfrom regard.openmp import spins_long"
        return json.loads(self.run(f"{code}\n{imports}\n{report}", **variables).stdout)

    def test_set_before_torch_is_imported(self):
        loader = "import sys\nimport regard\nassert 'torch' not in sys.modules"
        assert self.environment(loader) == [str(SPIN_COUNT), False]

    def test_the_runtime_of_torch_reads_it(self):
        """libgomp prints what it read, as soon as it is loaded."""
        said = self.run("import regard, torch", OMP_DISPLAY_ENV="verbose").stderr
        if "GOMP_SPINCOUNT" not in said:
            pytest.skip("torch has another OpenMP runtime here")
        assert f"GOMP_SPINCOUNT = '{SPIN_COUNT}'" in said

    def test_the_user_s_choice_stays(self):
        assert self.environment("import regard", GOMP_SPINCOUNT="7") == ["7", False]
        assert self.environment("import regard", OMP_WAIT_POLICY="active") == [None, False]

    def test_too_late(self):
        """What stands for torch here is loaded faster."""
        code = "import sys, types\nsys.modules['torch'] = types.ModuleType('torch')\nimport regard"
        assert self.environment(code) == [None, True]
