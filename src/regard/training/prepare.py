"""``regard prepare``: files of text → a store, in parallel and resumably, in memory that does not grow with them.

In: files, options as for training. Out: a folder with a store, its tokenizers, its validation examples and a report.
The text is read twice: once to count it and to sample what the tokenizers and the plan are made from, and once to
encode it, in chunks. A chunk becomes a part of the store in any process; what a part was made from is kept until the
store is complete, so preparing that was stopped goes on after its last part. The result does not depend on the number
of processes, nor on whether it was stopped. Under torchrun, every n-th chunk is one of n processes', which write into
one folder; the first of them does the rest. Knows tasks only through `TASKS`.
"""

import hashlib
import json
import random
import shutil
import sys
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from functools import lru_cache
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from regard.batches.store import (
    Part,
    Store,
    is_store,
    is_whole,
    read_part,
    write_manifest,
    write_part,
)
from regard.config import merge, one_of
from regard.device import allowed_processors
from regard.errors import ConfigError, DataError
from regard.io import (
    LOCK,
    build_dataclass,
    make_folder,
    one_writer,
    parse_json,
    read_whole,
    remove_file,
    remove_half_written,
    write_whole,
    write_whole_text,
)
from regard.processes import Processes, join_shares
from regard.tasks import TASKS
from regard.tasks.config import RunConfig, TrainingConfig
from regard.tasks.preparation import LABELS, MAX_WEIGHT, VALID, Corpus, Preparation, StoreFacts
from regard.tasks.recognize import are_read_once
from regard.text import Labels, Tokenizer
from regard.text.formats import STDIN
from regard.text.formats.files import COMPRESSED
from regard.text.specials import UNK
from regard.text.tokenizer import MAX_TOKENIZER_BYTES
from regard.training.configure import plan_run, recognize
from regard.training.corpus_counts import CorpusCounts, mark_repeated
from regard.worker_pool import worker_killed, workers

REPORT = "report.json"
_UNFINISHED = "unfinished"
_SETTINGS = "settings.json"
_CHECKSUM = "sha256"
_SAMPLE = 200_000
"""The most examples that tokenizers and the plan are made from."""
_CHUNK = 20_000
"""Examples read for one part."""
_VALID_SHARE, _MAX_VALID = 1 / 20, 1000
_MAX_PART_JSON = 1 << 30
_IN_FLIGHT = 2  # chunks that wait for each process


@dataclass(frozen=True)
class PrepareProgress:
    """How far preparing is: examples encoded, and how many there are."""

    num_read: int
    total: int


