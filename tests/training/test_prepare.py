"""Text → store: nothing is lost, nothing depends on chunks, processes or interruptions; and training from it."""

import gzip
import io
import json
import os
import random
import shutil
import sys
from pathlib import Path
from threading import Thread
from types import SimpleNamespace

import numpy as np
import pytest
import safetensors.numpy

from regard.batches.store import Store
from regard.errors import ConfigError, DataError
from regard.tasks import TASKS
from regard.text import SentencePair, Tokenizer, encode_pairs
from regard.training import corpus_counts
from regard.training import prepare as module
from regard.training.configure import configure, plan_run
from regard.training.corpus_counts import mark_repeated
from regard.training.prepare import prepare_large, prepare_store
from regard.training.progress import Note, Validated
from regard.training.run import run_training, train

WORDS = ["ein", "zwei", "drei", "vier", "acht", "neun", "zehn"]
OPTIONS = {
    "tokenizer": {"source": "word", "target": "word"},
    "model": {
        "encoder": {"embedding_size": 3, "state_size": 4},
        "decoder": {"embedding_size": 3, "state_size": 4, "attention": {"size": 3}},
    },
    "training": {"max_updates": 8, "validate_every": 3, "batch_sentences": 4, "device": "cpu", "threads": 1},
    "data": {"max_length": 5},
}


def make_pairs(count=200, seed=0):
    rng = random.Random(seed)
    sources = [" ".join(rng.choices(WORDS, k=rng.randint(1, 6))) for _ in range(count)]
    return [(source, " ".join(reversed(source.upper().split()))) for source in sources]


PAIRS = make_pairs()


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "pairs.tsv"
    path.write_text("".join(f"{source}\t{target}\n" for source, target in PAIRS))
    return str(path)


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    monkeypatch.setattr(module, "_CHUNK", 30)


def prepare(folder, *files, options=OPTIONS, **arguments):
    return prepare_store(folder, files, options, **arguments)


def opened(folder):
    return Store(folder, lambda *ids: ids)


def read_valid(folder):
    return [json.loads(line) for line in (folder / "valid.jsonl").read_text().splitlines()]


def test_every_pair_is_in_the_store_or_in_the_validation_pairs_or_counted(tmp_path, text):
    report = prepare(tmp_path / "s", text)
    valid = {(each["source"], each["target"]) for each in read_valid(tmp_path / "s")}
    tokenizers = [Tokenizer.load(tmp_path / "s" / f"{side}.json") for side in ("source", "target")]
    train = [SentencePair(*pair) for pair in PAIRS if pair not in valid]
    encoded = [(pair.source_ids, pair.target_ids) for pair in encode_pairs(train, *tokenizers)]
    assert list(opened(tmp_path / "s")) == [pair for pair in encoded if len(pair[0]) <= 5]
    assert (
        report["read"]
        == 200
        == report["kept"] + report["validation"] + report["removed"]["too_long"]["examples"]
    )
    assert report["validation"] == len(read_valid(tmp_path / "s")) > 0


def test_the_report_says_what_was_found(tmp_path):
    pairs = [
        ("a b", "B A"),
        ("a b", "B A"),
        ("a", "A"),
        ("", "B"),
        ("a " * 9, "A"),
        ("b", "B"),
        ("b", "A A A"),
    ]
    path = tmp_path / "p.tsv"
    path.write_text("".join(f"{source}\t{target}\n" for source, target in pairs))
    (tmp_path / "valid.tsv").write_text("c\tC\n")
    (tmp_path / "test.tsv").write_text("a\tX\nq\tX\n")
    (tmp_path / "new.tsv").write_text("q\tX\n")
    tests = [str(tmp_path / "test.tsv"), str(tmp_path / "new.tsv")]
    options = {**OPTIONS, "tokenizer": {"source": "word", "target": "word", "min_frequency": 4}}
    report = prepare(
        tmp_path / "s",
        str(path),
        options=options,
        valid=[str(tmp_path / "valid.tsv")],
        tests=tests,
    )
    assert report == json.loads((tmp_path / "s" / "report.json").read_text())
    assert (report["read"], report["kept"], report["validation"], report["repeated"]) == (7, 5, 1, 1)
    assert report["removed"] == {
        "empty": {"examples": 1, "first": f"{path}:4"},
        "too_long": {"examples": 1, "first": f"{path}:5"},
    }
    # a occurs 12 times, b 4 times and A 7 times; B occurs 4 times
    assert report["texts"]["source_ids"] == {
        "tokens": 7, "unknown": 0.0, "mean_length": 1.4, "length_50": 1, "length_99": 2, "longest": 2
    }  # fmt: skip
    assert report["in_tests"] == dict(zip(tests, (1, 0), strict=True))


