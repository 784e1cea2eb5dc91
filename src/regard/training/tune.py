"""Random search with successive halving over the options of a training run.

In: a configuration or a plan from the data, and the options to vary with their ranges. Out: a folder with
``trials.jsonl``, one row per finished trial; ``trials/``, the model folder of each; ``report.json``; ``best.toml``, the
winner's configuration. Options are sampled at random (Bergstra & Bengio 2012). Every trial is first trained with a part
of the budget; the better third goes on to three times as much (Jamieson & Talwalkar 2016), from the beginning, since a
learning-rate schedule belongs to its budget. The first trial is the configuration as it is. A trial's options depend on
its number and the seed alone, so an interrupted search continues where it stopped, and a larger one takes over what a
smaller one finished.
"""

import json
import math
import random
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import regard.training.run as single
from regard.checkpoint import WEIGHTS
from regard.config import flatten, in_range, merge, parse_value, set_option, toml_value, write_toml
from regard.errors import ConfigError, DataError, RegardError
from regard.evaluation.metrics import METRICS, display_name, duration, format_score
from regard.io import LOCK, one_writer, parse_json, read_whole, write_whole_text
from regard.tasks.config import RunConfig
from regard.tasks.evaluation import write_report_json
from regard.training.configure import PlannedRun, plan_run
from regard.training.progress import Event, Listener, Note, Progress, ignore

FORMAT = 1
"""Of ``tune.json`` and ``trials.jsonl``."""

ETA = 3
"""From each rung to the next, this many times the budget for one in this many trials."""
_MAX_RUNGS = 3
_LOG_FROM = 5  # a range whose ends differ by more than this factor is sampled on a logarithmic scale
_TRIES = 200  # to sample options that no earlier trial has

Options = dict[str, Any]
"""Option path → value."""


@dataclass(frozen=True)
class Varied:
    """An option and the values it may take: a range, or a list.

    Attributes:
        path: such as ``training.learning_rate``.
        text: as it was written.
        values: the list; empty for a range.
        low: the range's lower end.
        high: the range's upper end.
        log: whether the range is sampled uniformly on a logarithmic scale.
    """

    path: str
    text: str
    values: tuple[Any, ...] = ()
    low: float = 0.0
    high: float = 0.0
    log: bool = False

    @classmethod
    def parse(cls, assignment: str) -> "Varied":
        """Read ``path=low..high``, with ``:log`` or ``:linear`` at its end if wanted, or ``path=one,other,…``.

        Raises:
            ConfigError: it is neither, or says nothing.
        """
        path, equals, text = (part.strip() for part in assignment.partition("="))
        if not path or not equals or not text:
            raise ConfigError(
                f"--vary {assignment}: write it as option=low..high or option=one,other, as "
                "--vary training.learning_rate=0.0005..0.004"
            )
        if ".." not in text:
            values = tuple(parse_value(value) for value in text.split(","))
            if len(set(map(repr, values))) < 2:
                raise ConfigError(f"--vary {assignment}: one value; give several, or --set {assignment}")
            return cls(path, text, values)
        ends, _, scale = text.partition(":")
        low, high = (parse_value(end) for end in ends.split("..", 1))
        numbers = [isinstance(end, int | float) and not isinstance(end, bool) for end in (low, high)]
        if not all(numbers) or not low < high:
            raise ConfigError(f"--vary {assignment}: a range has two numbers, the lower first, as 0.1..0.5")
        if scale not in ("", "log", "linear"):
            raise ConfigError(
                f"--vary {assignment}: no scale {scale!r}; write :log or :linear after the range"
            )
        if scale == "log" and low <= 0:
            raise ConfigError(f"--vary {assignment}: a logarithmic range begins above 0")
        log = scale == "log" or (not scale and low > 0 and high / low > _LOG_FROM)
        return cls(path, text, (), low, high, log)

    @property
    def is_whole(self) -> bool:
        """Whether it is a range of whole numbers."""
        return isinstance(self.low, int) and isinstance(self.high, int)

    @property
    def extremes(self) -> tuple[Any, ...]:
        """Values that have to be allowed: both ends, or the whole list."""
        return self.values or (self.low, self.high)

    def sample(self, rng: random.Random) -> Any:
        """A value at random; a fraction has four digits."""
        if self.values:
            return rng.choice(self.values)
        if self.log:
            value = math.exp(rng.uniform(math.log(self.low), math.log(self.high)))
        else:
            value = rng.uniform(self.low, self.high)
        if self.is_whole:
            return min(max(round(value), int(self.low)), int(self.high))
        return min(max(float(f"{value:.4g}"), self.low), self.high)


