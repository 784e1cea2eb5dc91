"""A sample of the sentences that a model was trained on, with all states of each, to be searched.

In: a predictor that was opened from a folder, whose ``train.toml`` names the data of the run. Out: the places where
given units are on together (select and match, Strobelt et al. 2018), the states nearest to a given one, units that
behave alike, and the principal components of all states. Memory is bounded by `MOST_SENTENCES` and `MOST_BYTES`, and
each call reads on for a bounded time only: what it answers is about the sentences read so far.
"""

import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.checkpoint import ModelFolder, read_options
from regard.errors import RegardError, nearest
from regard.tasks import TASKS
from regard.tasks.preparation import Preparation, is_prepared, open_prepared
from regard.tasks.trace import Trace, TracedSection, TracedStep
from regard.text import FeaturedText
from regard.training.configure import configure

MOST_SENTENCES = 1000
MOST_BYTES = 64 << 20
"""Of the states of one model's sample, in half precision."""

_MOST_READ = 100_000  # examples of a file, of which the sample is taken
_MOST_CHARACTERS = 500  # of a sentence; a longer one is left out
_MOST_COMPONENT_ROWS = 2000
_LABEL = {"train": "training", "valid": "validation"}

Matrix = NDArray[np.float32]
Split = Literal["train", "valid"]


@dataclass(frozen=True)
class Example:
    """An example of a run's data.

    Attributes:
        input: what the predictor reads.
        reference: what its output is compared with; empty where there is none.
    """

    input: Any
    reference: str

    @property
    def text(self) -> str:
        """The input as a person types it."""
        if isinstance(self.input, FeaturedText):
            return f"{self.input.text}\t{';'.join(self.input.features)}"
        return " | ".join(self.input) if isinstance(self.input, tuple) else str(self.input)


def read_examples(
    folder: str | None, task: str, count: int, order: Sequence[Split]
) -> tuple[str, list[Example]]:
    """A sample of a run's data.

    Args:
        folder: of the model; of an ensemble, the data of its first member are read. None for a model without.
        task: the model's.
        count: the most examples.
        order: the splits to look for, the first that is there is taken.

    Returns:
        What they are, such as "training", and the examples, the same ones at every call.

    Raises:
        RegardError: the folder names no data, or they are not there.
    """
    if folder is None:
        raise RegardError("this model was not opened from a folder, so its data are not known")
    path = ModelFolder(folder).members[0].path
    options = path / "train.toml"
    if not options.is_file():
        raise RegardError("the model's folder has no train.toml, which names its data")
    config: Any = configure(read_options(options), plan={})
    preparation: Preparation[Any] = TASKS[task].preparing()(config)
    missing: list[str] = []
    for split in order:
        names = getattr(config.data, split)
        files = [_find(name, path) for name in names]
        if files and all(files):
            label, examples = _LABEL[split], _read(preparation, [str(file) for file in files])
            if is_prepared([str(file) for file in files]):
                label, examples = _LABEL["valid"], iter(open_prepared(preparation).valid)
            read = (Example(*preparation.input_and_reference(each)) for each in islice(examples, _MOST_READ))
            return label, _sample(
                [each for each in read if 0 < len(each.text.strip()) <= _MOST_CHARACTERS], count
            )
        missing += [name for name, file in zip(names, files, strict=True) if file is None]
    if not missing:
        raise RegardError("the run was trained on examples from memory, so there is no file to search")
    raise RegardError(
        f"the data of the run are not here: {', '.join(missing)}; start the studio where it was trained"
    )


def _find(name: str, folder: Path) -> Path | None:
    """A file or a store of the run; in the folder of a demonstration that was moved, its corpus."""
    choices = (Path(name), folder / "corpus" / Path(name).name)
    return next((path for path in choices if path.is_file() or path.is_dir()), None)


def _read(preparation: Preparation[Any], files: Sequence[str]) -> Iterator[Any]:
    for group in preparation.group(files):
        yield from preparation.read(group, lambda note: None)


def _sample(examples: list[Example], count: int) -> list[Example]:
    chosen = sorted(random.Random(1).sample(range(len(examples)), min(count, len(examples))))
    return [examples[k] for k in chosen]


def word_of(section: TracedSection, step: TracedStep) -> str:
    """What a step is called: the word that a decoder writes, or that another section reads."""
    return step.output if section.key.startswith("decoder") and step.output else step.token


class Place(NamedTuple):
    """A step of a sentence, or several in a row, that was found.

    Attributes:
        sentence: its index.
        first: the first step.
        last: the last step.
        value: by which it was found.
    """

    sentence: int
    first: int
    last: int
    value: float