def test_unknown_words_are_counted(tmp_path, text):
    options = {**OPTIONS, "tokenizer": {"source": "word", "target": "word", "source_size": 7}}
    report = prepare(tmp_path / "s", text, options=options)
    unknown = sum(source.count(1) for source, _ in opened(tmp_path / "s"))
    total = report["texts"]["source_ids"]["tokens"]
    assert report["texts"]["source_ids"]["unknown"] == pytest.approx(unknown / total, abs=1e-6)
    assert unknown / total > 0.1
    assert report["texts"]["target_ids"]["unknown"] == 0


def test_dropped_duplicates_leave_the_first(tmp_path, text):
    plain = prepare(tmp_path / "plain", text)
    options = {**OPTIONS, "data": {"max_length": 5, "drop_duplicates": True}}
    report = prepare(tmp_path / "s", text, text, options=options)
    once = list(dict.fromkeys((tuple(s), tuple(t)) for s, t in opened(tmp_path / "plain")))
    assert [(tuple(s), tuple(t)) for s, t in opened(tmp_path / "s")] == once
    assert report["kept"] == len(once) == plain["kept"] - plain["repeated"]
    assert report["removed"]["duplicates"]["examples"] == report["repeated"] == 2 * plain["kept"] - len(once)
    assert report["texts"]["source_ids"]["tokens"] == sum(len(source) for source, _ in once)
    assert len(list((tmp_path / "s").glob("0*.arrow"))) <= 7  # those of the second reading are gone


def test_repeated_numbers_are_marked_whatever_the_buckets(monkeypatch):
    arrays = [np.array([3, 1, 3], np.uint64), np.array([], np.uint64), np.array([1, 2, 2, 4], np.uint64)]
    wanted = [[False, False, True], [], [True, False, True, False]]
    assert [marks.tolist() for marks in mark_repeated(arrays)] == wanted
    monkeypatch.setattr(corpus_counts, "_BUCKET", 2)
    assert [marks.tolist() for marks in mark_repeated(arrays)] == wanted


@pytest.mark.parametrize("chunk", [7, 10_000])
def test_chunks_change_nothing(tmp_path, text, monkeypatch, chunk):
    prepare(tmp_path / "s", text)
    monkeypatch.setattr(module, "_CHUNK", chunk)
    prepare(tmp_path / "other", text)
    assert list(opened(tmp_path / "s")) == list(opened(tmp_path / "other"))
    assert read_valid(tmp_path / "s") == read_valid(tmp_path / "other")


def test_processes_change_nothing(tmp_path, text, monkeypatch):
    monkeypatch.setattr(module, "_CHUNK", 90)
    prepare(tmp_path / "s", text)
    prepare(tmp_path / "other", text, jobs=2)
    assert opened(tmp_path / "s").sha256 == opened(tmp_path / "other").sha256


class Killed(BaseException):
    """Ends preparing on the spot."""


def test_preparing_that_was_stopped_goes_on(tmp_path, text, monkeypatch):
    prepare(tmp_path / "whole", text)

    def stop(done):
        if done.num_read == 120:
            raise Killed

    with pytest.raises(Killed):
        prepare(tmp_path / "s", text, progress=stop)
    assert not (tmp_path / "s" / "store.json").exists()
    (tmp_path / "s" / "000001.arrow").write_bytes(b"damaged")
    written = []
    monkeypatch.setattr(
        module, "write_part", lambda path, columns: written.append(path.name) or write_part(path, columns)
    )
    prepare(tmp_path / "s", text)
    assert written == ["000001.arrow", "000004.arrow", "000005.arrow", "000006.arrow"]
    assert opened(tmp_path / "s").sha256 == opened(tmp_path / "whole").sha256
    assert sorted(path.name for path in (tmp_path / "s").iterdir()) == sorted(
        path.name for path in (tmp_path / "whole").iterdir()
    )