_MAX_BYTES = 1 << 26


@dataclass(frozen=True)
class Trial:
    """A finished trial, as ``trials.jsonl`` has it.

    Attributes:
        number: from 1; the first is the configuration as it is.
        fraction: of the budget it was trained with.
        options: those that were varied; none for the first.
        score: its best validation, by the selecting score; None if it failed.
        validation: all scores of that validation.
        updates: how many it trained for.
        seconds: how long it took, preparing included.
        folder: of its model, inside the search's folder.
        error: why it failed; empty if it did not.
    """

    number: int
    fraction: float
    options: Options
    score: float | None
    validation: dict[str, float]
    updates: int
    seconds: float
    folder: str
    error: str = ""

    def to_json(self) -> dict[str, Any]:
        """A row of ``trials.jsonl``."""
        return dict(vars(self))

    @property
    def budget(self) -> str:
        """The fraction as people write it: 1/9, 1/3, all."""
        return "all" if self.fraction == 1 else f"1/{round(1 / self.fraction)}"


_FIELDS: dict[str, Any] = {
    "number": int,
    "fraction": int | float,
    "options": dict,
    "score": int | float | None,
    "validation": dict,
    "updates": int,
    "seconds": int | float,
    "folder": str,
    "error": str,
}
"""The types in a row of ``trials.jsonl``; other rows are not of a search."""


@dataclass(frozen=True)
class Search:
    """A search that ended.

    Attributes:
        folder: where it is.
        select: the key of the score that ranks trials.
        trials: the finished ones, those with the largest budget first, each budget from best to worst.
        winner: the first of them.
        stopped: why it ended.
    """

    folder: Path
    select: str
    trials: tuple[Trial, ...]
    winner: Trial
    stopped: str

    def report(self) -> dict[str, Any]:
        """What ``report.json`` says."""
        return {
            "select": self.select,
            "stopped": self.stopped,
            "seconds": round(sum(trial.seconds for trial in self.trials), 3),
            "winner": self.winner.to_json(),
            "trials": [trial.to_json() for trial in self.trials],
        }


def plan_trials(
    *layers: Mapping[str, Any], preset: str | None = None, budget: float | None = None
) -> tuple[PlannedRun, Callable[[Mapping[str, Any]], RunConfig]]:
    """Plan a search from its data, as `plan_run` plans one training.

    A trial is planned with its own options, and with its part of the updates, as if they were given by hand: so warm-up
    and validations follow its length. All trials are selected by the same score.

    Args:
        layers: as `plan_run` takes them.
        preset: the starting point in place of a plan.
        budget: the minutes of a trial with the full budget.

    Returns:
        The configuration as it is, and options laid over it → a run, for `tune`.

    Raises:
        RegardError: as `plan_run`.
    """
    base = plan_run(*layers, preset=preset, budget=budget)
    select = {"training": {"select": base.config.training.select}}
    planned = {json.dumps({}): base.config}

    def configure_trial(options: Mapping[str, Any]) -> RunConfig:
        key = json.dumps(options)
        if key not in planned:
            planned[key] = plan_run(*layers, select, options, preset=preset, budget=budget).config
        return planned[key]

    return base, configure_trial


class _TimeOverError(Exception):
    """The search's time is over while a trial is trained."""