class Components(NamedTuple):
    """Principal components of states.

    Attributes:
        mean: (units,).
        axes: (2, units).
        shares: of the variance, of each axis.
    """

    mean: Matrix
    axes: Matrix
    shares: list[float]


class Corpus:
    """The sample of one model.

    Args:
        predictor: of a task that has traces.
        member: of an ensemble, whose states.

    Attributes:
        label: what the sentences are, such as "training"; empty without any.
        problem: why there are none; empty if there are some.
        examples: the sentences, read or not.
        num_read: how many were read.
    """

    def __init__(self, predictor: Any, member: int | None = None) -> None:
        self._predictor, self._member = predictor, member
        self.label, self.problem, self.examples = "", "", list[Example]()
        self.num_read = 0
        self._bytes = 0
        self._words: dict[str, dict[int, list[str]]] = {}
        self._states: dict[tuple[str, str], dict[int, NDArray[np.float16]]] = {}
        try:
            self.label, self.examples = read_examples(
                predictor.folder, predictor.task, MOST_SENTENCES, ("train", "valid")
            )
        except RegardError as error:
            self.problem = str(error)

    @property
    def is_whole(self) -> bool:
        """Whether all was read that will be."""
        return self.num_read == len(self.examples)

    def read_on(self, seconds: float) -> None:
        """Read more sentences, at least one, for about a given time."""
        until = time.monotonic() + seconds
        while not self.is_whole:
            self._read_next()
            if self._bytes > MOST_BYTES:
                del self.examples[self.num_read :]
            if time.monotonic() > until:
                break

    def _read_next(self) -> None:
        index, example = self.num_read, self.examples[self.num_read]
        self.num_read += 1
        try:
            trace = self._trace(example)
        except RegardError:
            return  # too long, or blank once it is tokenized
        for section in trace.sections:
            if len(section.steps) < 2:
                continue
            ordered = sorted(section.steps, key=lambda step: step.position)
            self._words.setdefault(section.key, {})[index] = [word_of(section, step) for step in ordered]
            for part in section.parts:
                if part.axis == "units" and all(part.key in step.values for step in ordered):
                    rows = np.stack([step.values[part.key].reshape(-1) for step in ordered]).astype(
                        np.float16
                    )
                    self._states.setdefault((section.key, part.key), {})[index] = rows
                    self._bytes += rows.nbytes

    def _trace(self, example: Example) -> Trace:
        given: dict[str, Any] = {}
        if self._predictor.task == "translate":
            given = {"target": example.reference, "member": self._member}
        trace: Trace = self._predictor.trace(example.input, **given)
        return trace

    def words(self, section: str, sentence: int) -> list[str]:
        """What the steps of a sentence are called."""
        return self._words[section][sentence]

    def _of(self, section: str, part: str, text: str = "", width: int | None = None) -> dict[int, Matrix]:
        """The states of each sentence but those of a text, (steps, units).

        Raises:
            RegardError: there is no such part, or it has another number of units.
        """
        known = self._states.get((section, part))
        if known is None:
            if not self._states:
                return {}
            names = [" ".join(key) for key in self._states]
            raise RegardError(f"no part {part!r} of {section!r}; {nearest(f'{section} {part}', names)}")
        units = next(iter(known.values())).shape[1]
        if width is not None and width != units:
            raise RegardError(f"{width} numbers for {part} of {section}, which has {units} units")
        return {
            sentence: rows.astype(np.float32)
            for sentence, rows in known.items()
            if self.examples[sentence].text != text
        }

    def match(
        self,
        section: str,
        part: str,
        units: Sequence[int],
        *,
        threshold: float,
        below: bool = False,
        length: int = 1,
        edges: bool = False,
        text: str = "",
        count: int = 12,
    ) -> list[tuple[Place, list[int]]]:
        """Where the same units are on: in each sentence the best window of a length, the best sentences first.

        The units of a window are those that are on at all its steps. A window is as good as the share that they and
        the given units have in common: |A ∩ B| / |A ∪ B|.

        Args:
            section: of the trace.
            part: of the section.
            units: at least one.
            threshold: from which a unit is on; below −threshold where `below`.
            below: see there.
            length: of a window in steps.
            edges: whether a unit of a window must be off just before and after it.
            text: a sentence that is left out.
            count: the most sentences.

        Returns:
            Places, and for each how many of the units are on at each step of its sentence.

        Raises:
            RegardError: there is no such part, or no such unit.
        """
        found = []
        for sentence, rows in self._of(section, part, text).items():
            if max(units) >= rows.shape[1]:
                raise RegardError(f"unit {max(units)}: {part} of {section} has {rows.shape[1]} units, from 0")
            on = rows <= -threshold if below else rows >= threshold
            together = _windows(on, length, edges)
            if not len(together):
                continue
            wanted = np.zeros(rows.shape[1], dtype=bool)
            wanted[list(units)] = True
            shares = (together & wanted).sum(1) / (together | wanted).sum(1)
            first = int(shares.argmax())
            if shares[first] > 0:
                place = Place(sentence, first, first + length - 1, float(shares[first]))
                found.append((place, on[:, wanted].sum(1).tolist()))
        return sorted(found, key=lambda each: -each[0].value)[:count]

    def alike(self, section: str, part: str, units: Sequence[int], count: int = 8) -> list[tuple[int, float]]:
        """Other units by their correlation with the mean of some, over all steps that were read.

        Raises:
            RegardError: there is no such part.
        """
        known = self._of(section, part)
        if not known:
            return []
        rows = np.concatenate(list(known.values()))
        rows = rows - rows.mean(0)
        given = rows[:, list(units)].mean(1)
        scale = np.sqrt((rows**2).sum(0) * (given**2).sum())
        values = np.divide(given @ rows, scale, out=np.zeros_like(scale), where=scale > 0)
        order = np.argsort(-np.abs(values), kind="stable")
        chosen = [int(unit) for unit in order if unit not in set(units)][:count]
        return [(unit, float(values[unit])) for unit in chosen]

    def nearest(
        self, section: str, part: str, vector: Sequence[float], *, whole: bool, text: str = "", count: int = 8
    ) -> list[Place]:
        """The states nearest to a vector by cosine, the best of each sentence; or the sentences, by their mean state.

        Args:
            section: of the trace.
            part: of the section.
            vector: (units,).
            whole: whether sentences are compared, and not their steps.
            text: a sentence that is left out.
            count: how many.

        Raises:
            RegardError: there is no such part, or it has another number of units.
        """
        given = np.asarray(vector, dtype=np.float32)
        places = []
        for sentence, rows in self._of(section, part, text, len(given)).items():
            compared = rows.mean(0, keepdims=True) if whole else rows
            lengths = np.linalg.norm(compared, axis=1) * np.linalg.norm(given)
            cosines = compared @ given / np.maximum(lengths, 1e-12)
            best = int(cosines.argmax())
            first, last = (0, len(rows) - 1) if whole else (best, best)
            places.append(Place(sentence, first, last, float(cosines[best])))
        return sorted(places, key=lambda place: -place.value)[:count]

    def components(self, section: str, part: str) -> Components | None:
        """The first two principal components of all steps; None before a sentence was read.

        Raises:
            RegardError: there is no such part.
        """
        known = self._of(section, part)
        if not known:
            return None
        rows = np.concatenate(list(known.values()))
        rows = rows[:: -(-len(rows) // _MOST_COMPONENT_ROWS)]
        mean = rows.mean(0)
        centred = rows - mean
        variances, vectors = np.linalg.eigh(centred.T @ centred)  # the greatest last
        axes = vectors.T[:-3:-1]
        axes = np.where(axes.sum(1, keepdims=True) < 0, -axes, axes)  # a sign of its own, that stays
        shares = variances[:-3:-1] / max(float(variances.sum()), 1e-12)
        return Components(mean, axes, shares.tolist())

    def points(
        self, section: str, part: str, components: Components, count: int
    ) -> list[tuple[Place, list[float]]]:
        """Some steps of all sentences, and where the components put them.

        Raises:
            RegardError: there is no such part.
        """
        places = [
            (Place(sentence, step, step, 0.0), row)
            for sentence, rows in self._of(section, part).items()
            for step, row in enumerate(rows)
        ]
        stride = max(1, -(-len(places) // count))
        return [
            (place, ((row - components.mean) @ components.axes.T).tolist()) for place, row in places[::stride]
        ]


def _windows(on: NDArray[np.bool_], length: int, edges: bool) -> NDArray[np.bool_]:
    """For each window of a length, which units are on at all its steps, (windows, units)."""
    if length > len(on):
        return np.zeros((0, on.shape[1]), dtype=bool)
    counts = np.cumsum(np.pad(on, ((1, 0), (0, 0))), axis=0)
    together: NDArray[np.bool_] = counts[length:] - counts[:-length] == length
    if edges:
        together[1:] &= ~on[: len(together) - 1]
        together[:-1] &= ~on[length:]
    return together