@pytest.fixture
def interrupted(tmp_path, text):
    """A store that was begun, and one that was made without a break."""

    def stop(done):
        if done.num_read == 120:
            raise Killed

    options = {**OPTIONS, "data": {"max_length": 5, "drop_duplicates": True}}
    prepare(tmp_path / "whole", text, options=options)
    with pytest.raises(Killed):
        prepare(tmp_path / "s", text, options=options, progress=stop)
    return lambda: prepare(tmp_path / "s", text, options=options)


def flip_a_digit(path):
    """Change one digit in the middle of a file, or a bit where it has none: what it says stays well formed."""
    content = bytearray(path.read_bytes())
    digits = [k for k, byte in enumerate(content) if 0x30 <= byte <= 0x38]
    place = digits[len(digits) // 2] if digits else len(content) // 2
    content[place] += 1
    path.write_bytes(content)


UNFINISHED = [
    *("source.json", "target.json", "000002.arrow", "unfinished/settings.json"),
    *("unfinished/000002.json", "unfinished/000002.arrow.npy"),
]


@pytest.mark.parametrize("name", UNFINISHED)
@pytest.mark.parametrize(
    "damage",
    [
        flip_a_digit,
        lambda path: os.truncate(path, 40),
        lambda path: (path.unlink(), os.mkfifo(path)),
        Path.unlink,
    ],
)
def test_what_was_damaged_in_the_meantime_is_made_again(tmp_path, interrupted, name, damage):
    damage(tmp_path / "s" / name)
    interrupted()
    for path in (tmp_path / "whole").iterdir():
        assert path.read_bytes() == (tmp_path / "s" / path.name).read_bytes(), path.name


def test_a_part_outside_the_folder_is_left_alone(tmp_path, interrupted):
    record = tmp_path / "s" / "unfinished" / "000002.json"
    content = json.loads(record.read_text())
    shutil.copy(tmp_path / "s" / "000002.arrow", tmp_path / "mine")
    content["part"]["file"] = "../mine"
    content.pop("sha256", None)
    record.write_text(json.dumps({**content, "sha256": module._digest(content)}))
    interrupted()
    assert (tmp_path / "mine").exists()
    assert opened(tmp_path / "s").sha256 == opened(tmp_path / "whole").sha256


write_part = module.write_part


def test_other_options_or_other_text_begin_again(tmp_path, text):
    def stop(done):
        raise Killed

    with pytest.raises(Killed):
        prepare(tmp_path / "s", text, progress=stop)
    options = {**OPTIONS, "data": {"max_length": 3}}
    prepare(tmp_path / "s", text, options=options)
    prepare(tmp_path / "other", text, options=options)
    assert opened(tmp_path / "s").sha256 == opened(tmp_path / "other").sha256
    assert opened(tmp_path / "s").lengths.max() == 4


@pytest.mark.parametrize("form", ["gz", "parallel", "jsonl", "jsonl.gz", "stdin", "pipes"])
def test_the_form_of_the_text_changes_nothing(tmp_path, text, monkeypatch, form):
    prepare(tmp_path / "s", text)
    table = Path(text).read_text()
    lines = "".join(json.dumps({"source": s, "target": t}) + "\n\n" for s, t in PAIRS)
    files = [tmp_path / f"p.{form}"]
    if form == "gz":
        files[0].write_bytes(gzip.compress(table.encode()))
    elif form == "jsonl":
        files[0].write_text(lines)
    elif form == "jsonl.gz":
        files[0].write_bytes(gzip.compress(lines.encode()))
    elif form == "parallel":
        files = [tmp_path / "p.de", tmp_path / "p.en"]
        for file, side in zip(files, zip(*PAIRS, strict=True), strict=True):
            file.write_text("\n".join(side) + "\n")
    elif form == "pipes":
        files = [tmp_path / "p.de", tmp_path / "p.en"]
        for file, side in zip(files, zip(*PAIRS, strict=True), strict=True):
            os.mkfifo(file)
            Thread(target=file.write_text, args=("\n".join(side) + "\n",), daemon=True).start()
    else:
        files = ["-"]
        piped = SimpleNamespace(buffer=io.BytesIO(table.encode()), isatty=lambda: False)
        monkeypatch.setattr(sys, "stdin", piped)
    prepare(tmp_path / "other", *map(str, files))
    assert list(opened(tmp_path / "s")) == list(opened(tmp_path / "other"))


def test_several_corpora_are_one_after_the_other_with_their_weights(tmp_path, text):
    (tmp_path / "a.de").write_text("ein\nzwei\n")
    (tmp_path / "a.en").write_text("EIN\nZWEI\n")
    (tmp_path / "v.tsv").write_text("drei\tDREI\n")
    files = [text, str(tmp_path / "a.de"), str(tmp_path / "a.en")]
    prepare(tmp_path / "s", *files, valid=[str(tmp_path / "v.tsv")], weights=[1, 4.5])
    store = opened(tmp_path / "s")
    first, second = store.facts["corpora"]
    assert (first["examples"] + 2, second["examples"], second["weight"]) == (len(store), 2, 4.5)
    batches = TASKS["translate"].task(config_for(tmp_path / "s"), None, None).plan(0)
    counted = [k for batch in batches for k in batch]
    assert len(counted) == len(store) - 2 + 9
    assert sum(k >= len(store) - 2 for k in counted) == 9


ERRORS = {
    "no text to prepare": ((), {}),
    r"a\.de: one side, without its other side after it; name both in turn, as --train a\.de": (
        ("a.de",),
        {"options": {"task": "translate"}},
    ),
    r"--weight 1 2: give one number .* for each of 1 corpora": (("pairs.tsv",), {"weights": [1, 2]}),
    r"a\.de: one side, .* as --train words --train tags": (("a.de",), {"options": {"task": "tag"}}),
    "task: no 'tags'; did you mean 'tag'": (("pairs.tsv",), {"options": {"task": "tags"}}),
    "no such file": (("pears.tsv",), {}),
    "an empty corpus": (("empty.tsv",), {"options": {"task": "translate"}}),
    r"a\.de:1: 1 column where columns 1 and 2": (
        ("a.de",),
        {"options": {"task": "translate", "data": {"columns": [1, 2]}}},
    ),
    "too few to split validation examples off": (("one.tsv",), {}),
    r"bad\.jsonl:1: no text named 'target'": (("bad.jsonl",), {"options": {"task": "translate"}}),
    r"worse\.jsonl:1: not JSON": (("worse.jsonl",), {"options": {"task": "translate"}}),
    r"worse\.jsonl:1: not JSON .*; give one object per line, as {\"text\": \"…\"}": (
        ("worse.jsonl",),
        {"options": {}},
    ),
    "none is left": (("pairs.tsv",), {"options": {**OPTIONS, "data": {"max_length": 5, "max_ratio": 1.0}}}),
}


@pytest.mark.parametrize("message", ERRORS)
def test_what_cannot_be_prepared_is_an_error(tmp_path, text, message, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.de").write_text("ein\nzwei\n")
    (tmp_path / "empty.tsv").write_text("")
    (tmp_path / "one.tsv").write_text("ein\tEIN\nein\tEIN\n")
    (tmp_path / "bad.jsonl").write_text('{"source": "a"}\n')
    (tmp_path / "worse.jsonl").write_text("{\n")
    files, arguments = ERRORS[message]
    if message == "none is left":
        (tmp_path / "pairs.tsv").write_text("ein zwei\tEIN\nzwei ein\tEIN\n" * 20)
    with pytest.raises((ConfigError, DataError), match=message):
        prepare("s", *files, **arguments)
    assert not (tmp_path / "s" / "store.json").exists()


def test_other_files_are_left_alone(tmp_path, text):
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "000000.arrow").write_text("mine")
    with pytest.raises(DataError, match="s: holds other files; choose a new folder"):
        prepare(tmp_path / "s", text)
    assert (tmp_path / "s" / "000000.arrow").read_text() == "mine"


def test_the_sample_is_bounded_and_in_order(tmp_path, text, monkeypatch):
    samples = []
    real = module.plan_run
    monkeypatch.setattr(
        module, "plan_run", lambda *a, train, **k: samples.append(train) or real(*a, train=train, **k)
    )
    monkeypatch.setattr(module, "_SAMPLE", 150)
    prepare(tmp_path / "s", text)
    places = [pair.place.line for pair in samples[0]]
    assert len(places) == 150
    assert places == sorted(set(places))
    assert places[-1] > 150


def test_text_that_changed_is_read_anew(tmp_path, text):
    def stop(done):
        if done.num_read == 60:
            raise Killed

    with pytest.raises(Killed):
        prepare(tmp_path / "s", text, progress=stop)
    changed = Path(text).read_text().replace("ein", "eins")
    Path(text).write_text(changed)
    prepare(tmp_path / "s", text)
    prepare(tmp_path / "other", text)
    assert opened(tmp_path / "s").sha256 == opened(tmp_path / "other").sha256


def test_a_store_is_not_written_over(tmp_path, text):
    prepare(tmp_path / "s", text)
    with pytest.raises(DataError, match="holds a store already"):
        prepare(tmp_path / "s", text)


def test_what_a_command_that_was_killed_at_the_end_left_is_removed(tmp_path, text, monkeypatch):
    def killed(folder):
        raise Killed

    monkeypatch.setattr(module.shutil, "rmtree", killed)
    with pytest.raises(Killed):
        prepare(tmp_path / "s", text)
    monkeypatch.undo()
    assert (tmp_path / "s" / "unfinished").is_dir()
    assert len(opened(tmp_path / "s")) > 0, "it is a store all the same"
    (tmp_path / "s" / ".lock").touch()
    with pytest.raises(DataError, match="holds a store already"):
        prepare(tmp_path / "s", text)
    assert not {"unfinished", ".lock"} & {path.name for path in (tmp_path / "s").iterdir()}


@pytest.mark.parametrize(
    ("forged", "message"),
    [
        ({"notes": True}, "notes is True"),
        ({"lines": {}}, "lines is {}"),
        ({"tokenizer": 3}, "tokenizer is 3"),
        ({"data": []}, r"data is \[\]"),
        ({"plan": None}, "plan is None"),
        ({"task": []}, r"task is \[\]"),
        ({"corpora": [3]}, "3 in place of a table"),
        ({"corpora": []}, "corpora of 0 examples, and it has"),
        ({"corpora": [{"files": [], "examples": 10**400, "weight": 1.0}]}, "examples is 1000"),
        ({"weight": 0}, "or a weight is wrong"),
        ({"weight": 1e300}, "or a weight is wrong"),
        ({"weight": float("nan")}, "or a weight is wrong"),
        ({"x": 1}, "a name is wrong or missing"),
    ],
)
def test_forged_facts_of_a_store_are_refused(tmp_path, text, forged, message):
    prepare(tmp_path / "s", text)
    path = tmp_path / "s" / "store.json"
    content = json.loads(path.read_text())
    if "weight" in forged:
        content["facts"]["corpora"][0] |= forged
    else:
        content["facts"] |= forged
    path.write_text(json.dumps(content))
    with pytest.raises(DataError, match=f"not a store for training: .*{message}.*; prepare it again"):
        plan_run(OPTIONS, {"data": {"train": [str(tmp_path / "s")]}})
    with pytest.raises(DataError, match="not a store for training"):
        TASKS["translate"].task(configure(OPTIONS, {"data": {"train": [str(tmp_path / "s")]}}), None, None)


def weights(folder):
    return {
        name: value.tobytes()
        for name, value in safetensors.numpy.load_file(folder / "last.safetensors").items()
    }


def config_for(store, **training):
    options = {"data": {"train": [str(store)]}, "training": training}
    return plan_run(OPTIONS, options).config


def test_training_from_a_store_resumes_exactly(tmp_path, text):
    prepare(tmp_path / "s", text)
    run_training(tmp_path / "unbroken", config_for(tmp_path / "s"), page=False)

    def stop(event):
        if isinstance(event, Validated) and event.update == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_training(tmp_path / "m", config_for(tmp_path / "s"), page=False, listener=stop)
    events = []
    run_training(tmp_path / "m", config_for(tmp_path / "s"), page=False, resume=True, listener=events.append)
    assert Note("resumed after update 3") in events
    assert weights(tmp_path / "m") == weights(tmp_path / "unbroken")


def test_another_store_is_refused_when_a_run_is_resumed(tmp_path, text):
    prepare(tmp_path / "s", text)
    run_training(tmp_path / "m", config_for(tmp_path / "s", max_updates=2), page=False)
    (tmp_path / "more.tsv").write_text(Path(text).read_text() + "ein\tEIN\n")
    prepare(tmp_path / "other", str(tmp_path / "more.tsv"))
    with pytest.raises(DataError, match="not the data that the run"):
        run_training(tmp_path / "m", config_for(tmp_path / "other"), page=False, resume=True)


def test_a_language_model_is_trained_from_a_store(tmp_path):
    (tmp_path / "t.txt").write_text("".join(f"{source}\n" for source, _ in PAIRS))
    options = {
        "task": "language_model",
        "tokenizer": {"text": "word"},
        "model": {"embedding_size": 4, "state_size": 4},
        "training": OPTIONS["training"],
    }
    prepare_store(tmp_path / "s", [str(tmp_path / "t.txt")], options)
    trained = run_training(
        tmp_path / "m",
        plan_run({"training": OPTIONS["training"], "data": {"train": [str(tmp_path / "s")]}}).config,
        page=False,
    )
    assert trained.report["task"] == "language_model"
    assert trained.report["num_train_lines"] == len(opened(tmp_path / "s"))


def test_a_store_brings_its_task_its_tokenizers_and_its_plan(tmp_path, text):
    prepare(tmp_path / "s", text)
    planned = plan_run({"data": {"train": [str(tmp_path / "s")]}})
    assert planned.config.tokenizer.source == "word"
    assert planned.config.model.encoder.state_size == 4
    assert planned.config.training.max_updates == 8
    assert (
        plan_run(
            {"data": {"train": [str(tmp_path / "s")]}, "training": {"max_epochs": 2}}
        ).config.training.max_updates
        == 0
    )
    preset = plan_run({"data": {"train": [str(tmp_path / "s")]}}, preset="rnnsearch-small").config
    assert preset.tokenizer.source == "word"
    assert preset.data.max_length == 5


def test_options_that_a_store_was_not_made_with_are_refused(tmp_path, text):
    prepare(tmp_path / "s", text)
    for options, message in (
        ({"tokenizer": {"source": "char"}}, r'tokenizer\.source: "word" in the store .*, and "char" now'),
        ({"data": {"max_length": 50}}, r"data\.max_length: 5 in the store .*, and 50 now"),
        ({"data": {"rename_symbols": True}}, r"data\.rename_symbols: a store has ids and nothing else"),
    ):
        config = plan_run({"data": {"train": [str(tmp_path / "s")]}}, options).config
        with pytest.raises(ConfigError, match=message):
            TASKS["translate"].task(config, None, None)
    with pytest.raises(ConfigError, match="is a store, and 2 files are named"):
        TASKS["translate"].task(
            configure(OPTIONS, {"data": {"train": [str(tmp_path / "s"), text]}}), None, None
        )
    config = configure({"task": "language_model", "data": {"train": [str(tmp_path / "s")]}})
    with pytest.raises(ConfigError, match="for the task 'translate', and the task is 'language_model'"):
        TASKS["language_model"].task(config, None, None)


def test_validation_pairs_of_a_run_win_over_those_of_the_store(tmp_path, text):
    prepare(tmp_path / "s", text)
    (tmp_path / "v.tsv").write_text("ein zwei\tZWEI EIN\n")
    data = {"train": [str(tmp_path / "s")], "valid": [str(tmp_path / "v.tsv")]}
    task = TASKS["translate"].task(plan_run({"data": data}).config, None, None)
    assert [pair.source for pair in task.prepared.valid_pairs] == ["ein zwei"]


def test_large_text_is_prepared_by_itself_and_resumed(tmp_path, text):
    options = {**OPTIONS, "training": {**OPTIONS["training"], "prepare_above": 0.001}}
    notes = []

    def listen(event):
        if isinstance(event, Note):
            notes.append(event.text)

    for resume in (False, True):
        train(tmp_path / "m", text, config=options, progress=False, listener=listen, resume=resume)
    assert sum("it is prepared first" in note for note in notes) == 1
    assert "resumed after update 8" in notes
    assert len(opened(tmp_path / "m" / "data")) > 0
    (tmp_path / "other.tsv").write_text(Path(text).read_text())
    with pytest.raises(DataError, match="a store of other text"):
        train(tmp_path / "m", str(tmp_path / "other.tsv"), config=options, progress=False, resume=True)


@pytest.mark.parametrize(
    "options",
    [
        {"training": {"prepare_above": 0}},
        {"training": {"prepare_above": 1.0}},
        {"task": "caption"},
        {"data": {"rename_symbols": True}},
        {"data": {"train": ["no such file"]}},
        {"data": 3},
    ],
)
def test_other_text_is_read_as_it_is(tmp_path, text, options):
    layers = {"data": {"train": [text]}, "training": {"prepare_above": 0.001}}, options
    assert prepare_large(tmp_path / "m", *layers) == {}
    assert not (tmp_path / "m").exists()


def test_compressed_text_counts_as_more(tmp_path, text):
    path = tmp_path / "p.tsv.gz"
    path.write_bytes(gzip.compress(Path(text).read_bytes()))
    limit = 2 * path.stat().st_size / 1e6
    layer = {**OPTIONS, "data": {"train": str(path)}, "training": {"prepare_above": limit}}
    assert prepare_large(tmp_path / "m", layer) == {"data": {"train": [str(tmp_path / "m" / "data")]}}


def test_without_pyarrow_large_text_is_read_into_memory_and_that_is_said(tmp_path, text, monkeypatch):
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    notes = []
    layer = {"data": {"train": [text]}, "training": {"prepare_above": 0.001}}
    assert prepare_large(tmp_path / "m", layer, listener=notes.append) == {}
    assert "install pyarrow" in notes[0]


def labelled_lines(task, count=120):
    """Examples of a task that predicts labels, as their texts, their labels and a line of a file."""
    rng = random.Random(3)
    for _ in range(count):
        words = rng.choices(WORDS, k=rng.randint(1, 7))
        text, tags = " ".join(words), [word[0].upper() for word in words]
        if task == "tag":
            yield text, tags, f"{text}\t{' '.join(tags)}\n"
        else:
            yield text, tags[:1], f"{tags[0]}\t{text}\n"


SMALL = {
    "training": {**OPTIONS["training"], "max_updates": 4},
    "model": {"encoder": {"embedding_size": 3, "state_size": 4}},
    "data": {"max_length": 5},
}


@pytest.mark.parametrize("task", ["classify", "tag"])
def test_labelled_examples_are_in_a_store_with_their_labels(tmp_path, task):
    examples = list(labelled_lines(task))
    path = tmp_path / "labelled.tsv"
    path.write_text("".join(line for *_, line in examples))
    report = prepare(tmp_path / "s", str(path), options={"task": task, **SMALL})
    labels = json.loads((tmp_path / "s" / "labels.json").read_text())
    assert labels == sorted({label for _, own, _ in examples for label in own})
    tokenizer = Tokenizer.load(tmp_path / "s" / "text.json")
    rows = [(tokenizer.decode(ids), [labels[k] for k in own]) for ids, own in opened(tmp_path / "s")]
    valid = read_valid(tmp_path / "s")
    kept = [
        (" ".join(each["words"]), each["tags"]) if task == "tag" else (*each["texts"], [each["label"]])
        for each in valid
    ]
    short = [(text, own) for text, own, _ in examples]
    assert rows == [pair for pair in short if pair not in kept and len(pair[0].split()) <= 5]
    assert report["kept"] == len(rows) < report["read"] == 120
    assert list(report["texts"]) == ["word_ids" if task == "tag" else "text_ids_1"]

    config = plan_run({"data": {"train": [str(tmp_path / "s")]}}, {"training": SMALL["training"]}).config
    trained = run_training(tmp_path / "m", config, page=False)
    assert trained.result.updates == 4
    assert {"accuracy", "loss"} <= trained.report["validation"].keys()


def test_a_store_of_two_texts_is_not_one_of_one(tmp_path):
    path = tmp_path / "pairs.tsv"
    path.write_text("".join(f"{k % 2}\t{WORDS[k % 7]}\t{WORDS[k % 3]}\n" for k in range(40)))
    options = {"task": "classify", **SMALL, "model": {**SMALL["model"], "num_texts": 2}}
    prepare(tmp_path / "s", str(path), options=options)
    assert opened(tmp_path / "s").vocabularies.keys() == {"text_ids_1", "text_ids_2", "label_ids"}
    files = {"data": {"train": [str(tmp_path / "s")]}}
    trained = run_training(
        tmp_path / "m", plan_run(files, {"training": SMALL["training"]}).config, page=False
    )
    assert trained.result.updates == 4
    with pytest.raises(
        ConfigError, match=r"has the columns text_ids_1, text_ids_2, label_ids, and the model reads"
    ):
        run_training(tmp_path / "n", plan_run(files, {"model": {"num_texts": 1}}).config)


def test_one_label_is_none(tmp_path):
    (tmp_path / "one.tsv").write_text("good\ta b\ngood\tc d\n" * 20)
    with pytest.raises(DataError, match="every label is 'good'; at least two"):
        prepare(tmp_path / "s", str(tmp_path / "one.tsv"), options={"task": "classify"})


def test_continuous_text_keeps_its_order_and_its_blank_lines(tmp_path):
    rng = random.Random(5)
    lines = [" ".join(rng.choices(WORDS, k=rng.choice([0, 2, 9]))) for _ in range(200)]
    (tmp_path / "text.txt").write_text("".join(f"{line}\n" for line in lines))
    options = {
        "task": "language_model",
        "data": {"mode": "continuous", "steps": 4, "max_length": 5},
        "model": {"embedding_size": 4, "state_size": 4},
        "training": {**OPTIONS["training"], "max_updates": 6},
    }
    prepare(tmp_path / "s", str(tmp_path / "text.txt"), options=options)
    tokenizer = Tokenizer.load(tmp_path / "s" / "text.json")
    assert [tokenizer.decode(ids) for (ids,) in opened(tmp_path / "s")] == lines[:190]
    assert [each["text"] for each in read_valid(tmp_path / "s")] == lines[190:]
    # one text, whether it is in memory or in a store: the same weights
    weights = []
    for name, files in (("m", ["text.txt"]), ("n", ["s"])):
        (tmp_path / "valid.txt").write_text("".join(f"{line}\n" for line in lines[190:]))
        (tmp_path / "text.txt").write_text("".join(f"{line}\n" for line in lines[:190]))
        data = {"train": [str(tmp_path / file) for file in files], "valid": [str(tmp_path / "valid.txt")]}
        run = plan_run({"data": data}, options, {"tokenizer": {"text": "word"}})
        run_training(tmp_path / name, run.config, page=False)
        weights.append(safetensors.numpy.load_file(tmp_path / name / "last.safetensors"))
    assert all(np.array_equal(weights[0][key], weights[1][key]) for key in weights[0])
    with pytest.raises(ConfigError, match="--weight 2: continuous text is read once, in its order"):
        prepare(tmp_path / "t", str(tmp_path / "text.txt"), options=options, weights=[2])


def test_captions_have_no_store(tmp_path):
    with pytest.raises(ConfigError, match="task = 'caption': a store has ids of texts and labels"):
        prepare(tmp_path / "s", "features.npy", "captions.txt", options={"task": "caption"})


@pytest.mark.parametrize("option", [{"training": {"start_from": "m"}}, {"pretrained": {"encoder": "m"}}])
def test_large_text_for_tokenizers_that_are_given_is_not_prepared(tmp_path, text, option):
    options = {"data": {"train": [text]}, "training": {"prepare_above": 1e-6}}
    assert prepare_large(tmp_path / "m", options, option) == {}