def tune(
    folder: str | Path,
    configure_trial: Callable[[Mapping[str, Any]], RunConfig],
    space: Sequence[Varied],
    *,
    num_trials: int = 20,
    max_minutes: float | None = None,
    seed: int = 1,
    listener: Listener = ignore,
) -> Search:
    """Search, or continue a search.

    Args:
        folder: a new one, or that of a search over the same options.
        configure_trial: options laid over the configuration → a run; of a full budget.
        space: what to vary.
        num_trials: how many are trained with the smallest budget.
        max_minutes: the time of all trials together, also those of earlier calls; None for no limit. Each rung gets an
            equal share of it; the trial in training when it is over is dropped.
        seed: of the sampled options.
        listener: called with a note for each trial, and with the progress of its training.

    Raises:
        RegardError: an option cannot be varied like that, the data cannot be used, or the folder holds something else.
    """
    in_range("--trials", num_trials, 1)
    if max_minutes is not None and not max_minutes > 0:
        raise ConfigError(f"--minutes {max_minutes:g}: give more than 0")
    base = configure_trial({})
    _check_space(base, configure_trial, space)
    with one_writer(Path(folder)):
        return _search(Path(folder), configure_trial, base, space, num_trials, max_minutes, seed, listener)


def _search(
    folder: Path,
    configure_trial: Callable[[Mapping[str, Any]], RunConfig],
    base: RunConfig,
    space: Sequence[Varied],
    num_trials: int,
    max_minutes: float | None,
    seed: int,
    listener: Listener,
) -> Search:
    """Search in a folder that no other process writes to."""
    state = _SearchState(folder, base, space, seed)
    tuner = _Tuner(state, configure_trial, base.training.select, max_minutes, listener)
    candidates = dict(enumerate(sample_trials(space, num_trials, seed), start=1))
    if len(candidates) < num_trials:
        listener(
            Note(f"the options have {len(candidates)} different combinations, so there are as many trials")
        )
    fractions = rung_fractions(len(candidates))
    stopped = f"{len(candidates)} trials are done"
    for rung, fraction in enumerate(fractions):
        end = None if max_minutes is None else 60 * max_minutes * (rung + 1) / len(fractions)
        try:
            for number, options in candidates.items():
                if end is not None and tuner.used() >= end and state.finished(fraction):
                    break  # the time of this rung
                tuner.run(number, options, fraction)
        except _TimeOverError:
            stopped = f"its time, {max_minutes:g} min, is over"
            break
        finished = [trial for trial in state.finished(fraction) if trial.number in candidates]
        ranked = [trial.number for trial in rank(finished, base.training.select) if trial.score is not None]
        candidates = {number: candidates[number] for number in ranked[: max(1, len(finished) // ETA)]}
        if not candidates:
            break
    return _finish(state, configure_trial, base.training.select, stopped)


def _finish(
    state: "_SearchState",
    configure_trial: Callable[[Mapping[str, Any]], RunConfig],
    select: str,
    stopped: str,
) -> Search:
    """Rank all trials, and write the report and the winner's configuration."""
    trials = [
        trial
        for fraction in sorted({trial.fraction for trial in state.trials}, reverse=True)
        for trial in rank(state.finished(fraction), select)
    ]
    winner = next((trial for trial in trials if trial.score is not None), None)
    if winner is None:
        raise ConfigError(
            f"{state.folder}: no trial was finished; give the search more time with --minutes, or trials a smaller "
            "budget with --updates or --epochs"
            if not trials
            else f"{state.folder}: every trial failed, the first with: {trials[0].error}"
        )
    search = Search(state.folder, select, tuple(trials), winner, stopped)
    write_report_json(state.folder, search.report())
    options = ", ".join(f"{path} = {toml_value(value)}" for path, value in winner.options.items())
    heading = (
        f"# trial {winner.number} of regard tune, {display_name(select)} {format_score(select, winner.score)} with "
        f"{winner.budget} of the budget\n# {options or 'the configuration as it was'}\n\n"
    )
    config = configure_trial(nested(winner.options))
    write_whole_text(state.folder / "best.toml", heading + write_toml(config.to_mapping()))
    return search


def _check_space(
    base: RunConfig, configure_trial: Callable[[Mapping[str, Any]], RunConfig], space: Sequence[Varied]
) -> None:
    """Raise where a search cannot be run, before any trial."""
    if not space:
        raise ConfigError("nothing to vary; name an option, as --vary training.learning_rate=0.0005..0.004")
    paths = [varied.path for varied in space]
    for path in paths:
        if paths.count(path) > 1:
            raise ConfigError(f"--vary {path}: given {paths.count(path)} times; put all values into one")
    if base.training.open_ended:
        raise ConfigError(
            "training: only patience ends a trial, so there is no budget to divide; set max_updates, max_epochs or "
            "max_minutes"
        )
    for varied in space:
        if varied.path in ("training.max_updates", "training.max_epochs", "training.max_minutes"):
            raise ConfigError(f"--vary {varied.path}: it is the budget, which is the same for all trials")
        for value in varied.extremes:
            try:
                configure_trial(nested({varied.path: value}))
            except ConfigError as error:
                raise ConfigError(f"--vary {varied.path}={varied.text}: {error}") from error


def sample_trials(space: Sequence[Varied], count: int, seed: int) -> Iterator[Options]:
    """The options of each trial: none for the first, then random ones, all different; fewer where there are fewer."""
    seen: set[str] = set()
    yield {}
    for number in range(2, count + 1):
        rng = random.Random(f"{seed} {number}")
        for _ in range(_TRIES):
            options = {varied.path: varied.sample(rng) for varied in space}
            if repr(options) not in seen:
                break
        else:
            return
        seen.add(repr(options))
        yield options


def rung_fractions(num_trials: int) -> list[float]:
    """The fraction of the budget of each rung: 1/9, 1/3, 1 for nine trials or more, fewer for fewer."""
    rungs = 1
    while rungs < _MAX_RUNGS and num_trials >= ETA**rungs:
        rungs += 1
    return [float(ETA) ** (rung - rungs + 1) for rung in range(rungs)]


def with_fraction(config: RunConfig, fraction: float) -> dict[str, Any]:
    """The options that limit a run to a fraction of its budget."""
    training = config.training
    limits: dict[str, Any] = {}
    if training.max_updates:
        limits["max_updates"] = max(1, math.ceil(round(training.max_updates * fraction, 6)))
    for name in ("max_epochs", "max_minutes"):
        if value := getattr(training, name):
            limits[name] = value * fraction
    return {"training": limits}


def rank(trials: Sequence[Trial], select: str) -> list[Trial]:
    """From best to worst by the selecting score; failed ones last."""
    sign = 1 if METRICS[select].better == "lower" else -1
    return sorted(
        trials,
        key=lambda trial: (
            trial.score is None,
            0.0 if trial.score is None else sign * trial.score,
            trial.validation.get("loss", math.inf),
            trial.number,
        ),
    )


def nested(options: Options) -> dict[str, Any]:
    """Options by path → tables, as a file has them."""
    tables: dict[str, Any] = {}
    for path, value in options.items():
        set_option(tables, f"{path}={toml_value(value)}")
    return tables


class _SearchState:
    """The files of a search: what it searches, and its finished trials.

    Args:
        folder: of the search.
        base: the configuration as it is.
        space: what is varied.
        seed: of the sampled options.

    Raises:
        DataError: the folder holds another search or something else.
    """

    def __init__(self, folder: Path, base: RunConfig, space: Sequence[Varied], seed: int) -> None:
        self.folder = folder
        self._log = folder / "trials.jsonl"
        self.trials: list[Trial] = []
        described = {
            "format": FORMAT,
            "seed": seed,
            "vary": {varied.path: varied.text for varied in space},
            "base": base.to_mapping(),
        }
        description = folder / "tune.json"
        if description.exists():
            try:
                before = parse_json(read_whole(description, _MAX_BYTES))
                if not isinstance(before, dict):
                    raise ValueError("not a table of options")
                text = read_whole(self._log, _MAX_BYTES).decode("utf-8") if self._log.exists() else ""
            except (OSError, ValueError) as error:
                raise DataError(
                    f"{folder}: a damaged search ({error}); remove it, or choose another folder"
                ) from error
            self._check(before, json.loads(json.dumps(described)))
            self._read(text)
            return
        if any(path.name != LOCK for path in folder.iterdir()):
            raise DataError(f"{folder}: not empty, and not a search of `regard tune`; choose another folder")
        write_whole_text(description, json.dumps(described, indent=2, ensure_ascii=False) + "\n")

    def _check(self, before: Mapping[str, Any], now: Mapping[str, Any]) -> None:
        old, new = flatten(before), flatten(now)
        for path in (*new, *old):
            if old.get(path) != new.get(path):
                name = path.removeprefix("base.")
                values = " and ".join(
                    toml_value(each[path]) if path in each else "not given" for each in (old, new)
                )
                raise DataError(
                    f"{self.folder}: a search with other options ({name}: {values}); repeat its command to continue "
                    "it, with more --trials or --minutes if you like, or choose another folder"
                )

    def _read(self, text: str) -> None:
        for line in text.split("\n"):
            try:
                trial = Trial(**parse_json(line))
            except (ValueError, TypeError):
                continue  # a row that a killed search left unfinished
            if all(isinstance(value, _FIELDS[name]) for name, value in vars(trial).items()):
                self.trials.append(trial)
        if text and not text.endswith("\n"):
            with self._log.open("a", encoding="utf-8") as file:
                file.write("\n")

    def add(self, trial: Trial) -> None:
        """Record a finished trial; it is on disk when this returns."""
        try:
            with self._log.open("a", encoding="utf-8") as file:
                file.write(json.dumps(trial.to_json(), ensure_ascii=False) + "\n")
        except OSError as error:
            raise DataError(
                f"{self._log}: cannot be written ({error.strerror or error}); free some space, and repeat the command"
            ) from error
        self.trials.append(trial)

    def finished(self, fraction: float) -> list[Trial]:
        """The finished trials with a fraction of the budget."""
        return [trial for trial in self.trials if math.isclose(trial.fraction, fraction)]


class _Tuner:
    """Runs trials.

    Args:
        state: of the search.
        configure_trial: as `tune` takes it.
        select: the key of the score that ranks trials.
        max_minutes: as `tune` takes it.
        listener: as `tune` takes it.
    """

    def __init__(
        self,
        state: _SearchState,
        configure_trial: Callable[[Mapping[str, Any]], RunConfig],
        select: str,
        max_minutes: float | None,
        listener: Listener,
    ) -> None:
        self._state, self._configure, self._select = state, configure_trial, select
        self._max_seconds = math.inf if max_minutes is None else 60 * max_minutes
        self._listener = listener

    def used(self) -> float:
        """The seconds of all finished trials."""
        return sum(trial.seconds for trial in self._state.trials)

    def run(self, number: int, options: Options, fraction: float) -> None:
        """Train one trial, unless it was trained before.

        Raises:
            _TimeOverError: the search's time was over before its end.
            RegardError: the first trial failed: the data or the configuration cannot be used.
        """
        if any(trial.number == number for trial in self._state.finished(fraction)):
            return
        left = self._max_seconds - self.used()
        if left <= 0:
            raise _TimeOverError
        folder = Path("trials") / f"{number:03d}-{100 * fraction:.0f}"
        path = self._state.folder / folder
        started = time.monotonic()

        def listen(event: Event) -> None:
            if time.monotonic() - started > left:
                raise _TimeOverError
            if isinstance(event, Progress):
                self._listener(event)

        report: dict[str, Any] = {}
        error = ""
        try:
            config = self._configure(merge(nested(options), with_fraction(self._configure({}), fraction)))
            report = single.run_training(path, config, listener=listen, page=False, resume=True).report
        except _TimeOverError:
            shutil.rmtree(path, ignore_errors=True)
            raise
        except RegardError as failure:
            if number == 1:
                raise
            error = str(failure)
        validation = report.get("validation", {})
        score = validation.get(self._select)
        if score is not None and not math.isfinite(score):
            error, score = f"the {display_name(self._select)} is {score}", None
        if fraction < 1:  # only models of the full budget are worth their space
            for name in WEIGHTS:
                (path / f"{name}.safetensors").unlink(missing_ok=True)
            shutil.rmtree(path / "checkpoints", ignore_errors=True)
        trial = Trial(
            number,
            fraction,
            options,
            score,
            validation,
            int(report.get("updates", 0)),
            round(max(time.monotonic() - started, report.get("train_seconds", 0.0)), 3),
            str(folder),
            error,
        )
        self._state.add(trial)
        self._listener(Note(self._describe(trial)))

    def _describe(self, trial: Trial) -> str:
        options = ", ".join(f"{path}={toml_value(value)}" for path, value in trial.options.items())
        score = f"{display_name(self._select)} {format_score(self._select, trial.score)}"
        outcome = f"failed: {trial.error}" if trial.error else f"{score} after {duration(trial.seconds)}"
        return f"trial {trial.number}, {trial.budget} of the budget ({options or 'as it is'}): {outcome}"