def prepare_store(
    folder: str | Path,
    train: Sequence[str],
    *layers: Mapping[str, Any],
    valid: Sequence[str] = (),
    tests: Sequence[str] = (),
    weights: Sequence[float] = (),
    preset: str | None = None,
    jobs: int | None = 1,
    listener: Callable[[str], None] = lambda note: None,
    progress: Callable[[PrepareProgress], None] = lambda done: None,
) -> dict[str, Any]:
    """Prepare a corpus for training.

    Args:
        folder: of the store; what was begun in it is finished.
        train: files, as for training; several corpora are one after the other.
        layers: options as for training, the last one wins; those of ``tokenizer`` and the filters of ``data`` count.
        valid: the validation examples' files; without any, some training examples are split off.
        tests: files of test examples, of the same form: their inputs are looked for among the training examples.
        weights: how often an epoch has the examples of each corpus; none for once each.
        preset: as for training.
        jobs: the number of worker processes; None for one per processor.
        listener: called with sentences for the user.
        progress: called after each chunk.

    Returns:
        The report, as ``report.json`` has it.

    Raises:
        RegardError: the text, the options or the folder cannot be used.
    """
    path = Path(folder)
    if not train:
        raise ConfigError("no text to prepare; name it with --train pairs.tsv, or --train a.de --train a.en")
    processes = Processes.launched()
    processes.connect()
    with one_writer(path) if processes.is_first else nullcontext():
        files = processes.on_first(lambda: _open_folder(path, train))
        task = recognize(*layers, {"data": {"train": list(files)}}, preset=preset).task
        one_of("task", task, TASKS)
        if not TASKS[task].preparation:
            able = ", ".join(name for name, spec in TASKS.items() if spec.preparation)
            raise ConfigError(
                f"task = {task!r}: a store has ids of texts and labels, and this task reads something else; prepare "
                f"for one of {able}, or train from the files themselves"
            )
        run = _Preparing(
            path, task, files, list(valid), list(tests), list(weights), layers, preset, listener, progress
        )
        return run.run(jobs or max(1, allowed_processors() // processes.local_world_size), processes)


def _open_folder(folder: Path, train: Sequence[str]) -> list[str]:
    """Make sure that a store can be written into a folder; return the files to read."""
    if is_store(folder):
        shutil.rmtree(folder / _UNFINISHED, ignore_errors=True)  # where that was left to do
        raise DataError(f"{folder}: holds a store already; choose another folder, or remove that one")
    _refuse_other_files(folder)
    remove_half_written(folder)
    return [_spool(folder, name, k) if are_read_once([name]) else name for k, name in enumerate(train)]


def prepare_large(
    folder: Path,
    *layers: Mapping[str, Any],
    preset: str | None = None,
    jobs: int | None = 1,
    listener: Callable[[str], None] = lambda note: None,
    progress: Callable[[PrepareProgress], None] = lambda done: None,
) -> dict[str, Any]:
    """Prepare the training text of a run where it is larger than ``training.prepare_above``.

    Args:
        folder: of the run; the store is its folder ``data``. A store that is there already is used.
        layers: the options of the run.
        preset: as for training.
        jobs: the number of worker processes; None for one per processor.
        listener: called with sentences for the user.
        progress: called after each chunk.

    Returns:
        A further layer of options, which names the store; empty where the text is read as it is.

    Raises:
        RegardError: the text, the options or the folder cannot be used.
    """
    given = merge(*layers)
    tables = [given.get(name) or {} for name in ("data", "training")]
    if not all(isinstance(table, Mapping) for table in tables):
        return {}
    data, training = tables
    files = [data["train"]] if isinstance(data.get("train"), str) else list(data.get("train") or ())
    limit = training.get("prepare_above", TrainingConfig.prepare_above)
    if not files or not isinstance(limit, int | float) or not 0 < limit * 1e6 < _size_of_text(files):
        return {}
    task = recognize(given, preset=preset).task
    in_text = (
        *(data.get(name) for name in ("train_links", "aligner", "rename_symbols")),
        *(given.get("pretrained"), training.get("start_from")),  # which bring tokenizers of their own
    )
    if task not in TASKS or not TASKS[task].preparation or any(in_text):
        return {}
    store = folder / "data"
    processes = Processes.launched()
    processes.connect()
    if find_spec("pyarrow") is None:
        listener("the text is large, and all of it is read into memory: install pyarrow to read it from disk")
        return {}
    if not processes.on_first(lambda: is_store(store)):
        listener(f"more than {limit:g} MB of text: it is prepared first, in {store} (training.prepare_above)")
        valid = data.get("valid") or ()
        prepare_store(
            store,
            files,
            *layers,
            valid=[valid] if isinstance(valid, str) else list(valid),
            preset=preset,
            jobs=jobs,
            listener=listener,
            progress=progress,
        )
    elif (
        before := [name for each in StoreFacts.of(Store(store, tuple)).corpora for name in each.files]
    ) != files:
        raise DataError(
            f"{store}: a store of other text ({', '.join(before)}); remove it, or choose another folder"
        )
    return {"data": {"train": [str(store)]}}


_COMPRESSION = 4  # of text, about


def _size_of_text(files: Sequence[str]) -> int:
    """The bytes of some files of text, estimated where they are compressed; 0 where one cannot be read twice."""
    paths = [Path(name) for name in files]
    if not all(path.is_file() for path in paths):
        return 0
    return sum(path.stat().st_size * (_COMPRESSION if path.suffix in COMPRESSED else 1) for path in paths)


def _refuse_other_files(folder: Path) -> None:
    """Raise where a folder holds anything but a store that was begun."""
    if not (folder / _UNFINISHED).is_dir() and any(each.name != LOCK for each in folder.iterdir()):
        raise DataError(f"{folder}: holds other files; choose a new folder")


def _spool(folder: Path, name: str, number: int) -> str:
    """Copy standard input or a pipe, which can be read only once, into the folder."""
    if name == STDIN and (sys.stdin is None or sys.stdin.isatty()):
        raise DataError("standard input: nothing is piped into it; name a file")
    make_folder(folder / _UNFINISHED)
    spooled = folder / _UNFINISHED / f"input-{number}.tsv"
    with nullcontext(sys.stdin.buffer) if name == STDIN else open(name, "rb") as piped:
        write_whole(spooled, lambda file: shutil.copyfileobj(piped, file))
    return str(spooled)


class _Preparing:
    """One corpus on its way into a folder."""

    def __init__(
        self,
        folder: Path,
        task: str,
        files: Sequence[str],
        valid: Sequence[str],
        tests: Sequence[str],
        weights: Sequence[float],
        layers: Sequence[Mapping[str, Any]],
        preset: str | None,
        listener: Callable[[str], None],
        progress: Callable[[PrepareProgress], None],
    ) -> None:
        self._folder, self._task, self._layers, self._preset = folder, task, layers, preset
        self._valid_files, self._tests = valid, tests
        self._listener, self._progress = listener, progress
        given = merge(*layers)
        # how the files are read is not planned, so the first reading does with what is given
        read: dict[str, Any] = {name: given[name] for name in ("data", "model") if name in given}
        self._reading = _preparation(TASKS[task].run_config().from_mapping(read, ""))
        self._corpora = self._reading.group(files)
        self._weights = list(weights) or [1.0] * len(self._corpora)
        if len(self._weights) != len(self._corpora) or not all(
            0 < each < MAX_WEIGHT for each in self._weights
        ):
            named = "; ".join(" and ".join(group) for group in self._corpora)
            raise ConfigError(
                f"--weight {' '.join(map(str, weights))}: give one number above 0 and below {MAX_WEIGHT} for each of "
                f"{len(self._corpora)} corpora ({named})"
            )
        if self._reading.is_continuous and set(self._weights) != {1.0}:
            raise ConfigError(
                f"--weight {' '.join(map(str, weights))}: continuous text is read once, in its order; leave weights out"
            )

    def run(self, jobs: int, processes: Processes) -> dict[str, Any]:
        """Prepare it all; see `prepare_store`."""
        begun = processes.on_first(self._begin)
        num_chunks = -(-begun.total // _CHUNK)  # about, for each corpus has a last one
        own = islice(self._chunks(), processes.rank, None, processes.world_size)

        def encode() -> list[_Done]:
            done, num_read = [], 0
            for each in _in_order(_encode_chunk, own, min(jobs, num_chunks)):
                done.append(each)
                num_read += each.counts.read * processes.world_size
                self._progress(PrepareProgress(min(num_read, begun.total), begun.total))
            return done

        done = join_shares(processes.on_each(encode))
        return processes.on_first(lambda: self._finish(begun, done))

    def _begin(self) -> "_Begun":
        """Read everything once, plan, and train the tokenizers."""
        sample, total, labels = self._sample()
        examples = [example for _, example in sample]
        planned = plan_run({"task": self._task}, *self._layers, preset=self._preset, train=examples)
        config = planned.config
        preparation = _preparation(config, labels)
        split = _Split(config.training.seed_of_split)
        if not self._valid_files:
            inputs = [preparation.texts(each)[0] for each in examples]
            split = split.fitted(inputs, total, is_continuous=preparation.is_continuous)
        settings = {
            "options": config.to_mapping(),
            "labels": labels,
            "split": [split.limit, split.first],
            "sample": _digest([preparation.texts(each) for each in examples]),
            "tests": {
                " and ".join(group): [
                    _hash(preparation.texts(each)[0]) for each in preparation.read(group, self._listener)
                ]
                for group in preparation.group(self._tests)
            },
        }
        train = [each for number, each in sample if not split(preparation.texts(each)[0], number)]
        self._write_settings(settings, preparation, train)
        return _Begun(config, planned.lines, total, labels)

    def _count_repeated(
        self, counts: CorpusCounts, parts: Sequence[tuple[int, Part]], columns: Sequence[str], *, drop: bool
    ) -> list[tuple[int, Part]]:
        """Count the examples that occurred before; where they are to be dropped, write their parts again without."""
        if not parts:
            return []
        unfinished = self._folder / _UNFINISHED
        hashes = [np.load(unfinished / f"{part.file}.npy", mmap_mode="r") for _, part in parts]
        repeated = mark_repeated(hashes)
        counts.repeated = sum(int(each.sum()) for each in repeated)
        if not (drop and counts.repeated):
            return list(parts)
        left = []
        for (corpus, part), marked in zip(parts, repeated, strict=True):
            content = read_part(self._folder, part, columns)
            kept = np.flatnonzero(~marked).tolist()
            for k in np.flatnonzero(marked).tolist():
                counts.remove("duplicates", {column: content[column][k] for column in counts.lengths})
            if not kept:
                (self._folder / part.file).unlink()
            elif marked.any():
                rest = {column: [rows[k] for k in kept] for column, rows in content.items()}
                left.append((corpus, write_part(self._folder / part.file, rest)))
            else:
                left.append((corpus, part))
        return left

    def _sample(self) -> tuple[list[tuple[int, Any]], int, list[str]]:
        """Read everything once: some examples at random, in their order, with their numbers; the number of all; labels.

        Raises:
            DataError: there is no example, or all have the same label.
        """
        rng = random.Random(0)
        kept: list[tuple[int, Any]] = []
        labels: set[str] = set()
        examples = (each for group in self._corpora for each in self._reading.read(group, self._listener))
        number = -1
        for number, example in enumerate(examples):
            labels.update(self._reading.names(example))
            # reservoir sampling (Vitter 1985, algorithm R)
            if number < _SAMPLE:
                kept.append((number, example))
            elif (place := rng.randrange(number + 1)) < _SAMPLE:
                kept[place] = (number, example)
        if not kept:
            raise DataError(
                f"{' and '.join(self._corpora[0])}: an empty corpus, without a line; give some text"
            )
        kept.sort(key=lambda each: each[0])
        return kept, number + 1, list(Labels.learn(labels)) if labels else []

    def _write_settings(
        self, settings: Mapping[str, Any], preparation: Preparation[Any], sample: Sequence[Any]
    ) -> None:
        """Train the tokenizers, unless this was begun before with the same settings, and they are as they were."""
        unfinished = self._folder / _UNFINISHED
        make_folder(unfinished)
        files = [
            self._folder / f"{name}.json" for name in dict.fromkeys(preparation.texts_by_column.values())
        ]
        try:
            if _read_checked(unfinished / _SETTINGS) == {**settings, "tokenizers": _digests(files)}:
                return
        except (OSError, ValueError):
            pass  # not begun, or damaged
        for old in (*unfinished.glob("*.json"), *self._folder.glob("*.arrow")):
            remove_file(old)
        tokenizers = preparation.train_tokenizers(sample)
        for file in files:
            tokenizers[file.stem].save(file)
        _write_checked(unfinished / _SETTINGS, {**settings, "tokenizers": _digests(files)})

    def _chunks(self) -> Iterator["_Chunk"]:
        number = first = 0
        for corpus, group in enumerate(self._corpora):
            examples = iter(self._reading.read(group, lambda note: None))
            while chunk := list(islice(examples, _CHUNK)):
                yield _Chunk(self._folder, number, first, corpus, chunk)
                number, first = number + 1, first + len(chunk)

    def _finish(self, begun: "_Begun", done: Sequence["_Done"]) -> dict[str, Any]:
        """Write what belongs to the store beside its parts, and ``store.json`` last."""
        config = begun.config
        preparation = _preparation(config, begun.labels)
        counts, valid = CorpusCounts(), list[str]()
        for each in done:
            counts.add(each.counts)
            valid += each.valid
        parts = self._count_repeated(
            counts,
            [(each.corpus, each.part) for each in done if each.part is not None],
            tuple(preparation.columns),
            drop=config.data.to_mapping().get("drop_duplicates", False),
        )
        sizes = [
            sum(part.records for of, part in parts if of == corpus) for corpus in range(len(self._corpora))
        ]
        if not parts:
            raise DataError(
                f"an empty corpus: of {counts.read:,} examples none is left ({counts.list_removed()}); raise "
                "data.max_length, or give some with text"
            )
        if self._valid_files:
            valid = [
                json.dumps(preparation.to_json(each), ensure_ascii=False)
                for group in preparation.group(self._valid_files)
                for each in preparation.read(group, self._listener)
            ]
        report = counts.report()
        if self._tests:
            names = [" and ".join(group) for group in preparation.group(self._tests)]
            report["in_tests"] = {name: counts.in_tests[name] for name in names}
        report["validation"] = len(valid)
        write_whole_text(self._folder / VALID, "".join(f"{line}\n" for line in valid))
        write_whole_text(self._folder / REPORT, json.dumps(report, indent=2, ensure_ascii=False) + "\n")
        names = list(dict.fromkeys(preparation.texts_by_column.values()))
        tokenizers = {name: Tokenizer.load(self._folder / f"{name}.json") for name in names}
        options = config.to_mapping()
        facts = StoreFacts(
            task=self._task,
            tokenizer=options["tokenizer"],
            data={name: options["data"][name] for name in preparation.fixed},
            plan={name: options[name] for name in ("model", "training")},
            lines=list(begun.lines),
            corpora=[
                Corpus(list(group), count, weight)
                for group, count, weight in zip(self._corpora, sizes, self._weights, strict=True)
            ],
            notes=[f"left out {counts.list_removed()}"] if counts.removed else [],
        )
        files = [VALID, REPORT, *(f"{name}.json" for name in names)]
        if begun.labels:
            write_whole_text(self._folder / LABELS, json.dumps(begun.labels, ensure_ascii=False) + "\n")
            files.append(LABELS)
        sizes_of_vocabularies = preparation.sizes(tokenizers)
        write_manifest(self._folder, [part for _, part in parts], sizes_of_vocabularies, asdict(facts), files)
        shutil.rmtree(self._folder / _UNFINISHED)
        return report


def _preparation(config: RunConfig, labels: Sequence[str] = ()) -> Preparation[Any]:
    preparation: Preparation[Any] = TASKS[config.task].preparing()(config, labels)
    return preparation


def _digest(value: Any) -> str:
    """SHA-256 of plain values."""
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()


def _hash(text: str) -> int:
    """64 bits of a text, the same in every process."""
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8"), digest_size=8).digest(), "little")


@dataclass(frozen=True)
class _Split:
    """Whether an example is for validation: its input says it, so equal inputs are in the same part.

    Of continuous text, the last lines are.
    """

    seed: int
    limit: int = 0
    """Of 64 bits: those whose hash is below it are for validation."""
    first: int | None = None
    """Of continuous text: the number of the first line that is for validation."""

    def __call__(self, text: str, number: int) -> bool:
        return self._hash(text) < self.limit if self.first is None else number >= self.first

    def _hash(self, text: str) -> int:
        return _hash(f"{self.seed}\n{text}")

    def fitted(self, sample: Sequence[str], total: int, *, is_continuous: bool) -> "_Split":
        """The split of one input in twenty, at most about a thousand, and at least one.

        Args:
            sample: inputs; all there are, where these are not too many.
            total: the number of all.
            is_continuous: whether they are the lines of one text.

        Raises:
            DataError: there are too few to split.
        """
        if len(sample) < total and not is_continuous:
            return _Split(self.seed, int(min(_VALID_SHARE, _MAX_VALID / total) * 2**64))
        hashes = sorted(set(map(self._hash, sample)))
        if len(hashes) < 2:
            raise DataError(
                f"{total:,} examples are too few to split validation examples off; name some with --valid"
            )
        if is_continuous:
            return _Split(self.seed, first=total - max(1, min(int(_VALID_SHARE * total), _MAX_VALID)))
        return _Split(self.seed, hashes[max(1, min(int(_VALID_SHARE * len(hashes)), _MAX_VALID))])


class _Begun(NamedTuple):
    """What the first reading has decided: the options, the lines of the plan, the number of examples, the labels."""

    config: RunConfig
    lines: Sequence[str]
    total: int
    labels: list[str]


@dataclass(frozen=True)
class _Chunk:
    """Some examples to encode."""

    folder: Path
    number: int
    first: int
    """The number of its first example."""
    corpus: int
    examples: Sequence[Any]


@dataclass(frozen=True)
class _Done:
    """What became of a chunk: a part, unless all was left out; its validation examples in JSON."""

    corpus: int
    counts: CorpusCounts
    part: Part | None
    valid: Sequence[str]


@lru_cache(maxsize=1)
def _load(
    folder: Path, settings: bytes
) -> tuple[Preparation[Any], dict[str, Tokenizer], _Split, dict[str, set[int]]]:
    """What every chunk of a folder needs, read once in each process."""
    content = parse_json(settings)
    config = RunConfig.from_mapping(content["options"], "")
    preparation = _preparation(config, content["labels"])
    names = set(preparation.texts_by_column.values())
    tokenizers = {name: Tokenizer.load(folder / f"{name}.json") for name in names}
    split = _Split(config.training.seed_of_split, *content["split"])
    return preparation, tokenizers, split, {name: set(hashes) for name, hashes in content["tests"].items()}


def _encode_chunk(chunk: _Chunk) -> _Done:
    """Encode some examples and write them as a part, unless that was done before."""
    folder, unfinished = chunk.folder, chunk.folder / _UNFINISHED
    try:
        settings = (unfinished / _SETTINGS).read_bytes()
    except OSError as error:
        raise DataError(
            f"{unfinished / _SETTINGS}: cannot be read ({error.strerror}); all processes need the folder of the store"
        ) from error
    preparation, tokenizers, split, tests = _load(folder, settings)
    texts = [preparation.texts(example) for example in chunk.examples]
    digest = _digest([chunk.corpus, texts])
    record = unfinished / f"{chunk.number:06d}.json"
    if (done := _done_before(folder, record, digest, chunk.corpus)) is not None:
        return done
    counts = CorpusCounts(
        read=len(texts), lengths={column: Counter() for column in preparation.texts_by_column}
    )
    valid, train, kept_texts = [], [], []
    for number, (example, text) in enumerate(zip(chunk.examples, texts, strict=True), start=chunk.first):
        if split(text[0], number):
            valid.append(json.dumps(preparation.to_json(example), ensure_ascii=False))
        else:
            train.append(example)
            kept_texts.append(text)
    counts.valid = len(valid)
    hashes: list[int] = []
    columns: dict[str, list[list[int]]] = {column: [] for column in preparation.columns}
    for example, text, row in zip(train, kept_texts, preparation.encode(train, tokenizers), strict=True):
        if row.reason:
            counts.removed[row.reason] += 1
            if place := preparation.place(example):
                counts.first.setdefault(row.reason, place)
            continue
        counts.kept += 1
        for (column, rows), ids in zip(columns.items(), row.ids, strict=True):
            rows.append(ids)
            if column in counts.lengths:
                counts.lengths[column][len(ids)] += 1
                counts.unknown[column] += ids.count(UNK)
        hashes.append(_hash("\n".join(text)))
        hashed = _hash(text[0]) if tests else 0
        counts.in_tests.update(name for name, hashes in tests.items() if hashed in hashes)
    part = write_part(folder / f"{chunk.number:06d}.arrow", columns) if counts.kept else None
    kept_hashes = [] if part is None else [unfinished / f"{part.file}.npy"]
    for path in kept_hashes:
        write_whole(path, lambda file: np.save(file, np.array(hashes, np.uint64)))
    content = {
        "digest": digest,
        "part": None if part is None else asdict(part),
        "hashes": _digests(kept_hashes),
        "counts": counts.to_json(),
        "valid": valid,
    }
    _write_checked(record, content)
    return _Done(chunk.corpus, counts, part, valid)


def _done_before(folder: Path, record: Path, digest: str, corpus: int) -> _Done | None:
    """What became of a chunk in an earlier session; None where its part is not there, whole and of the same text."""
    try:
        content = _read_checked(record)
        part = None if content["part"] is None else build_dataclass(Part, content["part"])
        counts = CorpusCounts.from_json(content["counts"])
        kept_hashes = [] if part is None else [record.with_name(f"{part.file}.npy")]
        is_same = content["digest"] == digest and content["hashes"] == _digests(kept_hashes)
    except (OSError, ValueError, KeyError, TypeError):
        return None
    is_there = part is None or (part.file == f"{record.stem}.arrow" and is_whole(folder, part))
    return _Done(corpus, counts, part, content["valid"]) if is_same and is_there else None


def _write_checked(path: Path, content: Mapping[str, Any]) -> None:
    """Write plain values with their checksum."""
    write_whole_text(path, json.dumps({**content, _CHECKSUM: _digest(content)}, ensure_ascii=False))


def _read_checked(path: Path) -> dict[str, Any]:
    """Read what `_write_checked` wrote.

    Raises:
        OSError: it cannot be read.
        ValueError: it is damaged.
    """
    content = parse_json(read_whole(path, _MAX_PART_JSON))
    if not isinstance(content, dict) or content.pop(_CHECKSUM, None) != _digest(content):
        raise ValueError("its checksum is wrong")
    return content


def _digests(paths: Iterable[Path]) -> dict[str, str]:
    """SHA-256 of files of tokenizers or hashes, by name.

    Raises:
        OSError: one cannot be read, or is larger than any of these.
    """
    contents = {path.name: read_whole(path, MAX_TOKENIZER_BYTES) for path in paths}
    return {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}


def _in_order(function: Callable[[_Chunk], _Done], chunks: Iterable[_Chunk], jobs: int) -> Iterator[_Done]:
    """The results of a function, in the order of its arguments, of which only a few are held."""
    if jobs == 1:
        yield from map(function, chunks)
        return
    try:
        with workers(jobs) as pool:
            waiting: deque[Any] = deque()
            for chunk in chunks:
                waiting.append(pool.submit(function, chunk))
                if len(waiting) > _IN_FLIGHT * jobs:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
    except BrokenProcessPool as error:
        raise worker_killed() from error
